"""The page of a run: everything a reader needs is inside it, and no more than the summary says."""

import json
import re
from dataclasses import replace
from html import unescape
from importlib.resources import files

import pytest

from benchmark.analysis.hardest_documents import DocumentExplanation, HardDocument
from benchmark.analysis.summary import CONFUSIONS, COSTS, DIFFERENCES, MISTAKES, summary_table
from benchmark.report.drawing.dots import dot_pictures
from benchmark.report.drawing.forest import forest_picture
from benchmark.report.drawing.regions import region_chart
from benchmark.report.html import render
from benchmark.report.html.page import MAX_TABLES_BYTES, page_html, summary_sentences
from benchmark.report.html.render import bytes_beside_script
from tests.report.regions import figure_of, panels
from tests.report.summaries import many_cells_summary
from tests.scenes import assert_vega_lite

pytestmark = pytest.mark.usefixtures("without_vega")


def words_of(html):
    return " ".join(
        unescape(re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]+>", " ", html, flags=re.DOTALL)).split()
    )


def specs_of(html):
    found = re.findall(r'data-name="([^"]*)"><script type="application/json">(.*?)</script>', html)
    return {name: json.loads(spec) for name, spec in found}


def test_equal_summaries_give_equal_bytes(make):
    assert page_html(make()) == page_html(make())


def test_only_what_was_measured_differs_between_machines(webkb):
    def on(machine, factor):
        rows = [(cell.id, 3.0 * factor, 0.2 * factor, 1e8 * factor, False) for cell in webkb.cells]
        return page_html(replace(webkb, costs=summary_table(COSTS, rows)), machine)

    one, other = on("Linux-6", 1), on("Darwin-24", 2)
    assert one != other
    unmeasured = [re.sub(r'(<(td|span) class="[^"]*measured">)[^<]*', r"\1", html) for html in (one, other)]
    assert unmeasured[0] == unmeasured[1]


def test_every_number_and_verdict_of_the_tables_stands_in_the_page(webkb):
    words = words_of(page_html(webkb))
    for row in webkb.verdicts.to_dict("records"):
        assert row["published"] in words
    for cell in webkb.cells:
        assert f"bench run webkb --only {cell.id}" in words
    assert words.count("consistent") >= (webkb.verdicts["verdict"] == "consistent").sum()
    assert all(note in words for note in webkb.notes)


def test_what_deviates_opens_onto_the_experiments_that_look_into_it(webkb):
    closed, opened = page_html(webkb), page_html(replace(webkb, explained_by=("webkb-sweep", "webkb-more")))
    deviates = webkb.verdicts["verdict"] == "deviates"
    assert deviates.any()
    for name in ("webkb-sweep", "webkb-more"):
        assert opened.count(f"{name} tries other settings: bench run {name}") == deviates.sum()
        assert name not in closed


def test_a_verdict_leads_to_the_row_of_its_cell(webkb):
    html = page_html(webkb)
    for row in webkb.verdicts["cell"]:
        for found in re.findall(rf'<a href="#(cell\d+)">{row}</a>', html):
            assert re.search(rf'<tr id="{found}"[^>]*>\s*<th scope=row(?: class="[^"]*")?>{row}</th>', html)
    assert html.count('<a href="#cell') == len(webkb.cells)


def test_nothing_is_fetched_from_elsewhere(make):
    html = page_html(make())
    addresses = re.findall(r'(?:src|href)="([^"]*)"', html)
    beside = r"#\w+|[\w.]+\.(csv|parquet|npz|md|json)|data:image/png.*"
    assert all(re.fullmatch(beside, address) for address in addresses)
    assert "@import" not in html
    assert "url(" not in html


def test_names_are_no_markup(webkb):
    bad = '</script><img src=x onerror="alert(1)">\x1b[31m{{7*7}}'
    html = page_html(replace(webkb, title=bad, notes=(bad,)))
    assert "<img" not in html
    assert "\x1b" not in html
    assert "{{7*7}}" in html


def test_texts_of_documents_are_no_markup_and_only_of_the_documents_that_are_explained(webkb):
    cells = [cell.id for cell in webkb.cells]
    bad = '</script><img src=x onerror="alert(1)">\u202e{{7*7}}'
    hard = HardDocument(bad, "", bad, "a", dict.fromkeys(cells, "b"))
    told = replace(webkb, hardest=(hard,), mistakes=summary_table(MISTAKES, [hard.row]))
    of = DocumentExplanation(bad, cells[0], bad, "ngd", [(bad, bad, 0.5)], {bad: [bad]}, bad)
    html = page_html(told, explanations={("", bad): of})
    assert "<img" not in html
    assert "\u202e" not in html
    (data,) = (json.loads(found) for found in re.findall(r'class="squares">(.*?)</script>', html))
    assert data["rows"][0]["explained"]["text"] == bad.replace("\u202e", "\\u202e")
    assert '"explained"' not in page_html(told, explanations={("another task", bad): of})
    assert "--html" in words_of(page_html(told))


def test_the_page_begins_with_the_finding_the_question_and_the_documents(webkb):
    told = replace(webkb, corpus="WebKB", documents=("4,199 documents of 4 classes.",))
    html = page_html(told)
    (headline,) = re.findall("<h1>(.*?)</h1>", html)
    start = "The NGD kernel leads the linear kernel on WebKB by 2.8 points of accuracy where the paper reports 2.4; "
    assert headline == f"{start}1 of 10 published results lies outside our interval"
    found, asked, beside = summary_sentences(told)
    assert "by 2.8 points of accuracy (95% interval 1.3 to 4.2)" in found
    assert "Accuracy: tf-l1-ngd 92.30%, tf-l2-linear 89.52%" in found
    assert asked.startswith("10 methods (2 weightings, 2 normalizations, 3 kernels) were scored by accuracy.")
    assert "4,199 documents" in asked
    assert "9 of 10 published results were reproduced" in beside
    assert "2 of 2 claims hold by the papers' criteria" in beside


def test_the_first_caveats_are_in_a_box_at_the_top_and_the_others_behind_a_click(webkb):
    caveats = tuple(f"Doubt number {i}." for i in range(6))
    html = page_html(replace(webkb, caveats=caveats))
    box = html[html.index('class="caveats"') : html.index("<main")]
    shown, behind = box.split("<details>")
    assert [caveat in shown for caveat in caveats] == [True] * 4 + [False] * 2
    assert all(caveat in behind for caveat in caveats[4:])
    assert 'class="caveats"' not in page_html(webkb)


def test_of_a_part_of_a_claim_nothing_is_said_to_hold(webkb):
    part = replace(webkb, claims=webkb.claims.assign(whole=8))
    assert "claims" not in summary_sentences(part)[-1]


def test_a_failure_is_told(webkb):
    assert "tf-l1-ngd: failed: out of memory" in words_of(
        page_html(replace(webkb, failures={"tf-l1-ngd": "out of memory"}))
    )


@pytest.mark.parametrize("letters", ["a", "ж", "<"])
def test_texts_of_documents_fill_the_room_that_a_page_of_tables_has(webkb, letters):
    cells = [cell.id for cell in webkb.cells]
    hard = tuple(HardDocument(f"document {i}", "", "texas", "a", dict.fromkeys(cells, "b")) for i in range(200))
    told = replace(webkb, hardest=hard, mistakes=summary_table(MISTAKES, [each.row for each in hard]))
    near = [(f"{letters * 90} {i}", "b", 0.5) for i in range(3)]
    of = DocumentExplanation(letters * 300, cells[0], "a 0.5, b 0.4", "ngd", near, {"b": [letters * 20] * 8})
    html = page_html(told, explanations={("", each.name): of for each in hard})
    assert bytes_beside_script(html) <= MAX_TABLES_BYTES
    (data,) = (json.loads(found) for found in re.findall(r'class="squares">(.*?)</script>', html))
    shown = ["explained" in row for row in data["rows"]]
    assert shown == sorted(shown, reverse=True)
    assert len(data["rows"]) == 200
    assert sum(shown) == 200 or bytes_beside_script(html) > MAX_TABLES_BYTES - 5000
    assert all(shown) == (f"the first {sum(shown)} documents" not in html)


def test_of_very_many_cells_there_are_as_many_as_a_page_has_room_for(monkeypatch):
    summary = many_cells_summary(60)
    whole = page_html(summary)
    assert len(summary.cells) == whole.count("bench run") == 600
    assert "the first 200 of" in whole  # of a picture, what a reader looks at
    monkeypatch.setattr(render, "MAX_PAGE_BYTES", len(whole.encode()) * 4 // 5)
    part = page_html(summary)
    assert len(part.encode()) <= render.MAX_PAGE_BYTES
    assert part.count("bench run") == 300
    assert "The first 300 of 600 rows; scores.csv has all." in part


def values_of(spec):
    """The rows that a picture shows, in all of its layers or in the one with most of them."""
    return max(spec["datasets"].values(), key=len)


class TestPictures:
    def test_are_what_vega_lite_can_draw(self, make):
        for name, spec in specs_of(page_html(make())).items():
            assert_vega_lite(spec)
            assert spec["layer"], name

    def test_a_figure_of_another_kind_is_shown_whole(self, webkb):
        """As the file shows it, in the page's colours, with its description for a reader aloud."""
        figure = figure_of(panels()[:2])
        spec = region_chart(figure)
        html = page_html(replace(webkb, regions=(figure,)))
        shown = specs_of(html)["figure"]
        assert shown["concat"]
        assert shown["description"] == spec["description"]
        assert "var(--ours)" in str(shown)
        assert [sorted(map(str, rows)) for rows in shown["datasets"].values()]
        assert re.search(r'class="picture whole" role="region" tabindex="0" aria-label="Picture: [^"]+"', html)

    def test_dots_show_the_scores(self, webkb):
        spec = dot_pictures(webkb)[0].spec
        points = {point["cell"]: point for point in values_of(spec)}
        headline = webkb.scores[(webkb.scores["fold"] == "all") & (webkb.scores["metric"] == "accuracy")]
        for row in headline.to_dict("records"):
            assert points[row["cell"]]["value"] == pytest.approx(100 * row["value"], rel=1e-11)
            assert float(points[row["cell"]]["ours"]) == pytest.approx(100 * row["value"], abs=0.005)
        assert points["tf-l1-ngd"]["published"] == "91.88"

    def test_a_comparison_is_one_row_with_its_difference(self, webkb):
        pairs = [
            ("tf-l1-ngd", "tf-l2-linear", 0.0278, 0.013, 0.042, 4199),
            ("tf-l1-ned", "tf-l1-ngd", -0.07, -0.09, -0.05, 9),
        ]
        spec = forest_picture(replace(webkb, differences=summary_table(DIFFERENCES, pairs))).spec
        assert_vega_lite(spec)
        told = {point["cell"]: point for point in values_of(spec)}
        assert [(name, point["gap"], point["interval"], point["what"]) for name, point in told.items()] == [
            ("tf-l1-ngd − tf-l2-linear", "+2.78", "[+1.30, +4.20]", "the first is better"),
            ("tf-l1-ned − tf-l1-ngd", "−7.00", "[−9.00, −5.00]", "no clear difference"),  # no test was made
        ]
        for point, (*_, value, low, high, _) in zip(told.values(), pairs, strict=True):
            assert [point[end] for end in ("value", "low", "high")] == pytest.approx(
                [100 * value, 100 * low, 100 * high]
            )
        assert [point["rank"] for point in told.values()] == [0, 1]

    def test_the_second_is_named_once_where_all_are_compared_with_it(self, webkb):
        names = [cell.id for cell in webkb.cells if cell.id != "tf-l2-linear"]
        gaps = summary_table(DIFFERENCES, [(name, "tf-l2-linear", 0.01, 0.005, 0.015, 4199) for name in names])
        spec = forest_picture(replace(webkb, differences=gaps)).spec
        assert [point["label"] for point in values_of(spec)] == names
        assert "Difference to tf-l2-linear" in json.dumps(spec)

    def test_confusions_hold_every_document_once(self, webkb):
        rows = [("tf-l1-ngd", "a", "a", 7), ("tf-l1-ngd", "b", "a", 2), ("tf-l2-ned", "a", "b", 9)]
        spec = confusion_picture(replace(webkb, confusions=summary_table(CONFUSIONS, rows))).spec
        assert_vega_lite(spec)
        assert len(spec["datasets"]) == 1
        names = {param["name"]: param["value"] for param in spec["params"]}
        assert (names["classes"], names["cells"]) == (["a", "b"], ["tf-l1-ngd", "tf-l2-ned"])
        shown = [
            (names["cells"][point["c"]], names["classes"][k // 2], names["classes"][k % 2], n)
            for point in values_of(spec)
            for k, n in zip(point["k"], point["n"], strict=True)
        ]
        assert shown == rows


def test_the_script_of_the_page_begins_with_its_licences_and_names_its_parts():
    script = (files("benchmark.report") / "templates" / "vega.js").read_text(encoding="utf-8")
    comment, _, code = script.partition("*/\n")
    for part in ("vega", "vega-lite", "vega-embed", "d3-array", "topojson-client", "fast-json-patch"):
        assert f"\n{part}: " in comment or f"\n{part}, " in comment or f", {part}, " in comment, part
    assert comment.startswith("/*! Vega, ")
    assert "window.vegaEmbed" in code
    assert "</script" not in script
