"""The predictions of an experiment to the contents of files that any tool opens, and back.

`predictions.parquet` alone says which class each tested document got, by names. Beside it stand all documents of the
tasks, the splits, the settings with their inner errors, what the diagnostics computed, and what the settings took. That
last one differs from run to run; the bytes of the others depend on nothing but what was predicted.
"""

from __future__ import annotations

import io
import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmark.evaluation.predictions import (
    CLOCKS,
    DIAGNOSTICS,
    DOCUMENTS,
    PREDICTIONS,
    SETTINGS,
    SPLITS,
    TIMINGS,
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

_CLASSES = b"classes"
_NAME = pa.dictionary(pa.int32(), pa.string())
_NAMES = pa.list_(pa.string())
_AXES = [("size", pa.int64()), ("terms", pa.int64())]
_TASK = [("variant", _NAME), ("task", _NAME)]
_SETTING = [*_TASK, ("cell", _NAME), ("candidate", pa.int32()), *_AXES, ("split", _NAME)]
_OF_SPLITS = pa.schema(
    [*_TASK, _AXES[0], ("split", _NAME), ("test", pa.list_(pa.int32())), ("trained", pa.list_(pa.int64()))]
)
_OF_SETTINGS = pa.schema([*_SETTING, ("inner_error", pa.float64())])
_OF_TIMINGS = pa.schema(
    [*_SETTING, *((clock, pa.float64()) for clock in CLOCKS), ("peak_bytes", pa.float64()), ("version", _NAME)]
)


def encode(predictions: Predictions) -> dict[str, bytes]:
    """Return the contents of the files, by name."""
    return {
        PREDICTIONS: _predictions(predictions),
        DOCUMENTS: _documents(predictions),
        SPLITS: _splits(predictions),
        SETTINGS: _settings(predictions),
        DIAGNOSTICS: _diagnostics(predictions),
        TIMINGS: _timings(predictions),
    }


def decode(contents: Mapping[str, bytes]) -> Predictions:
    """Return the predictions that the contents of files hold.

    Raises
    ------
    ValueError, KeyError, OSError, EOFError, zlib.error, zipfile.BadZipFile
        If they are damaged, or don't fit each other.
    """
    try:
        tasks = _documents_of(contents[DOCUMENTS])
        splits = _splits_of(contents[SPLITS])
        settings = _settings_of(contents, tasks, splits)
        return Predictions(tasks, splits, settings, _diagnostics_of(contents[DIAGNOSTICS]))
    except (pa.ArrowException, TypeError, IndexError, RuntimeError) as error:
        raise ValueError(f"its files don't fit each other: {error}") from None


# --- Tables ---


def _written(schema: pa.Schema, tables: Iterable[pa.Table]) -> bytes:
    """Return a Parquet file of the tables, of which each begins a row group."""
    file = io.BytesIO()
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table.cast(schema))
    return file.getvalue()


def _table(schema: pa.Schema, rows: Sequence[Sequence[Any]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [_typed(list(column), field.type) for field, column in zip(schema, columns, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _typed(values: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.array(values, pa.string()).dictionary_encode() if kind == _NAME else pa.array(values, kind)


def _read(content: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    # In one thread: another would be the plug-in's or the run's, which own the cores.
    return parquet.read_table(pa.BufferReader(content), columns=columns, use_threads=False)


def _constant(value: Any, n: int, kind: pa.DataType) -> pa.Array:
    """Return a column of one value."""
    if kind == _NAME:
        return _coded(np.zeros(n, np.int32), [value])
    return pa.nulls(n, kind) if value is None else pa.array(np.full(n, value), kind)


def _coded(codes: NDArray[Any], names: Sequence[str]) -> pa.Array:
    """Return a column of names, of which there are few."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(list(names), pa.string()))


def _labelled(codes: NDArray[Any], classes: Sequence[str], *, several: bool) -> pa.Array:
    """Return a column of classes, or of lists of them.

    Parameters
    ----------
    codes : int array, shape (n,), or bool array, shape (n, k)
    classes : sequence of str, length k
    several : bool
        Whether the column has lists, since the documents of this or another task have several classes.
    """
    if not several:
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
        If one is none of the classes.
    """
    found, known = [], pa.array(list(classes), pa.string())
    for chunk in column.chunks:
        several = pa.types.is_list(chunk.type)
        names = chunk.flatten() if several else chunk
        if pa.types.is_dictionary(names.type):
            own = pa.compute.index_in(names.dictionary, known)
            codes = own.fill_null(-1).to_numpy(zero_copy_only=False)[names.indices.to_numpy(zero_copy_only=False)]
        else:
            codes = pa.compute.index_in(names, known).fill_null(-1).to_numpy(zero_copy_only=False)
        if (codes < 0).any():
            raise ValueError("it has classes that aren't there")
        if several:
            member = np.zeros((len(chunk), len(classes)), dtype=bool)
            member[np.repeat(np.arange(len(chunk)), chunk.value_lengths().to_numpy(zero_copy_only=False)), codes] = True
            codes = member
        found.append(codes if several else codes.astype(np.int16))
    return np.concatenate(found) if found else np.empty(0, dtype=np.int16)


# --- Predictions ---


def _predictions(predictions: Predictions) -> bytes:
    several = any(documents.several for documents in predictions.tasks.values())
    of_class, of_tie = (_NAMES, _NAMES) if several else (_NAME, pa.bool_())
    schema = pa.schema(
        [
            ("document", _NAME),
            ("split", _NAME),
            *_SETTING[:-1],
            ("label", of_class),
            ("predicted", of_class),
            ("tied", of_tie),
        ]
    )
    found = (_of_task(predictions, key, schema) for key in predictions.tasks)
    return _written(schema, (table for table in found if len(table)))


def _of_task(predictions: Predictions, task: TaskKey, schema: pa.Schema) -> pa.Table:
    """Return the rows of one task, document by document: equal values stand together, and pack well."""
    documents, several = predictions.tasks[task], schema.field("tied").type == _NAMES
    k = len(documents.classes)
    keys = [key for key in predictions.settings if key.of_task == task]
    if not keys:
        return schema.empty_table()
    own = [predictions.settings[key] for key in keys]
    rows, numbers, of_split, order = _layout(keys, predictions.splits)
    rows, numbers, of_split = rows[order], numbers[order], of_split[order]
    predicted, tied = (np.concatenate([getattr(each, name) for each in own])[order] for name in ("predicted", "tied"))
    names = [split.name for key in dict.fromkeys(key.of_splits for key in keys) for split in predictions.splits[key]]
    distinct, of_name = np.unique(names, return_inverse=True)

    def of_settings(values: list[Any], kind: pa.DataType) -> pa.Array:
        return _typed(values, kind).take(pa.array(numbers))

    columns = {
        "document": _coded(rows, documents.ids),
        "split": _coded(of_name[of_split], distinct.tolist()),
        "variant": _constant(task.variant, len(rows), _NAME),
        "task": _constant(task.task, len(rows), _NAME),
        "cell": of_settings([key.method for key in keys], _NAME),
        "candidate": of_settings([key.candidate for key in keys], pa.int32()),
        "size": of_settings([key.size for key in keys], pa.int64()),
        "terms": of_settings([key.terms for key in keys], pa.int64()),
        "label": _labelled(documents.truth[rows], documents.classes, several=several),
        "predicted": _labelled(predicted, documents.classes, several=several),
        "tied": _labelled(_ties(predicted, tied, k), documents.classes, several=True) if several else pa.array(tied),
    }
    return pa.table(columns)


def _ties(predicted: NDArray[Any], tied: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Return ties by class, shape (n, k): those of a document with one class are its class's."""
    return tied if tied.ndim == 2 else np.logical_and(predicted[:, None] == np.arange(k), tied[:, None])


def _layout(
    keys: Sequence[SettingKey], splits: Mapping[SplitKey, tuple[TestedSplit, ...]]
) -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.int32], NDArray[np.intp]]:
    """Return the document, the setting and the split of each prediction of a task, and the order of them in the file.

    Predictions stand setting after setting and split after split; in the file, document by document, split by split,
    and setting by setting.
    """
    first, n_splits = {}, 0
    for key in dict.fromkeys(key.of_splits for key in keys):
        first[key], n_splits = n_splits, n_splits + len(splits[key])
    tests = [[split.test for split in splits[key.of_splits]] for key in keys]
    rows = np.concatenate([test for each in tests for test in each])
    numbers = np.repeat(np.arange(len(keys), dtype=np.int32), [sum(map(len, each)) for each in tests])
    lengths = [len(test) for each in tests for test in each]
    of_split = [first[key.of_splits] + n for key, each in zip(keys, tests, strict=True) for n in range(len(each))]
    of_row = np.repeat(np.array(of_split, dtype=np.int32), lengths)
    parts = np.split(np.arange(len(rows)), np.cumsum(lengths)[:-1])
    by_split = np.concatenate([parts[at] for at in np.argsort(of_split, kind="stable")])
    # NumPy sorts integers of 16 bits in one pass over them.
    small = rows.astype(np.uint16) if rows.max() < 2**16 else rows
    return rows, numbers, of_row, by_split[np.argsort(small[by_split], kind="stable")]


def _settings_of(
    contents: Mapping[str, bytes],
    tasks: Mapping[TaskKey, TaskDocuments],
    splits: Mapping[SplitKey, tuple[TestedSplit, ...]],
) -> dict[SettingKey, SettingPredictions]:
    settings, timings = (_read(contents[name]).to_pylist() for name in (SETTINGS, TIMINGS))
    if [_key(row) for row in settings] != [_key(row) for row in timings]:
        raise ValueError("what the settings took isn't of these settings")
    whole = _read(contents[PREDICTIONS], ["predicted", "tied"])
    found: dict[SettingKey, SettingPredictions] = {}
    at = 0
    rows = zip(settings, timings, strict=True)
    for task, of_task in groupby(rows, lambda row: _key(row[0]).of_task):
        of_key = {key: list(own) for key, own in groupby(of_task, lambda row: _key(row[0]))}
        documents = tasks[task]
        layout, *_, order = _layout(list(of_key), splits)
        part, at = whole.slice(at, len(layout)), at + len(layout)
        columns = [_codes(part["predicted"], documents.classes)]
        lists = pa.types.is_list(part["tied"].type)
        columns.append(_codes(part["tied"], documents.classes) if lists else part["tied"].to_numpy())
        if lists and not documents.several:
            columns = [columns[0].argmax(axis=1).astype(np.int16), np.asarray(columns[1].any(axis=1))]
        predicted, tied = (np.empty_like(column) for column in columns)
        predicted[order], tied[order] = columns
        start = 0
        for key, own in of_key.items():
            sizes = tuple(len(split.test) for split in splits[key.of_splits])
            if [row["split"] for row, _ in own] != [split.name for split in splits[key.of_splits]]:
                raise ValueError(f"{key.method} isn't of these splits")
            inner = [row["inner_error"] for row, _ in own if row["inner_error"] is not None]
            taken = [[row[clock] for clock in CLOCKS] for _, row in own]
            stop = start + sum(sizes)
            found[key] = SettingPredictions(
                predicted[start:stop],
                tied[start:stop],
                sizes,
                np.array(taken, dtype=np.float64),
                np.array([row["peak_bytes"] for _, row in own], dtype=np.float64),
                np.array(inner, dtype=np.float64),
                tuple(row["version"] for _, row in own),
            )
            start = stop
    if at != len(whole):
        raise ValueError("it has predictions of other settings")
    return found


# --- What stands beside them ---


def _documents(predictions: Predictions) -> bytes:
    several = any(documents.several for documents in predictions.tasks.values())
    index = [[*key, list(each.classes), each.several, len(each.ids)] for key, each in predictions.tasks.items()]
    schema = pa.schema([*_TASK, ("document", pa.string()), ("label", _NAMES if several else _NAME)])
    tables = (
        pa.table(
            {
                "variant": _constant(key.variant, len(each.ids), _NAME),
                "task": _constant(key.task, len(each.ids), _NAME),
                "document": pa.array(each.ids, pa.string()),
                "label": _labelled(each.truth, each.classes, several=several),
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
    for variant, task, classes, several, n in index:
        part, at = whole.slice(at, n), at + n
        truth = _codes(part["label"], classes)
        if truth.ndim == 2 and not several:
            truth = truth.argmax(axis=1)
        ids = tuple(part["document"].to_pylist())
        if len(ids) != n or several != (truth.ndim == 2):
            raise ValueError("its documents aren't those of its tasks")
        found[TaskKey(variant, task)] = TaskDocuments(ids, tuple(classes), truth if several else truth.astype(np.int32))
    if at != len(whole):
        raise ValueError("its documents aren't those of its tasks")
    return found


def _splits(predictions: Predictions) -> bytes:
    rows = [[*key, s.name, s.test, s.trained] for key, splits in predictions.splits.items() for s in splits]
    return _written(_OF_SPLITS, [_table(_OF_SPLITS, rows)])


def _splits_of(content: bytes) -> dict[SplitKey, tuple[TestedSplit, ...]]:
    found: dict[SplitKey, list[TestedSplit]] = {}
    for row in _read(content).to_pylist():
        test, trained = np.array(row["test"], dtype=np.intp), np.array(row["trained"], dtype=np.int64)
        key = SplitKey(row["variant"], row["task"], row["size"])
        found.setdefault(key, []).append(TestedSplit(row["split"], test, trained))
    return {key: tuple(splits) for key, splits in found.items()}


def _settings(predictions: Predictions) -> bytes:
    rows = [
        [*place, float(setting.inner[n]) if len(setting.inner) else None] for place, setting, n in _places(predictions)
    ]
    return _written(_OF_SETTINGS, [_table(_OF_SETTINGS, rows)])


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
    for number, (key, measured) in enumerate(predictions.measured.items()):
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
        raise ValueError("is an array, not an archive of them")  # noqa: TRY004 - of damaged content
    with archive:
        arrays = dict(archive)
    return {
        (diagnostic, variant): {name: arrays[f"{number}/{position}"] for position, name in enumerate(names)}
        for number, (diagnostic, variant, names) in enumerate(json.loads(arrays["index"].tobytes()))
    }
