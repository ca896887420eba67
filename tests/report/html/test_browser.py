"""Each page in a real browser: it draws, sorts, filters, tells numbers, and can be used by everyone.

Most of the time would go by opening pages, so that tests share those that they leave as they found them, but for the
order of rows; the others are opened one after another in one window.
"""

import csv
import io
import json
import shutil
from dataclasses import replace
from functools import partial
from itertools import count, pairwise
from pathlib import Path

import pytest

from benchmark.analysis.document_predictions import Disagreement, DocumentExplanation, DocumentPrediction
from benchmark.analysis.summary import summary_table
from benchmark.report.files import charts_csv
from benchmark.report.html.page import page_html
from tests.report.rows import chart_of, points_of

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.base")

#: A phone has the colours of a desk, and to look at each takes half of the time.
COLOURLESS = "rules: {'color-contrast': {enabled: false}}"
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1200, "height": 900}


@pytest.fixture(scope="module")
def browser():
    """The system's Chromium."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def new_window(browser):
    """Open a window that notes what its console says, and which addresses it asks for."""

    def new_window():
        page = browser.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        return page

    return new_window


@pytest.fixture(scope="module")
def open_page(new_window, tmp_path_factory):
    """Open the page of a summary, as a file; what its console says is an error of the test."""
    paths = (tmp_path_factory.mktemp("pages") / f"report-{number}.html" for number in count())

    def open_page(summary, window=None, viewport=DESK, color_scheme="light"):
        path, page = next(paths), window or new_window()
        html = summary if isinstance(summary, str) else page_html(summary, explanations=explained_of(summary))
        path.write_text(html, encoding="utf-8")
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        page.asked.clear()
        page.goto(path.as_uri())
        page.evaluate("window.drawn.then(() => null)")
        assert page.asked == [path.as_uri()]
        return page

    return open_page


@pytest.fixture(scope="module")
def window(new_window):
    """Which knows the scripts of pages: to open another one takes a third of the time of a new window."""
    return new_window()


@pytest.fixture
def opened(open_page, window):
    """Open a page for this test alone, which opens one at a time."""
    yield partial(open_page, window=window)
    said, window.said[:] = [*window.said], []
    assert said == []


@pytest.fixture(scope="module")
def open_full(open_page, full):
    return open_page(full)


@pytest.fixture(scope="module")
def open_curves(open_page, curves):
    return open_page(curves)


@pytest.fixture
def page(open_full):
    """The page of `full`, on a desk, in light."""
    yield open_full
    assert open_full.said == []


@pytest.fixture(scope="module")
def full(webkb):
    """A summary of which every part of the page has something to show."""
    cells = [cell.id for cell in webkb.cells]
    gaps = [(a, b, 0.02, 0.01, 0.03, 4199) for a, b in pairwise(cells)]
    mistaken = [(cell, t, p, 40 + i if t == p else 3) for i, cell in enumerate(cells) for t in "abc" for p in "abc"]
    costs = [(cell, 1.5 + i, 0.25, 2e8, False) for i, cell in enumerate(cells)]
    parts = {"differences": summary_table("differences", gaps), "confusions": summary_table("confusions", mistaken)}
    pair = (cells[2], cells[3])
    documents = tuple(
        tuple(DocumentPrediction(i, f"fold {i}", f"c/it's {i}", i, (label,), ("c",), tied=False) for label in "ca")
        for i in range(4)
    )
    parts |= {"disagreement": Disagreement(pair, (9, 4), documents)}
    return replace(webkb, costs=summary_table("costs", costs), failures={}, **parts)


def explained_of(summary):
    """Explanations of all documents but the last."""
    return {
        each.document: DocumentExplanation(f"<b>text</b> of {each.document}", "a 2, b 1", {"b": ["one", "two"]})
        for each, _ in (summary.disagreement.documents[:-1] if summary.disagreement else ())
    }


@pytest.fixture(scope="module")
def curves(webkb):
    """A summary with a picture of two panels, of which one has bars, on a logarithmic axis."""
    lines = [
        points_of("a vs b", "NGD", (100, 1000), (0.2, 0.1), (0.15, 0.05), (0.25, 0.15)),
        points_of("a vs b", "LIN", (100, 1000), (0.4, 0.35), (0.3, 0.3), (0.5, 0.4)),
        *(points_of("a vs c", name, (100, 1000), y) for name, y in (("NGD", (0.2, 0.1)), ("LIN", (0.4, 0.35)))),
    ]
    chart = chart_of(*lines, name="figure", title="Errors", x_label="Documents", log_x=True)
    return replace(webkb, charts=(chart,))


def column_of(table, name):
    head = [text.strip(" ↕↑↓") for text in table.locator("thead th").all_inner_texts()]
    return table.locator(f"tbody tr:visible > :nth-child({head.index(name) + 1})").all_inner_texts()


def tooltip_on(page, mark):
    mark.hover()
    found = page.locator("#vg-tooltip-element.visible")
    found.wait_for()
    return dict(zip(*(found.locator(name).all_inner_texts() for name in (".key", ".value")), strict=True))


def violations(page, rules=""):
    """What axe-core finds, without the much that is well, and whether the page is wider than its window."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(content=Path(axe.AXE_FILE_PATH).read_text(encoding="utf-8"))
    options = f"{{resultTypes: ['violations'], selectors: false, {rules}}}"
    found = page.evaluate(f"axe.run({options}).then(found => found.violations)")
    said = [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found]
    return said + ([] if page.evaluate("document.documentElement.scrollWidth <= innerWidth") else ["too wide"])


def test_tables_sort_high_to_low_then_low_to_high_then_as_they_were(opened, full):
    page = opened(full)
    section = page.locator("section", has=page.get_by_role("heading", name="Published numbers", exact=True))
    section.locator("summary").first.click()
    table = section.locator("table")
    written = column_of(table, "ours")
    button = table.locator("thead button", has_text="ours").first
    for order in (True, False):
        button.click()
        assert column_of(table, "ours") == sorted(written, key=float, reverse=not order)
    button.click()
    assert column_of(table, "ours") == written
    field = section.get_by_role("searchbox")
    field.fill("tfidf ngd")
    assert column_of(table, "method") == ["tfidf-l1-ngd"]
    page.reload()
    assert column_of(table, "method") == ["tfidf-l1-ngd"]  # the address keeps the view


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_the_finding_and_the_first_rows_are_on_the_first_screen(opened, full, viewport):
    page = opened(replace(full, claims=full.claims[:0]), viewport=viewport)
    row = page.locator("#results tr[id]").nth(1)
    score = row.locator("td.number").first.bounding_box()
    assert score["y"] + score["height"] <= viewport["height"]
    assert score["x"] + score["width"] <= viewport["width"]


def test_without_scripts_every_number_and_bar_is_there(browser, full, tmp_path):
    (tmp_path / "report.html").write_text(page_html(full, explanations=explained_of(full)), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, color_scheme="dark")
    page = context.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(20, 24, 29)"
    assert not page.locator("#theme").is_visible()
    text = page.locator("#results").inner_text()
    for (_, metric), row in full.headlines.items():
        if metric in ("accuracy", "macro-f1"):
            assert f"{100 * row['value']:.2f}" in text
    bars = page.locator("#results tbody svg.bar")
    assert bars.count() == len(full.cells)
    assert all(bar.bounding_box()["width"] > 100 for bar in bars.all())
    assert page.locator("#wrong .document").first.inner_text() == "<b>text</b> of c/it's 0"
    context.close()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_everyone_can_use_it(opened, full, open_full, viewport):
    page = open_full if viewport is DESK else opened(full, viewport=viewport)
    for summary in page.locator("details:not([open]) > summary:visible").all()[:3]:
        summary.click()
    assert violations(page, COLOURLESS if viewport is PHONE else "") == []
    page.emulate_media(color_scheme="dark")
    page.locator("html[data-theme=dark]").wait_for()
    if viewport is DESK:
        assert violations(page, "runOnly: ['cat.color']") == []  # the others don't see colours
    page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("summary", ["full", "curves"])
def test_on_paper_heads_are_repeated_pictures_fit_and_no_sheet_is_blank(opened, summary, request):
    page = opened(request.getfixturevalue(summary))
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    heads = """[...document.querySelectorAll('thead th:has(button)')].map(th => [
        getComputedStyle(th.closest('thead')).display, getComputedStyle(th, '::before').content, th.textContent.trim(),
        th.querySelector('button') ? getComputedStyle(th.querySelector('button')).display : 'none'])"""
    for display, shown, name, button in page.evaluate(heads):
        assert (display, button) == ("table-header-group", "none")  # a button isn't repeated on the next sheet
        assert json.loads(shown) == name
    kept = "what => [...document.querySelectorAll(what)].map(each => getComputedStyle(each).breakAfter)"
    assert set(page.evaluate(kept, "section h2")) <= {"avoid"}  # a sheet doesn't end between a heading and its picture
    page.set_viewport_size({"width": 700, "height": 1000})  # a sheet's
    assert page.evaluate("document.documentElement.scrollWidth") == 700
    widths = "[...document.querySelectorAll('.picture svg')].map(svg => svg.getBoundingClientRect().right)"
    assert max(page.evaluate(widths), default=0) <= 700
    page.emulate_media(media="screen")
    sheets = page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n")
    height = page.evaluate("document.documentElement.scrollHeight")
    assert 2 <= sheets <= 1 + height / 900


class TestCurves:
    @pytest.fixture
    def page(self, open_curves):
        yield open_curves
        assert open_curves.said == []

    def test_hovering_tells_the_number_of_curves_csv(self, page, curves):
        rows = [row for row in csv.DictReader(io.StringIO(charts_csv(curves))) if row["panel"] == "a vs b"]
        points = page.locator('[data-name="figure"] .concat_0_group .mark-symbol.role-mark path')
        assert points.count() == len(rows)
        for i in range(len(rows)):
            told = tooltip_on(page, points.nth(i))
            (row,) = (
                r
                for r in rows
                if (r["series"], float(r["x"])) == (told["series"], float(told["Documents"].replace(",", "")))
            )
            assert float(told["Error (%)"]) == pytest.approx(100 * float(row["y"]), abs=0.05)
            page.mouse.move(0, 0)

    @pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
    def test_everyone_can_use_it(self, opened, curves, viewport):
        page = opened(curves, viewport=viewport)
        assert violations(page, COLOURLESS if viewport is PHONE else "") == []
