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
from benchmark.config.model import BASE_VARIANT
from benchmark.evaluation.intervals import Estimate
from benchmark.methods.elsewhere.kept_estimators import kept_component
from tests.analysis.made import CLASSES, drawn_study, predicted, table_study
from tests.analysis.test_rows import made_elsewhere
from tests.builders import small_experiment

CORPUS = {"name": "synthetic", "classes": CLASSES}
FEW = {"few": {"text": {"min_occurrences": 50}}}


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
