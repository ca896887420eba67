"""What a method, a text or a fusion can't be is refused with all that one has to know, at its line."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from benchmark.config import components
from benchmark.config.other_methods import MAX_WEIGHT, score_columns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FUSED = (
    "methods:\n  - mnb\n  - {weighting: tfidf, classifier: linear-svm, name: words}\n"
    "  - {classifier: svm, kernel: ngd, name: votes}\n"
)
WEIGHTS = "weights are 2 positive numbers up to 1e+12, one for each method of `fuse`, not "
SCHEMES = "{kernel: ngd, classifier: {scheme: [one-vs-rest, one-vs-one]}}"
TWO_FUSED = "  - fuse: [mnb, words]\n    name: both\n"


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("text:\n  ngrams: [] # HERE\n", "no term would be left: ngrams may be empty where `characters` are counted"),
        (
            "text:\n  characters: [5, 3] # HERE\n",
            "characters is [5, 3]: the length of the shortest n-gram, then that of the longest",
        ),
    ],
)
def test_a_text_without_terms_is_refused(refusal: Callable[[str], str], fragment: str, said: str) -> None:
    assert refusal(fragment) == said


@pytest.mark.parametrize(("given", "lengths"), [("[3]", (3, 3)), ("[3, 3]", (3, 3)), ("[3, 5]", (3, 5))])
def test_one_length_of_n_grams_is_the_shortest_and_the_longest(
    checked: Callable[[str], object], given: str, lengths: tuple[int, int]
) -> None:
    lexing = checked(f"text: {{ngrams: [], characters: {given}}}\n").variants["base"].collection.lexing
    assert (lexing.characters, lexing.ngrams) == (lengths, ())


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
        (f"{FUSED}  - fuse: [mnb, words, mnb] # HERE\n    name: both\n", "`fuse` lists a method twice"),
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
            f"choose: {{by: oracle}}\nmethods:\n  - mnb\n  - {SCHEMES}\n  - fuse: [mnb, ngd] # HERE\n    name: both\n",
            "'ngd' lets pairs of classes vote: give it",
        ),
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
        (
            "{file: a.csv, ids: b.txt}",
            "`ids` are those of a .npy file; a Parquet file has a column of ids, named by `id`",
        ),
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


@pytest.mark.parametrize(
    ("name", "label"),
    [("a large model", "a-large-model"), ("GPT 4.1 (2025)!", "gpt-4.1-2025"), ("plain", "plain"), ("--a__b--", "a-b")],
)
def test_predictions_of_a_file_are_called_by_words_of_their_name(
    checked: Callable[[str], object], written: Callable[..., Path], name: str, label: str
) -> None:
    (written().parent / "a.csv").write_text("id,predicted\n1,course\n")
    experiment = checked(f"methods: [{{predictions: a.csv, name: {name!r}}}]\n")
    assert [cell.id for cell in experiment.cells] == [label]
    (spec,) = experiment.variants["base"].entries[0].candidates
    assert spec.predictions.name == "a.csv"
    assert spec.predictions.digest == hashlib.sha256(b"id,predicted\n1,course\n").hexdigest()


@pytest.mark.parametrize("given", ["3", "''", "[]", "{file: a}"])
def test_predictions_are_a_file(refusal: Callable[[str], str], given: str) -> None:
    said = refusal(f"methods:\n  - {{predictions: {given}, name: a}} # HERE\n")
    assert said.startswith(("predictions are the name of a file, not ", "predictions must not be an empty list"))


@pytest.mark.parametrize(
    "given",
    [
        "predictions: gone.csv",
        "vectors: gone.csv, classifier: logistic",
        "vectors: {file: a.npy, ids: gone.csv}, classifier: logistic",
    ],
)
def test_a_file_that_is_gone_is_refused(
    refusal: Callable[[str], str], written: Callable[..., Path], given: str
) -> None:
    (written().parent / "a.npy").touch()
    said = refusal(f"methods:\n  - {{{given}, name: a}} # HERE\n")
    assert said.endswith("gone.csv: can't be read: No such file or directory")


def test_vectors_have_a_column_of_ids_unless_they_say_another(
    checked: Callable[[str], object], written: Callable[..., Path]
) -> None:
    for name in ("a.parquet", "a.npy", "ids.txt"):
        (written().parent / name).write_text(name)
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("a.parquet", "a.npy", "ids.txt")}
    for given, expected in (
        ("a.parquet", [digests["a.parquet"], "", "id", ""]),
        ("{file: a.parquet, id: key, column: v}", [digests["a.parquet"], "", "key", "v"]),
        ("{file: a.npy, ids: ids.txt}", [digests["a.npy"], digests["ids.txt"], "id", ""]),
    ):
        method = f"{{vectors: {given}, classifier: logistic, normalization: l2, name: a}}"
        (spec,) = checked(f"methods: [{method}]\n").variants["base"].entries[0].candidates
        assert spec.vectors.resolved == expected
        assert (spec.representation.normalization, spec.kernel, spec.classifier.name) == ("l2", None, "logistic")
    plain = checked("methods: [{vectors: a.parquet, classifier: logistic}]\n").variants["base"].entries[0]
    assert (plain.label, plain.candidates[0].representation.normalization) == ("logistic", "none")


def test_vectors_of_documents_with_several_classes_have_a_threshold(
    checked: Callable[[str], object], written: Callable[..., Path]
) -> None:
    (written().parent / "a.parquet").touch()
    given = "corpus: {name: synthetic, subset: several}\nmethods: {vectors: a.parquet, classifier: linear-svm"
    for more, rule in (("", None), (", threshold: at-least-one", "at-least-one"), (", threshold: zero", None)):
        ((spec,),) = (entry.candidates for entry in checked(f"{given}{more}}}\n").variants["base"].entries)
        assert (spec.threshold and spec.threshold.name) == rule
    defaults = f"defaults: {{linear-svm: {{threshold: cross-validated, C: 2}}}}\n{given}}}\n"
    ((spec,),) = (entry.candidates for entry in checked(defaults).variants["base"].entries)
    assert (spec.threshold.name, spec.classifier.given) == ("cross-validated", {"C": 2})


def test_only_classifiers_of_points_take_vectors(refusal: Callable[[str], str]) -> None:
    said = refusal("methods:\n  - {vectors: a.parquet, classifier: svm} # HERE\n")
    assert said == "the classifier 'svm' takes kernel values; vectors need one of points"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["id", "decision a", "decision b", "score a"], ["decision a", "decision b"]),
        (["score a", "probability a", "score b"], ["score a", "score b"]),
        (["probability x y", "scores", "decision"], ["probability x y"]),
        (["id", 3], []),
    ],
)
def test_scores_are_those_of_the_first_kind_that_a_file_has(columns: list[object], expected: list[str]) -> None:
    assert score_columns(columns) == expected


@pytest.mark.parametrize("ending", ["decision course", "score course", "probability course"])
def test_predictions_without_scores_rank_no_document(
    checked: Callable[[str], object], refusal: Callable[[str], str], written: Callable[..., Path], ending: str
) -> None:
    fragment = "metrics: [macro-roc-auc] # HERE\nmethods: [{predictions: a.csv, name: given}]\n"
    (written().parent / "a.csv").write_text("id,predicted\n")
    said = refusal(fragment)
    assert said.endswith("and 'given' has predictions alone: add a column `decision CLASS` for each class")
    (written().parent / "a.csv").write_text(f"id,predicted,{ending}\n")
    assert checked(fragment).ranks_documents


def test_two_classes_need_no_vote_to_rank_documents(checked: Callable[[str], object]) -> None:
    fragment = "metrics: [macro-average-precision]\ntasks: [[course, student]]\nmethods: [ngd]\n"
    assert checked(fragment).ranks_documents
    several = "corpus: {name: synthetic, subset: several}\nmetrics: [macro-average-precision]\nmethods: [ngd]\n"
    assert checked(several).ranks_documents


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{fuse: [mnb, words], name: both, wait: 1}", "unknown key of a fusion: 'wait'"),
        ("{fuse: [mnb, words], name: both, scale: hold}", "unknown scale 'hold'; did you mean 'hold-out'?"),
        ("{fuse: [mnb, words], name: both, scale: [hold-out]}", "unknown scale ['hold-out']"),
        ("{fuse: [mnb, words]}", "give this fusion a `name`"),
        ("{fuse: [mnb, words], name: Both}", "'Both': a method's name is made of a-z"),
        ("{fuse: [mnb, words], name: mnb}", "the method 'mnb' is listed twice"),
        ("{fuse: mnb, name: both}", "`fuse` lists at least two methods of this configuration"),
        ("{fuse: [mnb, [words]], name: both}", "unknown method of `fuse`: ['words']"),
        ("{fuse: [[mnb, words]], name: both}", "`fuse` lists at least two methods of this configuration"),
        ("{fuse: [mnb, words], name: both, weights: 2}", WEIGHTS + "2"),
        ("{fuse: [mnb, words], name: both, weights: [1, x]}", WEIGHTS),
    ],
)
def test_what_is_no_fusion_is_refused(refusal: Callable[[str], str], given: str, said: str) -> None:
    assert said in refusal(f"{FUSED}  - {given} # HERE\n")


def test_a_fusion_weighs_alike_out_of_folds_unless_it_says_otherwise(checked: Callable[[str], object]) -> None:
    plain, other = "{fuse: [words, mnb], name: a}", "{fuse: [mnb, words], name: b, scale: hold-out, weights: [1, 2]}"
    entries = checked(f"{FUSED}  - {plain}\n  - {other}\n").variants["base"].entries
    assert [entry.label for entry in entries] == ["mnb", "words", "votes", "a", "b"]
    one, two = (entry.candidates[0].fused for entry in entries[-2:])
    assert (one.names, one.weights, one.scale) == (("words", "mnb"), (1.0, 1.0), "out-of-fold")
    assert (two.names, two.weights, two.scale) == (("mnb", "words"), (1.0, 2.0), "hold-out")
    assert [each.classifier.name for each in one.members] == ["linear-svm", "mnb"]
    words, *_, added = (part.name for part in entries[-2].candidates[0].components)
    assert (words, added) == ("tfidf", "fusion")
    assert {"linear-svm", "mnb"} <= {part.name for part in entries[-2].candidates[0].components}
