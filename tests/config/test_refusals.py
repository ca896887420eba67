"""What a method, a text or a fusion can't be is refused with all that one has to know, at its line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from benchmark.config import components
from benchmark.config.collection import MIN_BUCKETS
from benchmark.config.other_methods import MAX_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Callable

FUSED = (
    "methods:\n  - mnb\n  - {weighting: tfidf, classifier: linear-svm, name: words}\n"
    "  - {classifier: svm, kernel: ngd, name: votes}\n"
)
WEIGHTS = "weights are 2 positive numbers up to 1e+12, one for each method of `fuse`, not "
TWO_FUSED = "  - fuse: [mnb, words]\n    name: both\n"


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("text:\n  ngrams: [] # HERE\n", "no term would be left: ngrams may be empty where `characters` are counted"),
        (
            "text:\n  characters: [5, 3] # HERE\n",
            "characters is [5, 3]: the length of the shortest n-gram, then that of the longest",
        ),
        (
            "text:\n  buckets: 1048576 # HERE\n",
            "n-grams of characters are hashed into buckets: add `characters`, such as [3, 5]",
        ),
        (
            f"text:\n  characters: [3]\n  buckets: {MIN_BUCKETS - 1} # HERE\n",
            f"buckets is {MIN_BUCKETS - 1}; it must be 0, or {MIN_BUCKETS:,} or more",
        ),
    ],
)
def test_a_text_without_terms_is_refused(refusal: Callable[[str], str], fragment: str, said: str) -> None:
    assert refusal(fragment) == said


@pytest.mark.parametrize(("given", "lengths"), [("[3]", (3, 3)), ("[3, 3]", (3, 3)), ("[3, 5]", (3, 5))])
def test_one_length_of_n_grams_is_the_shortest_and_the_longest(
    checked: Callable[[str], object], given: str, lengths: tuple[int, int]
) -> None:
    text = f"text: {{ngrams: [], characters: {given}, buckets: {MIN_BUCKETS}}}\n"
    lexing = checked(text).variants["base"].collection.lexing
    assert (lexing.characters, lexing.ngrams, lexing.buckets) == (lengths, (), MIN_BUCKETS)


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("terms: {number: 9} # HERE\nmethods: [{classifier: {name: eef, n_terms: 5}}]\n", "remove n_terms from 'eef'"),
        (
            "methods:\n  - {kernel: ngd, classifier: mnb} # HERE\n",
            "'mnb' takes no kernel; 'svm' does: leave out",
        ),
        (f"{FUSED}  - fuse: [mnb] # HERE\n    name: both\n", "`fuse` lists at least two methods of this"),
        (f"{FUSED}  - fuse: [mnb, mnb] # HERE\n    name: both\n", "`fuse` lists a method twice"),
        (f"{FUSED}  - fuse: [mnb, wods] # HERE\n    name: both\n", "wods"),
        (f"{FUSED}  - fuse: [mnb, votes] # HERE\n    name: both\n", "'votes' lets pairs of classes vote: give it"),
        (f"{FUSED}{TWO_FUSED}    weights: [1] # HERE\n", f"{WEIGHTS}[1]"),
        (f"{FUSED}{TWO_FUSED}    weights: [1, 0] # HERE\n", f"{WEIGHTS}[1, 0]"),
        (f"{FUSED}{TWO_FUSED}    weights: [1, -1] # HERE\n", f"{WEIGHTS}[1, -1]"),
        (f"{FUSED}{TWO_FUSED}    weights: [1, 2, 3] # HERE\n", f"{WEIGHTS}[1, 2, 3]"),
        (f"{FUSED}{TWO_FUSED}    weights: [1, true] # HERE\n", f"{WEIGHTS}[1, True]"),
        (f"{FUSED}{TWO_FUSED}    weights: [1, {2 * MAX_WEIGHT}] # HERE\n", WEIGHTS),
        (f"{FUSED}{TWO_FUSED}  - fuse: [both, mnb] # HERE\n    name: more\n", "'both' is a fusion itself: list its"),
        (
            "metrics: [macro-average-precision] # HERE\nmethods: [{classifier: svm, kernel: ngd}]\n",
            "the metric 'macro-average-precision' ranks documents by decision values, and 'ngd-svm' lets pairs of",
        ),
    ],
)
def test_what_can_not_be_combined_is_refused(refusal: Callable[[str], str], fragment: str, said: str) -> None:
    assert said in refusal(fragment)


@pytest.mark.parametrize("weights", ["[1, 2]", "[0.5, 1.0e+12]"])
def test_weights_are_positive_numbers(checked: Callable[[str], object], weights: str) -> None:
    entries = checked(f"{FUSED}{TWO_FUSED}    weights: {weights}\n").variants["base"].entries
    assert list(entries[-1].candidates[0].fused.weights) == [float(each) for each in weights.strip("[]").split(",")]


def test_a_comparison_that_is_listed_twice_is_refused_in_either_order(refusal: Callable[[str], str]) -> None:
    for again in ("[ngd, linear]", "[linear, ngd]"):
        said = refusal(f"compare:\n  - [ngd, linear]\n  - {again} # HERE\n")
        assert said.endswith("are compared twice")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{file: a.npy}", "a .npy file needs `ids`, a file with an id for each row, one a line"),
        ("{file: a.csv, ids: b.txt}", "a .npy file needs `ids`, a file with an id for each row, one a line"),
        ("{file: a.csv, idd: x}", "unknown key of `vectors`: 'idd'; did you mean 'id'?"),
        ("{file: a.csv, id: 3}", "id is 3: must be text"),
        ("3", "vectors are the name of a file, or a mapping with `file` and `ids`, `id` or `column`, not 3"),
        ("{ids: b.txt}", "vectors are the name of a file, or a mapping with `file` and `ids`, `id` or `column`, not "),
    ],
)
def test_vectors_are_a_file_with_ids(refusal: Callable[[str], str], given: str, said: str) -> None:
    assert said in refusal(f"methods:\n  - vectors: {given} # HERE\n    classifier: logistic\n")


def test_classes_of_the_corpus_stand_though_tasks_name_fewer(checked: Callable[[str], object]) -> None:
    tasks = "tasks: [[student, course]]\n"
    classes = "corpus: {name: synthetic, classes: [student, faculty, course]}\n"
    assert checked(classes + tasks).variants["base"].collection.classes == ("student", "faculty", "course")
    assert checked(tasks).variants["base"].collection.classes == ("student", "course")


def test_methods_are_compared_in_the_variants_that_have_both(checked: Callable[[str], object]) -> None:
    for methods in ("[ngd, mnb]", "[linear, mnb]"):
        experiment = checked(f"compare: [[ngd, linear]]\nvariants:\n  v: {{methods: {methods}}}\n")
        assert [(pair.a, pair.b) for pair in experiment.compare] == [("ngd", "linear")]


@pytest.mark.parametrize(
    ("annotation", "plain"),
    [
        *((int, True), (str, True), (type(None), True), (int | None, True), (list[int], True), (Sequence[str], True)),
        *((list[int] | str, True), (dict[str, int], False), (tuple[int, int], False), (list[object], False)),
        (object, False),
    ],
)
def test_a_parameter_that_yaml_can_hold_is_plain(annotation: object, *, plain: bool) -> None:
    assert components._is_plain(annotation) is plain


@pytest.mark.parametrize(
    ("default", "shown"),
    [
        (1.5, 1.5),
        ([1, "a"], [1, "a"]),
        (None, None),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (object(), "object"),
    ],
)
def test_a_default_that_json_can_not_hold_is_named(default: object, shown: object) -> None:
    assert components.plain_default(default) == shown
    assert components.plain_default(test_a_default_that_json_can_not_hold_is_named).startswith("test_a_default")
