"""Each option of a command reaches the function that does the work, under its name; without it, the default does."""

from __future__ import annotations

import inspect
import pkgutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from benchmark.cli import app, prompts
from benchmark.cli.prompts import without_trust
from benchmark.cli.resolve import resolve_run
from benchmark.cli.run import workers_from_options
from benchmark.commands.plugin_test import CheckResult
from benchmark.commands.run_all import run_all
from benchmark.config.schema import ParallelSection
from benchmark.experiment.configuration import load_checked
from benchmark.system.errors import ConfigError, DataError
from benchmark.system.threads import n_processors

if TYPE_CHECKING:
    from collections.abc import Callable


CONFIG = """\
name: small
corpus: {name: synthetic}
text: {min_occurrences: 20}
protocol: {name: leave-one-group-out, held_out: [cornell]}
methods: [mnb, complement-nb]
"""
#: Exit code of a command whose work was taken down instead of done.
STOPPED = 77


@pytest.fixture
def call_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Run a command up to a function, and return the arguments that it would get, by name."""

    def call(function: str, *words: object) -> dict[str, Any]:
        original = pkgutil.resolve_name(function)
        taken: dict[str, Any] = {}

        def take(*args: Any, **kwargs: Any) -> None:
            bound = inspect.signature(original).bind(*args, **kwargs)
            bound.apply_defaults()
            taken.update(bound.arguments)
            raise SystemExit(STOPPED)

        monkeypatch.setattr(function, take)
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == STOPPED, done.output
        monkeypatch.setattr(function, original)
        return taken

    return call


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text(CONFIG)
    return tmp_path / "small.yaml"


RUN_ALL = "benchmark.commands.run_all.run_all"
#: Options of a command that takes configurations, and what they are for `run_all`.
CASES: list[tuple[str, dict[str, Any]]] = [
    ("", {"out": None, "overwrite": False, "jobs": 0, "download": True}),
    ("--out there", {"out": Path("there")}),
    ("-o there --overwrite", {"out": Path("there"), "overwrite": True}),
    ("--jobs 3 --no-download", {"jobs": 3, "download": False}),
]


@pytest.mark.parametrize(("options", "expected"), CASES)
def test_run(call_of: Any, config: Path, options: str, expected: dict[str, Any]) -> None:
    found = call_of(RUN_ALL, "run", config, *options.split())
    assert {key: found[key] for key in expected} == expected
    assert [experiment.ids for experiment in found["experiments"]] == [("mnb", "complement-nb")]
    assert found["workers"] is None


def test_run_with_cells_and_workers(call_of: Any, config: Path) -> None:
    found = call_of(RUN_ALL, "run", config, "--only", "mnb", "--dask", "local:3", "--max-workers", 2)
    assert found["experiments"][0].ids == ("mnb",)
    assert found["workers"] == ParallelSection(n_jobs=3)
    for words, silent, verbose in ((("-q",), True, False), (("-v",), False, True)):
        observer = call_of(RUN_ALL, "run", config, *words)["observer"]
        assert (observer._silent, observer._verbose) == (silent, verbose)


@pytest.mark.parametrize(("options", "n_jobs"), [((), 5), (("--dask", "local:3"), 3)])
def test_workers_of_the_command_line_replace_those_of_the_configuration(
    call_of: Any, config: Path, options: tuple[str, ...], n_jobs: int
) -> None:
    config.write_text(f"{CONFIG}\nparallel: {{n_jobs: 5}}\n")
    found = call_of("benchmark.workers.cluster.DaskExecutor", "run", config, "--out", config.parent / "run", *options)
    assert ParallelSection(n_jobs=n_jobs) in found.values()


def test_each_run_gets_its_workers_threads_folder_and_store(config: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """Experiments that name the same workers share them; without any, this process does the work."""
    started, contexts, folders = list[Any](), list[Any](), list[Path]()

    class Executor:
        def __init__(self, named: Any, store: Any, jobs: int, observer: Any) -> None:
            started.append((named.n_jobs, store, jobs, observer))
            self.name = named.n_jobs

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            started.append("closed")

    def run(experiment: Any, context: Any, folder: Path) -> Any:
        contexts.append(context)
        folders.append(folder)
        return SimpleNamespace(seconds=1.25, results=SimpleNamespace(from_store=(1, 2)))

    monkeypatch.setattr("benchmark.workers.cluster.DaskExecutor", Executor)
    monkeypatch.setattr("benchmark.commands.run_all.run_and_write", run)
    plain = load_checked(config)
    experiments = [
        replace(plain, name=name, parallel=None if n is None else ParallelSection(n_jobs=n))
        for name, n in (("a", None), ("b", 2), ("c", 3), ("d", 2), ("e", None))
    ]
    lines = list[str]()
    observer = SimpleNamespace(
        note=print, expect=lines.append, begin=lines.append, end=lines.append
    )  # as far as they are asked here
    done = list(run_all(experiments, tmp_path / "out", observer, jobs=3, download=False))  # type: ignore[arg-type]
    assert len(done) == 5
    store = contexts[0].store
    assert started == [(2, store, 3, observer), (3, store, 3, observer), "closed", "closed"]
    assert [getattr(each.elsewhere, "name", None) for each in contexts] == [None, 2, 3, 2, None]
    assert all(
        (each.jobs, each.download, each.store, each.observer) == (3, False, store, observer) for each in contexts
    )
    assert folders == [tmp_path / "out" / name for name in "abcde"]
    assert lines[0] == [2] * 5
    assert lines[1:] == [line for name in "abcde" for line in (name, f"{name}: 1.2 s, 1 of 2 cells from the store")]
    contexts.clear(), started.clear()
    list(run_all(experiments, tmp_path / "out", observer, workers=ParallelSection(n_jobs=7)))  # type: ignore[arg-type]
    assert [each[0] for each in started[:-1]] == [7]
    assert started[0][2] == 0, "all processors of a worker's machine, not as many as are here"
    assert [(each.elsewhere.name, each.jobs, each.download) for each in contexts] == [(7, n_processors(), True)] * 5


def test_workers_are_limited_where_there_are_some() -> None:
    assert workers_from_options(None, None) is None
    assert workers_from_options("tcp://host:1", 4) == ParallelSection(dask_address="tcp://host:1", n_jobs=4)
    for number in (0, 4):
        with pytest.raises(ConfigError, match="--max-workers limits the workers of --dask: add --dask"):
            workers_from_options(None, number)


@pytest.mark.parametrize("failed", [None, 0, 1, 2])
@pytest.mark.parametrize("of", ["summary", "results"])
def test_a_run_that_failed_is_the_exit_code_wherever_it_stands_among_the_others(
    failed: int | None, of: str, config: Path, monkeypatch: Any
) -> None:
    runs = [
        SimpleNamespace(
            **{
                part: SimpleNamespace(failures={"mnb": "no"} if (n, part) == (failed, of) else {}, name="x")
                for part in ("summary", "results")
            }
        )
        for n in range(3)
    ]
    shown = list[Any]()
    monkeypatch.setattr(RUN_ALL, lambda *_, **__: iter(runs))
    monkeypatch.setattr("benchmark.cli.output_run", lambda _, done: shown.append(done))
    found = CliRunner().invoke(app, ["run", str(config)])
    assert (found.exit_code, shown) == (0 if failed is None else 1, runs)


@pytest.mark.parametrize("failed", [(), (0,), (1,), (2,), (0, 2)])
def test_a_check_of_a_plug_in_that_failed_is_the_exit_code_wherever_it_stands(
    failed: tuple[int, ...], tmp_path: Path, monkeypatch: Any
) -> None:
    def checks(path: Path) -> Any:
        files.append(path)
        return iter([CheckResult("kernel a", f"check {n}", "it is wrong" if n in failed else "") for n in range(3)])

    files = list[Path]()
    monkeypatch.setattr("benchmark.commands.plugin_test.check_file", checks)
    paths = [tmp_path / "a.py", tmp_path / "b.py"]
    found = CliRunner().invoke(app, ["plugin", "test", *map(str, paths)])
    lines = [f"kernel a: check {n}: {'FAILED: it is wrong' if n in failed else 'passed'}" for n in range(3)]
    assert (found.exit_code, files) == (int(bool(failed)), paths)
    assert found.stdout.splitlines() == lines * 2


def test_of_several_problems_the_worst_is_the_exit_code(config: Path, monkeypatch: Any) -> None:
    problems = {"a": ConfigError("wrong"), "b": DataError("damaged")}

    def load(path: Path, **_: Any) -> Any:
        if path.stem in problems:
            raise problems[path.stem]
        return load_checked(path)

    monkeypatch.setattr("benchmark.experiment.configuration.load_checked", load)
    paths = [str(config.with_name(f"{name}.yaml")) for name in ("b", "a", "small")]
    for path in paths[:2]:
        Path(path).touch()
    assert CliRunner().invoke(app, ["validate", *paths[::-1]]).exit_code == 3, "wherever it stands"
    for given, code in ((paths, 3), (paths[1:], 2), (paths[2:], 0)):
        found = CliRunner().invoke(app, ["validate", *given])
        assert found.exit_code == code
        assert found.stdout == f"{config}: good, 2 cells\n"
        assert found.stderr == "".join(
            [*(["bench: damaged\n"] if code == 3 else []), *(["bench: wrong\n"] if code else [])]
        )


def test_plan(call_of: Any, config: Path) -> None:
    function = "benchmark.commands.plan.plan_run"
    found = call_of(function, "plan", config)
    assert found["with_pilot"] is True
    assert (found["context"].jobs, found["context"].download) == (n_processors(), True)
    found = call_of(function, "plan", config, "--no-pilot", "--jobs", 5, "--no-download")
    assert found["with_pilot"] is False
    assert (found["context"].jobs, found["context"].download) == (5, False)
    assert found["experiment"].ids == ("mnb", "complement-nb")


def test_list_and_validate(call_of: Any, config: Path, tmp_path: Path) -> None:
    function = "benchmark.schema.registries.list_components"
    for words, expected in (
        (("--json",), ("", [])),
        (("kernels",), ("kernels", [])),
        (("kernels", "--plugins", tmp_path), ("kernels", [tmp_path])),
    ):
        what, plugins = call_of(function, "list", *words).values()
        assert (what, list(plugins)) == expected
    assert call_of("benchmark.experiment.configuration.load_checked", "validate", config) == {"path": config}


def test_data(call_of: Any, config: Path, tmp_path: Path) -> None:
    function = "benchmark.corpora.registry.locate_corpus"
    found = call_of(function, "data", "fetch", "webkb", "--dest", tmp_path)
    assert (found["name"], found["download"], found["dest"], found["progress"]) == ("webkb", True, tmp_path, True)
    assert found["notify"].keywords == {"err": True}
    assert call_of(function, "data", "fetch", "webkb")["dest"] is None
    assert call_of(function, "data", "verify", "webkb")["download"] is False
    for words, download in (((), True), (("--no-download",), False)):
        found = call_of("benchmark.experiment.counting.read_counts", "data", "stats", config, *words)
        assert found["context"].download == download
    assert call_of("benchmark.experiment.configuration.write_card", "data", "pin", config) == {"path": config}


def test_fit(call_of: Any, config: Path, tmp_path: Path) -> None:
    function, out = "benchmark.model.fitting.fit_and_write", tmp_path / "model"
    found = call_of(function, "fit", config, "--cell", "mnb", "--out", out)
    assert (found["name"], found["folder"]) == ("mnb", out)
    assert found["how"] == {"split": None, "probability": False}
    assert (found["context"].jobs, found["context"].download) == (n_processors(), True)
    options = ("--split", "cornell", "--probability", "-j", 3, "--no-download")
    found = call_of(function, "fit", config, "-c", "mnb", "-o", out, *options)
    assert found["how"] == {"split": "cornell", "probability": True}
    assert (found["context"].jobs, found["context"].download) == (3, False)
    for words, overwrite in (((), False), (("--overwrite",), True)):
        found = call_of(
            "benchmark.model.persistence.check_model_folder_free", "fit", config, "-c", "mnb", "-o", out, *words
        )
        assert found == {"folder": out, "overwrite": overwrite}


def test_predict(call_of: Any, tmp_path: Path, monkeypatch: Any) -> None:
    about, documents = {"documents": 3}, [("a", b"x")]
    model = SimpleNamespace(about=about, answers=lambda *_, **__: None)
    taken: dict[str, Any] = {}
    monkeypatch.setattr("benchmark.model.persistence.read_model", lambda folder: taken.update(folder=folder) or model)
    io = "benchmark.model.prediction_io"
    columns = SimpleNamespace(keep=("k",))
    found = call_of(f"{io}.RecordColumns.of_model", "predict", tmp_path)
    assert {key: found[key] for key in ("text", "id", "encoding", "delimiter", "keep")} == {
        "text": None,
        "id": None,
        "encoding": None,
        "delimiter": None,
        "keep": (),
    }
    assert (about in found.values(), taken) == (True, {"folder": tmp_path})
    options = ("--text", "t", "--text", "u", "--id", "i", "--encoding", "cp1252", "--delimiter", ";", "--keep", "k")
    found = call_of(f"{io}.RecordColumns.of_model", "predict", tmp_path, *options)
    assert (found["text"], found["id"], found["encoding"], found["delimiter"]) == (["t", "u"], "i", "cp1252", ";")
    assert found["keep"] == ["k"]
    assert call_of(f"{io}.RecordColumns.of_model", "predict", tmp_path, "--keep-all")["keep"] is None
    monkeypatch.setattr(f"{io}.RecordColumns.of_model", lambda *_, **__: columns)
    for words, expected in (
        ((), ((), False, False)),
        (("-f", "jsonl", "--only", "label"), (["label"], True, False)),
        (("--format", "csv", "--top-terms", 2), ((), False, True)),
    ):
        found = call_of(f"{io}.form_of_predictions", "predict", tmp_path, *words)
        assert next(iter(found.values())) is model
        assert (list(found.values())[1], found["as_json"], found["with_words"]) == expected
    monkeypatch.setattr(f"{io}.form_of_predictions", lambda *_, **__: "form")
    for words, files in (((), [Path("-")]), (("a.csv", "b.csv"), [Path("a.csv"), Path("b.csv")])):
        found = list(call_of(f"{io}.read_texts", "predict", tmp_path, *words).values())
        assert (list(map(Path, found[0])), found[1] is columns, found[2].names) == (files, True, ("k",))
    monkeypatch.setattr(f"{io}.read_texts", lambda *_: documents)

    def answers(given: Any, *, n_words: int, jobs: int) -> Any:
        assert given is documents
        taken.update(n_words=n_words, jobs=jobs)
        raise SystemExit(STOPPED)

    model.answers = answers
    for words, expected in (((), (0, n_processors())), (("--top-terms", 4, "--jobs", 3), (4, 3))):
        done = CliRunner().invoke(app, [str(word) for word in ("predict", tmp_path, *words)])
        assert (done.exit_code, taken["n_words"], taken["jobs"]) == (STOPPED, *expected)


def test_cache_and_plugin(call_of: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "store"))
    assert call_of("benchmark.cli.cache_commands._confirm", "cache", "clear")["consequence"].endswith(
        "would be removed"
    )
    store = "benchmark.experiment.store.Store.clear"
    assert call_of(store, "cache", "clear", "-y").keys() <= {"self"}
    assert call_of("benchmark.commands.plugin_test.check_file", "plugin", "test", tmp_path) == {"path": tmp_path}


# Words and questions


def test_trust_stands_anywhere_before_the_dashes() -> None:
    assert without_trust(["run", "--trust", "a", "--", "--trust"]) == (["run", "a", "--", "--trust"], True)
    assert without_trust(["run", "a", "--", "--trust"]) == (["run", "a", "--", "--trust"], False)
    assert without_trust([]) == ([], False)


def test_runs_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results" / "runs" / "webkb").mkdir(parents=True)
    (tmp_path / "results" / "runs" / "file").touch()
    assert resolve_run(Path("webkb")) == Path("results/runs/webkb")
    for name, said in (
        ("webk", "no run of this name in results/runs; did you mean 'webkb'?"),
        ("file", "no run of this name in results/runs"),
        ("elsewhere/webkb", "no run of this name in elsewhere"),
        ("results/runs/wekb", "no run of this name in results/runs; did you mean 'webkb'?"),
    ):
        with pytest.raises(ConfigError) as caught:
            resolve_run(Path(name))
        assert str(caught.value).startswith(f"{name}: there is no such folder, and {said}")
    (tmp_path / "webkb").mkdir()
    assert resolve_run(Path("webkb")) == Path("webkb")


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Let a person at a terminal answer; return what was asked, with the defaults."""

    def given(*replies: Any) -> list[Any]:
        left, asked = list(replies), list[Any]()
        monkeypatch.setattr(prompts, "is_interactive", lambda: True)
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)

        def reply(question: str, default: Any = None, *, err: bool = False) -> Any:
            assert err, "standard output has the answers of the command alone"
            asked.append((question, default))
            found = left.pop(0)
            return default if found is ... else found

        monkeypatch.setattr(typer, "prompt", reply)
        monkeypatch.setattr(typer, "confirm", reply)
        return asked

    return given


def test_init_asks_which_split_is_meant(answers: Any) -> None:
    ways = {"date": "one thing", "group": "another"}
    asked = answers("customer", "group")
    assert prompts.ask_split(ways) == "group"
    question = "Split by one of: date, group"
    assert asked == [(question, "date"), (f"There is no way 'customer'. {question}", "date")]
    answers()
    assert prompts.ask_split({"random": "one thing"}) is None


def test_columns_are_asked_for_with_the_proposed_ones(answers: Any) -> None:
    columns: dict[str, list[Any]] = {name: ["", None, name] for name in ("body", "kind", "key", "day")}
    asked = answers(..., "kin", "kind", ..., "-", "-", "day")
    found = prompts.confirm_columns(columns, {"text": "body", "label": "body", "id": "key"}, set())
    assert found == {"text": "body", "label": "kind", "id": "key", "date": "day"}
    assert asked == [
        ("Column of the text", "body"),
        ("Column of the class", "body"),
        ("There is no column 'kin'. Column of the class", "body"),
        ("Column of the documents' names (- for none)", "key"),
        ("Column that says train or test (- for none)", "-"),
        ("Column of the group, such as a customer or an author (- for none)", "-"),
        ("Column of the date (- for none)", "-"),
    ]
    answers(..., ..., "-", "-", ..., "-")
    proposed = {"text": "body", "label": "kind", "id": "key", "split": "day", "group": "day", "date": "day"}
    found = prompts.confirm_columns(columns, proposed, set())
    assert found == {"text": "body", "label": "kind", "group": "day"}, "what is declined is no longer proposed"
    asked = answers(..., ...)
    found = prompts.confirm_columns(columns, proposed, {"text", "label", "id", "split"})
    assert found == proposed
    assert [question.partition(",")[0] for question, _ in asked] == [
        "Column of the group",
        "Column of the date (- for none)",
    ]
    asked = answers("-", "body", "-", "-", "-", "-")
    found = prompts.confirm_columns(columns, {"labels": "kind", "text": "key"}, {"labels"})
    assert found == {"labels": "kind", "text": "body"}
    assert [question for question, _ in asked][:3] == [
        "Column of the text",
        "There is no column '-'. Column of the text",
        "Column of the documents' names (- for none)",
    ]
    assert prompts.confirm_columns({}, {"text": "x"}, set()) == {"text": "x"}, "a folder has no columns"


def test_questions_are_answered_at_a_terminal_or_by_options(answers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answers(True, False, True)
    path = Path("a.csv")
    assert prompts.ask_header(path, "it is long")
    assert not prompts.ask_separator(";", path, "tags", "a;b")
    assert prompts.confirm_code("Do you trust it?")
    assert [question for question, _ in asked] == [
        (
            "a.csv:1: looks like a document and not like the names of columns (it is long). "
            "Does this row name the columns?"
        ),
        "a.csv: the column 'tags' has values such as 'a;b'. May a document have several classes, separated by ;?",
        "Do you trust it?",
    ]
    for replaced in (lambda: monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False), lambda: None):
        replaced()
        with pytest.raises(ConfigError, match=r"\(it is long\): add --header or --no-header$"):
            prompts.ask_header(path, "it is long")
        with pytest.raises(
            ConfigError, match="add --labels tags --separator ';', or --single-label if each is one class"
        ):
            prompts.ask_separator(";", path, "tags", "a;b")
        assert not prompts.confirm_code("Do you trust it?")
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        monkeypatch.setattr(prompts, "is_interactive", lambda: False)
