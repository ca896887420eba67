"""Configurations of feature curves: what is refused before any work, and on which line."""

from __future__ import annotations

import pytest

from benchmark.config import config_from_mapping, load_config
from benchmark.errors import ConfigError

pytestmark = pytest.mark.usefixtures("no_corpus_is_touched")
SMALL = {
    "kind": "kind: feature-curves\n",
    "name": "name: small\n",
    "corpus": "corpus: {name: synthetic}\n",
    "split": "split: {train: [misc, texas], test: cornell}\n",
    "panels": "panels:\n  - {title: All four, largest: 4}\n",
    "methods": "methods: [mnb, eef, svm]\n",
    "sizes": "sizes: [10, 50]\n",
}


@pytest.mark.parametrize(
    ("fragment", "message"),
    [
        ("smoothing: 0 # HERE\n", "smoothing is 0"),
        ("smoothing: -1 # HERE\n", "smoothing is -1"),
        ("smoothing: .inf # HERE\n", "smoothing"),
        ("sizes: [50, 10] # HERE\n", "ascending"),
        ("sizes: [10, 10] # HERE\n", "none twice"),
        ("sizes: [0, 10] # HERE\n", "positive"),
        ("sizes: [] # HERE\n", "sizes"),
        ("sizes: [10.5] # HERE\n", "sizes"),
        ("expect: {vocabulary: 40}\nsizes: [10, 50] # HERE\n", "50 terms can't be selected from the 40"),
        ("methods: [mbn] # HERE\n", "did you mean 'mnb'"),
        ("methods: [mnb, mnb] # HERE\n", "listed twice"),
        ("methods: [] # HERE\n", "methods"),
        ("counts: binary # HERE\n", "unknown counts 'binary' (allowed: counts, presence)"),
        ("selection: mean # HERE\n", "unknown selection 'mean'"),
        ("machine: {C: 0} # HERE\n", "C"),
        ("machine: {scheme: one-vs-all} # HERE\n", "unknown scheme 'one-vs-all'"),
        ("machine: {weighting: idf} # HERE\n", "unknown weighting 'idf'"),
        ("machine: {normalization: l3} # HERE\n", "unknown normalization 'l3'"),
        ("machine: {c: 1} # HERE\n", "unknown key 'c'"),
        ("corpus: {name: nosuch} # HERE\n", "unknown corpus"),
        ("split: {train: [miscc], test: cornell} # HERE\n", "did you mean 'misc'"),
        ("split: {train: [misc], test: [misc]} # HERE\n", "'misc' stands in `split` twice"),
        ("split: {train: [misc], testing: [texas]} # HERE\n", "unknown key 'testing'"),
        ("panels:\n  - {title: Five, largest: 5} # HERE\n", "largest is 5, but there are 4 classes"),
        ("panels:\n  - {title: One, largest: 1} # HERE\n", "largest"),
        ("panels:\n  - {title: None} # HERE\n", "either `largest`"),
        ("panels:\n  - {title: Both, largest: 2, classes: [course, student]} # HERE\n", "either `largest`"),
        ("panels:\n  - {title: Two, classes: [course, studnet]} # HERE\n", "did you mean 'student'"),
        ("panels:\n  - {title: One, classes: [course]} # HERE\n", "two or more"),
        ("panels:\n  - {title: Twice, classes: [course, course]} # HERE\n", "two or more different ones"),
        ("panels:\n  - {title: A, largest: 2}\n  - {title: a!, largest: 3} # HERE\n", "two panels are named 'a'"),
        ("panels:\n  - {title: '?!', largest: 2} # HERE\n", "needs a letter or digit"),
        ("compare:\n  - [mnb, ppt] # HERE\n", "unknown method 'ppt'"),
        ("compare:\n  - [mnb, mnb] # HERE\n", "two different methods"),
        ("variants: {base: {smoothing: 1}} # HERE\n", "a variant's name"),
        ("variants: {x: {smoothing: 0}} # HERE\n", "smoothing"),
        ("counts: presence\nvariants:\n  x:\n    counts: tf # HERE\n", "unknown counts 'tf'"),
        ("machine: {C: 2}\nvariants:\n  x:\n    machine: {scheme: y} # HERE\n", "unknown scheme 'y'"),
        ("variants: {x: {texts: {}}} # HERE\n", "unknown key 'texts'"),
        ("kind: feature-curve # HERE\n", "did you mean 'feature-curves'"),
        ("protocol: k-fold # HERE\n", "unknown key 'protocol'"),
        ("paper: nobody1999 # HERE\n", "unknown paper"),
        (
            "panels:\n  - {title: a, largest: 2}\n  - {title: x a, largest: 2}\nvariants: {x: {smoothing: 2}} # HERE\n",
            "two cells have the same id",
        ),
    ],
)
def test_is_refused_before_any_work(refusal_of, fragment, message):
    assert message in refusal_of(fragment)


REUTERS = "corpus: {name: reuters, subset: body-and-single-topic}\nsplit: {}\n"


@pytest.mark.parametrize(
    "panel", ["{title: Rice, classes: [grain, rice]} # HERE\n", "{title: Reuters-65, largest: 65} # HERE\n"]
)
def test_a_class_without_training_documents_is_refused(write, panel):
    with pytest.raises(ConfigError, match=r":\d+: the class '\w+' has no training document \(train\)"):
        load_config(write(f"{REUTERS}panels:\n  - {panel}"))


def test_classes_without_any_test_document_are_refused(write):
    with pytest.raises(ConfigError, match=r"no class has a test document \(test\)"):
        load_config(write(f"{REUTERS}panels:\n  - {{title: x, classes: [oilseed, silver]}}\n"))


def test_documents_with_several_classes_are_refused(write):
    with pytest.raises(ConfigError, match="several classes or none; name a subset"):
        load_config(write("corpus: {name: reuters}\nsplit: {}\n"))


def test_the_largest_classes_are_those_with_most_documents(write):
    study = load_config(write(f"{REUTERS}panels:\n  - {{title: Reuters-10, largest: 10}}\n"))
    assert study.panels[0].classes == (
        *("earn", "acq", "crude", "trade", "money-fx", "interest", "ship", "sugar", "coffee", "gold"),
    )
    assert len(study.variants["base"].classes) == 65
    assert (study.train_groups, study.test_groups) == (("train",), ("test",))


def test_cells_are_named_after_what_they_are(write):
    study = load_config(write("variants: {soft: {machine: {C: 0.1}}}\ncompare: [[eef, mnb], [eef, svm]]\n"))
    names = [cell.id for cell in study.cells]
    assert len(set(names)) == len(names) == 2 * 3 * 2
    assert names[0] == "all-four-mnb-10"
    assert "soft-all-four-eef-50" in names
    assert len(study.compare) == 2 * 2 * 2
    assert {name for pair in study.compare for name in pair} <= set(names)


def test_a_variant_changes_what_it_names_and_nothing_else():
    raw = {
        "kind": "feature-curves",
        "name": "v",
        "corpus": {"name": "synthetic"},
        "split": {"train": ["misc"], "test": ["texas"]},
        "panels": [{"title": "all", "largest": 4}],
        "methods": ["mnb", "eef", "svm"],
        "sizes": [10],
        "machine": {"C": 2.0, "normalization": "l2"},
        "variants": {"soft": {"machine": {"C": 0.1}}, "sharp": {"smoothing": 0.5}},
    }
    base, soft, sharp = config_from_mapping(raw, "test.yaml").settings
    assert (soft.C, soft.normalization) == (0.1, "l2")
    for method in ("mnb", "eef"):
        assert soft.resolved(method) == base.resolved(method)
        assert sharp.resolved(method) != base.resolved(method)
    assert soft.resolved("svm") != base.resolved("svm") == sharp.resolved("svm")
