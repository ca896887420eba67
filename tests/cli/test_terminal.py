from __future__ import annotations

import json
import re
import sys
import time

import pytest

from benchmark.analysis.formatting.table import Table
from benchmark.cli.output import CommandOutput
from benchmark.cli.terminal import (
    ProgressObserver,
    file_link,
    format_bytes,
    stdout_console,
)
from benchmark.report.writers import TerminalTable


@pytest.fixture
def piped(monkeypatch, capsys):
    """What was written to standard output and error, neither a terminal."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return capsys.readouterr


@pytest.fixture
def terminal(piped, monkeypatch):
    """What was written to standard output and error, both a terminal of 60 characters."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)  # pytest makes new streams for the test
    return piped


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("silent", [False, True])
def test_a_bar_is_drawn_on_a_terminal_that_has_no_lines_of_steps(terminal, verbose, silent):
    with ProgressObserver("small", verbose=verbose, silent=silent) as observer:
        observer.plan(1)
        observer.now("ngd")
        observer._bar.refresh()
    assert ("small" in terminal().err) == (not verbose and not silent)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (141_043_200, "141 MB"),
        (1_705_000_000, "1.7 GB"),
    ],
)
def test_sizes_read_as_people_write_them(n_bytes, text):
    assert format_bytes(n_bytes) == text


class TestTable:
    def test_a_pipe_gets_each_row_in_one_line(self, piped):
        rows = [("a" * 100, "b" * 100, 7), ("c", "two words", 1_234_567)]
        stdout_console().print(TerminalTable(Table.of("A title", ("one", "two", "number"), rows)))
        printed = piped().out
        lines = [line.rstrip() for line in printed.splitlines()]
        assert lines[0] == "A title"
        assert lines[1].split() == ["one", "two", "number"]
        assert lines[2].split() == ["a" * 100, "b" * 100, "7"]
        assert lines[3].endswith("1,234,567")
        assert len(lines) == 4
        assert "\x1b" not in printed

    def test_a_terminal_gets_lines_that_fit(self, terminal):
        stdout_console().print(TerminalTable(Table.of("", ("one",), [("a" * 100,)])))
        printed = terminal().out
        assert printed.count("a") == 100
        assert max(map(len, printed.splitlines())) < 80

    def test_words_stand_as_they_are(self, piped):
        text = "[bold]l1[/bold] [/none] :smile: Sequence[str]"
        stdout_console().print(TerminalTable(Table.of("[title]", ("[x]",), [(text,)])))
        stdout_console().print(f"{text}: none")
        printed = piped().out
        assert printed.count(text) == 2
        assert "[title]" in printed
        assert "[x]" in printed


class TestProgress:
    def work(self, observer):
        with observer:
            observer.plan(2)
            observer.step("tf-l1-ngd · cornell")
            observer.step("tf-l1-ngd · [texas]")

    def test_a_pipe_is_left_alone(self, piped):
        self.work(ProgressObserver("webkb"))
        assert piped() == ("", "")

    def test_notes_are_always_told_and_in_one_line(self, piped):
        with ProgressObserver("webkb") as observer:
            observer.note("[bold] " + "word " * 40)
        assert piped() == ("", "[bold] " + "word " * 40 + "\n")

    def test_verbose_tells_each_step_with_the_time(self, piped):
        self.work(ProgressObserver("webkb", verbose=True))
        lines = piped().err.splitlines()
        assert [line.split(" s  ")[1] for line in lines] == ["tf-l1-ngd · cornell", "tf-l1-ngd · [texas]"]
        assert all(float(line.split(" s  ")[0]) >= 0 for line in lines)

    def test_a_terminal_gets_a_bar_with_what_is_left(self, terminal):
        with ProgressObserver("webkb") as observer:
            observer.plan(4)
            observer.step("tf-l1-ngd · cornell")
        printed = terminal()
        assert printed.out == ""
        for part in ("webkb", " 25%", "tf-l1-ngd"):
            assert part in printed.err

    @pytest.mark.parametrize("columns", [60, 80, 120])
    def test_the_bar_keeps_its_shape(self, terminal, monkeypatch, columns):
        """Whatever is being done: only its name is cut, and the bar, the share and the time stay where they are."""
        monkeypatch.setenv("COLUMNS", str(columns))
        with ProgressObserver("webkb-diffusion-reduced") as observer:
            observer.plan(40)
            for step in ("loading", "faculty-course-diffusion-0.5-cv-150 · replicate-17", "x"):
                time.sleep(0.1)
                observer.step(step)
            observer._bar.refresh()
        lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", terminal().err).split("\n")
        shown = [line for line in "".join(lines).replace("\r", "\n").split("\n") if "%" in line]
        assert shown
        for line in shown:
            assert len(line) <= columns
            assert re.match(r"webkb-diffusion-reduced +[━╸╺ ]{12} +\d+% +[\d:-]{5,8} ", line), line

    def test_the_bar_is_gone_and_the_cursor_back_when_the_work_breaks_off(self, terminal):
        with pytest.raises(KeyboardInterrupt):
            self.broken_work()
        shown = terminal().err
        assert "webkb" in shown
        assert shown.rindex("\x1b[?25h") > shown.rindex("webkb")
        assert shown.endswith("\x1b[2K")

    def test_the_bar_is_away_while_what_is_found_is_printed(self, terminal):
        with ProgressObserver("webkb") as observer:
            for _ in observer.between("ab"):
                shown = terminal().err
                assert "webkb" in shown
                assert shown.endswith("\x1b[2K")

    def test_the_share_is_that_of_all_cells_of_all_runs(self, terminal):
        """Runs of 30 and 10 cells: each has its own steps, and what is planned later replaces what was estimated."""
        with ProgressObserver("webkb") as observer:
            (task,) = observer._bar.tasks
            observer.expect([30, 10])
            shares = []
            for plans, later, steps in (((3,), 9, 2), ((2,), 5, 1), ((5,), 0, 7)):
                for n in plans:
                    observer.plan(n, later)
                for _ in range(steps):
                    observer.step("a")
                shares.append(task.completed)
                assert task.total == 40
            assert shares == pytest.approx([30 * 2 / 12, 30 * 3 / 10, 30 * 10 / 10])
            observer.end("done")
            observer.begin("second")
            observer.plan(4)
            observer.step("b")
            assert task.completed == pytest.approx(30 + 10 * 1 / 4)
            for _ in range(5):  # more steps than were planned
                observer.step("b", stored=True)
            assert task.completed == pytest.approx(40)

    @pytest.mark.parametrize(("runs", "silent", "lines"), [(1, False, 0), (2, False, 2), (2, True, 0)])
    def test_a_line_is_printed_for_each_of_several_runs(self, piped, runs, silent, lines):
        with ProgressObserver("webkb", silent=silent) as observer:
            observer.expect([4] * runs)
            for number in range(runs):
                observer.end(f"run {number}")
        assert piped().err.splitlines() == [f"run {number} ({number + 1} of 2)" for number in range(lines)]

    def broken_work(self):
        with ProgressObserver("webkb") as observer:
            observer.plan(3)
            raise KeyboardInterrupt


class TestOutput:
    TABLES = (
        Table.of("One", ("name", "n"), [("a", 1), ("b", 23)]),
        Table.of("Two", ("name",), [], empty="there is none"),
        Table.of("", ("name",), [("c",)]),
    )

    def test_tables_stand_apart_under_their_titles(self, piped):
        with CommandOutput() as answer:
            answer.tables(self.TABLES, "All is said.")
        lines = [line.rstrip() for line in piped().out.splitlines()]
        assert lines == [
            "One",
            "name   n",
            "a      1",
            "b     23",
            "",
            "Two: there is none",
            "",
            "name",
            "c",
            "",
            "All is said.",
        ]

    def test_a_sentence_is_all_that_quiet_output_has(self, piped):
        with CommandOutput(quiet=True) as answer:
            answer.tables(self.TABLES, "All is said.")
            answer.show("no")
        assert piped().out == "All is said.\n"

    def test_json_has_their_rows_by_name(self, piped):
        with CommandOutput(as_json=True) as answer:
            answer.tables(self.TABLES, "All is said.")
            answer.show("no")
        assert json.loads(piped().out) == {
            "tables": [
                {"title": "One", "rows": [{"name": "a", "n": 1}, {"name": "b", "n": 23}]},
                {"title": "Two", "rows": []},
                {"title": "", "rows": [{"name": "c"}]},
            ],
            "answers": [{"sentence": "All is said."}],
        }


def test_a_link_is_for_a_terminal(terminal, tmp_path):
    link = file_link("open", tmp_path / "a.html")
    assert link.plain == f"open {tmp_path}/a.html"
    assert any(str(span.style).startswith("link file:///") for span in link.spans)


def test_a_pipe_gets_no_link(piped, tmp_path):
    assert not any("link" in str(span.style) for span in file_link("open", tmp_path / "a.html").spans)
