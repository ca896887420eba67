"""The documents' commands, configurations and code: each works as it is written, and prints what stands below it.

The minutes of the reviewer's guide that a run of all tests has no time for are run with REVIEW_MINUTES=20, or 60, in
the repository itself, where the corpora are at hand.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.feature_extraction.text import CountVectorizer

import benchmark
from benchmark.corpora import registry
from tests.shapes import bench

if TYPE_CHECKING:
    from collections.abc import Callable

REPOSITORY = Path(__file__).parents[2]
#: What the documents show is printed; no picture is among it.
pytestmark = pytest.mark.usefixtures("sketched")
DOCS = REPOSITORY / "docs"
MINUTES = int(os.environ.get("REVIEW_MINUTES", "2"))


def blocks(text: str, *languages: str) -> list[tuple[str, str]]:
    """Language and content of the fenced blocks."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [(language, content) for language, content in found if language in languages]


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    return re.split(r"^## ", read(page).partition(f"\n## {title}\n")[2], flags=re.MULTILINE)[0]


def performed(line: str) -> str:
    """What a command prints: run in this process, the tool and Python alike; `> FILE` writes it."""
    program, *arguments = shlex.split(line, comments=True)
    if ">" in arguments:
        *words, _, target = arguments
        said = performed(shlex.join([program, *words]))
        Path(target).write_text(said, encoding="utf-8")
        return said
    if program == "bench":
        return bench(*arguments).stdout
    assert (program, arguments[0], len(arguments)) == ("python", "-c", 2), line
    exec(arguments[1], {})  # noqa: S102 - the documents' own lines
    return ""


def in_a_shell(line: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "REVIEW_MINUTES": "2"}
    shell = ["bash", "-c", line]
    return subprocess.run(shell, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def follow(text: str, run: Callable[[str], str]) -> int:
    """Run the commands of a text; each line of the block below them has to be in what they print.

    Words in order are enough: tables are as wide as the terminal, and `…` stands for what differs from run to run.
    Gives the number of commands.
    """
    said: list[list[str]] = []
    commands = 0
    for language, content in blocks(text, "sh", "text"):
        if language == "sh":
            lines = content.splitlines()
            said = [printed.split() for line in lines for printed in run(line).splitlines()]
            commands += len(lines)
            continue
        for line in content.splitlines():
            words = [word for word in line.split() if word != "…"]
            assert any(in_order(words, each) for each in said), f"{line!r} is not printed"
    return commands


def in_order(words: list[str], line: list[str]) -> bool:
    rest = iter(line)
    return all(word in rest for word in words)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the configurations to work in."""
    (tmp_path / "configs").symlink_to(REPOSITORY / "configs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "store"))  # a first run, whatever other tests have stored
    return tmp_path


@pytest.mark.slow
def test_the_tutorial(place: Path) -> None:
    assert follow(read("tutorial.md"), performed) == 8
    (shown,) = (yaml.safe_load(content) for _, content in blocks(read("tutorial.md"), "yaml"))
    written = yaml.safe_load((place / "pages.yaml").read_text(encoding="utf-8"))
    assert shown == {key: written[key] for key in shown}


@pytest.mark.slow
def test_your_table_in_two_commands_and_a_check_of_its_numbers_in_three(place: Path) -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert follow(readme.partition("## Your table")[2].partition("\n## ")[0], performed) == 3
    assert follow(section("guide.md", "A check of your own numbers"), performed) == 3
    pinned = place / "pinned" / "pages.csv"
    pinned.write_text(re.sub(r"(mnb,all,accuracy,0)\.\d", r"\1.1", pinned.read_text("utf-8")), encoding="utf-8")
    assert "differs from what is pinned" in bench("check", "pages.yaml", code=1).stdout


@pytest.mark.usefixtures("place")
@pytest.mark.slow
def test_the_reviewers_2_minutes() -> None:
    assert follow(section("reviewing.md", "In 2 minutes"), performed) == 6


@pytest.mark.corpus
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("minutes", [20, 60])
def test_the_reviewers_longer_minutes(minutes: int) -> None:
    if minutes > MINUTES or not all(registry.find_corpus(name) for name in ("webkb", "20ng", "reuters")):
        pytest.skip(f"takes {minutes} minutes, with REVIEW_MINUTES={minutes} and the corpora")
    assert follow(section("reviewing.md", f"In {minutes} minutes"), in_a_shell)


def test_what_is_not_run_compiles_or_is_a_command_that_there_is() -> None:
    """Blocks of Python, and commands: targets exist, and configurations are pinned."""
    for page in DOCS.glob("*.md"):
        for _, code in blocks(read(page.name), "python"):
            compile(code, page.name, "exec")
    targets = re.findall(r"^([\w-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    sections = [section("reviewing.md", f"In {minutes} minutes") for minutes in (20, 60)]
    for line in (
        line for text in (*sections, read("cluster.md")) for _, c in blocks(text, "sh") for line in c.splitlines()
    ):
        program, command, *arguments = line.split()
        if program == "make":
            assert command in targets
        elif program == "bench" and command == "check":
            assert all((REPOSITORY / "results" / "pinned" / f"{name}.csv").exists() for name in arguments)
        elif program == "bench":
            bench(command, *arguments, "--help")
        elif program not in ("pip", "dask", "export"):
            assert (program, command) == ("git", "diff")
            assert all((REPOSITORY / name).exists() for name in arguments if not name.startswith("-"))


@pytest.mark.slow
def test_another_paper_is_two_files_as_the_documents_say(
    place: Path, publish: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config, numbers = (content for _, content in blocks(section("extending.md", "A paper"), "yaml"))
    publish(yaml.safe_load(numbers))
    (place / "sixth.yaml").write_text(config, encoding="utf-8")
    said = performed("bench run sixth.yaml")
    assert any(in_order(["ngd", "93.1"], line.split()) for line in said.splitlines())
    performed("bench published pin-settings sixth.yaml")
    performed("bench run sixth.yaml")


#: Configurations of the documents that name the user's files: page, section, and the number of methods.
SNIPPETS = [
    ("extending.md", "A classifier of any library, by its import path", 5),
    ("extending.md", "A pipeline on raw texts", 6),
    ("extending.md", "Vectors of a language model, or from anywhere", 2),
    ("extending.md", "A sum of several methods", 3),
    ("extending.md", "Predictions that were made elsewhere", 2),
    ("characters.md", "Your own documents", 3),
]


@pytest.fixture
def pages(place: Path) -> pd.DataFrame:
    """Some of the generated pages in a table, and beside it every file that the documents' configurations name."""
    found = benchmark.load("synthetic").groupby("label").head(15).reset_index(drop=True)
    found.to_csv(place / "pages.csv", index=False)
    found[["id", "label"]].to_csv(place / "theirs.csv", index=False)
    vectors = np.random.default_rng(0).normal(size=(len(found), 8))
    pd.DataFrame(vectors, columns=[f"v{i}" for i in range(8)]).assign(id=found["id"]).to_parquet("embeddings.parquet")
    np.save(place / "mine.npy", vectors)
    (place / "ids.txt").write_text("\n".join(found["id"]) + "\n", encoding="utf-8")
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("pages", "users_code_here")
@pytest.mark.parametrize(("page", "title", "n_methods"), SNIPPETS, ids=[title for _, title, _ in SNIPPETS])
def test_configurations_of_the_documents_run(place: Path, page: str, title: str, n_methods: int) -> None:
    found = blocks(section(page, title), "python", "yaml")
    (shown,) = (content for language, content in found if language == "yaml")
    code = "\n".join(content for language, content in found if language == "python")
    (place / "mymodels.py").write_text(code, encoding="utf-8")
    rest = "name: own\ncorpus: {name: files, path: pages.csv, id: id}\nprotocol: {name: k-fold, k: 2}\n"
    (place / "own.yaml").write_text(rest + shown, encoding="utf-8")
    performed("bench --trust run own.yaml")
    assert pd.read_csv("results/runs/own/scores.csv")["cell"].nunique() == n_methods


@pytest.mark.slow
def test_the_guides_lines_of_models_predictions_pandas_and_a_notebook(place: Path, pages: pd.DataFrame) -> None:
    """On the generated corpus in place of 20 Newsgroups and WebKB."""
    (place / "letter.txt").write_text(pages["text"][0], encoding="utf-8")
    pages.rename(columns={"text": "body"}).to_csv("tickets.csv", index=False)
    assert follow(section("guide.md", "A saved model").replace("20ng", "quickstart"), performed) == 2
    assert len(pd.read_csv("answers.csv")) == 1 + len(pages)

    template, screen = blocks(section("guide.md", "Predictions made elsewhere"), "sh")[0][1].splitlines()
    performed(template)
    pd.read_csv("mine.csv").assign(label="sci.space").to_csv("mine.csv", index=False)
    assert "mine" in performed(screen)
    assert (place / "mine-on-20ng" / "report.html").exists()

    performed("bench run quickstart")
    ((_, rows),) = blocks(section("guide.md", "What a run leaves"), "python")
    names: dict[str, Any] = {}
    exec(rows.replace("webkb", "quickstart"), names)  # noqa: S102 - the documents' own lines
    assert set(names["rows"]["cell"]) >= {"tf-l1-ngd"}
    ((_, steps),) = blocks(section("guide.md", "How a number comes about"), "python")
    exec(steps, names)  # noqa: S102
    counts = CountVectorizer().fit_transform(pages["text"])
    assert names["model"].fit(counts, pages["label"]).score(counts, pages["label"]) > 0.5

    (notebook,) = re.findall(r"In a notebook:\n\n```python\n(.*?)```", read("guide.md"), re.DOTALL)
    exec(notebook, names)  # noqa: S102
    assert names["found"].figure().to_dict()["concat"]
    assert (place / "figure.png").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_cell_of_the_notebook_runs_and_shows_something() -> None:
    names: dict[str, Any] = {}
    shown = []
    for cell in json.loads(read("own-method.ipynb"))["cells"]:
        if cell["cell_type"] == "code":
            *before, last = re.split(r"\n(?=\S)(?![)\]}])", cell["source"])
            exec("\n".join(before), names)  # noqa: S102 - our own notebook
            shown.append(eval(last, names))  # noqa: S307
        assert not cell.get("outputs")
    result, tests, figure, predicted, placed = shown
    assert not result.failures
    assert set(result.scores["cell"]) == {"linear", "forest", "both"}
    assert set(tests["a"]) == {"forest", "both"}
    assert "image/svg+xml" in figure._repr_mimebundle_()
    assert set(predicted) <= set(names["tickets"]["queue"])
    assert len(placed.scores)
