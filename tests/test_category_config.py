"""Configurations of category curves: what is refused before any work, and on which line."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.config import load_config

CONFIGS = Path(__file__).parents[1] / "configs"
pytestmark = pytest.mark.usefixtures("no_corpus_is_touched")
SMALL = {
    "kind": "kind: category-curves\n",
    "name": "name: small\n",
    "corpus": "corpus: {name: reuters, subset: without-brief, classes: [earn, acq, corn]}\n",
    "sizes": "sizes: [20, 8816]\n",
    "replicates": "replicates: 6\n",
    "methods": "methods: [linear, hp-top, {name: plsi-fisher, n_classes: [2, 3]}]\n",
}


@pytest.mark.parametrize(
    ("fragment", "message"),
    [
        ("sizes: [20, 8817] # HERE\n", "8,817 training documents can't be drawn: there are 8,816"),
        ("sizes: [40, 20] # HERE\n", "ascending"),
        ("sizes: [20, 20] # HERE\n", "none twice"),
        ("sizes: [0] # HERE\n", "positive"),
        ("sizes: [] # HERE\n", "sizes"),
        ("replicates: 1 # HERE\n", "replicates"),
        ("nested: 1 # HERE\n", "true or false"),
        ("test: tset # HERE\n", "did you mean 'test'"),
        ("weighting: tf-idf # HERE\n", "did you mean 'tfidf'"),
        ("normalization: l3 # HERE\n", "unknown normalization 'l3'"),
        ("methods: [linaer] # HERE\n", "did you mean 'linear'"),
        ("methods: [] # HERE\n", "methods"),
        ("methods:\n  - linear\n  - linear # HERE\n", "stands here twice"),
        ("methods:\n  - linear\n  - {name: hp-top, component: cauchy} # HERE\n", "component must be one of gaussian"),
        ("methods:\n  - {name: plsi-fisher, n_classes: []} # HERE\n", "n_classes"),
        ("methods:\n  - {name: plsi-fisher, n_classes: [0]} # HERE\n", "n_classes"),
        ("methods:\n  - {name: plsi-fisher, temper: 0} # HERE\n", "temper"),
        ("methods:\n  - {name: plsi-fisher, seed: 3} # HERE\n", "unknown parameter"),
        ("machine: {C: 0} # HERE\n", "C"),
        ("machine: {epsilon: .inf} # HERE\n", "epsilon"),
        ("compare:\n  - [linear, svm] # HERE\n", "unknown method 'svm'"),
        ("compare:\n  - [linear, hp-top]\n  - [hp-top, linear] # HERE\n", "compared twice"),
        ("variants: {base: {}} # HERE\n", "a variant's name"),
        ("variants: {x: {weighting: y}} # HERE\n", "unknown weighting 'y'"),
        ("variants: {x: {machine: {C: -1}}} # HERE\n", "C"),
        ("variants: {x: {sizes: [1]}} # HERE\n", "unknown key 'sizes'"),
        ("variants: {x: {text: {counted_in: training}}} # HERE\n", "unknown group 'training'"),
        ("corpus: {name: reuters, subset: brief} # HERE\n", "unknown subset"),
        ("corpus: {name: reuters, classes: [earn, acqu]} # HERE\n", "did you mean 'acq'"),
        ("selection: oracle # HERE\n", "unknown key 'selection'"),
    ],
)
def test_is_refused_before_any_work(refusal_of, fragment, message):
    assert message in refusal_of(fragment)


def test_cells_are_named_after_what_they_are(write):
    study = load_config(write("variants: {bare: {normalization: none}}\ncompare: [[hp-top, linear]]\n"))
    names = [cell.id for cell in study.cells]
    assert len(set(names)) == len(names) == 2 * 3 * 2
    assert names[0] == "linear-20"
    assert "plsi-fisher-8816" in names
    assert "bare-hp-top-20" in names
    assert len(study.compare) == 2 * 2
    assert {name for pair in study.compare for name in pair} <= set(names)


def test_a_variant_changes_what_it_names_alone(write):
    bare = "variants: {bare: {normalization: none}, soft: {machine: {C: 0.1}}, short: {text: {stoplist: none}}}\n"
    base, bare, soft, short = load_config(write(bare)).settings
    assert (base.normalization, base.C, base.documents.lexing.stoplist) == ("l2", 1.0, "smart")
    assert (bare.normalization, bare.C, bare.documents.lexing) == ("none", 1.0, base.documents.lexing)
    assert (soft.normalization, soft.C) == ("l2", 0.1)
    assert (short.normalization, short.documents.lexing.stoplist) == ("l2", "none")


def test_documents_with_one_class_each_will_do(write):
    path = write("corpus: {name: synthetic}\ntest: texas\nsizes: [20]\nmethods: linear\n")
    assert [cell.id for cell in load_config(path).cells] == ["linear-20"]


@pytest.mark.parametrize("name", ["reuters-hp-top", "reuters-hp-top-weighting", "reuters-hp-top-reduced"])
def test_the_configurations_of_the_paper_are_good(name):
    study = load_config(CONFIGS / f"{name}.yaml")
    assert study.name == name
    assert {setting.documents.subset for setting in study.settings} == {"without-brief"}
