"""Feature curves on the generated corpus, whose universities stand for the sides of a split."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import mutual_info_classif
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.svm import SVC

from benchmark.classifiers.class_specific import EmbeddedFamily, ProjectedPdf
from benchmark.config import config_from_mapping
from benchmark.errors import ConfigError, DataError
from benchmark.evaluation.intervals import wilson
from benchmark.evaluation.significance import sign_test
from benchmark.experiment import feature_curves
from benchmark.experiment.feature_curves import plan_feature_curves, run_feature_curves
from benchmark.experiment.feature_scores import decode, encode, outcomes_of
from benchmark.experiment.folder import read_results
from benchmark.experiment.kinds import kind_of
from benchmark.experiment.observer import Silent
from benchmark.experiment.reading import read_counts
from benchmark.experiment.session import again, perform
from benchmark.experiment.store import Store
from benchmark.information_gain import aggregate, information_gain, rank_terms

SIZES = [5, 40, 200]
METHODS = ["mnb", "complement-nb", "ppt", "eef", "svm"]
FEATURES = {
    "kind": "feature-curves",
    "name": "features",
    "corpus": {"name": "synthetic"},
    "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_documents": 2},
    "split": {"train": ["misc", "texas"], "test": ["cornell", "washington"]},
    "panels": [
        {"title": "All four", "largest": 4},
        {"title": "Two", "classes": ["student", "course"]},
    ],
    "methods": METHODS,
    "sizes": SIZES,
    "smoothing": 0.5,
    "selection": "average",
    "machine": {"C": 0.01},
    "compare": [["eef", "ppt"], ["eef", "svm"]],
}


def never(*args, **kwargs):
    pytest.fail("this must not be called")


def features(**changes):
    return config_from_mapping(FEATURES | changes, "test.yaml")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return run_feature_curves(features(), Store(tmp_path_factory.mktemp("store"), limit=10**9))


def split(found, panel):
    """Dense counts and labels of a panel's training and test documents, in the corpus's order."""
    study = found.experiment
    counts, _, _ = read_counts(study.settings[0].documents, Store(), Silent())
    documents = counts.documents
    codes = {documents.classes.index(name): code for code, name in enumerate(panel.classes)}
    sides = []
    for groups in (study.train_groups, study.test_groups):
        rows = [
            row
            for row in range(len(documents))
            if documents.labels[row] in codes and documents.group_names[documents.groups[row]] in groups
        ]
        labels = np.array([codes[documents.labels[row]] for row in rows])
        sides += [counts.matrix[rows].toarray().astype(float), labels]
    return sides


@pytest.fixture(scope="module", params=[0, 1], ids=["four", "two"])
def panel(found, request):
    chosen = found.experiment.panels[request.param]
    return found.panels["base", chosen.name], split(found, chosen)


def best_of_all(X, y, size):
    gains = information_gain(X, y)
    return rank_terms(aggregate(gains, np.bincount(y) / len(y), "average"))[:size]


@pytest.mark.parametrize("size", SIZES)
class TestOracles:
    @pytest.mark.parametrize(
        ("method", "theirs"), [("mnb", MultinomialNB(alpha=0.5)), ("complement-nb", ComplementNB(alpha=0.5))]
    )
    def test_bayes_on_the_common_terms_is_that_of_scikit_learn(self, panel, size, method, theirs):
        result, (X, y, X_test, _) = panel
        terms = best_of_all(X, y, size)
        expected = theirs.fit(X[:, terms], y).predict(X_test[:, terms])
        assert np.array_equal(result.found[method, size].codes, expected)

    def test_the_machine_is_that_of_scikit_learn(self, panel, size):
        result, (X, y, X_test, _) = panel
        terms = best_of_all(X, y, size)
        order = np.argsort(y, kind="stable")  # LIBSVM's numbers depend on the order of the documents
        points = X[order][:, terms]
        machine = SVC(C=0.01, kernel="precomputed").fit(points @ points.T, y[order])
        assert np.array_equal(result.found["svm", size].codes, machine.predict(X_test[:, terms] @ points.T))

    @pytest.mark.parametrize(("method", "cls"), [("ppt", ProjectedPdf), ("eef", EmbeddedFamily)])
    def test_each_class_selects_terms_of_its_own(self, panel, size, method, cls):
        result, (X, y, X_test, _) = panel
        expected = cls(n_terms=size, smoothing=0.5).fit(X, y).predict(X_test)
        assert np.array_equal(result.found[method, size].codes, expected)


def test_truth_and_ids_are_those_of_the_test_documents(panel, found):
    result, (_, _, _, y_test) = panel
    assert np.array_equal(result.truth, y_test)
    assert {name.split("/")[1] for name in result.ids} == {"cornell", "washington"}


def test_the_average_gain_ranks_terms_as_scikit_learns_mutual_information(found):
    """An independent road to the one ranking that the class-independent methods share, with two classes."""
    X, y, _, _ = split(found, found.experiment.panels[1])
    theirs = mutual_info_classif(X > 0, y, discrete_features=True)
    chosen = best_of_all(X, y, 40)
    assert theirs[chosen].min() >= np.sort(theirs)[-40] - 1e-9


def test_documents_without_a_selected_term_tie_in_complement_naive_bayes(found):
    for chosen in found.experiment.panels:
        X, y, X_test, _ = split(found, chosen)
        empty = X_test[:, best_of_all(X, y, 5)].sum(axis=1) == 0
        predicted = found.panels["base", chosen.name].found["complement-nb", 5]
        assert predicted.tied[empty].all()
        assert (predicted.codes[empty] == 0).all()


class TestVariants:
    def test_each_changes_what_it_names(self, store):
        variants = {
            "smooth": {"smoothing": 5},
            "presence": {"counts": "presence"},
            "maximum": {"selection": "maximum"},
            "hard": {"machine": {"C": 100}},
            "sphere": {"machine": {"normalization": "l2", "C": 1}},
            "idf": {"machine": {"weighting": "tfidf"}},
            "rest": {"machine": {"scheme": "one-vs-rest"}},
        }
        sizes = [20, 40]
        done = run_feature_curves(features(variants=variants, sizes=sizes), store)

        def codes(name, method):
            found = done.panels[name, "all-four"].found
            return np.stack([found[method, size].codes for size in sizes])

        changed = {
            name: {method for method in METHODS if not np.array_equal(codes(name, method), codes("base", method))}
            for name in variants
        }
        assert changed["smooth"] <= {"mnb", "complement-nb", "ppt", "eef"}
        assert {"mnb", "eef"} <= changed["smooth"]
        assert changed["presence"] >= {"mnb", "ppt", "eef", "svm"}
        assert changed["maximum"] == {"mnb", "complement-nb", "svm"}
        for name in ("hard", "sphere", "idf", "rest"):
            assert changed[name] == {"svm"}, name

    def test_points_are_weighted_and_normalized_over_the_selected_terms(self, store, found):
        machine = {"C": 1, "weighting": "tfidf", "normalization": "l2"}
        done = run_feature_curves(features(machine=machine, methods=["svm"], sizes=[40], compare=[]), store)
        chosen = found.experiment.panels[0]
        X, y, X_test, _ = split(found, chosen)
        order, terms = np.argsort(y, kind="stable"), best_of_all(X, y, 40)
        idf = np.log(len(X) / (X[:, terms] > 0).sum(axis=0))
        points, others = X[order][:, terms] * idf, X_test[:, terms] * idf
        points, others = (
            each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-300) for each in (points, others)
        )
        expected = SVC(C=1, kernel="precomputed").fit(points @ points.T, y[order]).predict(others @ points.T)
        assert np.array_equal(done.panels["base", chosen.name].found["svm", 40].codes, expected)


class TestRefusals:
    def test_more_terms_than_words_are_refused_before_training(self, store, monkeypatch):
        monkeypatch.setattr(feature_curves._Work, "run", never)
        rare = {"text": {"min_occurrences": 300}}
        with pytest.raises(ConfigError, match=r"features: 200 terms can't be selected from the \d+ .*'rare'"):
            run_feature_curves(features(variants={"rare": rare}), store)

    def test_a_class_whose_training_documents_are_excluded_is_refused(self, store, monkeypatch, found):
        monkeypatch.setattr(feature_curves._Work, "run", never)
        counts, _, _ = read_counts(found.experiment.settings[0].documents, Store(), Silent())
        gone = [name for name in counts.documents.ids if name.startswith(("course/misc", "course/texas"))]
        with pytest.raises(ConfigError, match="no training document of course"):
            run_feature_curves(features(corpus={"name": "synthetic", "exclude": gone}), store)

    def test_other_data_than_expected_gives_no_score(self, store, monkeypatch):
        monkeypatch.setattr(feature_curves._Work, "run", never)
        with pytest.raises(DataError, match="expects 599 documents"):
            run_feature_curves(features(expect={"documents": 599}), store)


class TestStore:
    def test_what_it_has_is_not_trained_again(self, store, found, monkeypatch):
        first = run_feature_curves(features(), store)
        for name in ("fit_machines", "information_gain", "EmbeddedFamily"):
            monkeypatch.setattr(feature_curves, name, never)
        second = run_feature_curves(features(), store)
        assert encode(first) == encode(second) == encode(found)

    def test_a_variant_trains_only_what_it_changes(self, store, monkeypatch):
        run_feature_curves(features(), store)
        for name in ("MultinomialBayes", "ComplementNB"):
            monkeypatch.setattr(feature_curves, name, never)
        run_feature_curves(features(variants={"hard": {"machine": {"C": 7}}}), store)

    def test_the_plan_counts_what_is_there(self, store):
        rows, size = plan_feature_curves(features(), store, Silent())
        states = ["not needed"] * 4 + ["to build"]
        assert [row[1:] for row in rows] == [(3, 0, state) for state in states] * 2
        assert size > 0
        run_feature_curves(features(), store)
        rows, size = plan_feature_curves(features(), store, Silent())
        assert [row[1:] for row in rows] == [(3, 3, "not needed")] * 10
        assert size == 0

    @pytest.mark.usefixtures("every_numba_thread")
    def test_threads_change_nothing(self, store, found):
        assert encode(run_feature_curves(features(), store, jobs=2)) == encode(found)


class TestFolder:
    @pytest.fixture
    def done(self, tmp_path):
        return perform(features(), Store(tmp_path / "store"), folder=tmp_path / "run")

    def test_predictions_come_back_as_they_were(self, done):
        back = read_results(done.folder)
        assert encode(back) == encode(done.results)
        assert back.facts == done.results.facts

    def test_a_report_needs_no_training(self, done, monkeypatch):
        before = {path.name: path.read_bytes() for path in done.folder.iterdir()}
        monkeypatch.setattr(feature_curves._Work, "run", never)
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

    def test_an_archive_of_another_configuration_is_refused(self, done):
        content = (done.folder / "predictions.npz").read_bytes()
        with pytest.raises(KeyError):
            decode(features(sizes=[5, 41]), content, {}, {})


class TestSummary:
    def test_a_point_has_its_accuracy_and_wilsons_interval(self, found):
        summary = kind_of(found.experiment).summarize(found)
        headline = summary.scores[summary.scores["fold"] == "all"].set_index("cell")
        assert headline.index.tolist() == [cell.id for cell in found.experiment.cells]
        for cell in found.experiment.cells:
            own = found.panels["base", cell.panel]
            right = own.found[cell.method, cell.size].codes == own.truth
            row = headline.loc[cell.id]
            assert row["value"] == pytest.approx(right.mean())
            assert (row["low"], row["high"]) == pytest.approx(wilson(int(right.sum()), len(right)))

    def test_pairs_are_tested_on_documents_and_corrected_over_the_picture(self, found):
        summary, outcomes = kind_of(found.experiment).summarize(found), outcomes_of(found)
        tests = summary.significance
        assert set(tests["test"]) == {"sign", "mcnemar"}
        signs = tests[tests["test"] == "sign"]
        assert len(signs) == 2 * 2 * len(SIZES)
        p_values = [sign_test(outcomes[a], outcomes[b]).p_value for a, b in zip(signs["a"], signs["b"], strict=True)]
        assert signs["p_value"].tolist() == pytest.approx(p_values)
        assert signs["p_holm"].min() == pytest.approx(min(1.0, len(signs) * min(p_values)))

    def test_the_chart_has_a_line_a_method_and_a_panel_a_data_set(self, found):
        (chart,) = kind_of(found.experiment).summarize(found).charts
        assert [panel.title for panel in chart.panels] == ["All four", "Two"]
        for panel in chart.panels:
            assert [line.label for line in panel.lines] == ["MNB", "Complement NB", "PPT", "EEF", "SVM"]
            for line in panel.lines:
                assert line.x == tuple(map(float, SIZES))
                assert all(low < y < high for low, y, high in zip(line.low, line.y, line.high, strict=True))

    def test_a_sweep_judges_the_claims_of_what_it_explains_under_each_variant(self, store, publish):
        claim = {
            "id": "machine-above-bayes",
            "text": "With K = 40, the machine is above naive Bayes.",
            "relation": "greater",
            "alpha": 0.05,
            "comparisons": [{"config": "main", "a": "all-four-svm-40", "b": "all-four-mnb-40"}],
        }
        publish({"paper": "x2016", "title": "x", "reference": "x", "claims": [claim]})
        done = run_feature_curves(features(explains="main", variants={"soft": {"machine": {"C": 1e-9}}}), store)
        summary, outcomes = kind_of(done.experiment).summarize(done), outcomes_of(done)
        for row, prefix in zip(summary.claims.to_dict("records"), ("", "soft-"), strict=True):
            above = outcomes[f"{prefix}all-four-svm-40"].correct.mean() > outcomes["all-four-mnb-40"].correct.mean()
            assert row["verdict"] == ("holds" if above else "fails")
        assert summary.claims["claim"].tolist() == ["machine-above-bayes", "machine-above-bayes · soft"]
        assert summary.claims["verdict"].iloc[1] == "fails"  # with C next to 0 a machine has learnt nothing
        whole = summary.claims["verdict"].iloc[0] == "holds"
        assert summary.notes[-1] == (
            f"The claim machine-above-bayes holds {'under base' if whole else 'nowhere, not even in part'}."
        )

    def test_a_method_that_fails_is_named_and_the_others_stand(self, store, monkeypatch, notebook):
        def overflow(*args, **kwargs):
            raise FloatingPointError("values that are not finite")

        monkeypatch.setattr(feature_curves, "fit_machines", overflow)
        done = run_feature_curves(features(), store, observer=notebook)
        assert set(done.failures) == {f"{panel}-svm-{size}" for panel in ("all-four", "two") for size in SIZES}
        assert encode(decode(done.experiment, encode(done), done.failures, done.facts)) == encode(done)
        summary = kind_of(done.experiment).summarize(done)
        assert set(summary.failures) == set(done.failures)
        assert not summary.scores["cell"].str.contains("svm").any()
        assert set(summary.significance["b"].str.contains("svm")) == {False}


class TestCompare:
    def test_two_points_of_a_panel(self, found):
        scores, tests = kind_of(found.experiment).compare_cells(found, "two-eef-40", "two-mnb-40")
        assert scores.rows[0][0] == "accuracy"
        assert [row[0] for row in tests.rows] == ["sign", "mcnemar"]

    def test_points_of_different_panels_are_not_paired(self, found):
        with pytest.raises(ConfigError, match="different panels"):
            kind_of(found.experiment).compare_cells(found, "two-eef-40", "all-four-eef-40")

    def test_a_run_with_itself(self, found):
        part = kind_of(found.experiment).compare_runs(found, found, ("one", "two"))
        assert len(part.rows) == len(found.experiment.cells)
        assert {row[-1] for row in part.rows} == {0}
        assert {row[-2] for row in part.rows} == {len(each.ids) for each in found.panels.values()}
