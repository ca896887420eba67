"""A model that was trained on a split decides as the run does, from the text on; and what can't be a model says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.system.errors import ConfigError
from tests.model.studies import check_against_run, study_of, texts_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.experiment.store import Store
    from benchmark.model.text_model import TextClassifier

    Fit = Callable[..., TextClassifier]

LINEAR = {"name": "linear", "weighting": "tfidf", "normalization": "l2", "classifier": "linear-svm"}
TEXT = {"skip_header": True, "skip_html": True, "stoplist": "smart", "min_occurrences": 20}
DRAWS = {"name": "random-subsets", "train_size": [80, 120], "replicates": 2, "test": "texas"}
TWO = ["student", "faculty"]
POLYNOMIAL = {"normalization": "none", "kernel": {"name": "polynomial", "c": 1.0}}
CHOSEN = {"by": ["oracle", "cross-validation"], "folds": 2}
C = [{"kernel": "ngd", "classifier": {"C": [1e-4, 0.1, 1]}}, {"classifier": {"name": "mnb", "smoothing": [0.01, 1]}}]


CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "draws": {"protocol": DRAWS},
    "two classes": {"protocol": DRAWS, "classes": TWO},
    "unit": {"protocol": DRAWS, "classes": TWO, "defaults": {"svm": {"C": 10, "scale_C": "mean-self-product"}}},
    "several": {"protocol": {**DRAWS, "stratified": False}, "subset": "several"},
    "terms": {"protocol": {"name": "fixed-split", "train": "misc", "test": "texas"}, "terms": {"number": [30, 60]}},
    "several terms": {"subset": "several", "terms": {"number": [30, 60]}},
    "tasks": {"tasks": [["faculty", "course"], ["course", "student"]]},
    "variants": {"variants": {"other": {"text": {"min_occurrences": 50}}}},
    "idf": {"defaults": {"idf": "training", "weighting": "tfidf"}},
    "pairs of stems": {"text": TEXT | {"ngrams": [1, 2], "stemmer": "porter"}, "terms": {"number": [60]}},
    "fields": {"text": TEXT | {"min_occurrences": 4, "ngrams": [1, 2], "fields": ["title", "all"]}},
    "vocabulary": {
        "text": TEXT | {"vocabulary_from": "training"},
        "defaults": {"idf": "training", "weighting": "tfidf"},
    },
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_it_does_so_under_every_kind_of_configuration(name: str, loaded: Fit, store: Store) -> None:
    changes = CONFIGURATIONS[name]
    experiment = study_of("linear", "diffusion", POLYNOMIAL, "mnb", "eef", {"classifier": "linear-svm"}, **changes)
    check_against_run(run_experiment(experiment, RunContext(store)), loaded, texts_of(changes.get("subset")))


@pytest.mark.parametrize("subset", [None, "several"], ids=["single", "several"])
def test_of_candidates_it_takes_the_one_that_the_run_does(subset: str | None, fitted: Fit, store: Store) -> None:
    protocol = {**DRAWS, "stratified": not subset}
    experiment = study_of(*C, subset=subset, choose=CHOSEN, protocol=protocol)
    check_against_run(run_experiment(experiment, RunContext(store)), fitted, texts_of(subset))
    model = fitted(experiment, experiment.ids[0], split="replicate-01")
    assert model.about["candidate"] == 2


def test_of_candidates_for_all_documents_it_takes_that_of_cross_validation(fitted: Fit) -> None:
    assert fitted(study_of(*C, choose=CHOSEN)).about["candidate"] == 2


@pytest.mark.parametrize("jobs", [1, 3])
def test_threads_and_batches_decide_nothing(jobs: int, fitted: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    model, own = fitted(study_of("ngd"), split="texas"), list(texts_of(None).items())
    (names, whole), *_ = model.answers(own)
    assert names == tuple(name for name, _ in own)
    monkeypatch.setattr("benchmark.model.text_model.PREDICTION_BATCH", 7)
    model.jobs = jobs
    parts = list(model.answers(own))
    assert len(parts) > 30
    assert [name for names, _ in parts for name in names] == list(names)
    np.testing.assert_array_equal(np.concatenate([each.predicted for _, each in parts]), whole.predicted)
    np.testing.assert_allclose(np.concatenate([each.values for _, each in parts]), whole.values, atol=1e-12)


REFUSED = [
    ({}, "nothing", {}, "unknown cell 'nothing'"),
    ({}, "ngd", {"split": "texsa"}, "unknown split 'texsa'; did you mean 'texas'"),
    ({"protocol": DRAWS}, "ngd-80", {}, "has 80 training documents: choose them by --split"),
    ({}, "hp-top", {"split": "texas"}, "hp-top: a model of 'hp-top' can't be saved"),
    ({"defaults": {"dirichlet": 0.5}}, "ngd", {}, "ngd: a method with a Dirichlet prior has no model to keep"),
]


@pytest.mark.parametrize(("changes", "cell", "options", "message"), REFUSED)
def test_what_can_not_be_a_model_says_why(
    changes: dict[str, Any], cell: str, options: dict[str, Any], message: str, fitted: Fit
) -> None:
    with pytest.raises(ConfigError, match=message):
        fitted(study_of("ngd", "hp-top", **changes), cell, **options)


def test_a_model_says_what_it_was_trained_on(fitted: Fit) -> None:
    model = fitted(study_of(LINEAR, "mnb"), "linear", split="texas")
    n = model.about["documents"]
    assert (model.about["cell"], model.about["trained_on"], model.about["text"]) == ("linear", "texas", ["text"])
    assert repr(model) == f"<TextClassifier of linear: {n} documents, 3 classes>"
    one, other = [word for word in words_of(model) if word.isalpha()][:2]
    ((_, answers),) = model.answers([("a", f"Subject: x\n\n{one} {one} {other} zzzz".encode()), ("b", b"\n\nzzzz")])
    assert answers.known is not None
    assert answers.known.tolist() == [2, 0], "terms, however often they occur"
    assert model.n_terms == len(words_of(model))
