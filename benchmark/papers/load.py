"""Readers of papers' published values and claims, checked like configurations."""

from __future__ import annotations

import fnmatch
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.config.schema import validate_section
from benchmark.papers import published as papers
from benchmark.papers.published import Published
from benchmark.system.errors import MAX_PROBLEMS, combine_errors, unknown_name
from benchmark.system.shipped_files import CONFIGS_FOLDER, find_shipped, shipped_files
from benchmark.system.yaml_source import Node, read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.config.model import Experiment

    Keys = tuple[str | int, ...]


#: A configuration's key `name`.
_NAME = re.compile(r"(?m)^name:[ \t]*['\"]?([^\s'\"#]+)")


def load_published(path: Path) -> Published:
    """Read a paper's numbers and claims, `results/published/{paper}.yaml`.

    Raises
    ------
    ConfigError
        If the file is invalid, with file, line, problem and the nearest valid name.
    """
    return _read(path, path.stat().st_mtime_ns if path.exists() else 0)[0]


def published_papers() -> list[str]:
    """Return the keys of the papers whose published values are known."""
    return [path.stem for path in shipped_files(papers.PUBLISHED_FOLDER, "*.yaml")]


def published_of_experiment(experiment: Experiment) -> Published | None:
    """Return the published values and claims of an experiment's paper.

    A sensitivity analysis gets those of the configuration that it explains. A part of a configuration gets only the
    ranges whose cells are all present.
    """
    if experiment.paper:
        published = _paper_of(experiment)
        here = [
            r for r in published.ranges if r.config != experiment.name or experiment.left_out.isdisjoint(r.expanded)
        ]
        return published.model_copy(update={"ranges": here}) if experiment.left_out else published
    for path in shipped_files(papers.PUBLISHED_FOLDER, "*.yaml") if experiment.sensitivity_of else ():
        published = load_published(path)
        if experiment.sensitivity_of in dict(cells_by_configuration(published)):
            return published
    return None


def _paper_of(experiment: Experiment) -> Published:
    if experiment.own_paper is None:
        return load_published(find_shipped(papers.PUBLISHED_FOLDER, f"{experiment.paper}.yaml"))
    return validate_section(Published, Node.of_data(experiment.own_paper, str(experiment.raw.get("paper"))))


def check_published(experiment: Experiment, folder: Path) -> None:
    """Reject a paper's file that names a configuration unknown here and in the package, or a cell that is missing.

    The configuration is in `folder`, from which the path of a user's file starts.
    """
    if not experiment.paper:
        return
    files = [*folder.glob("*.yaml"), *shipped_files(CONFIGS_FOLDER, "*.yaml")]
    names = (_NAME.search(file.read_text(encoding="utf-8", errors="ignore")) for file in files)
    configs = {experiment.name, *(name[1] if name else file.stem for name, file in zip(names, files, strict=True))}
    if experiment.own_paper is None:
        path = find_shipped(papers.PUBLISHED_FOLDER, f"{experiment.paper}.yaml")
    else:
        path = folder / Path(experiment.raw["paper"]).expanduser()
    published, node = _read(path, path.stat().st_mtime_ns if path.exists() else 0)
    ids = frozenset(experiment.ids)
    wrong: dict[tuple[Keys, str], None] = {}
    for keys, config, cells in _named(published):
        if config not in configs:
            wrong[(*keys, "config"), unknown_name("configuration", config, sorted(configs))] = None
        elif config == experiment.name:
            unknown = (cell for cell in cells if cell not in ids and not fnmatch.filter(ids, cell))
            wrong |= {(keys, unknown_cell(cell, experiment)): None for cell in unknown}
        if len(wrong) >= MAX_PROBLEMS:  # suggestions are slow to compute for many cells
            break
    if wrong:
        raise combine_errors([node.at(keys).error(problem) for keys, problem in wrong])


def cells_by_configuration(found: Published) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every configuration that a paper's file names, with its cells."""
    yield from ((config, cells) for _, config, cells in _named(found))


def unknown_cell(cell: str, experiment: Experiment) -> str:
    """Return the message for a cell that a configuration lacks."""
    return f"{unknown_name('cell', cell, experiment.ids, listed=False)} of {experiment.name}"


def _named(found: Published) -> Iterator[tuple[Keys, str, tuple[str, ...]]]:
    """Yield every location in the file that names a configuration, with the cells or cell patterns named there.

    Published counts of documents name no cells.
    """
    for i, value in enumerate(found.values):
        yield ("values", i), value.config, () if value.kind == "count" else value.cells
    for i, span in enumerate(found.ranges):
        yield ("ranges", i), span.config, span.expanded
    for i, reference in enumerate(found.reference_values):
        for j, value in enumerate(reference.values):
            yield ("reference_values", i, "values", j), value.config, value.cells
    for i, claim in enumerate(found.claims):
        for j, template in enumerate(claim.templates):
            for comparison in template.expanded():
                yield ("claims", i, "comparisons", j), comparison.config, comparison.cells


@cache
def _read(path: Path, _changed: int) -> tuple[Published, Node]:
    node = read_yaml(path)
    return validate_section(Published, node), node
