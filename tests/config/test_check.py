from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from benchmark.config import BASE, config_from_mapping, expected_documents, load_config
from benchmark.corpora import archive, registry
from benchmark.errors import ConfigError
from benchmark.evaluation.metrics import METRICS

SHIPPED = sorted((Path(__file__).parents[1] / "configs").glob("*.yaml"))

#: A configuration by its top-level keys; a fragment's keys stand instead of these.
SMALL = {
    "name": "name: small\n",
    "corpus": "corpus: {name: synthetic}\n",
    "protocol": "protocol: {name: leave-one-group-out, held_out: [cornell, texas]}\n",
    "cells": "cells:\n  - normalization: l1\n    kernel: [linear, ngd]\n",
}


@pytest.fixture(autouse=True)
def no_corpus_is_touched(monkeypatch):
    def touched(*args, **kwargs):
        pytest.fail("a configuration is checked without its corpus")

    for name in ("find", "locate", "load", "places"):
        monkeypatch.setattr(registry, name, touched)
    monkeypatch.setattr(archive, "read_files", touched)


@pytest.fixture
def write(tmp_path):
    def write(fragment="", *, without=()):
        given = re.findall(r"^(\w+):", fragment, re.MULTILINE)
        kept = [text for key, text in SMALL.items() if key not in (*given, *without)]
        path = tmp_path / "config.yaml"
        path.write_text("".join(kept) + fragment, encoding="utf-8")
        return path

    return write


@pytest.fixture
def load(write):
    return lambda fragment="": load_config(write(fragment))


@pytest.fixture
def refusal(write):
    """The message for a fragment, which must begin with the line that ends in "# HERE"."""

    def refusal(fragment):
        path = write(fragment)
        with pytest.raises(ConfigError) as caught:
            load_config(path)
        lines = path.read_text(encoding="utf-8").splitlines()
        here = [number for number, line in enumerate(lines, 1) if line.endswith("# HERE")]
        assert caught.value.exit_code == 2
        messages = str(caught.value).splitlines()
        assert [message.split(": ")[0] for message in messages] == [f"{path}:{number}" for number in here]
        return "\n".join(message.split(": ", 1)[1] for message in messages)

    return refusal


def ids(experiment):
    return [cell.id for cell in experiment.cells]


class TestShipped:
    @pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
    def test_is_valid_and_named_as_its_file(self, path):
        experiment = load_config(path)
        assert experiment.name == path.stem
        assert experiment.named_cells
        assert len({cell.id for cell in experiment.named_cells}) == len(experiment.named_cells)

    @pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
    def test_is_the_same_out_of_a_manifest(self, path):
        experiment = load_config(path)
        assert config_from_mapping(experiment.raw, "manifest.json") == experiment

    def test_the_ten_cells_of_a_table_have_stable_names(self):
        words = ["tf-l1-linear", "tf-l1-ned", "tf-l1-ngd", "tfidf-l1-linear", "tfidf-l1-ned", "tfidf-l1-ngd"]
        words += ["tf-l2-linear", "tf-l2-ned", "tfidf-l2-linear", "tfidf-l2-ned"]
        for name in ("webkb", "20ng", "quickstart"):
            assert ids(load_config(SHIPPED[0].with_name(f"{name}.yaml"))) == words

    def test_the_sizes_of_c_are_in_the_names(self):
        names = ids(load_config(SHIPPED[0].with_name("webkb-c.yaml")))
        assert names[:3] == ["tf-l1-ngd-c0.001", "tf-l1-ngd-c0.01", "tf-l1-ngd-c0.1"]
        assert "tfidf-l1-ngd-c0.001" in names
        assert "tfidf-l2-ned-c1000" in names

    def test_variants_stand_in_front(self):
        names = ids(load_config(SHIPPED[0].with_name("webkb-sweep.yaml")))
        assert names[0] == "digits-dropped-tf-l1-linear"
        assert "ties-reversed-tfidf-l2-ned" in names


class TestCells:
    @pytest.mark.parametrize(
        ("block", "names"),
        [
            ("{normalization: l1, kernel: ngd}", ["tf-l1-ngd"]),
            ("{weighting: tfidf, normalization: l2, kernel: ned}", ["tfidf-l2-ned"]),
            (
                "{weighting: [tf, tfidf], normalization: [l1, l2], kernel: linear}",
                ["tf-l1-linear", "tf-l2-linear", "tfidf-l1-linear", "tfidf-l2-linear"],
            ),
            (
                "{normalization: none, kernel: {name: rbf, sigma: [0.5, 1]}}",
                ["tf-none-rbf-sigma0.5", "tf-none-rbf-sigma1"],
            ),
            (
                "{normalization: l1, kernel: [linear, {name: cpd-power, base: [ned, ngd], beta: [0.5, 0.7]}]}",
                [
                    "tf-l1-linear",
                    "tf-l1-cpd-power-ned-beta0.5",
                    "tf-l1-cpd-power-ned-beta0.7",
                    "tf-l1-cpd-power-ngd-beta0.5",
                    "tf-l1-cpd-power-ngd-beta0.7",
                ],
            ),
            (
                "{normalization: l1, kernel: ngd, classifier: {C: [0.1, 10]}}",
                ["tf-l1-ngd-c0.1", "tf-l1-ngd-c10"],
            ),
            (
                "{normalization: l1, kernel: ngd, classifier: [{}, {scheme: one-vs-rest}]}",
                ["tf-l1-ngd", "tf-l1-ngd-one-vs-rest"],
            ),
            (
                "{normalization: l1, kernel: ngd, classifier: {C: [1, 2], scheme: [one-vs-one, one-vs-rest]}}",
                [
                    "tf-l1-ngd-c1-one-vs-one",
                    "tf-l1-ngd-c1-one-vs-rest",
                    "tf-l1-ngd-c2-one-vs-one",
                    "tf-l1-ngd-c2-one-vs-rest",
                ],
            ),
            ("{normalization: l1, kernel: ngd, classifier: svm}", ["tf-l1-ngd"]),
            ("{normalization: l1, kernel: ngd, classifier: {name: svm, C: 3}}", ["tf-l1-ngd-c3"]),
        ],
    )
    def test_lists_multiply_and_parameters_are_words(self, load, block, names):
        assert ids(load(f"cells: [{block}]\n")) == names

    def test_blocks_follow_each_other(self, load):
        blocks = "cells:\n  - {normalization: l2, kernel: ned}\n  - {normalization: l1, kernel: ngd}\n"
        assert ids(load(blocks)) == ["tf-l2-ned", "tf-l1-ngd"]

    def test_a_cell_is_what_its_words_say(self, load):
        block = "{weighting: tfidf, normalization: l1, kernel: {name: diffusion, t: 0.1}, classifier: {C: 10}}"
        cell = load(f"classifier: {{name: svm, scheme: one-vs-rest}}\ncells: [{block}]\n").cells[0]
        assert (cell.variant, cell.weighting, cell.normalization) == (BASE, "tfidf", "l1")
        assert cell.kernel.resolved == {"name": "diffusion", "t": 0.1}
        svm = cell.classifier.resolved
        assert (svm["name"], svm["C"], svm["scheme"]) == ("svm", 10, "one-vs-rest")

    def test_variants_multiply_too(self, load):
        experiment = load(
            "variants: {idf-training: {idf: training}}\n"
            "cells: [{variant: [base, idf-training], normalization: l1, kernel: ngd}]\n"
        )
        assert ids(experiment) == ["tf-l1-ngd", "idf-training-tf-l1-ngd"]
        assert [cell.variant for cell in experiment.cells] == ["base", "idf-training"]

    def test_a_cell_is_found_by_its_name(self, load):
        experiment = load()
        assert experiment.cell("tf-l1-ngd").kernel.name == "ngd"
        with pytest.raises(ConfigError, match="unknown cell 'tf-l1-nge'; did you mean 'tf-l1-ngd'"):
            experiment.cell("tf-l1-nge")


class TestVariants:
    def test_the_base_is_the_configuration_itself(self, load):
        base = load("text: {digits: token, min_documents: 3}\nidf: training\n").variants[BASE]
        assert (base.lexing.digits, base.lexing.stoplist, base.pruning.min_documents) == ("token", "smart", 3)
        assert (base.idf, base.exclude) == ("training", ())
        assert base.classes == registry.card("synthetic").classes

    def test_a_variant_changes_what_it_names(self, load):
        experiment = load(
            "corpus: {name: synthetic, classes: [student, course, faculty], exclude: [a/b/c]}\n"
            "text: {digits: token, skip_html: true}\n"
            "variants:\n"
            "  html: {text: {skip_html: false}}\n"
            "  order: {corpus: {classes: [faculty, course, student]}}\n"
            "  whole: {corpus: {exclude: []}, idf: training}\n"
        )
        base, html, order, whole = experiment.variants.values()
        assert (html.lexing.skip_html, html.lexing.digits, html.classes) == (False, "token", base.classes)
        assert order.classes == ("faculty", "course", "student")
        assert (order.lexing, order.exclude, order.idf) == (base.lexing, ("a/b/c",), "collection")
        assert (whole.exclude, whole.idf, whole.classes) == ((), "training", base.classes)

    def test_documents_are_expected_by_the_card(self, load):
        variant = load("corpus: {name: webkb, classes: [student, faculty, course, project]}\n").variants[BASE]
        documents = expected_documents(variant)
        assert len(documents) == 4199
        assert np.bincount(documents.labels).tolist() == [1641, 1124, 930, 504]


class TestDefaults:
    def test_little_needs_to_be_said(self, load):
        experiment = load()
        assert (experiment.name, experiment.title, experiment.seed) == ("small", "small", 0)
        assert experiment.metrics == tuple(METRICS)
        assert (experiment.paper, experiment.explains, experiment.compare, experiment.notes) == (None, None, (), ())
        assert (experiment.expected_documents, experiment.expected_vocabulary) == (None, None)
        assert experiment.cells[0].classifier.resolved["C"] == 1.0

    def test_all_can_be_said(self, load):
        experiment = load(
            "title: A title\nseed: 7\nmetrics: [macro-f1]\nnotes: [one]\nexpect: {documents: 600, vocabulary: 9}\n"
            "compare: [[tf-l1-ngd, tf-l1-linear]]\n"
        )
        assert (experiment.title, experiment.seed, experiment.metrics) == ("A title", 7, ("macro-f1",))
        assert (experiment.expected_documents, experiment.expected_vocabulary) == (600, 9)
        assert (experiment.compare, experiment.notes) == ((("tf-l1-ngd", "tf-l1-linear"),), ("one",))


SECTIONS = {
    "": "name, kind, title, paper, explains, seed, notes, corpus, text, idf, variants, protocol",
    "corpus": "(allowed: name, subset, classes, exclude)",
    "text": "(allowed: skip_header, skip_html, digits, stoplist, min_occurrences, min_documents, counted_in)",
    "expect": "(allowed: documents, vocabulary)",
    "cells": "(allowed: variant, weighting, normalization, kernel, classifier)",
    "variant": "(allowed: corpus, text, idf)",
    "variant's corpus": "(allowed: classes, exclude)",
}


@pytest.mark.parametrize(
    ("fragment", "said", "allowed"),
    [
        ("titel: x # HERE\n", "unknown key 'titel'; did you mean 'title'?", SECTIONS[""]),
        ("corpus:\n  name: synthetic\n  clases: [a] # HERE\n", "'clases'; did you mean 'classes'?", SECTIONS["corpus"]),
        ("text:\n  digits: drop\n  skip_heder: true # HERE\n", "did you mean 'skip_header'?", SECTIONS["text"]),
        ("expect:\n  document: 3 # HERE\n", "did you mean 'documents'?", SECTIONS["expect"]),
        (
            "cells:\n  - {normalization: l1, kernel: ngd}\n  - {kernel: ned, normalization: l2, kernell: x} # HERE\n",
            "did you mean 'kernel'?",
            SECTIONS["cells"],
        ),
        ("variants:\n  a:\n    idff: training # HERE\n", "did you mean 'idf'?", SECTIONS["variant"]),
        ("variants:\n  a: {idf: training}\n  b:\n    txt: {} # HERE\n", "'text'?", SECTIONS["variant"]),
        (
            "variants:\n  a:\n    corpus:\n      exlude: [] # HERE\n",
            "did you mean 'exclude'?",
            SECTIONS["variant's corpus"],
        ),
        ("variants:\n  a:\n    text:\n      digit: drop # HERE\n", "did you mean 'digits'?", SECTIONS["text"]),
        (
            "protocol:\n  name: k-fold\n  k: 5\n  sed: 1 # HERE\n",
            "did you mean 'seed'?",
            "(allowed: k, seed, stratified)",
        ),
        ("classifier:\n  name: svm\n  c: 1 # HERE\n", "of the classifier 'svm': 'c'", "(allowed: C, epsilon, scheme"),
        (
            "cells:\n  - normalization: l1\n    kernel:\n      name: rbf\n      sigmo: 1 # HERE\n",
            "of the kernel 'rbf': 'sigmo'; did you mean 'sigma'?",
            "(allowed: sigma)",
        ),
        (
            "cells:\n  - normalization: l1\n    kernel: ngd\n    classifier:\n      shceme: one-vs-one # HERE\n",
            "did you mean 'scheme'?",
            "scheme, cache_mb)",
        ),
        ("1: 2 # HERE\n", "the key 1 must be text: put it in quotes", ""),
    ],
)
def test_an_unknown_key(refusal, fragment, said, allowed):
    message = refusal(fragment)
    assert said in message
    assert allowed in message


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("name: 7 # HERE\n", "name is 7: must be text: put it in quotes"),
        (
            "name: a/b # HERE\n",
            "name is 'a/b': must begin with a letter or digit, and go on with these, '.', '_' or '-'",
        ),
        ("name: .. # HERE\n", "must begin with a letter or digit"),
        (
            "corpus: synthetic # HERE\n",
            "corpus is 'synthetic': must be a mapping of keys to values, such as name, subset, classes",
        ),
        ("corpus: # HERE\n", "corpus is empty: must be a mapping"),
        ("corpus:\n  name: synthetic\n  classes: student # HERE\n", "corpus.classes is 'student': must be a list"),
        ("corpus:\n  name: synthetic\n  classes:\n    - student\n    - 7 # HERE\n", "must be text: put it in quotes"),
        ("text:\n  skip_html: 1 # HERE\n", "text.skip_html is 1: must be true or false"),
        ("text:\n  stoplist: no # HERE\n", "text.stoplist is False: must be text; YAML reads yes, no, on and off as"),
        ("text:\n  min_documents: '2' # HERE\n", "text.min_documents is '2': must be a whole number"),
        ("text:\n  min_documents: 2.5 # HERE\n", "must be a whole number"),
        ("text:\n  min_documents: true # HERE\n", "must be a whole number"),
        ("variants: [a] # HERE\n", "variants is ['a']: must be a mapping"),
        ("variants:\n  a: # HERE\n", "variants.a is empty: must be a mapping of keys to values, such as corpus, text"),
        ("seed: -1 # HERE\n", "seed is -1: input should be greater than or equal to 0"),
        ("seed: 1e3 # HERE\n", "seed is '1e3': must be a whole number; YAML reads it as text"),
        ("cells: {} # HERE\n", "cells is {}: must be a list"),
        ("cells: [] # HERE\n", "cells is []: must not be empty"),
        (
            "cells:\n  - ngd # HERE\n",
            "cells.0 is 'ngd': must be a mapping of keys to values, such as variant, weighting",
        ),
        ("cells:\n  - kernel: ngd # HERE\n", "the key 'normalization' is missing"),
        ("cells:\n  - normalization: l1\n    kernel: [] # HERE\n", "cells.0.kernel is []: must not be empty"),
        ("cells:\n  - normalization: l1\n    kernel: 5 # HERE\n", "a kernel is a name, or a mapping with a name"),
        ("cells:\n  - normalization: l1\n    kernel: {sigma: 1} # HERE\n", "a kernel is a name, or a mapping with a"),
        (
            "cells:\n  - normalization: l1\n    kernel:\n      name: rbf\n      sigma: [] # HERE\n",
            "sigma must not be an empty list: it would leave no cell",
        ),
        (
            "cells:\n  - normalization: l1\n    kernel: ngd\n    classifier: 3 # HERE\n",
            "a classifier is a name, or a mapping",
        ),
        ("metrics: [] # HERE\n", "metrics is []: must not be empty"),
        ("protocol: # HERE\n", "a protocol is a name, or a mapping with a name and parameters, not None"),
        ("protocol:\n  name: [k-fold] # HERE\n  k: 2\n", "unknown protocol ['k-fold']; did you mean 'k-fold'?"),
        ("protocol:\n  name: k-fold\n  k: '5' # HERE\n", "k is '5': must be a whole number"),
        ("protocol:\n  name: leave-one-group-out\n  held_out: texas # HERE\n", "held_out is 'texas': must be a list"),
        ("classifier: [svm] # HERE\n", "a classifier is a name, or a mapping"),
        ("classifier:\n  name: svm\n  C: 1e-3 # HERE\n", "C is '1e-3': must be a number; YAML reads it as text"),
        ("classifier:\n  name: svm\n  C: one # HERE\n", "C is 'one': must be a number"),
        ("classifier:\n  name: svm\n  C: true # HERE\n", "C is True: must be a number"),
    ],
)
def test_a_wrong_type(refusal, fragment, said):
    message = refusal(fragment)
    assert said in message
    assert "instance of" not in message


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        (
            "corpus:\n  name: synthetc # HERE\n",
            "unknown corpus 'synthetc'; did you mean 'synthetic'? (allowed: webkb, 20ng,",
        ),
        (
            "corpus:\n  name: synthetic\n  classes:\n    - student\n    - facluty # HERE\n",
            "unknown class of synthetic: 'facluty'; did you mean 'faculty'? (allowed: course, faculty, project",
        ),
        ("text:\n  digits: token\n  stoplist: smrt # HERE\n", "'smrt'; did you mean 'smart'? (allowed: smart, none)"),
        (
            "text:\n  digits: tokens # HERE\n",
            "did you mean 'token'? (allowed: drop, run-length, token, joined, literal)",
        ),
        (
            "idf: colection # HERE\n",
            "unknown idf source 'colection'; did you mean 'collection'? (allowed: collection, train",
        ),
        (
            "metrics:\n  - accuracy\n  - macro-f2 # HERE\n",
            "unknown metric 'macro-f2'; did you mean 'macro-f1'? (allowed: acc",
        ),
        (
            "protocol:\n  name: k-folds # HERE\n  k: 5\n",
            "unknown protocol 'k-folds'; did you mean 'k-fold'? (allowed: leave",
        ),
        (
            "protocol:\n  name: leave-one-group-out\n  held_out:\n    - texas\n    - cornel # HERE\n    - washington\n",
            "no group 'cornel'; did you mean 'cornell'? (groups: cornell, misc, texas, washington, wisconsin)",
        ),
        (
            "protocol:\n  name: leave-one-group-out\n  held_out:\n    - cornel # HERE\n    - cornell\n",
            "no group 'cornel'; did you mean 'cornell'?",
        ),
        (
            "protocol:\n  name: leave-one-group-out\n  held_out:\n    - cornell\n    - cornel # HERE\n",
            "no group 'cornel'; did you mean 'cornell'?",
        ),
        (
            "protocol:\n  name: fixed-split\n  train: misc\n  test: texsa # HERE\n",
            "test: no group 'texsa'; did you mean 'texas'?",
        ),
        ("classifier: svn # HERE\n", "unknown classifier 'svn'; did you mean 'svm'? (allowed: svm)"),
        ("classifier:\n  name: svm\n  scheme: one-vs-all # HERE\n", "scheme must be one of one-vs-one, one-vs-rest"),
        (
            "cells:\n  - normalization: l1\n    kernel:\n      - linear\n      - ngb # HERE\n",
            "unknown kernel 'ngb'; did you mean 'ngd'? (allowed: linear, polynomial, rbf",
        ),
        (
            "cells:\n  - normalization: l1\n    kernel:\n      - linear\n      - name: rbf\n        sigm: 1 # HERE\n",
            "unknown parameter of the kernel 'rbf': 'sigm'; did you mean 'sigma'?",
        ),
        (
            "cells:\n  - kernel: ngd\n    normalization: L1 # HERE\n",
            "unknown normalization 'L1'; did you mean 'l1'? (allowed: none",
        ),
        (
            "cells:\n  - kernel: ned\n    normalization:\n      - l1\n      - l3 # HERE\n",
            "unknown normalization 'l3'; did you mean",
        ),
        (
            "cells:\n  - kernel: ngd\n    normalization: l1\n    weighting: [tf,\n      tf-idf] # HERE\n",
            "unknown weighting 'tf-idf'; did you mean 'tfidf'? (allowed: tf, tfidf)",
        ),
        (
            "variants: {html: {}}\ncells:\n  - variant: htm # HERE\n    kernel: ngd\n    normalization: l1\n",
            "unknown variant 'htm'; did you mean 'html'? (allowed: base, html)",
        ),
        (
            "compare:\n  - - tf-l1-ngd\n    - tf-l1-liner # HERE\n",
            "unknown cell 'tf-l1-liner'; did you mean 'tf-l1-linear'?",
        ),
        (
            "variants:\n  a:\n    text:\n      digits: tokn # HERE\n",
            "unknown digits rule 'tokn'; did you mean 'token'?",
        ),
        ("variants:\n  a:\n    idf: test # HERE\n", "unknown idf source 'test'"),
        (
            "corpus:\n  name: reuters\n  subset: body-and-single-topics # HERE\n",
            "unknown subset of reuters: 'body-and-single-topics'; did you mean 'body-and-single-topic'? (allowed: all,",
        ),
        ("corpus:\n  name: synthetic\n  subset: brief # HERE\n", "unknown subset of synthetic: 'brief' (allowed: all)"),
        (
            "text:\n  min_documents: 3\n  counted_in: texsa # HERE\n",
            "unknown group 'texsa'; did you mean 'texas'? (allowed: cornell, misc, texas, washington, wisconsin)",
        ),
        (
            "variants:\n  a:\n    text:\n      counted_in: train # HERE\n",
            "unknown group 'train' (allowed: cornell, misc, texas, washington, wisconsin)",
        ),
        (
            "variants:\n  a:\n    corpus:\n      classes:\n        - student\n        - cours # HERE\n",
            "unknown class of synthetic: 'cours'; did you mean 'course'?",
        ),
    ],
)
def test_an_unknown_name(refusal, fragment, said):
    assert said in refusal(fragment)


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        (
            "cells:\n  - kernel: ngd\n    normalization: l2 # HERE\n",
            "the kernel 'ngd' needs the normalization l1, not 'l2'",
        ),
        (
            "cells:\n  - kernel: [linear, ngd]\n    normalization:\n      - l1\n      - l2 # HERE\n",
            "the kernel 'ngd' needs the normalization l1, not 'l2': it is defined on the simplex",
        ),
        (
            "cells:\n  - kernel: {name: cpd-power, base: [ned, ngd]}\n    normalization: none # HERE\n",
            "the kernel 'cpd-power' needs the normalization l1, not 'none'",
        ),
        ("classifier:\n  name: svm\n  C: 0 # HERE\n", "C must be a positive number, not 0"),
        ("classifier:\n  name: svm\n  C: -1.5 # HERE\n", "C must be a positive number, not -1.5"),
        ("classifier:\n  name: svm\n  C: .inf # HERE\n", "C is inf: must be a finite number"),
        (
            "cells:\n  - kernel: ngd\n    normalization: l1\n    classifier:\n      C: [1, 0] # HERE\n",
            "C must be a positive number, not 0",
        ),
        (
            "cells:\n  - kernel:\n      name: rbf\n      sigma: 0 # HERE\n    normalization: l1\n",
            "sigma must be positive",
        ),
        ("text:\n  min_documents: 0 # HERE\n", "min_documents is 0; it must be at least 1, which prunes nothing"),
        (
            "variants:\n  a:\n    text:\n      min_occurrences: -2 # HERE\n",
            "min_occurrences is -2; it must be at least 1",
        ),
        ("protocol:\n  name: k-fold\n  k: 1 # HERE\n", "k = 1 is too small: it must be at least 2"),
        ("protocol:\n  name: k-fold\n  k: 601 # HERE\n", "k = 601 folds cannot be made of 600 documents"),
        ("protocol: k-fold # HERE\n", "the protocol 'k-fold' needs the parameter 'k'"),
        (
            "protocol:\n  name: random-subsets\n  replicates: 2\n  train_size: 3 # HERE\n",
            "train_size = 3 leaves no training document for class",
        ),
        ("protocol: # HERE\n  name: fixed-split\n  test: train\n", "trains and tests on the same group 'train'"),
        (
            "protocol:\n  name: leave-one-group-out\n  held_out: # HERE\n    - texas\n    - texas\n",
            "held_out names 'texas' more than once",
        ),
        ("corpus:\n  name: synthetic\n  classes: [student] # HERE\n", "classes must be two or more different ones"),
        ("corpus:\n  name: synthetic\n  classes: [] # HERE\n", "classes must be two or more different ones"),
        (
            "corpus:\n  name: synthetic\n  classes: [student, student] # HERE\n",
            "classes must be two or more different ones",
        ),
        (
            "variants:\n  a:\n    corpus:\n      classes: [student] # HERE\n",
            "classes must be two or more different ones",
        ),
        ("variants:\n  base: {idf: training} # HERE\n", "'base' is the configuration itself"),
        (
            "variants:\n  No Html: {idf: training} # HERE\n",
            "'No Html': a variant's name is made of a-z, 0-9, '.' and '-'",
        ),
        ("metrics:\n  - accuracy\n  - accuracy # HERE\n", "the metric 'accuracy' is listed twice"),
        ("compare:\n  - [tf-l1-ngd, tf-l1-ngd] # HERE\n", "a comparison names two different cells, not"),
        ("compare:\n  - [tf-l1-ngd] # HERE\n", "a comparison names two different cells, not ['tf-l1-ngd']"),
        (
            "compare:\n  - [tf-l1-ngd, tf-l1-linear]\n  - [tf-l1-linear, tf-l1-ngd] # HERE\n",
            "'tf-l1-linear' and 'tf-l1-ngd' are compared twice",
        ),
        (
            "cells:\n  - {kernel: ngd, normalization: l1}\n  - {kernel: [linear, ngd], normalization: l1} # HERE\n",
            "the cell 'tf-l1-ngd' stands in the configuration twice",
        ),
        ("cells:\n  - {kernel: [ngd, ngd], normalization: l1} # HERE\n", "the cell 'tf-l1-ngd' stands in the"),
    ],
)
def test_what_cannot_be(refusal, fragment, said):
    assert said in refusal(fragment)


class TestSeveralClasses:
    """Reuters-21578, whose stories have any number of topics; a part of it has one each."""

    SINGLE = "have several classes or none; name a subset with one each: body-and-single-topic"
    SPLIT = "protocol: {name: fixed-split, train: train, test: test}\n"
    CURVES = "kind: learning-curves\ntasks: [[earn, acq]]\nsizes: [40]\nreplicates: 2\nkernels: [linear]\n"

    @pytest.mark.parametrize(
        ("corpus", "part"), [("{name: reuters}", "all"), ("{name: reuters, subset: without-brief}", "without-brief")]
    )
    def test_a_table_needs_one_class_a_document(self, refusal, corpus, part):
        said = refusal(f"corpus: {corpus} # HERE\n{self.SPLIT}")
        assert said == f"documents of reuters ({part}) {self.SINGLE}"

    def test_so_do_learning_curves(self, write):
        path = write(f"{self.CURVES}corpus: {{name: reuters}}\n", without=("protocol", "cells"))
        line = path.read_text().splitlines().index("corpus: {name: reuters}") + 1
        with pytest.raises(ConfigError) as caught:
            load_config(path)
        assert str(caught.value) == f"{path}:{line}: documents of reuters (all) {self.SINGLE}"

    def test_the_subset_that_is_named_will_do(self, load, write):
        corpus = "corpus: {name: reuters, subset: body-and-single-topic, classes: [earn, acq]}\n"
        variant = load(f"{corpus}{self.SPLIT}text: {{counted_in: train}}\n").variants[BASE]
        assert (variant.subset, variant.classes, variant.pruning.group) == (
            "body-and-single-topic",
            ("earn", "acq"),
            "train",
        )
        curves = load_config(write(self.CURVES + corpus, without=("protocol", "cells")))
        assert curves.variants[BASE].subset == "body-and-single-topic"


def test_a_variant_without_training_documents_is_named(refusal):
    fragment = (
        "corpus: {name: webkb, classes: [student, course]}\n"
        "protocol: {name: random-subsets, train_size: 5, replicates: 1} # HERE\n"
        "variants: {rare: {corpus: {classes: [student, staff]}}}\n"
    )
    assert refusal(fragment) == "variant 'rare': train_size = 5 leaves no training document for class 'staff'"


@pytest.mark.parametrize("key", SMALL)
def test_a_missing_key(write, key):
    path = write(without=[key])
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value) == f"{path}:1: the key {key!r} is missing"


def test_all_wrong_words_of_the_schema_are_told_at_once(refusal):
    message = refusal("titel: x # HERE\nseed: one # HERE\ntext:\n  digit: drop # HERE\n")
    assert len(message.splitlines()) == 3


def test_a_configuration_out_of_a_manifest_is_refused_by_name():
    raw = yaml.safe_load("".join(SMALL.values()))
    assert config_from_mapping(raw, "run/manifest.json").name == "small"
    with pytest.raises(ConfigError, match=r"^run/manifest\.json: unknown corpus 'synth'"):
        config_from_mapping({**raw, "corpus": {"name": "synth"}}, "run/manifest.json")


def test_expectations_of_a_variant_that_no_cell_uses_are_refused():
    raw = {
        "name": "unused",
        "corpus": {"name": "synthetic"},
        "variants": {"other": {"idf": "training"}},
        "protocol": {"name": "k-fold", "k": 2},
        "cells": [{"variant": "other", "normalization": "l1", "kernel": "ngd"}],
    }
    config_from_mapping(raw, "unused.yaml")
    with pytest.raises(ConfigError, match="expect is of the variant 'base', and no cell uses it"):
        config_from_mapping({**raw, "expect": {"documents": 600}}, "unused.yaml")
