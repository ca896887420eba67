"""Encode an experiment's predictions as files that any tool opens, and decode them.

`predictions.parquet` alone has the predicted class of each tested document, by names, and where a metric asks for them
the decision values. Further files have a row for each task with its documents, for each split, and for each setting and
split the counts of the inner folds, the diagnostics, and the costs of the settings. Costs differ from run to run. The
bytes of the other files depend only on the predictions.
"""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

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

    from numpy.typing import NDArray

    Row = dict[str, Any]

_SETTING = ("variant", "task", "cell", "candidate", "size", "terms")
_SEPARATOR = re.compile(rf"(?<!\\){LABEL_SEPARATOR}")
_COSTS = (*TIMERS, "peak_bytes", "version")
#: Columns of the predictions whose texts repeat.
_NAMES = ("document", "split", "variant", "task", "cell", "label", "predicted")


def encode_predictions(predictions: Predictions) -> dict[str, bytes]:
    """Return the contents of the files, by file name."""
    settings = list(_setting_rows(predictions))
    costs = [{name: row[name] for name in (*_SETTING, "split", *_COSTS)} for row in settings]
    others = [{name: value for name, value in row.items() if name not in _COSTS} for row in settings]
    return {
        PREDICTIONS_TABLE: _file(pa.Table.from_pandas(_frame(predictions), preserve_index=False)),
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
        DIAGNOSTICS_ARRAYS: _diagnostics(predictions),
        TIMINGS_TABLE: encode_rows(costs),
    }


def decode_predictions(contents: Mapping[str, bytes]) -> Predictions:
    """Return the predictions stored in the contents of the files.

    Raises
    ------
    ValueError, KeyError, OSError, EOFError, zlib.error, zipfile.BadZipFile
        If the files are damaged or inconsistent.
    """
    try:
        tasks, splits = dict[TaskKey, TaskDocuments](), dict[SplitKey, tuple[TestedSplit, ...]]()
        for row in decode_rows(contents[DOCUMENTS_TABLE]):
            truth, n = np.array(row["truth"], np.int32), len(row["documents"])
            truth = truth.reshape(n, -1).astype(np.bool_) if row["multilabel"] else truth.reshape(n)
            documents = TaskDocuments(tuple(row["documents"]), tuple(row["classes"]), truth)
            tasks[TaskKey(row["variant"], row["task"])] = documents
        for row in decode_rows(contents[SPLITS_TABLE]):
            leaks = {leak: np.array(rows, np.intp) for leak, rows in json.loads(row["leaks"]).items()}
            split = TestedSplit(row["split"], np.array(row["test"], np.intp), np.array(row["trained"], np.int64), leaks)
            key = SplitKey(row["variant"], row["task"], row["size"])
            splits[key] = (*splits.get(key, ()), split)
        settings = _settings_of(contents, tasks, splits)
        return Predictions(tasks, splits, settings, _diagnostics_of(contents[DIAGNOSTICS_ARRAYS]))
    except (AttributeError, TypeError, IndexError, RuntimeError) as error:
        raise ValueError(f"its files are inconsistent: {error}") from None


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


def _frame(predictions: Predictions) -> pd.DataFrame:
    """Return one long table: a row for each setting, split and tested document.

    The rows of settings with the same splits stand together, document by document, split by split, setting by setting:
    equal values follow each other, and compress to a seventh of what they take setting by setting.
    """
    several = any(documents.multilabel for documents in predictions.tasks.values())
    ranked = any(setting.values is not None for setting in predictions.settings.values())  # noqa: PD011
    columns = ("document", "split", *_SETTING, "label", "predicted", "tied", *(("values",) if ranked else ()))
    parts = list[pd.DataFrame]()
    for of_splits, keys in _by_splits(predictions.tasks, predictions.settings):
        documents, splits = predictions.tasks[of_splits.of_task], predictions.splits[of_splits]
        rows, order = _document_order(splits)
        names = np.repeat([split.name for split in splits], [len(split.test) for split in splits])[order]
        known = {"document": np.array(documents.ids, object)[rows], "split": names.astype(object)}
        known["label"] = _texts(documents.truth[rows], documents)
        own = [predictions.settings[key] for key in keys]
        predicted, tied = (np.stack([getattr(each, name)[order] for each in own], 1) for name in ("predicted", "tied"))
        predicted, tied = (each.reshape(-1, *each.shape[2:]) for each in (predicted, tied))
        part: dict[str, Any] = {name: np.repeat(values, len(keys)) for name, values in known.items()}
        part |= {name: np.tile(np.array(of, object), len(rows)) for name, *of in zip(_SETTING, *keys, strict=True)}
        part["predicted"] = _texts(predicted, documents)
        if several:  # a tie of a single-label document belongs to its predicted class
            tied = _texts(tied, documents) if tied.ndim == 2 else np.where(tied, part["predicted"], "")
        part["tied"] = tied
        if ranked:
            known_values = (each.values for each in own)  # noqa: PD011 - not a frame's
            scores = [[None] * len(rows) if values is None else list(values[order]) for values in known_values]
            part["values"] = [each for of_document in zip(*scores, strict=True) for each in of_document]
        parts.append(pd.DataFrame(part, columns=list(columns)))
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(columns))
    kinds: dict[str, Any] = dict.fromkeys(_NAMES, "category") | {
        "candidate": "int32",
        "size": "Int64",
        "terms": "Int64",
    }
    return frame.astype(kinds | {"tied": "category" if several else "bool"})


def _by_splits(tasks: Iterable[TaskKey], keys: Iterable[SettingKey]) -> Iterator[tuple[SplitKey, list[SettingKey]]]:
    """Yield the settings with the same splits, task by task."""
    found: dict[SplitKey, list[SettingKey]] = {}
    for task in tasks:
        for key in keys:
            if key.of_task == task:
                found.setdefault(key.of_splits, []).append(key)
    yield from found.items()


def _document_order(splits: Sequence[TestedSplit]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the tested documents of all splits in the order of the file, and that order."""
    rows = np.concatenate([split.test for split in splits])
    order = np.argsort(rows, kind="stable")
    return rows[order], order


def _texts(labels: NDArray[Any], documents: TaskDocuments) -> NDArray[Any]:
    """Return the names of classes, from codes, or several names in one text, from indicators of classes."""
    if labels.ndim == 1:
        return np.asarray(np.array(documents.classes, object)[labels])
    names = np.array(_escaped(documents), object)
    packed = np.packbits(labels, axis=1)  # to whole rows that are hashed, since sorting them takes ten times as long
    codes, _ = pd.factorize(packed.view(f"S{packed.shape[1]}").ravel().astype(object))
    _, first = np.unique(codes, return_index=True)
    return np.array([LABEL_SEPARATOR.join(names[each]) for each in labels[first]], object)[codes]


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


def _settings_of(
    contents: Mapping[str, bytes],
    tasks: Mapping[TaskKey, TaskDocuments],
    splits: Mapping[SplitKey, tuple[TestedSplit, ...]],
) -> dict[SettingKey, SettingPredictions]:
    rows: dict[SettingKey, list[Row]] = {}
    for setting, costs in zip(*(decode_rows(contents[each]) for each in (SETTINGS_TABLE, TIMINGS_TABLE)), strict=True):
        key, other = (SettingKey(*(row[name] for name in _SETTING)) for row in (setting, costs))
        if key != other:
            raise ValueError("its timings are of other settings")
        rows.setdefault(key, []).append(costs | setting)
    # One thread, since the run or a plug-in owns the cores.
    frame = pd.read_parquet(io.BytesIO(contents[PREDICTIONS_TABLE]), use_threads=False)
    found, at = dict[SettingKey, SettingPredictions](), 0
    for of_splits, keys in _by_splits(tasks, rows):
        documents, own, n = tasks[of_splits.of_task], splits[of_splits], len(keys)
        back = np.argsort(_document_order(own)[1], kind="stable")
        part, at = frame[at : at + n * len(back)], at + n * len(back)
        predicted, tied = _labels(part["predicted"], documents), part["tied"].to_numpy()
        if part["tied"].dtype != np.bool_:
            tied = _labels(part["tied"], documents) if documents.multilabel else tied != ""
        predicted, tied = (each.reshape(len(back), n, *each.shape[1:]) for each in (predicted, tied))
        for number, key in enumerate(keys):
            if [row["split"] for row in rows[key]] != [split.name for split in own]:
                raise ValueError("the splits of a setting don't match")
            scores: list[Any] = part["values"].tolist()[number::n] if "values" in part else [None]
            values = None if scores[0] is None else np.stack(scores)[back]
            found[key] = _setting_of(rows[key], own, predicted[back, number], tied[back, number], values)
    if at != len(frame):
        raise ValueError("it has predictions of other settings")
    return {key: found[key] for key in rows}


def _setting_of(
    rows: Sequence[Row],
    splits: Sequence[TestedSplit],
    predicted: NDArray[Any],
    tied: NDArray[np.bool_],
    values: NDArray[np.float64] | None,
) -> SettingPredictions:
    """Return the predictions of a setting, with the inner counts and timings of its rows, one for each split."""
    return SettingPredictions(
        predicted,
        tied,
        tuple(len(split.test) for split in splits),
        np.array([[row[timer] for timer in TIMERS] for row in rows], dtype=np.float64),
        np.array([row["peak_bytes"] for row in rows], dtype=np.float64),
        np.array([row["inner"] for row in rows], dtype=np.int64) if rows[0]["inner"] else NO_INNER_FOLDS,
        tuple(row["version"] for row in rows),
        tuple(rows[0]["warnings"]),
        values,
    )


# --- Other files ---


def _setting_rows(predictions: Predictions) -> Iterator[Row]:
    """Yield all columns of the files of settings and of timings, a row for each split of a setting."""
    for key in (key for task in predictions.tasks for key in predictions.settings if key.of_task == task):
        setting = predictions.settings[key]
        for n, split in enumerate(predictions.splits[key.of_splits]):
            row = {**dict(zip(_SETTING, key, strict=True)), "split": split.name, "warnings": setting.warnings}
            row["inner"] = setting.inner[n] if len(setting.inner) else ()
            row |= dict(zip(TIMERS, setting.seconds[n].tolist(), strict=True))
            yield row | {"peak_bytes": setting.memory[n], "version": setting.versions[n]}


def _diagnostics(predictions: Predictions) -> bytes:
    """Return an archive of arrays, each named by its diagnostic, variant and name; seconds are left out."""
    arrays: dict[str, NDArray[Any]] = {}
    for key, measured in predictions.diagnostics.items():
        kept = {name: array for name, array in measured.items() if name.rpartition("/")[2] != "seconds"}
        for name, array in (kept or {"": np.empty(0)}).items():
            arrays[json.dumps([*key, name])] = array
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _diagnostics_of(content: bytes) -> dict[tuple[str, str], dict[str, NDArray[Any]]]:
    found: dict[tuple[str, str], dict[str, NDArray[Any]]] = {}
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        for text, array in archive.items():
            *key, name = json.loads(text)
            found.setdefault((key[0], key[1]), {}).update({name: array} if name else {})
    return found
