"""What each kind of configuration is run, kept, summed up and judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from benchmark.config.boundaries import KIND as BOUNDARIES
from benchmark.config.category_curves import KIND as CATEGORY_CURVES
from benchmark.config.centroid_curves import KIND as CENTROID_CURVES
from benchmark.config.feature_curves import KIND as FEATURE_CURVES
from benchmark.config.kinds import TABLE
from benchmark.config.learning_curves import KIND as LEARNING_CURVES
from benchmark.experiment import (
    boundaries,
    category_curves,
    category_scores,
    category_summary,
    centroid_curves,
    centroid_scores,
    centroid_summary,
    feature_curves,
    feature_scores,
    feature_summary,
    learning_curves,
    learning_scores,
    learning_summary,
    results,
    summary,
    table_overview,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.config import Study
    from benchmark.evaluation.published import Claim, Comparison, Evidence
    from benchmark.report.parts import Part
    from benchmark.report.summary import Summary


class Findings(Protocol):
    """What a run of any kind found out."""

    @property
    def experiment(self) -> Any:
        """The configuration, a `Study`."""

    @property
    def failures(self) -> dict[str, str]:
        """Reasons of what failed."""

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What was run on, by variant."""


@dataclass(frozen=True)
class Kind:
    """The functions behind one kind.

    Parameters
    ----------
    predictions : str
        Name of the file that holds the predictions.
    run : callable
        (study, store, jobs, observer, download) to findings.
    encode, decode : callable
        Findings to the content of that file; (study, content, failures, facts) back to findings, with any of
        `folder.DAMAGED` for a content that is damaged.
    summarize : callable
        Findings to a summary.
    evidence : callable
        (claim, findings) to what these say of its comparisons.
    described : callable
        What the manifest says of the findings beyond what it says of every run.
    plan : callable
        (study, store, observer, download) to rows (what, steps, steps in the store, state of the inner products) and
        the bytes of inner products that a run would build.
    compare_cells : callable
        (findings, a, b) to parts to show.
    compare_runs : callable
        (findings, other findings, their names) to a part to show.
    """

    predictions: str
    run: Callable[..., Any]
    encode: Callable[[Any], bytes]
    decode: Callable[[Any, bytes, dict[str, str], dict[str, Any]], Any]
    summarize: Callable[[Any], Summary]
    evidence: Callable[[Claim, Any], dict[Comparison, Evidence]]
    described: Callable[[Any], dict[str, Any]]
    plan: Callable[..., tuple[list[tuple[str, int, int, str]], int]]
    compare_cells: Callable[[Any, str, str], list[Part]]
    compare_runs: Callable[[Any, Any, tuple[str, str]], Part]


KINDS: dict[str, Kind] = {
    TABLE: Kind(
        "predictions.csv.gz",
        results.run_table,
        results.encode,
        results.decode,
        summary.summarize,
        summary.table_evidence,
        results.described,
        table_overview.plan_table,
        table_overview.compare_table_cells,
        table_overview.compare_table_runs,
    ),
    LEARNING_CURVES: Kind(
        "predictions.npz",
        learning_curves.run_learning_curves,
        learning_scores.encode,
        learning_scores.decode,
        learning_summary.summarize_learning_curves,
        learning_summary.learning_evidence,
        learning_scores.described,
        learning_curves.plan_learning_curves,
        learning_summary.compare_curve_cells,
        learning_summary.compare_curve_runs,
    ),
    BOUNDARIES: Kind(
        "predictions.npz",
        boundaries.run_boundaries,
        boundaries.encode,
        boundaries.decode,
        boundaries.summarize_boundaries,
        boundaries.boundary_evidence,
        boundaries.described,
        boundaries.plan_boundaries,
        boundaries.compare_boundary_cells,
        boundaries.compare_boundary_runs,
    ),
    CATEGORY_CURVES: Kind(
        "predictions.npz",
        category_curves.run_category_curves,
        category_scores.encode,
        category_scores.decode,
        category_summary.summarize_category_curves,
        category_summary.category_evidence,
        category_scores.described,
        category_curves.plan_category_curves,
        category_summary.compare_category_cells,
        category_summary.compare_category_runs,
    ),
    FEATURE_CURVES: Kind(
        "predictions.npz",
        feature_curves.run_feature_curves,
        feature_scores.encode,
        feature_scores.decode,
        feature_summary.summarize_feature_curves,
        feature_summary.feature_evidence,
        feature_scores.described,
        feature_curves.plan_feature_curves,
        feature_summary.compare_feature_cells,
        feature_summary.compare_feature_runs,
    ),
    CENTROID_CURVES: Kind(
        "predictions.npz",
        centroid_curves.run_centroid_curves,
        centroid_scores.encode,
        centroid_scores.decode,
        centroid_summary.summarize_centroid_curves,
        centroid_summary.centroid_evidence,
        centroid_scores.described,
        centroid_curves.plan_centroid_curves,
        centroid_summary.compare_centroid_cells,
        centroid_summary.compare_centroid_runs,
    ),
}


def kind_of(study: Study) -> Kind:
    """The functions of a study's kind."""
    return KINDS[study.kind]
