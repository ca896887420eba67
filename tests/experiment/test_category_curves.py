"""Category curves against the estimators and scikit-learn on the same draws, and what must hold of any."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numba
import numpy as np
import pytest
from sklearn.metrics import f1_score
from sklearn.svm import SVC

from benchmark.compiled import numba_threads
from benchmark.config import config_from_mapping
from benchmark.errors import DataError
from benchmark.evaluation.published import load_published
from benchmark.experiment import category_curves, category_methods
from benchmark.experiment.category_curves import draw_rows, memberships, plan_category_curves, run_category_curves
from benchmark.experiment.category_methods import PARTS, weighted
from benchmark.experiment.category_scores import category_seconds, decode, encode, score
from benchmark.experiment.folder import read_results
from benchmark.experiment.kinds import kind_of
from benchmark.experiment.observer import Silent
from benchmark.experiment.reading import read_counts
from benchmark.experiment.session import again, perform
from benchmark.experiment.store import Store
from benchmark.model_kernels.fisher import PLSIFisher
from benchmark.model_kernels.hp_top import HyperplaneTop

CLASSES = ("faculty", "course", "student")
CURVES = {
    "kind": "category-curves",
    "name": "curves",
    "corpus": {"name": "synthetic", "classes": list(CLASSES)},
    "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 5},
    "test": "texas",
    "sizes": [40, 80],
    "replicates": 6,
    "methods": ["linear", "hp-top", {"name": "plsi-fisher", "n_classes": [2]}],
    "compare": [["hp-top", "linear"], ["plsi-fisher", "linear"]],
}
METHODS = ("linear", "hp-top", "plsi-fisher")


def never(*args, **kwargs):
    pytest.fail("this must not be called")


def curves(**changes):
    return config_from_mapping(CURVES | changes, "test.yaml")


def several_classes(variant, store, observer, *, download=True):
    """The generated corpus, each document with its class, some with the next one too, some with none."""
    counts, facts, key = read_counts(variant, store, observer, download=download)
    documents, rng = counts.documents, np.random.default_rng(0)
    topics = memberships(documents) & (rng.random((len(documents), 1)) > 0.15)
    topics |= np.roll(topics, 1, axis=1) & (rng.random((len(documents), 1)) < 0.2)
    labels = np.full(len(documents), -1, dtype=np.int32)
    return replace(counts, documents=replace(documents, labels=labels, topics=topics)), facts, key


@pytest.fixture(autouse=True)
def multilabel(monkeypatch):
    monkeypatch.setattr(category_curves, "read_counts", several_classes)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(category_curves, "read_counts", several_classes)
        folder = tmp_path_factory.mktemp("finished")
        return perform(curves(), Store(folder / "store", limit=10**9), folder=folder / "run")


@pytest.fixture(scope="module")
def found(finished):
    return finished.results


@pytest.fixture(scope="module")
def counts(found):
    return several_classes(found.experiment.settings[0].documents, Store(), Silent())[0]


@pytest.fixture(scope="module")
def draws(counts):
    """(size, position of the draw, training rows, test rows) of every draw."""
    held = counts.documents.groups == counts.documents.group_names.index("texas")
    pool, test = np.flatnonzero(~held), np.flatnonzero(held)
    sizes = [(size, draw) for size in (40, 80) for draw in range(6)]
    return [(size, draw, draw_rows(pool, size, draw + 1, 0, nested=False), test) for size, draw in sizes]


class TestDraws:
    POOL = np.arange(100, 400)

    def test_are_of_their_size_ascending_and_from_the_pool(self):
        for size in (1, 20, 300):
            rows = draw_rows(self.POOL, size, 3, 7, nested=False)
            assert len(rows) == size
            assert (np.diff(rows) > 0).all()
            assert np.isin(rows, self.POOL).all()

    def test_nest_where_they_should(self):
        small, large = (set(draw_rows(self.POOL, size, 2, 0, nested=True)) for size in (30, 90))
        assert small < large
        small, large = (set(draw_rows(self.POOL, size, 2, 0, nested=False)) for size in (30, 90))
        assert not small <= large

    @pytest.mark.parametrize("nested", [True, False])
    def test_differ_by_replicate_and_seed(self, nested):
        given = [(1, 0), (2, 0), (1, 1)]
        rows = [tuple(draw_rows(self.POOL, 50, replicate, seed, nested=nested)) for replicate, seed in given]
        assert len(set(rows)) == 3

    @pytest.mark.parametrize("size", [0, 301])
    def test_more_than_there_is_is_refused(self, size):
        with pytest.raises(ValueError, match="can't be drawn from 300"):
            draw_rows(self.POOL, size, 1, 0, nested=False)

    def test_a_larger_grid_never_changes_earlier_ones(self, found, store):
        other = run_category_curves(curves(sizes=[40, 60, 80], replicates=7, methods=["linear"], compare=[]), store)
        for cell in ("linear-40", "linear-80"):
            assert np.array_equal(other.found[cell].assigned[:6], found.found[cell].assigned)

    def test_nested_ones_are_run(self, store, found):
        other = run_category_curves(curves(nested=True, methods=["linear"], compare=[]), store)
        assert not np.array_equal(other.found["linear-40"].assigned, found.found["linear-40"].assigned)


class TestDecisions:
    def test_of_the_linear_method_are_scikit_learns(self, found, counts, draws):
        members = memberships(counts.documents)
        for size, draw, train, test in draws:
            points, tested = weighted(counts.matrix[train], counts.matrix[test], "tf", "l2")
            for x in range(3):
                if not members[train, x].any():
                    continue
                machine = SVC(C=1.0, kernel="linear").fit(points.toarray(), members[train, x])
                expected = machine.decision_function(tested.toarray())
                sure = np.abs(expected) > 1e-3  # both stop at epsilon
                assigned = found.found[f"linear-{size}"].assigned[draw, :, x]
                assert np.array_equal(assigned[sure], expected[sure] > 0)

    def test_of_hp_top_are_those_of_the_estimator(self, found, counts, draws):
        members = memberships(counts.documents)
        other = np.column_stack([members, ~members.any(axis=1)])
        for size, draw, train, test in draws:
            points, tested = weighted(counts.matrix[train], counts.matrix[test], "tf", "l2")
            values = HyperplaneTop().fit(points, other[train]).solve_targets([0, 1, 2], tested)
            assert np.array_equal(found.found[f"hp-top-{size}"].assigned[draw], values > 0)

    def test_of_fisher_are_those_of_machines_on_the_kernel(self, found, counts, draws):
        members, study = memberships(counts.documents), found.experiment
        work = category_curves._Work(
            study, study.settings[0], counts, "", Store(), 1, Silent(), category_curves.NodeMatrix()
        )
        size, draw, train, test = draws[-1]
        kernel = PLSIFisher(n_classes=[2], seed=work._seed(size, draw + 1))
        gram, rows = kernel.fit_transform(counts.matrix[train]), kernel.transform(counts.matrix[test])
        for x in range(3):
            expected = SVC(C=1.0, kernel="precomputed").fit(gram, members[train, x]).decision_function(rows)
            sure = np.abs(expected) > 1e-3
            assert np.array_equal(found.found[f"plsi-fisher-{size}"].assigned[draw, sure, x], expected[sure] > 0)

    def test_seconds_are_positive_and_linear_machines_need_no_features(self, found):
        for cell, each in found.found.items():
            assert (each.seconds >= 0).all()
            assert (each.seconds.sum(axis=1) > 0).all()
            assert (each.seconds[:, PARTS.index("extraction")] == 0).all() == cell.startswith("linear")

    @pytest.mark.parametrize("weighting", ["tf", "binary", "tfidf"])
    def test_weighting_sees_the_training_documents_alone(self, counts, weighting):
        train, test = np.arange(30), np.arange(30, 50)
        points, tested = weighted(counts.matrix[train], counts.matrix[test], weighting, "l2")
        again, fewer = weighted(counts.matrix[train], counts.matrix[test[:5]], weighting, "l2")
        assert np.array_equal(points.toarray(), again.toarray())
        assert np.array_equal(tested.toarray()[:5], fewer.toarray())
        if weighting == "binary":
            bare, _ = weighted(counts.matrix[train], counts.matrix[test], "binary", "none")
            assert np.array_equal(bare.toarray(), counts.matrix[train].toarray() > 0)


class TestMissingCategories:
    """What becomes of a category that a draw has no document of, or one."""

    @pytest.fixture
    def solved(self, counts):
        def solved(n_members, names=METHODS):
            members = memberships(counts.documents)[:60].copy()
            members[:, 2] = np.arange(60) < n_members
            draw = category_methods.Draw(counts.matrix[:60], counts.matrix[60:], members, CLASSES)
            solver = category_methods.Solver(1.0, 1e-3, 1, category_curves.NodeMatrix())
            wanted = {method.name: method for method in curves().methods if method.name in names}
            return category_methods.solve(draw, ("tf", "l2"), solver, wanted, 0)

        return solved

    def test_without_documents_is_given_to_none(self, solved):
        for name, decided in solved(0).items():
            assert not decided.assigned[:, 2].any(), name
            assert decided.assigned[:, :2].any(), name

    def test_of_all_documents_is_given_to_all(self, solved):
        for name, decided in solved(60, ("linear", "plsi-fisher")).items():
            assert decided.assigned[:, 2].all(), name

    def test_with_one_document_has_no_density_and_hp_top_says_so(self, solved):
        decided = solved(1)
        assert "the category 'student' has 1 training documents; a variance needs at least two" in decided["hp-top"]
        assert not isinstance(decided["linear"], str)
        assert not isinstance(decided["plsi-fisher"], str)

    def test_of_one_point_has_no_variance_and_hp_top_says_so(self, counts):
        twice = counts.matrix[np.r_[0:40, 0]]
        members = memberships(counts.documents)[np.r_[0:40, 0]].copy()
        members[:, 2] = np.isin(np.arange(41), [0, 40])
        draw = category_methods.Draw(twice, counts.matrix[60:], members, CLASSES)
        solver = category_methods.Solver(1.0, 1e-3, 1, category_curves.NodeMatrix())
        wanted = {method.name: method for method in curves().methods if method.name == "hp-top"}
        assert "'student' lie equally far" in category_methods.solve(draw, ("tf", "l2"), solver, wanted, 0)["hp-top"]

    def test_scores_are_numbers_and_failures_have_reasons(self, store, notebook):
        done = run_category_curves(curves(sizes=[3, 80]), store, observer=notebook)
        assert set(done.failures) == {"hp-top-3"}
        assert "replicate 1: the category" in done.failures["hp-top-3"]
        assert any("hp-top-3 failed" in note for note in notebook.notes)
        summary = kind_of(done.experiment).summarize(done)
        assert np.isfinite(summary.scores["value"]).all()
        assert set(summary.failures) == {"hp-top-3"}
        assert "hp-top-3" not in set(summary.scores["cell"])
        assert "hp-top-3" not in {*summary.significance["a"], *summary.significance["b"]}
        back = decode(done.experiment, encode(done), done.failures, done.facts)
        assert encode(back) == encode(done)


class TestScores:
    def test_are_scikit_learns(self, found):
        truth = found.tested.truth
        for cell, scored in score(found).items():
            for draw, assigned in enumerate(found.found[cell].assigned):
                for metric, average in (("macro-f1", "macro"), ("micro-f1", "micro")):
                    expected = f1_score(truth, assigned, average=average, zero_division=0)
                    assert scored.scores[metric][draw] == pytest.approx(expected)

    def test_seconds_of_a_run_share_what_all_categories_need(self):
        seconds = np.array([[100.0, 3.0, 20.0, 50.0, 100.0]])
        assert category_seconds(seconds, "linear", 10).tolist() == [3 + 20 + 5]
        assert category_seconds(seconds, "hp-top", 10).tolist() == [3 + 2 + 5]


class TestVariants:
    def test_each_changes_what_it_names(self, store):
        variants = {"bare": {"normalization": "none"}, "hard": {"machine": {"C": 100.0}}}
        done = run_category_curves(curves(variants=variants, compare=[]), store)
        for name in variants:
            base, other = done.found["linear-80"].assigned, done.found[f"{name}-linear-80"].assigned
            assert not np.array_equal(base, other), name

    def test_weighting_is_nothing_to_plsi(self, store, monkeypatch):
        run_category_curves(curves(), store)
        monkeypatch.setattr(category_methods, "solve_fisher", never)
        done = run_category_curves(curves(variants={"bare": {"normalization": "none"}}), store)
        base, other = done.found["plsi-fisher-80"], done.found["bare-plsi-fisher-80"]
        assert np.array_equal(base.assigned, other.assigned)


@pytest.mark.usefixtures("every_numba_thread")
def test_threads_of_compiled_functions_are_as_many_as_jobs_while_it_runs():
    before = numba.get_num_threads()
    with numba_threads(1):
        assert numba.get_num_threads() == 1
    with numba_threads(1000):
        assert numba.get_num_threads() == before
    assert numba.get_num_threads() == before


class TestStore:
    def test_what_it_has_is_not_computed_again(self, store, monkeypatch):
        first = run_category_curves(curves(), store)
        monkeypatch.setattr(category_curves, "solve", never)
        assert encode(run_category_curves(curves(), store)) == encode(first)

    def test_a_run_that_was_stopped_goes_on_where_it_was(self, store, found, monkeypatch):
        solve, done = category_curves.solve, []

        def stopping(*args):
            if len(done) == 4:
                raise KeyboardInterrupt
            done.append(args)
            return solve(*args)

        monkeypatch.setattr(category_curves, "solve", stopping)
        with pytest.raises(KeyboardInterrupt):
            run_category_curves(curves(), store)
        rows, _ = plan_category_curves(curves(), store, Silent())
        assert [row[1:] for row in rows] == [(6, 4, "to build"), (6, 0, "to build")] * 3
        done.clear()
        monkeypatch.setattr(category_curves, "solve", lambda *args: done.append(args) or solve(*args))
        finished = run_category_curves(curves(), store)
        assert len(done) == 8
        for cell, each in finished.found.items():
            assert np.array_equal(each.assigned, found.found[cell].assigned)

    def test_a_method_that_is_missing_is_computed_alone(self, store, found):
        run_category_curves(curves(methods=["linear"], compare=[]), store)
        done = run_category_curves(curves(), store)
        for cell, each in done.found.items():
            assert np.array_equal(each.assigned, found.found[cell].assigned)


class TestFolder:
    @pytest.fixture
    def done(self, finished, tmp_path):
        """A folder of its own for each test."""
        shutil.copytree(finished.folder, tmp_path / "run")
        return replace(finished, folder=tmp_path / "run")

    def test_a_report_needs_no_training_and_draws_the_same_times(self, done, monkeypatch):
        before = {path.name: path.read_bytes() for path in done.folder.iterdir()}
        assert {"figure-1.png", "figure-2.png", "figure-3.png", "categories-f1.png"} <= set(before)
        monkeypatch.setattr(category_curves, "solve", never)
        again(done.folder)
        assert {path.name: path.read_bytes() for path in done.folder.iterdir()} == before

    def test_tables_have_no_times(self, done, tmp_path):
        other = perform(curves(), Store(tmp_path / "other"), folder=tmp_path / "again")
        seconds = [each.results.found["hp-top-80"].seconds for each in (done, other)]
        assert not np.array_equal(*seconds)
        timed = {"manifest.json", "predictions.npz", "figure-3.png", "figure-3.svg"}
        for path in done.folder.iterdir():
            same = (other.folder / path.name).read_bytes() == path.read_bytes()
            assert same or path.name in timed, path.name

    def test_damaged_predictions_give_no_table(self, done):
        path = done.folder / "predictions.npz"
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(DataError, match=r"predictions\.npz"):
            read_results(done.folder)

    def test_an_archive_of_another_configuration_is_refused(self, done):
        content = (done.folder / "predictions.npz").read_bytes()
        with pytest.raises(KeyError):
            decode(curves(sizes=[40, 81]), content, {}, {})


class TestSummary:
    def test_holm_is_over_the_sizes_of_a_pair_and_a_test(self, finished):
        table = finished.summary.significance
        assert len(table) == 2 * 2 * 4  # pairs of methods, sizes, tests
        for (_, _, _), rows in table.groupby([table["a"].str[:6], table["b"].str[:6], "test"]):
            p, corrected = rows["p_value"].to_numpy(), rows["p_holm"].to_numpy()
            low, high = np.argsort(p, kind="stable")
            assert corrected[low] == pytest.approx(min(1, 2 * p[low]))
            assert corrected[high] == pytest.approx(max(min(1, 2 * p[low]), p[high]))

    def test_printed_counts_of_documents_stand_beside_ours(self, publish, found, store):
        values = [
            {"config": "curves", "cell": "faculty-texas", "metric": "documents", "value": "1"},
            {"config": "curves", "cell": "course-texas", "metric": "documents", "value": "0"},
            {"config": "another", "cell": "course-texas", "metric": "documents", "value": "0"},
        ]
        sizes = several_classes(found.experiment.settings[0].documents, store, Silent())[0].documents
        texas = sizes.group_names.index("texas")
        values[0]["value"] = str(sizes.sizes()[0, texas])
        paper = publish({"paper": "p2000", "title": "P", "reference": "R", "values": values})
        done = run_category_curves(curves(paper=paper), store)
        verdicts = kind_of(done.experiment).summarize(done).verdicts
        assert verdicts["cell"].tolist() == ["faculty-texas", "course-texas"]
        assert verdicts["verdict"].tolist() == ["exact", "deviates"]
        assert verdicts["value"].tolist() == sizes.sizes()[:2, texas].tolist()

    def test_a_sweep_judges_the_claims_on_the_sizes_that_it_has(self, publish, store):
        loop = {"for": {"size": ["40", "80"]}, "config": "curves", "a": "hp-top-{size}", "b": "linear-{size}"}
        claim = {"id": "c", "text": "T", "relation": "greater", "metric": "micro-f1", "alpha": 0.05}
        publish({"paper": "p2000", "title": "P", "reference": "R", "claims": [claim | {"comparisons": [loop]}]})
        sweep = curves(name="sweep", explains="curves", sizes=[80], variants={"bare": {"normalization": "none"}})
        summary = kind_of(sweep).summarize(run_category_curves(sweep, store))
        assert summary.claims["claim"].tolist() == ["c", "c · bare"]
        assert summary.claims["of"].tolist() == [1, 1]
        assert not summary.claims["verdict"].str.startswith("not tested").any()

    def test_notes_state_the_rules(self, finished):
        notes = " ".join(finished.summary.notes)
        for rule in ("of none, stay as negative examples", "has F = 0", "Holm", "no variance", "Fewest training"):
            assert rule in notes


def test_the_papers_claims_speak_of_cells_that_there_are():
    from benchmark.config import PUBLISHED, load_config  # noqa: PLC0415

    study = load_config(PUBLISHED.parents[1] / "configs" / "reuters-hp-top.yaml")
    published = load_published(PUBLISHED / "takamura2004.yaml")
    cells = {cell.id for cell in study.cells}
    for claim in published.claims:
        for comparison in claim.comparisons:
            assert {comparison.a, comparison.b} <= cells
            assert comparison.config == study.name
    assert len(published.values) == 20
