"""Whatever a name holds, no format takes it for a command, a formula, a link or a picture's mathematics."""

import csv
import io
import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from benchmark.analysis.summary import SUMMARY_TABLES
from benchmark.papers.published import Published
from benchmark.report.escapes import csv_cell, csv_unescape, escape_controls, latex_text, markdown_text
from benchmark.report.files import table_csv, table_latex, table_markdown
from benchmark.report.html.page import page_html
from benchmark.report.page import render_markdown
from benchmark.report.paper_results import PaperExperiment, PaperResult
from benchmark.report.terminal import RunOnTerminal
from benchmark.report.writers import frame_csv

EVIL = ['=HYPERLINK("http://x")', "+a", "-a", "@a", "\t=1", "\r=1", "'=1", "''-a", "＝1"]
anything = st.text() | st.from_regex(r"'*[=+@\-\t\r]?.*", fullmatch=True)


def without_controls(text):
    return "".join(c if c == "\r" else escape_controls(c) for c in text)


class TestCsv:
    @given(anything)
    @example("-1_0")
    def test_a_name_comes_back_and_is_no_formula(self, text):
        cell, text = csv_cell(text), without_controls(text)
        assert csv_unescape(cell) == text
        assert cell in {text, f"'{text}"}
        if cell[:1] in tuple("=+-@\t\r\n"):
            float(cell)

    @pytest.mark.parametrize("text", EVIL)
    def test_what_a_spreadsheet_would_compute_is_text(self, text):
        assert csv_cell(text) == f"'{text}"


@given(st.text())
def test_nothing_moves_a_cursor(text):
    shown = escape_controls(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)
    assert escape_controls(shown) == shown


@given(st.text(alphabet="[](){}<>|`*_$~&#;:!-+\\\n\t\x1b \u2028ax1"))
def test_markdown_has_neither_link_nor_html_nor_another_line(text):
    shown = markdown_text(text)
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", ".", shown)  # without what is escaped
    assert not re.search(r"[|<`*_$\n\x1b]|\]\(|\]\[|\]:|~~", bare)
    assert not re.match(r"(?:#+|[-+]|\d+[.)])(?:\s|$)", shown)


NASTY = "=1|<b>_&%\x1b[31m*x*\u202e`"


def test_no_name_of_a_cell_or_sentence_is_a_command_in_any_format(webkb):
    (first, *others), frames = webkb.cells, {}
    for name, columns in SUMMARY_TABLES.items():
        frame = getattr(webkb, name)
        texts = [column for column in columns if column in ("cell", "a", "b", "text")]
        frames[name] = frame.assign(**{each: frame[each].replace(first.id, NASTY) for each in texts})
    odd = replace(first, id=NASTY, method=NASTY, points=NASTY, columns=dict.fromkeys(first.columns, NASTY))
    said = {"notes": (NASTY,), "caveats": (NASTY,), "documents": (NASTY,), "title": NASTY}
    summary = replace(webkb, cells=(odd, *others), failures={others[0].id: NASTY}, **frames, **said)
    published = Published(paper="k", title=NASTY, reference=NASTY, finding=NASTY)
    paper = PaperResult(published, (PaperExperiment(summary, remarks=(NASTY,)),), summary.claims, {})
    html = page_html(summary, NASTY)
    assert "=1|" in html
    assert not re.search("<b>|\x1b|\u202e", html)
    pages = render_markdown("paper", section=paper), render_markdown("reproduction", sections=[paper])
    for text in (table_markdown(summary), *pages):
        assert "\\<b>" in text
        assert not re.search(r"(?<!\\)<b>|(?<!\\)\*x|\x1b|\u202e|=1\|", text)
    latex = table_latex(summary).partition("\n")[2]
    assert not re.search(r"<b>|(?<!\\)_|(?<!\\)%1|\x1b|\u202e", latex)
    for text in (table_csv(summary), frame_csv(summary.scores, SUMMARY_TABLES["scores"])):
        fields = [field for row in csv.reader(io.StringIO(text)) for field in row]
        assert any(field.startswith("'=1|") for field in fields)
        assert not any(field.startswith("=") for field in fields)
    console = Console(width=100, file=io.StringIO())
    console.print(RunOnTerminal(summary, whole=True))
    assert not re.search(r"\x1b|\u202e", console.file.getvalue())


def test_latex_is_one_line_whose_commands_are_ours():
    assert latex_text("a\n\n\\input{x}\x1b") == r"a \textbackslash{}input\{x\}\textbackslash{}x1b"
