import re
from dataclasses import replace

import pandas as pd
import pytest

from benchmark.analysis.prose.verdict_sentences import claim_counts_text, verdict_counts_text
from benchmark.analysis.summary import CLAIMS, SCORE_COLUMNS, VERDICT_TABLE_COLUMNS, CellInfo, Summary, summary_table
from benchmark.report.comparison_tables import claim_comparison_table
from benchmark.report.escapes import markdown_text
from benchmark.report.page import (
    agreement_text,
    deviations_page,
    order_text,
    paper_page,
    reproduction_page,
    sensitivity_scores,
    sensitivity_sentence,
    sensitivity_table,
    sweep_effect_text,
    swept_claims_table,
    trial_text,
)
from benchmark.report.paper_results import COMPARISONS, PaperExperiment, PaperResult, SensitivityScore
from benchmark.report.tables import claim_table
from tests.report.summaries import claim_row, verdict_row, webkb_summary


def sweep_of(summary, values):
    """A sweep whose variants give these accuracies for every cell."""
    cells = [replace(cell, id=f"{variant}-{cell.id}", variant=variant) for variant in values for cell in summary.cells]
    of_cell = {cell.id: values[cell.variant] for cell in cells}
    rows = [(cell, "all", "accuracy", value, value - 0.01, value + 0.01, 9, 0) for cell, value in of_cell.items()]
    return Summary("sweep", "Sweep", None, tuple(cells), summary_table(SCORE_COLUMNS, rows))


def section_of(summary, tried=(), printed=()):
    experiments = (PaperExperiment(summary, tried),)
    return PaperResult("key", "A <title>", "Author. Title. 2005", experiments, summary.claims, dict(printed))


def deviating(summary):
    rows = summary.verdicts[summary.verdicts["verdict"] == "deviates"]
    return [cell for cell in rows["cell"] if " vs " not in cell]


def test_page_counts_and_shows_every_number(make):
    summary = make()
    page, whole = paper_page(section_of(summary)), reproduction_page([section_of(summary)])
    grades = summary.verdicts["grade"].value_counts()
    if len(summary.verdicts):
        counted = len(summary.verdicts) - int(grades.pop("no information"))
        assert f"of {counted} published results reproduced ({grades['same']} same, {grades['near']} near" in whole
        headline = whole.partition("\n\n**")[2].partition("**")[0]
        assert (
            f"of {counted} published results and 1 of 1 published Z of the sign test are reproduced" in headline
            or f"of {counted} published results, 1 of 1 published Z of the sign test and" in headline
        )
    else:
        assert "**no published values" in whole
    for _, row in summary.verdicts.iterrows():
        assert re.search(rf"^\| {row['cell']} .*{row['published']}.*{row['verdict']}", page, re.MULTILINE)
    for _, claim in summary.claims.iterrows():
        assert re.search(rf"^\| {claim['claim']} .*{claim['verdict'].partition(' (')[0]} \(", page, re.MULTILINE)
        assert re.search(rf"\| {re.escape(claim['strict_verdict'])}[ |(]", page)
    for reason in summary.failures.values():
        assert f"failed: {markdown_text(reason)}" in page
    assert "never edited" in page
    assert "\n\n\n" not in page


def test_pages_are_the_same_each_time(make):
    assert reproduction_page([section_of(make())]) == reproduction_page([section_of(make())])
    assert paper_page(section_of(make())) == paper_page(section_of(make()))


def test_the_page_of_all_papers_has_a_row_a_paper(make):
    sections = [replace(section_of(make()), key=key, title=key, finding=f"It is {key}.") for key in ("one", "two")]
    board = reproduction_page(sections).partition("## Scoreboard")[2]
    rows = [line for line in board.splitlines() if line.startswith("|")][2:]
    assert [row.partition("](")[0] for row in rows] == ["| [one", "| [two"]
    for key, row in zip(("one", "two"), rows, strict=True):
        assert f"(papers/{key}.md)" in row
        assert f"It is {key}." in row


def test_claims_that_are_not_counted_have_no_signs(make):
    """The scoreboard and the head of a paper's page have the claims of the headline, each once."""
    rows = [
        claim_row("a", "A holds.", (2, "holds"), (2, "holds"), 2),
        claim_row("again", "A in other words.", (2, "holds"), (2, "holds"), 2, counted="same as a"),
        claim_row("b", "B fails.", (0, "fails"), (0, "contradicted"), 2),
    ]
    section = replace(section_of(make()), claims=summary_table(CLAIMS, rows))
    whole = reproduction_page([section])
    assert "1 of 2 claims are reproduced" in whole.partition("\n\n**")[2].partition("**")[0]
    assert re.findall(r'\[[●▲◐○]{2}\]\(\S+ "(\w+)"\)', whole.partition("## Scoreboard")[2]) == ["a", "b"]
    assert re.findall(r"[●▲◐○]{2} \[(\w+)\]", paper_page(section)) == ["a", "b"]


def test_deviations_are_those_of_the_paper_and_no_others(make):
    summary = make()
    page = deviations_page([section_of(summary)])
    for _, row in summary.verdicts.iterrows():
        shown = re.search(rf"^\| {row['cell']} .*{row['published']}", page, re.MULTILINE)
        assert bool(shown) == (row["verdict"] == "deviates" and not row["reading"])
    for _, claim in summary.claims.iterrows():
        whole = claim["verdict"] == "holds" and claim["strict_verdict"] in ("holds", "no test")
        assert bool(re.search(rf"^\| {claim['claim']} ", page, re.MULTILINE)) == (not whole and not claim["counted"])
    assert "None." in deviations_page(
        [section_of(Summary("x", "X", None, (), summary_table(SCORE_COLUMNS), claims=summary_table(CLAIMS)))]
    )
    assert "\n\n\n" not in page


@pytest.mark.parametrize(("strict", "listed"), [("holds", False), ("no test", False), ("not shown", True)])
def test_a_claim_that_holds_is_listed_only_if_a_strict_test_doubts_it(strict, listed):
    claims = webkb_summary().claims.iloc[:1].assign(verdict="holds", strict_verdict=strict, counted="")
    page = deviations_page([section_of(replace(webkb_summary(), claims=claims))])
    assert bool(re.search(rf"^\| {claims['claim'].iloc[0]} ", page, re.MULTILINE)) == listed


def test_numbers_that_were_not_measured_count_against_us(make):
    summary = make()
    results = int((summary.verdicts["kind"] == "result").sum())
    page = reproduction_page([section_of(summary, printed={"result": results + 3})])
    assert f"of {results + 3} published results reproduced (" in page
    assert "3 not measured" in page


def test_trials_are_of_all_published_results_and_judged_by_the_same_rule(make):
    """Choices are not shown of the cells alone that deviate as configured: they may break others."""
    summary = make()
    tried = sensitivity_scores(summary, [sweep_of(summary, {"near": 0.7257, "far": 0.2})])
    expected = []
    for cell in summary.verdicts["cell"]:
        changes = () if " vs " in cell else ("near", "far")  # the sweep's predictions are not here
        expected += [(cell, variant) for variant in ("as configured", *changes)]
    assert [(each.cell, each.variant) for each in tried] == expected
    base = dict(zip(summary.verdicts["cell"], summary.verdicts["verdict"], strict=True))
    for each in tried:
        if each.variant == "as configured":
            assert each.verdict == base[each.cell]
        elif each.published == "72.57":
            assert each.verdict == {"near": "equal", "far": "deviates"}[each.variant]
    page = paper_page(section_of(summary, tried))
    assert ("Sensitivity analysis" in page) == bool(tried)


def deviating_in(unit, published):
    """A summary whose one number, 0.62 in the score frame, deviates from a print in this unit."""
    cell = CellInfo("a", {"kernel": "ngd"}, method="a", points="tf l1 ngd", classifier="svm (C 1)")
    scores = summary_table(SCORE_COLUMNS, [("a", "all", "accuracy", 0.62, 0.6, 0.64, 100, 0)])
    value = 62 if unit == "percent" else 0.62
    verdicts = summary_table(
        VERDICT_TABLE_COLUMNS,
        [verdict_row("a", "accuracy", published, unit, value, value - 0.02, value + 0.02, "deviates")],
    )
    return Summary("x", "X", "p", (cell,), scores, verdicts=verdicts)


@pytest.mark.parametrize(("unit", "published", "scale"), [("one", "0.70", 1), ("percent", "70.0", 100)])
def test_trials_are_in_the_unit_of_the_print(unit, published, scale):
    summary = deviating_in(unit, published)
    own, variant = sensitivity_scores(summary, [sweep_of(summary, {"v": 0.7})])
    assert (own.value, own.verdict) == (0.62 * scale, "deviates")
    assert (variant.value, variant.verdict) == (pytest.approx(0.7 * scale), "equal")


def test_another_parameter_of_the_classifier_is_a_trial_of_the_same_points():
    summary = deviating_in("percent", "70.0")
    other = replace(summary.cells[0], id="a-c10", method="a-c10", classifier="svm (C 10)")
    stranger = replace(other, id="b", method="b", points="tf l1 ned")
    elsewhere = replace(summary.cells[0], id="t-a", task="t")
    rows = [(cell.id, "all", "accuracy", 0.7, 0.69, 0.71, 9, 0) for cell in (other, stranger, elsewhere)]
    sweep = Summary("c", "C", None, (other, stranger, elsewhere), summary_table(SCORE_COLUMNS, rows))
    assert [trial.variant for trial in sensitivity_scores(summary, [sweep])] == ["as configured", "svm (C 10)"]


def test_what_a_sweep_does_as_the_experiment_does_is_no_trial():
    summary = deviating_in("percent", "70.0")
    sweep = sweep_of(summary, {"v": 0.7})
    own = replace(summary.cells[0], id="again")
    scores = pd.concat(
        [sweep.scores, summary_table(SCORE_COLUMNS, [("again", "all", "accuracy", 0.62, 0.6, 0.64, 9, 0)])]
    )
    both = replace(sweep, cells=(own, *sweep.cells), scores=scores)
    assert [trial.variant for trial in sensitivity_scores(summary, [both])] == ["as configured", "v"]


def test_a_variant_is_told_by_the_least_and_the_greatest_of_its_differences():
    cells = tuple(CellInfo(name, {}, method=name) for name in "abcd")
    shares = zip("abcd", (0.70, 0.80, 0.65, 0.68), strict=True)
    rows = [(cell, "all", "accuracy", share, None, None, 9, 0) for cell, share in shares]
    summary = Summary("x", "X", None, cells, summary_table(SCORE_COLUMNS, rows))
    sweep = sweep_of(summary, {"v": 0.7, "w": 0.5})
    assert sweep_effect_text(summary, sweep, "v") == "otherwise (v of sweep) accuracy differs by −10.00 to +5.00 points"
    assert sweep_effect_text(summary, sweep, "u") == ""


def test_differences_that_do_not_hold_name_their_unit():
    def row(metric, relation, *gap, detectable=None):
        numbers = dict(zip(("value", "low", "high"), gap, strict=True)) | {"detectable": detectable}
        words = {
            "claim": "c",
            "config": "x",
            "a": "a",
            "b": "b",
            "paper_verdict": "fails",
            "strict_verdict": "not shown",
        }
        found = words | numbers | {"metric": metric, "relation": relation}
        return tuple(found.get(name) for name in COMPARISONS)

    rows = [
        row("accuracy", "greater", -0.0184, -0.03, 0.01, detectable=0.03),
        row("average-skl", "greater", 1.8356, 1.5, 2.0),
        row("error", "ratio", 0.7, 0.55, 0.9),
    ]
    points, nats, ratio = claim_comparison_table(summary_table(COMPARISONS, rows), "Exceptions").texts
    assert points == ("c", "accuracy: a − b", "−1.84", "[−3.00, +1.00]", "±3.00", "fails", "not shown")
    assert nats[1:4] == ("average-skl: a − b", "+1.84 nats", "[+1.50, +2.00]")
    assert ratio[1:4] == ("error: a / b", "ratio 0.70", "[0.55, 0.90]")


def test_claims_are_counted_under_each_variant_of_a_sweep():
    def judged(name, *rows):
        claims = summary_table(CLAIMS, [claim_row("c", "Text.", (n, ""), (0, ""), 2, variant) for variant, n in rows])
        return Summary(name, name, None, (), summary_table(SCORE_COLUMNS), claims=claims)

    section = PaperExperiment(judged("x", ("", 1)), sweeps=(judged("y", ("", 0), ("v", 2)),))
    assert swept_claims_table(section).rows == (("as configured", "1 of 2"), ("v", "2 of 2"))


def test_page_of_nothing_is_still_a_page():
    page = reproduction_page([])
    assert "no published values" in page
    empty = replace(section_of(Summary("x", "X", None, (), summary_table(SCORE_COLUMNS))), claims=summary_table(CLAIMS))
    assert "# A \\<title>" in paper_page(empty)


def told(*rows):
    return pd.DataFrame(rows, columns=["kind", "verdict", "reading"])


def test_another_reading_of_a_number_is_judged_and_not_counted():
    table = told(("result", "equal", ""), ("result", "deviates", ""), ("result", "consistent", "another"))
    assert verdict_counts_text([table], {"result": 2}).startswith("1 of 2 published results reproduced")


def test_counts_of_data_and_fitted_numbers_are_no_results_of_models():
    rows = [("result", "consistent", ""), ("result", "deviates", ""), ("result", "tuned", "another")]
    table = told(*rows, *[("count", "equal", "")] * 18, *[("count", "deviates", "")] * 2)
    models = "1 of 2 published results reproduced (1 consistent, 1 deviating)"
    data = "18 of 20 published counts of data reproduced (18 equal, 2 deviating)"
    assert verdict_counts_text([table]) == f"{models}; {data}; 1 tuned, not counted"


def test_a_tuned_number_is_left_out_once_however_many_readings_it_has():
    rows = [("result", "equal", ""), ("result", "tuned", ""), ("result", "tuned", "another")]
    said = "1 of 1 published results reproduced (1 equal); 1 tuned, not counted"
    assert verdict_counts_text([told(*rows)]) == said


def test_equal_outside_the_interval_is_said_in_the_headline():
    assert "(1 equal, outside the interval)" in verdict_counts_text(
        [told(("result", "equal, outside the interval", ""))]
    )


def test_a_claim_that_depends_on_the_reading_is_counted_as_such():
    rows = [claim_row("a", "A.", (2, "holds"), (2, "holds"), 2, variant=words) for words in ("x", "y")]
    rows += [claim_row("b", "B.", (2, "holds"), (2, "holds"), 2, variant="x")]
    rows += [claim_row("b", "B.", (0, "fails"), (0, "contradicted"), 2, variant="y")]
    line = claim_counts_text([summary_table(CLAIMS, rows)])
    some = "(1 under some readings of the paper only)"
    assert line == f"1 of 2 claims hold by the papers' criteria {some}; 1 of 2 by our stricter test {some}"
    grid = claim_table(summary_table(CLAIMS, rows))
    assert [row[grid.header.index("text")] for row in grid.rows] == ["A.", "A.", "B.", "B."]


def trial(cell, variant, value, verdict, half=0.5):
    return SensitivityScore(cell, "accuracy", "80.00", "percent", variant, value, value - half, value + half, verdict)


def test_a_choice_that_comes_near_a_published_value_is_tuned_to_it():
    own, near = trial("a", "as configured", 82.0, "deviates"), trial("a", "near", 80.1, "consistent")
    assert [row[-1] for row in sensitivity_table([own, near]).rows] == ["82.00", "80.10 ●"]
    assert trial_text(near) == "near: 80.10 [79.60, 80.60], tuned (consistent)"
    assert "which would be tuned to the published values (a under near)" in sensitivity_sentence([own, near])


@pytest.mark.parametrize(
    ("number", "named"),
    [(1, "v0"), (3, "v0, v1, v2"), (4, "v0, v1, v2 and 1 more"), (9, "v0, v1, v2 and 6 more")],
)
def test_three_choices_that_explain_a_value_are_named(number, named):
    near = [trial("a", f"v{i}", 80.1, "consistent") for i in range(number)]
    said = sensitivity_sentence([trial("a", "as configured", 82.0, "deviates"), *near])
    assert f"(a under {named})." in said
    assert said.endswith(f"at most {number} for a cell.")


def test_that_no_choice_explains_a_value_is_said_of_intervals_for_all_of_them():
    """Among 20 choices the interval is 1.56 times as wide: 81.4 ± 0.5 misses 80, and 80.7 ± 0.5 does not any more."""
    far = [trial("a", "as configured", 82.0, "deviates")] + [trial("a", f"v{i}", 81.4, "deviates") for i in range(19)]
    said = sensitivity_sentence(far)
    assert said.startswith("a under none that was tried, nor by intervals that are widened for the number of choices")
    assert "at most 19 for a cell" in said
    close = [*far[:-1], trial("a", "close", 80.7, "deviates")]
    assert (
        "(by intervals that are widened for the number of choices, Bonferroni, a under close)"
        in sensitivity_sentence(close)
    )


def test_a_claim_counts_once():
    one = claim_row("a", "A.", (2, "holds"), (1, "holds in part (1 of 2)"), 2)
    again = claim_row("b", "B.", (2, "holds"), (2, "holds"), 2, counted="same as a")
    against = claim_row("c", "C.", (0, "fails"), (0, "contradicted"), 2)
    untested = claim_row("d", "D.", (2, "holds"), (0, "no test"), 2)
    line = claim_counts_text([summary_table(CLAIMS, [one, again, against, untested])])
    by_rule = "2 of 3 claims hold by the papers' criteria"
    missing = claim_row("e", "E.", (0, "not tested (2 of 2 missing)"), (0, "not tested (2 of 2 missing)"), 2)
    assert claim_counts_text([summary_table(CLAIMS, [missing])]) == "1 claim not tested"
    claims = summary_table(CLAIMS, [one, again, against, untested, missing])
    assert claim_counts_text([claims]) == f"{line}; 1 not tested"
    assert line == f"{by_rule}; 0 of 2 by our stricter test (1 in part, 1 contradicted)"


def test_part_of_a_claim_has_no_verdict_of_its_own():
    claims = summary_table(CLAIMS, [claim_row("a", "A.", (4, "holds"), (3, "holds in part (3 of 4)"), 4, whole=8)])
    (row,) = claim_table(claims).rows
    assert row[3:] == tuple(f"{n} of 4 here; verdict over all 8 on the paper's page" for n in (4, 3))


def test_trials_of_several_cells_and_at_any_width_are_told_in_full():
    tried = [
        *(trial("a", variant, value, verdict) for variant, value, verdict in (
            ("as configured", 82.0, "deviates"), ("v", 80.1, "consistent"), ("w", 80.2, "equal"))),
        *(trial("b", variant, value, verdict) for variant, value, verdict in (
            ("as configured", 83.0, "deviates"), ("w", 80.2, "consistent"))),
        *(trial("c", variant, 85.0, "deviates") for variant in ("as configured", "v")),
    ]  # fmt: skip
    assert sensitivity_sentence(tried) == (
        "2 of the 3 that deviate are consistent under some other choice, which would be tuned to the published values "
        "(a under v, w; b under w); c under none that was tried, nor by intervals that are widened for the number of "
        "choices (Bonferroni); of all 3, 0 are consistent as configured, and at most 2 under another (w). "
        "Other choices that were tried: at most 2 for a cell."
    )
    assert sensitivity_sentence([]) == ""


def test_each_variant_has_a_row_with_all_values_and_how_they_agree_together():
    """A choice that explains one value and breaks two is seen to do so."""
    values = {"a": (82.0, 80.0, "72.00"), "b": (70.0, 60.0, "70.00"), "c": (90.0, 50.0, "90.50")}
    tried = [
        replace(trial(cell, variant, value, "consistent" if agrees else "deviates"), published=published)
        for cell, (own, other, published) in values.items()
        for variant, value, agrees in (("as configured", own, cell != "a"), ("v", other, cell == "a"))
    ]
    tried.append(replace(trial("a", "w", 72.0, "equal"), published="72.00"))
    grid = sensitivity_table(tried)
    assert (grid.title, grid.header) == (
        "Sensitivity analysis",
        (
            *("variant", "accuracy %: consistent", "accuracy %: rms", "accuracy %: order"),
            *("a (72.00)", "b (70.00)", "c (90.50)"),
        ),
    )
    assert grid.rows == (
        ("as configured", "2 of 3", "5.78", "1.00", "82.00", "70.00 ●", "90.00 ●"),
        ("v", "1 of 3", "24.52", "−0.50", "80.00 ●", "60.00", "50.00"),
        ("w", "1 of 1", "–", "–", "72.00 ●", "–", "–"),
    )
    assert agreement_text(tried) == (
        "accuracy %: 2 of 3 published values in our intervals, rms difference 5.78, rank correlation 1.00"
    )
    assert order_text(tried) == "In exactly the published order: accuracy % under 1 of 3 choices."
    assert "of all 3, 2 are consistent as configured, and at most 1 under another (v)" in sensitivity_sentence(tried)
    assert sensitivity_table([each for each in tried if each.variant == "as configured"]).rows == ()
