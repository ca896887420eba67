"""Encode an experiment's predictions as files that any tool opens, and decode them.

`predictions.parquet` alone has the predicted class of each tested document, by names, and where a metric asks for them
the decision values. Further files hold all documents of the tasks, the splits, the settings with the counts of their
inner folds, the diagnostics, and the costs of the settings. Costs differ from run to run. The bytes of the other files
depend only on the predictions.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, parquet

from benchmark.evaluation.predictions import (
    DIAGNOSTICS_ARRAYS,
    DOCUMENTS_TABLE,
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

_TEXT, _COUNT, _COUNTS = pa.string(), pa.int64(), pa.list_(pa.int64())
_NAME, _NAMES = pa.dictionary(pa.int32(), _TEXT), pa.list_(_TEXT)
_INNER_COUNTS = ("inner_right", "inner_assigned", "inner_true")
#: Columns of the tested documents that are known from training; null where they weren't looked for.
_LEAKS = {"near_duplicates": NEAR_DUPLICATES, "shared_groups": SHARED_GROUPS}
_SETTING = {"variant": _TEXT, "task": _TEXT, "cell": _TEXT, "candidate": pa.int32(), "size": _COUNT, "terms": _COUNT}
_SPLITS = pa.schema(
    {"variant": _TEXT, "task": _TEXT, "size": _COUNT, "split": _TEXT}
    | dict.fromkeys(("test", *_LEAKS), pa.list_(pa.int32()))
    | {"trained": _COUNTS}
)
_SETTINGS = pa.schema(
    {**_SETTING, "split": _TEXT, **dict.fromkeys(_INNER_COUNTS, _COUNTS), "inner_documents": _COUNT, "warnings": _NAMES}
)
_TIMINGS = pa.schema(
    {**_SETTING, "split": _TEXT, **dict.fromkeys((*TIMERS, "peak_bytes"), pa.float64()), "version": _TEXT}
)


def encode_predictions(predictions: Predictions) -> dict[str, bytes]:
    """Return the contents of the files, by file name."""
    settings = list(_setting_rows(predictions))
    return {
        PREDICTIONS_TABLE: _predictions(predictions),
        DOCUMENTS_TABLE: _documents(predictions),
        SPLITS_TABLE: encode_rows(_split_rows(predictions), _SPLITS),
        SETTINGS_TABLE: encode_rows(settings, _SETTINGS),
        DIAGNOSTICS_ARRAYS: _diagnostics(predictions),
        TIMINGS_TABLE: encode_rows(settings, _TIMINGS),
    }


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
    except (pa.ArrowException, AttributeError, TypeError, IndexError, RuntimeError) as error:
        raise ValueError(f"its files are inconsistent: {error}") from None


def encode_rows(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> bytes:
    """Return a Parquet file of rows, with nulls for columns that a row lacks, and without those of no schema."""
    return _file(pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema))


def decode_table(content: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the table of a Parquet file, or those of some columns that it has."""
    # One thread, since the run or a plug-in owns the cores.
    table = parquet.ParquetFile(pa.BufferReader(content)).read(columns, use_threads=False)
    return table.unify_dictionaries().combine_chunks()


def _file(table: pa.Table) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table, file, compression="zstd", compression_level=9, row_group_size=max(1, len(table)))
    return file.getvalue()


# --- Classes of documents ---


def _coded(codes: NDArray[Any], names: Sequence[str]) -> pa.Array:
    """Return a column of names that repeat."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(list(names), _TEXT))


def _labels(codes: NDArray[Any], classes: Sequence[str], *, lists: bool) -> pa.Array:
    """Return a column of classes, or of lists of them, from codes or indicators of classes."""
    if not lists:
        return _coded(codes, classes)
    member = codes if codes.ndim == 2 else codes[:, None] == np.arange(len(classes))
    ends = np.cumsum([0, *np.count_nonzero(member, axis=1)], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(list(classes), _TEXT).take(pa.array(member.nonzero()[1])))


def _codes(column: pa.Array, classes: Sequence[str], *, multilabel: bool) -> NDArray[Any]:
    """Return the codes of a column of classes or of lists of them; indicators where documents have several classes.

    Raises
    ------
    ValueError
        If a value is not one of the classes.
    """
    lists = pa.types.is_list(column.type)
    names = column.flatten() if lists else column
    names = names if pa.types.is_dictionary(names.type) else names.dictionary_encode()
    known = compute.index_in(names.dictionary, pa.array(list(classes), _TEXT)).fill_null(-1).to_numpy()
    codes = known.astype(np.int16)[names.indices.to_numpy()] if len(names) else np.empty(0, np.int16)
    if (codes < 0).any():
        raise ValueError("it has unknown classes")
    if not lists:
        return codes
    member = np.zeros((len(column), len(classes)), dtype=bool)
    member[np.repeat(np.arange(len(column)), column.value_lengths().to_numpy()), codes] = True
    return member if multilabel else member.argmax(axis=1).astype(np.int16)


# --- Predictions ---


def _predictions(predictions: Predictions) -> bytes:
    """Return one long table: a row for each setting, split and tested document.

    The rows of settings with the same splits stand together, document by document, split by split, setting by setting:
    equal values follow each other, and compress to a seventh of what they take setting by setting.
    """
    lists = any(documents.multilabel for documents in predictions.tasks.values())
    ranked = any(setting.values is not None for setting in predictions.settings.values())
    kinds = {"document": _NAME, "split": _NAME} | _SETTING | dict.fromkeys(("variant", "task", "cell"), _NAME)
    kinds |= dict.fromkeys(("label", "predicted"), _NAMES if lists else _NAME) | {
        "tied": _NAMES if lists else pa.bool_()
    }
    schema = pa.schema(kinds | ({"values": pa.list_(pa.float64())} if ranked else {}))
    tables = [schema.empty_table()]
    for of_splits, keys in _by_splits(predictions.tasks, predictions.settings):
        documents, splits = predictions.tasks[of_splits.of_task], predictions.splits[of_splits]
        own, classes, n = [predictions.settings[key] for key in keys], documents.classes, len(keys)
        rows, order = _document_order(splits)
        numbers = np.repeat(np.arange(len(splits)), [len(split.test) for split in splits])[order]
        predicted, tied = (np.stack([getattr(each, name)[order] for each in own], 1) for name in ("predicted", "tied"))
        predicted, tied = (each.reshape(-1, *each.shape[2:]) for each in (predicted, tied))
        if lists and tied.ndim == 1:  # a tie of a single-label document belongs to its predicted class
            tied = (predicted[:, None] == np.arange(len(classes))) & tied[:, None]
        columns = {
            "document": _coded(np.repeat(rows, n), documents.ids),
            "split": _coded(np.repeat(numbers, n), [split.name for split in splits]),
            **{name: pa.array([key[i] for key in keys], kind) for i, (name, kind) in enumerate(_SETTING.items())},
            "label": _labels(np.repeat(documents.truth[rows], n, axis=0), classes, lists=lists),
            "predicted": _labels(predicted, classes, lists=lists),
            "tied": _labels(tied, classes, lists=True) if lists else pa.array(tied),
        }
        again = pa.array(np.tile(np.arange(n, dtype=np.int32), len(rows)))
        columns |= {name: columns[name].dictionary_encode().take(again) for name in ("variant", "task", "cell")}
        columns |= {name: columns[name].take(again) for name in ("candidate", "size", "terms")}
        if ranked:
            columns["values"] = _lists_of_numbers([each.values for each in own], order)
        tables.append(pa.table(columns).cast(schema))
    return _file(pa.concat_tables(tables).unify_dictionaries())


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


def _lists_of_numbers(values: Sequence[NDArray[np.float64] | None], order: NDArray[np.intp]) -> pa.Array:
    """Return a column of the decision values of settings, null where a setting has none."""
    width = next((each.shape[1] for each in values if each is not None), 0)
    whole = np.stack([np.zeros((len(order), width)) if each is None else each[order] for each in values], 1)
    missing = pa.array(np.tile([each is None for each in values], len(order)))
    ends = np.arange(len(missing) + 1, dtype=np.int32) * width
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(whole.ravel()), mask=missing)


def _settings_of(
    contents: Mapping[str, bytes],
    tasks: Mapping[TaskKey, TaskDocuments],
    splits: Mapping[SplitKey, tuple[TestedSplit, ...]],
) -> dict[SettingKey, SettingPredictions]:
    settings, timings = (decode_table(contents[name]).to_pylist() for name in (SETTINGS_TABLE, TIMINGS_TABLE))
    if [_key(row) for row in settings] != [_key(row) for row in timings]:
        raise ValueError("its timings are of other settings")
    rows: dict[SettingKey, list[dict[str, Any]]] = {}
    for setting, timing in zip(settings, timings, strict=True):
        rows.setdefault(_key(setting), []).append(setting | timing)
    whole, at = decode_table(contents[PREDICTIONS_TABLE], ("predicted", "tied", "values")), 0
    found: dict[SettingKey, SettingPredictions] = {}
    for of_splits, keys in _by_splits(tasks, rows):
        documents, own, n = tasks[of_splits.of_task], splits[of_splits], len(keys)
        tested, order = _document_order(own)
        part, at = whole.slice(at, n * len(order)), at + n * len(order)
        predicted = _codes(_chunk(part["predicted"]), documents.classes, multilabel=documents.multilabel)
        tied = _ties(_chunk(part["tied"]), documents)
        predicted, tied = (each.reshape(len(tested), n, *each.shape[1:]) for each in (predicted, tied))
        back = np.argsort(order, kind="stable")
        for number, key in enumerate(keys):
            values = _chunk(part["values"])[number::n] if "values" in part.column_names else None
            found[key] = _setting_of(rows[key], own, predicted[back, number], tied[back, number], _matrix(values, back))
    if at != len(whole):
        raise ValueError("it has predictions of other settings")
    return {key: found[key] for key in rows}


def _chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _ties(tied: pa.Array, documents: TaskDocuments) -> NDArray[np.bool_]:
    """Return the ties of documents, by class where documents have several classes."""
    if not pa.types.is_list(tied.type):
        return np.asarray(tied.to_numpy(zero_copy_only=False))
    of_classes = _codes(tied, documents.classes, multilabel=True)
    return of_classes if documents.multilabel else np.asarray(of_classes.any(axis=1))


def _matrix(values: pa.Array | None, order: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """Return decision values, shape (n, k), in an order; None where a setting has none."""
    if values is None or values.null_count:
        return None
    return np.asarray(values.flatten().to_numpy().reshape(len(values), -1)[order])


def _setting_of(
    rows: Sequence[Mapping[str, Any]],
    splits: Sequence[TestedSplit],
    predicted: NDArray[Any],
    tied: NDArray[np.bool_],
    values: NDArray[np.float64] | None,
) -> SettingPredictions:
    """Return the predictions of a setting, with the inner counts and timings of its rows, one for each split."""
    if [row["split"] for row in rows] != [split.name for split in splits]:
        raise ValueError("the splits of a setting don't match")
    inner = [[*(n for name in _INNER_COUNTS for n in row[name] or ()), row["inner_documents"]] for row in rows]
    return SettingPredictions(
        predicted,
        tied,
        tuple(len(split.test) for split in splits),
        np.array([[row[timer] for timer in TIMERS] for row in rows], dtype=np.float64),
        np.array([row["peak_bytes"] for row in rows], dtype=np.float64),
        NO_INNER_FOLDS if inner[0][-1] is None else np.array(inner, dtype=np.int64),
        tuple(row["version"] for row in rows),
        tuple(rows[0]["warnings"]),
        values,
    )


# --- Other files ---


def _documents(predictions: Predictions) -> bytes:
    lists = any(documents.multilabel for documents in predictions.tasks.values())
    schema = pa.schema({"variant": _NAME, "task": _NAME, "document": _TEXT, "label": _NAMES if lists else _NAME})
    tables, index = [schema.empty_table()], list[list[Any]]()
    for key, each in predictions.tasks.items():
        n = len(each.ids)
        of = {name: _coded(np.zeros(n), [value]) for name, value in zip(("variant", "task"), key, strict=True)}
        labels = _labels(each.truth, each.classes, lists=lists)
        tables.append(pa.table({**of, "document": pa.array(each.ids, _TEXT), "label": labels}).cast(schema))
        index.append([*key, list(each.classes), each.multilabel, n])
    whole = pa.concat_tables(tables).unify_dictionaries()
    return _file(whole.replace_schema_metadata({"classes": json.dumps(index)}))


def _documents_of(content: bytes) -> dict[TaskKey, TaskDocuments]:
    whole, at = decode_table(content), 0
    found: dict[TaskKey, TaskDocuments] = {}
    for variant, task, classes, multilabel, n in json.loads(whole.schema.metadata[b"classes"]):
        part, at = whole.slice(at, n), at + n
        ids, truth = tuple(part["document"].to_pylist()), _codes(_chunk(part["label"]), classes, multilabel=multilabel)
        if len(ids) != n or multilabel != (truth.ndim == 2):
            raise ValueError("its documents don't match its tasks")
        found[TaskKey(variant, task)] = TaskDocuments(
            ids, tuple(classes), truth if multilabel else truth.astype(np.int32)
        )
    if at != len(whole):
        raise ValueError("its documents don't match its tasks")
    return found


def _split_rows(predictions: Predictions) -> Iterator[dict[str, Any]]:
    for key, splits in predictions.splits.items():
        for split in splits:
            leaks = {name: split.leaks.get(leak) for name, leak in _LEAKS.items()}
            yield {**key._asdict(), "split": split.name, "test": split.test, **leaks, "trained": split.trained}


def _splits_of(content: bytes) -> dict[SplitKey, tuple[TestedSplit, ...]]:
    found: dict[SplitKey, tuple[TestedSplit, ...]] = {}
    for row in decode_table(content).to_pylist():
        leaks = {leak: np.array(row[name], np.intp) for name, leak in _LEAKS.items() if row[name] is not None}
        split = TestedSplit(row["split"], np.array(row["test"], np.intp), np.array(row["trained"], np.int64), leaks)
        key = SplitKey(row["variant"], row["task"], row["size"])
        found[key] = (*found.get(key, ()), split)
    return found


def _setting_rows(predictions: Predictions) -> Iterator[dict[str, Any]]:
    """Yield all columns of the files of settings and of timings, a row for each split of a setting."""
    for key in (key for task in predictions.tasks for key in predictions.settings if key.of_task == task):
        setting = predictions.settings[key]
        counts = setting.inner_tallies if len(setting.inner) else None
        for n, split in enumerate(predictions.splits[key.of_splits]):
            row = {**dict(zip(_SETTING, key, strict=True)), "split": split.name, "warnings": list(setting.warnings)}
            if counts is not None:
                parts = zip(_INNER_COUNTS, (counts.right, counts.assigned, counts.true), strict=True)
                row |= {name: part[n] for name, part in parts} | {"inner_documents": counts.documents[n]}
            row |= dict(zip(TIMERS, setting.seconds[n].tolist(), strict=True))
            yield row | {"peak_bytes": setting.memory[n], "version": setting.versions[n]}


def _key(row: Mapping[str, Any]) -> SettingKey:
    return SettingKey(*(row[name] for name in _SETTING))


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
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = dict(archive)
    return {
        (diagnostic, variant): {name: arrays[f"{number}/{position}"] for position, name in enumerate(names)}
        for number, (diagnostic, variant, names) in enumerate(json.loads(arrays["index"].tobytes()))
    }
