"""Run a configuration, write its folder and return its summary, as every command does."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmark.config.model import Experiment
from benchmark.corpora.own import OwnCorpus
from benchmark.corpora.own_card import card_text, check_card, place
from benchmark.environment import probe, write_whole
from benchmark.errors import BenchError, ConfigError
from benchmark.experiment import runner
from benchmark.experiment.configuration import load_study
from benchmark.experiment.folder import computed_from, ensure_free, read_manifest, read_results, write_results
from benchmark.experiment.manifest import manifest_of
from benchmark.experiment.store import Entry, key_of
from benchmark.findings.papers import CONFIGS, check_published
from benchmark.findings.summary import summarized

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmark.config.model import Experiment
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.store import Store
    from benchmark.findings.scoring import Run
    from benchmark.report.contents import Summary
    from benchmark.report.files import Spec

RUNS = Path("results") / "runs"


@dataclass(frozen=True)
class Finished:
    """A run that has been written: its folder, predictions, summary and seconds."""

    folder: Path
    results: Run
    summary: Summary
    seconds: float = 0.0


def checked(path: Path) -> Experiment:
    """Read a configuration and check all that can be checked without data."""
    study = load_study(path)
    check_published(study, path.parent, CONFIGS)
    reader = own_corpus(study)
    if reader is not None:
        check_card(reader, path)
    return study


def own_corpus(study: Experiment) -> OwnCorpus | None:
    """Return the reader of a user's own corpus; None for the corpora of the package."""
    variant = next(iter(study.variants.values()))
    reader = variant.collection.reader
    return reader if isinstance(reader, OwnCorpus) else None


def write_card(path: Path) -> Path:
    """Write the card of a user's own corpus as it is now; raise ConfigError if the corpus has one already."""
    reader = own_corpus(load_study(path))
    if reader is None:
        raise ConfigError(
            f"{path}: its corpus has a card already or needs none: only the corpora files and counts get one"
        )
    write_whole(place(path), card_text(reader, path.stem).encode())
    return place(path)


def all_checked(paths: Sequence[Path]) -> list[Experiment]:
    """Check several configurations, and that none would overwrite another's results."""
    studies = [checked(path) for path in paths]
    names = [study.name for study in studies]
    for name in names:
        if names.count(name) > 1:
            problem = f"two of these configurations are named {name!r}: one would overwrite the other's results"
            raise ConfigError(problem)
    return studies


def folders_of(studies: Sequence[Experiment], out: Path | None, *, overwrite: bool) -> list[Path]:
    """Return the folder of each run: `results/runs/<name>`, or `out`, or a folder below `out` if there are several.

    Raises
    ------
    ConfigError
        If a folder holds anything else, unless `overwrite`.
    """
    names = [f"{study.name}-only" if study.only else study.name for study in studies]
    found = [(out / name if len(names) > 1 else out) if out else RUNS / name for name in names]
    for study, folder in zip(studies, found, strict=True):
        if not overwrite:
            ensure_free(folder, study)
    return found


def perform(study: Experiment, context: RunContext, folder: Path | None = None) -> Finished:
    """Run an experiment and write its folder, `results/runs/<name>` unless given."""
    from benchmark.report.files import write_all  # noqa: PLC0415 - as in `again`
    from benchmark.report.html.page import write_page  # noqa: PLC0415

    folder = folder or RUNS / study.name
    ensure_writable(folder)
    started = time.perf_counter()
    results = runner.run(study, context)
    context.observer.now("scores, tests, tables and pictures")
    summary = summarized(results)
    manifest = manifest_of(results, jobs=context.jobs, seconds=time.perf_counter() - started)
    write_results(results, manifest, folder)
    write_all(summary, folder, partial(pictures_in, context.store), context.observer.note)
    write_page(summary, folder, manifest["machine"])
    return Finished(folder, results, summary, time.perf_counter() - started)


def pictures_in(store: Store, specs: Mapping[str, Spec]) -> dict[str, dict[str, bytes]]:
    """Return figures from the store, or else draw and store them; the key is their content and the engine's version."""
    from benchmark.report.drawing import render  # noqa: PLC0415 - as in `again`

    engine, found = render.engine_version(), dict[str, dict[str, bytes]]()
    keys = {
        name: key_of(stage="pictures", engine=engine, content=render.digest_of(spec)) for name, spec in specs.items()
    }
    for name, key in keys.items():
        if (known := store.get(key)) is not None:
            found[name] = {kind: array.tobytes() for kind, array in known.arrays.items()}
    for name, made in render.rendered({name: specs[name] for name in specs if name not in found}).items():
        store.put(keys[name], Entry({kind: np.frombuffer(content, np.uint8) for kind, content in made.items()}))
        found[name] = made
    return found


def again(folder: Path, note: Callable[[str], None] | None = None) -> Finished:
    """Write the tables and figures of a finished run again, from its predictions alone."""
    from benchmark.report.files import write_all  # noqa: PLC0415 - draws pictures: a third of what a check takes to load
    from benchmark.report.html.page import write_page  # noqa: PLC0415

    results = read_results(folder)
    with computed_from(folder):
        summary = summarized(results)
        write_all(summary, folder, note=note)
        write_page(summary, folder, read_manifest(folder).get("machine", {}))
    return Finished(folder, results, summary)


def ensure_writable(folder: Path) -> None:
    """Refuse a folder that can't be written, before the work rather than after it."""
    try:
        probe(folder)
    except OSError as error:
        raise BenchError(f"can't write results to {folder}: {error.strerror or error}. Name another folder.") from None


def default_jobs() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
