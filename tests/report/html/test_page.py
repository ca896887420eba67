"""The page of a run: everything a reader needs is inside it, and no more than the summary says."""

import json
import re
from dataclasses import replace
from html import unescape
from importlib.resources import files

import pytest

from benchmark.analysis.prose.main_finding import main_finding
from benchmark.analysis.summary import COSTS, DIFFERENCES, summary_table
from benchmark.report.drawing.forest import forest_picture
from benchmark.report.drawing.regions import region_chart
from benchmark.report.html.page import measured_sentences, page_html
from tests.report.regions import figure_of, panels
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


def test_what_deviates_opens_onto_the_experiments_that_look_into_it(webkb):
    closed, opened = page_html(webkb), page_html(replace(webkb, explained_by=("webkb-sweep", "webkb-more")))
    deviates = webkb.verdicts["verdict"] == "deviates"
    assert deviates.any()
    for name in ("webkb-sweep", "webkb-more"):
        assert opened.count(f"{name} tries other settings: bench run {name}") == deviates.sum()
        assert name not in closed


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


def test_the_page_begins_with_the_finding_the_question_and_the_documents(webkb):
    told = replace(webkb, corpus="WebKB", documents=("4,199 documents of 4 classes.",))
    html = page_html(told)
    (headline,) = re.findall("<h1>(.*?)</h1>", html)
    start = "The NGD kernel leads the linear kernel on WebKB by 2.8 points of accuracy where the paper reports 2.4; "
    assert headline == f"{start}1 of 10 published results lies outside our interval"
    found = " ".join(main_finding(told).details)
    asked, beside = measured_sentences(told)
    assert "by 2.8 points of accuracy (95% interval 1.3 to 4.2)" in found
    assert "Accuracy: tf-l1-ngd 92.30%, tf-l2-linear 89.52%" in found
    assert asked.startswith("10 methods (2 weightings, 2 normalizations, 3 kernels) were scored by accuracy.")
    assert "4,199 documents" in asked
    assert "9 of 10 published results were reproduced" in beside
    assert "2 of 2 claims hold by the papers' criteria" in beside


def test_of_a_part_of_a_claim_nothing_is_said_to_hold(webkb):
    part = replace(webkb, claims=webkb.claims.assign(whole=8))
    assert "claims" not in measured_sentences(part)[-1]


def test_a_failure_is_told(webkb):
    assert "tf-l1-ngd: failed: out of memory" in words_of(
        page_html(replace(webkb, failures={"tf-l1-ngd": "out of memory"}))
    )


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


def test_the_script_of_the_page_begins_with_its_licences_and_names_its_parts():
    script = (files("benchmark.report") / "templates" / "vega.js").read_text(encoding="utf-8")
    comment, _, code = script.partition("*/\n")
    for part in ("vega", "vega-lite", "vega-embed", "d3-array", "topojson-client", "fast-json-patch"):
        assert f"\n{part}: " in comment or f"\n{part}, " in comment or f", {part}, " in comment, part
    assert comment.startswith("/*! Vega, ")
    assert "window.vegaEmbed" in code
    assert "</script" not in script
