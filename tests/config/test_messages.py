"""Refusals word for word: what is wrong, where, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.thresholds import THRESHOLDS
from benchmark.config.components import check_component
from benchmark.config.method_rules import check_method
from benchmark.config.model import FUSION_SCALES, MethodSpec
from benchmark.config.other_methods import uncounted_points
from benchmark.kernels import KERNELS
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment

DRAWS = "protocol: {name: random-subsets, train_size: [20, 40], replicates: 2}\n"
SEVERAL = "corpus: {name: synthetic, subset: several}\n"


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        (
            "figures:\n  - {name: a} # HERE\n",
            "there is no x axis: the protocol has one training size, and no terms are selected",
        ),
        ("gain: true # HERE\n", "a gain needs a smallest and a largest training size: list two or more"),
        (
            "variants:\n  base: {text: {}} # HERE\n",
            "'base' is the configuration itself, not a variant of it",
        ),
        (
            ("methods: mnb\ntasks: [{title: a, largest: 2}, {title: x a, largest: 2}]\n"
            "variants: # HERE\n  x: {text: {digits: token}}\n"),
            "two cells would have the id 'x-a-mnb': rename a variant or a task",
        ),
        (
            "methods:\n  - {fields: {all: 0}, kernel: ngd} # HERE\n",
            "the weight of 'all' is 0: must be a number from 1e-09 to 1e+09; a block that isn't named is left out",
        ),
        (
            "methods:\n  - pipeline: a.B\n    kernel: ngd # HERE\n",
            "a pipeline has no kernel: it reads texts, and makes points by itself",
        ),
        (
            "methods:\n  - {name: ngd} # HERE\n",
            "`name` only names this method's cells; 'ngd' is a kernel: write {kernel: ngd} or {kernel: {name: ngd, …}}",
        ),
        (
            "methods:\n  - {fields: {title: 1}, kernel: ngd} # HERE\n",
            "unknown block of terms of `fields`: 'title' (allowed: all); `text` defines the blocks",
        ),
        (
            "methods:\n  - {weighting: tf-rf, idf: collection, kernel: ngd} # HERE\n",
            ("the weighting 'tf-rf' learns from labels: it would learn from those of test documents, "
                "with idf: collection"),
        ),
        (
            "tasks:\n  - {title: None} # HERE\n",
            "a task has either `largest`, a number of classes, or `classes`, their names",
        ),
        (
            "terms: {number: 9} # HERE\nmethods: [{classifier: {name: eef, n_terms: 5}}]\n",
            "`terms` sets how many terms are selected: remove n_terms from 'eef'",
        ),
        (
            "run_base: false\nvariants: {a: {}}\nexpect: {documents: 600} # HERE\n",
            "`expect` describes the configuration itself, which run_base: false doesn't run",
        ),
        (
            "choose: {by: oracle} # HERE\n",
            "nothing to choose: no kernel or classifier lists a parameter, and no key of `grid_keys` has a list",
        ),
        (
            "methods:\n  - {kernel: ngd, classifier: mnb} # HERE\n",
            "the classifier 'mnb' takes no kernel; 'svm' does: leave out `kernel`, or name that classifier",
        ),
        (
            "methods:\n  - {kernel: ngd, dirichlet: 1, weighting: tfidf} # HERE\n",
            "a Dirichlet prior on documents needs counts (tf or binary) with the normalization l1",
        ),
        (
            "methods:\n  - {fields: {all: 1}, dirichlet: 1, kernel: ngd} # HERE\n",
            "a Dirichlet prior can't be combined with fields: it is on the counts of one multinomial",
        ),
        (
            ("compare:\n  - [ngd, linear-x] # HERE\nmethods: [ngd, {kernel: linear, name: linear-x}]\n"
            "variants: {v: {}}\n"),
            None,
        ),
        (
            f"{DRAWS}compare:\n  - [ngd, linear-20] # HERE\n",
            "a comparison names two methods or two cells, not one of each: ['ngd', 'linear-20']",
        ),
        (
            f"{SEVERAL}methods:\n  - {{kernel: hp-top, classifier: {{ridge: 1}}}} # HERE\n",
            "the kernel 'hp-top' differs from class to class: it has no ridge",
        ),
    ],
)  # fmt: skip
def test_a_refusal_says_all_of_it(
    refusal: Callable[[str], str], checked: Callable[[str], Experiment], fragment: str, said: str | None
) -> None:
    if said is None:
        assert checked(fragment.replace(" # HERE", "")).compare
    else:
        assert refusal(fragment) == said


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        (
            "fixed-split",
            ("the documents have no parts such as train and test: name their column under `corpus`, as in split: side, "
            "or a file for each, as in path: {train: a.csv, test: b.csv}, or take another protocol, such as k-fold"),
        ),
        (
            "leave-one-group-out",
            ("the documents have no groups to leave out: name their column under `corpus`, as in group: customer, "
            "or take another protocol, such as k-fold"),
        ),
    ],
)  # fmt: skip
def test_documents_without_parts_or_groups_are_told_where_these_are_named(
    written: Callable[..., Path], read: Callable[[Path], Experiment], protocol: str, said: str
) -> None:
    path = written(f"corpus: {{name: files, path: t.csv}}\nprotocol: {protocol}\n")
    (path.parent / "t.csv").write_text("text,label\n" + "".join(f"a,{'xy'[n % 2]}\n" for n in range(8)))
    with pytest.raises(ConfigError) as refused:
        read(path)
    line = path.read_text().splitlines().index(f"protocol: {protocol}") + 1
    assert str(refused.value) == f"{path}:{line}: {said}"


def test_what_was_made_elsewhere_is_no_part_of_a_sum(
    refusal: Callable[[str], str], written: Callable[..., Path]
) -> None:
    for name in ("p.csv", "v.parquet"):
        (written().parent / name).write_text("id,label\n")
    for given in ("{predictions: p.csv, name: given}", "{vectors: v.parquet, classifier: logistic, name: given}"):
        assert refusal(f"methods:\n  - mnb\n  - {given}\n  - fuse: [mnb, given] # HERE\n    name: both\n") == (
            "'given' was made elsewhere: a fusion trains its methods again, on folds of the training documents"
        )


def test_scales_of_a_sum_are_explained() -> None:
    assert FUSION_SCALES == {
        "out-of-fold": "on all training documents, each scored by a method trained without its fold, of five",
        "hold-out": "on the first of the five folds alone, so that a method is trained once more, not five times",
    }


def test_parts_that_form_no_method_are_named() -> None:
    svm, mnb = (check_component("classifier", CLASSIFIERS, name) for name in ("svm", "mnb"))
    linear, ngd, top = (check_component("kernel", KERNELS, name) for name in ("linear", "ngd", "hp-top"))
    plain, l1 = uncounted_points("none"), uncounted_points("l1")
    rule = check_component("threshold", THRESHOLDS, "at-least-one")
    scaled = check_component("classifier", CLASSIFIERS, {"name": "svm", "scale_C": "mean-self-product"})
    for spec, said in (
        (MethodSpec(plain, None, svm), "the classifier 'svm' needs a kernel"),
        (MethodSpec(plain, linear, mnb), "the classifier 'mnb' takes points, not the kernel 'linear'"),
        (MethodSpec(plain, ngd, svm), "the kernel 'ngd' is defined for the normalization l1, not none"),
        (
            MethodSpec(replace(plain, dirichlet=1.0), linear, svm),
            "a Dirichlet prior on documents needs counts (tf or binary) with the normalization l1",
        ),
        (
            MethodSpec(replace(plain, dirichlet=1.0), None, mnb),
            "only kernels that are functions of inner products have a Dirichlet prior on documents",
        ),
        (MethodSpec(l1, top, svm, threshold=rule),
         "the kernel 'hp-top' is not a function of inner products: it has no threshold"),
        (MethodSpec(l1, top, scaled), "C can't be scaled by the mean of k(x, x) of the kernel 'hp-top'"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=re.escape(said)) as refused:
            check_method(spec)
        assert str(refused.value) == said
    for good in (
        MethodSpec(l1, linear, scaled),
        MethodSpec(l1, ngd, svm, threshold=rule),
        MethodSpec(plain, None, mnb),
        MethodSpec(l1, top, svm),
        MethodSpec(replace(l1, dirichlet=1.0), ngd, svm),
    ):
        check_method(good)
