"""Placement of predictions that were made elsewhere on a public test set, without training and without the corpus."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.analysis.agreement import agreement
from benchmark.analysis.ranking import NOT_SHOWN
from benchmark.corpora.user.records import iter_records, read_columns
from benchmark.evaluation.cell_scores import ALL_SPLITS, SCORE_COLUMNS
from benchmark.evaluation.outcomes import score_over_splits
from benchmark.evaluation.public_test_sets import LABEL_SEPARATOR, load_shipped, public_test_set, split_labels
from benchmark.evaluation.sampling_model import DocumentSampling
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
)
from benchmark.report.writers import csv_text
from benchmark.system.errors import DataError, did_you_mean, quote_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from benchmark.analysis.agreement import Agreement
    from benchmark.evaluation.cell_scores import CellScores
    from benchmark.evaluation.public_test_sets import PublicTestSet, ShippedPredictions

#: The file of published scores that stand beside those of a test set.
_REFERENCE_FILE = PUBLISHED_FOLDER / "reference-values.yaml"


def template_csv(name: str) -> str:
    """Return the ids of a test set as CSV, with an empty column for the labels.

    Documents that our methods leave out are among them. If several splits test the documents, a third column has the
    group of each.

    Raises
    ------
    ConfigError
        If there is no such test set.
    """
    shipped = load_shipped(name)
    groups = dict(zip(shipped.frame["id"], shipped.frame["group"], strict=True))
    groups |= dict.fromkeys(shipped.test_set.excluded, shipped.groups[0])
    several = len(shipped.groups) > 1
    header = ("id", shipped.test_set.label_column, *(["group"] if several else []))
    rows = ((name, "", *([group] if several else [])) for name, group in sorted(groups.items()))
    return csv_text(header, rows)


def template_sentence(name: str) -> str:
    """Return how many documents a test set has, and what a method may be trained on."""
    test_set, n = public_test_set(name), len(load_shipped(name).frame)
    left_out = len(test_set.excluded)
    apart = f"; {left_out} of them, which our methods leave out, is counted apart" if left_out else ""
    several = f" Separate several labels by {LABEL_SEPARATOR!r}." if test_set.multilabel else ""
    return f"{n + left_out:,} {test_set.documents} of {test_set.title}{apart}. {test_set.training}{several}"


def read_predictions_file(path: Path, test_set: PublicTestSet) -> pd.DataFrame:
    """Read the columns id and label (or labels) of a table, JSON lines or Parquet.

    Raises
    ------
    DataError
        If the file can't be read, or lacks one of the columns.
    """
    columns = read_columns(path)
    column = label_column_of(columns, test_set, str(path))
    rows = [values for _, values in iter_records(path, ["id", column])]
    return pd.DataFrame(rows, columns=["id", column])


def label_column_of(columns: Sequence[str], test_set: PublicTestSet, source: str) -> str:
    """Return the column of the labels; DataError if it or the column of ids is missing.

    Where documents have one label, the column may be called "labels", too, and the other way round.
    """
    wanted = [test_set.label_column, *({"label", "labels"} - {test_set.label_column})]
    found = next((name for name in wanted if name in columns), None)
    if found is None or "id" not in columns:
        missing = "id" if "id" not in columns else test_set.label_column
        names = quote_value(", ".join(map(str, columns)))
        raise DataError(f"{source}: has no column {missing!r} (columns: {names})")
    return found


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
    own = [labels[id_] for id_ in shipped.frame["id"]]
    if name in shipped.cells:
        name = f"{name} (placed)"  # keeps it apart from the cell
    sample = DocumentSampling(0, groups=len(shipped.groups) > 1)
    placed = shipped.scores(name, own)
    cells = {cell: shipped.scores(cell, shipped.frame[cell].tolist()) for cell in shipped.cells}
    return Placement(
        shipped.test_set,
        name,
        _scores(placed, sample, shipped.test_set),
        _ranking(placed, own, cells, sample, shipped),
        _published(placed, sample, shipped.test_set),
        excluded,
    )


# --- Checks ---


def _labels_by_id(frame: pd.DataFrame, shipped: ShippedPredictions, source: str) -> dict[str, str]:
    """Return the labels of each document by the test set's ids; DataError unless each document has its labels once."""
    test_set, known = shipped.test_set, {*shipped.frame["id"], *shipped.test_set.excluded}
    column = label_column_of(list(frame.columns), test_set, source)
    if not len(frame):
        raise DataError(f"{source}: has no predictions")
    ids = [_known_id(_text(value), known) for value in frame["id"]]
    _refuse(source, "given twice", _repeated(ids))
    _refuse(source, "not in the test set", [id_ for id_ in ids if id_ not in known])
    given = set(ids)
    _refuse(source, "missing", [id_ for id_ in shipped.frame["id"] if id_ not in given])
    texts = [_label_text(value) for value in frame[column]]
    if not test_set.multilabel:
        _refuse(source, "without a label", [id_ for id_, text in zip(ids, texts, strict=True) if not text])
    labels = [split_labels(text) if test_set.multilabel else [text] for text in texts]
    unknown = [
        (id_, label) for id_, own in zip(ids, labels, strict=True) for label in own if label not in shipped.classes
    ]
    if unknown:
        id_, label = unknown[0]
        n = len({id_ for id_, _ in unknown})
        raise DataError(
            f"{source}: {n:,} document{'s have' if n > 1 else ' has'} a label that {test_set.name} lacks, such as "
            f"{quote_value(label)} of {id_}{did_you_mean(label, shipped.classes)}"
        )
    return {
        id_: LABEL_SEPARATOR.join(name for name in shipped.classes if name in own)
        for id_, own in zip(ids, labels, strict=True)
    }


def _refuse(source: str, problem: str, ids: Sequence[str]) -> None:
    """Raise DataError that counts these documents and names the first; do nothing if there are none."""
    if ids:
        n = f"{len(ids):,} document{'s are' if len(ids) > 1 else ' is'}"
        raise DataError(f"{source}: {n} {problem}, such as {quote_value(ids[0])}; `bench place --template` has the ids")


def _repeated(ids: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return [id_ for id_ in ids if id_ in seen or seen.add(id_)]  # type: ignore[func-returns-value]


def _known_id(name: str, known: set[str]) -> str:
    """Return the id that a path ends with, such as one of scikit-learn's `filenames`; the name itself if none does."""
    plain = name.replace("\\", "/")
    while plain not in known:
        _, separator, plain = plain.partition("/")
        if not separator:
            return name
    return plain


def _text(value: Any) -> str:
    """Return an id as text: a column of numbers may have been read as floats."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _label_text(value: Any) -> str:
    """Return the labels of a document as one text; "" for none."""
    if isinstance(value, list | tuple | set | np.ndarray):
        return LABEL_SEPARATOR.join(str(each) for each in value)
    missing = value is None or (isinstance(value, float) and math.isnan(value)) or value is pd.NA
    return "" if missing else str(value).strip()


# --- Frames ---


def _scores(placed: CellScores, sample: DocumentSampling, test_set: PublicTestSet) -> pd.DataFrame:
    """Return the scores of the placed method on each split and over all."""
    rows = []
    for metric in test_set.metrics:
        parts = (
            {}
            if len(placed.folds) == 1
            else {fold: (sample.part(placed, metric, i), placed.n[i]) for i, fold in enumerate(placed.folds)}
        )
        parts[ALL_SPLITS] = sample.estimate(placed, metric), placed.n.sum()
        for fold, (score, n) in parts.items():
            rows.append((placed.cell, fold, metric, score.value, score.low, score.high, int(n), 0))
    return pd.DataFrame(rows, columns=list(SCORE_COLUMNS))


def _ranking(
    placed: CellScores,
    labels: Sequence[str],
    cells: Mapping[str, CellScores],
    sample: DocumentSampling,
    shipped: ShippedPredictions,
) -> pd.DataFrame:
    """Return the placed method and all cells by descending score, with the paired comparisons."""
    main, further = shipped.test_set.metrics
    family = [] if shipped.test_set.multilabel else list(cells.values())
    tests = {test.b: test for test in holm_correction(sample.test("mcnemar", placed, cell, main) for cell in family)}
    truth, own = shipped.predicted(shipped.frame["label"]), shipped.predicted(labels)
    rows: list[dict[str, Any]] = []
    for scores in (placed, *cells.values()):
        estimate = sample.estimate(scores, main)
        row: dict[str, Any] = {"cell": scores.cell, "configuration": shipped.cells.get(scores.cell, "")}
        row |= {"value": estimate.value, "low": estimate.low, "high": estimate.high}
        row["macro_f1"] = _whole(scores, further)
        if scores is not placed:
            other = shipped.predicted(shipped.frame[scores.cell])
            agreed = agreement(own, other, tuple(filter(None, [tests.get(scores.cell)])))
            row["only_placed"] = sum(own[key] == truth[key] for key in agreed.differing)
            row["only_cell"] = sum(other[key] == truth[key] for key in agreed.differing)
            row |= _compared(placed, scores, sample, agreed, (main, further))
        rows.append(row)
    values = [row["value"] for row in rows]
    for row in rows:
        row["rank"] = 1 + sum(value > row["value"] for value in values)
    # The placed method stands before cells of the same score.
    ordered = sorted(rows, key=lambda row: (row["rank"], row["configuration"] != ""))
    return pd.DataFrame(ordered, columns=list(RANKING_COLUMNS))


def _compared(
    placed: CellScores, cell: CellScores, sample: DocumentSampling, agreed: Agreement, metrics: tuple[str, str]
) -> dict[str, Any]:
    """Return the columns of a row that compare the placed method with its cell."""
    gap = sample.difference(placed, cell, metrics[0])
    row: dict[str, Any] = {"difference": gap.value, "difference_low": gap.low, "difference_high": gap.high}
    if not agreed.tests:
        of_macro = sample.difference(placed, cell, metrics[1])
        row |= {"macro_difference": of_macro.value, "macro_low": of_macro.low, "macro_high": of_macro.high}
        row["compared"] = BETTER if gap.low > 0 else WORSE if gap.high < 0 else NOT_SHOWN
        return row
    (test,) = agreed.tests
    row |= {"macro_difference": _whole(placed, metrics[1]) - _whole(cell, metrics[1])}
    row |= {"p_value": test.p_value, "p_holm": test.p_holm, "compared": NOT_SHOWN}
    if test.p_holm is not None and test.p_holm < SIGNIFICANCE_LEVEL:
        row["compared"] = BETTER if test.favours == placed.cell else WORSE
    return row


def _published(placed: CellScores, sample: DocumentSampling, test_set: PublicTestSet) -> pd.DataFrame:
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
    found = [(*row, _beside(row[4], scores[row[0]])) for row in rows if row[0] in scores]
    found.sort(key=lambda row: (test_set.metrics.index(row[0]), -float(row[4])))
    return pd.DataFrame(found, columns=list(PUBLISHED_SCORE_COLUMNS))


def _beside(published: str, ours: float) -> str:
    """Compare a published score with ours after rounding ours to its digits."""
    digits = Decimal(published)
    rounded = round(Decimal(str(ours)), -int(digits.as_tuple().exponent))
    return HIGHER if digits > rounded else LOWER if digits < rounded else ALIKE


def _whole(scores: CellScores, metric: str) -> float:
    """Return a score over all splits, without its interval."""
    assert scores.outcome is not None  # noqa: S101 - made of predictions
    return score_over_splits(scores.outcome, metric)
