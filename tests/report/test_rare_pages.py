"""Sentences and tables of papers, surveys and the terminal: both sides of each limit, and rare branches."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.analysis.summary import (
    CLAIMS,
    SCORE_COLUMNS,
    Summary,
    summary_table,
)
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from benchmark.report.page import (
    BASE_VARIANT_LABEL,
    deviations_page,
    sensitivity_scores,
    sensitivity_sentence,
    sensitivity_table,
    swept_claims_table,
)
from benchmark.report.paper_results import PaperExperiment, PaperResult, SensitivityScore
from benchmark.report.scoreboard import (
    authors_and_venue,
    counts_table,
    paper_cards,
    read_record,
    record_frames,
    scoreboard_headline,
)
from benchmark.report.terminal import (
    MAX_TERMINAL_ROWS,
    claim_lines,
    run_sentence,
)
from benchmark.report.verdict_signs import verdict_sign, verdict_tone
from benchmark.report.writers import frame_csv
from tests.report.rows import claim, claims_of, summary_of, verdict, verdicts_of

if TYPE_CHECKING:
    from pathlib import Path

NAN = math.nan


@pytest.mark.parametrize(
    ("word", "tone", "sign"),
    [
        *((word, "good", "●") for word in ("equal", "equal, outside the interval", "consistent", "holds")),
        *((word, "good", "●") for word in ("first is better", "second is better")),
        *((word, "half", "◐") for word in ("holds in part (1 of 2)", "depends on the reading")),
        *((word, "bad", "▲") for word in ("deviates", "contradicted", "failed", "fails (0 of 2)")),
        *((word, "open", "○") for word in ("not shown", "no test", "", "tuned", "not testable")),
    ],
)
def test_each_verdict_has_a_tone_and_a_sign(word: str, tone: str, sign: str) -> None:
    assert (verdict_tone(word), verdict_sign(word)) == (tone, sign)


def paper(*claims: dict[str, Any], verdicts: Any = (), printed: Any = None, key: str = "k") -> PaperResult:
    summary = summary_of("a", verdicts=verdicts_of(*verdicts))
    table = claims_of(*claims) if claims else summary_table(CLAIMS)
    return PaperResult(
        key, "A title", f"A. Author. A title. {key} 2026.", (PaperExperiment(summary),), table, printed or {}
    )


GRADED = {"grade": "same"}


class TestScoreboard:
    @pytest.mark.parametrize(
        ("made", "headline"),
        [
            (paper(), "no published values"),
            (paper(claim("c", "holds", 1, 1)), "1 of 1 claims are reproduced"),
            (paper(verdicts=[verdict("a", **GRADED)]), "1 of 1 published results are reproduced"),
            (
                paper(verdicts=[verdict("a", **GRADED)], printed={"result": 2}),
                "1 of 2 published results are reproduced; 1 published value is not measured",
            ),
            (
                paper(
                    claim("c", "holds", 1, 1),
                    claim("d", "not tested (1 of 2 missing)", 0, 1),
                    claim("e", "not tested (1 of 2 missing)", 0, 1),
                    claim("f", "holds", 1, 1, counted="same as c"),
                    verdicts=[verdict("a", **GRADED), verdict("a", verdict="deviates", grade="outside")],
                    printed={"result": 4, "count": 1},
                ),
                (
                    "1 of 4 published results, 0 of 1 published counts of data and 1 of 1 claims are reproduced; "
                    "3 published values are not measured; 2 claims are not tested"
                ),
            ),
            (
                paper(claim("c", "holds", 1, 1), claim("d", "not tested (1 of 2 missing)", 0, 1)),
                "1 of 1 claims are reproduced; 1 claim is not tested",
            ),
        ],
    )
    def test_the_headline_counts_what_is_reproduced_missing_and_untested(
        self, made: PaperResult, headline: str
    ) -> None:
        assert scoreboard_headline([made]) == headline

    def test_the_table_counts_by_tone(self) -> None:
        rows = [
            verdict("a", **GRADED),
            verdict("a", verdict="deviates", grade="outside"),
            verdict("a", verdict="tuned"),
        ]
        made = paper(
            claim("c", "holds", 1, 1),
            claim("d", "holds in part (1 of 2)", 1, 2, strict_verdict="contradicted"),
            claim("e", "fails", 0, 1, strict_verdict="no test"),
            claim("f", "holds", 1, 1, counted="same as c"),
            verdicts=rows,
            printed={"result": 5},
        )
        grid = counts_table([made, replace(made, key="other")])
        assert grid.rows == (
            ("published results", 10, 2, 0, 2, 6),
            ("claims, by the papers' criteria", 6, 2, 2, 2, 0),
            ("claims, by our stricter test", 6, 2, 0, 2, 2),
        )
        assert grid.note == "2 tuned, not counted."
        assert counts_table([paper()]).rows == ()

    def test_cards_have_the_claims_that_are_counted(self) -> None:
        made = paper(claim("c", "holds", 1, 1), claim("f", "holds", 1, 1, counted="same as c"))
        (card,) = paper_cards([made])
        assert [each.claim for each in card.claims] == ["c"]
        assert (card.key, card.title, card.source) == ("k", "A title", "A. Author. k 2026.")
        assert authors_and_venue("No title here.", "A title") == "No title here."

    def test_records_have_their_paper_and_configuration_and_no_reference_values(self, tmp_path: Path) -> None:
        rows = [verdict("a", "90.00"), verdict("a", "90.10", verdict=REFERENCE_VALUE)]
        made = [paper(claim("c", "holds", 1, 1), verdicts=rows), paper(verdicts=rows[:1], key="l")]
        frames = record_frames(made)
        assert set(frames) == {"values", "claims", "comparisons"}
        assert frames["values"][["paper", "config", "published"]].to_numpy().tolist() == [
            ["k", "made", "90.00"],
            ["l", "made", "90.00"],
        ]
        assert frames["claims"][["paper", "claim"]].to_numpy().tolist() == [["k", "c"]]
        assert set(record_frames([])) == {"values", "claims"}
        path = tmp_path / "values.csv"
        path.write_text(frame_csv(frames["values"], frames["values"].columns), encoding="utf-8")
        table = read_record(path)
        assert list(table["published"]) == ["90.00", "90.00"]
        assert list(table["reading"]) == ["", ""]
        assert table["between_low"].isna().all()
        assert (table["value"] == 91.0).all()


def trial(cell: str, variant: str, verdict: str, value: float = 70.0, reach: float = 1.0) -> SensitivityScore:
    ends = value - reach, value + reach
    return SensitivityScore(cell, "accuracy", "72.00", "percent", variant, value, *ends, verdict)


BASE = trial("a", BASE_VARIANT_LABEL, "deviates")


class TestSensitivity:
    @pytest.mark.parametrize(
        ("trials", "sentence"),
        [
            ([], ""),
            (
                [BASE, trial("a", "v", "consistent")],
                (
                    "1 of the 1 that deviate are consistent under some other choice, which would be tuned to the "
                    "published values (a under v). Other choices that were tried: at most 1 for a cell."
                ),
            ),
            (
                [BASE, *(trial("a", f"v{i}", "equal") for i in range(5))],
                (
                    "1 of the 1 that deviate are consistent under some other choice, which would be tuned to the "
                    "published values (a under v0, v1, v2 and 2 more). Other choices that were tried: at most 5 "
                    "for a cell."
                ),
            ),
            (
                [
                    BASE,
                    trial("a", "v", "deviates", 69.0),
                    trial("b", BASE_VARIANT_LABEL, "deviates"),
                    trial("b", "v", "equal"),
                ],
                (
                    "1 of the 2 that deviate are consistent under some other choice, which would be tuned to the "
                    "published values (b under v); a under none that was tried, nor by intervals that are widened for "
                    "the number of choices (Bonferroni); of all 2, 0 are consistent as configured, and at most 1 under "
                    "another (v). Other choices that were tried: at most 1 for a cell."
                ),
            ),
        ],
    )
    def test_the_sentence_counts_choices_beside_the_experiment(self, trials: Any, sentence: str) -> None:
        assert sensitivity_sentence(trials) == sentence

    @pytest.mark.parametrize(("reach", "close"), [(1.7, False), (1.75, True)])
    def test_intervals_are_widened_for_the_number_of_choices(self, reach: float, close: bool) -> None:
        """By Bonferroni for two choices, the half-width is 2.2414 / 1.96 of that of one: 1.7490 reaches 2."""
        said = sensitivity_sentence([BASE, trial("a", "v", "deviates", 70.0, reach)])
        assert ("Bonferroni, a under v)" in said) == close
        assert ("nor by intervals" in said) != close

    def test_values_of_each_metric_and_row_of_a_table_are_counted_apart(self) -> None:
        own = [BASE, replace(BASE, metric="macro-f1"), replace(BASE, cell="b", row="table-mean", reading="another")]
        grid = sensitivity_table([*own, *(replace(each, variant="v", verdict="equal") for each in own)])
        agreeing = [name for name in grid.header if name.endswith("consistent")]
        assert agreeing == [f"{name}: consistent" for name in ("accuracy %", "macro-F1 %", "accuracy %, table-mean")]
        assert [[row[grid.header.index(name)] for name in agreeing] for row in grid.rows] == [
            ["0 of 1"] * 3,
            ["1 of 1"] * 3,
        ]
        assert grid.header[-2:] == ("a (72.00)", "a (72.00)")  # another reading has no column of its own

    @pytest.mark.parametrize("name", ["task", "of_class", "choice", "size", "terms"])
    def test_trials_are_of_the_same_setting(self, name: str) -> None:
        summary = summary_of("a", verdicts=verdicts_of(verdict("a", verdict="deviates")))
        same = replace(summary.cells[0], id="s", variant="v")
        other = replace(same, id="o", **{name: 5 if name in ("size", "terms") else "x"})
        rows = [(cell.id, "all", "accuracy", 0.9, 0.89, 0.91, 9, 0) for cell in (same, other)]
        sweep = Summary("sweep", "Sweep", None, (same, other), summary_table(SCORE_COLUMNS, rows))
        assert [each.variant for each in sensitivity_scores(summary, [sweep])] == [BASE_VARIANT_LABEL, "v"]

    def test_claims_are_counted_under_each_variant_of_the_sweeps(self) -> None:
        summary = replace(summary_of("a"), claims=claims_of(claim("c", "holds", 1, 2), claim("d", "holds", 2, 2)))
        rows = claim("c", "holds", 9, 9), claim("c", "holds", 0, 2, variant="v"), claim("e", "holds", 1, 1, variant="w")
        sweep = replace(summary_of("a"), claims=claims_of(*rows))
        grid = swept_claims_table(PaperExperiment(summary, sweeps=(sweep,)))
        assert grid.header == ("variant", "c", "d", "e")
        assert grid.rows == (
            (BASE_VARIANT_LABEL, "1 of 2", "2 of 2", "–"),
            ("v", "0 of 2", "–", "–"),
            ("w", "–", "–", "1 of 1"),
        )
        assert swept_claims_table(PaperExperiment(summary)).rows == ()

    @pytest.mark.parametrize(
        ("row", "listed"),
        [
            (claim("c", "fails", 0, 1), True),
            (claim("c", "holds", 1, 1), False),
            (claim("c", "holds", 1, 1, strict_verdict="no test"), False),
            (claim("c", "holds", 1, 1, strict_verdict="not shown"), True),
            (claim("c", "fails", 0, 1, counted="same as d"), False),
        ],
    )
    def test_the_page_of_deviations_lists_counted_claims_that_fail(self, row: Any, listed: bool) -> None:
        made = paper(row)
        with_claims = replace(
            made, experiments=(replace(made.experiments[0], summary=replace(summary_of("a"), claims=made.claims)),)
        )
        assert ("Text of c." in deviations_page([with_claims])) == listed


class TestTerminal:
    @pytest.mark.parametrize(
        ("row", "line"),
        [
            (claim("c", "holds", 2, 2), "✓ holds (2 of 2); strictly holds (2 of 2): Text of c"),
            (
                claim("c", "holds in part (1 of 2)", 1, 2, strict_verdict="no test", variant="v"),
                "◐ holds in part (1 of 2) under v: Text of c",
            ),
            (
                claim("c", "fails", 0, 2, strict_verdict="contradicted", strict_holds=0, counted="same as d"),
                "✗ fails (0 of 2); strictly contradicted (0 of 2); same as d: Text of c",
            ),
            (claim("c", "holds", 2, 2, whole=5), "✓ 2 of 2 here (5 in all); strictly 2 of 2: Text of c"),
        ],
    )
    def test_a_claim_is_a_line(self, row: Any, line: str) -> None:
        summary = summary_of(claims=claims_of(row))
        assert claim_lines(summary) == [line]
        assert claim_lines(summary, len(line) + 1) == [line]
        (cut,) = claim_lines(summary, len(line))
        assert cut.endswith("…")
        assert len(cut) <= len(line)

    def test_of_many_claims_there_is_a_sentence(self) -> None:
        rows = [claim(f"c{i // 2}", "holds", 1, 1, variant=f"v{i % 2}") for i in range(MAX_TERMINAL_ROWS + 2)]
        assert len(claim_lines(summary_of(claims=claims_of(*rows[:MAX_TERMINAL_ROWS])))) == MAX_TERMINAL_ROWS
        assert claim_lines(summary_of(claims=claims_of(*rows))) == ["14 verdicts on 7 claims: see claims.csv."]

    @pytest.mark.parametrize(
        ("changes", "given", "sentence"),
        [
            ({}, {}, "made: 3 cells; written to RUN"),
            ({}, {"stored": 2, "seconds": 1.25}, "made: 3 cells, 2 of them from the store; 1.2 s; written to RUN"),
            ({}, {"seconds": 10.0, "peak": 2.26e9}, "made: 3 cells; 10.0 s, 2.3 GB at most; written to RUN"),
            ({"failures": {"a": "why"}}, {}, "made: 2 of 3 cells; written to RUN"),
            (
                {"verdicts": verdicts_of(verdict("a"))},
                {},
                "made: 3 cells; 1 of 1 published results reproduced (1 consistent); written to RUN",
            ),
            (
                {"claims": claims_of(claim("c", "holds", 1, 1), claim("d", "holds", 1, 1, whole=2))},
                {},
                (
                    "made: 3 cells; its one claim holds by the paper's criterion, and by ours; 1 claim compared "
                    "only in part; written to RUN"
                ),
            ),
        ],
    )
    def test_a_run_is_a_sentence(self, changes: Any, given: Any, sentence: str) -> None:
        numbers: dict[str, Any] = {"stored": 0, "seconds": 0.0, "peak": NAN} | given
        found = run_sentence(summary_of(**changes), **numbers, folder="RUN")  # type: ignore[arg-type]
        if "claims" in changes:
            assert found.startswith("made: 3 cells; its one claim ")
            assert found.endswith("; 1 claim compared only in part; written to RUN")
        else:
            assert found == sentence
