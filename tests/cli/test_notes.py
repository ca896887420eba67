"""What a command says beside its answer, where it writes it, and what it names a file."""

from __future__ import annotations

import errno
import json
import os
import sys
import warnings
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from benchmark.cli import app, prompts
from benchmark.cli.errors import _system_message, print_warnings
from benchmark.cli.model_commands import predict
from benchmark.cli.run import output_run
from benchmark.cli.terminal import _Share, _TimeLeft
from benchmark.commands.plan import Plan, plan_sentence
from benchmark.commands.run_all import RESUME_HINT, run_all

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.experiment.run import RunResult


def invoke(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_notes_of_a_report_stand_beside_its_output(finished: RunResult, monkeypatch: pytest.MonkeyPatch) -> None:
    def again(folder: Path, notify: Any, *, column: bool) -> RunResult:
        assert (folder, column) == (finished.folder, False)
        notify("a figure is missing")
        return finished

    monkeypatch.setattr("benchmark.experiment.run.report_again", again)
    for words in ((), ("--json",), ("--quiet",)):
        done = invoke("report", finished.folder, *words)
        assert (done.exit_code, done.stderr) == (0, "a figure is missing\n")
        assert "a figure is missing" not in done.stdout
    (run,) = json.loads(invoke("report", finished.folder, "--json").stdout)["runs"]
    stored, cells = finished.results.from_store
    assert list(run)[:8] == ["name", "title", "folder", "seconds", "peak_bytes", "from_store", "cells", "failures"]
    assert (run["name"], run["title"], run["folder"]) == ("small", "A small one", str(finished.folder))
    assert (run["from_store"], run["cells"], run["failures"]) == (stored, cells, {})
    assert run["notes"] == list(finished.summary.notes)
    assert run["seconds"] == pytest.approx(finished.seconds)
    assert len(run["scores"]) == len(finished.summary.scores)
    assert "confusions" not in run


def test_a_run_is_given_with_its_page(finished: RunResult) -> None:
    given, shown = list[Any](), list[Any]()
    answer: Any = SimpleNamespace(
        give=lambda key, data, *parts, sentence: given.append((key, data, parts, sentence)), show=shown.append
    )
    output_run(answer, finished, whole=True)
    ((key, data, parts, sentence),) = given
    assert (key, data["peak_bytes"] > 5e7, parts[1:]) == ("runs", True, ("",))
    assert str(finished.folder) in sentence
    assert [each.plain for each in shown] == [
        f"open {finished.folder / 'report.html'}",
        "Next: bench init FILE, for your own documents",
    ]


@pytest.mark.parametrize("name", ["ENOSPC", "EFBIG", "EDQUOT", "EIO", "EBADF", "EROFS", "EMFILE", "EPIPE"])
def test_an_error_of_a_stream_names_the_output_where_it_has_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Afterwards the rest of the output, which is buffered, goes nowhere."""
    number = getattr(errno, name)
    reason = os.strerror(number)
    full = name in ("ENOSPC", "EFBIG", "EDQUOT", "EIO", "EBADF")
    with (tmp_path / "out").open("w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        found = _system_message(OSError(number, reason))
        print("the rest", file=file, flush=True)
    expected = f"can't write to standard output: {reason[0].lower()}{reason[1:]}" if full else reason
    assert found == ("" if name == "EPIPE" else expected)
    assert (tmp_path / "out").read_text() == ("" if full else "the rest\n")
    expected = "" if name == "EPIPE" else f"a.csv: {reason}"
    assert _system_message(OSError(number, reason, "a.csv")) == expected
    assert _system_message(OSError("no number")) == "no number"


def test_warnings_move_no_cursor(capsys: Any) -> None:
    with print_warnings():
        warnings.warn_explicit("\x1b[2J", UserWarning, "a.py", 10)
    assert capsys.readouterr().err == "a.py:10: UserWarning: \\x1b[2J\n"


@pytest.mark.parametrize(("left", "text"), [(None, ""), (0, "0s left"), (59.9, "59s left"), (3725, "1h 02m left")])
def test_the_time_that_is_left_is_told_as_soon_as_it_is_known(left: float | None, text: str) -> None:
    task: Any = SimpleNamespace(time_remaining=left, total=None, percentage=0.0)
    assert _TimeLeft().render(task).plain == text
    assert _Share().render(task).plain == ""
    for percentage, share in ((0.0, "  0%"), (49.6, " 50%"), (100.0, "100%")):
        task.total, task.percentage = 8, percentage
        assert _Share().render(task).plain == share


def test_a_plan_prints_its_warnings_beside_it_and_each_of_its_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Plan([("a", 4, 1)], [("a, b", 3, 2.0)], 2e9, 1e9)
    for plan, tables in ((whole, 2), (Plan([("a", 4, 1)]), 1)):
        monkeypatch.setattr("benchmark.cli.plan_experiment", lambda *_, plan=plan, **__: plan)
        done = invoke("plan", "quickstart", "--json")
        assert (done.exit_code, done.stderr.splitlines()) == (0, plan.warnings)
        found = json.loads(done.stdout)
        assert len(found["tables"]) == tables
        assert found["tables"][0]["rows"] == [{"what": "a", "entries": 4, "in the store": 1}]
        assert [each["sentence"] for each in found["answers"]] == [plan_sentence(plan)]
    assert len(whole.warnings) == 1


CONFIG = """\
name: small
corpus: {name: synthetic}
text: {min_occurrences: 20}
protocol: {name: leave-one-group-out, held_out: [cornell]}
methods: [mnb, complement-nb, linear-svm, ngd]
"""


@pytest.mark.parametrize(
    ("only", "cells"),
    [
        ((), ("mnb", "complement-nb", "linear-svm", "ngd")),
        (("ngd", "mnb"), ("mnb", "ngd")),
        (("*-nb", "ngd", "l*"), ("complement-nb", "linear-svm", "ngd")),
    ],
)
def test_all_cells_that_are_named_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only: tuple[str, ...], cells: tuple[str, ...]
) -> None:
    """Of each configuration."""
    taken = list[Any]()
    monkeypatch.setattr("benchmark.commands.run_all.run_all", lambda given, *_, **__: taken.extend(given) or iter(()))
    paths = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for path in paths:
        path.write_text(CONFIG.replace("small", path.stem))
    done = invoke("run", *paths, *(word for each in only for word in ("--only", each)))
    assert (done.exit_code, done.output) == (0, "")
    assert [(each.name, each.ids) for each in taken] == [("a", cells), ("b", cells)]


@pytest.mark.parametrize("writable", [True, False])
@pytest.mark.parametrize("number", [0, 1])
def test_an_interrupted_run_says_how_to_go_on_where_results_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool, number: int
) -> None:
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "store"))
    done = SimpleNamespace(seconds=0.1, results=SimpleNamespace(from_store=(0, 1)))
    runs = list[Any]()

    def run(experiment: Any, context: Any, folder: Path) -> Any:
        runs.append((experiment, folder))
        if len(runs) > number:
            context.store.writable = writable
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr("benchmark.commands.run_all.run_and_write", run)
    closed = SimpleNamespace(close=lambda: None)
    experiments: Any = [
        SimpleNamespace(name=name, ids=("x",), only=(), parallel=None, registries=closed) for name in "ab"
    ]
    observer: Any = SimpleNamespace(note=print, expect=print, begin=print, end=print)
    found = run_all(experiments, tmp_path / "out", observer)
    for _ in range(number):
        assert next(found) is done
    with pytest.raises(KeyboardInterrupt) as stopped:
        next(found)
    assert stopped.value.args == ((RESUME_HINT,) if writable else ())
    assert runs == [(each, tmp_path / "out" / each.name) for each in experiments[: number + 1]]


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize(("unknown", "said"), [(0, ""), (1, "1 of 1,200"), (1200, "1,200 of 1,200")])
def test_predictions_move_no_cursor_and_unknown_words_are_counted_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, terminal: bool, unknown: int, said: str
) -> None:
    """To a file goes what there is, and to a terminal what it can show."""
    io = "benchmark.model.prediction_io"
    model = SimpleNamespace(about={}, answers=lambda documents, **_: documents)
    tally = SimpleNamespace(unknown=unknown, documents=1200, counted=lambda answered: answered)
    monkeypatch.setattr("benchmark.model.persistence.read_model", lambda _: model)
    monkeypatch.setattr(f"{io}.RecordColumns.of_model", lambda *_, **__: SimpleNamespace(keep=()))
    monkeypatch.setattr(f"{io}.form_of_predictions", lambda *_, **__: "form")
    monkeypatch.setattr(f"{io}.read_texts", lambda *_: ["id,label\n", "\x1b[2J,a\n"])
    monkeypatch.setattr(f"{io}.PredictionCount", lambda: tally)
    monkeypatch.setattr(f"{io}.format_predictions", lambda *given: given[1])
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: terminal)
    predict(tmp_path)
    out, err = capsys.readouterr()
    assert out == "id,label\n" + (r"\x1b[2J" if terminal else "\x1b[2J") + ",a\n"
    assert err == (f"{said} documents have no word that the model knows\n" if said else "")


@pytest.mark.parametrize("proposed", [{}, {"text": "body"}, {"label": "kind"}, {"id": "key", "date": "day"}])
def test_a_column_that_is_needed_has_no_answer_of_its_own(
    monkeypatch: pytest.MonkeyPatch, proposed: dict[str, str]
) -> None:
    """Without a proposal, the text and the class are asked for until they are named, and the others are none."""
    asked = dict[str, Any]()
    named = {"text": "body", "label": "kind"}
    of_question = {question: role for role, question in prompts.COLUMN_QUESTIONS.items()}

    def reply(question: str, default: str | None, *, err: bool) -> str:
        assert err
        asked[of_question[question]] = default
        return named.get(of_question[question], default or "never")

    monkeypatch.setattr(prompts, "is_interactive", lambda: True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", reply)
    columns: dict[str, list[Any]] = {name: ["x"] for name in ("body", "kind", "key", "day")}
    found = prompts.confirm_columns(columns, proposed, set())
    defaults = dict.fromkeys(("text", "label")) | dict.fromkeys(("id", "split", "group", "date"), "-")
    assert asked == defaults | proposed
    assert found == named | proposed
