"""The two kinds of configuration, experiments on text and decision boundaries, and what is done with each."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol, cast

from benchmark.config.check import check_experiment
from benchmark.config.load import read_config
from benchmark.config.model import Experiment
from benchmark.errors import ConfigError
from benchmark.experiment import runner, text_experiment
from benchmark.findings.papers import unknown_cell
from benchmark.plugins.gathering import registries_of
from benchmark.plugins.recorded import registries_again, without_gone
from benchmark.source import YamlSource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmark.config.model import Study
    from benchmark.experiment.context import RunContext
    from benchmark.report.contents import Summary
    from benchmark.report.part import Part

BOUNDARIES = "decision-boundaries"


class Findings(Protocol):
    """What a run of either kind found out."""

    @property
    def study(self) -> Any:
        """The configuration, a `Study`."""

    @property
    def failures(self) -> dict[str, str]:
        """Reasons of what failed."""

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What was run on, by variant."""

    @property
    def from_store(self) -> tuple[int, int]:
        """Cells that were answered from the store, and cells."""

    @property
    def tested(self) -> frozenset[tuple[str, ...]]:
        """What tells the documents apart that were tested."""


def load_study(path: Path) -> Study:
    """Read and check a configuration.

    Raises
    ------
    ConfigError
        With file, line, what is wrong, the nearest right name and what is allowed.
    """
    return check_study(read_config(path))


def study_from_mapping(
    raw: dict[str, Any], name: str, recorded: dict[str, Any] | None = None, plugins: Sequence[dict[str, Any]] = ()
) -> Study:
    """Check plain data; that of a finished run by what its manifest has `recorded` of corpora, and of `plugins`."""
    if recorded is None:
        return check_study(YamlSource(name, raw))
    known = registries_again(plugins)
    source = YamlSource(name, without_gone(raw, known))
    if _is_of_boundaries(source):
        return check_study(source)
    return check_experiment(source, known, recorded)


def check_study(source: YamlSource) -> Study:
    """Check plain data by the rules of its kind."""
    if not _is_of_boundaries(source):
        return check_experiment(source, registries_of(source))
    from benchmark.boundaries.config import check_boundaries  # noqa: PLC0415 - as in `_boundaries`

    return check_boundaries(source)


def part_of(study: Study, patterns: Sequence[str]) -> Study:
    """The study with only those cells whose ids fit one of some shell patterns; all of it without any.

    Raises
    ------
    ConfigError
        For a pattern that fits none.
    """
    ids = {pattern: [name for name in study.ids if fnmatchcase(name, pattern)] for pattern in patterns}
    for pattern, own in ids.items():
        if not own:
            raise ConfigError(unknown_cell(pattern, study))
    part: Study = _of(study).part_of(study, {name for own in ids.values() for name in own}, patterns)
    return part if patterns else study


def _is_of_boundaries(source: YamlSource) -> bool:
    return isinstance(source.data, dict) and source.data.get("kind") == BOUNDARIES


def run_study(study: Study, context: RunContext) -> Findings:
    """Compute what the store doesn't have yet; an experiment on text also `elsewhere`."""
    if isinstance(study, Experiment):
        return runner.run(study, context)
    return cast("Findings", _boundaries().run(study, jobs=context.jobs, observer=context.observer))


def encode(findings: Findings) -> dict[str, bytes]:
    """The predictions, and what they took, as contents of files."""
    return dict(_of(findings.study).encode(findings))


def decode(study: Study, contents: dict[str, bytes], failures: dict[str, str], facts: dict[str, Any]) -> Findings:
    """The findings back from the contents of files; any of `folder.DAMAGED` where they are damaged."""
    found: Findings = _of(study).decode(study, contents, failures, facts)
    return found


def rows_digest(findings: Findings) -> str:
    """The sha256 over the names of all cells and, split by split, of the documents that each decided on."""
    return str(_of(findings.study).rows_digest(findings))


def summary_of(findings: Findings) -> Summary:
    """Everything a run shows, from its predictions."""
    summary: Summary = _of(findings.study).summarized(findings)
    return summary


def described(findings: Findings) -> dict[str, Any]:
    """What the manifest says of the findings beyond what it says of every run."""
    return dict(_of(findings.study).described(findings))


def compare_cells(findings: Findings, a: str, b: str) -> list[Part]:
    """Two cells of a run."""
    return list(_of(findings.study).compare_cells(findings, a, b))


def compare_runs(one: Findings, two: Findings, names: tuple[str, str]) -> list[Part]:
    """The cells that two runs of one kind have in common."""
    return list(_of(one.study).compare_runs(one, two, names))


def _of(study: Study) -> Any:
    return text_experiment if isinstance(study, Experiment) else _boundaries()


def _boundaries() -> Any:
    """The functions of the decision boundaries: a quarter of a second's imports that text has no use for."""
    from benchmark.boundaries.run import BOUNDARIES as ROOM  # noqa: PLC0415 - see above

    return ROOM
