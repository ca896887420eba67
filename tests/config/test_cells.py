"""Cells, pairs and figures: what a configuration's scores are called, compared by and drawn as."""

from __future__ import annotations

import pytest

from benchmark.config.model import FigureView

DRAWS = "protocol: {name: random-subsets, train_size: [20, 40], replicates: 2}\n"
TASKS = "tasks: [[faculty, course], {title: All four, largest: 4}]\n"


class TestIds:
    def test_a_table_has_its_methods(self, ids):
        assert ids() == ["linear", "ngd"]

    def test_a_task_goes_before_and_the_axis_after(self, ids):
        assert ids(f"{TASKS}methods: ngd\nterms: {{number: [10, 50]}}\n") == [
            "faculty-course-ngd-10",
            "faculty-course-ngd-50",
            "all-four-ngd-10",
            "all-four-ngd-50",
        ]

    def test_one_size_is_an_axis_too(self, ids):
        assert ids(DRAWS.replace("[20, 40]", "20")) == ["linear-20", "ngd-20"]

    def test_sizes_and_terms_are_two_axes(self, checked):
        cells = checked(f"{DRAWS}methods: ngd\nterms: {{number: [10, 50]}}\n").cells
        assert [(cell.id, cell.size, cell.terms) for cell in cells] == [
            ("ngd-20-10", 20, 10),
            ("ngd-20-50", 20, 50),
            ("ngd-40-10", 40, 10),
            ("ngd-40-50", 40, 50),
        ]

    def test_a_choice_goes_before_the_axis(self, ids):
        choose = "choose: {by: [oracle, cross-validation], folds: 2}\n"
        grid = "methods: [linear, {kernel: {name: diffusion, t: [0.5, 1]}}]\n"
        found = ids(f"{choose}{grid}{DRAWS}tasks: [[faculty, course]]\n")
        assert len(found) == len(set(found)) == 2 * 2 * 2
        assert found[0] == "faculty-course-linear-oracle-20"
        assert found[-1] == "faculty-course-diffusion-cv-40"

    def test_a_variant_goes_before_all_and_the_configuration_itself_has_no_word(self, checked):
        cells = checked("variants: {soft: {defaults: {C: 0.1}}}\n").cells
        assert [(cell.id, cell.variant, cell.method) for cell in cells] == [
            ("linear", "base", "linear"),
            ("ngd", "base", "ngd"),
            ("soft-linear", "soft", "linear"),
            ("soft-ngd", "soft", "ngd"),
        ]

    def test_classes_that_are_scored_by_themselves_have_cells_beside_all_of_them(self, checked):
        cells = checked(f"{DRAWS}per_class: true\nmethods: mnb\ntasks: [[faculty, course]]\n").cells
        assert [(cell.id, cell.of_class) for cell in cells if cell.size == 20] == [
            ("faculty-course-all-mnb-20", "all"),
            ("faculty-course-faculty-mnb-20", "faculty"),
            ("faculty-course-course-mnb-20", "course"),
        ]

    def test_a_gain_stands_after_the_points_of_its_variant(self, checked):
        cells = checked(f"{DRAWS}gain: true\nvariants: {{soft: {{defaults: {{C: 0.1}}}}}}\n").cells
        assert [cell.id for cell in cells if cell.variant == "base"] == [
            *("linear-20", "linear-40", "ngd-20", "ngd-40"),
            *("gain-linear", "gain-ngd"),
        ]
        assert [cell.id for cell in cells if cell.what == "gain"][2:] == ["soft-gain-linear", "soft-gain-ngd"]
        assert {cell.size for cell in cells if cell.what == "gain"} == {None}

    def test_what_is_measured_has_rows_of_its_own(self, checked):
        measured = "diagnostics: [{name: centroid-distances, centroids: [pooled, skl], resamples: 2}]\n"
        cells = checked(
            f"{measured}methods: divergence-bayes\ncorpus: {{name: synthetic, classes: [student, course]}}\n"
        ).cells
        assert {cell.what for cell in cells} == {"point", "diagnostic"}
        assert {"table-pooled-student", "table-skl-course"} <= {cell.id for cell in cells if cell.what == "diagnostic"}


class TestPairs:
    def test_two_methods_are_compared_wherever_else_their_cells_agree(self, checked):
        fragment = f"{DRAWS}{TASKS}compare: [[ngd, linear]]\nvariants: {{soft: {{defaults: {{C: 0.1}}}}}}\n"
        pairs = checked(fragment).compare
        assert len(pairs) == 2 * 2 * 2
        assert all(pair.a.replace("-ngd-", "-linear-") == pair.b for pair in pairs)

    def test_two_cells_are_compared_once(self, checked):
        (pair,) = checked(
            "compare: [[soft-mnb-9, mnb-9]]\nvariants: {soft: {defaults: {smoothing: 2}}}\n"
            "methods: [mnb, eef]\nterms: {number: 9}\n"
        ).compare
        assert (pair.a, pair.b) == ("soft-mnb-9", "mnb-9")

    @pytest.mark.parametrize(
        ("family", "families"),
        [
            ("", {"base": 8, "soft": 8}),
            ("holm_within: [variant]\n", {"base": 8, "soft": 8}),
            ("holm_within: [variant, task]\n", {"base all-four": 4, "soft all-four": 4, "base faculty-course": 4}),
            ("holm_within: [size]\n", {"20": 8, "40": 8}),
            ("holm_within: [variant, pair]\n", {"base ngd linear": 4, "base ned linear": 4, "soft ngd linear": 4}),
            ("holm_within: []\n", {"": 16}),
        ],
    )
    def test_a_family_is_of_the_pairs_that_agree_in_its_columns(self, checked, family, families):
        fragment = (
            f"{DRAWS}{TASKS}{family}methods: [linear, ned, ngd]\ncompare: [[ngd, linear], [ned, linear]]\n"
            "variants: {soft: {defaults: {C: 0.1}}}\n"
        )
        found = [pair.family.strip() for pair in checked(fragment).compare]
        counts = {name: found.count(name) for name in found}
        assert families.items() <= counts.items()
        assert sum(counts.values()) == 16


class TestFigures:
    def test_without_figures_the_axis_is_x_and_the_main_metric_y(self, checked):
        (figure,) = checked(f"{DRAWS}metrics: [error, accuracy]\n").figures
        assert (figure.name, figure.x, figure.y, figure.line) == ("figure", "size", ("error",), "method")
        assert figure.panel == ("choice", "task")
        (figure,) = checked("terms: {number: [10, 20]}\n").figures
        assert (figure.x, figure.log_x) == ("terms", True)
        assert checked().figures == ()

    def test_a_figure_is_drawn_of_each_variant_and_named_after_it(self, checked):
        one, two = checked(f"{DRAWS}variants: {{soft: {{defaults: {{C: 0.1}}}}}}\n").figures
        assert (one.name, one.where) == ("figure", {"variant": "base"})
        assert (two.name, two.where) == ("figure-soft", {"variant": "soft"})

    @pytest.mark.parametrize("across", ["line: variant", "panel: [variant, task]", "x: C", "where: {variant: soft}"])
    def test_one_is_drawn_of_all_where_they_are_its_lines_panels_or_x(self, checked, across):
        figures = f"figures: [{{name: a, {across}}}]\n"
        assert [
            each.name for each in checked(f"{DRAWS}variants: {{soft: {{defaults: {{C: 0.1}}}}}}\n{figures}").figures
        ] == ["a"]

    def test_a_relation_of_two_methods_is_one_of_the_main_metric(self, checked):
        (figure,) = checked(f"{DRAWS}metrics: [error]\nfigures: [{{name: a, y: {{ratio: [ngd, linear]}}}}]\n").figures
        assert (figure.y, figure.relation) == (("error",), ("ratio", "ngd", "linear"))

    @pytest.mark.parametrize(
        ("figure", "expected"),
        [
            ("{name: a}", FigureView("a", ("error",))),
            (
                "{name: a, title: T, y: [accuracy, error], x: C, line: kernel, panel: [], bars: none, log_y: true}",
                FigureView("a", ("accuracy", "error"), (), "C", "kernel", (), {}, "none", False, True, "T"),
            ),
            (
                "{name: a, y: accuracy, x: train_size, line: class, panel: class, bars: range, log_x: true}",
                FigureView("a", ("accuracy",), (), "size", "of_class", ("of_class",), {}, "range", True),
            ),
            (
                "{name: a, y: {difference: [ngd, linear]}, panel: [task, class], where: {class: all, task: x}}",
                FigureView(
                    "a",
                    ("error",),
                    ("difference", "ngd", "linear"),
                    "size",
                    "method",
                    ("task", "of_class"),
                    {"of_class": "all", "task": "x"},
                ),
            ),
            ("{name: a, y: seconds, x: ridge}", FigureView("a", ("seconds",), x="ridge")),
        ],
    )
    def test_a_figure_is_what_it_says(self, checked, figure, expected):
        assert checked(f"{DRAWS}metrics: [error, accuracy]\nfigures: [{figure}]\n").figures == (expected,)

    def test_of_one_variant_and_the_base_each_has_its_own_figures_and_names(self, checked):
        figures = "figures: [{name: a, y: accuracy, title: T}, {name: b, line: variant}]\n"
        found = checked(f"{DRAWS}variants: {{soft: {{defaults: {{C: 0.1}}}}}}\n{figures}").figures
        assert [(each.name, each.where, each.title) for each in found] == [
            ("a", {"variant": "base"}, "T"),
            ("a-soft", {"variant": "soft"}, "T"),
            ("b", {}, ""),
        ]
        alone = checked(f"{DRAWS}run_base: false\nvariants: {{soft: {{defaults: {{C: 0.1}}}}}}\n").figures
        assert [(each.name, each.where) for each in alone] == [("figure-soft", {})]
