"""Encoding of an experiment's predictions as files that any tool opens, and decoding.

`predictions.parquet` alone has the predicted class of each tested document, by names, and where a metric asks for them
the decision values. Further files hold all documents
of the tasks, the splits, the settings with the counts of their inner folds, the diagnostics, and the costs of the
settings. Costs differ from run to run. The bytes of the other files depend only on the predictions.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmark.analysis.recorded import RECORD_NUMBER_COLUMNS, RECORD_TEXT_COLUMNS, record_from_rows, rows_from_record
from benchmark.evaluation.predictions import (
    DIAGNOSTICS_ARRAYS,
    DOCUMENTS_TABLE,
    ESTIMATES_TABLE,
    NEAR_DUPLICATES,
    NO_INNER_FOLDS,
    PREDICTIONS_TABLE,
    SETTINGS_TABLE,
    SHARED_GROUPS,
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.analysis.recorded import RecordedNumbers

_CLASSES = b"classes"
_INNER_COUNTS = ("inner_right", "inner_assigned", "inner_true")
#: Column of the decision values of each class, in the order of the task's classes, where a metric asks for them.
_VALUES = "values"
#: Columns of the tested documents that are known from training; null where they weren't looked for.
_LEAKS = {"near_duplicates": NEAR_DUPLICATES, "shared_groups": SHARED_GROUPS}
_MAY_BE_NULL = ("size", "terms", *_INNER_COUNTS, "inner_documents", "peak_bytes", _VALUES, *_LEAKS)
_NAME = pa.dictionary(pa.int32(), pa.string())
_NAMES = pa.list_(pa.string())
_NUMBERS = pa.list_(pa.float64())
_AXES = [("size", pa.int64()), ("terms", pa.int64())]
_TASK = [("variant", _NAME), ("task", _NAME)]
_SETTING = [*_TASK, ("cell", _NAME), ("candidate", pa.int32()), *_AXES, ("split", _NAME)]
_OF_SPLITS = pa.schema(
    [
        *_TASK,
        _AXES[0],
        ("split", _NAME),
        ("test", pa.list_(pa.int32())),
        *((name, pa.list_(pa.int32())) for name in _LEAKS),
        ("trained", pa.list_(pa.int64())),
    ]
)
_OF_SETTINGS = pa.schema(
    [
        *_SETTING,
        *((name, pa.list_(pa.int64())) for name in _INNER_COUNTS),
        ("inner_documents", pa.int64()),
        ("warnings", _NAMES),
    ]
)
_OF_ESTIMATES = pa.schema(
    [
        *((name, _NAME) for name in RECORD_TEXT_COLUMNS),
        *((name, pa.float64()) for name in RECORD_NUMBER_COLUMNS),
        ("n", pa.int64()),
        ("interval", _NAME),
    ]
)
_OF_TIMINGS = pa.schema(
    [*_SETTING, *((clock, pa.float64()) for clock in TIMERS), ("peak_bytes", pa.float64()), ("version", _NAME)]
)


def encode_predictions(predictions: Predictions) -> dict[str, bytes]:
    """Return the contents of the files, by file name."""
    return {
        PREDICTIONS_TABLE: _predictions(predictions),
        DOCUMENTS_TABLE: _documents(predictions),
        SPLITS_TABLE: _splits(predictions),
        SETTINGS_TABLE: _settings(predictions),
        DIAGNOSTICS_ARRAYS: _diagnostics(predictions),
        TIMINGS_TABLE: _timings(predictions),
    }


def encode_estimates(recorded: RecordedNumbers) -> bytes:
    """Return the content of the file of numbers that are not computed from predictions."""
    names = [field.name for field in _OF_ESTIMATES]
    rows = [[row[name] for name in names] for row in rows_from_record(recorded)]
    return _written(_OF_ESTIMATES, [_table(_OF_ESTIMATES, rows)])


def decode_estimates(content: bytes, chosen: Mapping[str, NDArray[np.intp]], notes: tuple[str, ...]) -> RecordedNumbers:
    """Return the numbers that the file of estimates and the manifest record.

    Raises
    ------
    ValueError
        If the file is damaged.
    """
    try:
        return record_from_rows(_read(content).to_pylist(), chosen, notes)
    except (pa.ArrowException, KeyError, TypeError) as error:
        raise ValueError(f"{ESTIMATES_TABLE} can't be read: {error}") from None


def decode_predictions(contents: Mapping[str, bytes]) -> Predictions:
    """Return the predictions stored in the contents of the files.

    Raises
    ------
    ValueError, KeyError, OSError, EOFError, zlib.error, zipfile.BadZipFile
        If the files are damaged or inconsistent.
    """
    try:
        tasks = _documents_of(contents[DOCUMENTS_TABLE])
        splits = _splits_of(contents[SPLITS_TABLE])
        settings = _settings_of(contents, tasks, splits)
        return Predictions(tasks, splits, settings, _diagnostics_of(contents[DIAGNOSTICS_ARRAYS]))
    except (pa.ArrowException, TypeError, IndexError, RuntimeError) as error:
        raise ValueError(f"its files are inconsistent: {error}") from None


# --- Tables ---


def _written(schema: pa.Schema, tables: Iterable[pa.Table]) -> bytes:
    """Return a Parquet file of the tables, each starting a row group."""
    file = io.BytesIO()
    with parquet.ParquetWriter(file, schema, compression="zstd", compression_level=9) as writer:
        for table in tables:
            writer.write_table(table.cast(schema), row_group_size=max(1, len(table)))
    return file.getvalue()


def _table(schema: pa.Schema, rows: Sequence[Sequence[Any]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [_typed(list(column), field.type) for field, column in zip(schema, columns, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _typed(values: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.array(values, pa.string()).dictionary_encode() if kind == _NAME else pa.array(values, kind)


def _read(content: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    # Single-threaded, since the run or a plug-in owns the cores.
    table = parquet.read_table(pa.BufferReader(content), columns=columns, use_threads=False)
    for name in table.column_names:
        if table[name].null_count and name not in _MAY_BE_NULL:
            raise ValueError(f"the column {name} has missing values")
    return table


def _constant(value: Any, n: int, kind: pa.DataType) -> pa.Array:
    """Return a column that repeats one value."""
    if kind == _NAME:
        return _coded(np.zeros(n, np.int32), [value])
    return pa.nulls(n, kind) if value is None else pa.array(np.full(n, value), kind)


def _coded(codes: NDArray[Any], names: Sequence[str]) -> pa.Array:
    """Return a dictionary-encoded column of names."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(list(names), pa.string()))


def _labelled(codes: NDArray[Any], classes: Sequence[str], *, multilabel: bool) -> pa.Array:
    """Return a column of classes, or of lists of them.

    Parameters
    ----------
    codes : int array, shape (n,), or bool array, shape (n, k)
    classes : sequence of str, length k
    multilabel : bool
        Whether the column has lists, as it does when documents of any task have several classes.
    """
    if not multilabel:
        return _coded(codes, classes)
    codes = codes if codes.ndim == 2 else codes[:, None] == np.arange(len(classes))
    ends = np.cumsum([0, *np.count_nonzero(codes, axis=1)], dtype=np.int32)
    names = pa.array(list(classes), pa.string()).take(pa.array(np.nonzero(codes)[1]))
    return pa.ListArray.from_arrays(pa.array(ends), names)


def _codes(column: pa.ChunkedArray, classes: Sequence[str]) -> NDArray[Any]:
    """Return the codes of a column of classes, or of lists of them a bool array of shape (n, k).

    Raises
    ------
    ValueError
        If a value is not one of the classes.
    """
    found, known = [], pa.array(list(classes), pa.string())
    for chunk in column.chunks:
        multilabel = pa.types.is_list(chunk.type)
        names = chunk.flatten() if multilabel else chunk
        if pa.types.is_dictionary(names.type):
            own = pa.compute.index_in(names.dictionary, known)
            codes = own.fill_null(-1).to_numpy(zero_copy_only=False)[names.indices.to_numpy(zero_copy_only=False)]
        else:
            codes = pa.compute.index_in(names, known).fill_null(-1).to_numpy(zero_copy_only=False)
        if (codes < 0).any():
            raise ValueError("it has unknown classes")
        if multilabel:
            member = np.zeros((len(chunk), len(classes)), dtype=bool)
            member[np.repeat(np.arange(len(chunk)), chunk.value_lengths().to_numpy(zero_copy_only=False)), codes] = True
            codes = member
        found.append(codes if multilabel else codes.astype(np.int16))
    return np.concatenate(found) if found else np.empty(0, dtype=np.int16)


# --- Predictions ---


def _predictions(predictions: Predictions) -> bytes:
    multilabel = any(documents.multilabel for documents in predictions.tasks.values())
    of_class, of_tie = (_NAMES, _NAMES) if multilabel else (_NAME, pa.bool_())
    schema = pa.schema(
        [
            ("document", _NAME),
            ("split", _NAME),
            *_SETTING[:-1],
            ("label", of_class),
            ("predicted", of_class),
            ("tied", of_tie),
            *([(_VALUES, _NUMBERS)] if any(each.values is not None for each in predictions.settings.values()) else []),
        ]
    )
    found = (_of_task(predictions, key, schema) for key in predictions.tasks)
    return _written(schema, (table for table in found if len(table)))


def _of_task(predictions: Predictions, task: TaskKey, schema: pa.Schema) -> pa.Table:
    """Return the rows of one task: for each training size document by document, split by split, setting by setting.

    This order puts equal values together, which compresses well.
    """
    documents, multilabel = predictions.tasks[task], schema.field("tied").type == _NAMES
    k = len(documents.classes)
    tables = [schema.empty_table()]
    for of_splits, keys in _by_splits(key for key in predictions.settings if key.of_task == task):
        splits, n = predictions.splits[of_splits], len(keys)
        rows, numbers, order = _layout(splits)
        own = [predictions.settings[key] for key in keys]
        predicted, tied = (_interleaved([getattr(each, name)[order] for each in own]) for name in ("predicted", "tied"))
        label = np.repeat(documents.truth[rows], n, axis=0)
        by_class = _ties(predicted, tied, k) if multilabel else tied
        columns = {
            "document": _coded(np.repeat(rows, n), documents.ids),
            "split": _coded(np.repeat(numbers, n), [split.name for split in splits]),
            "variant": _constant(task.variant, len(label), _NAME),
            "task": _constant(task.task, len(label), _NAME),
            "cell": _repeated([key.method for key in keys], len(rows), _NAME),
            "candidate": _repeated([key.candidate for key in keys], len(rows), pa.int32()),
            "size": _constant(of_splits.size, len(label), pa.int64()),
            "terms": _repeated([key.terms for key in keys], len(rows), pa.int64()),
            "label": _labelled(label, documents.classes, multilabel=multilabel),
            "predicted": _labelled(predicted, documents.classes, multilabel=multilabel),
            "tied": _labelled(by_class, documents.classes, multilabel=True) if multilabel else pa.array(tied),
        }
        if _VALUES in schema.names:
            columns[_VALUES] = _lists([each.values for each in own], order)
        tables.append(pa.table(columns).cast(schema))
    return pa.concat_tables(tables).unify_dictionaries()


def _by_splits(keys: Iterable[SettingKey]) -> Iterator[tuple[SplitKey, list[SettingKey]]]:
    """Yield the settings grouped by their splits."""
    found: dict[SplitKey, list[SettingKey]] = {}
    for key in keys:
        found.setdefault(key.of_splits, []).append(key)
    yield from found.items()


def _layout(splits: Sequence[TestedSplit]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the document and the split of each prediction of a setting in the file's order, and that order."""
    rows = np.concatenate([split.test for split in splits])
    order = np.argsort(rows, kind="stable")
    numbers = np.repeat(np.arange(len(splits)), [len(split.test) for split in splits])
    return rows[order], numbers[order], order


def _interleaved(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays of the same shape, their first rows after each other, then their second rows, and so on."""
    return np.stack(parts, axis=1).reshape(-1, *parts[0].shape[1:])


def _repeated(values: list[Any], n: int, kind: pa.DataType) -> pa.Array:
    """Return a column of some values, repeated n times as a block."""
    return _typed(values, kind).take(pa.array(np.tile(np.arange(len(values), dtype=np.int32), n)))


def _lists(values: Sequence[NDArray[np.float64] | None], order: NDArray[np.intp]) -> pa.Array:
    """Return a column of the decision values of settings, interleaved; null where a setting has none."""
    width = next((each.shape[1] for each in values if each is not None), 0)
    none = np.zeros((len(order), width))
    whole = _interleaved([none if each is None else each[order] for each in values])
    missing = np.tile([each is None for each in values], len(order))
    ends = np.arange(len(whole) + 1, dtype=np.int32) * width
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(whole.ravel()), mask=pa.array(missing))


def _values_of(part: pa.Table) -> NDArray[np.float64] | None:
    """Return the decision values of some rows, shape (n, k); None where they have none."""
    if _VALUES not in part.column_names or part[_VALUES].null_count:
        return None
    flat = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in part[_VALUES].chunks]
    whole = np.concatenate(flat) if flat else np.empty(0)
    return whole.reshape(len(part), -1)


def _ties(predicted: NDArray[Any], tied: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Return ties by class, shape (n, k): a tie of a single-label document belongs to its predicted class."""
    return tied if tied.ndim == 2 else np.logical_and(predicted[:, None] == np.arange(k), tied[:, None])


def _settings_of(
    contents: Mapping[str, bytes],
    tasks: Mapping[TaskKey, TaskDocuments],
    splits: Mapping[SplitKey, tuple[TestedSplit, ...]],
) -> dict[SettingKey, SettingPredictions]:
    settings, timings = (_read(contents[name]).to_pylist() for name in (SETTINGS_TABLE, TIMINGS_TABLE))
    if [_key(row) for row in settings] != [_key(row) for row in timings]:
        raise ValueError("its timings are of other settings")
    rows: dict[SettingKey, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for setting, timing in zip(settings, timings, strict=True):
        rows.setdefault(_key(setting), []).append((setting, timing))
    more = [_VALUES] if _VALUES in parquet.read_schema(pa.BufferReader(contents[PREDICTIONS_TABLE])).names else []
    whole, at = _read(contents[PREDICTIONS_TABLE], ["predicted", "tied", *more]), 0
    found: dict[SettingKey, SettingPredictions] = {}
    for task, documents in tasks.items():
        for of_splits, keys in _by_splits(key for key in rows if key.of_task == task):
            *_, order = _layout(splits[of_splits])
            part, at = whole.slice(at, len(order) * len(keys)), at + len(order) * len(keys)
            predicted, tied = (
                column.reshape(len(order), len(keys), *column.shape[1:]) for column in _predicted_of(part, documents)
            )
            back, n = np.argsort(order, kind="stable"), len(keys)
            for number, key in enumerate(keys):
                taken = predicted[back, number], tied[back, number]
                values = _values_of(part.take(pa.array(np.arange(number, len(part), n)))) if more else None
                values = None if values is None else values[back]
                found[key] = _setting_of(rows[key], splits[of_splits], *taken, values)
    if at != len(whole):
        raise ValueError("it has predictions of other settings")
    return {key: found[key] for key in rows}


def _predicted_of(part: pa.Table, documents: TaskDocuments) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the predictions and the ties of some rows."""
    predicted = _codes(part["predicted"], documents.classes)
    if not pa.types.is_list(part["tied"].type):
        return predicted, part["tied"].to_numpy()
    tied = _codes(part["tied"], documents.classes)
    if documents.multilabel:
        return predicted, tied
    return predicted.argmax(axis=1).astype(np.int16), np.asarray(tied.any(axis=1))


def _setting_of(
    rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
    splits: Sequence[TestedSplit],
    predicted: NDArray[Any],
    tied: NDArray[np.bool_],
    values: NDArray[np.float64] | None,
) -> SettingPredictions:
    """Return the predictions of a setting, with the inner counts and timings of `rows`, split by split."""
    if [row["split"] for row, _ in rows] != [split.name for split in splits]:
        raise ValueError("the splits of a setting don't match")
    return SettingPredictions(
        predicted,
        tied,
        tuple(len(split.test) for split in splits),
        np.array([[row[clock] for clock in TIMERS] for _, row in rows], dtype=np.float64),
        np.array([row["peak_bytes"] for _, row in rows], dtype=np.float64),
        _inner_of([row for row, _ in rows if row["inner_documents"] is not None]),
        tuple(row["version"] for _, row in rows),
        tuple(rows[0][0]["warnings"]),
        values,
    )


def _inner_of(rows: Sequence[Mapping[str, Any]]) -> NDArray[np.int64]:
    """Return `SettingPredictions.inner` from the rows of a setting."""
    flat = [[*(n for name in _INNER_COUNTS for n in row[name]), row["inner_documents"]] for row in rows]
    return np.array(flat, dtype=np.int64) if flat else NO_INNER_FOLDS


# --- Other files ---


def _documents(predictions: Predictions) -> bytes:
    multilabel = any(documents.multilabel for documents in predictions.tasks.values())
    index = [[*key, list(each.classes), each.multilabel, len(each.ids)] for key, each in predictions.tasks.items()]
    schema = pa.schema([*_TASK, ("document", pa.string()), ("label", _NAMES if multilabel else _NAME)])
    tables = (
        pa.table(
            {
                "variant": _constant(key.variant, len(each.ids), _NAME),
                "task": _constant(key.task, len(each.ids), _NAME),
                "document": pa.array(each.ids, pa.string()),
                "label": _labelled(each.truth, each.classes, multilabel=multilabel),
            }
        )
        for key, each in predictions.tasks.items()
    )
    return _written(schema.with_metadata({_CLASSES: json.dumps(index)}), tables)


def _documents_of(content: bytes) -> dict[TaskKey, TaskDocuments]:
    whole = _read(content)
    index = json.loads(whole.schema.metadata[_CLASSES])
    found: dict[TaskKey, TaskDocuments] = {}
    at = 0
    for variant, task, classes, multilabel, n in index:
        part, at = whole.slice(at, n), at + n
        truth = _codes(part["label"], classes)
        if truth.ndim == 2 and not multilabel:
            truth = truth.argmax(axis=1)
        ids = tuple(part["document"].to_pylist())
        if len(ids) != n or multilabel != (truth.ndim == 2):
            raise ValueError("its documents don't match its tasks")
        found[TaskKey(variant, task)] = TaskDocuments(
            ids, tuple(classes), truth if multilabel else truth.astype(np.int32)
        )
    if at != len(whole):
        raise ValueError("its documents don't match its tasks")
    return found


def _splits(predictions: Predictions) -> bytes:
    rows = [
        [*key, s.name, s.test, *map(s.leaks.get, _LEAKS.values()), s.trained]
        for key, splits in predictions.splits.items()
        for s in splits
    ]
    return _written(_OF_SPLITS, [_table(_OF_SPLITS, rows)])


def _splits_of(content: bytes) -> dict[SplitKey, tuple[TestedSplit, ...]]:
    found: dict[SplitKey, list[TestedSplit]] = {}
    for row in _read(content).to_pylist():
        test, trained = np.array(row["test"], dtype=np.intp), np.array(row["trained"], dtype=np.int64)
        key = SplitKey(row["variant"], row["task"], row["size"])
        leaks = {leak: np.array(row[name], np.intp) for name, leak in _LEAKS.items() if row.get(name) is not None}
        found.setdefault(key, []).append(TestedSplit(row["split"], test, trained, leaks))
    return {key: tuple(splits) for key, splits in found.items()}


def _settings(predictions: Predictions) -> bytes:
    rows = [[*place, *_inner(setting, n), list(setting.warnings)] for place, setting, n in _places(predictions)]
    return _written(_OF_SETTINGS, [_table(_OF_SETTINGS, rows)])


def _inner(setting: SettingPredictions, n: int) -> list[Any]:
    """Return the counts of the inner folds of a split; nulls where there are none."""
    if not len(setting.inner):
        return [None] * 4
    counts = setting.inner_tallies
    return [*(part[n].tolist() for part in (counts.right, counts.assigned, counts.true)), int(counts.documents[n])]


def _timings(predictions: Predictions) -> bytes:
    rows = [
        [*place, *setting.seconds[n].tolist(), float(setting.memory[n]), setting.versions[n]]
        for place, setting, n in _places(predictions)
    ]
    return _written(_OF_TIMINGS, [_table(_OF_TIMINGS, rows)])


def _places(predictions: Predictions) -> Iterator[tuple[list[Any], SettingPredictions, int]]:
    """Yield the names, the predictions and the split's position of each setting and split, task by task."""
    for task in predictions.tasks:
        for key, setting in predictions.settings.items():
            if key.of_task == task:
                for n, split in enumerate(predictions.splits[key.of_splits]):
                    yield [*key, split.name], setting, n


def _key(row: Mapping[str, Any]) -> SettingKey:
    return SettingKey(*(row[name] for name, _ in _SETTING[:-1]))


def _diagnostics(predictions: Predictions) -> bytes:
    index: list[list[Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    for number, (key, measured) in enumerate(predictions.diagnostics.items()):
        kept = {name: array for name, array in measured.items() if name.rpartition("/")[2] != "seconds"}
        index.append([*key, list(kept)])
        arrays |= {f"{number}/{position}": array for position, array in enumerate(kept.values())}
    arrays["index"] = np.frombuffer(json.dumps(index, ensure_ascii=False).encode(), dtype=np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    return file.getvalue()


def _diagnostics_of(content: bytes) -> dict[tuple[str, str], dict[str, NDArray[Any]]]:
    archive = np.load(io.BytesIO(content), allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError("is an array, not an archive of arrays")  # noqa: TRY004 - of damaged content
    with archive:
        arrays = dict(archive)
    return {
        (diagnostic, variant): {name: arrays[f"{number}/{position}"] for position, name in enumerate(names)}
        for number, (diagnostic, variant, names) in enumerate(json.loads(arrays["index"].tobytes()))
    }
