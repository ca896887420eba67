"""Parts of an experiment: the cells that are asked for, and what they are computed from."""

from __future__ import annotations

import pytest

from benchmark.config.cells import settings_of_cell
from benchmark.experiment.configuration import select_cells

DRAWS = "protocol: {name: random-subsets, train_size: [20, 40, 60], replicates: 2}\n"


def test_of_a_part_the_ends_of_a_gain_are_not_left_out(checked):
    whole = checked(f"{DRAWS}gain: true\nper_class: true\nmethods: [mnb, eef]\ntasks: [[course, student]]\n")
    part = select_cells(whole, ["gain-course-student-course-mnb"])
    ends = ["course-student-course-mnb-20", "course-student-course-mnb-60"]
    assert list(part.ids) == [*ends, "gain-course-student-course-mnb"]
    assert part.left_out == set(whole.ids) - set(part.ids)
    assert part.notes[-1].startswith("Only gain-course-student-course-mnb: 3 of 24 cells.")


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ("{text: {digits: token}}", ["v", "w"]),
        ("{protocol: {held_out: [texas]}}", ["base", "v", "w"]),
        ("{corpus: {classes: [student, course, faculty]}}", ["base", "v", "w"]),
        ("{corpus: {exclude: [a]}}", ["v", "w"]),
    ],
)
def test_all_variants_stay_where_one_of_a_part_has_other_classes_or_splits(checked, changed, kept):
    """Whichever of them it is."""
    for variants in (f"{{v: {changed}, w: {{text: {{}}}}}}", f"{{v: {{text: {{}}}}, w: {changed}}}"):
        part = select_cells(checked(f"variants: {variants}\n"), ["v-*", "w-*"])
        assert list(part.variants) == kept
        assert all(cell.variant in ("v", "w") for cell in part.cells)


def test_terms_and_choices_of_a_gain_are_its_own(checked):
    grid = "methods: [linear, {kernel: {name: rbf, sigma: [1, 2]}}]\nchoose: {by: [oracle, cross-validation]}\n"
    whole = checked(f"{DRAWS}gain: true\n{grid}terms: {{number: [10, 20]}}\n")
    part = select_cells(whole, ["gain-linear-cv-20"])
    assert list(part.ids) == ["linear-cv-20-20", "linear-cv-60-20", "gain-linear-cv-20"]
    sizes = {
        cell.id: [setting.size for setting in settings_of_cell(whole, cell) if setting.candidate == 0]
        for cell in whole.cells
        if cell.terms == 20 and cell.size in (None, 40)
    }
    assert sizes == {
        "linear-oracle-40-20": [40], "rbf-oracle-40-20": [20, 40, 60], "linear-cv-40-20": [40], "rbf-cv-40-20": [40],
        "gain-linear-oracle-20": [20, 60], "gain-rbf-oracle-20": [20, 40, 60], "gain-linear-cv-20": [20, 60],
        "gain-rbf-cv-20": [20, 60],
    }  # fmt: skip
