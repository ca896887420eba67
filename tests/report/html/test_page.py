"""The page of a run: everything a reader needs is inside it, and no more than the summary says."""

import json
import re
from dataclasses import replace
from importlib.resources import files

from benchmark.analysis.summary import summary_table
from benchmark.report.drawing.regions import region_chart
from benchmark.report.html.page import page_html
from tests.report.regions import figure_of, panels
from tests.report.rows import curve


def specs_of(html):
    found = re.findall(r'data-name="([^"]*)"><script type="application/json">(.*?)</script>', html)
    return {name: json.loads(spec) for name, spec in found}


def test_only_what_was_measured_differs_between_machines(webkb):
    def on(machine, factor):
        rows = [(cell.id, 3.0 * factor, 0.2 * factor, 1e8 * factor, False) for cell in webkb.cells]
        return page_html(replace(webkb, costs=summary_table("costs", rows)), machine)

    one, other = on("Linux-6", 1), on("Darwin-24", 2)
    assert one != other
    unmeasured = [re.sub(r'(<(td|span) class="[^"]*measured">)[^<]*', r"\1", html) for html in (one, other)]
    assert unmeasured[0] == unmeasured[1]


def test_nothing_is_fetched_from_elsewhere(make):
    html = re.sub("<script.*?</script>", "", page_html(replace(make(), charts=(curve(),))), flags=re.DOTALL)
    addresses = re.findall(r'(?:src|href)="([^"]*)"', html.replace(f'<a href="{make().paper_url or None}"', ""))
    beside = r"#\w+|[\w.]+\.(csv|parquet|md|tex|json)|figures/c\.svg|data:image/png.*"
    assert all(re.fullmatch(beside, address) for address in addresses)
    assert "@import" not in html
    assert "url(" not in html


def test_pictures_are_drawn_whole_in_the_colours_of_the_page(webkb):
    figure = figure_of(panels()[:2])
    html = page_html(replace(webkb, regions=(figure,), charts=(curve((0.4, 0.7), (0.6, 0.8)),)))
    specs = specs_of(html)
    assert list(specs) == ["figure", "c"]
    for spec in specs.values():
        assert spec["concat"]
        assert "var(--ours)" in str(spec)
    assert specs["figure"]["description"] == region_chart(figure)["description"]
    assert "Bars: 95% interval." in str(specs["c"]["title"]["text"])
    assert "Decision regions" not in str(specs["figure"]["title"])  # the page has it


def test_the_script_of_the_page_begins_with_its_licences_and_names_its_parts():
    script = (files("benchmark.report") / "templates" / "vega.js").read_text(encoding="utf-8")
    comment, _, code = script.partition("*/\n")
    for part in ("vega", "vega-lite", "vega-embed", "d3-array", "topojson-client", "fast-json-patch"):
        assert f"\n{part}: " in comment or f"\n{part}, " in comment or f", {part}, " in comment, part
    assert comment.startswith("/*! Vega, ")
    assert "window.vegaEmbed" in code
    assert "</script" not in script
