"""Input of the report: names, numbers and verdicts of one experiment, complete except for the layout."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmark.analysis.formatting.units import display_unit, is_missing, metric_name
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.metrics import more_is_better
from benchmark.evaluation.outcomes import ALL_SPLITS, SCORE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmark.analysis.document_predictions import Disagreement
    from benchmark.analysis.figures import Chart, RegionFigure
    from benchmark.analysis.formatting.labels import CellInfo
    from benchmark.analysis.formatting.units import Unit
    from benchmark.evaluation.metrics import DiagnosticMetric

#: Columns of the tables of a `Summary`, by name.
SUMMARY_TABLES = {
    "scores": SCORE_COLUMNS,
    "significance": ("a", "b", "test", "n", "statistic", "p_value", "p_holm", "family", "note"),
    "differences": ("a", "b", "value", "low", "high", "n"),
    "verdicts": (
        *("cell", "metric", "kind", "reading", "published", "unit", "value", "low", "high", "sample"),
        *("between_low", "between_high", "documents", "widest", "verdict", "grade", "aside"),
    ),
    "claims": (
        *("claim", "variant", "text", "rule", "holds", "of", "verdict"),
        *("strict_rule", "strict_holds", "strict_verdict", "whole", "counted"),
    ),
    "ranges": (
        *("figure", "what", "metric", "unit", "published_low", "published_high"),
        *("low", "high", "inside", "of", "verdict"),
    ),
    "confusions": ("cell", "truth", "predicted", "n"),
    "leaks": ("leak", "cell", "metric", "tested", "leaking", "score", "without"),
    "costs": ("cell", "training_seconds", "testing_seconds", "peak_bytes", "stored"),
}

HEADLINE_FOLD = ALL_SPLITS  # the fold of a cell's headline score: the mean over its folds, or its only split


def summary_table(name: str, rows: Iterable[Sequence[Any] | Mapping[str, Any]] = ()) -> pd.DataFrame:
    """Return a table of `SUMMARY_TABLES` built from its rows.

    Examples
    --------
    >>> summary_table("differences").shape
    (0, 6)
    """
    return pd.DataFrame(list(rows), columns=list(SUMMARY_TABLES[name]))


@dataclass(frozen=True, eq=False)
class Summary:
    """Data of all tables and figures of one experiment; its frames have the columns of `SUMMARY_TABLES`.

    Parameters
    ----------
    name, title, paper : str
        Name of the configuration ("webkb"), its title, and the key of the paper that it is compared with, or None.
    paper_title, paper_url : str
        Title of the paper, and where it can be read, or "".
    corpus : str
        Title of the corpus in a sentence, "WebKB", or the number of corpora.
    documents : tuple of str
        Sentences on the documents and on how they are split into training and test documents.
    caveats : tuple of str
        Limitations that a reader has to know before relying on the scores, the most important first.
    cells : tuple of CellInfo
        Cells in table order, including failed ones.
    scores : DataFrame
        Shares are fractions in [0, 1]. Fold "all" is the headline row of a cell.
    significance : DataFrame
        `family` is the number of tests that p_holm is corrected over. If p_value is missing,
        or could not be significant after the correction, `note` says why.
    differences : DataFrame
        Main metric of `a` minus that of `b`, with its 95% interval.
    verdicts : DataFrame
        `cell` is the id of a cell, or "a vs b" for a metric of pairs. `published` is
        the printed text. The other numbers are in its `unit`: "percent", "one", "nats", "documents" and so on. `kind`
        is "result", "z" or "count". `reading` is "another" for a value that has a verdict and is not counted, the
        method of a reference value, else "". `sample` is what the interval is over. `between_low` and `between_high`
        are ends of the interval over groups. `documents` is the difference in documents. `widest` is how far from our
        value a published value may lie and still be consistent. `grade` is the nearness (`value_row`).
        `aside` is the reason for having no verdict.
    claims : DataFrame
        Under `variant` ("" is the configuration itself), `holds` of `of` comparisons hold by the
        paper's rule, and `strict_holds` strictly. `whole` is the number of comparisons of the claim over all
        configurations. `counted` is the reason for not counting it among the paper's claims, or "".
    ranges : DataFrame
        Limits of the axes of a published figure, and our smallest and largest values, all in the unit
        of that figure.
    confusions : DataFrame
        Documents by true and predicted class, pooled over the folds; only pairs that occur.
    own_documents : bool
        Whether the documents are a person's own, without published values.
    disagreement : Disagreement or None
        Where the two best cells that are compared disagree.
    leaks : DataFrame
        Of the documents that a cell is `tested` on, `leaking` are known from training, as
        "near-duplicates" or by "shared groups"; its score, and its score `without` them.
    costs : DataFrame
        Seconds and memory, measured when a cell was first computed; `stored` if that was another run,
        from which the store has them. Only this table differs from run
        to run.
    charts : tuple of Chart
    regions : tuple of RegionFigure
        Charts and regions are drawn in place of the figure of cells.
    failures : mapping of str to str
        Reason by cell.
    notes : tuple of str
        Caveats of the numbers.
    minimized : frozenset of str
        Metrics of plug-ins of which less is better; those of this package are known.
    quantities : mapping of str to DiagnosticMetric
        Metrics declared by diagnostics, by name; by default the diagnostics of this package.
    """

    name: str
    title: str
    paper: str | None
    cells: tuple[CellInfo, ...]
    scores: pd.DataFrame
    significance: pd.DataFrame = field(default_factory=partial(summary_table, "significance"))
    differences: pd.DataFrame = field(default_factory=partial(summary_table, "differences"))
    verdicts: pd.DataFrame = field(default_factory=partial(summary_table, "verdicts"))
    claims: pd.DataFrame = field(default_factory=partial(summary_table, "claims"))
    ranges: pd.DataFrame = field(default_factory=partial(summary_table, "ranges"))
    confusions: pd.DataFrame = field(default_factory=partial(summary_table, "confusions"))
    own_documents: bool = False
    disagreement: Disagreement | None = None
    leaks: pd.DataFrame = field(default_factory=partial(summary_table, "leaks"))
    costs: pd.DataFrame = field(default_factory=partial(summary_table, "costs"))
    charts: tuple[Chart, ...] = ()
    regions: tuple[RegionFigure, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    paper_title: str = ""
    paper_url: str = ""
    corpus: str = ""
    documents: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    minimized: frozenset[str] = frozenset()
    quantities: Mapping[str, DiagnosticMetric] = field(default_factory=lambda: DIAGNOSTIC_METRICS, repr=False)

    @cached_property
    def headlines(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Headline rows of the scores, by (cell, metric)."""
        rows = self.scores[self.scores["fold"] == HEADLINE_FOLD].to_dict("records")
        return {(row["cell"], row["metric"]): {str(name): value for name, value in row.items()} for row in rows}

    @cached_property
    def headline_metrics(self) -> tuple[str, ...]:
        """Metrics of the headline rows, the main one first."""
        return tuple(dict.fromkeys(metric for _, metric in self.headlines))

    @property
    def main_metric(self) -> str:
        """Metric that is shown with intervals, folds and a figure, and of which differences are tested."""
        return next(iter(self.headline_metrics), "accuracy")

    @property
    def unit(self) -> Unit:
        """Unit in which the main metric is shown."""
        return display_unit(self.main_metric, self.quantities)

    @property
    def metric_name(self) -> str:
        """Name of the main metric in tables and sentences."""
        return metric_name(self.main_metric, self.quantities)

    @property
    def sign(self) -> int:
        """1 if more of the main metric is better, −1 if less is."""
        return 1 if self.more_is_better(self.main_metric) else -1

    def merit(self, cell: str) -> float:
        """Return the main score of a cell, negative where less is better; NaN for a cell without a score."""
        value: Any = self.headlines.get((cell, self.main_metric), {}).get("value")
        return math.nan if is_missing(value) else self.sign * float(value)

    def more_is_better(self, metric: str) -> bool:
        """Return whether the larger of two scores is the better one."""
        return metric not in self.minimized and more_is_better(metric, quantities=self.quantities)

    @property
    def of_points(self) -> bool:
        """Whether the cells are points of curves, so that the tables of the curves contain every cell."""
        return bool(self.charts) and any(cell.size is not None or cell.terms is not None for cell in self.cells)
