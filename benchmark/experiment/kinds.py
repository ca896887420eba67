"""The two kinds of configuration, experiments on text and decision boundaries, and what is done with each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from benchmark.boundaries.config import KIND as BOUNDARIES_KIND
from benchmark.boundaries.config import Boundaries, check_boundaries
from benchmark.boundaries.run import BOUNDARIES
from benchmark.config.check import check_experiment
from benchmark.config.load import read_config
from benchmark.config.model import Experiment
from benchmark.config.source import YamlSource
from benchmark.experiment.text_experiment import TEXT_EXPERIMENT
from benchmark.measures import MEASURES

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.config.model import Study
    from benchmark.experiment.store import Store
    from benchmark.observer import Observer
    from benchmark.report.contents import Summary
    from benchmark.report.parts import Part


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


class Kind(Protocol):
    """What is done with the findings of one kind."""

    def encode(self, findings: Any) -> bytes:
        """The predictions as a file's content."""

    def decode(self, study: Any, content: bytes, failures: dict[str, str], facts: dict[str, Any]) -> Findings:
        """The findings back from a file's content; any of `folder.DAMAGED` where it is damaged."""

    def summarize(self, findings: Any) -> Summary:
        """Everything a run shows, from its predictions."""

    def described(self, findings: Any) -> dict[str, Any]:
        """What the manifest says of the findings beyond what it says of every run."""

    def compare_cells(self, findings: Any, a: str, b: str) -> list[Part]:
        """Two cells of a run."""

    def compare_runs(self, one: Any, two: Any, names: tuple[str, str]) -> list[Part]:
        """The cells that two runs have in common."""


def kind_of(study: Study) -> Kind:
    """The functions of a study's kind."""
    return BOUNDARIES if isinstance(study, Boundaries) else TEXT_EXPERIMENT


def load_study(path: Path) -> Study:
    """Read and check a configuration.

    Raises
    ------
    ConfigError
        With file, line, what is wrong, the nearest right name and what is allowed.
    """
    return check_study(read_config(path))


def study_from_mapping(raw: dict[str, Any], name: str) -> Study:
    """Check a configuration that is already plain data, e.g. out of a manifest."""
    return check_study(YamlSource(name, raw))


def check_study(source: YamlSource) -> Study:
    """Check plain data by the rules of its kind."""
    boundaries = isinstance(source.data, dict) and source.data.get("kind") == BOUNDARIES_KIND
    return check_boundaries(source) if boundaries else check_experiment(source, MEASURES)


def run_study(study: Study, store: Store, *, jobs: int, observer: Observer, download: bool) -> Findings:
    """Compute what the store doesn't have yet."""
    if isinstance(study, Boundaries):
        return BOUNDARIES.run(study, jobs=jobs, observer=observer)
    assert isinstance(study, Experiment)  # noqa: S101 - there is no third kind
    return TEXT_EXPERIMENT.run(study, store, jobs=jobs, observer=observer, download=download)


def plan_study(study: Study, store: Store, observer: Observer, *, download: bool) -> list[tuple[str, int, int]]:
    """What a run would compute: rows (what, steps, steps in the store)."""
    if isinstance(study, Boundaries):
        return BOUNDARIES.plan(study)
    assert isinstance(study, Experiment)  # noqa: S101 - there is no third kind
    return TEXT_EXPERIMENT.plan(study, store, observer, download=download)


def summary_of(findings: Findings) -> Summary:
    """Everything a run shows, from its predictions."""
    return kind_of(findings.study).summarize(findings)
