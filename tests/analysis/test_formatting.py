"""Numbers, units, and labels of methods as text: tables of cases, with both sides of each limit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from benchmark.analysis.formatting.labels import (
    candidate_label,
    component_label,
    grid_label,
    label_cells,
    points_label,
    spoken_names,
)
from benchmark.analysis.formatting.number_text import (
    interval_text,
    number_text,
    p_text,
    setting_text,
)
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.units import (
    axis_label,
    axis_scale,
    display_unit,
    metric_labels,
    metric_with_unit,
    unit_named,
)
from benchmark.analysis.scoring import score_cells
from benchmark.analysis.summary import CellInfo
from benchmark.config.model import BASE_VARIANT
from benchmark.evaluation.metrics import DiagnosticMetric
from tests.analysis.made import CLASSES, predicted
from tests.builders import small_experiment

NAN = math.nan
DECLARED = {
    "level": DiagnosticMetric("level", "nats", "mean level", axis="level of all", together="levels", definition="mean"),
    "plain": DiagnosticMetric("plain", "nats"),
    "share": DiagnosticMetric("share", "percent", decimals=0),
    "features": DiagnosticMetric("features", "features", decimals=0),
}


@pytest.mark.parametrize(
    ("value", "decimals", "sign", "text"),
    [
        (None, 2, "", "–"),
        (NAN, 2, "", "–"),
        (0, 2, "", "0.00"),
        (-0.004, 2, "", "0.00"),
        (-0.004, 2, "+", "+0.00"),
        (-0.006, 2, "+", "−0.01"),
        (1234.5, 1, "", "1234.5"),
        (2, 0, "+", "+2"),
    ],
)
def test_numbers_have_fixed_decimals(value: Any, decimals: int, sign: str, text: str) -> None:
    assert number_text(value, decimals, sign) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(1, 2, "[1.0, 2.0]"), (None, 2, "–"), (1, NAN, "–"), (NAN, NAN, "–"), (-1, -0.01, "[−1.0, 0.0]")],
)
def test_intervals_have_both_ends_or_none(low: Any, high: Any, text: str) -> None:
    assert interval_text(low, high, 1) == text
    unit = unit_named("percent")
    assert unit.interval(low, high) == (
        "–" if text == "–" else f"[{100 * low:.2f}, {100 * high:.2f}]".replace("-", "−")
    )


@pytest.mark.parametrize(
    ("p_value", "note", "text"),
    [
        (9.9e-5, "", "<0.0001"),
        (1e-4, "", "0.0001"),
        (0.012345, "why", "0.0123"),
        (1.0, "", "1"),
        (None, "", "not testable"),
        (NAN, None, "not testable"),
        (NAN, NAN, "not testable"),
        (NAN, "few splits", "not testable (few splits)"),
        (NAN, "not testable (few)", "not testable (few)"),
    ],
)
def test_p_values_have_three_digits_or_a_reason(p_value: Any, note: Any, text: str) -> None:
    assert p_text(p_value, note) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        (True, "yes"),
        (False, "no"),
        (0, "0"),
        ([], "none"),
        ((1, None, True), "1, none, yes"),
        ({"a": [1, 2], "b": False}, "a 1, 2, b no"),
        ("word", "word"),
    ],
)
def test_settings_are_words(value: Any, text: str) -> None:
    assert setting_text(value) == text


class TestPublishedRows:
    numbers = ("value", "low", "high", "between_low", "between_high", "widest")

    def test_every_number_of_a_fraction_is_moved_to_percent(self) -> None:
        row: dict[str, Any] = {"metric": "accuracy", "unit": "one", "published": "0.9010", "documents": 7.0}
        row |= dict.fromkeys(self.numbers, 0.5)
        assert in_shown_unit(row) == row | dict.fromkeys(self.numbers, 50.0) | {"published": "90.10", "unit": "percent"}

    def test_a_number_in_its_unit_stays(self) -> None:
        row: dict[str, Any] = {"metric": "accuracy", "unit": "percent", "published": "90.10", "value": 50.0}
        assert in_shown_unit(row) == row


class TestUnits:
    def test_labels_are_those_that_the_diagnostic_declares(self) -> None:
        found = metric_labels("level", DECLARED)
        assert (found.name, found.axis, found.together, found.definition) == (
            "mean level",
            "level of all",
            "levels",
            "mean",
        )
        found = metric_labels("deep", {"deep": DiagnosticMetric("deep", "nats", axis="depth of all")})
        assert (found.name, found.axis, found.together, found.definition) == ("deep", *["depth of all"] * 2, "deep")
        found = metric_labels("plain", DECLARED)
        assert (found.name, found.axis, found.together, found.definition) == ("plain",) * 4
        found = metric_labels("of-a-plug-in", DECLARED)
        assert (found.name, found.axis, found.together, found.definition) == ("of-a-plug-in",) * 4

    @pytest.mark.parametrize(
        ("metrics", "label", "scale"),
        [
            (("error",), "Test error (%)", 100),
            (("accuracy", "error"), "Accuracy or test error (%)", 100),
            (("macro-f1", "micro-f1"), "F-measure (%)", 100),
            (("level",), "Level of all (nats)", 1),
            (("level", "plain"), "Levels or plain (nats)", 1),
            (("accuracy", "level"), "Accuracy (fraction) or levels (nats)", 1),
            (("features",), "Features", 1),
            (("seconds",), "Seconds", 1),
            (("sign-z",), "Z", 1),
            (("share", "accuracy"), "Share or accuracy (%)", 100),
        ],
    )
    def test_an_axis_names_what_it_shows_and_its_unit(self, metrics: Any, label: str, scale: float) -> None:
        assert axis_label(metrics, DECLARED) == label
        assert axis_scale(metrics, DECLARED) == scale

    def test_a_head_has_the_unit_unless_its_name_says_it(self) -> None:
        heads = {metric: metric_with_unit(metric, display_unit(metric, DECLARED), DECLARED) for metric in DECLARED}
        assert heads == {"level": "mean level nats", "plain": "plain nats", "share": "share %", "features": "features"}
        assert metric_with_unit("sign-z", display_unit("sign-z", {}), {}) == "Z"


def entry_of(method: Any, **changes: Any) -> Any:
    experiment = small_experiment(corpus={"name": "synthetic"}, methods=[method], **changes)
    return experiment.variants[BASE_VARIANT].entries[0]


class TestMethods:
    @pytest.mark.parametrize(
        ("method", "label"),
        [
            ("ngd", "TF, l1, ngd"),
            ({"kernel": "ngd", "dirichlet": 0.5}, "TF, l1, Dirichlet(0.5), ngd"),
            ({"weighting": "tfidf", "normalization": "l2", "kernel": "linear"}, "TF×IDF, l2, linear"),
            (
                {"weighting": {"name": "aitchison", "power": 0.5}, "kernel": "linear"},
                "aitchison (power 0.5), l2, linear",
            ),
            (
                {"features": {"name": "arcsine", "n_components": 16}, "classifier": "linear-svm"},
                "TF, l1, arcsine (n_components 16)",
            ),
        ],
    )
    def test_points_are_described_with_all_that_makes_them(self, method: Any, label: str) -> None:
        assert points_label(entry_of(method).candidates[0]) == label

    def test_what_changes_no_result_is_no_parameter(self) -> None:
        spec = entry_of({"kernel": "ngd", "classifier": {"C": 2, "cache_mb": 10}}).candidates[0]
        assert component_label(spec.classifier) == "svm (C 2.0)"
        spec = entry_of({"kernel": "ngd", "classifier": {"cache_mb": 10}}).candidates[0]
        assert component_label(spec.classifier) == "svm"

    def test_candidates_of_any_part_are_told_apart(self) -> None:
        choose = {"by": "cross-validation", "folds": 2, "grid_keys": ["weighting", "text", "normalization"]}
        entry = entry_of({"weighting": ["tf", "tfidf"], "kernel": "linear", "name": "a"}, choose=choose)
        assert grid_label(entry) == "weighting tf, tfidf"
        assert [candidate_label(entry, i) for i in (0, 1)] == ["weighting tf", "weighting tfidf"]
        learned = {"name": "aitchison", "idf": [1.0, 2.0], "concentration": [0.0, 1.0]}
        entry = entry_of({"weighting": learned, "kernel": "linear", "idf": "training", "name": "a"}, choose=choose)
        assert grid_label(entry) == "weighting idf 1.0, 2.0 × weighting concentration 0.0, 1.0"
        entry = entry_of({"normalization": ["l1", "l2"], "kernel": "linear", "name": "a"}, choose=choose)
        assert [candidate_label(entry, i) for i in (0, 1)] == ["normalization l1", "normalization l2"]

    def test_smallest_and_largest_of_three_are_marked_unless_none_is_beyond(self) -> None:
        choose = {"by": "cross-validation", "folds": 2}
        entry = entry_of({"classifier": {"name": "eef", "n_terms": [50, 100, 200, None]}}, choose=choose)
        labels = [candidate_label(entry, i) for i in range(4)]
        assert labels == ["n_terms 50 (smallest)", "n_terms 100", "n_terms 200", "n_terms None"]


class TestSpokenNames:
    @staticmethod
    def cell(name: str, kernel: str = "", classifier: str = "svm", **more: str) -> CellInfo:
        return CellInfo(name, {"kernel": kernel, "classifier": classifier}, **more)

    @pytest.mark.parametrize(
        ("a", "b", "names"),
        [
            (("a", "ngd"), ("b", "linear"), ("the NGD kernel", "the linear kernel")),
            (("a", "rbf (sigma 0.2)"), ("b", "ned"), ("the Gaussian (sigma 0.2) kernel", "the NED kernel")),
            (("a", "ngd"), ("b", "ngd"), ("a", "b")),
            (("a", "ngd"), ("b", ""), ("a", "b")),
            (("a", "ngd", "svm"), ("b", "linear", "mnb"), ("a", "b")),
        ],
    )
    def test_are_those_of_kernels_where_these_alone_differ(self, a: Any, b: Any, names: tuple[str, str]) -> None:
        assert spoken_names(self.cell(*a), self.cell(*b)) == names

    def test_are_else_those_of_methods_or_ids_where_methods_are_the_same(self) -> None:
        one, two = self.cell("x-a", method="a"), self.cell("x-b", method="b", spoken="the B")
        assert spoken_names(one, two) == ("a", "the B")
        same = self.cell("y-a", method="a")
        assert spoken_names(one, same) == ("x-a", "y-a")


class TestCells:
    def test_the_median_of_the_chosen_is_marked(self) -> None:
        experiment = small_experiment(
            corpus={"name": "synthetic", "classes": CLASSES},
            name="x",
            methods=[{"kernel": {"name": "rbf", "sigma": [0.1, 0.2, 0.4]}}],
            choose={"by": "oracle"},
        )
        scored = score_cells(experiment, predicted(experiment))
        (name,) = scored.chosen
        for chosen, label in (
            ([1, 1], "sigma 0.2"),
            ([0, 1], "sigma 0.1 (smallest) (median)"),
            ([0, 0, 1], "sigma 0.1 (smallest) (median)"),
            ([1, 2, 2], "sigma 0.4 (largest) (median)"),
            ([2, 0, 1], "sigma 0.2 (median)"),
            ([2, 1, 2, 0], "sigma 0.2 (median)"),
        ):
            scored.chosen[name] = np.array(chosen)
            (info,) = label_cells(experiment, scored, None)
            assert info.columns["parameter"] == label
