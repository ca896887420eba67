"""The archive of predictions: back to what they were, the same bytes for the same, and damage that is seen."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.evaluation.predictions import Given, Predictions, TaskDocuments, TestedSplit
from benchmark.experiment.folder import DAMAGED
from benchmark.findings import timings_file
from benchmark.findings.predictions_file import decode, encode

#: Paths decoded as latin-1: anything but NUL.
IDS = st.text(st.characters(max_codepoint=255, exclude_characters="\0"), min_size=1)
NASTY = ["course/http:^^y^\r", "a,b", 'say "this"', "two\nlines", "caf\xe9", " blank ", "NA", "1", "\r\n", "#x", "'"]


def made(*, several=False, k=3, n=20, seed=0, variants=("base", "other"), sizes=(5, 10)):
    """Two variants with two sizes of three splits each; of the second variant, one point failed."""
    rng = np.random.default_rng(seed)
    tasks, splits, points = {}, {}, {}
    for variant in variants:
        truth = rng.random((n, k)) < 0.5 if several else rng.integers(k, size=n).astype(np.int32)
        ids = tuple(f"{variant}/ü-{row}\r" for row in range(n))
        tasks[variant, "a-b"] = TaskDocuments(ids, tuple(f"class {c}" for c in range(k)), truth)
        for size in sizes:
            tests = [np.sort(rng.choice(n, 7 + draw, replace=False)) for draw in range(3)]
            splits[variant, "a-b", size] = tuple(
                TestedSplit(f"=replicate,\r-{i}", test, rng.integers(9, size=k)) for i, test in enumerate(tests)
            )
            for index in (0, 1):
                if (variant, size, index) != ("other", 10, 1):
                    shapes = [(len(test), k) if several else len(test) for test in tests]
                    given = [
                        rng.random(s) < 0.5 if several else rng.integers(k, size=s, dtype=np.int16) for s in shapes
                    ]
                    tied = [rng.random(s) < 0.1 for s in shapes]
                    inner = rng.random(3) if index else np.empty(0)
                    clock, memory = rng.random((3, 6)).round(6), np.array([1e9, np.nan, 3.0])
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
        np.testing.assert_array_equal(point.inner, two.points[key].inner, strict=True)
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


@settings(max_examples=25)
@given(ids=st.lists(IDS, min_size=1, max_size=8, unique=True))
def test_documents_may_be_called_anything(ids):
    assert named(ids) == tuple(ids)


def test_names_that_other_formats_stumble_over_come_back():
    assert named(NASTY) == tuple(NASTY)


def test_times_come_back_from_a_file_of_their_own():
    predictions = made()
    times = timings_file.encode(predictions)
    back = timings_file.decode(times, decode(encode(predictions)))
    same(predictions, back)
    for key, point in predictions.points.items():
        np.testing.assert_array_equal(point.seconds, back.points[key].seconds, strict=True)
        np.testing.assert_array_equal(point.memory, back.points[key].memory, strict=True)
    assert timings_file.encode(back) == times
    header, *rows, _ = times.decode().split("\n")
    assert len(rows) == sum(len(point.given) for point in predictions.points.values())
    assert all(row.count(",") == header.count(",") + 1 for row in rows), "the split's name has a comma of its own"


def test_predictions_do_not_depend_on_times():
    predictions = made()
    points = {
        key: replace(each, seconds=each.seconds + 1, memory=each.memory * 2) for key, each in predictions.points.items()
    }
    measured = {key: {**arrays, "graph/seconds": np.ones(2)} for key, arrays in predictions.measured.items()}
    assert encode(replace(predictions, points=points, measured=measured)) == encode(predictions)


@pytest.mark.parametrize("change", ["drop", "double", "swap", "word", "column"])
def test_times_of_other_points_are_refused(change):
    predictions = made()
    lines = timings_file.encode(predictions).decode().split("\n")[:-1]
    cells = lines[3].split(",")
    changed = {
        "drop": lines[:3] + lines[4:],
        "double": [*lines[:4], *lines[3:]],
        "swap": [*lines[:2], lines[3], lines[2], *lines[4:]],
        "word": [*lines[:3], ",".join([*cells[:-2], "soon", cells[-1]]), *lines[4:]],
        "column": [*lines[:3], lines[3] + ",1", *lines[4:]],
    }[change]
    with pytest.raises(ValueError, match=r"rows aren't those|soon"):
        timings_file.decode("\n".join(changed).encode(), predictions)


def named(ids):
    documents = TaskDocuments(tuple(ids), ("a", "b"), np.zeros(len(ids), dtype=np.int32))
    return decode(encode(Predictions({("base", ""): documents}, {}, {}))).tasks["base", ""].ids


def packed(arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def unpacked(content):
    with np.load(io.BytesIO(content)) as archive:
        return dict(archive)


@pytest.fixture(scope="module", name="content")
def fixture_content():
    return encode(made())


class TestDamage:
    """Each is one of the errors that the reader of a run's folder knows, or changes nothing; never another error."""

    def test_an_archive_cut_short_anywhere(self, content):
        for length in (*range(0, len(content), 7), len(content) - 1):
            with pytest.raises(DAMAGED):
                decode(content[:length])

    @pytest.mark.parametrize("bits", [0x01, 0x80, 0xFF])
    def test_a_flipped_byte_anywhere(self, bits):
        few = made(variants=("base",), sizes=(5,))  # an array of every kind
        changed = bytearray(encode(few))
        for position in range(0, len(changed), 4):
            changed[position] ^= bits
            try:
                back = decode(bytes(changed))
            except DAMAGED:
                pass
            else:
                same(back, few)  # a byte that nothing is read from
            changed[position] ^= bits

    @pytest.mark.parametrize("content", [b"", b"text", np.arange(3).tobytes(), b"PK\x03\x04"])
    def test_what_is_no_archive(self, content):
        with pytest.raises(DAMAGED):
            decode(content)

    @pytest.mark.parametrize("save", [np.save, np.savez])
    def test_an_array_or_another_archive(self, save):
        file = io.BytesIO()
        save(file, np.arange(3))
        with pytest.raises(DAMAGED):
            decode(file.getvalue())

    def test_an_archive_with_pickled_objects(self):
        with pytest.raises(DAMAGED):
            decode(packed(unpacked(encode(made())) | {"index": np.array([{}, print], dtype=object)}))

    def test_an_array_is_missing(self, content):
        arrays = unpacked(content)
        for member in arrays:
            with pytest.raises(DAMAGED):
                decode(packed({name: array for name, array in arrays.items() if name != member}))

    @pytest.mark.parametrize("several", [False, True])
    @pytest.mark.parametrize("member", ["test", "trained", "given", "tied", "inner", "truth"])
    def test_an_array_is_shorter_than_the_index_says(self, member, several):
        arrays = unpacked(encode(made(several=several)))
        arrays[f"0/{member}"] = arrays[f"0/{member}"][:-1]
        with pytest.raises(DAMAGED):
            decode(packed(arrays))

    @pytest.mark.parametrize("foreign", [np.arange(3.0), np.array("text"), np.array(7), np.zeros((2, 2, 2))], ids=repr)
    @pytest.mark.parametrize("member", ["test", "trained", "given", "tied", "truth", "ids"])
    def test_a_foreign_array_in_its_place(self, content, member, foreign):
        with pytest.raises(DAMAGED):
            decode(packed(unpacked(content) | {f"0/{member}": foreign}))

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", "3", "null", "{}", '{"tasks": 3}', '{"tasks": [[1, 2]]}', '{"tasks": [["a", "b", 3, 4]]}'],
    )
    def test_another_index(self, content, text):
        index = np.frombuffer(text.encode(), dtype=np.uint8)
        with pytest.raises(DAMAGED):
            decode(packed(unpacked(content) | {"index": index}))

    @pytest.mark.parametrize("part", ["tasks", "splits", "points", "measured"])
    def test_an_index_that_names_what_is_not_there(self, content, part):
        arrays = unpacked(content)
        index = json.loads(arrays["index"].tobytes())
        index[part].append(index[part][-1])
        arrays["index"] = np.frombuffer(json.dumps(index).encode(), dtype=np.uint8)
        with pytest.raises(DAMAGED):
            decode(packed(arrays))
