"""What an experiment hands to the report: names, numbers and verdicts, nothing left to compute but the layout."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmark.config.model import BASE
from benchmark.evaluation.scored import SCORES, WHOLE
from benchmark.measures import QUANTITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmark.evaluation.metrics import MeasuredQuantity
    from benchmark.report.charts import Chart
    from benchmark.report.regions import RegionFigure

SIGNIFICANCE = ("a", "b", "test", "n", "statistic", "p_value", "p_holm", "family", "note")
DIFFERENCES = ("a", "b", "value", "low", "high", "n")
VERDICTS = (
    *("cell", "metric", "kind", "reading", "published", "unit", "value", "low", "high", "sample"),
    *("between_low", "between_high", "documents", "widest", "verdict", "aside"),
)
CLAIMS = (
    *("claim", "variant", "text", "rule", "holds", "of", "verdict", "strict_rule", "strict_holds", "strict_verdict"),
    *("whole", "counted"),
)
RANGES = (
    *("figure", "what", "metric", "unit", "published_low", "published_high"),
    *("low", "high", "inside", "of", "verdict"),
)
CONFUSIONS = ("cell", "truth", "predicted", "n")
MISTAKES = ("document", "task", "truth", "wrong", "of", "given")
RANKS = ("method", "rank", "samples", "critical", "p_value")
COSTS = ("cell", "training_seconds", "testing_seconds", "peak_bytes")

HEADLINE = WHOLE  # the fold that stands for the cell: the mean over its folds, or its one split


def frame(columns: Sequence[str], rows: Iterable[Sequence[Any]] = ()) -> pd.DataFrame:
    """Build one of the tables of a `Summary` from its rows.

    Examples
    --------
    >>> frame(DIFFERENCES).shape
    (0, 6)
    """
    return pd.DataFrame([tuple(row) for row in rows], columns=list(columns))


@dataclass(frozen=True)
class CellInfo:
    """One cell of an experiment.

    Parameters
    ----------
    id : str
        Its name, "tf-l1-ngd".
    columns : mapping of str to str
        What it is made of, in the order of display: ``{"weighting": "TF", "kernel": "ngd"}``.
    variant, task, method, of_class, choice, size, terms
        As `config.model.Cell` has them.
    points : str
        What the classifier is given, in words: weighting, normalization and kernel; "" where the method's name says it.
    classifier : str
        The classifier with its parameters, in words.
    """

    id: str
    columns: Mapping[str, str]
    variant: str = BASE
    task: str = ""
    method: str = ""
    of_class: str = ""
    choice: str = ""
    size: int | None = None
    terms: int | None = None
    points: str = ""
    classifier: str = ""


@dataclass(frozen=True, eq=False)
class Summary:
    """All that the tables and figures of one experiment show.

    Parameters
    ----------
    name, title, paper : str
        Name of the config ("webkb"), what it is of, and the key of the paper that it is compared with, or None.
    cells : tuple of CellInfo
        In table order, failed ones included.
    scores : DataFrame
        Columns `SCORES`: shares are fractions in [0, 1]. Fold "all" is the headline row of a cell.
    significance : DataFrame
        Columns `SIGNIFICANCE`; `family` is how many tests p_holm is corrected over. Where p_value is missing, the note
        says why.
    differences : DataFrame
        Columns `DIFFERENCES`: main metric of `a` less that of `b`, with its 95% interval.
    verdicts : DataFrame
        Columns `VERDICTS`. The cell is a cell's id, or "a vs b" for a metric of pairs; `published` is the printed text
        and the other numbers are in its `unit`: "percent", "one", "nats" or "documents". `kind` is "result" or "count";
        `reading` is "another" for one that is judged and not counted, the method of a "landmark", else "". `sample`
        says what the interval is over, and `between_low` and `between_high` are that over groups. `documents` is the
        difference in documents, `widest` how far from ours a print could be and be consistent, `aside` why there is no
        verdict.
    claims : DataFrame
        Columns `CLAIMS`: under the variant, `holds` of `of` comparisons hold by the paper's rule, and `strict_holds`
        strictly; "" is the configuration itself. `whole` is how many comparisons the claim has over all configurations,
        `counted` why it isn't counted among the paper's claims.
    ranges : DataFrame
        Columns `RANGES`: what the axes of a printed figure span, and the least and greatest of ours, all in the unit of
        the print.
    confusions : DataFrame
        Columns `CONFUSIONS`: documents by true and predicted class, pooled over the folds; pairs that occur.
    ranks : DataFrame
        Columns `RANKS`: mean rank of a method over the samples, the best first; two that are apart by `critical` differ
        (Nemenyi), and `p_value` is Friedman's.
    mistakes : DataFrame
        Columns `MISTAKES`: documents that `wrong` of so many cells decide wrongly, the most first, and what was `given`
        to them by which.
    costs : DataFrame
        Columns `COSTS`: what was measured when a cell was first computed; the one table that differs from run to run.
    charts : tuple of Chart
    regions : tuple of RegionFigure
        Either are drawn in place of the picture of cells.
    failures : mapping of str to str
        Reason by cell.
    notes : tuple of str
        What a reader of the numbers has to know.
    brief : tuple of str
        What of it would change how they are read, in short sentences: all that a terminal has room for.
    explained_by : tuple of str
        The configurations that look into what deviates.
    quantities : mapping of str to MeasuredQuantity
        The metrics that measures declare, by name; by default those of this package's.
    """

    name: str
    title: str
    paper: str | None
    cells: tuple[CellInfo, ...]
    scores: pd.DataFrame
    significance: pd.DataFrame = field(default_factory=partial(frame, SIGNIFICANCE))
    differences: pd.DataFrame = field(default_factory=partial(frame, DIFFERENCES))
    verdicts: pd.DataFrame = field(default_factory=partial(frame, VERDICTS))
    claims: pd.DataFrame = field(default_factory=partial(frame, CLAIMS))
    ranges: pd.DataFrame = field(default_factory=partial(frame, RANGES))
    confusions: pd.DataFrame = field(default_factory=partial(frame, CONFUSIONS))
    ranks: pd.DataFrame = field(default_factory=partial(frame, RANKS))
    mistakes: pd.DataFrame = field(default_factory=partial(frame, MISTAKES))
    costs: pd.DataFrame = field(default_factory=partial(frame, COSTS))
    charts: tuple[Chart, ...] = ()
    regions: tuple[RegionFigure, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()
    explained_by: tuple[str, ...] = ()
    quantities: Mapping[str, MeasuredQuantity] = field(default_factory=lambda: QUANTITIES, repr=False)

    @cached_property
    def headlines(self) -> dict[tuple[str, str], dict[str, Any]]:
        """The rows of the scores that stand for their cells, by (cell, metric)."""
        rows = self.scores[self.scores["fold"] == HEADLINE].to_dict("records")
        return {(row["cell"], row["metric"]): {str(name): value for name, value in row.items()} for row in rows}

    @property
    def of_points(self) -> bool:
        """Whether its cells are points of its curves, so that the curves' tables say all of them."""
        return bool(self.charts) and any(cell.size is not None or cell.terms is not None for cell in self.cells)

    def __post_init__(self) -> None:
        known = {cell.id for cell in self.cells}
        if len(known) != len(self.cells):
            raise ValueError("two cells of a summary have the same id")
        for name, columns in TABLES.items():
            missing = set(columns) - set(getattr(self, name).columns)
            if missing:
                raise ValueError(f"{name} lacks the columns {sorted(missing)}")
        # A score without a row to stand in would vanish from every table.
        strangers = {*self.scores["cell"], *self.failures} - known
        if strangers:
            raise ValueError(f"no such cells: {sorted(strangers)}")


TABLES = {
    "scores": SCORES,
    "significance": SIGNIFICANCE,
    "differences": DIFFERENCES,
    "verdicts": VERDICTS,
    "claims": CLAIMS,
    "ranges": RANGES,
    "confusions": CONFUSIONS,
    "ranks": RANKS,
    "mistakes": MISTAKES,
    "costs": COSTS,
}
#: Tables that only some kinds of experiment fill.
OPTIONAL = ("ranges", "ranks", "mistakes", "costs")
