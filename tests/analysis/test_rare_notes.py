"""Notes, labels and rows of what few experiments have: fusions, texts, rankings, and numbers of plug-ins."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmark.analysis.formatting.labels import candidate_label, grid_label, label_cells, points_label
from benchmark.analysis.prose.terms import terms_of
from benchmark.analysis.recorded import RecordedNumbers, record_numbers
from benchmark.analysis.scoring import RunPredictions, score_cells
from benchmark.analysis.summarize import summarize
from benchmark.config.components import check_component
from benchmark.config.model import BASE_VARIANT
from benchmark.evaluation.intervals import RESAMPLES_OF_RANKINGS, Estimate
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.methods.elsewhere.kept_estimators import kept_component
from tests.analysis.made import CLASSES, drawn_study, predicted, table_study
from tests.analysis.test_notes import CORPUS, FEW, notes_with, run_of
from tests.analysis.test_rows import made_elsewhere
from tests.builders import small_experiment


def infos_of(experiment: Any) -> dict[str, Any]:
    return {info.id: info for info in label_cells(experiment, score_cells(experiment, predicted(experiment)), None)}


class TestLabels:
    @pytest.mark.parametrize(
        ("more", "label"),
        [
            ({}, "mnb + complement-nb"),
            ({"weights": [2, 2]}, "mnb + complement-nb"),
            ({"weights": [1, 0.5]}, "1 mnb + 0.5 complement-nb"),
        ],
    )
    def test_a_fusion_is_the_sum_of_its_methods(self, more: dict[str, Any], label: str) -> None:
        both = {"fuse": ["mnb", "complement-nb"], "name": "both"} | more
        experiment = table_study(methods=["mnb", "complement-nb", both], compare=[])
        info = infos_of(experiment)["both"]
        assert (info.columns["weighting"], info.columns["normalization"]) == (label, "")
        assert info.points == f"fusion of {label}"

    def test_candidates_of_fusions_are_told_apart_by_their_methods(self) -> None:
        fuse = {"fuse": [["mnb", "complement-nb"], ["mnb", "twcnb"]], "name": "both"}
        choose = {"by": "cross-validation", "folds": 2}
        experiment = table_study(methods=["mnb", "complement-nb", "twcnb", fuse], choose=choose, compare=[])
        entry = next(each for each in experiment.variants[BASE_VARIANT].entries if each.label == "both")
        labels = [candidate_label(entry, index) for index in range(len(entry.candidates))]
        assert [text.partition(",")[0] for text in labels] == ["sum of mnb + complement-nb", "sum of mnb + twcnb"]

    def test_a_method_of_texts_has_no_weighting(self) -> None:
        own = made_elsewhere(
            table_study(methods=["ngd", "mnb"], compare=[]), "mnb", classifier=kept_component("pipe", reads_texts=True)
        )
        info = infos_of(own)["mnb"]
        assert dict(info.columns) == {"weighting": "texts", "normalization": "", "kernel": "", "classifier": "pipe"}
        assert info.points == points_label(own.variants[BASE_VARIANT].entries[1].candidates[0]) == "texts"

    def test_candidates_that_are_no_product_are_listed_one_by_one(self) -> None:
        rbf = {"kernel": {"name": "rbf", "sigma": [0.1, 0.2]}, "classifier": {"C": [1, 2]}, "name": "a"}
        choose = {"by": "cross-validation", "folds": 2}
        (entry,) = small_experiment(corpus=CORPUS, methods=[rbf], choose=choose).variants[BASE_VARIANT].entries
        assert grid_label(entry) == "sigma 0.1, 0.2 × C 1.0, 2.0"
        part = replace(entry, candidates=entry.candidates[1:])
        assert grid_label(part) == "sigma 0.1, C 2.0; sigma 0.2, C 1.0; sigma 0.2, C 2.0"

    def test_candidates_are_counted_of_scores_and_not_of_gains(self) -> None:
        infos = infos_of(drawn_study(gain=True))
        assert {name: info.columns.get("candidates") for name, info in infos.items() if "50" not in name} == {
            f"{prefix}{method}-{choice}{size}": n if size else None
            for method, n in (("linear", "1"), ("rbf", "3"))
            for choice in ("oracle", "cv")
            for prefix, size in (("", "-100"), ("gain-", ""))
        }


class TestRankings:
    NAMES = "Macro ROC AUC and micro break-even"

    def said(self, experiment: Any, *, multilabel: bool) -> list[str]:
        return notes_with(run_of(experiment, predictions=predicted(experiment, multilabel=multilabel)), self.NAMES)

    @pytest.mark.parametrize("multilabel", [False, True])
    @pytest.mark.parametrize("replicated", [False, True])
    def test_say_how_values_are_ranked_and_what_tests_them(self, multilabel: bool, replicated: bool) -> None:
        metrics = ["macro-f1", "macro-roc-auc", "micro-break-even"]
        made: dict[str, Any] = {"methods": ["mnb"], "compare": [], "metrics": metrics}
        experiment = drawn_study(**made, choose=None) if replicated else table_study(**made)
        (note,) = self.said(experiment, multilabel=multilabel)
        assert note.startswith(f"{self.NAMES}: computed from decision values, whatever the threshold; ")
        assert ("centred over the classes" in note) == (not multilabel)
        assert (f"{RESAMPLES_OF_RANKINGS:,} resamples" in note) == (not replicated)
        assert ("they don't test it" in note) == (not replicated)

    def test_are_silent_where_no_metric_ranks(self) -> None:
        assert notes_with(run_of(table_study()), "computed from decision values") == []


class TestNotes:
    def test_a_task_without_predictions_is_left_out(self) -> None:
        experiment = table_study(tasks=[CLASSES, CLASSES[::-1]], compare=[])
        made = predicted(experiment)
        first = next(iter(made.tasks))
        tasks = {key: own for key, own in made.tasks.items() if key != first}
        settings = {key: own for key, own in made.settings.items() if key.of_task != first}
        splits = {key: own for key, own in made.splits.items() if key.of_task != first}
        run = run_of(experiment, predictions=replace(made, tasks=tasks, settings=settings, splits=splits))
        (note,) = notes_with(run, "classes, in tie order")
        assert note.endswith(f": {', '.join(CLASSES[::-1])}.")

    @pytest.mark.parametrize(
        ("stratified", "newest"), [(False, "25 newest documents"), (True, "25 documents, the newest of each class")]
    )
    def test_a_split_by_date_says_what_is_newest(self, stratified: bool, newest: str) -> None:
        plain = table_study(compare=[])
        given = check_component("protocol", PROTOCOLS, {"name": "by-date", "stratified": stratified})
        variant = replace(plain.variants[BASE_VARIANT], protocol=given)
        experiment = replace(plain, variants={BASE_VARIANT: variant})
        said = f"One split by date: tested on the {newest}, trained on earlier documents."
        assert said in notes_with(run_of(experiment), "One split by date")

    def test_without_predictions_no_split_is_described(self) -> None:
        experiment = table_study(compare=[])
        made = predicted(experiment)
        assert "No split has predictions." in notes_with(
            run_of(experiment, predictions=replace(made, splits={}, settings={})), "No split"
        )


def test_components_and_metrics_of_others_have_no_terms() -> None:
    plain = table_study(methods=["ngd", "mnb"], compare=[])
    own = made_elsewhere(replace(plain, metrics=("mine",)), "mnb", classifier=kept_component("pipe", reads_texts=True))
    lost = dict(terms_of(plain)).keys() - dict(terms_of(own)).keys()
    assert {"mnb", "accuracy"} <= lost
    assert not {"mine", "pipe"} & dict(terms_of(own)).keys()


class TestRecorded:
    experiment = replace(
        drawn_study(methods=["linear", "ngd"], choose=None, compare=[["ngd", "linear"]]), metrics=("error", "mine")
    )

    def recorded(self, *cells: str) -> RecordedNumbers:
        folds = ["all", *(f"replicate-{i:02d}" for i in range(1, 7))]
        estimates: Any = {
            cell: {("mine", fold, ""): Estimate(n / 10 + i, 0.0, 99.0, 7, "bootstrap") for i, fold in enumerate(folds)}
            for n, cell in enumerate(cells, 1)
        }
        return RecordedNumbers({}, estimates, ())

    def test_scores_of_plug_ins_are_those_that_the_run_recorded(self) -> None:
        recorded = self.recorded("ngd-50", "linear-50")
        scored = score_cells(self.experiment, predicted(self.experiment), recorded=recorded)
        rows = scored.frame[scored.frame["metric"] == "mine"]
        assert set(rows["cell"]) == {"ngd-50", "linear-50"}
        for cell, n in (("ngd-50", 0.1), ("linear-50", 0.2)):
            assert rows[rows["cell"] == cell]["value"].tolist() == [*(n + i for i in range(1, 7)), n]
            assert scored.estimate(cell, "mine") == recorded.estimates[cell]["mine", "all", ""]
        assert scored.has("error", "ngd-50", "ngd-100")

    def test_a_plug_in_may_lack_a_score_of_some_cells(self) -> None:
        scored = score_cells(self.experiment, predicted(self.experiment), recorded=self.recorded("ngd-50"))
        mine = replace(self.experiment, scorers={"mine": self.experiment.scorers["error"]})
        found = record_numbers(mine, scored, (), ("a note",))
        assert found.estimates.keys() == {"ngd-50"}
        assert (found.notes, found.diagnostics) == (("a note",), ())


class TestDrawn:
    def test_a_failed_cell_has_no_classes_and_the_others_have(self) -> None:
        figure = {"name": "classes", "x": "size", "y": "macro-f1", "panel": ["class"]}
        experiment = drawn_study(
            methods=["linear", "ngd"], choose=None, compare=[], metrics=["macro-f1"], figures=[figure]
        )
        made = predicted(experiment)
        settings = {key: own for key, own in made.settings.items() if (key.method, key.size) != ("linear", 50)}
        drawn = score_cells(experiment, replace(made, settings=settings)).drawn
        assert {(row.cell, row.of_class) for row in drawn.itertuples()} == {
            (cell, name) for cell in ("linear-100", "ngd-50", "ngd-100") for name in CLASSES
        }

    def test_curves_of_a_diagnostic_run_along_its_parameter(self) -> None:
        covering = {"name": "covering-numbers", "dimension": [2], "t": [0.5, 1.0], "radius": [0.001, 0.01]}
        figure = {"name": "bounds", "x": "radius", "y": "log-covering-bound"}
        experiment = table_study(diagnostics=[covering], figures=[figure], compare=[])
        made = predicted(experiment)
        made.diagnostics["covering-numbers", BASE_VARIANT] = {"bounds": np.array([[3.0, 1.0], [4.0, 2.0]])}
        (chart,) = summarize(RunPredictions(experiment, made, {}, {})).charts
        lines = {line.label: (line.x, line.y) for panel in chart.panels for line in panel.lines}
        assert lines == {
            "covering-n2-t0.5": ((0.001, 0.01), (3.0, 1.0)),
            "covering-n2-t1": ((0.001, 0.01), (4.0, 2.0)),
        }
        drawn = score_cells(experiment, made).drawn
        assert {(row.fold, row.n, row.ties) for row in drawn.itertuples()} == {("all", 0, 0)}
        assert all(map(math.isnan, drawn["low"]))

    @pytest.mark.parametrize("kind", ["ratio", "difference"])
    def test_a_relation_that_is_not_defined_is_left_out(self, kind: str) -> None:
        """At one size the other method is always right: there is no ratio to an error of 0."""
        figure = {"name": "f", "y": {kind: ["ngd", "linear"]}}
        experiment = drawn_study(methods=["linear", "ngd"], choose=None, compare=[], figures=[figure])
        made = predicted(experiment)
        for key, own in made.settings.items():
            if (key.method, key.size) == ("linear", 50):
                truth = made.tasks[key.of_task].truth
                right = np.concatenate([truth[split.test] for split in made.splits[key.of_splits]])
                made.settings[key] = replace(own, predicted=right.astype(np.int16))
        (chart,) = summarize(RunPredictions(experiment, made, {}, {})).charts
        assert chart.panels[0].lines[0].x == ((100.0,) if kind == "ratio" else (50.0, 100.0))


def test_a_failed_diagnostic_is_the_reason_of_its_rows_under_its_variant() -> None:
    bayes = {"classifier": {"name": "divergence-bayes", "smoothing": 0.1}, "name": "kl"}
    experiment = table_study(methods=[bayes], diagnostics=["centroid-distances"], variants=FEW, compare=[])
    rows = [cell.id for cell in experiment.cells if cell.what == "diagnostic"]
    failures = {"few-centroid-distances": "too few", "kl": "other"}
    found = summarize(RunPredictions(experiment, predicted(experiment), failures, {})).failures
    assert found == {name: "too few" if name.startswith("few-") else "no predictions" for name in rows}
    failures = {"centroid-distances": "too many"}
    found = summarize(RunPredictions(experiment, predicted(experiment), failures, {})).failures
    assert found == {name: "no predictions" if name.startswith("few-") else "too many" for name in rows}


class TestNotesOnTests:
    @pytest.mark.parametrize("compare", [[], [["ngd", "linear"]]])
    @pytest.mark.parametrize("multilabel", [False, True])
    def test_are_given_where_replicates_are_compared(self, compare: list[list[str]], multilabel: bool) -> None:
        experiment = drawn_study(methods=["linear", "ngd"], choose=None, compare=compare, metrics=["macro-f1"])
        run = run_of(experiment, predictions=predicted(experiment, multilabel=multilabel))
        assert len(notes_with(run, "McNemar's test counts each document once")) == (bool(compare) and not multilabel)
        assert len(notes_with(run, "Wilcoxon's signed rank test compares each metric")) == (
            bool(compare) and multilabel
        )

    @pytest.mark.parametrize(("n", "few"), [(20, True), (400, False)])
    def test_metrics_without_an_interval_are_named_where_classes_are_small(self, n: int, few: bool) -> None:
        metrics = ["accuracy", "macro-f1", "macro-recall"]
        experiment = table_study(methods=["ngd"], compare=[], metrics=metrics)
        said = notes_with(run_of(experiment, predictions=predicted(experiment, n=n + 25)), "no interval where a class")
        assert [note.partition(":")[0] for note in said] == (["Macro-F1 and macro-recall"] if few else [])
        drawn = drawn_study(methods=["linear"], choose=None, compare=[], metrics=metrics)
        assert notes_with(run_of(drawn, predictions=predicted(drawn, n=45)), "no interval where a class") == []


@pytest.mark.parametrize("aggregate", ["sum", "average", "maximum"])
def test_the_aggregate_of_ranked_terms_is_named(aggregate: str) -> None:
    terms = {"number": [20, 50], "aggregate": aggregate}
    experiment = table_study(methods=["mnb"], compare=[], terms=terms)
    assert len(notes_with(run_of(experiment), f"aggregated over the classes by their {aggregate}.")) == 1
    assert notes_with(run_of(table_study()), "aggregated over the classes") == []


@pytest.mark.parametrize("scaled", [None, 0, 1])
def test_the_unit_of_c_is_said_of_any_method_that_scales_it(scaled: int | None) -> None:
    scale = {"classifier": {"scale_C": "mean-self-product"}}
    methods = [{"kernel": name} | (scale if i == scaled else {}) for i, name in enumerate(("ngd", "linear"))]
    said = notes_with(run_of(table_study(methods=methods, compare=[])), "C is in units of the inverse mean")
    assert len(said) == (scaled is not None)


class TestRepresentations:
    def test_fields_are_described_with_their_weights(self) -> None:
        fields = {"title": 2, "body": 0.5}
        spec = table_study(methods=["ngd"], compare=[]).variants[BASE_VARIANT].entries[0].candidates[0]
        own = replace(spec, representation=replace(spec.representation, fields=tuple(fields.items())))
        assert points_label(own) == "TF, l1, 2 × title, 0.5 × body, ngd"
        entry = table_study(methods=["ngd"], compare=[]).variants[BASE_VARIANT].entries[0]
        several = replace(entry, candidates=(spec, own))
        assert [candidate_label(several, i) for i in (0, 1)] == ["weights ", "weights 2 title, 0.5 body"]

    def test_sources_of_an_idf_tell_candidates_apart(self) -> None:
        choose = {"by": "cross-validation", "folds": 2, "grid_keys": ["idf"]}
        method = {"weighting": "tfidf", "idf": ["training", "collection"], "kernel": "linear", "name": "a"}
        (entry,) = table_study(methods=[method], choose=choose, compare=[]).variants[BASE_VARIANT].entries
        assert grid_label(entry) == "idf training, collection"
