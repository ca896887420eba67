"""`methods` and `defaults`: what each method is called, its parameters, its files, and the methods that it adds."""

from __future__ import annotations

import hashlib
from functools import reduce

import pytest

from benchmark.config.model import BASE_VARIANT

GRID = "{kernel: {name: diffusion, t: [0.5, 1]}}"
HELLINGER = "defaults: {features: hellinger, classifier: linear-svm}\n"
SEVERAL = "corpus: {name: synthetic, subset: several}\n"
GZIP = "benchmark.classifiers.gzip_neighbours.GzipNeighbours"


@pytest.mark.parametrize(
    ("methods", "names"),
    [
        ("ngd", "ngd"),
        ("{kernel: [ned, ngd]}", "ned ngd"),
        ("{classifier: mnb}", "mnb"),
        ("{weighting: tfidf, idf: training, kernel: linear}", "tfidf-idf-training-linear"),
        ("{dirichlet: 0.5, weighting: tf, kernel: ngd}", "tf-dirichlet0.5-ngd"),
        ("{weighting: [tf, tfidf], normalization: [l1, l2], kernel: ned}",
         "tf-l1-ned tf-l2-ned tfidf-l1-ned tfidf-l2-ned"),
        ("{normalization: none, kernel: {name: rbf, sigma: [0.5, 1]}}", "none-rbf-sigma0.5 none-rbf-sigma1"),
        ("{kernel: [ned, {name: hyperbolic, geometry: [fisher], t: [0.5, 2]}]}",
         "ned hyperbolic-fisher-t0.5 hyperbolic-fisher-t2"),
        ("{kernel: ngd, classifier: [{}, {scheme: one-vs-rest}]}", "ngd ngd-one-vs-rest"),
        ("{kernel: ngd, classifier: {C: [1, 2], scheme: [one-vs-one, one-vs-rest]}}",
         "ngd-c1-one-vs-one ngd-c1-one-vs-rest ngd-c2-one-vs-one ngd-c2-one-vs-rest"),
        ("{name: the-papers, kernel: ngd, classifier: {name: svm, C: 3}}", "the-papers"),
        ("{classifier: {name: divergence-bayes, centroid: [mean, skl]}}", "divergence-bayes-mean divergence-bayes-skl"),
        ("{kernel: {name: plsi-fisher, n_classes: [2, 3]}}", "plsi-fisher"),
        ("{kernel: {name: plsi-fisher, n_classes: [[2, 3], [4]]}}", "plsi-fisher-n_classes2-3 plsi-fisher-n_classes4"),
        ("{features: [hellinger, arcsine], classifier: linear-svm}", "hellinger-linear-svm arcsine-linear-svm"),
        ("{fields: [{all: 1}, {all: 0.5}], kernel: ngd}", "all-ngd allx0.5-ngd"),
        (f"{{kernel: ngd, threshold: [zero, at-least-one]}}\n{SEVERAL}",
         "ngd-threshold-zero ngd-threshold-at-least-one"),
        # Defaults are no words.
        ("[linear, diffusion]\ndefaults: {weighting: tfidf, C: 3, diffusion: {t: 2}}", "linear diffusion"),
        ("{classifier: {centroid: [mean, skl]}}\ndefaults: {classifier: divergence-bayes}", "mean skl"),
        # Settings of a text are, and come first.
        ("{text: {ngrams: [[1], [1, 2]]}, classifier: mnb}", "ngrams1-mnb ngrams1-2-mnb"),
        ("{text: {fields: [all, title]}, classifier: mnb}", "fields-all-title-mnb"),
        ("{text: {characters: [3, 5], within: white-space}, kernel: ngd}", "characters3-5-within-white-space-ngd"),
        ("{text: {skip_header: false, min_documents: 2}, classifier: mnb}\ntext: {skip_header: true}",
         "skip_header-false-min_documents2-mnb"),
        ("{text: {digits: null, min_occurrences: 3}, classifier: mnb}\ntext: {digits: token}",
         "digits-default-min_occurrences3-mnb"),
        ("{text: {stoplist: [none, smart]}, weighting: [tf, tfidf], kernel: ngd}",
         "stoplist-none-tf-ngd stoplist-none-tfidf-ngd stoplist-smart-tf-ngd stoplist-smart-tfidf-ngd"),
        ("{text: [{skip_html: true}, {digits: token}], classifier: mnb}", "skip_html-true-mnb digits-token-mnb"),
        # A name stands instead of them, in words.
        *((f"[{{predictions: a.csv, name: {name!r}}}]", label) for name, label in (
            ("a large model", "a-large-model"), ("GPT 4.1 (2025)!", "gpt-4.1-2025"), ("--a__b--", "a-b"))),
        ("{kernel: ngd, name: My words}", "my-words"),
        # What is chosen from is none.
        (f"[linear, {GRID}]\nchoose: {{by: oracle}}", "linear-oracle diffusion-oracle"),
        ("{kernel: {name: rbf, sigma: [1, 2]}, name: best}\nchoose: {by: oracle}", "best-oracle"),
    ],
)  # fmt: skip
def test_lists_multiply_and_what_the_entry_says_are_its_words(ids, methods, names):
    assert ids(f"methods: {methods}\n") == names.split()


def facts(spec):
    """Settings of a method that its representation, kernel, classifier and threshold have, flat."""
    parts = {"kernel": spec.kernel, "classifier": spec.classifier, "threshold": spec.threshold}
    return spec.representation.resolved | {key: part and part.resolved for key, part in parts.items()}


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [
        # A bare name is that component with its defaults.
        ("methods: linear", {"linear": {"classifier name": "svm", "normalization": "l2", "weighting": "tf"}}),
        ("methods: ngd", {"ngd": {"normalization": "l1", "idf": "collection", "dirichlet": 0}}),
        ("methods: mnb", {"mnb": {"classifier name": "mnb", "kernel": None, "normalization": "none"}}),
        ("methods: plsi-fisher", {"plsi-fisher": {"classifier name": "svm", "normalization": "none"}}),
        ("methods: {kernel: {name: plsi-fisher, n_classes: [2, 3]}}", {"plsi-fisher": {"kernel n_classes": [2, 3]}}),
        # A default goes to the methods that have it.
        ("defaults: {smoothing: 2, C: 5, t: 3}\nmethods: [mnb, eef, linear, diffusion]",
         {"mnb": {"classifier smoothing": 2}, "eef": {"classifier smoothing": 2}, "linear": {"classifier C": 5},
          "diffusion": {"classifier C": 5, "kernel t": 3}}),
        ("defaults: {kernel: {name: rbf, sigma: 2}}\nmethods: [{weighting: tfidf}, linear, mnb]",
         {"tfidf": {"kernel name": "rbf", "kernel sigma": 2}, "linear": {"kernel name": "linear"},
          "mnb": {"kernel": None}}),
        ("defaults: {dirichlet: 0.5}\nmethods: [ngd, linear, mnb, plsi-fisher]",
         {"ngd": {"dirichlet": 0.5}, **{name: {"dirichlet": 0} for name in ("linear", "mnb", "plsi-fisher")}}),
        ("defaults: {weighting: tfidf, normalization: l2}\nmethods: [plsi-fisher, linear]",
         {"plsi-fisher": {"weighting": "tf", "normalization": "none"},
          "linear": {"weighting": "tfidf", "normalization": "l2"}}),
        (f"{HELLINGER}methods: [{{weighting: tf}}, ngd, mnb, divergence-bayes, logistic]",
         {"tf": {"features": "hellinger"}, **{name: {"features": None} for name in ("ngd", "mnb", "divergence-bayes")},
          "logistic": {"features": "hellinger", "normalization": "l1"}}),
        # The entry goes before its name, and that before all; the kernel's name before the classifier's.
        ("defaults: {classifier: {C: 2}}\nmethods: ngd", {"ngd": {"classifier C": 2}}),
        ("defaults: {classifier: {C: 2}, C: 3}\nmethods: ngd", {"ngd": {"classifier C": 3}}),
        ("defaults: {classifier: {C: 2}, C: 3, svm: {C: 4}}\nmethods: ngd", {"ngd": {"classifier C": 4}}),
        ("defaults: {C: 3, svm: {C: 4}}\nmethods: {kernel: ngd, classifier: {C: 5}, name: x}",
         {"x": {"classifier C": 5}}),
        ("defaults: {normalization: none, svm: {normalization: l1}}\nmethods: linear",
         {"linear": {"normalization": "l1"}}),
        ("defaults: {svm: {normalization: l1}, linear: {normalization: none}}\nmethods: linear",
         {"linear": {"normalization": "none"}}),
        ("defaults: {linear: {normalization: none}}\nmethods: {kernel: linear, normalization: l2, name: x}",
         {"x": {"normalization": "l2"}}),
        ((f"{SEVERAL}defaults: {{threshold: cross-validated, mnb: {{threshold: at-least-one}}}}\n"
         "methods: [ngd, mnb, hp-top, {kernel: linear, threshold: zero, name: x}]"),
         {"ngd": {"threshold name": "cross-validated"}, "mnb": {"threshold name": "at-least-one"},
          "hp-top": {"threshold": None}, "x": {"threshold": None}}),
        (f"{SEVERAL}defaults: {{ngd: {{threshold: zero}}, svm: {{threshold: at-least-one}}}}\nmethods: ngd",
         {"ngd": {"threshold": None}}),
        # Vectors are as they are, unless the entry says otherwise.
        ("defaults: {normalization: l1, weighting: tfidf}\nmethods: {vectors: v.parquet, classifier: logistic}",
         {"logistic": {"normalization": "none", "kernel": None, "weighting": "tf"}}),
        ("methods: {vectors: v.parquet, classifier: logistic, normalization: l2}",
         {"l2-logistic": {"normalization": "l2"}}),
        *((f"{SEVERAL}{defaults}methods: {{vectors: v.parquet, classifier: mnb, name: x{more}}}", {"x": expected})
          for defaults, more, expected in (
            ("", "", {"threshold": None}), ("", ", threshold: zero", {"threshold": None}),
            ("", ", threshold: at-least-one", {"threshold name": "at-least-one"}),
            ("defaults: {mnb: {threshold: cross-validated, smoothing: 2}}\n", "",
             {"threshold name": "cross-validated", "classifier smoothing": 2}))),
        # Labels are never those of tested documents.
        *((f"defaults: {{idf: collection}}\nmethods: {{weighting: {name}, kernel: ned, name: x}}", {"x": {"idf": idf}})
          for name, idf in (("tf", "collection"), ("bm25", "collection"), ("tf-rf", "training"))),
    ],
)  # fmt: skip
def test_a_setting_is_that_of_the_entry_or_of_the_defaults_for_it(specs, fragment, expected):
    found = {label: facts(candidates[0]) for label, candidates in specs(f"{fragment}\n").items()}
    assert list(found) == list(expected)
    for label, settings in expected.items():
        for path, value in settings.items():
            assert reduce(lambda data, key: data[key], path.split(), found[label]) == value, (label, path)


@pytest.mark.parametrize(
    ("fragment", "path", "values"),
    [
        (f"methods: {GRID}", "kernel t", [0.5, 1]),
        ("methods: {kernel: {name: rbf, sigma: [1, 2]}, classifier: {C: [1, 3]}}", "classifier C", [1, 3, 1, 3]),
        ("methods: {fields: [{all: 1}, {all: 2}], kernel: ngd}", "fields all", [1, 2]),
        (f"{SEVERAL}methods: {{kernel: ngd, threshold: [cross-validated, at-least-one]}}", "threshold name",
         ["cross-validated", "at-least-one"]),
    ],
)  # fmt: skip
def test_lists_of_parameters_and_of_grid_keys_are_candidates(specs, fragment, path, values):
    (candidates,) = specs(f"choose: {{by: oracle, grid_keys: [fields, threshold]}}\n{fragment}\n").values()
    assert [reduce(lambda data, key: data[key], path.split(), facts(spec)) for spec in candidates] == values


def test_a_methods_text_says_otherwise_what_the_configurations_or_its_variants_says(checked, specs):
    text = "text: {min_documents: 3, stoplist: none}\nvariants: {x: {text: {digits: token}}}\n"
    found = checked(f"{text}methods: [ngd, {{text: {{min_documents: null, skip_html: true}}, kernel: ngd}}]\n")
    for name, digits in ((BASE_VARIANT, "drop"), ("x", "token")):
        variant = found.variants[name]
        plain, own = (entry.candidates[0].text for entry in variant.entries)
        assert plain is None
        assert own.flat == variant.collection.text.flat | {"min_documents": 1, "skip_html": True, "digits": digits}
    chosen = "methods: [{text: {stoplist: [none, smart], digits: token}, kernel: ngd}]\n"
    ((label, candidates),) = specs(f"choose: {{by: cross-validation, grid_keys: [text]}}\n{chosen}").items()
    assert (label, [spec.text.lexing.stoplist for spec in candidates]) == ("digits-token-ngd", ["none", "smart"])


def test_what_learns_nothing_of_labels_is_known_by_its_parameters(specs):
    found = specs("methods: [{weighting: {name: aitchison, concentration: [0, 1]}, kernel: linear}]\n")
    assert [each[0].representation.learns for each in found.values()] == ["documents", "labels"]


@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("{kernel: ngd, threshold: at-least-one, name: x}", ["tf", "at-least-one", "ngd", "svm"]),
        (
            "{weighting: tfidf, features: hellinger, classifier: linear-svm, name: x}",
            ["tfidf", "hellinger", "linear-svm"],
        ),
        (
            f"{{pipeline: {GZIP}, threshold: at-least-one, name: x, text: {{stoplist: none}}}}",
            ["tf", "at-least-one", GZIP],
        ),
    ],
)
def test_the_components_of_a_method_are_all_that_it_names_and_the_classifier_is_the_last(specs, method, names):
    ((spec,),) = specs(f"{SEVERAL}metrics: [macro-f1]\nmethods: [{method}]\n").values()
    assert [part.name for part in spec.components] == names


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        ("v.parquet", [digest(""), "", "id", ""]),
        ("{file: v.parquet, id: key, column: v}", [digest(""), "", "key", "v"]),
        ("{file: a.npy, ids: p.csv}", [digest(""), digest("id,label\n"), "id", ""]),
    ],
)
def test_vectors_have_a_column_of_ids_unless_they_say_another(specs, vectors, expected):
    ((spec,),) = specs(f"methods: [{{vectors: {vectors}, classifier: logistic}}]\n").values()
    assert spec.vectors.resolved == expected


def test_a_fusion_weighs_alike_out_of_folds_unless_it_says_otherwise(checked):
    plain, other = "{fuse: [words, mnb], name: a}", "{fuse: [mnb, words], name: b, scale: hold-out, weights: [1, 2]}"
    words = "{weighting: tfidf, classifier: linear-svm, name: words}"
    entries = checked(f"methods: [mnb, {words}, {plain}, {other}]\n").variants[BASE_VARIANT].entries
    assert [entry.label for entry in entries] == ["mnb", "words", "a", "b"]
    one, two = (entry.candidates[0].fused for entry in entries[-2:])
    assert (one.names, one.weights, one.scale) == (("words", "mnb"), (1.0, 1.0), "out-of-fold")
    assert (two.names, two.weights, two.scale) == (("mnb", "words"), (1.0, 2.0), "hold-out")
    names = [part.name for part in entries[-2].candidates[0].components]
    assert names == ["tfidf", "linear-svm", "tf", "mnb", "tf", "fusion"]


def test_lists_of_methods_to_add_are_candidates_with_choose(specs):
    grid = "{kernel: {name: rbf, sigma: [1, 2]}, classifier: {scheme: one-vs-rest}, name: grid}"
    methods = f"[mnb, eef, {grid}, {{fuse: [[mnb, eef], [mnb, grid]], name: sum}}]"
    found = specs(f"choose: {{by: oracle}}\nmethods: {methods}\n")
    assert [spec.fused.names for spec in found["sum"]] == [("mnb", "eef"), ("mnb", "grid"), ("mnb", "grid")]


def test_texts_are_those_of_methods_and_of_the_methods_that_are_added(checked):
    methods = f"{{pipeline: {GZIP}, name: zipped}}, {{text: {{digits: token}}, classifier: mnb, name: digits}}"
    variant = checked(f"methods: [mnb, {methods}, {{fuse: [mnb, zipped, digits], name: sum}}]\n").variants[BASE_VARIANT]
    assert {text.lexing.digits: label for text, label in variant.texts.items()} == {"drop": "mnb", "token": "digits"}
    assert list(variant.read_texts.values()) == ["zipped"]
