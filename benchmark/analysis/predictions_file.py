"""Encode an experiment's predictions as files that any tool opens, and decode them.

`predictions.parquet` alone has the predicted class of each tested document, by names, and where a metric asks for them
the decision values. Further files have a row for each task with its documents, for each split, and for each setting and
split the counts of the inner folds, the diagnostics, and the costs of the settings. Costs differ from run to run. The
bytes of the other files depend only on the predictions. A file of its own has numbers that reports don't compute: the
estimates of plug-in metrics and the values of diagnostics.
"""

from __future__ import annotations

import io
import json
import re
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmark.diagnostics.base import CurvePoint, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.metrics import METRICS
from benchmark.evaluation.outcomes import ALL_SPLITS, Estimate
from benchmark.evaluation.predictions import (
    DIAGNOSTICS_ARRAYS,
    DOCUMENTS_TABLE,
    NO_INNER_FOLDS,
    PREDICTIONS_TABLE,
    SETTINGS_TABLE,
    SPLITS_TABLE,
    TIMERS,
    TIMINGS_TABLE,
    Predictions,
    SettingKey,
    SettingPredictions,
    SplitKey,
    TaskDocuments,
    TaskKey,
    TestedSplit,
)
from benchmark.evaluation.public_test_sets import LABEL_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from benchmark.config.model import Experiment
    from benchmark.evaluation.score_table import ScoreTable

    Row = dict[str, Any]

_SETTING = ("variant", "task", "cell", "candidate", "size", "terms")
_SEPARATOR = re.compile(rf"(?<!\\){LABEL_SEPARATOR}")
_COSTS = (*TIMERS, "peak_bytes")
_TEXTS, _VALUES = pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.float64())


def encode_predictions(predictions: Predictions) -> dict[str, bytes]:
    """Return the contents of the files, by file name."""
    settings = list(_setting_rows(predictions))
    costs = [{name: row[name] for name in (*_SETTING, "split", *_COSTS)} for row in settings]
    others = [{name: value for name, value in row.items() if name not in _COSTS} for row in settings]
    return {
        PREDICTIONS_TABLE: _encode_table(predictions),
        DOCUMENTS_TABLE: encode_rows(
            {**key._asdict(), "documents": each.ids, "classes": each.classes, "multilabel": each.multilabel}
            | {"truth": each.truth.astype(np.int32).ravel()}
            for key, each in predictions.tasks.items()
        ),
        SPLITS_TABLE: encode_rows(
            {**key._asdict(), "split": split.name, "test": split.test, "trained": split.trained}
            | {"leaks": json.dumps({leak: rows.tolist() for leak, rows in split.leaks.items()})}
            for key, splits in predictions.splits.items()
            for split in splits
        ),
        SETTINGS_TABLE: encode_rows(others),
        DIAGNOSTICS_ARRAYS: _encode_arrays(predictions),
        TIMINGS_TABLE: encode_rows(costs),
    }


def decode_predictions(contents: Mapping[str, bytes]) -> Predictions:
    """Return the predictions stored in the contents of the files, as `encode_predictions` wrote them."""
    tasks, splits = dict[TaskKey, TaskDocuments](), dict[SplitKey, tuple[TestedSplit, ...]]()
    for row in decode_rows(contents[DOCUMENTS_TABLE]):
        truth = np.array(row["truth"], np.int32)
        truth = truth.reshape(len(row["documents"]), -1).astype(np.bool_) if row["multilabel"] else truth
        documents = TaskDocuments(tuple(row["documents"]), tuple(row["classes"]), truth)
        tasks[TaskKey(row["variant"], row["task"])] = documents
    for row in decode_rows(contents[SPLITS_TABLE]):
        leaks = {leak: np.array(rows, np.intp) for leak, rows in json.loads(row["leaks"]).items()}
        split = TestedSplit(row["split"], np.array(row["test"], np.intp), np.array(row["trained"], np.int64), leaks)
        key = SplitKey(row["variant"], row["task"], row["size"])
        splits[key] = (*splits.get(key, ()), split)
    settings = _decode_settings(contents, tasks, splits)
    return Predictions(tasks, splits, settings, _decode_arrays(contents[DIAGNOSTICS_ARRAYS]))


def encode_rows(rows: Iterable[Row], columns: Sequence[str] = ()) -> bytes:
    """Return a Parquet file of rows, with nulls for columns that a row lacks; by default with those of the first."""
    every = list(rows)
    names = columns or list(every[0] if every else ())
    return _file(pa.table({name: [row.get(name) for row in every] for name in names}))


def decode_rows(content: bytes) -> list[Row]:
    """Return the rows of a Parquet file."""
    rows: list[Row] = parquet.ParquetFile(pa.BufferReader(content)).read(use_threads=False).to_pylist()
    return rows


def _file(table: pa.Table) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table, file, compression="zstd", compression_level=9, row_group_size=max(1, len(table)))
    return file.getvalue()


# --- Predictions ---


def _encode_table(predictions: Predictions) -> bytes:
    """Return a Parquet file with a row for each setting, split and tested document.

    Settings with the same splits are a group of rows: document by document, split by split, setting by setting. Equal
    values follow each other, and compress to a seventh of what they take setting by setting. Texts are codes, and one
    group is made at a time, since a large experiment has tens of millions of rows.
    """
    several = any(documents.multilabel for documents in predictions.tasks.values())
    ranked = any(each.values is not None for each in predictions.settings.values())  # noqa: PD011 - not a frame's
    fields = dict.fromkeys(("document", "split", *_SETTING, "label", "predicted", "tied"), _TEXTS)
    fields |= {"candidate": pa.int32(), "size": pa.int64(), "terms": pa.int64()}
    fields |= ({} if several else {"tied": pa.bool_()}) | ({"values": _VALUES} if ranked else {})
    schema, file = pa.schema(list(fields.items())), io.BytesIO()
    with parquet.ParquetWriter(file, schema, compression="zstd", compression_level=9) as writer:
        for of_splits, keys in _by_splits(predictions.tasks, predictions.settings):
            columns = _columns(predictions, of_splits, keys, several=several)
            block = pa.table([columns[name].cast(kind) for name, kind in fields.items()], schema=schema)
            writer.write_table(block, row_group_size=max(1, len(block)))
    return file.getvalue()


def _columns(
    predictions: Predictions, of_splits: SplitKey, keys: Sequence[SettingKey], *, several: bool
) -> dict[str, pa.Array]:
    """Return the columns of the settings with the same splits.

    Each has a row for every tested document of every split and every setting, in the order of `_encode_table`.
    `several` says whether documents of any task may have several classes: ties are texts then, not truth values.
    """
    documents, splits = predictions.tasks[of_splits.of_task], predictions.splits[of_splits]
    settings, tested = [predictions.settings[key] for key in keys], np.concatenate([split.test for split in splits])
    row = np.repeat(np.argsort(tested, kind="stable"), len(keys))
    setting = np.tile(np.arange(len(keys)), len(tested))

    def taken(values: Sequence[Any], places: NDArray[Any]) -> pa.Array:
        column = pa.array(values)
        return (column.dictionary_encode() if pa.types.is_string(column.type) else column).take(places)

    predicted, tied = (
        np.stack([getattr(each, name) for each in settings])[setting, row] for name in ("predicted", "tied")
    )
    columns = {
        "document": taken([documents.ids[i] for i in tested], row),
        "split": taken([split.name for split in splits for _ in split.test], row),
        "label": _texts(documents.truth[tested[row]], documents),
        "predicted": _texts(predicted, documents),
        "tied": pa.array(tied) if tied.ndim == 1 else _texts(tied, documents),
        "values": pa.nulls(len(row), _VALUES),
    }
    if several and tied.ndim == 1:  # a tie of a single-label document belongs to its predicted class
        columns["tied"] = _coded(np.where(tied, predicted, len(documents.classes)), [*documents.classes, ""])
    if any(each.values is not None for each in settings):  # noqa: PD011 - not a frame's
        scores = [[None] * len(tested) if each.values is None else each.values for each in settings]  # noqa: PD011
        columns["values"] = pa.array([scores[i][j] for i, j in zip(setting, row, strict=True)], _VALUES)
    return columns | {name: taken(each, setting) for name, each in zip(_SETTING, zip(*keys, strict=True), strict=True)}


def _by_splits(tasks: Iterable[TaskKey], keys: Iterable[SettingKey]) -> Iterator[tuple[SplitKey, list[SettingKey]]]:
    """Yield the settings with the same splits, task by task."""
    found: dict[SplitKey, list[SettingKey]] = {}
    for task in tasks:
        for key in keys:
            if key.of_task == task:
                found.setdefault(key.of_splits, []).append(key)
    yield from found.items()


def _texts(labels: NDArray[Any], documents: TaskDocuments) -> pa.DictionaryArray:
    """Return the names of classes, from codes, or several names in one text, from indicators of classes."""
    if labels.ndim == 1:
        return _coded(labels, documents.classes)
    names, packed = np.array(_escaped(documents), object), np.packbits(labels, axis=1)
    _, first, codes = np.unique(packed.view(f"V{packed.shape[1]}").ravel(), return_index=True, return_inverse=True)
    return _coded(codes, [LABEL_SEPARATOR.join(names[row]) for row in labels[first]])


def _coded(codes: NDArray[Any], texts: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), pa.array(texts, pa.string()))


def _labels(texts: pd.Series[Any], documents: TaskDocuments) -> NDArray[Any]:
    """Return codes or indicators of classes from texts as those of `_texts`; KeyError for an unknown class."""
    used = texts.cat.remove_unused_categories().cat
    names = _escaped(documents) if documents.multilabel else documents.classes
    codes = {name: code for code, name in enumerate(names)}
    if not documents.multilabel:
        return np.array([codes[text] for text in used.categories], np.int16)[used.codes]
    member = np.zeros((len(used.categories), len(codes)), dtype=np.bool_)
    for row, text in enumerate(used.categories):
        member[row, [codes[name] for name in filter(None, _SEPARATOR.split(text))]] = True
    return np.asarray(member[used.codes])


def _escaped(documents: TaskDocuments) -> list[str]:
    return [name.replace(LABEL_SEPARATOR, f"\\{LABEL_SEPARATOR}") for name in documents.classes]


def _decode_settings(
    contents: Mapping[str, bytes],
    tasks: Mapping[TaskKey, TaskDocuments],
    splits: Mapping[SplitKey, tuple[TestedSplit, ...]],
) -> dict[SettingKey, SettingPredictions]:
    rows: dict[SettingKey, list[Row]] = {}
    for setting, costs in zip(*(decode_rows(contents[each]) for each in (SETTINGS_TABLE, TIMINGS_TABLE)), strict=True):
        rows.setdefault(SettingKey(*(setting[name] for name in _SETTING)), []).append(costs | setting)
    file = parquet.ParquetFile(pa.BufferReader(contents[PREDICTIONS_TABLE]))
    names = [name for name in ("predicted", "tied", "values") if name in file.schema_arrow.names]
    frame = file.read(names, use_threads=False).to_pandas()  # one thread, since the run or a plug-in owns the cores
    found, start = dict[SettingKey, SettingPredictions](), 0
    for of_splits, keys in _by_splits(tasks, rows):
        documents, tested_splits, n = tasks[of_splits.of_task], splits[of_splits], len(keys)
        tested = np.concatenate([split.test for split in tested_splits])
        ranks = np.argsort(np.argsort(tested, kind="stable"), kind="stable")
        block = frame[start : start + n * len(tested)]
        start += len(block)
        predicted, tied = _labels(block["predicted"], documents), block["tied"].to_numpy()
        if block["tied"].dtype != np.bool_:
            tied = _labels(block["tied"], documents) if documents.multilabel else tied != ""
        for number, key in enumerate(keys):
            scores: list[Any] = block["values"].tolist()[number::n] if "values" in block else [None]
            found[key] = SettingPredictions(
                predicted[number::n][ranks],
                tied[number::n][ranks],
                tuple(len(split.test) for split in tested_splits),
                np.array([[row[timer] for timer in TIMERS] for row in rows[key]], dtype=np.float64),
                np.array([row["peak_bytes"] for row in rows[key]], dtype=np.float64),
                np.array([row["inner"] for row in rows[key]], np.int64) if rows[key][0]["inner"] else NO_INNER_FOLDS,
                tuple(rows[key][0]["warnings"]),
                None if scores[0] is None else np.stack(scores)[ranks],
            )
    return {key: found[key] for key in rows}


# --- Other files ---


def _setting_rows(predictions: Predictions) -> Iterator[Row]:
    """Yield all columns of the files of settings and of timings, a row for each split of a setting."""
    for key in (key for task in predictions.tasks for key in predictions.settings if key.of_task == task):
        setting = predictions.settings[key]
        for n, split in enumerate(predictions.splits[key.of_splits]):
            row = {**dict(zip(_SETTING, key, strict=True)), "split": split.name, "warnings": setting.warnings}
            row["inner"] = setting.inner[n] if len(setting.inner) else ()
            row |= dict(zip(TIMERS, setting.seconds[n].tolist(), strict=True))
            yield row | {"peak_bytes": setting.memory[n]}


def _encode_arrays(predictions: Predictions) -> bytes:
    """Return an archive of arrays, each named by its diagnostic, variant and name."""
    arrays: dict[str, NDArray[Any]] = {}
    for key, measured in predictions.diagnostics.items():
        arrays |= {json.dumps([*key, name]): array for name, array in (measured or {"": np.empty(0)}).items()}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _decode_arrays(content: bytes) -> dict[tuple[str, str], dict[str, NDArray[Any]]]:
    found: dict[tuple[str, str], dict[str, NDArray[Any]]] = {}
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        for text, array in archive.items():
            diagnostic, variant, name = json.loads(text)
            found.setdefault((diagnostic, variant), {}).update({name: array} if name else {})
    return found


# --- Numbers that are not computed from predictions ---

#: Columns of the file; a value that a row doesn't have is missing.
_ESTIMATE_COLUMNS = (
    *("variant", "diagnostic", "cell", "of_class", "other", "split", "metric", "axis", "method", "interval"),
    *("x", "value", "low", "high", "n"),
)

#: Estimates by cell, then by (metric, fold, other cell), see `CellScores.recorded`.
EstimatesByCell = dict[str, dict[tuple[str, str, str], Estimate]]
#: Numbers of the diagnostics, each with the names of the diagnostic and of the variant.
Measured = tuple[tuple[str, str, DiagnosticNumbers], ...]


def encode_estimates(estimates: Iterable[tuple[str, str, str, str, Estimate]], measured: Measured) -> bytes:
    """Return the file of `plugin_estimates` and of the numbers of diagnostics."""
    rows = [
        {"cell": cell, "metric": metric, "split": fold, "other": other, **_numbers(estimate)}
        for cell, metric, fold, other, estimate in estimates
    ]
    for diagnostic, variant, each in measured:
        of = {"variant": variant, "diagnostic": diagnostic}
        rows += [{**of, "cell": row.cell, "metric": row.metric, **_numbers(row.estimate)} for row in each.rows]
        rows += [{**of, **vars(point), "n": 0} for point in each.points]
    return encode_rows(rows, _ESTIMATE_COLUMNS)


def plugin_estimates(experiment: Experiment, scored: ScoreTable) -> Iterator[tuple[str, str, str, str, Estimate]]:
    """Yield cell, metric, fold, other cell and estimate of the scores and differences of plug-in metrics."""
    metrics = [name for name in experiment.scorers if name not in METRICS]
    for (name, scores), metric in product(scored.cells.items(), metrics):
        if metric in scores.values:  # noqa: PD011 - not a frame's
            yield name, metric, ALL_SPLITS, "", scored.samples[name].estimate(scores, metric)
            for position, fold in enumerate(scores.folds):
                yield name, metric, fold, "", scored.samples[name].part(scores, metric, position)
    for metric, pair in product(metrics, experiment.compare):
        if scored.has(metric, pair.a, pair.b):
            try:
                yield pair.a, metric, ALL_SPLITS, pair.b, scored.difference(pair.a, pair.b, metric)
            except ValueError:  # the cells can't be paired, as a note states
                continue


def _numbers(estimate: Estimate) -> Row:
    return {("interval" if name == "method" else name): value for name, value in vars(estimate).items()}


def decode_estimates(content: bytes) -> tuple[EstimatesByCell, Measured]:
    """Return the estimates of plug-in metrics and the numbers of diagnostics that the file has."""
    estimates: EstimatesByCell = {}
    measured: dict[tuple[str, str], tuple[list[DiagnosticRow], list[CurvePoint]]] = {}
    for row in decode_rows(content):
        estimate = Estimate(*(row[name] for name in ("value", "low", "high", "n", "interval")))
        if row["diagnostic"] is None:
            estimates.setdefault(row["cell"], {})[row["metric"], row["split"], row["other"]] = estimate
            continue
        numbers, points = measured.setdefault((row["diagnostic"], row["variant"]), ([], []))
        if row["axis"] is not None:
            points.append(CurvePoint(*(row[name] for name in CurvePoint.__dataclass_fields__)))
        else:
            numbers.append(DiagnosticRow(row["cell"], row["metric"], estimate))
    each = ((*key, DiagnosticNumbers(tuple(numbers), tuple(points))) for key, (numbers, points) in measured.items())
    return estimates, tuple(each)
