"""Each rule of a model's files by itself: both sides of every limit, and which value is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from benchmark.classifiers import PARAMETER_LIMITS
from benchmark.config.other_methods import MAX_WEIGHT
from benchmark.methods.wrappers.fusion import SMALLEST_SCALE
from benchmark.model import schema
from benchmark.model.schema import (
    MAX_ABS_VALUE,
    ArraySpec,
    MemberDescription,
    ReadingDescription,
    RepresentationDescription,
    SelectedCandidate,
    check_sum,
)
from benchmark.system.string_arrays import join_names

READING = {"encoding": "utf-8", "delimiter": ",", "header": True, "id": None}
REPRESENTATION = {
    "weighting": "tf",
    "normalization": "l1",
    "idf": "training",
    "dirichlet": 1.0,
    "features": None,
    "fields": {"all": 1.0},
}
MEMBER = {"name": "a", "weight": 1.0, "scale": 1.0, "sha256": "x"}
CHOSEN = {"by": "oracle", "candidate": 0, "of": 1}
MOST = PARAMETER_LIMITS["smoothing"][1]
FIELDS: list[tuple[Any, dict[str, Any], str, Any, bool]] = [
    *((ReadingDescription, READING, "delimiter", each, True) for each in (",", "\t", ";", "é", None, " ")),
    *((ReadingDescription, READING, "delimiter", each, False) for each in ("", ",,", '"', "\r", "\n", 3)),
    *((ReadingDescription, READING, "encoding", each, True) for each in ("latin-1", "UTF8", "cp1252")),
    *((ReadingDescription, READING, "encoding", each, False) for each in ("no-such", "", None)),
    *((ReadingDescription, READING, "header", each, False) for each in (1, "yes", None)),
    *((RepresentationDescription, REPRESENTATION, "dirichlet", each, True) for each in (0.0, MOST)),
    *((RepresentationDescription, REPRESENTATION, "dirichlet", each, False) for each in (-1e-9, 1.01 * MOST, np.nan)),
    *((RepresentationDescription, REPRESENTATION, "fields", {"all": each}, True) for each in (0.0, 1e12)),
    *((RepresentationDescription, REPRESENTATION, "fields", {"all": each}, False) for each in (-1e-9, 1.1e12, np.inf)),
    *((RepresentationDescription, REPRESENTATION, "normalization", each, False) for each in ("l3", None)),
    *((RepresentationDescription, REPRESENTATION, "idf", each, False) for each in ("split", None)),
    *((MemberDescription, MEMBER, "weight", each, True) for each in (1e-300, MAX_WEIGHT)),
    *((MemberDescription, MEMBER, "weight", each, False) for each in (0.0, -1.0, 1.01 * MAX_WEIGHT, np.nan)),
    *((MemberDescription, MEMBER, "scale", each, True) for each in (SMALLEST_SCALE, 1e300)),
    *((MemberDescription, MEMBER, "scale", each, False) for each in (SMALLEST_SCALE / 2, 0.0, np.inf)),
    *((SelectedCandidate, CHOSEN, "candidate", each, each >= 0) for each in (0, 5, -1)),
    *((SelectedCandidate, CHOSEN, "of", each, each >= 1) for each in (1, 5, 0)),
]


@pytest.mark.parametrize(("section", "whole", "key", "value", "good"), FIELDS)
def test_a_key_is_read_within_its_limits(section: Any, whole: dict[str, Any], key: str, value: Any, good: bool) -> None:
    assert section.model_validate(whole)
    if good:
        assert getattr(section.model_validate(whole | {key: value}), key) == value
        return
    with pytest.raises(ValidationError):
        section.model_validate(whole | {key: value})


@pytest.mark.parametrize(
    ("multilabel", "k", "n_learned", "rows", "expected"),
    [
        (True, 3, 2, 2, None),
        (True, 3, 2, 3, 2),
        (True, 1, 1, 1, None),
        (False, 3, 3, 3, None),
        (False, 3, 3, 1, 3),
        (False, 2, 2, 1, None),
        (False, 2, 2, 2, 1),
    ],
)
def test_a_sum_has_a_sigmoid_for_each_learned_class(
    multilabel: bool, k: int, n_learned: int, rows: int, expected: int | None
) -> None:
    facts: Any = SimpleNamespace(multilabel=multilabel, classes=list("abc")[:k], sigmoids=[(0.0, 0.0)] * rows)
    if expected is None:
        check_sum(facts, n_learned)
        facts.sigmoids = None
        check_sum(facts, n_learned)
        return
    with pytest.raises(ValueError, match=f"^sigmoids has {rows} rows: must have {expected}$"):
        check_sum(facts, n_learned)


SIZES = {"words": 3}
VALUES: list[tuple[ArraySpec, Any, str]] = [
    (ArraySpec("numbers"), [0.0, MAX_ABS_VALUE, -MAX_ABS_VALUE], ""),
    (ArraySpec("numbers"), [0.0, 1.1e100], "x holds 1.1e+100: must lie between -1e+100 and 1e+100"),
    (ArraySpec("numbers"), [-1.1e100], "x holds -1.1e+100: must lie between -1e+100 and 1e+100"),
    (ArraySpec("numbers"), [0.0, np.nan, 9e100], "x holds nan: must lie between -1e+100 and 1e+100"),
    (ArraySpec("numbers"), [np.inf], "x holds inf: must lie between"),
    (ArraySpec("numbers", (), 0.5, 2.0), [0.5, 2.0], ""),
    (ArraySpec("numbers", (), 0.5, 2.0), [0.4999, 3.0], "x holds 0.4999: must lie between 0.5 and 2"),
    (ArraySpec("numbers", (), 0.5, 2.0), [2.0001], "x holds 2.0001: must lie between 0.5 and 2"),
    (ArraySpec("whole numbers", (), 1), [1, 9], ""),
    (ArraySpec("whole numbers", (), 1), [1, 0], "x holds 0: must lie between 1 and 1e+100"),
    (ArraySpec("whole numbers", of="words"), [0, 2], ""),
    (ArraySpec("whole numbers", of="words"), [0, 3, 7], "x has the index 3, but there are 3 words"),
    (ArraySpec("whole numbers", of="words"), [-1], "x has the index -1, but there are 3 words"),
    (ArraySpec("whole numbers", of="words"), [], ""),
    (ArraySpec("bytes", (), 0), [255], ""),
]


@pytest.mark.parametrize(("expected", "values", "said"), VALUES)
def test_values_lie_within_their_limits(expected: ArraySpec, values: Any, said: str) -> None:
    array = np.array(values, dtype=np.float64 if expected.types == "numbers" else np.int64)
    if not said:
        schema._check_values("x", array, expected, SIZES)
        return
    with pytest.raises(ValueError, match="x") as raised:
        schema._check_values("x", array, expected, SIZES)
    assert str(raised.value).startswith(said)


TYPES: list[tuple[ArraySpec, Any, str]] = [
    (ArraySpec("numbers", ("n",)), np.zeros(2), ""),
    (ArraySpec("numbers", ("n",)), np.zeros(3), "x is of shape (3,): must be (2,)"),
    (ArraySpec("numbers", ("n", "m")), np.zeros((2, 5)), ""),
    (ArraySpec("numbers", ("n", "n")), np.zeros((2, 5)), "x is of shape (2, 5): must be (2, 2)"),
    (ArraySpec("numbers", ("n",)), np.zeros((2, 1)), "x has 2 dimensions: must have 1"),
    (ArraySpec("numbers"), np.zeros(1), "x has 1 dimensions: must have 0"),
    (ArraySpec("numbers", ("n",)), np.zeros(2, np.float32), "x is of type float32: must be numbers"),
    (ArraySpec("whole numbers", ("n",)), np.zeros(2, np.int32), ""),
    (ArraySpec("whole numbers", ("n",)), np.zeros(2, np.int64), ""),
    (ArraySpec("whole numbers", ("n",)), np.zeros(2, np.int16), "x is of type int16: must be whole numbers"),
    (ArraySpec("whole numbers", ("n",)), np.zeros(2, np.uint8), "x is of type uint8: must be whole numbers"),
    (ArraySpec("truth values", ("n",)), np.zeros(2, bool), ""),
    (ArraySpec("truth values", ("n",)), np.zeros(2, np.int8), "x is of type int8: must be truth values"),
    (ArraySpec("bytes", ("m",)), np.zeros(4, np.uint8), ""),
    (ArraySpec("a word"), np.array("l1"), ""),
    (ArraySpec("a word"), np.array(1.0), "x is of type float64: must be a word"),
    (ArraySpec("numbers"), 1.0, "x is no array"),
    (ArraySpec("numbers"), None, "x is missing"),
    (ArraySpec("numbers", optional=True), None, ""),
]


@pytest.mark.parametrize(("expected", "array", "said"), TYPES)
def test_arrays_have_their_types_and_shapes(expected: ArraySpec, array: Any, said: str) -> None:
    arrays, sizes = {} if array is None else {"x": array}, {"n": 2}
    if not said:
        schema._check_type("x", arrays, expected, sizes)
        assert sizes == {"n": 2, **({"m": array.shape[-1]} if "m" in expected.shape else {})}
        return
    with pytest.raises(ValueError, match="x") as raised:
        schema._check_type("x", arrays, expected, sizes)
    assert str(raised.value) == said


CLASSES: list[tuple[bool, dict[str, Any], str]] = [
    (False, {"columns": [0, 1, 2]}, ""),
    (False, {"columns": [0, 2, 1]}, "columns must ascend"),
    (True, {"columns": [0, 0]}, "columns must ascend"),
    (False, {"columns": [0, 2]}, "columns has 2 of 3 classes"),
    (True, {"columns": [0, 2]}, ""),
    (True, {"columns": [0, 2], "everywhere": [False, True, False]}, ""),
    (True, {"columns": [0, 2], "everywhere": [True, True, False]}, "everywhere is true for a class that was learned"),
    (True, {"columns": [0, 2], "everywhere": [False, False, True]}, "everywhere is true for a class that was learned"),
    (True, {"columns": [], "everywhere": [True, True, True]}, ""),
    (False, {"everywhere": [False, False, True]}, "everywhere is true for a class that was learned"),
    (False, {"fitted/0.classes_": [0, 1, 1]}, "fitted/0.classes_ has a class twice"),
    (False, {"fitted/0.classes_": [0, 1, 2], "fitted/1.classes_": [1, 1, 0]}, "fitted/1.classes_ has a class twice"),
    (False, {"fitted/0.classes_": [2, 0, 1]}, ""),
]


@pytest.mark.parametrize(("multilabel", "changes", "said"), CLASSES)
def test_learned_classes_ascend_and_none_occurs_twice(multilabel: bool, changes: dict[str, Any], said: str) -> None:
    given = {"columns": [0, 1, 2], "everywhere": [False] * 3} | changes
    arrays = {name: np.array(each, dtype=bool if name == "everywhere" else np.intp) for name, each in given.items()}
    facts: Any = SimpleNamespace(multilabel=multilabel, classes=["a", "b", "c"])
    if not said:
        schema._check_classes(arrays, facts)
        return
    with pytest.raises(ValueError, match="^" + said):
        schema._check_classes(arrays, facts)


#: Two machines on three support vectors of four words, with five counts.
MACHINES = {
    "counts.shape": [3, 4],
    "counts.indptr": [0, 2, 2, 5],
    "bounds": [0, 1, 3],
    "n_support": [2, 3],
    "support": [0, 2, 0, 1, 2],
}
MACHINE_CASES: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"counts.shape": [3, 5]}, "p.counts.shape is [3, 5]: must be [3, 4]"),
    ({"counts.shape": [2, 4]}, "p.counts.shape is [2, 4]: must be [3, 4]"),
    ({"counts.indptr": [0, 2, 2, 4]}, "p.counts.indptr must ascend from 0 to 5, the number of counts"),
    ({"counts.indptr": [0, 2, 2, 6]}, "p.counts.indptr must ascend from 0 to 5, the number of counts"),
    ({"counts.indptr": [1, 2, 2, 5]}, "p.counts.indptr must ascend from 0 to 5, the number of counts"),
    ({"counts.indptr": [0, 3, 2, 5]}, "p.counts.indptr must ascend from 0 to 5, the number of counts"),
    ({"counts.indptr": []}, "p.counts.indptr must ascend from 0 to 5, the number of counts"),
    ({"bounds": [0, 1, 2]}, "p.bounds must ascend from 0 to 3, the number of support vectors"),
    ({"bounds": [0, 1, 4]}, "p.bounds must ascend from 0 to 3, the number of support vectors"),
    ({"bounds": [0, 4, 3]}, "p.bounds must ascend from 0 to 3, the number of support vectors"),
    ({"n_support": [2, 2]}, "p.n_support sums to 4, but p.support has 5 entries"),
    ({"n_support": [3, 3]}, "p.n_support sums to 6, but p.support has 5 entries"),
    ({"n_support": [3, 2]}, "p.support has a support vector twice for one machine"),
    ({"support": [0, 2, 1, 1, 2]}, "p.support has a support vector twice for one machine"),
]


@pytest.mark.parametrize(("changes", "said"), MACHINE_CASES)
def test_support_vectors_go_with_their_machines(changes: dict[str, Any], said: str) -> None:
    arrays = {name: np.array(each, dtype=np.int64) for name, each in (MACHINES | changes).items()}
    sizes = {"support vectors": 3, "words": 4, "counts": 5, "supports": 5}
    if not said:
        schema._check_machines(arrays, "p.", sizes)
        return
    with pytest.raises(ValueError, match="p") as raised:
        schema._check_machines(arrays, "p.", sizes)
    assert str(raised.value) == said


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("weighting/n_features_in_", 5, ""),
        ("weighting/n_features_in_", 7, "weighting/n_features_in_ is 7, but the vocabulary has 5 words"),
        ("fitted/0.n_features_in_", 7, ""),
        ("fitted/0.n_features_in_", 5, "fitted/0.n_features_in_ is 5, but the vocabulary has 7 words"),
        ("weighting/block_norm_", "l1", ""),
        ("weighting/block_norm_", "l3", "weighting/block_norm_ is 'l3': must be one of none, l1, l2"),
    ],
)
def test_numbers_of_features_are_those_of_words_and_coordinates(name: str, value: Any, said: str) -> None:
    sizes = {"words": 5, "coordinates": 7}
    if not said:
        schema._check_single_values({name: np.array(value)}, sizes)
        return
    with pytest.raises(ValueError, match=r"must be|but the") as raised:
        schema._check_single_values({name: np.array(value)}, sizes)
    assert str(raised.value) == said


@pytest.mark.parametrize(
    ("k", "multilabel", "scheme", "expected"),
    [
        (4, False, "one-vs-one", {"hyperplanes": 6, "machines": 6, "own classes": 4, "sigmoids": 4, "bounds": 5}),
        (4, False, "one-vs-rest", {"hyperplanes": 4, "machines": 4, "own classes": 4, "sigmoids": 4, "bounds": 5}),
        (4, False, "", {"hyperplanes": 4, "machines": 6, "own classes": 4, "sigmoids": 4, "bounds": 5}),
        (2, False, "one-vs-one", {"hyperplanes": 1, "machines": 1, "own classes": 2, "sigmoids": 1, "bounds": 3}),
        (2, False, "", {"hyperplanes": 1, "machines": 1, "own classes": 2, "sigmoids": 1, "bounds": 3}),
        (4, True, "", {"hyperplanes": 1, "machines": 3, "own classes": 2, "sigmoids": 3, "bounds": 2}),
    ],
)
def test_lengths_follow_from_the_classes(k: int, multilabel: bool, scheme: str, expected: dict[str, int]) -> None:
    facts: Any = SimpleNamespace(
        classes=list("abcd")[:k], multilabel=multilabel, lexing=SimpleNamespace(blocks=[1, 2, 3]), kind="points"
    )
    classifier = SimpleNamespace(build=lambda: SimpleNamespace(scheme=scheme))
    representation = SimpleNamespace(features=None)
    spec: Any = SimpleNamespace(classifier=classifier, representation=representation)
    arrays = {"vocabulary": join_names(("x", "yz")), "columns": np.arange(3 if multilabel else k)}
    sizes = schema._sizes(arrays, facts, spec)
    n_learned = 3 if multilabel else k
    assert sizes | expected == sizes
    assert {name: sizes[name] for name in ("words", "coordinates", "learned", "classes", "blocks", "2")} == {
        "words": 2,
        "coordinates": 2,
        "learned": n_learned,
        "classes": k,
        "blocks": 3,
        "2": 2,
    }
    spec.representation.features = SimpleNamespace(build=lambda: SimpleNamespace(width=lambda n: 10 * n))
    assert schema._sizes(arrays, facts, spec)["coordinates"] == 20


@pytest.mark.parametrize(
    ("names", "said"),
    [(b"a\0b", ""), (b"a\0a", "vocabulary has a word twice"), (b"a\xff", "vocabulary isn't UTF-8")],
)
def test_words_are_text_and_none_occurs_twice(names: bytes, said: str) -> None:
    vocabulary = np.frombuffer(names, np.uint8)
    if not said:
        assert schema._words(vocabulary) == 2
        return
    with pytest.raises(ValueError, match=said):
        schema._words(vocabulary)
