import re
from dataclasses import replace

import pandas as pd

from benchmark.report.page import ExperimentSection, PaperSection, counted, reproduction_page, trials
from benchmark.report.summary import ALTERNATIVE, CLAIMS, SCORES, VERDICTS, CellInfo, Summary, frame
from benchmark.report.tables import markdown_text


def sweep_of(summary, values):
    """A sweep whose variants give these accuracies for every cell."""
    cells = [
        CellInfo(f"{variant}-{cell.id}", {"variant": variant, **cell.columns})
        for variant in values
        for cell in summary.cells
    ]
    of_cell = {cell.id: values[cell.columns["variant"]] for cell in cells}
    rows = [(cell, "all", "accuracy", value, value - 0.01, value + 0.01, 9, 0) for cell, value in of_cell.items()]
    return Summary("sweep", "Sweep", None, tuple(cells), frame(SCORES, rows))


def section_of(summary, tried=(), printed=0):
    experiments = (ExperimentSection(summary, tried),)
    return PaperSection("key", "A <title>", "Author. Title. 2005", experiments, summary.claims, printed)


def deviating(summary):
    rows = summary.verdicts[summary.verdicts["verdict"] == "deviates"]
    return [cell for cell in rows["cell"] if " vs " not in cell]


def test_page_counts_and_shows_every_number(make):
    summary = make()
    page = reproduction_page([section_of(summary)])
    good = int(summary.verdicts["verdict"].isin(["exact", "reproduced"]).sum())
    if len(summary.verdicts):
        assert f"**{good} of {len(summary.verdicts)} published numbers exact or reproduced" in page
    else:
        assert "**no published numbers" in page
    for _, row in summary.verdicts.iterrows():
        assert re.search(rf"^\| {row['cell']} .*{row['published']}.*{row['verdict']}", page, re.MULTILINE)
    for _, claim in summary.claims.iterrows():
        assert claim["verdict"] in page
    for reason in summary.failures.values():
        assert f"failed: {markdown_text(reason)}" in page
    assert "never edited" in page
    assert "\n\n\n" not in page


def test_page_is_the_same_each_time(make):
    assert reproduction_page([section_of(make())]) == reproduction_page([section_of(make())])


def test_numbers_that_were_not_measured_count_against_us(make):
    summary = make()
    page = reproduction_page([section_of(summary, printed=len(summary.verdicts) + 3)])
    assert f" of {len(summary.verdicts) + 3} published numbers" in page
    assert "3 not measured" in page


def test_trials_are_of_the_deviating_cells_alone_and_judged_by_the_same_rule(make):
    summary = make()
    tried = trials(summary, [sweep_of(summary, {"near": 0.7257, "far": 0.2})])
    expected = [(cell, variant) for cell in deviating(summary) for variant in ("as configured", "near", "far")]
    assert [(each.cell, each.variant) for each in tried] == expected
    for each in tried:
        if each.variant == "as configured":
            assert each.verdict == "deviates"
        elif each.published == "72.57":
            assert each.verdict == {"near": "exact", "far": "deviates"}[each.variant]
    page = reproduction_page([section_of(summary, tried)])
    assert ("What was tried" in page) == bool(tried)


def test_trials_find_the_unit_of_the_print():
    cell = CellInfo("a", {"kernel": "ngd"})
    scores = frame(SCORES, [("a", "all", "accuracy", 0.62, 0.6, 0.64, 100, 0)])
    verdicts = frame(VERDICTS, [("a", "accuracy", "0.70", 0.62, 0.6, 0.64, "deviates")])
    summary = Summary("x", "X", "p", (cell,), scores, verdicts=verdicts)
    own, variant = trials(summary, [sweep_of(summary, {"v": 0.7})])
    assert (own.value, own.verdict) == (0.62, "deviates")
    assert (variant.value, variant.verdict) == (0.7, "exact")


def test_page_of_nothing_is_still_a_page():
    page = reproduction_page([])
    assert "no published numbers" in page
    empty = replace(section_of(Summary("x", "X", None, (), frame(SCORES))), claims=frame(CLAIMS))
    assert "## A \\<title>" in reproduction_page([empty])


def test_another_reading_of_a_number_is_judged_and_not_counted():
    verdicts = pd.DataFrame({"verdict": ["exact", "deviates", "reproduced" + ALTERNATIVE]})
    assert counted([verdicts], printed=2).startswith("1 of 2 published numbers exact or reproduced")
