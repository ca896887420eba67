"""Pages of runs, of papers and of placements: what is folded, linked, quoted, left out and said of odd ones."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from jinja2.utils import htmlsafe_json_dumps

from benchmark.analysis.charts.region_charts import RegionFigure
from benchmark.analysis.hardest_documents import DocumentExplanation
from benchmark.analysis.summary import COSTS, MISTAKES, SCORE_COLUMNS, CellInfo, Summary, summary_table
from benchmark.report.html.mistakes import _NO_TEXTS, _TOO_LONG, mistakes_section
from benchmark.report.html.page import _sections, page_html, write_page
from benchmark.report.html.render import JSON_FORMAT
from benchmark.report.html.site import site_pages
from benchmark.report.page import BASE_VARIANT_LABEL
from benchmark.report.paper_results import PaperExperiment, PaperResult
from benchmark.report.placement import (
    LONGEST_METHOD,
    NAMED_CELLS,
    NOT_TOLD_APART,
    placement_page,
    published_grid_of,
    ranking_grid_of,
    screen_grids,
)
from tests.report.expected_texts import page_words
from tests.report.html.test_rare_sections import hard, panel_of, placed, simplex_points, site
from tests.report.rows import claim, claims_of, compared, curve, frame_of, summary_of, verdict, verdicts_of
from tests.report.test_rare_pages import trial

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.report.html.section import PageSection

pytestmark = pytest.mark.usefixtures("without_vega")
SIZES = {name: {"more": {"size": 5}} for name in "abc"}


def sections_of(summary: Summary) -> list[PageSection]:
    return [section for section in _sections(summary, {}, 0) if not section.empty]


def titled(summary: Summary, title: str) -> PageSection:
    return next(each for each in _sections(summary, {}, 0) if each.title == title and not each.empty)


class TestCells:
    def test_have_the_commands_that_run_them_again(self) -> None:
        cells = (CellInfo("a b", {}), CellInfo("c", {}))
        scores = [(cell.id, "all", "accuracy", 0.5, 0.4, 0.6, 9, 0) for cell in cells]
        summary = Summary("my run", "My run", None, cells, summary_table(SCORE_COLUMNS, scores))
        section = titled(summary, "Scores of every cell")
        assert section.again == {"a b": "bench run 'my run' --only 'a b'", "c": "bench run 'my run' --only c"}
        assert section.places == {"a b": 0, "c": 1}

    def test_are_shown_the_best_first_with_costs_or_dashes(self) -> None:
        costs = summary_table(COSTS, [("a", 1.0, 2.0, 3e6, False), ("c", 4.0, 5.0, 6e6, False)])
        scores = [(name, "all", "accuracy", value, 0.1, 0.9, 9, 0) for name, value in (("a", 0.2), ("c", 0.4))]
        section = titled(summary_of(scores=scores, costs=costs, failures={"b": "why"}), "Scores of every cell")
        assert section.grid is not None
        assert [(row[0], *row[-3:]) for row in section.grid.texts] == [
            ("c", "4.00", "5.00", "6"),
            ("a", "1.00", "2.00", "3"),
            ("b", "–", "–", "–"),
        ]
        measured = [column.name for column in section.grid.columns if column.measured]
        assert measured == ["training s", "testing s", "peak MB"]
        assert section.details
        plain = titled(summary_of(failures={"b": "why"}), "Scores of every cell")
        assert (plain.details, len(plain.pictures)) == (False, 1)
        assert titled(summary_of(failures={"b": "why", "c": "so"}), "Failures").lines == (
            "b: failed: why",
            "c: failed: so",
        )

    @pytest.mark.parametrize(
        ("changes", "drawn", "folded"),
        [
            ({}, True, False),
            ({"charts": (curve(),)}, False, False),
            ({"charts": (curve(),), "columns": SIZES}, False, True),
            ({"regions": (RegionFigure("f", "F", ((panel_of(simplex_points(2)),),)),)}, False, False),
            ({"scores": ()}, False, False),
        ],
    )
    def test_are_drawn_where_nothing_else_is_and_folded_below_curves(
        self, changes: dict[str, Any], drawn: bool, folded: bool
    ) -> None:
        section = titled(summary_of(**changes), "Scores of every cell")
        assert (bool(section.pictures), section.folded) == (drawn, folded)

    def test_published_values_link_to_the_row_of_their_cell(self) -> None:
        rows = [verdict(name) for name in "cab"]
        section = titled(summary_of(verdicts=verdicts_of(*rows)), "Published numbers")
        assert section.links == {"a": "#cell1", "b": "#cell2", "c": "#cell3"}
        html = page_html(summary_of(verdicts=verdicts_of(*rows)))
        targets = re.findall(r'id="?(cell\d)"?[^>]*>', html)
        assert sorted(targets) == ["cell1", "cell2", "cell3"]


class TestCharts:
    def test_have_a_title_where_it_is_not_that_of_the_page(self) -> None:
        same, other = curve(title="Made"), curve(name="d", title="Other chart", columns=3)
        sections = list(islice(_sections(summary_of(charts=(same, other)), {}, 0), 2))
        assert [(section.title, section.columns) for section in sections] == [("", 2), ("Other chart", 3)]

    def test_measured_ones_have_a_picture_and_no_table(self) -> None:
        charts = (curve(), curve(name="clock", title="Clock", y_label="Seconds", measured=True))
        sections = sections_of(summary_of(columns=SIZES, charts=charts))
        tables = [section for section in sections if section.file == "curves.csv"]
        assert [(section.title, section.folded) for section in tables] == [("Chart: error (%), by size", True)]
        assert [section.title for section in sections[:2]] == ["Chart", "Clock"]
        order = [section.title for section in sections]
        assert order.index("Scores of every cell") == order.index(tables[0].title) + 1

    def test_a_band_in_any_panel_is_explained(self) -> None:
        chart = curve()
        for bands in ((True, False), (False, True)):
            panels = tuple(
                replace(panel, printed=(0.1, 0.2) if band else None)
                for panel, band in zip(chart.panels, bands, strict=True)
            )
            note = titled(summary_of(charts=(replace(chart, panels=panels),)), "Chart").note
            assert note.endswith("Shaded: the range of the paper's figure.")

    def test_the_machine_is_named_with_its_processors(self, tmp_path: Path) -> None:
        machine = {"system": "Plan 9", "processors": 3, "threads": 7}
        text = write_page(summary_of(), tmp_path, machine).read_text(encoding="utf-8")
        assert "Plan 9, 3 processors" in text


class TestMistakes:
    documents = (hard("d0"), hard("d1"))

    def section(self, room: int, *found: DocumentExplanation, documents: Any = documents) -> PageSection:
        explanations = {("", f"d{i}"): each for i, each in enumerate(found)}
        mistakes = summary_table(MISTAKES, [document.row for document in documents])
        return mistakes_section(summary_of("ab", hardest=documents, mistakes=mistakes), explanations, room)

    def test_without_documents_there_is_no_section(self) -> None:
        section = mistakes_section(summary_of(), {}, 0)
        assert (section.empty, section.lines, section.squares) == (True, (), {})

    def test_texts_fill_the_room_to_the_last_byte(self) -> None:
        """An explanation takes its own bytes and those of its new names; a note takes its bytes beforehand."""
        found = DocumentExplanation("ä text", "a new cell", values="v", similarity="cosine")
        whole = self.section(10_000, found)
        row = whole.squares["rows"][0]["explained"]
        names = [name for name in whole.squares["names"] if name in ("a new cell", "cosine")]
        size = len(str(htmlsafe_json_dumps([{"explained": row}, names], **JSON_FORMAT)).encode())
        for room, shown in ((size, True), (size - 1, False)):
            section = self.section(room + len(_TOO_LONG), found)
            assert ("explained" in section.squares["rows"][0]) == shown
            assert section.lines == (() if shown else (_TOO_LONG.format(0),))
        assert self.section(0).lines == (_NO_TEXTS,)

    def test_every_part_of_an_explanation_can_be_shown_and_empty_ones_are_left_out(self) -> None:
        odd = "x\x07\ud800"
        found = DocumentExplanation(
            odd,
            "a",
            values=odd,
            similarity=odd,
            nearest=[(odd, "yes", 0.123456)],
            words={"no": [odd, "w"]},
            problem=odd,
        )
        squares = self.section(10_000, found).squares
        part, names = squares["rows"][0]["explained"], squares["names"]
        assert [part["text"], part["values"], part["problem"]] == ["x\\x07?"] * 3
        assert part["nearest"] == [[names.index("x\\x07?"), names.index("yes"), "0.1235"]]
        assert part["words"] == [[names.index("no"), "x\\x07?, w"]]
        assert names[part["near"]] == "x\\x07?"
        assert names[part["cell"]] == "a"
        plain = self.section(10_000, DocumentExplanation("t", "a")).squares["rows"][0]["explained"]
        assert set(plain) == {"text", "cell", "near"}

    def test_a_document_has_its_task_its_split_and_its_class(self) -> None:
        columns = {"a": {"more": {"task": "one"}}, "b": {"more": {"task": "one"}}}
        documents = (hard("d0", "one", a="no", b="maybe"),)
        squares = mistakes_section(summary_of("ab", hardest=documents, columns=columns), {}, 0).squares
        (row,) = squares["rows"]
        names = squares["names"]
        assert (row["task"], names[row["fold"]], names[row["truth"]]) == ("one", "s", "yes")
        assert [names[i] for i in row["predicted"]] == ["no", "maybe"]
        assert "task" not in mistakes_section(summary_of("ab", hardest=self.documents), {}, 0).squares["rows"][0]


class TestSites:
    summary = summary_of("a", verdicts=verdicts_of(verdict("a", verdict="deviates", grade="outside")))

    def test_the_index_lists_the_sweeps_of_every_experiment(self) -> None:
        parts = tuple(
            PaperExperiment(
                replace(summary_of("a"), name=f"e{i}", title=f"Experiment {i}"),
                sweeps=(replace(summary_of("a"), name=f"s{i}", title=f"Sweep {i}"),),
            )
            for i in range(2)
        )
        paper = PaperResult("key", "The paper", "Ref.", parts, claims_of(), {})
        index = page_words(site_pages([paper], {"s1": "runs/s1.html"})["index.html"])
        assert [text in index for text in ("Sweep 0", "Sweep 1", "runs/s1.html", "of 1 papers")] == [True] * 4

    def test_an_experiment_has_its_run_caveats_regions_and_sensitivity(self) -> None:
        region = RegionFigure("f", "F", ((panel_of(simplex_points(2), "a kernel"),),))
        tried = (trial("a", BASE_VARIANT_LABEL, "deviates"), trial("a", "v", "equal"))
        summary = replace(self.summary, regions=(region,))
        page = site(PaperExperiment(summary, tried, caveats=("A caveat.",)), {"made": "runs/made.html"})["key.html"]
        for words in ("runs/made.html", "A caveat.", "a kernel", "1 of the 1 that deviate are consistent"):
            assert words in page
        bare = site(PaperExperiment(self.summary))["key.html"]
        for words in ("runs/made.html", "A caveat.", "are consistent under some other choice"):
            assert words not in bare

    @pytest.mark.parametrize(
        ("changes", "drawn"),
        [
            ({}, True),
            ({"verdicts": verdicts_of()}, False),
            ({"regions": (RegionFigure("f", "F", ((panel_of(simplex_points(2)),),)),)}, False),
        ],
    )
    def test_published_values_are_drawn_beside_scores(self, changes: dict[str, Any], drawn: bool) -> None:
        paper = PaperResult(
            "key", "The paper", "Ref.", (PaperExperiment(replace(self.summary, **changes)),), claims_of(), {}
        )
        assert (
            "of each cell with its 95% interval, and the published value" in site_pages([paper], {})["key.html"]
        ) == drawn

    def test_each_claim_links_to_its_section(self) -> None:
        rows = [claim("c", "holds", 1, 1), claim("d", "not tested (1 of 2 missing)", 0, 1)]
        paper = PaperResult(
            "key", "P", "Ref.", (PaperExperiment(self.summary),), claims_of(*rows), {}, frame_of(compared())
        )
        html = site_pages([paper], {})["key.html"]
        for name in "cd":
            assert len(re.findall(rf'href="?#claim-{name}"?', html)) >= 1
            assert len(re.findall(rf'id="?claim-{name}"?', html)) == 1


class TestPlacements:
    published = tuple(("accuracy", f"m{i}", "", 2020.0, "80.00", False, "lower") for i in range(3))

    def test_groups_are_counted_in_the_notes(self) -> None:
        scores = [("mine", fold, "accuracy", 0.9, 0.8, 1.0, 9, 0) for fold in ("all", "g1", "g2", "g3")]
        assert placed(2, scores=summary_table(SCORE_COLUMNS, scores)).notes[0] == (
            "Accuracy is the mean over the 3 groups."
        )
        assert "groups" not in placed(2).notes[0]
        one = placed(2, scores=summary_table(SCORE_COLUMNS, scores[:2])).notes[0]
        assert "groups" not in one

    @pytest.mark.parametrize("n", [0, 1, NAMED_CELLS, NAMED_CELLS + 1])
    def test_cells_that_are_not_told_apart_are_named(self, n: int) -> None:
        made = placed(1)
        words = [NOT_TOLD_APART if 0 < i <= n else word for i, word in enumerate(made.ranking["compared"])]
        made = replace(made, ranking=made.ranking.assign(compared=words))
        said = next(each for each in made.sentences if each.startswith("By a paired test"))
        names = ", ".join(f"c{i}" for i in range(1, n + 1)[:NAMED_CELLS])
        named = f": {names}{', …' if n > NAMED_CELLS else ''}" if n else ""
        assert said == (
            f"By a paired test, it is better than {12 - n} of them, worse than 0, {NOT_TOLD_APART} from {n}{named}."
        )
        assert f"it has rank {made.rank} beside 12 methods of ours" in " ".join(made.sentences)
        assert screen_grids(made)[0].note == (f"–: {NOT_TOLD_APART}" if n else "")

    def test_where_nothing_is_published_it_is_said(self) -> None:
        assert "No published value on these documents is known here." in placed(2).sentences
        made = placed(2, published=self.published)
        assert "No published value on these documents is known here." not in made.sentences
        assert "Its accuracy is below 0 and above 3 of 3 published values." in made.sentences

    @pytest.mark.parametrize("extra", [0, 1])
    def test_long_names_are_cut_on_a_screen_and_sources_are_named(self, extra: int) -> None:
        name = "m" * (LONGEST_METHOD - 12 + extra)
        rows = [
            ("accuracy", name, "Ann, 2020", 2020.0, "80.00", False, "lower"),
            ("macro-f1", "other", "", 2021.0, "70.0", None, "lower"),
        ]
        made = placed(2, published=rows)
        whole = f"{name} (Ann, 2020)"
        assert [row[2] for row in published_grid_of(made).rows] == ["mine", whole, "mine", "other"]
        screen = screen_grids(made)[1]
        assert "metric" not in screen.header
        assert [row[1] for row in screen.rows] == ["mine", f"{whole[: LONGEST_METHOD - 1]}…" if extra else whole]

    @pytest.mark.parametrize(
        ("name", "kept", "gone"), [("20ng", "p (Holm)", "in macro-F1"), ("modapte-90", "in macro-F1", "p (Holm)")]
    )
    def test_the_ranking_has_what_decides(self, name: str, kept: str, gone: str) -> None:
        grid = ranking_grid_of(placed(2, name=name))
        assert kept in grid.header
        assert gone not in grid.header
        own = next(row for row in grid.rows if row[1] == "mine")
        assert set(own[5:]) == {""}

    def test_the_page_has_every_cell_and_table(self) -> None:
        html = placement_page(placed(2, published=self.published))
        assert "mine (placed)" in html
        page = page_words(html)
        for words in ("c0", "c12", "Among published scores", "Notes"):
            assert words in page, words
        assert "bench place" in page
