"""Learning curves against scikit-learn's machines on the same draws, and what must hold of any."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.svm import SVC

from benchmark.config import config_from_mapping
from benchmark.errors import DataError
from benchmark.evaluation.protocols import KFold
from benchmark.experiment import learning_curves
from benchmark.experiment.folder import read_results
from benchmark.experiment.kinds import kind_of
from benchmark.experiment.learning_curves import plan_learning_curves, run_learning_curves
from benchmark.experiment.learning_scores import decode, encode, select
from benchmark.experiment.observer import Silent
from benchmark.experiment.reading import read_counts
from benchmark.experiment.session import again, perform
from benchmark.experiment.store import Store
from benchmark.kernels import Diffusion, Linear

CURVES = {
    "kind": "learning-curves",
    "name": "curves",
    "corpus": {"name": "synthetic", "classes": ["faculty", "course", "student"]},
    "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 5},
    "tasks": [["faculty", "course"], ["faculty", "student"]],
    "sizes": [12, 40],
    "replicates": 6,
    "kernels": ["linear", {"name": "diffusion", "t": [0.2, 1, 5]}],
    "machine": {"C": 10, "scale": "mean-self-product"},
    "inner_folds": 3,
    "compare": [["diffusion", "linear"]],
}


def never(*args, **kwargs):
    pytest.fail("this must not be called")


def curves(**changes):
    return config_from_mapping(CURVES | changes, "test.yaml")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return run_learning_curves(curves(), Store(tmp_path_factory.mktemp("store"), limit=10**9))


@pytest.fixture(scope="module")
def points(found):
    """Frequencies of the first task's documents."""
    study = found.experiment
    counts, _, _ = read_counts(study.settings[0].documents, Store(), Silent())
    rows, _ = study.tasks[0].documents(counts.documents)
    dense = counts.matrix[rows].toarray().astype(np.float64)
    return dense / dense.sum(axis=1, keepdims=True)


def kernel_matrix(kernel, points):
    matrix = kernel.fit_transform(points)
    return matrix / np.diag(matrix).mean()


@pytest.mark.parametrize(("curve", "index", "kernel"), [("linear", 0, Linear()), ("diffusion", 1, Diffusion(t=1))])
@pytest.mark.parametrize("size", [12, 40])
def test_predictions_are_those_of_scikit_learn(found, points, curve, index, kernel, size):
    task, matrix = found.tasks["base", "faculty-course"], kernel_matrix(kernel, points)
    labels = task.documents.labels
    for trained, second in zip(task.trained[size], task.found[curve, index, size].second, strict=True):
        # LIBSVM's first class is the first one it meets; scikit-learn sorts, so that the labels come out alike.
        machine = SVC(C=10, kernel="precomputed").fit(matrix[np.ix_(trained, trained)], labels[trained])
        expected = machine.predict(matrix[np.ix_(~trained, trained)])
        assert np.array_equal(second[~trained], expected == 1)


def test_inner_errors_are_those_of_folds_of_the_training_documents(found, points):
    task, matrix = found.tasks["base", "faculty-course"], kernel_matrix(Diffusion(t=1), points)
    labels, result = task.documents.labels, task.found["diffusion", 1, 40]
    for trained, inner in zip(task.trained[40], result.inner_errors, strict=True):
        rows, wrong = np.flatnonzero(trained), 0
        for fold in KFold(3, 0).splits(task.documents.take(rows)):
            train, test = rows[fold.train], rows[fold.test]
            machine = SVC(C=10, kernel="precomputed").fit(matrix[np.ix_(train, train)], labels[train])
            wrong += np.count_nonzero(machine.predict(matrix[np.ix_(test, train)]) != labels[test])
        assert inner == pytest.approx(wrong / 40)


def test_draws_are_stratified_and_of_their_size(found):
    for (_, name), task in found.tasks.items():
        shares = np.bincount(task.documents.labels) / len(task.documents)
        for size, trained in task.trained.items():
            assert (trained.sum(axis=1) == size).all(), name
            firsts = (trained & (task.documents.labels == 0)).sum(axis=1)
            assert (np.abs(firsts - size * shares[0]) <= 1).all()
            assert len(np.unique(trained, axis=0)) == len(trained)


@pytest.mark.parametrize(
    "changes", [{"sizes": [12, 20, 40, 60]}, {"replicates": 9}, {"kernels": ["linear"], "compare": []}]
)
def test_a_larger_grid_never_changes_earlier_draws(found, store, changes):
    other = run_learning_curves(curves(**changes), store)
    for key, task in found.tasks.items():
        for size, trained in task.trained.items():
            assert np.array_equal(other.tasks[key].trained[size][:6], trained)
            mine, theirs = task.found["linear", 0, size], other.tasks[key].found["linear", 0, size]
            assert np.array_equal(theirs.second[:6], mine.second)


def test_another_seed_makes_other_draws(found, store):
    other = run_learning_curves(curves(seed=1), store)
    assert not np.array_equal(
        other.tasks["base", "faculty-course"].trained[12], found.tasks["base", "faculty-course"].trained[12]
    )


class TestSelection:
    def test_the_oracle_is_the_lowest_curve_of_the_grid(self, found):
        selected, study = select(found), found.experiment
        for task in study.tasks:
            result = found.tasks["base", task.name]
            truth = result.documents.labels == 1
            means = [
                np.mean(
                    [
                        np.mean((result.found["diffusion", i, size].second != truth)[~result.trained[size]])
                        for size in study.sizes
                    ]
                )
                for i in range(3)
            ]
            chosen = {int(i) for size in study.sizes for i in selected[f"{task.name}-diffusion-oracle-{size}"].chosen}
            assert chosen == {int(np.argmin(means))}

    def test_cross_validation_takes_a_lowest_inner_error_of_each_draw(self, found):
        selected = select(found)
        for size in (12, 40):
            inner = np.stack(
                [found.tasks["base", "faculty-student"].found["diffusion", i, size].inner_errors for i in range(3)]
            )
            chosen = selected[f"faculty-student-diffusion-cv-{size}"].chosen
            assert np.array_equal(inner[chosen, np.arange(6)], inner.min(axis=0))

    def test_no_choice_beats_the_best_of_each_draw(self, found):
        for name, each in select(found).items():
            task, curve, *_, size = name.rsplit("-", 3)
            if curve == "linear":
                assert set(each.chosen) == {0}
            assert each.scored.n == len(found.tasks["base", task].documents) - int(size)

    def test_a_kernel_without_parameters_scores_alike_under_both(self, found):
        selected = select(found)
        one, other = selected["faculty-course-linear-oracle-40"], selected["faculty-course-linear-cv-40"]
        assert np.array_equal(one.scored.scores["error"], other.scored.scores["error"])


class TestVariants:
    def test_each_changes_what_it_names(self, store):
        rare = {"text": {"min_occurrences": 1}}
        variants = {"smooth": {"smoothing": 0.5}, "soft": {"machine": {"C": 0.01}}, "rare": rare}
        done = run_learning_curves(curves(variants=variants, kernels=["linear"], compare=[]), store)
        base = done.tasks["base", "faculty-course"].found["linear", 0, 40].second
        for name in variants:
            assert not np.array_equal(done.tasks[name, "faculty-course"].found["linear", 0, 40].second, base), name
        assert done.facts["rare"]["vocabulary"] > done.facts["base"]["vocabulary"]

    def test_c_is_in_units_of_the_inverse_mean_of_the_kernels_diagonal(self, store, found, points):
        mean = float(np.diag(Linear().fit_transform(points)).mean())
        assert mean < 0.2
        changes = {"tasks": [["faculty", "course"]], "kernels": ["linear"], "compare": []}
        plain, same = (
            run_learning_curves(curves(machine={"C": C, "scale": "none"}, **changes), store).tasks[
                "base", "faculty-course"
            ]
            for C in (10, 10 / mean)
        )
        for size in (12, 40):
            scaled = found.tasks["base", "faculty-course"].found["linear", 0, size].second
            assert np.array_equal(same.found["linear", 0, size].second, scaled)
            assert not np.array_equal(plain.found["linear", 0, size].second, scaled)


class TestStore:
    def test_what_it_has_is_not_trained_again(self, store, found, monkeypatch):
        first = run_learning_curves(curves(), store)
        monkeypatch.setattr(learning_curves, "solve_many", never)
        second = run_learning_curves(curves(), store)
        assert encode(first) == encode(second) == encode(found)

    def test_only_the_sizes_that_are_missing_are_trained(self, store, monkeypatch):
        run_learning_curves(curves(), store)
        solve, seen = learning_curves.solve_many, []

        def counted(kernel, problems, **options):
            seen.append(len(problems))
            return solve(kernel, problems, **options)

        monkeypatch.setattr(learning_curves, "solve_many", counted)
        run_learning_curves(curves(sizes=[12, 20, 40]), store)
        assert seen == [6 * 4, 6 * 4, 6 * 4, 6] * 2  # three kernels with three inner folds, one without; two tasks

    def test_the_plan_counts_what_is_there(self, store):
        rows, size = plan_learning_curves(curves(), store, Silent())
        assert [row[1:] for row in rows] == [(2, 0, "to build"), (6, 0, "to build")] * 2
        assert size > 0
        run_learning_curves(curves(), store)
        rows, size = plan_learning_curves(curves(), store, Silent())
        assert [row[1:] for row in rows] == [(2, 2, "not needed"), (6, 6, "not needed")] * 2
        assert size == 0


class TestFolder:
    @pytest.fixture
    def done(self, tmp_path):
        return perform(curves(), Store(tmp_path / "store"), folder=tmp_path / "run")

    def test_predictions_come_back_as_they_were(self, done):
        back = read_results(done.folder)
        assert encode(back) == encode(done.results)
        assert back.facts == done.results.facts

    def test_a_report_needs_no_training(self, done, monkeypatch):
        before = {path.name: path.read_bytes() for path in done.folder.iterdir()}
        monkeypatch.setattr(learning_curves, "solve_many", never)
        again(done.folder)
        assert {path.name: path.read_bytes() for path in done.folder.iterdir()} == before

    def test_damaged_predictions_give_no_table(self, done):
        path = done.folder / "predictions.npz"
        whole = path.read_bytes()
        for position in range(0, len(whole), 997):
            content = bytearray(whole)
            content[position] ^= 0x41
            path.write_bytes(content)
            with pytest.raises(DataError, match=r"predictions\.npz"):
                read_results(done.folder)
        path.write_bytes(whole[:-1])
        with pytest.raises(DataError, match=r"predictions\.npz"):
            read_results(done.folder)

    def test_an_archive_of_another_configuration_is_refused(self, done):
        content = (done.folder / "predictions.npz").read_bytes()
        with pytest.raises(KeyError):
            decode(curves(sizes=[12, 41]), content, {}, {})


def test_the_summary_has_a_row_a_point_and_tests_every_size(found):
    summary = kind_of(found.experiment).summarize(found)
    headline = summary.scores[summary.scores["fold"] == "all"]
    assert headline["cell"].tolist() == [cell.id for cell in found.experiment.cells]
    assert (summary.scores["fold"] != "all").sum() == 6 * len(headline)
    assert len(summary.significance) == 2 * 2 * 2  # tasks, selections, sizes
    assert set(summary.significance["n"] <= 6) == {True}
    (chart,) = summary.charts
    assert [line.label for panel in chart.panels for line in panel.lines] == ["linear", "diffusion"] * 4
    for panel in chart.panels:
        for line in panel.lines:
            assert all(low <= y <= high for low, y, high in zip(line.low, line.y, line.high, strict=True))
            assert all(a < b for a, b in pairwise(line.x))


def test_a_kernel_that_fails_is_named_and_the_others_stand(store, notebook):
    overflowing = {"name": "polynomial", "degree": 4000, "c": 10.0}
    done = run_learning_curves(curves(kernels=["linear", overflowing], compare=[]), store, observer=notebook)
    assert set(done.failures) == {"faculty-course-polynomial", "faculty-student-polynomial"}
    summary = kind_of(done.experiment).summarize(done)
    assert {cell.split("-")[2] for cell in summary.failures} == {"polynomial"}
    assert {cell.split("-")[2] for cell in summary.scores["cell"]} == {"linear"}
