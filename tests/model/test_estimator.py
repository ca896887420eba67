"""A kept model as scikit-learn sees it: its manners, its probabilities, and the words that speak for a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.utils.validation import check_is_fitted

import benchmark
from benchmark.classifiers import LinearSvm
from benchmark.evaluation.protocols import KFold
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.methods.problem import LearnedClasses
from benchmark.methods.wrappers.out_of_fold import INNER_FOLDS
from benchmark.model.persistence import write_model
from benchmark.model.probabilities import class_probabilities, fit_sigmoids
from benchmark.model.text_model import telling_terms
from benchmark.representation import TermWeighting
from tests.model.studies import study_of, texts_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.experiment.store import Store
    from benchmark.model.text_model import TextClassifier

    Fit = Callable[..., TextClassifier]

LINEAR = {"weighting": "tf", "normalization": "l2", "classifier": "linear-svm"}


@pytest.fixture
def pages() -> tuple[list[str], list[str]]:
    """Texts of the three classes, and their classes."""
    own = {name: text.decode("latin-1") for name, text in texts_of(None).items() if not name.startswith("project")}
    return list(own.values()), [name.split("/")[0] for name in own]


def test_it_is_loaded_by_one_call_and_scored_by_scikit_learn(
    fitted: Fit, pages: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    write_model(fitted(study_of("ngd"), probability=True), tmp_path / "model")
    model = benchmark.load_model(tmp_path / "model")
    texts, truth = pages
    check_is_fitted(model)
    assert clone(model).fit(texts, truth) is model
    assert model.classes_.tolist() == sorted(set(truth))
    assert model.score(texts, truth) == accuracy_score(truth, model.predict(texts)) > 0.8
    assert get_scorer("roc_auc_ovr")(model, texts, truth) > 0.9
    np.testing.assert_allclose(model.predict_proba(texts).sum(axis=1), 1)
    best = model.decision_function(texts).argmax(axis=1)
    assert np.mean(model.classes_[best] == model.predict(texts)) > 0.98
    with pytest.raises(AttributeError, match="has no attribute 'load_models'"):
        _ = benchmark.load_models


def test_of_two_classes_it_has_one_value(fitted: Fit, pages: tuple[list[str], list[str]]) -> None:
    texts, _ = pages
    for method in ("ngd", "mnb", "logistic"):
        model = fitted(study_of(method, classes=["student", "faculty"]))
        values = model.decision_function(texts)
        assert values.shape == (len(texts),)
        clear = np.abs(values) > 1e-9
        np.testing.assert_array_equal(model.predict(texts)[clear], model.classes_[(values > 0).astype(int)][clear])


def test_of_several_classes_it_says_which(fitted: Fit) -> None:
    own = list(texts_of("several").values())
    model = fitted(study_of("ngd", subset="several"), probability=True)
    given, values = model.predict(own), model.decision_function(own)
    assert given.shape == (len(own), 3)
    assert given.dtype == np.bool_
    np.testing.assert_array_equal(given, values > 0)
    probabilities = model.predict_proba(own)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert not np.allclose(probabilities.sum(axis=1), 1)


def test_it_takes_no_text_any_number_of_them_and_bytes(fitted: Fit) -> None:
    model, own = fitted(study_of("ngd"), probability=True), list(texts_of(None).values())
    assert model.predict([]).shape == (0,)
    assert model.decision_function([]).shape == model.predict_proba([]).shape == (0, 3)
    assert model.predict(iter(own)).shape == (len(own),)
    ascii_only = [text for text in own if text.isascii()]
    np.testing.assert_array_equal(model.predict(ascii_only), model.predict([text.decode() for text in ascii_only]))
    with pytest.raises(TypeError, match="a sequence of texts"):
        model.predict("a text")


@pytest.mark.parametrize("classes", [["course", "faculty", "student"], ["faculty", "student"]])
def test_probabilities_are_those_of_scikit_learn(classes: list[str], fitted: Fit, store: Store) -> None:
    experiment = study_of(LINEAR, classes=classes)
    counts, _, _ = read_counts(experiment.variants["base"].collection, RunContext(store))
    points = TermWeighting(normalization="l2").fit_transform(counts.matrix)
    folds = [(fold.train, fold.test) for fold in KFold(INNER_FOLDS, experiment.seed).splits(counts.documents)]
    theirs = CalibratedClassifierCV(LinearSvm(), cv=folds, ensemble=False).fit(points, counts.documents.labels)
    model = fitted(experiment, probability=True)
    own = texts_of(None)
    ((_, answers),) = model.answers([(name, own[name]) for name in counts.documents.ids])
    np.testing.assert_allclose(answers.probabilities, theirs.predict_proba(points), atol=1e-9)
    assert answers.probabilities is not None
    assert answers.probabilities.std() > 0.1


def test_probabilities_of_several_classes_are_those_of_scikit_learn(fitted: Fit, store: Store) -> None:
    experiment = study_of(LINEAR, subset="several")
    counts, _, _ = read_counts(experiment.variants["base"].collection, RunContext(store))
    points, topics = TermWeighting(normalization="l2").fit_transform(counts.matrix), counts.documents.topics
    made = KFold(INNER_FOLDS, experiment.seed, stratified=False).splits(counts.documents)
    folds = [(fold.train, fold.test) for fold in made]
    own = texts_of("several")
    ((_, answers),) = fitted(experiment, probability=True).answers([(name, own[name]) for name in counts.documents.ids])
    assert topics is not None
    assert answers.probabilities is not None
    for column in range(3):
        members = topics[:, column].astype(int)
        theirs = CalibratedClassifierCV(LinearSvm(), cv=folds, ensemble=False).fit(points, members)
        np.testing.assert_allclose(answers.probabilities[:, column], theirs.predict_proba(points)[:, 1], atol=1e-9)


def test_a_class_without_a_value_has_platts_constant() -> None:
    rng = np.random.default_rng(0)
    labels = np.array([0, 1, 2] * 10 + [3])
    values = rng.normal(size=(31, 4)) + 2 * np.eye(4)[labels]
    values[30] = np.nan  # no fold tested it
    learned = LearnedClasses(False, np.arange(4), np.zeros(4, dtype=bool))
    sigmoids = fit_sigmoids(values, labels, learned, ("a", "b", "c", "d"))
    others = fit_sigmoids(values[:30, :3], labels[:30], learned, ("a", "b", "c"))
    np.testing.assert_array_equal(sigmoids[:3], others)
    assert expit(-sigmoids[3, 1]) == pytest.approx(1 / 32)
    assert sigmoids[3, 0] == 0
    np.testing.assert_allclose(class_probabilities(values[:30], sigmoids, learned).sum(axis=1), 1)


def test_of_two_classes_both_need_a_value() -> None:
    values, labels = np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, np.nan]]), np.array([0, 0, 1])
    learned = LearnedClasses(False, np.arange(2), np.zeros(2, dtype=bool))
    with pytest.raises(ValueError, match="'b' has too few training documents"):
        fit_sigmoids(values, labels, learned, ("a", "b"))


@pytest.mark.parametrize("subset", [None, "several"], ids=["single", "several"])
@pytest.mark.parametrize("method", ["ngd", "mnb", LINEAR], ids=["ngd", "mnb", "linear-svm"])
def test_the_words_that_speak_most_are_those_that_are_missed_most(
    method: Any, subset: str | None, fitted: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written without them one by one."""
    model = fitted(study_of(method, subset=subset))
    monkeypatch.setattr("benchmark.model.text_model.LEAVE_ONE_OUT_ROWS", 5)
    words = [*words_of(model)[5:60:4], words_of(model)[7]]
    head = b"Header: x\n\n"
    ((_, answers),) = model.answers([("whole", head + " ".join(words).encode())], n_words=4)
    without = {word: " ".join(each for each in words if each != word) for word in words}
    ((_, others),) = model.answers((word, head + text.encode()) for word, text in without.items())
    assert answers.known[0] == len(without)
    for code, told in answers.words[0].items():
        own, rest = answers.values[:, code], others.values[:, code]
        if not subset:
            own = own - np.delete(answers.values, code, axis=1).max(axis=1)
            rest = rest - np.delete(others.values, code, axis=1).max(axis=1)
        cost = dict(zip(without, own[0] - rest, strict=True))
        expected = sorted((word for word in cost if cost[word] > 1e-9), key=lambda word: -cost[word])[:4]
        assert [round(cost[word], 9) for word in told] == [round(cost[word], 9) for word in expected]
        assert told
    assert sorted(answers.words[0]) == answers.classes_of(0)


@pytest.mark.parametrize(("multilabel", "words"), [(False, ["b"]), (True, ["b", "a"])])
def test_a_word_that_is_not_missed_does_not_speak(multilabel: bool, words: list[str]) -> None:
    """Without "a" both classes fall alike, without "b" the first more, and without "c" and "d" it doesn't fall."""
    without = np.array([[0.9, -0.1], [0.5, 0.0], [1.0, 0.0], [2.0, 0.0]])
    found = telling_terms("abcd", np.array([[1.0, 0.0]]), without, [0], 4, multilabel=multilabel)
    assert found == {0: words}
