"""Placement of predictions that were made elsewhere on a public test set, without training and without the corpus."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.analysis.comparisons import NOT_SHOWN
from benchmark.corpora.user.records import iter_records, read_columns
from benchmark.evaluation.outcomes import ALL_SPLITS, SCORE_COLUMNS, score_over_splits
from benchmark.evaluation.public_test_sets import LABEL_SEPARATOR, load_shipped, public_test_set, split_labels
from benchmark.evaluation.sampling_model import SamplingModel
from benchmark.evaluation.significance import SIGNIFICANCE_LEVEL, holm_correction
from benchmark.papers.load import load_published
from benchmark.papers.published import PUBLISHED_FOLDER
from benchmark.report.placement import (
    ALIKE,
    BETTER,
    HIGHER,
    LOWER,
    PUBLISHED_SCORE_COLUMNS,
    RANKING_COLUMNS,
    WORSE,
    Placement,
    placement_page,
)
from benchmark.report.writers import csv_text
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import DataError, quote_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmark.evaluation.outcomes import CellScores
    from benchmark.evaluation.public_test_sets import PublicTestSet, ShippedPredictions

#: File of published scores that stand beside those of a test set.
_REFERENCE_FILE = PUBLISHED_FOLDER / "reference-values.yaml"


def template_csv(shipped: ShippedPredictions) -> str:
    """Return the ids of a test set as CSV, with an empty column for the labels.

    Documents that our methods leave out are among them. If several splits test the documents, a third column has the
    group of each.
    """
    groups = dict(zip(shipped.frame["id"], shipped.frame["group"], strict=True))
    groups |= dict.fromkeys(shipped.test_set.excluded, shipped.groups[0])
    header = ("id", shipped.test_set.label_column, "group")[: 3 if len(shipped.groups) > 1 else 2]
    return csv_text(header, ((id_, "", group)[: len(header)] for id_, group in sorted(groups.items())))


def label_column_of(columns: Sequence[str], test_set: PublicTestSet, source: str) -> str:
    """Return the column of the labels, "label" or "labels"; DataError if it or the column of ids is missing."""
    wanted = sorted({"label", "labels"} & set(columns), key=lambda name: name != test_set.label_column)
    if not wanted or "id" not in columns:
        missing = test_set.label_column if "id" in columns else "id"
        names = quote_value(", ".join(map(str, columns)))
        raise DataError(f"{source}: has no column {missing!r} (columns: {names})")
    return wanted[0]


def place_file(path: Path, on: str) -> tuple[Placement, Path]:
    """Compare the predictions of a file, write a page beside it, and return both; the method has the file's name.

    The file is a table, JSON lines or Parquet.
    """
    name, test_set = path.name.partition(".")[0], public_test_set(on)
    columns = ["id", label_column_of(read_columns(path), test_set, str(path))]
    frame = pd.DataFrame([values for _, values in iter_records(path, columns)], columns=columns)
    placement = place_predictions(frame, on, name, str(path))
    page = path.with_name(f"{name}-on-{on}.html")
    write_atomically(page, placement_page(placement).encode())
    return placement, page


def place_predictions(frame: pd.DataFrame, on: str, name: str, source: str = "the frame") -> Placement:
    """Compare predictions with those of our methods and with published scores.

    Parameters
    ----------
    frame : DataFrame
        A row for each test document, with the columns id and label (or labels: a text or a list of texts).
    on : str
        Name of the test set.
    name : str
        Name of the method.
    source : str
        Where the predictions come from, for errors.

    Returns
    -------
    Placement

    Raises
    ------
    ConfigError
        If there is no such test set.
    DataError
        If documents are missing, surplus or given twice, or a label isn't one of the test set.
    """
    shipped = load_shipped(on)
    labels = _labels_by_id(frame, shipped, source)
    excluded = {id_: labels[id_] == label for id_, label in shipped.test_set.excluded.items() if id_ in labels}
    predicted = [labels[id_] for id_ in shipped.frame["id"]]
    if name in shipped.cells:
        name = f"{name} (placed)"  # keeps it apart from the cell
    sample, placed = SamplingModel(0, groups=len(shipped.groups) > 1), shipped.scores(name, predicted)
    ranking, published = _ranking(placed, predicted, sample, shipped), _published(placed, sample, shipped.test_set)
    return Placement(shipped.test_set, name, _scores(placed, sample, shipped.test_set), ranking, published, excluded)


def _labels_by_id(frame: pd.DataFrame, shipped: ShippedPredictions, source: str) -> dict[str, str]:
    """Return the labels of each document by the test set's ids; DataError unless each document has its labels once."""
    test_set, known = shipped.test_set, {*shipped.frame["id"], *shipped.test_set.excluded}
    column = label_column_of(list(frame.columns), test_set, source)
    if not len(frame):
        raise DataError(f"{source}: has no predictions")
    ids = pd.Series([_known_id(value, known) for value in frame["id"]])
    labels = [_labels(value, several=test_set.multilabel) for value in frame[column]]
    unlabelled = pd.Series([not each and not test_set.multilabel for each in labels])
    unknown = [name for names in labels for name in names if name not in shipped.classes]
    problems: tuple[tuple[str, Sequence[str]], ...] = (
        ("given twice", ids[ids.duplicated()].tolist()),
        ("not in the test set", ids[~ids.isin(known)].tolist()),
        ("missing", shipped.frame["id"][~shipped.frame["id"].isin(ids)].tolist()),
        ("without a label", ids[unlabelled].tolist()),
        (f"of a class that {test_set.name} lacks", unknown),
    )
    for problem, examples in problems:
        if examples:
            n = f"{len(examples):,} document{'s are' if len(examples) > 1 else ' is'}"
            hint = f"such as {quote_value(examples[0])}; `bench place --template` has the ids"
            raise DataError(f"{source}: {n} {problem}, {hint}")
    by_id = dict(zip(ids, labels, strict=True))
    return {
        id_: LABEL_SEPARATOR.join(name for name in shipped.classes if name in names) for id_, names in by_id.items()
    }


def _known_id(value: Any, known: set[str]) -> str:
    """Return the id that a path ends with, such as one of scikit-learn's `filenames`; the text itself if none does."""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    parts = text.replace("\\", "/").split("/")
    ends = ("/".join(parts[start:]) for start in range(len(parts)))
    return next((end for end in ends if end in known), text)


def _labels(value: Any, *, several: bool) -> list[str]:
    """Return the labels of a document from a list of them, or from a text; none for a missing value."""
    if isinstance(value, list | tuple | set | np.ndarray):
        return [str(each) for each in value]
    text = "" if pd.isna(value) else str(value).strip()
    return split_labels(text) if several else [text] * bool(text)


def _scores(placed: CellScores, sample: SamplingModel, test_set: PublicTestSet) -> pd.DataFrame:
    """Return the scores of the placed method on each split and over all."""
    rows = []
    for metric in test_set.metrics:
        parts = [
            (fold, sample.part(placed, metric, i), placed.n[i])
            for i, fold in enumerate(placed.folds if len(placed.folds) > 1 else ())
        ]
        for fold, score, n in (*parts, (ALL_SPLITS, sample.estimate(placed, metric), placed.n.sum())):
            rows.append((placed.cell, fold, metric, score.value, score.low, score.high, int(n), 0))
    return pd.DataFrame(rows, columns=list(SCORE_COLUMNS))


def _ranking(
    placed: CellScores, labels: Sequence[str], sample: SamplingModel, shipped: ShippedPredictions
) -> pd.DataFrame:
    """Return the placed method and all cells by descending score, with the paired comparisons."""
    main, further = shipped.test_set.metrics
    cells = [shipped.scores(cell, shipped.frame[cell].tolist()) for cell in shipped.cells]
    family = [] if shipped.test_set.multilabel else cells
    tests = {test.b: test for test in holm_correction(sample.test("mcnemar", placed, cell, main) for cell in family)}
    rows, given = [], np.array(labels, dtype=object)
    for scores in (placed, *cells):
        estimate, configuration = sample.estimate(scores, main), shipped.cells.get(scores.cell, "")
        row: dict[str, Any] = {"cell": scores.cell, "configuration": configuration, "macro_f1": _whole(scores, further)}
        row |= {"value": estimate.value, "low": estimate.low, "high": estimate.high}
        if configuration:
            gap, test = sample.difference(placed, scores, main), tests.get(scores.cell)
            row |= {"difference": gap.value, "difference_low": gap.low, "difference_high": gap.high}
            row |= {"differing": int((shipped.frame[scores.cell] != given).sum()), "compared": NOT_SHOWN}
            row |= {"p_value": test.p_value, "p_holm": test.p_holm} if test else {}
            clear = test is None or (test.p_holm is not None and test.p_holm < SIGNIFICANCE_LEVEL)
            if clear and (gap.low > 0 or gap.high < 0):
                row["compared"] = BETTER if gap.low > 0 else WORSE
        rows.append(row)
    ranking = pd.DataFrame(rows).reindex(columns=RANKING_COLUMNS)
    ranking["rank"] = ranking["value"].rank(method="min", ascending=False).astype(int)
    # The sort is stable: the placed method stands before cells of the same score.
    return ranking.sort_values("rank", kind="stable", ignore_index=True)


def _published(placed: CellScores, sample: SamplingModel, test_set: PublicTestSet) -> pd.DataFrame:
    """Return the scores that the census counted on this test set or, where it counted none, the reference values."""
    known = load_published(_REFERENCE_FILE)
    rows: list[tuple[Any, ...]] = [
        (each.metric, each.method, each.source, each.year, each.value, each.transductive)
        for each in known.census
        if each.corpus == test_set.name
    ]
    if not rows:
        rows = [
            (value.metric, each.method, each.source, None, value.value, each.transductive)
            for each in known.reference_values
            for value in each.values  # noqa: PD011 - no frame
            if value.config in test_set.configurations and value.unit == "percent"
        ]
    scores = {metric: 100 * sample.estimate(placed, metric).value for metric in test_set.metrics}
    compared = [(*row, _beside(row[4], scores[row[0]])) for row in rows if row[0] in scores]
    compared.sort(key=lambda row: (test_set.metrics.index(row[0]), -float(row[4])))
    return pd.DataFrame(compared, columns=list(PUBLISHED_SCORE_COLUMNS))


def _beside(published: str, ours: float) -> str:
    """Compare a published score with ours after rounding ours to its digits."""
    digits = Decimal(published)
    rounded = round(Decimal(str(ours)), -int(digits.as_tuple().exponent))
    return HIGHER if digits > rounded else LOWER if digits < rounded else ALIKE


def _whole(scores: CellScores, metric: str) -> float:
    """Return a score over all splits, without its interval."""
    assert scores.outcome is not None  # noqa: S101 - made of predictions
    return score_over_splits(scores.outcome, metric)
