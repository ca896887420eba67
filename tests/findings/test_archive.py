"""The archive of predictions: back to what they were, the same bytes for the same, and damage that is seen."""

from __future__ import annotations

import io
import zipfile
import zlib

import numpy as np
import pytest

from benchmark.evaluation.predictions import Given, Predictions, TaskDocuments, TestedSplit
from benchmark.findings.archive import decode, encode

DAMAGE = (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile)


def made(*, several=False, k=3, n=20, seed=0):
    """Two variants with two sizes of three splits each; of the second variant, one point failed."""
    rng = np.random.default_rng(seed)
    tasks, splits, points = {}, {}, {}
    for variant in ("base", "other"):
        truth = rng.random((n, k)) < 0.5 if several else rng.integers(k, size=n).astype(np.int32)
        ids = tuple(f"{variant}/ü-{row}\r" for row in range(n))
        tasks[variant, "a-b"] = TaskDocuments(ids, tuple(f"class {c}" for c in range(k)), truth)
        for size in (5, 10):
            tests = [np.sort(rng.choice(n, 7 + draw, replace=False)) for draw in range(3)]
            splits[variant, "a-b", size] = tuple(
                TestedSplit(f"replicate-{i}", test, rng.integers(9, size=k)) for i, test in enumerate(tests)
            )
            for index in (0, 1):
                if (variant, size, index) != ("other", 10, 1):
                    shapes = [(len(test), k) if several else len(test) for test in tests]
                    given = [
                        rng.random(s) < 0.5 if several else rng.integers(k, size=s, dtype=np.int32) for s in shapes
                    ]
                    tied = [rng.random(s) < 0.1 for s in shapes]
                    inner = rng.random(3) if index else np.empty(0)
                    clock, memory = rng.random((3, 5)), rng.random(3)
                    own = Given(tuple(given), tuple(tied), clock, memory, inner)
                    points[variant, "a-b", "ngd", index, size, None] = own
    measured = {("distances", "base"): {"x/y": rng.random((2, 3)), "names": np.frombuffer(b"a\0b", dtype=np.uint8)}}
    return Predictions(tasks, splits, points, measured)


def same(one, two):
    assert list(one.tasks) == list(two.tasks)
    assert list(one.splits) == list(two.splits)
    assert list(one.points) == list(two.points)
    for key, task in one.tasks.items():
        assert (task.ids, task.classes) == (two.tasks[key].ids, two.tasks[key].classes)
        np.testing.assert_array_equal(task.truth, two.tasks[key].truth, strict=True)
    for key, splits in one.splits.items():
        for a, b in zip(splits, two.splits[key], strict=True):
            assert a.name == b.name
            np.testing.assert_array_equal(a.test, b.test)
            np.testing.assert_array_equal(a.trained, b.trained)
    for key, point in one.points.items():
        for part in ("given", "tied"):
            for a, b in zip(getattr(point, part), getattr(two.points[key], part), strict=True):
                np.testing.assert_array_equal(a, b, strict=True)
        for part in ("seconds", "memory", "inner"):
            np.testing.assert_array_equal(getattr(point, part), getattr(two.points[key], part), strict=True)
    for key, arrays in one.measured.items():
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, two.measured[key][name], strict=True)


@pytest.mark.parametrize(("several", "k"), [(False, 2), (False, 3), (False, 300), (True, 3), (True, 11)])
def test_gives_back_what_it_was_given(several, k):
    predictions = made(several=several, k=k)
    content = encode(predictions)
    back = decode(content)
    same(predictions, back)
    assert encode(back) == content


def test_nothing_is_an_archive_too():
    same(decode(encode(Predictions({}, {}, {}, {}))), Predictions({}, {}, {}, {}))


def test_bytes_carry_no_date():
    content = encode(made())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize("at", [0.0, 0.2, 0.5, 0.8, 0.999])
def test_damage_is_seen(at):
    content = bytearray(encode(made()))
    position = int(at * len(content))
    with pytest.raises(DAMAGE):
        decode(bytes(content[:position]))
    content[position] ^= 0xFF
    try:
        back = decode(bytes(content))
    except DAMAGE:
        return
    same(back, made())  # a byte that nothing is read from


@pytest.mark.parametrize("content", [b"", b"text", np.arange(3).tobytes()])
def test_what_is_no_archive_is_refused(content):
    with pytest.raises(DAMAGE):
        decode(content)


def test_an_array_or_another_archive_is_refused():
    for save in (np.save, np.savez):
        file = io.BytesIO()
        save(file, np.arange(3))
        with pytest.raises(DAMAGE):
            decode(file.getvalue())


@pytest.mark.parametrize("member", ["0/given", "0/test", "0/seconds"])
def test_arrays_that_do_not_fit_the_index_are_refused(member):
    with np.load(io.BytesIO(encode(made()))) as archive:
        arrays = dict(archive)
    arrays[member] = arrays[member][:-1]
    file = io.BytesIO()
    np.savez(file, **arrays)
    with pytest.raises(DAMAGE):
        decode(file.getvalue())
