"""Branches that few experiments take, on predictions made by hand: whole texts, both sides of each limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from benchmark.analysis.agreement import pair_summary
from benchmark.analysis.caveats import find_caveats
from benchmark.analysis.costs import cost_rows
from benchmark.analysis.decision_regions import decision_region_figures
from benchmark.analysis.document_predictions import label_frame
from benchmark.analysis.formatting.labels import label_cells, method_labels, points_label
from benchmark.analysis.hardest_documents import hardest_documents
from benchmark.analysis.prose.terms import terms_of
from benchmark.analysis.recorded import RecordedNumbers
from benchmark.analysis.scoring import RunPredictions, score_cells
from benchmark.analysis.summarize import summarize
from benchmark.analysis.summary import minimized_metrics
from benchmark.config.model import BASE_VARIANT, MethodFile, VectorFile
from benchmark.evaluation.predictions import SplitKey, TestedSplit
from benchmark.evaluation.public_test_sets import DOCUMENT_COLUMNS
from tests.analysis import test_rows
from tests.analysis.made import CENTROIDS, CLASSES, drawn_study, predicted, table_study
from tests.analysis.test_rows import made_elsewhere
from tests.builders import setting_of, small_experiment

CORPUS = {"name": "synthetic", "classes": CLASSES}
HELD = {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]}
DRAWS = {"name": "random-subsets", "train_size": [50, 100], "replicates": 6}
CV = "cross-validation"
PRUNED = "the word list was made with the test documents in view, so scores may be slightly too good"
SIGHT = "were made elsewhere, perhaps with sight of the tested documents"
OWN = {"text": {"min_documents": 2}, "kernel": "ngd", "name": "own"}
OTHER = {"text": {"min_occurrences": 3}, "kernel": "linear", "name": "other"}
FILE = MethodFile("mine.parquet", "d", None)


def study(**changes: Any) -> Any:
    plain = {"corpus": CORPUS, "protocol": {"name": "k-fold", "k": 3}, "methods": ["linear"], "text": {}, "name": "x"}
    return small_experiment(**plain | changes)


def run_of(experiment: Any, **changes: Any) -> RunPredictions:
    return RunPredictions(experiment, changes.pop("predictions", None) or predicted(experiment), {}, {}, **changes)


class TestCaveats:
    @pytest.mark.parametrize(
        ("changes", "texts"),
        [
            ({"text": {"min_documents": 2}}, [PRUNED]),
            ({"methods": ["linear", OWN]}, [PRUNED.replace("list", "list of own")]),
            ({"methods": [OTHER, OWN]}, [PRUNED.replace("list", "list of other, own")]),
            (
                {"methods": ["linear", OWN], "text": {"min_occurrences": 2}},
                [PRUNED, PRUNED.replace("list", "list of own")],
            ),
            (
                {"methods": ["linear", OWN], "text": {"min_documents": 3, "vocabulary_from": "misc"}},
                [],
            ),
            (
                {"tasks": [{"title": "A", "largest": 2}]},
                ["the largest classes are ranked by their number of training and test documents together"],
            ),
            ({"tasks": [["course", "faculty"], {"title": "A", "largest": 2}]}, ["the largest classes are ranked by "]),
            (
                {"defaults": {"weighting": "tfidf", "idf": "collection"}},
                ["word weights (idf) were computed with the test documents in view, too"],
            ),
            (
                {"protocol": DRAWS | {"stratified": True}},
                [
                    "training documents are stratified by the class shares of a pool that includes the tested ",
                    "replicates share one collection: their intervals and tests don't generalize to other collections",
                ],
            ),
            ({"protocol": DRAWS | {"stratified": False}}, ["replicates share one collection: "]),
            ({"protocol": DRAWS | {"stratified": True, "test": "texas"}}, ["replicates share one collection: "]),
            (
                {"protocol": HELD},
                ["for new groups, expect more variation than these intervals show"],
            ),
        ],
    )
    def test_are_these_and_no_others(self, changes: dict[str, Any], texts: list[str]) -> None:
        found = [each.text for each in find_caveats(study(**changes))]
        assert len(found) == len(texts)
        assert all(one.startswith(begin) for one, begin in zip(found, texts, strict=True))

    @pytest.mark.parametrize("labels", [["ngd"], ["mnb"], ["ngd", "mnb"]])
    def test_files_of_methods_are_named_by_what_they_have(self, labels: list[str]) -> None:
        own = experiment = study(methods=["ngd", "linear", "mnb"])
        for label in labels:
            own = made_elsewhere(own, label, vectors=VectorFile(FILE))
        assert [each.text for each in find_caveats(own)] == [f"the vectors of {', '.join(labels)} {SIGHT}"]
        both = made_elsewhere(own, "linear", predictions=FILE)
        assert [each.text for each in find_caveats(both)][:-1] == [f"predictions of linear {SIGHT}"]
        assert find_caveats(experiment) == ()


@pytest.mark.parametrize("label", ["ngd", "linear", "mnb"])
def test_methods_around_predictions_made_elsewhere_have_costs(label: str) -> None:
    experiment = table_study(methods=["ngd", "linear", "mnb"], compare=[])
    own, made = made_elsewhere(experiment, label, predictions=FILE), predicted(experiment)
    rows = cost_rows(own, made, score_cells(own, made))
    assert [row[0] for row in rows] == [name for name in ("ngd", "linear", "mnb") if name != label]


def test_vectors_are_labels() -> None:
    own = made_elsewhere(table_study(methods=["ngd", "mnb"], compare=[]), "mnb", vectors=VectorFile(FILE))
    infos = label_cells(own, score_cells(own, predicted(own)), None)
    assert [info.columns["weighting"] for info in infos] == ["TF", "mine.parquet, made elsewhere"]
    assert infos[1].points == points_label(own.variants[BASE_VARIANT].entries[1].candidates[0])
    assert infos[1].points == "vectors of mine.parquet, none"


def test_methods_and_rows_of_diagnostics_have_labels_and_terms() -> None:
    diagnostics = ["covering-numbers", "centroid-distances", "feature-errors"]
    bayes = {"classifier": {"name": "divergence-bayes", "smoothing": 0.1}, "name": "kl"}
    experiment = study(methods=[bayes, "mnb", {"classifier": "eef", "name": "a"}], diagnostics=diagnostics)
    labels = method_labels(experiment)
    assert {"skl": "symmetric KL", "mnb": "MNB", "eef": "EEF"}.items() <= labels.items()
    assert method_labels(study()) == {"svm": "SVM"}
    terms = dict(terms_of(experiment))
    assert {*diagnostics, "divergence-bayes", "mnb", "eef"} <= terms.keys()
    assert all(terms[name] for name in diagnostics)


class TestNumbersOfMethods:
    """Numbers that a diagnostic has of a method: of the cell of all its terms and classes."""

    ARRAYS: ClassVar[dict[str, Any]] = {
        "errors": np.array([0.25, 0.5, 0.125]),
        "sizes": np.array([16.0, 80.0, 8.0]),
        "documents": np.array(10),
        "seconds": np.array(1.0),
    }

    def scored(self, method: Any, **changes: Any) -> Any:
        experiment = study(methods=[method], diagnostics=["feature-errors"], protocol=HELD, **changes)
        made = predicted(experiment)
        for name, variant in experiment.variants.items():
            label = variant.entries[0].label
            made.diagnostics["feature-errors", name] = {f"{label}/{part}": own for part, own in self.ARRAYS.items()}
        return experiment, score_cells(experiment, made)

    ARCSINE: ClassVar[dict[str, Any]] = {"features": {"name": "arcsine", "n_components": 8}, "classifier": "linear-svm"}

    def test_stand_beside_all_classes_and_no_single_one(self) -> None:
        experiment, scored = self.scored(self.ARCSINE, per_class=True, metrics=["macro-recall"])
        has = {cell.of_class: scored.has("features", cell.id) for cell in experiment.cells}
        assert has == {"all": True} | dict.fromkeys(CLASSES, False)
        whole = next(cell.id for cell in experiment.cells if cell.of_class == "all")
        assert scored.estimate(whole, "features").value == 16
        assert scored.has("macro-recall", whole)

    def test_of_each_variant_stand_beside_its_own_cells(self) -> None:
        experiment, scored = self.scored(self.ARCSINE, variants={"few": {"text": {"min_occurrences": 50}}})
        assert [scored.has("kernel-error", cell.id) for cell in experiment.cells] == [True, True]

    def test_variants_that_differ_in_a_parameter_of_features_run_along_it(self) -> None:
        figure = {"name": "along", "x": "n_components", "line": "kernel", "y": "accuracy"}
        arcsine = {"name": "arcsine", "n_components": 64}
        variants = {"more": {"methods": [self.ARCSINE | {"features": arcsine, "name": "a"}]}}
        _, scored = self.scored(self.ARCSINE | {"name": "a"}, variants=variants, figures=[figure])
        assert set(scored.drawn["n_components"]) == {8.0, 64.0}
        other = {"more": {"methods": [self.ARCSINE | {"features": "hellinger", "name": "a"}]}}
        _, scored = self.scored(self.ARCSINE | {"name": "a"}, variants=other, figures=[figure])
        assert set(scored.drawn["n_components"]) == {8.0}


class TestFromStore:
    def test_cells_whose_every_setting_was_stored_are_counted(self) -> None:
        experiment = drawn_study(gain=True)
        made = predicted(experiment)
        n, stored = len(experiment.cells), list(made.settings)
        assert run_of(experiment, predictions=made).from_store == (0, n)
        assert run_of(experiment, predictions=made, stored=stored).from_store == (n, n)
        # Of three candidates at two sizes one is missing: the curve of the oracle and the gains lack it.
        part = [key for key in made.settings if (key.method, key.candidate, key.size) != ("rbf", 1, 100)]
        whole = [cell for cell in experiment.cells if cell.method == "linear"]
        whole += [cell for cell in experiment.cells if (cell.method, cell.choice, cell.size) == ("rbf", CV, 50)]
        assert run_of(experiment, predictions=made, stored=part).from_store == (len(whole), n)

    def test_diagnostics_are_not_counted(self) -> None:
        experiment = table_study(diagnostics=["covering-numbers"], compare=[])
        assert run_of(experiment).from_store == (0, 4)


class TestSummary:
    def test_methods_that_warned_are_named_once_among_the_caveats(self) -> None:
        experiment = drawn_study(
            methods=["linear", "ngd", {"kernel": {"name": "rbf", "sigma": [0.1, 0.2]}}], compare=[]
        )
        made = predicted(experiment)
        for key in made.settings:
            if key.method != "ngd":
                made.settings[key] = replace(made.settings[key], warnings=("did not converge",))
        caveats = summarize(run_of(experiment, predictions=made)).caveats
        assert caveats.count("There are warnings of linear, rbf, see the notes.") == 1
        assert len(caveats) == 1 + len(summarize(run_of(experiment)).caveats)
        assert not any("warnings" in text for text in summarize(run_of(experiment)).caveats)

    def test_single_classes_have_no_confusions(self) -> None:
        changes = {"corpus": CORPUS, "protocol": HELD, "methods": ["ngd"], "metrics": ["macro-recall"], "name": "x"}
        for per_class in (False, True):
            experiment = small_experiment(**changes, per_class=per_class)
            confusions = summarize(run_of(experiment)).confusions
            assert (len(confusions) == 0) == per_class

    def test_a_note_on_a_claim_of_the_configuration_is_given_and_of_a_sensitivity_analysis_is_not(
        self, publish: Any
    ) -> None:
        pair = {"config": "table", "a": "tf-l1-ngd", "b": "tf-l1-linear"}
        claim = {"id": "half", "text": "t", "relation": "ratio", "low": "0.4", "high": "0.6", "because": "it is half"}
        claims = [claim | {"metric": "accuracy", "comparisons": [pair]}]
        paper = publish({"paper": "made2029", "title": "T", "reference": "R", "unit": "percent", "claims": claims})
        experiment = table_study(paper=paper)
        said = "half: the ratio must lie between 0.4 and 0.6: it is half."
        claims_of_run = summarize(run_of(experiment)).claims
        assert claims_of_run[["strict_rule", "of"]].to_numpy().tolist() == [["95% interval", 1]]
        assert claims_of_run["strict_verdict"].tolist() != ["no test"]
        assert said in summarize(run_of(experiment)).notes
        analysis = replace(experiment, sensitivity_of="table", name="other")
        assert not any("By the paper's criterion" in note for note in summarize(run_of(experiment)).notes)
        notes = summarize(run_of(analysis)).notes
        assert said not in notes
        assert sum(note.startswith("By the paper's criterion, claim half holds ") for note in notes) == 1


class TestHardest:
    def test_splits_that_test_documents_in_another_order_name_the_right_ones(self) -> None:
        """The last documents are tested first."""
        experiment = table_study(compare=[])
        made = predicted(experiment)
        key = SplitKey(BASE_VARIANT, "", None)
        late, early = np.arange(25, 60), np.arange(25)
        made.splits[key] = (TestedSplit("late", late, np.full(3, 5)), TestedSplit("early", early, np.full(3, 5)))
        truth = made.tasks[key.of_task].truth
        wrong = {0: 1, 7: 2, 26: 4, 59: 3}
        for number, setting in enumerate(list(made.settings)):
            off = np.array([wrong.get(row, 0) > number for row in range(60)])
            given = np.where(off, (truth + 1) % 3, truth)
            made.settings[setting] = setting_of([given[late], given[early]])
        found = hardest_documents(experiment, made, score_cells(experiment, made))
        assert [(each.name, each.fold, each.wrong) for each in found] == [
            ("26", "late", 4),
            ("59", "late", 3),
            ("7", "early", 2),
            ("0", "early", 1),
        ]
        for each in found:
            right, other = CLASSES[truth[int(each.name)]], CLASSES[(truth[int(each.name)] + 1) % 3]
            assert each.truth == right
            n = wrong[int(each.name)]
            assert list(each.predicted.values()) == [other] * n + [right] * (4 - n)
            given_in_words = sorted([(other, n), (right, 4 - n)], key=lambda own: -own[1])
            assert each.row[5] == "; ".join(f"{label} ({n})" for label, n in given_in_words if n)

    @pytest.mark.parametrize("tasks", [1, 2, 3])
    def test_tasks_share_the_page_equally(self, tasks: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("benchmark.analysis.hardest_documents.MAX_HARD_DOCUMENTS", 7)
        orders = [CLASSES, CLASSES[::-1], [CLASSES[1], CLASSES[0], CLASSES[2]]]
        experiment = table_study(tasks=orders[:tasks], compare=[])
        made = predicted(experiment)
        found = hardest_documents(experiment, made, score_cells(experiment, made))
        counted = {name: sum(each.task == name for each in found) for name in {cell.task for cell in experiment.cells}}
        assert set(counted.values()) == {7 // tasks}


def test_panels_of_regions_are_named_after_the_selected_candidate() -> None:
    run = test_rows.TestRegions().run()
    variants = {}
    for name, variant in run.experiment.variants.items():
        (entry,) = variant.entries
        kernel = entry.candidates[0].kernel
        assert kernel is not None
        other = replace(entry.candidates[0], kernel=replace(kernel, given={"sigma": 2.0}))
        variants[name] = replace(variant, entries=(replace(entry, candidates=(*entry.candidates, other)),))
    settings = run.predictions.settings
    settings |= {key._replace(candidate=1): setting_of([np.array([0, 0, 0])]) for key in list(settings)}
    first, second = (cell.id for cell in run.experiment.cells if cell.what == "point")
    recorded = RecordedNumbers({first: np.array([0]), second: np.array([1])}, {}, ())
    own = replace(run, experiment=replace(run.experiment, variants=variants), recorded=recorded)
    (figure,) = decision_region_figures(own)
    panels = [panel for row in figure.rows for panel in row]
    assert [panel.title for panel in panels] == ["rbf (sigma 0.5)", "rbf (sigma 2.0)"]
    assert [panel.predicted.tolist() for panel in panels] == [[1, 1, 1], [0, 0, 0]]


def test_a_table_of_labels_has_the_truth_before_the_predictions() -> None:
    experiment = table_study(methods=["ngd", "mnb"], compare=[])
    made = predicted(experiment)
    frame = label_frame(run_of(experiment, predictions=made))
    assert list(frame.columns) == [*DOCUMENT_COLUMNS, "ngd", "mnb"]
    truth = made.tasks[BASE_VARIANT, ""].truth
    assert frame["label"].tolist() == [CLASSES[code] for code in truth]
    for name in ("ngd", "mnb"):
        own = made.settings[BASE_VARIANT, "", name, 0, None, None].predicted
        assert frame[name].tolist() == [CLASSES[code] for code in own]


class TestSingleClasses:
    """Cells of one class beside those of all: which numbers are of the latter alone."""

    experiment = small_experiment(
        corpus=CORPUS, protocol=HELD, methods=["ngd", "mnb"], metrics=["macro-recall"], per_class=True, name="x"
    )
    WHOLE = ("all-ngd", "all-mnb")

    def test_hard_documents_and_costs_are_of_all_classes(self) -> None:
        made = predicted(self.experiment)
        scored = score_cells(self.experiment, made)
        found = hardest_documents(self.experiment, made, scored)
        assert found
        assert all(tuple(each.predicted) == self.WHOLE for each in found)
        assert [row[0] for row in cost_rows(self.experiment, made, scored)] == list(self.WHOLE)

    def test_a_figure_of_classes_draws_no_number_twice(self) -> None:
        figure = {"name": "f", "x": "size", "y": "macro-recall", "panel": ["class"]}
        experiment = small_experiment(**CENTROIDS | {"figures": [figure]}, name="x")
        made = predicted(experiment)
        assert len(score_cells(experiment, made).drawn) == 0
        (chart,) = summarize(run_of(experiment, predictions=made)).charts
        assert [panel.title for panel in chart.panels] == ["average of the 3 classes", *CLASSES]


@pytest.mark.parametrize("multilabel", [False, True])
def test_seconds_are_of_one_classifier_where_each_class_has_one(multilabel: bool) -> None:
    experiment = drawn_study(methods=["linear"], choose=None, compare=[], metrics=["macro-f1"])
    made = predicted(experiment, multilabel=multilabel)
    for key, own in made.settings.items():
        made.settings[key] = replace(own, seconds=np.tile([0.0, 0.0, 0.0, 6.0, 0.0, 0.0], (6, 1)))
    scores = score_cells(experiment, made).cells["linear-50"]
    np.testing.assert_allclose(scores.values["seconds"], 2.0 if multilabel else 6.0)
    np.testing.assert_allclose(scores.values["seconds-in-all"], 6.0)


def test_confusions_of_each_task_have_its_order_of_classes() -> None:
    turned = table_study(tasks=[CLASSES, CLASSES[::-1]], methods=["ngd"], compare=[])
    made = predicted(turned)
    confusions = summarize(run_of(turned, predictions=made)).confusions
    for cell in turned.cells:
        setting, documents = made.settings[cell.setting(0, None)], made.tasks[cell.of_task]
        own = confusions[confusions["cell"] == cell.id]
        right = int((setting.predicted == documents.truth).sum())
        assert own[own["truth"] == own["predicted"]]["n"].sum() == right
        counted = {row.truth: row.n for row in own[own["truth"] == own["predicted"]].itertuples()}
        for code, name in enumerate(documents.classes):
            assert counted[name] == int(((documents.truth == code) & (setting.predicted == code)).sum())


def test_a_chart_has_the_range_of_the_papers_axis_and_its_values(publish: Any) -> None:
    shown = {"figure": 1, "config": "drawn", "metric": "error", "cells": "{m}-50", "for": {"m": ["linear"]}}
    ranges = [shown | {"low": "0.05", "high": "0.25"}]
    paper = {"paper": "made2030", "title": "T", "reference": "R", "ranges": ranges}
    figures = [{"name": "f", "y": "error"}, {"name": "g", "y": {"difference": ["ngd", "linear"]}}]
    changes = {"methods": ["linear", "ngd"], "choose": None, "compare": [], "figures": figures}
    experiment = drawn_study(**changes, paper=publish(paper))
    charts = {each.name: each for each in summarize(run_of(experiment)).charts}
    assert [panel.printed for panel in charts["f"].panels] == [pytest.approx((0.05, 0.25))]
    assert [panel.printed for panel in charts["g"].panels] == [None]
    other = summarize(run_of(replace(experiment, name="another"))).charts
    assert [panel.printed for chart in other for panel in chart.panels] == [None, None]


def test_a_summary_without_scores_is_of_the_accuracy() -> None:
    experiment = table_study(compare=[])
    made = predicted(experiment)
    found = summarize(run_of(experiment, predictions=replace(made, settings={})))
    assert (found.main_metric, found.headline_metrics, len(found.scores)) == ("accuracy", (), 0)
    assert found.failures == dict.fromkeys(experiment.ids, "no predictions")


def test_a_plug_ins_metric_may_be_better_where_it_is_less() -> None:
    """The accuracy as a metric of a plug-in, of which less is better, beside metrics of this package."""
    experiment = table_study(metrics=["accuracy", "error", "macro-f1"])
    mine = replace(experiment.scorers["accuracy"], more_is_better=False)
    own = replace(experiment, metrics=("mine", "error", "macro-f1"), scorers={**experiment.scorers, "mine": mine})
    assert minimized_metrics(own) == {"mine", "error"}
    assert minimized_metrics(replace(own, scorers={**own.scorers, "mine": experiment.scorers["accuracy"]})) == {"error"}
    (a, b, *_), made = own.ids, predicted(experiment)
    for found in (summarize(run_of(own, predictions=made)), pair_summary(run_of(own, predictions=made), a, b)):
        assert not found.more_is_better("mine")
        assert not found.more_is_better("error")
        assert found.more_is_better("macro-f1")
