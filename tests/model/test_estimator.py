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
from benchmark.methods.wrappers import INNER_FOLDS
from benchmark.model.fitting import fit_sigmoids
from benchmark.model.persistence import write_model
from benchmark.model.text_model import class_probabilities
from tests.model.studies import study_of, texts_of, words_of
from tests.points import points_pipeline

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
    model = fitted(study_of("ngd", classes=["student", "faculty"]))
    values = model.decision_function(pages[0])
    clear = np.abs(values) > 1e-9
    np.testing.assert_array_equal(model.predict(pages[0])[clear], model.classes_[(values > 0).astype(int)][clear])


def test_it_takes_no_text_any_number_of_them_and_bytes(fitted: Fit) -> None:
    model, own = fitted(study_of("ngd"), probability=True), list(texts_of(None).values())
    assert model.predict([]).shape == (0,)
    assert model.decision_function([]).shape == model.predict_proba([]).shape == (0, 3)
    assert model.predict(iter(own)).shape == (len(own),)
    ascii_only = [text for text in own if text.isascii()]
    np.testing.assert_array_equal(model.predict(ascii_only), model.predict([text.decode() for text in ascii_only]))
    with pytest.raises(TypeError, match="a sequence of texts"):
        model.predict("a text")


@pytest.mark.parametrize(
    ("subset", "classes"),
    [(None, None), (None, ["faculty", "student"]), ("several", None)],
    ids=["three", "two", "several"],
)
def test_probabilities_are_those_of_scikit_learn(subset: Any, classes: Any, fitted: Fit, store: Store) -> None:
    experiment = study_of(LINEAR, subset=subset, classes=classes)
    counts, _, _ = read_counts(experiment.variants["base"].collection, RunContext(store))
    points, topics = points_pipeline(normalization="l2").fit_transform(counts.matrix), counts.documents.topics
    made = KFold(INNER_FOLDS, experiment.seed, stratified=topics is None).splits(counts.documents)
    theirs = CalibratedClassifierCV(LinearSvm(), cv=[(fold.train, fold.test) for fold in made], ensemble=False)
    own = texts_of(subset)
    ((_, answers),) = fitted(experiment, probability=True).answers([(name, own[name]) for name in counts.documents.ids])
    if topics is None:
        expected = theirs.fit(points, counts.documents.labels).predict_proba(points)
    else:
        each = [theirs.fit(points, topics[:, column].astype(int)).predict_proba(points)[:, 1] for column in range(3)]
        expected = np.stack(each, axis=1)
    np.testing.assert_allclose(answers.probabilities, expected, atol=1e-9)
    assert expected.std() > 0.1


def test_a_class_without_a_value_has_platts_constant() -> None:
    rng = np.random.default_rng(0)
    labels = np.array([0, 1, 2] * 10 + [3])
    members = np.eye(4, dtype=bool)[labels]
    values = rng.normal(size=(31, 4)) + 2 * members
    values[30] = np.nan  # no fold tested it
    learned = LearnedClasses(False, np.arange(4), np.zeros(4, dtype=bool))
    sigmoids = fit_sigmoids(values, members, learned)
    others = fit_sigmoids(values[:30, :3], members[:30, :3], learned)
    np.testing.assert_array_equal(sigmoids[:3], others)
    assert expit(-sigmoids[3, 1]) == pytest.approx(1 / 32)
    assert sigmoids[3, 0] == 0
    np.testing.assert_allclose(class_probabilities(values[:30], sigmoids, learned).sum(axis=1), 1)


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
