"""What whole runs decide, against scikit-learn and the estimators themselves on the same documents."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import mutual_info_classif
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.svm import SVC

from benchmark.classifiers import DivergenceBayes, EmbeddedFamily, ProjectedPdf
from benchmark.config.tasks import protocol_at_size
from benchmark.evaluation.protocols import KFold
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import LoadedVariant, read_counts
from benchmark.experiment.plan import plan_task
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.kernels import Diffusion, HyperplaneTop, Linear, PLSIFisher
from benchmark.methods import point_classifiers as points
from benchmark.methods.learned_kernels import plsi_seed
from benchmark.representation.selection import GAIN_AGGREGATES, information_gain, rank_terms
from benchmark.system.errors import ConfigError
from tests.builders import inner_errors, small_experiment

CLASSES = ["faculty", "course", "student"]
TEXT = {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 5}
#: Both machines stop at epsilon: decisions nearer to zero may differ in sign.
DOUBTFUL = 1e-3


class Found:
    """A run, and the documents and splits that it was on."""

    def __init__(self, experiment, store):
        self.run, self.experiment = run_experiment(experiment, RunContext(store)), experiment
        assert not self.run.failures
        self.variant = experiment.variants["base"]
        self.counts, _, self.key = read_counts(self.variant.collection, RunContext(store))

    def documents(self, task=0):
        """Rows, and the documents, of a task."""
        return self.counts.documents.of_classes(self.variant.tasks[task].classes)

    def splits(self, size=None, task=0):
        return protocol_at_size(self.variant.protocol, size).splits(self.documents(task)[1])

    def point(self, method, size=None, terms=None, task=0, candidate=0):
        return self.run.predictions.settings["base", self.variant.tasks[task].name, method, candidate, size, terms]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    def make(**given):
        store = Store(tmp_path_factory.mktemp("store"), limit=10**9)
        return Found(small_experiment(**{"text": TEXT} | given), store)

    return make


TERMS = (5, 40, 200)


@pytest.fixture(scope="module")
def drawn(found):
    return found(
        corpus={"name": "synthetic", "classes": CLASSES},
        tasks=[["faculty", "course"], ["faculty", "student"]],
        protocol={"name": "random-subsets", "train_size": [12, 40], "replicates": 6},
        defaults={"normalization": "l1", "classifier": {"C": 10, "scale_C": "mean-self-product"}},
        methods=["linear", {"kernel": {"name": "diffusion", "t": [0.2, 1, 5]}}],
        choose={"by": ["oracle", "cross-validation"], "folds": 3},
    )


@pytest.fixture(scope="module")
def selected(found):
    return found(
        text={"skip_header": True, "skip_html": True, "stoplist": "none", "min_documents": 2},
        tasks=[{"title": "All four", "largest": 4}, ["student", "course"]],
        protocol={"name": "fixed-split", "train": "misc", "test": "washington"},
        terms={"number": list(TERMS), "aggregate": "average"},
        defaults={"normalization": "none", "smoothing": 0.5, "C": 0.01},
        methods=[
            *("mnb", "complement-nb", "ppt", "eef", "svm"),
            {"weighting": "tfidf", "idf": "training", "normalization": "l2", "classifier": {"name": "svm", "C": 1}},
        ],
    )


@pytest.fixture(scope="module", params=[0, 1], ids=["four", "two"])
def task(selected, request):
    """The number of a task; its training counts and labels, and its tested counts."""
    rows, documents = selected.documents(request.param)
    (split,) = selected.splits(task=request.param)
    dense = selected.counts.matrix[rows].toarray().astype(float)
    return request.param, dense[split.train], documents.labels[split.train], dense[split.test]


@pytest.fixture(scope="module")
def multilabel(found):
    return found(
        corpus={"name": "synthetic", "subset": "several"},
        protocol={
            "name": "random-subsets",
            "train_size": [80, 120],
            "replicates": 2,
            "stratified": False,
            "test": "texas",
        },
        defaults={"normalization": "l2"},
        methods=["linear", "hp-top", {"kernel": {"name": "plsi-fisher", "n_classes": [2]}}, "mnb"],
    )


class TestDrawsOfTwoClasses:
    """Many small draws of two classes: machines over one kernel matrix, and a choice by inner folds."""

    @staticmethod
    def matrix(drawn, kernel):
        rows, _ = drawn.documents()
        dense = drawn.counts.matrix[rows].toarray().astype(np.float64)
        matrix = kernel.fit_transform(dense / dense.sum(axis=1, keepdims=True))
        return matrix / np.diag(matrix).mean()

    @pytest.mark.parametrize(
        ("method", "candidate", "kernel"), [("linear", 0, Linear()), ("diffusion", 1, Diffusion(t=1))]
    )
    @pytest.mark.parametrize("size", [12, 40])
    def test_decisions_are_scikit_learns(self, drawn, method, candidate, kernel, size):
        matrix, labels = self.matrix(drawn, kernel), drawn.documents()[1].labels
        point = drawn.point(method, size, candidate=candidate)
        for split, given in zip(drawn.splits(size), point.by_split, strict=True):
            # LIBSVM's first class is the first one it meets; scikit-learn sorts, so that the labels come out alike.
            machine = SVC(C=10, kernel="precomputed").fit(matrix[np.ix_(split.train, split.train)], labels[split.train])
            np.testing.assert_array_equal(given, machine.predict(matrix[np.ix_(split.test, split.train)]))

    def test_inner_errors_are_those_of_folds_of_the_training_documents(self, drawn):
        matrix, documents = self.matrix(drawn, Diffusion(t=1)), drawn.documents()[1]
        labels, point = documents.labels, drawn.point("diffusion", 40, candidate=1)
        for split, inner in zip(drawn.splits(40), inner_errors(point), strict=True):
            rows, wrong = split.train, 0
            for fold in KFold(3, 0).splits(documents.take(rows)):
                train, test = rows[fold.train], rows[fold.test]
                machine = SVC(C=10, kernel="precomputed").fit(matrix[np.ix_(train, train)], labels[train])
                wrong += np.count_nonzero(machine.predict(matrix[np.ix_(test, train)]) != labels[test])
            assert inner == pytest.approx(wrong / 40)

    def test_a_larger_grid_never_changes_earlier_draws(self, drawn, found):
        other = found(
            **{
                key: value
                for key, value in drawn.experiment.raw.items()
                if key not in ("protocol", "methods", "choose")
            },
            protocol={"name": "random-subsets", "train_size": [12, 20, 40], "replicates": 8},
            methods=["linear"],
        )
        for size in (12, 40):
            for one, two in zip(
                drawn.point("linear", size).by_split, other.point("linear", size).by_split, strict=False
            ):
                np.testing.assert_array_equal(one, two)


class TestSelectedTerms:
    """Numbers of selected terms: for all classes, or for each."""

    @staticmethod
    def best(X, y, number):
        return rank_terms(GAIN_AGGREGATES["average"](information_gain(X, y), np.bincount(y) / len(y)))[:number]

    @pytest.mark.parametrize("number", TERMS)
    @pytest.mark.parametrize(
        ("method", "theirs"), [("mnb", MultinomialNB(alpha=0.5)), ("complement-nb", ComplementNB(alpha=0.5))]
    )
    def test_bayes_on_the_common_terms_is_that_of_scikit_learn(self, selected, task, number, method, theirs):
        position, X, y, tested = task
        terms = self.best(X, y, number)
        (given,) = selected.point(method, terms=number, task=position).by_split
        np.testing.assert_array_equal(given, theirs.fit(X[:, terms], y).predict(tested[:, terms]))

    @pytest.mark.parametrize("number", TERMS)
    @pytest.mark.parametrize(("method", "cls"), [("ppt", ProjectedPdf), ("eef", EmbeddedFamily)])
    def test_each_class_selects_terms_of_its_own(self, selected, task, number, method, cls):
        position, X, y, tested = task
        (given,) = selected.point(method, terms=number, task=position).by_split
        np.testing.assert_array_equal(given, cls(n_terms=number, smoothing=0.5).fit(X, y).predict(tested))

    @pytest.mark.parametrize("number", TERMS)
    def test_the_machine_is_that_of_scikit_learn(self, selected, task, number):
        position, X, y, tested = task
        terms, order = self.best(X, y, number), np.argsort(y, kind="stable")  # LIBSVM's numbers depend on the order
        train = X[order][:, terms]
        (given,) = selected.point("svm", terms=number, task=position).by_split
        machine = SVC(C=0.01, kernel="precomputed").fit(train @ train.T, y[order])
        np.testing.assert_array_equal(given, machine.predict(tested[:, terms] @ train.T))

    @pytest.mark.parametrize("number", TERMS[1:])
    def test_points_are_weighted_and_normalized_over_the_selected_terms(self, selected, task, number):
        position, X, y, tested = task
        terms, order = self.best(X, y, number), np.argsort(y, kind="stable")
        idf = np.log(len(X) / (X[:, terms] > 0).sum(axis=0))
        train, other = (
            each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-300)
            for each in (X[order][:, terms] * idf, tested[:, terms] * idf)
        )
        machine = SVC(C=1, kernel="precomputed", decision_function_shape="ovo").fit(train @ train.T, y[order])
        clear = (np.abs(machine.decision_function(other @ train.T).reshape(len(other), -1)) > DOUBTFUL).all(axis=1)
        (given,) = selected.point("tfidf-l2-idf-training-svm-c1", terms=number, task=position).by_split
        np.testing.assert_array_equal(given[clear], machine.predict(other @ train.T)[clear])
        assert clear.mean() > 0.9

    def test_the_ranking_is_that_of_mutual_information(self, task):
        """An independent road to the one ranking that the class-independent methods share, with two classes."""
        position, X, y, _ = task
        if position == 1:
            theirs = mutual_info_classif(X > 0, y, discrete_features=True)
            assert theirs[self.best(X, y, 40)].min() >= np.sort(theirs)[-40] - 1e-9

    def test_documents_without_a_selected_term_tie_in_complement_naive_bayes(self, selected, task):
        position, X, y, tested = task
        point = selected.point("complement-nb", terms=5, task=position)
        empty = tested[:, self.best(X, y, 5)].sum(axis=1) == 0
        assert point.split(0).tied[empty].all()
        assert (point.by_split[0][empty] == 0).all()

    def test_more_terms_than_words_are_refused_before_training(self, store, monkeypatch):
        monkeypatch.setattr(points.PointClassifierMethod, "solve", lambda *_: pytest.fail("something was trained"))
        experiment = small_experiment(
            methods=["mnb"], terms={"number": 200}, variants={"rare": {"text": {"min_occurrences": 300}}}
        )
        with pytest.raises(ConfigError, match=r"small: 200 terms can't be selected from the \d+ .*'rare'"):
            run_experiment(experiment, RunContext(store))


class TestSeveralClasses:
    """Documents with several classes: a decision for each, by each method."""

    @pytest.fixture(params=[80, 120])
    def draws(self, multilabel, request):
        """Each draw with its position, and what the methods decided on it."""
        matrix = multilabel.counts.matrix
        norms = np.sqrt(matrix.multiply(matrix).sum(axis=1))
        points_of_all = matrix.multiply((1 / np.where(norms > 0, norms, 1))[:, None]).tocsr()
        splits = multilabel.splits(request.param)
        return [(position, split, points_of_all) for position, split in enumerate(splits)], request.param

    def test_linear_machines_are_scikit_learns(self, multilabel, draws):
        members, (own, size) = multilabel.counts.documents.topics, draws
        for position, split, documents in own:
            given = multilabel.point("linear", size).by_split[position]
            for x in range(members.shape[1]):
                machine = SVC(C=1.0, kernel="linear").fit(documents[split.train].toarray(), members[split.train, x])
                values = machine.decision_function(documents[split.test].toarray())
                sure = np.abs(values) > DOUBTFUL
                np.testing.assert_array_equal(given[sure, x], values[sure] > 0)
                assert sure.mean() > 0.9

    def test_hp_top_is_the_estimator(self, multilabel, draws):
        members, (own, size) = multilabel.counts.documents.topics, draws
        other = np.column_stack([members, ~members.any(axis=1)])
        for position, split, documents in own:
            own_members = other[split.train] if other[split.train, -1].any() else members[split.train]
            top = HyperplaneTop().fit(documents[split.train], own_members)
            values = top.solve_targets(range(members.shape[1]), documents[split.test])
            np.testing.assert_array_equal(multilabel.point("hp-top", size).by_split[position], values > 0)

    def test_fisher_is_machines_on_the_kernel(self, multilabel, draws):
        members, (own, size) = multilabel.counts.documents.topics, draws
        variant = multilabel.variant
        read = LoadedVariant(multilabel.counts, multilabel.key, {})
        problem = plan_task(multilabel.experiment, variant, variant.tasks[0], read).problem
        for position, split, _ in own:
            kernel = PLSIFisher(n_classes=[2], seed=plsi_seed(problem, split))
            gram = kernel.fit_transform(multilabel.counts.matrix[split.train])
            rows = kernel.transform(multilabel.counts.matrix[split.test])
            for x in range(members.shape[1]):
                machine = SVC(C=1.0, kernel="precomputed").fit(gram, members[split.train, x])
                values = machine.decision_function(rows)
                sure = np.abs(values) > DOUBTFUL
                given = multilabel.point("plsi-fisher", size).by_split[position]
                np.testing.assert_array_equal(given[sure, x], values[sure] > 0)

    def test_naive_bayes_tells_each_class_from_the_others(self, multilabel, draws):
        members, (own, size) = multilabel.counts.documents.topics, draws
        norms = multilabel.counts.matrix
        for position, split, _ in own:
            given = multilabel.point("mnb", size).by_split[position]
            dense = norms.toarray().astype(float)
            dense /= np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-300)
            for x in range(members.shape[1]):
                theirs = MultinomialNB().fit(dense[split.train], members[split.train, x])
                np.testing.assert_array_equal(given[:, x], theirs.predict(dense[split.test]))


@pytest.mark.parametrize("centroid", ["mean", "skl", "pooled"])
def test_centroids_are_those_of_the_classifier_trained_on_each_draw(found, centroid):
    drawn = found(
        corpus={"name": "synthetic", "classes": CLASSES},
        text=TEXT | {"min_occurrences": 40},
        protocol={"name": "random-subsets", "train_size": [12, 60], "replicates": 3},
        methods=[{"classifier": {"name": "divergence-bayes", "centroid": centroid, "smoothing": 0.001}}],
    )
    (method,) = {place[2] for place in drawn.run.predictions.settings}
    labels, matrix = drawn.counts.documents.labels, drawn.counts.matrix
    for size in (12, 60):
        for split, given in zip(drawn.splits(size), drawn.point(method, size).by_split, strict=True):
            classifier = DivergenceBayes(centroid, 0.001).fit(matrix[split.train], labels[split.train])
            np.testing.assert_array_equal(given, classifier.predict(matrix[split.test]))
