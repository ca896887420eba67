"""A first configuration: what is proposed fits the file, what is written runs, and nothing is overwritten."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.cli.prompts import confirm_columns
from benchmark.commands import plan as planning
from benchmark.commands.forecast.estimate import LEARNING, RUN_PARTS, Forecast
from benchmark.commands.init import (
    exact_kernel_problem,
    not_a_header_reason,
    propose_columns,
    sample_file,
    write_configuration,
)
from benchmark.commands.plan import Plan
from benchmark.experiment.run import load_checked
from benchmark.system.errors import ConfigError, DataError
from tests.trials.limits import mostly_slow

if TYPE_CHECKING:
    from click.testing import Result

REPOSITORY = Path(__file__).parents[2]
ROWS = [
    {
        "ticket": f"T{n}",
        "subject": f"about {n}",
        "body": f"{queue} {queue} and much more of the {n}th text",
        "queue": queue,
        "tags": f"{queue};urgent",
        "customer": f"C{n % 7}",
        "created": f"2024-{1 + n % 12:02}-{1 + n % 28:02}",
        "side": "train" if n % 4 else "test",
    }
    for n, queue in enumerate(["billing", "login", "shipping"] * 20)
]


def table(path: Path, columns: list[str] | None = None, delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns or list(ROWS[0]), delimiter=delimiter, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(ROWS)
    return path


def written(path: Path, given: dict[str, str] | None = None, **how: Any) -> tuple[dict[str, Any], Path]:
    seen = sample_file(path)
    roles = propose_columns(seen, given or {})
    target = path.with_name("first.yaml")
    write_configuration(seen, roles, target, **{"overwrite": False, "separator": None, "drop": [], **how})
    return yaml.safe_load(target.read_text(encoding="utf-8")), target


def test_columns_are_proposed_by_their_values_and_names(tmp_path: Path) -> None:
    roles = propose_columns(sample_file(table(tmp_path / "a.csv")), {})
    assert roles == {
        "text": "body", "label": "queue", "id": "ticket", "split": "side", "group": "customer", "date": "created"
    }  # fmt: skip


@pytest.mark.parametrize("order", [("what", "shelf"), ("shelf", "what")])
def test_of_columns_without_a_usual_name_the_class_is_the_one_of_the_fewest_values(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    values = {"what": ["rum", "tea", "salt"], "shelf": [f"shelf {n}" for n in range(12)]}
    rows = [
        {"body": f"cask {n} of it", **{name: values[name][n % len(values[name])] for name in order}} for n in range(60)
    ]
    path = tmp_path / "stock.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert propose_columns(sample_file(path), {})["label"] == "what"


def test_what_is_given_is_taken(tmp_path: Path) -> None:
    roles = propose_columns(sample_file(table(tmp_path / "a.csv")), {"text": "subject", "labels": "tags"})
    assert (roles["text"], roles["labels"]) == ("subject", "tags")
    assert "label" not in roles
    with pytest.raises(ConfigError, match="did you mean 'queue'"):
        propose_columns(sample_file(tmp_path / "a.csv"), {"label": "queu"})


PROTOCOLS = [
    (["body", "queue", "side"], {"name": "fixed-split", "train": "train", "test": "test"}),
    (["body", "queue", "created"], {"name": "by-date", "test_share": 0.25}),
    (["body", "queue", "customer"], {"name": "k-fold", "k": 5, "grouped": True}),
    (["body", "queue"], {"name": "k-fold", "k": 5}),
]


@pytest.mark.parametrize(("columns", "protocol"), PROTOCOLS)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_the_protocol_goes_by_what_there_is_and_the_configuration_is_good(
    tmp_path: Path, columns: list[str], protocol: dict[str, Any], delimiter: str
) -> None:
    config, target = written(table(tmp_path / "a.csv", columns, delimiter))
    assert config["protocol"] == protocol
    assert len(load_checked(target).ids) == 6


@pytest.mark.parametrize(("classes", "length", "proposed"), [(24, 40, True), (24, 200, False), (8, 40, False)])
def test_characters_are_proposed_where_classes_are_many_and_texts_short(
    tmp_path: Path, classes: int, length: int, proposed: bool
) -> None:
    rows = [
        {"body": f"{n % classes} " + "word " * (length // 5) + str(n), "queue": f"q{n % classes}"} for n in range(96)
    ]
    path = tmp_path / "short.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    config, target = written(path)
    named = [method["name"] for method in config["methods"] if isinstance(method, dict) and "name" in method]
    assert ("characters" in named, "words-and-characters" in named) == (proposed, proposed)
    assert (["words-and-characters", "tfidf-hellinger"] in config["compare"]) == proposed
    assert len(load_checked(target).ids) == 6 + 2 * proposed


def test_several_classes_and_folders(tmp_path: Path) -> None:
    config, target = written(table(tmp_path / "a.csv"), {"labels": "tags"}, separator=";")
    assert config["corpus"]["separator"] == ";"
    assert load_checked(target).variants["base"].collection.reader.multilabel
    for row in ROWS:
        (tmp_path / "essays" / row["queue"]).mkdir(parents=True, exist_ok=True)
        (tmp_path / "essays" / row["queue"] / row["ticket"]).write_text(row["body"])
    target = write_configuration(
        sample_file(tmp_path / "essays"), {}, tmp_path / "e.yaml", overwrite=False, separator=None, drop=[]
    )
    assert load_checked(target).variants["base"].collection.classes == ("billing", "login", "shipping")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    _, target = written(table(tmp_path / "a.csv"))
    before = target.read_bytes()
    with pytest.raises(ConfigError, match="exists already"):
        written(tmp_path / "a.csv", {"text": "subject"})
    assert target.read_bytes() == before
    written(tmp_path / "a.csv", {"text": "subject"}, overwrite=True)
    assert target.read_bytes() != before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.csv", "no such file or folder"),
        ("empty.csv", "holds no document"),
        ("a.zip", "unknown kind of file '.zip'"),
        ("plain", "unknown kind of file 'plain'"),
    ],
)
def test_what_can_not_be_looked_at_is_said(tmp_path: Path, name: str, said: str) -> None:
    for each in ("empty.csv", "a.zip", "plain"):
        (tmp_path / each).write_bytes(b"" if each == "empty.csv" else b"PK\x03\x04\xd9")
    with pytest.raises(DataError, match=said):
        sample_file(tmp_path / name)


def test_an_encoding_that_there_is_none_of_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown encoding 'utf8x'"):
        sample_file(table(tmp_path / "a.csv"), encoding="utf8x")


def test_nobody_is_asked_where_standard_input_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert confirm_columns(sample_file(table(tmp_path / "a.csv")).columns, {"text": "body"}, set()) == {"text": "body"}


def invoke_init(*arguments: str) -> Result:
    """The command without pilot runs, which take seconds."""
    return CliRunner().invoke(app, ["init", *arguments, "--no-pilot"])


@pytest.mark.usefixtures("forecast_once")
def test_the_command_writes_it_says_what_it_took_and_checks_it(tmp_path: Path) -> None:
    path, target = table(tmp_path / "a.csv"), tmp_path / "own.yaml"
    done = CliRunner().invoke(app, ["init", str(path), "--text", "body", "--label", "queue", "--out", str(target)])
    assert done.exit_code == 0
    assert "text is 'body'" in done.stdout
    assert "6 cells" in done.stdout
    assert yaml.safe_load(target.read_text())["name"] == "own"


@pytest.mark.parametrize(
    ("cpu", "peak", "said"),
    [
        (9400.0, 8.9e10, "2.6 h of processor time and 89 GB, of which 20 GB are free"),
        (60.0, 3e10, "60 s of processor time and 30 GB, of which 20 GB are free"),
        (9400.0, 2e9, "2.6 h of processor time and 2.0 GB"),
        (7100.0, 2e9, None),
    ],
)
def test_an_exact_kernel_is_proposed_only_where_it_can_run(cpu: float, peak: float, said: str | None) -> None:
    parts = dict.fromkeys(RUN_PARTS, 0.0)
    forecast = Forecast(parts, parts | {LEARNING: cpu}, parts | {LEARNING: peak}, 0.0, processors=2)
    problem = exact_kernel_problem(Plan([], [], (0, 1), forecast, free_bytes=2e10))
    if said is None:
        assert problem is None
        return
    assert problem is not None
    assert problem.startswith(f"ngd, an exact kernel, is left out: with it, a run would take about {said}. ")
    assert "tfidf-hellinger is its linear route: linear-svm on square roots" in problem


@pytest.mark.usefixtures("forecast_once")
def test_where_memory_is_short_the_linear_route_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a machine that has less memory than the run takes, the proposal has no kernel, and isn't called for to run."""
    monkeypatch.setattr(planning, "free_memory", lambda: -1e12)
    path, target = table(tmp_path / "a.csv"), tmp_path / "own.yaml"
    done = CliRunner().invoke(app, ["init", str(path), "--text", "body", "--label", "queue", "--out", str(target)])
    assert done.exit_code == 0
    assert "ngd, an exact kernel, is left out" in done.stdout
    assert "Next: bench run" not in done.stdout
    methods = yaml.safe_load(target.read_text())["methods"]
    assert "ngd" not in methods
    assert "tfidf-hellinger" in [each.get("name") for each in methods if isinstance(each, dict)]
    load_checked(target)


DOCUMENTS = [(f"some words {n % 7} of {n}", "ab"[n % 2]) for n in range(60)]


def rows_to(path: Path, *header: str, rows: Any = DOCUMENTS) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([*([header] if header else []), *rows])
    return path


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ((), "'a' occurs again in its column"),
        (("text", "a"), "'a' occurs again in its column"),
        (("one two three four five six seven eight nine", "queue name"), "is a long text"),
        (("remark", "2024-05-31"), "'2024-05-31' is a number or a date"),
        (("remark", "1.5"), "'1.5' is a number or a date"),
        (("Bemerkung", "Kategorie"), None),
        (("2023", "Label"), None),
        (("text", ""), None),
    ],
)
def test_a_first_row_that_looks_like_a_document_is_noticed(
    tmp_path: Path, header: tuple[str, ...], said: str | None
) -> None:
    found = not_a_header_reason(sample_file(rows_to(tmp_path / "t.csv", *header)))
    assert found is None if said is None else said in (found or "")


def test_a_first_row_that_looks_like_a_document_is_refused_without_a_terminal(tmp_path: Path) -> None:
    path, target = rows_to(tmp_path / "t.csv"), tmp_path / "own.yaml"
    done = invoke_init(str(path), "--out", str(target))
    assert (done.exit_code, target.exists()) == (2, False)
    assert re.search(r"t\.csv:1: looks like a document .*'a' occurs again.*: add --header or --no-header", done.output)
    named = ["--text", DOCUMENTS[0][0], "--label", "a"]
    for how in (["--header"], named):
        assert invoke_init(str(path), "--out", str(target), "--overwrite", *how).exit_code == 0


def test_a_table_without_a_header_is_run_by_the_numbers_of_its_columns(tmp_path: Path) -> None:
    path, target = rows_to(tmp_path / "t.csv"), tmp_path / "own.yaml"
    done = invoke_init(str(path), "--no-header", "--out", str(target))
    assert done.exit_code == 0
    corpus = yaml.safe_load(target.read_text())["corpus"]
    assert (corpus["text"], corpus["label"], corpus["header"]) == ("1", "2", False)
    assert len(load_checked(target).variants["base"].collection.reader.outline()) == len(DOCUMENTS)


@pytest.mark.parametrize("mark", mostly_slow(";|,", 1))
def test_classes_that_hold_a_separator_are_asked_about(tmp_path: Path, mark: str) -> None:
    rows = [(text, label if n % 10 else f"a{mark}b") for n, (text, label) in enumerate(DOCUMENTS)]
    path, target = rows_to(tmp_path / "t.csv", "text", "queue", rows=rows), tmp_path / "own.yaml"
    how = [str(path), "--out", str(target)]
    done = invoke_init(*how)
    assert (done.exit_code, target.exists()) == (2, False)
    assert f"t.csv: the column 'queue' has values such as 'a{mark}b'" in done.output
    assert f"--labels queue --separator '{mark}', or --single-label" in done.output
    assert invoke_init(*how, "--single-label").exit_code == 0
    assert yaml.safe_load(target.read_text())["corpus"]["label"] == "queue"
    multilabel = ["--labels", "queue", "--separator", mark, "--overwrite"]
    assert invoke_init(*how, *multilabel).exit_code == 0
    assert load_checked(target).variants["base"].collection.classes == ("a", "b")


def test_a_few_classes_that_hold_a_separator_are_classes(tmp_path: Path) -> None:
    rows = [(text, label if n > 1 else "a;b") for n, (text, label) in enumerate(DOCUMENTS)]
    path = rows_to(tmp_path / "t.csv", "text", "label", rows=rows)
    assert invoke_init(str(path), "--out", str(tmp_path / "own.yaml")).exit_code == 0


@pytest.mark.parametrize("answer", [True, False])
def test_at_a_terminal_the_person_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bool) -> None:
    asked = list[str]()
    monkeypatch.setattr("benchmark.cli.prompts.ask_yes_no", lambda *said: asked.append(said[0]) or answer)
    rows = [(text, f"{label};c") for text, label in DOCUMENTS]
    target = tmp_path / "own.yaml"
    done = invoke_init(str(rows_to(tmp_path / "t.csv", rows=rows)), "--out", str(target))
    assert done.exit_code == 0
    corpus = yaml.safe_load(target.read_text())["corpus"]
    assert len(asked) == 2
    assert ("header" in corpus, "labels" in corpus, corpus.get("separator")) == (
        not answer,
        answer,
        ";" if answer else None,
    )


def test_the_guides_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    guide = (REPOSITORY / "docs" / "guide.md").read_text(encoding="utf-8")
    block = re.search(r"In a notebook:\n\n```python\n(.*?)```", guide, re.DOTALL)
    assert block
    names: dict[str, Any] = {}
    exec(block.group(1), names)  # noqa: S102 - the guide's own lines
    assert names["found"].figure().to_dict()["concat"]
    assert (tmp_path / "figure.png").stat().st_size > 1000
