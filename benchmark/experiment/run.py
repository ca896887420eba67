"""Run a configuration, write its folder and return its summary, as every command does."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmark.analysis.summarize import summarize
from benchmark.experiment import runner
from benchmark.experiment.run_folder import check_folder_free, manifest_of, read_manifest, read_run, write_run
from benchmark.experiment.store import StoreEntry, store_key
from benchmark.system.atomic_files import check_folder_writable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.store import Store
    from benchmark.report.files import FigureSpec

RUNS_FOLDER = Path("results") / "runs"


@dataclass(frozen=True)
class RunResult:
    """A run that has been written: its folder, predictions, summary and seconds."""

    folder: Path
    results: RunPredictions
    summary: Summary
    seconds: float = 0.0


def run_folders(experiments: Sequence[Experiment], out: Path | None, *, overwrite: bool) -> list[Path]:
    """Return the folder of each run: `results/runs/<name>`, or `out`, or a folder below `out` if there are several.

    Raises
    ------
    ConfigError
        If a folder holds anything else, unless `overwrite`.
    """
    names = [f"{experiment.name}-only" if experiment.only else experiment.name for experiment in experiments]
    found = [(out / name if len(names) > 1 else out) if out else RUNS_FOLDER / name for name in names]
    for experiment, folder in zip(experiments, found, strict=True):
        if not overwrite:
            check_folder_free(folder, experiment)
    return found


def run_and_write(experiment: Experiment, context: RunContext, folder: Path | None = None) -> RunResult:
    """Run an experiment and write its folder, by default `results/runs/<name>`.

    Raises
    ------
    BenchError
        Before any work, if the folder can't be written.
    """
    from benchmark.report.files import write_report_files  # noqa: PLC0415 - as in `report_again`
    from benchmark.report.html.page import write_page  # noqa: PLC0415

    folder = folder or RUNS_FOLDER / experiment.name
    check_folder_writable(folder)
    started = time.perf_counter()
    results = runner.run_experiment(experiment, context)
    context.observer.now("scores, tests, tables and pictures")
    summary = summarize(results)
    manifest = manifest_of(results, jobs=context.jobs, seconds=time.perf_counter() - started)
    write_run(results, manifest, folder)
    write_report_files(summary, folder, partial(cached_pictures, context.store), context.observer.note)
    write_page(summary, folder, manifest["machine"])
    return RunResult(folder, results, summary, time.perf_counter() - started)


def cached_pictures(store: Store, specs: Mapping[str, FigureSpec]) -> dict[str, dict[str, bytes]]:
    """Return figures from the store, or else draw and store them; the key is their content and the engine's version."""
    from benchmark.report.drawing import render  # noqa: PLC0415 - as in `report_again`

    content = [[name, render.picture_digest(spec)] for name, spec in specs.items()]
    key = store_key(stage="pictures", engine=render.engine_version(), content=content)
    if (known := store.get(key)) is not None:
        return {
            name: {kind: known.arrays[f"{name}.{kind}"].tobytes() for kind in render.IMAGE_FORMATS} for name in specs
        }
    drawn = render.render_pictures(specs)
    if drawn.keys() == specs.keys():
        files = {f"{name}.{kind}": content for name, made in drawn.items() for kind, content in made.items()}
        store.put(key, StoreEntry({name: np.frombuffer(content, np.uint8) for name, content in files.items()}))
    return drawn


def report_again(folder: Path, note: Callable[[str], None] | None = None) -> RunResult:
    """Write the tables and figures of a finished run again, from its predictions alone."""
    return write_report(read_run(folder), folder, note)


def write_report(results: RunPredictions, folder: Path, note: Callable[[str], None] | None = None) -> RunResult:
    """Write the tables and figures of predictions into their folder."""
    from benchmark.report.files import write_report_files  # noqa: PLC0415 - draws pictures: a third of what a check takes to load
    from benchmark.report.html.page import write_page  # noqa: PLC0415

    summary = summarize(results)
    write_report_files(summary, folder, note=note)
    write_page(summary, folder, read_manifest(folder).get("machine", {}))
    return RunResult(folder, results, summary)
