"""The predictions of an experiment to the content of a file, one NumPy archive, and back.

What all points of a task decided stands in one array, point after point and split after split, since thousands of small
members would take longer to find than to read. An index says how the arrays are cut. What the points took isn't there:
it differs from run to run, see `timings_file`.
"""

from __future__ import annotations

import io
import json
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.evaluation.predictions import CLOCKS, Given, Predictions, TaskDocuments, TestedSplit
from benchmark.names import joined, parted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.predictions import PointKey, SplitKey, TaskKey

    Arrays = dict[str, NDArray[Any]]

_LARGEST_BYTE = 256


def encode(predictions: Predictions) -> bytes:
    """A NumPy archive; its bytes depend on nothing but what was predicted and measured, seconds aside."""
    index: dict[str, list[Any]] = {"tasks": [], "splits": [], "points": [], "measured": []}
    arrays: Arrays = {}
    for number, (task, documents) in enumerate(predictions.tasks.items()):
        own_splits = {key: splits for key, splits in predictions.splits.items() if key[:2] == task}
        own_points = {key: point for key, point in predictions.points.items() if key[:2] == task}
        several, n, k = documents.several, len(documents.ids), len(documents.classes)
        index["tasks"].append([*task, list(documents.classes), several])
        index["splits"] += [[*key, [split.name for split in splits]] for key, splits in own_splits.items()]
        index["points"] += [[*key, len(point.inner)] for key, point in own_points.items()]
        splits = [split for each in own_splits.values() for split in each]
        own = {
            "ids": joined(documents.ids),
            "truth": np.packbits(documents.truth, axis=1) if several else documents.truth,
            "test": np.packbits(
                np.array([_mask(split.test, n) for split in splits], dtype=bool).reshape(-1, n), axis=1
            ),
            "trained": np.array([split.trained for split in splits], dtype=np.int64).reshape(-1, k),
            **_points(list(own_points.values()), several=several, k=k),
        }
        arrays |= {f"{number}/{name}": array for name, array in own.items()}
    for number, (key, measured) in enumerate(predictions.measured.items()):
        kept = {name: array for name, array in measured.items() if name.rpartition("/")[2] != "seconds"}
        index["measured"].append([*key, list(kept)])
        arrays |= {f"measured/{number}/{position}": array for position, array in enumerate(kept.values())}
    arrays["index"] = np.frombuffer(json.dumps(index, ensure_ascii=False).encode(), dtype=np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    return file.getvalue()


def decode(content: bytes) -> Predictions:
    """The predictions back from their archive; what they took isn't known, and NaN.

    Raises
    ------
    ValueError, KeyError, OSError, EOFError, zlib.error, zipfile.BadZipFile
        If it is damaged.
    """
    try:
        arrays = _unpacked(content)
    except RuntimeError as error:  # a version, a way of compressing, a password: what zipfile can't do
        raise ValueError(f"can't be unpacked: {error}") from None
    index = json.loads(arrays["index"].tobytes())
    try:
        return _decoded(index, arrays)
    except (TypeError, IndexError) as error:
        raise ValueError(f"its index doesn't fit its arrays: {error}") from None


def _unpacked(content: bytes) -> Arrays:
    archive = np.load(io.BytesIO(content), allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError("is an array, not an archive of predictions")  # noqa: TRY004 - of damaged content
    with archive:
        return dict(archive)


def _mask(rows: NDArray[np.intp], n: int) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return mask


def _points(points: Sequence[Given], *, several: bool, k: int) -> Arrays:
    """All that the points of a task decided, end to end."""
    given = [array for point in points for array in point.given]
    tied = [array.ravel() for point in points for array in point.tied]
    codes = np.uint8 if k <= _LARGEST_BYTE else np.uint16
    ends = np.concatenate([array.ravel() for array in given]) if given else np.empty(0, dtype=np.int32)
    return {
        "given": np.packbits(ends.astype(bool)) if several else ends.astype(codes),
        "tied": np.packbits(np.concatenate(tied)) if tied else np.empty(0, dtype=np.uint8),
        "inner": np.concatenate([point.inner for point in points]) if points else np.empty(0),
    }


def _decoded(index: Mapping[str, list[Any]], arrays: Arrays) -> Predictions:
    tasks: dict[TaskKey, TaskDocuments] = {}
    splits: dict[SplitKey, tuple[TestedSplit, ...]] = {}
    points: dict[PointKey, Given] = {}
    for number, (variant, task, classes, several) in enumerate(index["tasks"]):
        own = {name: arrays[f"{number}/{name}"] for name in _MEMBERS}
        ids, k = parted(_fitting(own["ids"], "u", own["ids"].size)), len(classes)
        truth = _fitting(own["truth"], "iu", *((len(ids), _bytes(k)) if several else (len(ids),)))
        if several:
            truth = np.unpackbits(truth, axis=1, count=k).astype(bool)
        elif not _codes(truth, k):
            raise ValueError("its documents have classes that aren't there")
        tasks[variant, task] = TaskDocuments(ids, tuple(classes), truth)
        of_task = [each for each in index["splits"] if each[:2] == [variant, task]]
        found = _splits(of_task, own, len(ids), k)
        splits |= found
        keys = [each for each in index["points"] if each[:2] == [variant, task]]
        points |= _given(keys, found, own, k, several=several)
    measured = {
        (measure, variant): {name: arrays[f"measured/{number}/{position}"] for position, name in enumerate(names)}
        for number, (measure, variant, names) in enumerate(index["measured"])
    }
    return Predictions(tasks, splits, points, measured)


_MEMBERS = ("ids", "truth", "test", "trained", "given", "tied", "inner")


def _fitting(array: NDArray[Any], kind: str, *shape: int) -> NDArray[Any]:
    """The array, if it is of such a kind and shape."""
    if array.dtype.kind not in kind or array.shape != shape:
        raise ValueError(f"one of its arrays is {array.dtype} of shape {array.shape}, not of shape {shape}")
    return array


def _bytes(bits: int) -> int:
    return -(-bits // 8)


def _codes(array: NDArray[Any], k: int) -> bool:
    return not array.size or bool(array.min() >= 0 and array.max() < k)


def _splits(keys: Sequence[list[Any]], own: Arrays, n: int, k: int) -> dict[SplitKey, tuple[TestedSplit, ...]]:
    number = sum(len(names) for *_, names in keys)
    tested = np.unpackbits(_fitting(own["test"], "u", number, _bytes(n)), axis=1, count=n).astype(bool)
    rows = iter(zip(tested, _fitting(own["trained"], "i", number, k), strict=True))
    return {
        (variant, task, size): tuple(
            TestedSplit(name, np.flatnonzero(mask), trained)
            for name, (mask, trained) in zip(names, islice(rows, len(names)), strict=True)
        )
        for variant, task, size, names in keys
    }


def _given(
    keys: Sequence[list[Any]],
    splits: Mapping[SplitKey, tuple[TestedSplit, ...]],
    own: Arrays,
    k: int,
    *,
    several: bool,
) -> dict[PointKey, Given]:
    """The points of a task."""
    counts = [[len(split.test) for split in splits[variant, task, size]] for variant, task, _, _, size, *_ in keys]
    total = sum(map(sum, counts)) * (k if several else 1)
    given = _fitting(own["given"], "u", _bytes(total) if several else total)
    tied = np.unpackbits(_fitting(own["tied"], "u", _bytes(total)), count=total).astype(bool)
    inner = _fitting(own["inner"], "f", sum(n_inner for *_, n_inner in keys))
    if not several and not _codes(given, k):
        raise ValueError("it has decisions for classes that aren't there")
    shape = (-1, k) if several else (-1,)
    decisions = (np.unpackbits(given, count=total).astype(bool) if several else given.astype(np.int16)).reshape(shape)
    at = inner_at = 0
    found = {}
    for (variant, task, method, candidate, size, terms, n_inner), own_counts in zip(keys, counts, strict=True):
        ends = [at, *(at + end for end in accumulate(own_counts))]
        cuts = [slice(start, stop) for start, stop in pairwise(ends)]
        found[variant, task, method, candidate, size, terms] = Given(
            tuple(decisions[cut] for cut in cuts),
            tuple(tied.reshape(shape)[cut] for cut in cuts),
            np.full((len(cuts), len(CLOCKS)), np.nan),
            np.full(len(cuts), np.nan),
            inner[inner_at : inner_at + n_inner],
        )
        at, inner_at = ends[-1], inner_at + n_inner
    return found
