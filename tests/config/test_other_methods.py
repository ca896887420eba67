"""Methods that aren't trained on counts: predictions and vectors of files, and sums of other methods."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment, MethodSpec

SEVERAL = "corpus: {name: synthetic, subset: several}\n"
FUSED = "mnb, {weighting: tfidf, classifier: linear-svm, name: words}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("name", "label"),
    [("a large model", "a-large-model"), ("GPT 4.1 (2025)!", "gpt-4.1-2025"), ("--a__b--", "a-b")],
)
def test_predictions_of_a_file_are_called_by_words_of_their_name(
    checked: Callable[[str], Experiment], name: str, label: str
) -> None:
    experiment = checked(f"methods: [{{predictions: a.csv, name: {name!r}}}]\n")
    assert [cell.id for cell in experiment.cells] == [label]
    (spec,) = experiment.variants["base"].entries[0].candidates
    assert spec.predictions is not None
    assert (spec.predictions.name, spec.predictions.digest) == ("a.csv", digest("id,predicted\n"))


def test_vectors_have_a_column_of_ids_unless_they_say_another(
    specs: Callable[[str], dict[str, tuple[MethodSpec, ...]]], written: Callable[..., Path]
) -> None:
    for name in ("b.parquet", "b.npy", "ids.txt"):
        (written().parent / name).write_text(name)
    for vectors, expected in (
        ("b.parquet", [digest("b.parquet"), "", "id", ""]),
        ("{file: b.parquet, id: key, column: v}", [digest("b.parquet"), "", "key", "v"]),
        ("{file: b.npy, ids: ids.txt}", [digest("b.npy"), digest("ids.txt"), "id", ""]),
    ):
        ((spec,),) = specs(f"methods: [{{vectors: {vectors}, classifier: logistic, normalization: l2}}]\n").values()
        assert spec.vectors is not None
        assert spec.vectors.resolved == expected
        assert (spec.representation.normalization, spec.kernel, spec.classifier.name) == ("l2", None, "logistic")
    ((label, (plain,)),) = specs("methods: [{vectors: b.parquet, classifier: logistic}]\n").items()
    assert (label, plain.representation.normalization) == ("logistic", "none")


@pytest.mark.parametrize(
    ("defaults", "more", "rule"),
    [
        ("", "", None),
        ("", ", threshold: at-least-one", "at-least-one"),
        ("", ", threshold: zero", None),
        ("defaults: {linear-svm: {threshold: cross-validated, C: 2}}\n", "", "cross-validated"),
    ],
)
def test_vectors_of_documents_with_several_classes_have_a_threshold(
    specs: Callable[[str], dict[str, tuple[MethodSpec, ...]]], defaults: str, more: str, rule: str | None
) -> None:
    method = f"methods: {{vectors: v.parquet, classifier: linear-svm{more}}}\n"
    ((spec,),) = specs(f"{SEVERAL}{defaults}{method}").values()
    assert (spec.threshold and spec.threshold.name) == rule
    assert spec.classifier.given == ({"C": 2} if defaults else {})


def test_votes_of_two_classes_rank_documents(checked: Callable[[str], Experiment]) -> None:
    assert checked("metrics: [macro-average-precision]\ntasks: [[course, student]]\nmethods: [ngd]\n").ranks_documents
    assert checked(f"{SEVERAL}metrics: [macro-average-precision]\nmethods: [ngd]\n").ranks_documents


def test_a_fusion_weighs_alike_out_of_folds_unless_it_says_otherwise(checked: Callable[[str], Experiment]) -> None:
    plain, other = "{fuse: [words, mnb], name: a}", "{fuse: [mnb, words], name: b, scale: hold-out, weights: [1, 2]}"
    entries = checked(f"methods: [{FUSED}, {plain}, {other}]\n").variants["base"].entries
    assert [entry.label for entry in entries] == ["mnb", "words", "a", "b"]
    one, two = (entry.candidates[0].fused for entry in entries[-2:])
    assert one is not None
    assert two is not None
    assert (one.names, one.weights, one.scale) == (("words", "mnb"), (1.0, 1.0), "out-of-fold")
    assert (two.names, two.weights, two.scale) == (("mnb", "words"), (1.0, 2.0), "hold-out")
    names = [part.name for part in entries[-2].candidates[0].components]
    assert names == ["tfidf", "linear-svm", "tf", "mnb", "tf", "fusion"]


def test_lists_of_methods_to_add_are_candidates_with_choose(
    specs: Callable[[str], dict[str, tuple[MethodSpec, ...]]],
) -> None:
    grid = "{kernel: {name: rbf, sigma: [1, 2]}, classifier: {scheme: one-vs-rest}, name: grid}"
    found = specs(
        f"choose: {{by: oracle}}\nmethods: [mnb, eef, {grid}, {{fuse: [[mnb, eef], [mnb, grid]], name: sum}}]\n"
    )
    names = [spec.fused and spec.fused.names for spec in found["sum"]]
    assert names == [("mnb", "eef"), ("mnb", "grid"), ("mnb", "grid")]


def test_texts_are_those_of_methods_and_of_the_methods_that_are_added(checked: Callable[[str], Experiment]) -> None:
    gzip = "benchmark.classifiers.gzip_neighbours.GzipNeighbours"
    methods = f"{{pipeline: {gzip}, name: zipped}}, {{text: {{digits: token}}, classifier: mnb, name: digits}}"
    variant = checked(f"methods: [mnb, {methods}, {{fuse: [mnb, zipped, digits], name: sum}}]\n").variants["base"]
    assert list(variant.texts.values()) == ["mnb", "digits"]
    assert [text.lexing.digits for text in variant.texts] == ["drop", "token"]
    assert list(variant.read_texts.values()) == ["zipped"]
