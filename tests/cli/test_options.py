"""Each option of a command reaches what the command writes or prints, and questions are asked at a terminal alone."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from typer.testing import CliRunner

import benchmark as sb
from benchmark.cli import app, prompts
from benchmark.cli.prompts import without_trust
from benchmark.cli.run import workers_from_options
from benchmark.commands import plan as planning
from benchmark.config.schema import ParallelSection
from benchmark.system.errors import ConfigError
from benchmark.system.threads import n_processors

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("sketched")
CONFIG = """\
name: small
corpus: {name: synthetic}
text: {min_occurrences: 20}
protocol: {name: leave-one-group-out, held_out: [cornell]}
methods: [mnb, complement-nb, linear-svm]
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a configuration, and one with a cell that fails."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(CONFIG)
    failing = "{kernel: {name: polynomial, degree: 400}, weighting: tf, normalization: none}"
    (tmp_path / "failing.yaml").write_text(CONFIG.replace("small", "failing").replace("linear-svm", failing))
    return tmp_path


def invoke(words: str, **options: Any) -> Any:
    return CliRunner().invoke(app, words.split(), **options)


ALL, RESULTS = ["mnb", "complement-nb", "linear-svm"], "results/runs/small"


@pytest.mark.parametrize(
    ("options", "folder", "cells", "threads"),
    [
        ("", RESULTS, ALL, n_processors()),
        ("--out there --jobs 1 --no-download", "there", ALL, 1),
        ("-o there -j 3", "there", ALL, 3),
        ("--only mnb", f"{RESULTS}-only", ["mnb"], n_processors()),
        ("--only linear-svm --only mnb", f"{RESULTS}-only", ["mnb", "linear-svm"], n_processors()),
        ("--only *-nb", f"{RESULTS}-only", ["complement-nb"], n_processors()),
        ("--debug", RESULTS, ALL, 1),
    ],
)
def test_options_of_a_run_are_in_its_folder(
    here: Path, options: str, folder: str, cells: list[str], threads: int
) -> None:
    done = invoke(f"run small.yaml {options}")
    assert done.exit_code == 0, done.output
    manifest = json.loads((here / folder / "manifest.json").read_text())
    assert (list(manifest["cells"]), manifest["machine"]["threads"]) == (cells, threads)


def test_workers_of_the_command_line_replace_those_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    named = list[Any]()

    def start(section: ParallelSection, *_: object) -> None:
        named.append(section)
        raise SystemExit(7)

    monkeypatch.setattr("benchmark.workers.cluster.DaskExecutor", start)
    for options in ("", "--dask local:3", "--dask tcp://host:1 --max-workers 4"):
        assert invoke(f"run workers.yaml {options}").exit_code == 2, "there is no such configuration yet"
    with open("workers.yaml", "w") as file:  # noqa: PTH123
        file.write(f"{CONFIG}\nparallel: {{n_jobs: 5}}\n")
    for options in ("", "--dask local:3", "--dask tcp://host:1 --max-workers 4"):
        assert invoke(f"run workers.yaml {options}").exit_code == 7
    assert named == [
        ParallelSection(n_jobs=5),
        ParallelSection(n_jobs=3),
        ParallelSection(dask_address="tcp://host:1", n_jobs=4),
    ]
    assert workers_from_options(None, None) is None
    with pytest.raises(ConfigError, match="--max-workers limits the workers of --dask: add --dask"):
        workers_from_options(None, 0)


@pytest.mark.parametrize("order", ["failing small", "small failing"])
def test_the_worst_is_the_exit_code_wherever_it_stands(here: Path, order: str) -> None:
    assert invoke(f"run {order} --quiet").exit_code == 1
    (here / "wrong.yaml").write_text(CONFIG.replace("mnb,", "mmb,"))
    files = CONFIG.replace("{name: synthetic}", "{name: files, path: gone.csv}").replace("cornell", "a")
    (here / "gone.yaml").write_text(files)
    names = "gone wrong small" if order == "failing small" else "small wrong gone"
    done = invoke(f"validate {names}")
    assert (done.exit_code, done.stdout) == (3, "small.yaml: good, 3 cells\n")
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["bench", "bench"]


def test_a_plan_times_nothing_if_told_so_and_warns_beside_its_answer(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_CACHE", str(here / "store"))
    done = invoke("plan small --no-pilot --json")
    first, second = json.loads(done.stdout)["tables"]
    assert [row["what"] for row in first["rows"]] == ALL
    assert {row["processor time"] for row in second["rows"]} == {"–"}
    assert invoke("plan small --no-pilot --quiet").stdout.count("\n") == 1
    monkeypatch.setattr(planning, "free_memory", lambda: -1e12)
    done = invoke("plan small --no-pilot --jobs 2")
    assert "GB are free" in done.stderr
    assert "or --jobs 1" in done.stderr


def test_options_of_fit_and_predict_are_in_the_model_and_its_answers(here: Path) -> None:
    done = invoke("fit small -c linear-svm -o one --split cornell --probability -j 1 --no-download")
    assert done.exit_code == 0, done.output
    about = sb.load_model("one").model.about
    assert (about["trained_on"], about["cell"]) == ("cornell", "linear-svm")
    assert invoke("fit small --cell mnb --out one").exit_code == 2, "there is a model already"
    assert invoke("fit small --cell mnb --out one --overwrite").exit_code == 0
    assert sb.load_model("one").model.about["trained_on"] == "all documents"
    (here / "new.csv").write_text("body;key;kind\nstudent homework course exam;k1;x\nresearch professor;k2;y\n")
    options = "--text body --id key --delimiter ; --encoding utf-8 --only decision --keep kind --top-terms 2"
    lines = [json.loads(line) for line in invoke(f"predict one new.csv -f jsonl {options}").stdout.splitlines()]
    assert [(line["id"], line["input"]) for line in lines] == [("k1", {"kind": "x"}), ("k2", {"kind": "y"})]
    assert lines[0].keys() == {"id", "input", "label", "decision", "words"}
    every = invoke("predict one new.csv --text body --delimiter ; --keep-all").stdout.splitlines()
    assert every[0].startswith("id,body,key,kind,label,")
    for wrong in ("--format xml", "--delimiter ;;"):
        assert invoke(f"predict one new.csv {wrong}").exit_code == 2


def test_trust_stands_anywhere_before_the_dashes() -> None:
    assert without_trust(["run", "--trust", "a", "--", "--trust"]) == (["run", "a", "--", "--trust"], True)
    assert without_trust(["run", "a", "--", "--trust"]) == (["run", "a", "--", "--trust"], False)


# Questions


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input and output are those of a person."""
    monkeypatch.setattr(prompts, "is_interactive", lambda: True)
    monkeypatch.setattr(prompts, "sys", SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True)))


def table(here: Path) -> str:
    rows = [f"p{i},word{i % 7} and more {i},{'ab'[i % 2]},2024-01-{1 + i % 28:02},g{i % 6}" for i in range(60)]
    (here / "mine.csv").write_text("\n".join(["key,body,kind,day,who", *rows]) + "\n")
    return "init mine.csv --no-pilot"


@pytest.mark.usefixtures("at_a_terminal")
@pytest.mark.parametrize(
    ("answers", "corpus", "protocol"),
    [
        ("\n\n\n\n\n\n", {"text": "body", "label": "kind", "id": "key", "date": "day"}, "by-date"),
        (
            "\nkin\nkind\n-\n\nwho\nday\nrandom\n",
            {"text": "body", "label": "kind", "group": "who", "date": "day"},
            "k-fold",
        ),
        ("\n\n-\n\n\n-\n", {"text": "body", "label": "kind"}, "k-fold"),
        (
            "\n\n\n\nwho\n\nwho\ngroup\n",
            {"text": "body", "label": "kind", "id": "key", "group": "who", "date": "day"},
            "k-fold",
        ),
    ],
)
def test_columns_and_the_split_are_asked_for_with_the_proposed_ones(
    here: Path, answers: str, corpus: dict[str, str], protocol: str
) -> None:
    """What is declined is no longer proposed, and a column that isn't there is asked for again."""
    done = invoke(table(here), input=answers + "\n")
    assert done.exit_code == 0, done.output
    written = yaml.safe_load((here / "mine.yaml").read_text())
    assert written["corpus"] == {"name": "files", "path": "mine.csv"} | corpus
    assert written["protocol"]["name"] == protocol
    assert "body: 'word0 and more 0'" in done.stderr
    assert ("There is no column 'kin'" in done.stderr) == ("kin\n" in answers)
    assert ("There is no way 'who'" in done.stderr) == ("who\ngroup" in answers)


@pytest.mark.usefixtures("at_a_terminal")
@pytest.mark.parametrize(("answer", "labels"), [("y", True), ("n", False)])
def test_a_person_says_whether_a_text_has_several_classes(here: Path, answer: str, labels: bool) -> None:
    rows = [f"some words {i % 7} of {i},{'ab'[i % 2]};c" for i in range(60)]
    (here / "mine.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    named = "--text text --label label"
    done = invoke(f"init mine.csv --no-pilot {named}", input=f"-\n-\n-\n-\n{answer}\n")
    assert "May a document have several classes, separated by ;?" in done.stderr
    assert ("labels is 'label'" in done.stdout) == labels


@pytest.mark.parametrize("answer", [True, False])
def test_code_is_confirmed_at_a_terminal_alone(
    answer: bool, monkeypatch: pytest.MonkeyPatch, at_a_terminal: None
) -> None:
    monkeypatch.setattr("typer.confirm", lambda *_, **__: answer)
    assert prompts.confirm_code("Do you trust it?") is answer
    monkeypatch.setattr(prompts, "is_interactive", lambda: False)
    assert not prompts.confirm_code("Do you trust it?")
