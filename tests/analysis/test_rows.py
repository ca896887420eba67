"""Rows of scores, costs and labels from predictions made by hand: of the cells that they belong to, and no others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.analysis.caveats import find_caveats
from benchmark.analysis.costs import cost_rows
from benchmark.analysis.decision_regions import decision_region_figures
from benchmark.analysis.document_predictions import document_predictions, label_frame
from benchmark.analysis.formatting.labels import label_cells
from benchmark.analysis.hardest_documents import hardest_documents
from benchmark.analysis.model_selection import select_candidates, selection_metric
from benchmark.analysis.prose.terms import terms_of
from benchmark.analysis.ranking import mean_rank_rows
from benchmark.analysis.scoring import RunPredictions, score_cells
from benchmark.analysis.summarize import published_by_cell, summarize
from benchmark.config.model import BASE_VARIANT, MethodFile
from benchmark.evaluation.metrics import TIME_METRICS
from benchmark.evaluation.predictions import Predictions, SettingKey, SplitKey, TaskDocuments, TaskKey, TestedSplit
from benchmark.papers.load import published_of_experiment
from benchmark.system.string_arrays import join_names
from tests.analysis.made import CENTROIDS, CLASSES, drawn_study, predicted, table_study
from tests.builders import setting_of, small_experiment

if TYPE_CHECKING:
    from collections.abc import Mapping

CORPUS = {"name": "synthetic", "classes": CLASSES}
DRAWS = {"name": "random-subsets", "train_size": [50, 100], "replicates": 6}


def shortened(predictions: Predictions, sizes: Mapping[int, int]) -> Predictions:
    """Leave out the last tested documents of each split, by training size."""
    splits = {
        key: tuple(replace(split, test=split.test[: sizes[key.size or 0]]) for split in own)
        for key, own in predictions.splits.items()
    }
    settings = {}
    for key, own in predictions.settings.items():
        n = sizes[key.size or 0]
        tied = [each[:n] for each in own.tied_by_split]
        inner = own.inner if len(own.inner) else ()
        settings[key] = setting_of([each[:n] for each in own.by_split], tied, seconds=own.seconds, inner=inner)
    return replace(predictions, splits=splits, settings=settings)


class TestGains:
    experiment = small_experiment(**CENTROIDS, name="gains")

    def test_are_of_the_smaller_test_sets_and_have_no_times(self) -> None:
        scored = score_cells(self.experiment, shortened(predicted(self.experiment), {50: 40, 100: 30}))
        gain, last, first = (scored.cells[name] for name in ("gain-all-skl", "all-skl-100", "all-skl-50"))
        assert (list(gain.n), list(first.n)) == ([30] * 6, [40] * 6)
        np.testing.assert_array_equal(gain.n, last.n)
        assert set(gain.values) == set(last.values) - set(TIME_METRICS)
        assert set(TIME_METRICS) <= set(last.values)

    def test_need_the_same_replicates_at_both_ends(self) -> None:
        made = predicted(self.experiment)
        key = next(key for key in made.splits if key.size == 100)
        renamed = tuple(replace(split, name=f"other-{split.name}") for split in made.splits[key])
        scored = score_cells(self.experiment, replace(made, splits={**made.splits, key: renamed}))
        assert "all-skl-100" in scored.cells
        assert not [name for name in scored.cells if name.startswith("gain-")]

    @pytest.mark.parametrize("size", [50, 100])
    def test_the_reason_of_a_failure_at_either_end_is_given(self, size: int) -> None:
        made = predicted(self.experiment)
        settings = {key: own for key, own in made.settings.items() if key.size != size or key.method != "skl"}
        run = RunPredictions(self.experiment, replace(made, settings=settings), {f"skl-{size}": "too wide"}, {})
        failures = summarize(run).failures
        of_gain = {name for name in failures if name.startswith("gain-")}
        assert of_gain == {f"gain-{name}-skl" for name in ("all", *CLASSES)}
        assert set(failures.values()) == {"too wide"}


class TestFrame:
    def test_ties_and_documents_of_a_cell_are_those_of_all_splits(self) -> None:
        experiment = table_study()
        made = predicted(experiment)
        key = SettingKey(BASE_VARIANT, "", "tf-l1-ngd", 0, None, None)
        tied = [np.arange(len(own)) < n for own, n in zip(made.settings[key].by_split, (1, 4), strict=True)]
        other = replace(made.settings[key], tied=np.concatenate(tied))
        scored = score_cells(experiment, replace(made, settings=made.settings | {key: other}))
        rows = scored.frame.query("cell == 'tf-l1-ngd' and metric == 'accuracy'").set_index("fold")
        assert rows["ties"].to_dict() == {"cornell": 1, "texas": 4, "all": 5}
        assert rows["n"].to_dict() == {"cornell": 25, "texas": 35, "all": 60}

    @pytest.mark.parametrize(
        "shown",
        [{"panel": ["class"]}, {"line": "class"}, {"where": {"class": "course"}}],
        ids=lambda shown: next(iter(shown)),
    )
    def test_single_classes_are_scored_where_a_figure_names_them(self, shown: dict[str, Any]) -> None:
        figure = {"name": "classes", "x": "size", "y": "macro-f1", **shown}
        experiment = small_experiment(
            corpus=CORPUS, protocol=DRAWS, methods=["linear"], metrics=["macro-f1"], figures=[figure], name="x"
        )
        scored = score_cells(experiment, predicted(experiment))
        assert set(scored.drawn["of_class"]) == set(CLASSES)
        assert set(scored.frame["of_class"]) == {""}

    @pytest.mark.parametrize(
        ("change", "alike"),
        [
            ({"defaults": {"mnb": {"smoothing": 7}}}, True),
            ({"terms": {"number": [9]}}, False),
            ({"text": {"min_occurrences": 9}}, False),
            ({"protocol": {"name": "leave-one-group-out", "held_out": ["cornell"]}}, False),
            ({"methods": [{"classifier": "mnb", "weighting": "binary"}]}, False),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    def test_curves_along_a_parameter_are_of_variants_that_differ_in_it_alone(
        self, change: dict[str, Any], alike: bool
    ) -> None:
        figure = {"name": "along", "x": "smoothing", "line": "kernel", "y": "accuracy"}
        experiment = table_study(
            methods=["mnb", "complement-nb"],
            compare=[],
            figures=[figure],
            variants={"other": change},
        )
        drawn = score_cells(experiment, predicted(experiment)).drawn
        assert set(drawn["variant"]) == ({BASE_VARIANT, "other"} if alike else {BASE_VARIANT})
        assert (7.0 in set(drawn["smoothing"])) == alike


def test_recorded_numbers_of_left_out_cells_are_left_out() -> None:
    experiment = table_study(diagnostics=["covering-numbers"], compare=[])
    left = replace(experiment, left_out=frozenset({"covering-n2-t0.5"}))
    rows = [cell.id for cell in experiment.cells if cell.what == "diagnostic"]
    bounds = np.arange(12.0 * len(rows)).reshape(len(rows), 12)
    made = predicted(experiment)
    made.diagnostics["covering-numbers", BASE_VARIANT] = {"bounds": bounds}
    whole, part = (score_cells(each, made).cells.keys() for each in (experiment, left))
    assert set(rows) <= whole
    assert whole - part == {"covering-n2-t0.5"}


def test_numbers_of_a_method_belong_to_its_cell_of_all_terms_and_classes() -> None:
    """With selected terms, features are of no cell."""
    features = {"features": {"name": "arcsine", "n_components": 8}, "classifier": "linear-svm"}
    arrays = {"errors": np.ones(3), "sizes": np.ones(3), "documents": np.array(10), "seconds": np.array(1.0)}
    for terms, has in ((None, True), ({"number": [20, 50]}, False)):
        changes: dict[str, Any] = {} if terms is None else {"terms": terms}
        experiment = table_study(methods=[features], compare=[], diagnostics=["feature-errors"], **changes)
        made = predicted(experiment)
        name = experiment.variants[BASE_VARIANT].entries[0].label
        made.diagnostics["feature-errors", BASE_VARIANT] = {f"{name}/{part}": own for part, own in arrays.items()}
        scored = score_cells(experiment, made)
        assert [scored.has("features", cell.id) for cell in experiment.cells] == [has] * len(experiment.cells)


class TestCosts:
    def test_are_the_seconds_of_all_splits_and_the_peak_of_any(self) -> None:
        experiment = table_study(methods=["ngd", "mnb"], compare=[])
        made = predicted(experiment)
        for key, memory in zip(made.settings, ((5.0, 2.0), (2.0, 7.0)), strict=True):
            seconds = np.arange(12.0).reshape(2, 6) + len(key.method)
            made.settings[key] = replace(made.settings[key], seconds=seconds, memory=np.array(memory))
        rows = cost_rows(experiment, made, score_cells(experiment, made))
        # Extraction, products, kernel and training of both splits, then testing; one by one counts again.
        assert rows == [
            ["ngd", sum(range(4)) + sum(range(6, 10)) + 8 * 3, 4 + 10 + 2 * 3, 5.0, False],
            ["mnb", sum(range(4)) + sum(range(6, 10)) + 8 * 3, 4 + 10 + 2 * 3, 7.0, False],
        ]

    def test_are_of_no_class_gain_or_failed_cell(self) -> None:
        experiment = small_experiment(**CENTROIDS, name="costs")
        made = predicted(experiment)
        settings = {key: own for key, own in made.settings.items() if (key.method, key.size) != ("mean", 50)}
        part = replace(made, settings=settings)
        rows = cost_rows(experiment, part, score_cells(experiment, part))
        assert [row[0] for row in rows] == ["all-mean-100", "all-skl-50", "all-skl-100"]


class TestLabels:
    @staticmethod
    def run(**of_setting: Any) -> RunPredictions:
        experiment = small_experiment(
            corpus=CORPUS, protocol=DRAWS | {"train_size": 50, "replicates": 2}, methods=["linear", "mnb"], name="x"
        )
        documents = TaskDocuments(("d0", "d1", "d2"), tuple(CLASSES), np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]]) > 0)
        key, each = TaskKey(BASE_VARIANT, ""), np.ones(3, dtype=np.int64)
        splits = (TestedSplit("one", np.array([2, 0]), each), TestedSplit("two", np.array([1]), each))
        given = [np.array([[0, 0, 0], [1, 0, 1]]) > 0, np.array([[1, 1, 0]]) > 0]
        tied = [np.array([[0, 1, 0], [0, 0, 0]]) > 0, np.array([[1, 1, 1]]) > 0]
        setting = replace(setting_of(given, tied), **of_setting)
        settings = {SettingKey(*key, "linear", 0, 50, None): setting}
        made = Predictions({key: documents}, {SplitKey(*key, 50): splits}, settings)
        return RunPredictions(experiment, made, {}, {})

    def test_each_prediction_has_its_split_document_classes_and_tie(self) -> None:
        run = self.run()
        cells = {cell.method: cell for cell in run.experiment.cells}
        found = list(document_predictions(run, cells["linear"]))
        assert [(each.split, each.fold, each.document, each.row) for each in found] == [
            (0, "one", "d2", 2),
            (0, "one", "d0", 0),
            (1, "two", "d1", 1),
        ]
        assert [(each.given, each.truth, each.tied, each.right) for each in found] == [
            ((), (), True, True),
            (("course", "student"), ("course",), False, False),
            (("course", "faculty"), ("course", "faculty"), True, True),
        ]
        assert list(document_predictions(run, cells["mnb"])) == []

    def test_the_table_has_a_column_for_each_cell_with_predictions(self) -> None:
        frame = label_frame(self.run())
        assert list(frame.columns)[-1] == "linear-50"
        assert frame.iloc[:, 0].tolist() == ["d2", "d0", "d1"]
        assert frame.iloc[:, 1].tolist() == ["one", "one", "two"]
        run = self.run()
        empty = label_frame(replace(run, predictions=replace(run.predictions, settings={})))
        assert list(empty.columns) == list(frame.columns)[:-1]
        assert len(empty) == 0


class TestRegions:
    """Points of a plane, by two methods."""

    def run(self, **failed: str) -> RunPredictions:
        figures = [{"name": "map", "title": "A map", "regions": [BASE_VARIANT, "far"]}]
        space = {"name": "curved-points", "space": "half-plane", "train": 4, "test": 3, "resolution": 10}
        experiment = small_experiment(
            corpus=space,
            text={"stoplist": "none"},
            protocol={"name": "fixed-split", "train": "train", "test": "grid"},
            methods=[{"weighting": "tf", "normalization": "none", "kernel": {"name": "rbf", "sigma": 0.5}}],
            variants={"far": {"defaults": {"classifier": {"C": 9}}}},
            diagnostics=["coordinates"],
            figures=figures,
            metrics=["accuracy"],
            name="regions",
        )
        tasks, splits, settings, diagnostics = {}, {}, {}, {}
        for variant in experiment.variants.values():
            key = TaskKey(variant.name, "")
            classes = variant.tasks[0].classes
            tasks[key] = TaskDocuments(tuple("abcdefg"), classes, np.array([0, 1, 0, 1, 1, 0, 1], dtype=np.int32))
            splits[SplitKey(*key, None)] = (TestedSplit("grid", np.array([4, 5, 6]), np.ones(2, dtype=np.int64)),)
            if variant.name not in failed:
                label = variant.entries[0].label
                settings[SettingKey(*key, label, 0, None, None)] = setting_of([np.array([1, 1, 1])])
            diagnostics["coordinates", variant.name] = {
                "points": np.arange(14.0).reshape(7, 2),
                "names": join_names(("μ", "σ")),
                "parts": np.array([0, 0, 1, 1, 2, 2, 2]),
                "part_names": join_names(("train", "test", "grid")),
            }
        return RunPredictions(experiment, Predictions(tasks, splits, settings, diagnostics), failed, {})

    def test_panels_have_the_grid_and_the_training_points(self) -> None:
        (figure,) = decision_region_figures(self.run())
        assert (figure.name, figure.title) == ("map", "A map")
        assert [[panel.row for panel in row] for row in figure.rows] == [[BASE_VARIANT], ["far"]]
        panel = figure.rows[0][0]
        assert (panel.title, panel.axes) == ("rbf (sigma 0.5)", ("μ", "σ"))
        assert panel.grid.tolist() == [[8, 9], [10, 11], [12, 13]]
        assert panel.points.tolist() == [[0, 1], [2, 3]]
        assert (panel.labels.tolist(), panel.likelier.tolist(), panel.predicted.tolist()) == (
            [0, 1],
            [1, 0, 1],
            [1, 1, 1],
        )
        assert panel.caption == "Agreement with the best boundary: 66.7% of the space"

    def test_a_figure_whose_row_has_no_panel_is_left_out(self) -> None:
        assert decision_region_figures(self.run(far="failed")) == ()


class TestCaveats:
    def test_values_of_one_choice_are_counted_by_themselves(self) -> None:
        experiment = replace(
            table_study(),
            tuned_cells={
                "a": "C 1, to Table 1",
                "b": "C 1, to Table 1",
                "c": "t 2, to Table 2",
                "d": "C 1, to Table 1",
            },
        )
        texts = [each.text for each in find_caveats(experiment) if each.name == "tuned"]
        rest = "these values, and the claims on them, are excluded from the verdict counts"
        assert texts == [f"C 1, to Table 1: a … d (3 cells); {rest}", f"t 2, to Table 2: c; {rest}"]

    @pytest.mark.parametrize("other", ["tf", "tfidf"])
    def test_one_method_with_idf_of_the_collection_is_enough(self, other: str) -> None:
        methods = [
            {"weighting": "tfidf", "idf": "collection", "kernel": "linear"},
            {"weighting": other, **({"idf": "training"} if other == "tfidf" else {}), "kernel": "ngd"},
        ]
        found = {each.name: each for each in find_caveats(small_experiment(corpus=CORPUS, methods=methods))}
        assert found["idf"].honest == {"defaults": {"idf": "training"}}

    @pytest.mark.parametrize(
        ("text", "honest"),
        [
            ({"min_occurrences": 2}, {"min_occurrences": 1}),
            ({"min_occurrences": 1, "min_documents": 2}, {"min_documents": 1}),
            ({"min_occurrences": 3, "min_documents": 2}, {"min_occurrences": 1, "min_documents": 1}),
        ],
    )
    def test_pruning_has_an_honest_variant(self, text: dict[str, int], honest: dict[str, int]) -> None:
        found = {each.name: each for each in find_caveats(small_experiment(corpus=CORPUS, text=text))}
        assert found["pruning"].honest == {"text": honest}

    @pytest.mark.parametrize(
        ("ngrams", "words"),
        [
            ([2], "2 consecutive words"),
            ([2, 3], "2 and 3 consecutive words"),
            ([2, 3, 4], "2, 3 and 4 consecutive words"),
        ],
    )
    def test_terms_without_single_words_are_named(self, ngrams: list[int], words: str) -> None:
        text = {"stoplist": "none", "min_occurrences": 1, "ngrams": ngrams}
        found = {each.name: each for each in find_caveats(small_experiment(corpus=CORPUS, text=text))}
        listed = ", ".join(map(str, ngrams))
        assert found["ngrams"].text == (
            f"terms are {words}; a word by itself is none (`ngrams: [1, {listed}]` counts both)"
        )
        assert "ngrams" not in {
            each.name for each in find_caveats(small_experiment(corpus=CORPUS, text=text | {"ngrams": [1, *ngrams]}))
        }


def test_further_caveats_are_counted_for_the_terminal() -> None:
    experiment = drawn_study(text={"min_occurrences": 3})
    run = RunPredictions(experiment, predicted(experiment), {}, {})
    caveats = find_caveats(experiment)
    (said,) = [text for text in summarize(run).brief if text.startswith("Caveats: ")]
    assert said == f"Caveats: {caveats[0].text}; {len(caveats) - 1} more in table.md."


class TestHardest:
    def test_a_document_with_any_wrong_class_is_misclassified(self) -> None:
        protocol = {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]}
        experiment = small_experiment(corpus=CORPUS, protocol=protocol, methods=["ngd", "linear"], name="x")
        made = predicted(experiment, multilabel=True)
        documents = hardest_documents(experiment, made, score_cells(experiment, made))
        key = TaskKey(BASE_VARIANT, "")
        truth, wrong = made.tasks[key].truth, np.zeros(60, dtype=int)
        for setting in made.settings.values():
            wrong += (setting.predicted != truth).any(axis=1)
        assert {int(each.name): each.wrong for each in documents} == {i: n for i, n in enumerate(wrong) if n}
        assert [each.wrong for each in documents] == sorted(wrong[wrong > 0], reverse=True)
        for each in documents:
            classes = [name for name, has in zip(CLASSES, truth[int(each.name)], strict=True) if has]
            assert each.truth == (", ".join(classes) or "(none)")
            assert each.fold == ("cornell" if int(each.name) < 25 else "texas")

    def test_cells_of_other_variants_are_not_counted(self) -> None:
        experiment = table_study(variants={"other": {"text": {"min_occurrences": 50}}})
        made = predicted(experiment)
        documents = hardest_documents(experiment, made, score_cells(experiment, made))
        assert documents
        own = {cell.id for cell in experiment.cells if cell.variant == BASE_VARIANT}
        assert all(set(each.predicted) == own for each in documents)

    def test_curves_have_none(self) -> None:
        experiment = drawn_study()
        made = predicted(experiment)
        assert hardest_documents(experiment, made, score_cells(experiment, made)) == ()


class TestSelection:
    @pytest.mark.parametrize(
        ("metrics", "multilabel", "metric"),
        [
            (["accuracy", "error"], False, "accuracy"),
            (["macro-roc-auc", "macro-f1"], False, "macro-f1"),
            (["micro-average-precision"], False, "error"),
            (["micro-average-precision"], True, "macro-f1"),
            (["macro-break-even", "micro-f1"], True, "micro-f1"),
        ],
    )
    def test_is_by_the_first_metric_of_counts(self, metrics: list[str], multilabel: bool, metric: str) -> None:
        experiment = replace(table_study(), metrics=tuple(metrics))
        assert selection_metric(experiment, multilabel=multilabel) == metric

    @pytest.mark.parametrize("failed", [0, 1, 2])
    def test_needs_inner_folds_of_every_candidate(self, failed: int) -> None:
        experiment = drawn_study()
        made = predicted(experiment)
        cell = next(cell for cell in experiment.cells if cell.choice == "cross-validation" and cell.method == "rbf")

        def losses(_: Any) -> Any:
            raise AssertionError

        assert select_candidates(experiment, made, cell, losses) is not None
        key = cell.setting(failed, cell.size)
        made.settings[key] = replace(made.settings[key], inner=made.settings[key].inner[:0])
        assert select_candidates(experiment, made, cell, losses) is None


def test_tasks_of_one_split_are_one_sample_of_ranks() -> None:
    three = [CLASSES, CLASSES[::-1], [CLASSES[1], CLASSES[0], CLASSES[2]]]
    protocol = {"name": "leave-one-group-out", "held_out": ["cornell"]}
    experiment = table_study(tasks=three, protocol=protocol, compare=[])
    made = predicted(experiment)
    settings = {
        key: setting_of(own.by_split[:1], own.tied_by_split[:1], seconds=own.seconds[:1])
        for key, own in made.settings.items()
    }
    part = replace(made, splits={key: own[:1] for key, own in made.splits.items()}, settings=settings)
    assert len(experiment.cells) == 3 * 4
    assert mean_rank_rows(experiment, score_cells(experiment, part)) == []


class TestTerms:
    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({}, set()),
            ({"variants": {"few": {"text": {"min_occurrences": 50}}}}, {"variant"}),
            ({"tasks": [CLASSES, CLASSES[::-1]]}, {"task"}),
            ({"tasks": [CLASSES]}, set()),
            ({"compare": [["tf-l1-ngd", "tf-l1-linear"]]}, {"sign test, McNemar's test", "Wilcoxon's test"}),
        ],
    )
    def test_of_a_page_are_those_that_it_uses(self, changes: dict[str, Any], words: set[str]) -> None:
        names = {"variant", "task", "sign test, McNemar's test", "Wilcoxon's test", "oracle", "cv", "temporal hold-out"}
        terms = dict(terms_of(table_study(**{"compare": []} | changes)))
        assert names & terms.keys() == words
        assert "split, fold" in terms
        assert all(not means.endswith(("\n", " ")) and means for means in terms.values())

    def test_of_choices_and_draws_are_named(self) -> None:
        terms = dict(terms_of(drawn_study()))
        assert {"oracle", "cv", "split, replicate", "error"} <= terms.keys()
        assert "temporal hold-out" not in terms


def made_elsewhere(experiment: Any, label: str, **file: Any) -> Any:
    """Return an experiment in which the predictions or vectors of a method are read from a file."""
    ((name, variant),) = experiment.variants.items()
    entries = []
    for entry in variant.entries:
        own = tuple(replace(spec, **file) for spec in entry.candidates) if entry.label == label else entry.candidates
        entries.append(replace(entry, candidates=own))
    return replace(experiment, variants={name: replace(variant, entries=tuple(entries))})


class TestMadeElsewhere:
    experiment = table_study(methods=["ngd", "mnb"], compare=[])

    def test_predictions_of_a_file_have_a_caveat_and_no_costs(self) -> None:
        own = made_elsewhere(self.experiment, "mnb", predictions=MethodFile("mine.csv", "d", None))
        texts = {each.name: each.text for each in find_caveats(own)}
        sight = "were made elsewhere, perhaps with sight of the tested documents"
        assert texts["made elsewhere"] == f"predictions of mnb {sight}"
        made = predicted(self.experiment)
        assert [row[0] for row in cost_rows(own, made, score_cells(own, made))] == ["ngd"]
        assert not {"made elsewhere", "vectors"} & {each.name for each in find_caveats(self.experiment)}

    def test_files_are_labels(self) -> None:
        own = made_elsewhere(self.experiment, "mnb", predictions=MethodFile("mine.csv", "d", None))
        infos = label_cells(own, score_cells(own, predicted(own)), None)
        assert [info.columns["weighting"] for info in infos] == ["TF", "mine.csv"]
        assert infos[1].points == "predictions of mine.csv"


class TestOneOfTwoRuns:
    def test_confusions_are_of_tables_alone(self) -> None:
        for changes, n in (({}, 4), ({"terms": {"number": [20, 50]}}, 0)):
            experiment = table_study(**changes)
            summary = summarize(RunPredictions(experiment, predicted(experiment), {}, {}))
            assert len(set(summary.confusions["cell"])) == n


class TestPublishedOfCharts:
    def test_bars_of_relations_are_explained_as_theirs(self) -> None:
        figures = [{"name": kind, "y": {kind: ["rbf", "linear"]}} for kind in ("ratio", "difference")]
        experiment = drawn_study(figures=[*figures, {"name": "plain", "y": "error"}])
        charts = {
            each.name: each.bars for each in summarize(RunPredictions(experiment, predicted(experiment), {}, {})).charts
        }
        assert charts == {
            "ratio": "95% interval over the replicates (Fieller)",
            "difference": "95% interval of the mean difference (t over the replicates)",
            "plain": "95% interval of the mean (t over the replicates)",
        }

    def test_published_values_are_fractions_of_this_configuration(self, publish: Any) -> None:
        values = [
            {"table": 1, "config": "table", "cell": "tf-l1-ngd", "metric": "accuracy", "value": "88.5"},
            {"table": 1, "config": "other", "cell": "tf-l1-linear", "metric": "accuracy", "value": "50"},
            {"table": 2, "config": "table", "pair": ["tf-l1-ngd", "tf-l1-linear"], "metric": "sign-z", "value": "1.5"},
        ]
        paper = {"paper": "made2027", "title": "T", "reference": "R", "unit": "percent", "values": values}
        experiment = table_study(paper=publish(paper))
        published = published_of_experiment(experiment)
        assert published_by_cell(published, experiment) == {"tf-l1-ngd": pytest.approx(0.885)}
        assert published_by_cell(None, experiment) == {}


def test_a_note_on_a_claim_stands_once_for_all_readings(publish: Any) -> None:
    pair = {"config": "table", "a": "tf-l1-ngd", "b": "tf-l1-linear"}
    same = {
        "id": "same",
        "text": "t",
        "relation": "equivalent",
        "margin": "0.01",
        "because": "so it says",
        "metric": "accuracy",
    }
    paper = {
        "paper": "made2028",
        "title": "T",
        "reference": "R",
        "unit": "percent",
        "claims": [same | {"comparisons": [pair]}],
    }
    experiment = table_study(paper=publish(paper), variants={"few": {"text": {"min_occurrences": 50}}})
    own = replace(experiment, readings={BASE_VARIANT: "one reading", "few": "another reading"})
    summary = summarize(RunPredictions(own, predicted(own), {}, {}))
    assert sum(note.startswith("same: 'the same' means") for note in summary.notes) == 1
    assert set(summary.claims["variant"]) == {"one reading", "another reading"}
    part = replace(own, left_out=frozenset({"tf-l1-linear"}))
    assert list(summarize(RunPredictions(part, predicted(part), {}, {})).claims["variant"]) == ["another reading"]
    other = replace(own, left_out=frozenset({"few-tf-l1-ngd"}))
    assert list(summarize(RunPredictions(other, predicted(other), {}, {})).claims["variant"]) == ["one reading"]


def test_curves_along_a_parameter_have_no_gains() -> None:
    figure = {"name": "along", "x": "smoothing", "line": "kernel", "y": "macro-recall"}
    experiment = small_experiment(**CENTROIDS | {"figures": [figure]}, name="along")
    drawn = score_cells(experiment, predicted(experiment)).drawn
    assert len(drawn)
    assert set(drawn["what"]) == {"point"}
    assert set(drawn["smoothing"]) == {0.001}


def test_tested_documents_are_told_apart_by_their_corpus() -> None:
    experiment = table_study(compare=[], variants={"real": {"corpus": {"name": "webkb", "classes": CLASSES}}})
    made = shortened(predicted(experiment), {0: 5})
    run = RunPredictions(experiment, made, {}, {})
    rows = [*range(5), *range(25, 30)]
    assert run.tested == {(corpus, str(row)) for corpus in ("synthetic", "webkb") for row in rows}


def test_ranks_are_of_all_classes_together() -> None:
    metrics = {"protocol": {"name": "k-fold", "k": 4}, "metrics": ["macro-recall"], "per_class": True}
    experiment = small_experiment(corpus=CORPUS, methods=["ngd", "linear", "mnb"], name="x", **metrics)
    made = predicted(experiment)
    parts = [np.arange(start, 60, 4) for start in range(4)]
    splits = {
        key: tuple(TestedSplit(f"f{i}", rows, np.full(3, 5)) for i, rows in enumerate(parts)) for key in made.splits
    }
    settings = {}
    for i, key in enumerate(made.settings):
        truth = made.tasks[key.of_task].truth
        settings[key] = setting_of([np.where(np.arange(15) < 2 * i, (truth[p] + 1) % 3, truth[p]) for p in parts])
    ranks = mean_rank_rows(experiment, score_cells(experiment, replace(made, splits=splits, settings=settings)))
    assert [row[:3] for row in ranks] == [["ngd", 1.0, 4], ["linear", 2.0, 4], ["mnb", 3.0, 4]]
