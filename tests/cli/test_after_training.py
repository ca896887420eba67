"""Commands after a run, typed as a person types them: what they print, what they write, and their exit codes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.commands.cite import cite_run
from tests.builders import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.experiment.run import RunResult

pytestmark = pytest.mark.usefixtures("sketched")
FAILING = {"weighting": "tf", "normalization": "none", "kernel": {"name": "polynomial", "degree": 400}}


def bench(*words: object, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done


def tables(*words: object) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the tables that a command gives as JSON, by title."""
    return {each["title"]: each["rows"] for each in json.loads(bench(*words, "--json").stdout)["tables"]}


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write a configuration into a folder of its own, in which commands work."""
    monkeypatch.chdir(tmp_path)

    def write(name: str = "small", **changes: Any) -> Path:
        path = tmp_path / "configs" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(SMALL | {"name": name} | changes))
        return path

    return write


@pytest.mark.parametrize("fails", [False, True])
def test_reproduce_writes_the_pages_of_all_papers(
    config: Callable[..., Path], publish: Callable[..., str], fails: bool
) -> None:
    value = {"table": 1, "config": "small", "cell": "tf-l1-ngd", "metric": "accuracy", "value": "90.1"}
    paper = {"paper": "a1", "title": "A", "reference": "R.", "unit": "percent", "finding": "It is.", "values": [value]}
    path = config(paper=publish(paper), **({"methods": [*SMALL["methods"], FAILING]} if fails else {}))
    options = ("--page", "pages/ALL.md", "--jobs", 2, "--no-download", "--verbose")
    done = bench("reproduce", "--configs", path.parent, *options, code=int(fails))
    assert re.search(r"pages/ALL\.md: [01] of 1 published results are reproduced\.$", done.stdout.strip())
    assert "tf-l1-ngd · cornell" in done.stderr
    written = sorted(str(each.relative_to("pages")) for each in Path("pages").rglob("*.*"))
    records = ["papers/claims.csv", "papers/comparisons.csv", "papers/values.csv"]
    assert written == ["ALL.md", "papers/a1.md", *records[:2], "papers/deviations.md", records[2]]
    assert Path("results/runs/small/report.html").exists()
    Path("results/runs/small/mine.txt").touch()
    again = bench("reproduce", "--configs", path.parent, "--page", "pages/ALL.md", "--overwrite", code=int(fails))
    assert again.stdout == done.stdout


@pytest.mark.parametrize("fails", [False, True])
def test_survey_writes_its_page(config: Callable[..., Path], fails: bool) -> None:
    first = config("first", **({"methods": [*SMALL["methods"], FAILING]} if fails else {}))
    second = config("second", corpus={"name": "synthetic", "classes": ["student", "course"]})
    Path("docs").mkdir()
    done = bench("survey", "methods", first, second, "--jobs", 2, "--no-download", "-v", code=int(fails))
    assert done.stdout.splitlines()[-1] == f"docs/methods.md: {4 + fails} methods on 2 problems"
    assert "tf-l1-ngd · cornell" in done.stderr
    bench("survey", "methods", first, second, "--page", "mine.md", "--overwrite", code=int(fails))
    assert Path("mine.md").read_text() == Path("docs/methods.md").read_text()
    bench("survey", "ablation", first, "--page", "steps.md", code=2)


def test_explain_shows_as_many_examples_as_asked_for_or_one_document(finished: RunResult) -> None:
    wrong = [title for title in tables("explain", finished.folder, "tf-l1-linear") if "(wrong: " in title]
    assert len(wrong) == 5
    assert len(tables("explain", finished.folder, "tf-l1-linear", "--examples", 2)) == 3 + 2
    name = wrong[0].partition(" (wrong")[0]
    (title, rows), *others = tables("explain", finished.folder, "tf-l1-linear", "--document", name).items()
    assert (title.partition(" (")[0], others) == (name, [])
    assert {"true", "predicted", "text", "decision values"} <= {row["property"] for row in rows}


def test_report_makes_files_and_the_page_with_texts_again(finished: RunResult, tmp_path: Path) -> None:
    folder = shutil.copytree(finished.folder, tmp_path / "run")
    for name in ("table.md", "report.html"):
        (folder / name).unlink()
    assert str(folder) in bench("report", folder).stdout
    assert (folder / "table.md").read_bytes() == (finished.folder / "table.md").read_bytes()
    plain = (folder / "report.html").read_text()
    for words in ((), ("--explain", "tf-l1-linear")):
        assert bench("report", folder, "--html", *words).stdout == f"{folder / 'report.html'}\n"
        assert len((folder / "report.html").read_text()) > len(plain) + 1000
    assert "unknown cell 'x'" in bench("report", folder, "--html", "--explain", "x", code=2).stderr


def test_compare_gives_cells_and_runs_in_numbers(finished: RunResult, tmp_path: Path) -> None:
    found = tables("compare", finished.folder, "tf-l1-ngd", "tf-l1-linear")
    gap = finished.summary.differences.set_index(["a", "b"]).loc[("tf-l1-ngd", "tf-l1-linear")]
    row = found["Scores"][0]
    assert row["difference"] == pytest.approx(100 * gap["value"])
    assert row["95% interval"] == pytest.approx([100 * gap["low"], 100 * gap["high"]])
    one, every = (tables("compare", finished.folder, finished.folder, *words) for words in ((), ("--all",)))
    assert one == every
    assert {row["different"] for row in one["Accuracy"]} == {0}


def test_cite_and_export_write_what_they_say(finished: RunResult, config: Callable[..., Path]) -> None:
    assert bench("cite", finished.folder).stdout == cite_run(finished.folder) + "\n"
    lines = bench("data", "export", config(), "--out", "counts", "--no-download").stdout.splitlines()
    assert [Path(line).name for line in lines] == ["counts.svmlight", "vocabulary.txt", "documents.csv"]
