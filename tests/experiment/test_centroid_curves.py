"""Centroid curves against their definitions and scikit-learn's metrics, and what must hold of any."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import recall_score

from benchmark.centroids import average_skl_to_others, class_statistics, mean_skl, skl_centroid, symmetric_kl
from benchmark.classifiers.divergence_bayes import DivergenceBayes
from benchmark.config import config_from_mapping
from benchmark.config.centroid_curves import ALL
from benchmark.errors import ConfigError, DataError
from benchmark.evaluation.draws import mean_estimate
from benchmark.experiment import centroid_curves, centroid_solvers
from benchmark.experiment.centroid_curves import UNTESTED, plan_centroid_curves, run_centroid_curves
from benchmark.experiment.centroid_scores import decode, document_test, encode, scores_of
from benchmark.experiment.folder import read_manifest, read_results
from benchmark.experiment.kinds import kind_of
from benchmark.experiment.manifest import differing
from benchmark.experiment.observer import Silent
from benchmark.experiment.reading import read_counts
from benchmark.experiment.session import again, perform
from benchmark.experiment.store import Store
from benchmark.text.counts import Counts

CLASSES = ["faculty", "course", "student"]
CURVES = {
    "kind": "centroid-curves",
    "name": "centroids",
    "corpus": {"name": "synthetic", "classes": CLASSES},
    "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 40},
    "smoothing": 0.001,
    "sizes": [12, 60],
    "replicates": 6,
    "table": {"smoothing": [0.001, 0.1], "resamples": 8},
    "flow": {"graphs": ["path", "co-occurrence-tree"]},
    "compare": [["skl", "mean"]],
}


def never(*args, **kwargs):
    pytest.fail("this must not be called")


def curves(**changes):
    return config_from_mapping(CURVES | changes, "test.yaml")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return run_centroid_curves(curves(), Store(tmp_path_factory.mktemp("store"), limit=10**9), jobs=2)


@pytest.fixture(scope="module")
def counts(found):
    return read_counts(found.experiment.settings[0].documents, Store(), Silent())[0]


@pytest.fixture(scope="module")
def finished_curves(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    return perform(curves(), Store(folder / "store", limit=10**9), folder=folder / "run")


@pytest.mark.parametrize("centroid", ["mean", "skl"])
@pytest.mark.parametrize("size", [12, 60])
def test_predictions_are_those_of_the_classifier_trained_on_each_draw(found, counts, centroid, size):
    predicted = found.settings["base"].found[centroid, size]
    labels = counts.documents.labels
    for row, split in zip(
        predicted.codes, found.experiment.splits(found.experiment.settings[0], counts.documents, size), strict=True
    ):
        assert len(split.train) == size
        classifier = DivergenceBayes(centroid, 0.001).fit(counts.matrix[split.train], labels[split.train])
        assert np.array_equal(row[split.test], classifier.predict(counts.matrix[split.test]))
        assert (row[split.train] == UNTESTED).all()


class TestScores:
    def test_accuracy_of_a_topic_is_its_recall_and_all_is_their_mean(self, found):
        scored, labels = scores_of(found), found.settings["base"].documents.labels
        predicted = found.settings["base"].found["skl", 60]
        for draw, row in enumerate(predicted.codes):
            tested = row != UNTESTED
            recalls = recall_score(labels[tested], row[tested], labels=range(3), average=None)
            ours = [scored[f"{topic}-skl-60"].scores["accuracy"][draw] for topic in CLASSES]
            assert ours == pytest.approx(recalls)
            assert scored["all-skl-60"].scores["accuracy"][draw] == pytest.approx(recalls.mean())

    def test_growth_is_the_last_size_less_the_first(self, found):
        scored = scores_of(found)
        for topic in (ALL, *CLASSES):
            growth = scored[f"growth-{topic}-mean"].scores["accuracy"]
            last, first = (scored[f"{topic}-mean-{size}"].scores["accuracy"] for size in (60, 12))
            assert growth == pytest.approx(last - first)

    def test_a_document_test_counts_a_document_once(self, found):
        test = document_test(found, "all-skl-12", "all-mean-12")
        assert 0 < test.n <= len(found.settings["base"].documents)
        own = [document_test(found, f"{topic}-skl-12", f"{topic}-mean-12").n for topic in CLASSES]
        assert sum(own) == test.n

    @pytest.mark.parametrize("other", ["all-mean-60", "course-mean-12", "growth-all-mean", "table-skl-course"])
    def test_what_was_not_tested_on_the_same_documents_is_not_paired(self, found, other):
        assert document_test(found, "all-skl-12", other) is None


class TestTable:
    def test_is_the_mean_divergence_between_the_centroids_of_all_documents(self, found, counts):
        labels = counts.documents.labels
        statistics = [class_statistics(counts.matrix[labels == c], 0.001) for c in range(3)]
        for name, centroids in (
            ("skl", [skl_centroid(each) for each in statistics]),
            ("mean", [each.mean for each in statistics]),
        ):
            values = found.settings["base"].table[name].values
            for c in range(3):
                others = [symmetric_kl(centroids[c], centroids[o]) for o in range(3) if o != c]
                assert values[c] == pytest.approx(np.mean(others))

    def test_pooled_is_of_summed_counts(self, found, counts):
        labels = counts.documents.labels
        sums = np.array([counts.matrix[labels == c].sum(axis=0) for c in range(3)]) + 0.001
        expected = average_skl_to_others(sums / sums.sum(axis=1, keepdims=True))
        assert found.settings["base"].table["pooled"].values == pytest.approx(expected)

    def test_by_smoothing_holds_the_table_itself(self, found):
        for row in found.settings["base"].table.values():
            assert row.by_smoothing.shape == (2, 3)
            assert np.array_equal(row.by_smoothing[0], row.values)
            assert (row.by_smoothing[1] < row.values).all()

    def test_resamples_differ_and_their_interval_holds_the_value(self, found):
        scored = scores_of(found)
        for centroid, row in found.settings["base"].table.items():
            assert row.resampled.shape == (8, 3)
            assert len(np.unique(row.resampled, axis=0)) == 8
            for c, topic in enumerate(CLASSES):
                estimate = mean_estimate(scored[f"table-{centroid}-{topic}"], "average-skl")
                assert estimate.low < estimate.value == row.values[c] < estimate.high
                assert estimate.high - estimate.low <= np.ptp(row.resampled[:, c])

    def test_more_resamples_leave_the_first_as_they_were(self, found, store):
        other = run_centroid_curves(curves(table={"resamples": 12}, flow=None), store)
        for centroid, row in found.settings["base"].table.items():
            assert np.array_equal(other.settings["base"].table[centroid].resampled[:8], row.resampled)


class TestSolvers:
    def test_every_flow_reaches_the_exact_energies(self, found, counts):
        labels = counts.documents.labels
        statistics = [class_statistics(counts.matrix[labels == c], 0.001) for c in range(3)]
        exact = [mean_skl(each, skl_centroid(each)) for each in statistics]
        assert found.solved["exact"].energies == pytest.approx(exact, abs=1e-13)
        for graph in ("path", "co-occurrence-tree"):
            solved = found.solved[graph]
            assert solved.energies == pytest.approx(exact, abs=1e-9)
            assert (solved.gaps <= 1e-9).all()
            assert (solved.steps > 0).all()
            assert solved.edges == len(counts.vocabulary) - 1

    def test_their_seconds_stand_in_the_manifest_alone(self, finished_curves, tmp_path):
        done = finished_curves
        manifest = read_manifest(done.folder)
        assert set(manifest["timings"]) == {"exact", "path", "co-occurrence-tree"}
        assert all(each["centroids"] > 0 for each in manifest["timings"].values())
        changed = json.loads(json.dumps(manifest))
        changed["timings"]["path"]["centroids"] = 99.0
        assert differing(manifest, changed) == []
        other = perform(curves(), Store(tmp_path / "other"), folder=tmp_path / "again")
        for path in done.folder.iterdir():
            if path.name != "manifest.json":
                assert (other.folder / path.name).read_bytes() == path.read_bytes(), path.name

    def test_a_flow_that_fails_is_named_and_the_others_stand(self, store, monkeypatch, notebook):
        solve = centroid_solvers.flow

        def stuck(statistics, edges, **options):
            if edges[0, 1] == 1:
                raise RuntimeError("no progress")
            return solve(statistics, edges, **options)

        monkeypatch.setattr(centroid_solvers, "flow", stuck)
        graphs = {"graphs": ["path", "path-by-frequency"]}
        done = run_centroid_curves(curves(flow=graphs), store, observer=notebook)
        assert set(done.solved) == {"exact", "path-by-frequency"}
        assert done.failures == {"flow-path": "no progress"}
        back = decode(done.experiment, encode(done), done.failures, done.facts)
        assert any("path: failed: no progress" in note for note in kind_of(done.experiment).summarize(back).notes)


class TestDraws:
    @pytest.mark.parametrize(
        "changes", [{"sizes": [12, 30, 60, 90]}, {"replicates": 9}, {"centroids": ["pooled", "skl"], "compare": []}]
    )
    def test_a_larger_grid_never_changes_earlier_draws(self, found, store, changes):
        other = run_centroid_curves(curves(**changes, flow=None), store)
        for size in (12, 60):
            mine, theirs = (each.settings["base"].found["skl", size].codes for each in (found, other))
            assert np.array_equal(theirs[:6], mine)

    def test_the_number_of_threads_does_not_matter(self, found, store):
        assert encode(run_centroid_curves(curves(), store, jobs=1)) == encode(found)

    def test_a_test_group_is_tested_whole_and_never_trained_on(self, store):
        done = run_centroid_curves(curves(test="texas", flow=None), store)
        counts = read_counts(done.experiment.settings[0].documents, Store(), Silent())[0]
        held = counts.documents.groups == counts.documents.group_names.index("texas")
        for each in done.settings["base"].found.values():
            assert np.array_equal(each.codes != UNTESTED, np.tile(held, (6, 1)))

    def test_a_class_without_words_in_a_draw_is_refused_before_training(self, store, monkeypatch):
        read = centroid_curves.read_counts

        def emptied(*args, **kwargs):
            counts, facts, key = read(*args, **kwargs)
            matrix = sp.csr_array(counts.matrix.multiply((counts.documents.labels != 1)[:, None]))
            matrix.eliminate_zeros()
            return Counts(counts.documents, matrix, counts.vocabulary), facts, key

        monkeypatch.setattr(centroid_curves, "read_counts", emptied)
        monkeypatch.setattr(DivergenceBayes, "fit", never)
        with pytest.raises(ConfigError, match=r"12 training documents, replicate-01: no .* of 'course' has a word"):
            run_centroid_curves(curves(), store)


class TestVariants:
    def test_each_changes_what_it_names(self, store):
        variants = {
            "smooth": {"smoothing": 0.5},
            "flat": {"prior": "uniform"},
            "long": {"length": "counted"},
            "rare": {"text": {"min_occurrences": 1}},
            "held": {"test": "texas"},
        }
        done = run_centroid_curves(curves(variants=variants, flow=None, table={"resamples": 2}), store)
        base = done.settings["base"].found["skl", 60].codes
        for name in variants:
            assert not np.array_equal(done.settings[name].found["skl", 60].codes, base), name
        assert done.facts["rare"]["vocabulary"] > done.facts["base"]["vocabulary"]
        assert not len(done.settings["flat"].table["skl"].by_smoothing)  # the base's alone
        assert np.array_equal(done.settings["flat"].table["skl"].values, done.settings["base"].table["skl"].values)

    def test_their_pictures_are_of_what_they_change(self, store):
        variants = {"s0.1": {"smoothing": 0.1}, "flat": {"prior": "uniform"}}
        few = {"resamples": 2, "smoothing": [0.001, 0.1]}
        done = run_centroid_curves(curves(variants=variants, flow=None, table=few), store)
        charts = {chart.name: chart for chart in kind_of(done.experiment).summarize(done).charts}
        assert list(charts) == ["smoothing", "gain", "table-1"]
        assert [line.x for line in charts["smoothing"].panels[0].lines] == [(0.001, 0.1)] * 2
        assert [[line.label for line in panel.lines] for panel in charts["gain"].panels] == [
            ["base", "s0.1"],
            ["base", "flat"],
        ]


class TestStore:
    def test_what_it_has_is_not_computed_again(self, store, found, monkeypatch):
        first = run_centroid_curves(curves(), store)
        monkeypatch.setattr(DivergenceBayes, "fit", never)
        monkeypatch.setattr(centroid_solvers, "flow", never)
        second = run_centroid_curves(curves(), store)
        assert encode(first) == encode(second) == encode(found)
        assert first.timings == second.timings

    def test_the_plan_counts_what_is_there(self, store):
        rows, size = plan_centroid_curves(curves(), store, Silent())
        assert [row[1:3] for row in rows] == [(2, 0), (2, 0), *[(1, 0)] * 6]
        assert size == 0
        run_centroid_curves(curves(), store)
        rows, _ = plan_centroid_curves(curves(sizes=[12, 30, 60]), store, Silent())
        assert [row[1:3] for row in rows] == [(3, 2), (3, 2), *[(1, 1)] * 6]


class TestFolder:
    @pytest.fixture
    def done(self, finished_curves, tmp_path):
        folder = tmp_path / "run"
        shutil.copytree(finished_curves.folder, folder)
        return replace(finished_curves, folder=folder)

    def test_findings_come_back_as_they_were(self, done):
        back = read_results(done.folder)
        assert encode(back) == encode(done.results)
        assert back.facts == done.results.facts

    def test_a_report_needs_no_training(self, done, monkeypatch):
        before = {path.name: path.read_bytes() for path in done.folder.iterdir()}
        monkeypatch.setattr(DivergenceBayes, "fit", never)
        again(done.folder)
        assert {path.name: path.read_bytes() for path in done.folder.iterdir()} == before

    def test_damaged_predictions_give_no_table(self, done):
        path = done.folder / "predictions.npz"
        whole = path.read_bytes()
        for position in range(0, len(whole), 2003):
            content = bytearray(whole)
            content[position] ^= 0x41
            path.write_bytes(content)
            with pytest.raises(DataError, match=r"predictions\.npz"):
                read_results(done.folder)

    def test_an_archive_of_another_configuration_is_refused(self, done):
        content = (done.folder / "predictions.npz").read_bytes()
        with pytest.raises(KeyError):
            decode(curves(sizes=[12, 61]), content, {}, {})


def test_the_summary_has_a_row_a_cell_and_both_tests_of_every_point(found):
    summary = kind_of(found.experiment).summarize(found)
    headline = summary.scores[summary.scores["fold"] == "all"]
    assert headline["cell"].tolist() == [cell.id for cell in found.experiment.cells]
    assert summary.significance["test"].value_counts().to_dict() == {"wilcoxon": 8, "mcnemar": 8}
    assert summary.significance["p_holm"].notna().all()
    assert [chart.name for chart in summary.charts] == ["figure-2", "figure-3", "ratio", "table-1"]
    one, each, ratio, table = summary.charts
    assert len(one.panels) == 1
    assert [panel.title for panel in each.panels] == [panel.title for panel in table.panels] == CLASSES
    assert len(ratio.panels) == 4
    for panel in (*one.panels, *each.panels, *ratio.panels):
        assert all(low <= y <= high for x in panel.lines for low, y, high in zip(x.low, x.y, x.high, strict=True))


def test_a_print_is_judged_and_drawn(found, publish, store):
    values = {topic: found.settings["base"].table["skl"].values[c] for c, topic in enumerate(CLASSES)}
    config = "centroids"
    printed = [
        {"table": 1, "config": config, "cell": f"table-skl-{topic}", "metric": "average-skl", "value": f"{v:.3f}"}
        for topic, v in values.items()
    ]
    farthest, nearest = max(values, key=values.__getitem__), min(values, key=values.__getitem__)
    claim = {"id": "c", "text": "…", "relation": "lower", "metric": "average-skl", "alpha": 0.05}
    claim["comparisons"] = [{"config": config, "a": f"table-skl-{nearest}", "b": f"table-skl-{farthest}"}]
    grows = {"id": "g", "text": "…", "relation": "greater", "test": "wilcoxon", "alpha": 0.05}
    grows["comparisons"] = [{"config": config, "a": "growth-all-skl", "b": "growth-all-mean"}]
    paper = publish({"paper": "p", "title": "t", "reference": "r", "values": printed, "claims": [claim, grows]})
    done = run_centroid_curves(curves(paper=paper), store)
    summary = kind_of(done.experiment).summarize(done)
    assert summary.verdicts["verdict"].tolist() == ["exact"] * 3
    assert summary.claims["verdict"].tolist()[0] == "holds"
    assert summary.claims["of"].tolist() == [1, 1]
    labels = {panel.title: [line.label for line in panel.lines] for panel in summary.charts[-1].panels}
    assert all(names[-1] == "printed" for names in labels.values())
    assert any("skl 0.00 nats, in the printed order" in note for note in summary.notes)
