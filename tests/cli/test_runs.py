"""Every kind of experiment through every command, and each option in what a command writes or prints."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import benchmark as sb
from benchmark.evaluation.predictions import RUN_FILES
from benchmark.system.row_blocks import n_processors
from tests.processes import files_of
from tests.shapes import FAILS, SHAPES, bench, refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.shapes import ShapedRun

pytestmark = pytest.mark.usefixtures("sketched", "users_code_here")
HEADERS = {
    "scores.csv": "cell,fold,metric,value,low,high,n,ties",
    "significance.csv": "a,b,difference,low,high,test,n,statistic,p_value,p_holm,family,note",
}
SMALL = """\
name: small
corpus: {name: synthetic}
text: {min_occurrences: 20}
protocol: {name: leave-one-group-out, held_out: [cornell]}
methods: [mnb, complement-nb, linear-svm]
"""
ALL = ["mnb", "complement-nb", "linear-svm"]


@pytest.fixture(params=sorted(SHAPES))
def done(request: pytest.FixtureRequest, shaped: Callable[[str], ShapedRun]) -> ShapedRun:
    return shaped(request.param)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a configuration."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SMALL)
    return tmp_path


class TestEveryShape:
    def test_leaves_tables_and_figures(self, done: ShapedRun) -> None:
        names = set(files_of(done.folder))
        assert {"manifest.json", "table.md", "table.tex", "report.html", *RUN_FILES, *HEADERS} <= names
        assert names & {"table.csv", "curves.csv"}
        assert len([*done.folder.iterdir()]) <= 12
        assert not [name for name in names if name.startswith(".")]
        pictures = {name.removesuffix(".png") for name in names if name.endswith(".png")}
        assert pictures
        assert {f"{name}.svg" for name in pictures} <= names
        for name, header in HEADERS.items():
            assert (done.folder / name).read_text().partition("\n")[0] == header
        *_, written, page, following = done.result.stdout.splitlines()
        assert written.endswith(f"written to {done.folder}")
        assert page == f"open {done.folder}/report.html"
        assert following.startswith("Next: bench init FILE, for your own documents"), "its corpus is generated"
        assert "\x1b" not in done.result.output, "a pipe gets no bar and no colour"

    def test_is_reported_again_in_the_same_bytes_from_predictions_alone(self, done: ShapedRun, tmp_path: Path) -> None:
        copied = shutil.copytree(done.folder, tmp_path / "run")
        for name in set(files_of(copied)) - {"manifest.json", *RUN_FILES}:
            (copied / name).unlink()
        printed = bench("report", copied).stdout
        assert printed.partition("; written to")[0].split()[:40] == done.result.stdout.split()[:40]
        assert files_of(copied) == files_of(done.folder)

    def test_is_planned_checked_described_and_compared(self, done: ShapedRun, tmp_path: Path) -> None:
        assert bench("validate", done.config).stdout.startswith(f"{done.config}: good, ")
        table, _, sentence = bench("plan", done.config, "--no-pilot").stdout.partition("The store has ")
        lacking = {line.split()[0] for line in table.splitlines() if line.rstrip().endswith("–")}
        assert lacking <= {FAILS, "mine"}, "what can be stored is in the store"
        assert not sentence.startswith("0 ")
        lines = bench("data", "export", done.config, "--out", tmp_path / "counts").stdout.splitlines()
        assert [Path(line).name for line in lines] == ["counts.svmlight", "vocabulary.txt", "documents.csv"]
        assert all(Path(line).stat().st_size for line in lines)
        assert bench("compare", done.folder, done.folder).stdout.endswith("Settings that differ: none\n")
        a, b = pd.read_csv(done.folder / "significance.csv")[["a", "b"]].iloc[0]
        _, scores, *_ = bench("compare", done.folder, a, b).stdout.split("\n\n")
        assert {a, b} <= {*scores.splitlines()[1].split()}


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "folder", "cells", "threads"),
        [
            ("-o there -j 3 --no-download", "there", ALL, 3),
            ("--only linear-svm --only mnb --jobs 1", "results/runs/small-only", ["mnb", "linear-svm"], 1),
            ("--only *-nb", "results/runs/small-only", ["complement-nb"], n_processors()),
            ("--debug", "results/runs/small", ALL, 1),
        ],
    )
    def test_of_a_run_are_in_its_folder(
        self, here: Path, options: str, folder: str, cells: list[str], threads: int
    ) -> None:
        bench("run", "small.yaml", *options.split())
        manifest = json.loads((here / folder / "manifest.json").read_text())
        assert (list(manifest["cells"]), manifest["machine"]["threads"]) == (cells, threads)

    def test_of_printing(self, here: Path) -> None:
        steps = bench("run", "small", "--verbose", "--jobs", 1, "--overwrite").stderr
        assert [line.split(" s  ")[1] for line in steps.splitlines()] == [f"{cell} · cornell" for cell in ALL]
        (line,) = bench("run", "small", "--quiet").stdout.splitlines()
        quiet = (
            r"small: 3 methods, 3 of them from the store; \d+\.\d s, \d\.\d GB at most; written to results/runs/small"
        )
        assert re.fullmatch(quiet, line)
        (here / "other.yaml").write_text(SMALL.replace("small", "other"))
        told = bench("run", "small", "other", "--out", "runs").stderr.splitlines()
        assert [(line.partition(": ")[0], line[-8:]) for line in told] == [("small", "(1 of 2)"), ("other", "(2 of 2)")]
        assert sorted(path.name for path in (here / "runs").iterdir()) == ["other", "small"]

    def test_of_fit_and_predict_are_in_the_model_and_its_answers(self, here: Path) -> None:
        words = "-c linear-svm -o one --split cornell --probability -j 1 --no-download"
        bench("fit", "small", *words.split())
        about = sb.load_model("one").about
        assert (about["trained_on"], about["cell"]) == ("cornell", "linear-svm")
        refused("fit", "small", "--cell", "mnb", "--out", "one", said="--overwrite")
        (here / "new.csv").write_text("body;key;kind\nstudent homework course exam;k1;x\nresearch professor;k2;y\n")
        options = "-f jsonl --text body --id key --delimiter ; --encoding utf-8 --top-terms 2"
        lines = [json.loads(line) for line in bench("predict", "one", "new.csv", *options.split()).stdout.splitlines()]
        assert [line["id"] for line in lines] == ["k1", "k2"]
        assert {key.partition(" ")[0] for key in lines[0]} == {"id", "label", "decision", "probability", "words"}

    def test_of_a_comparison(self, shaped: Callable[[str], ShapedRun], here: Path) -> None:
        folder = shaped("table").folder
        scores = pd.read_csv(folder / "scores.csv").query("fold == 'all' and metric == 'accuracy'").set_index("cell")
        ngd, linear = (100 * scores["value"][cell] for cell in ("tf-l1-ngd", "tf-l1-linear"))
        printed = bench("compare", folder, "tf-l1-ngd", "tf-l1-linear").stdout
        assert printed.startswith("The ngd kernel is better than the linear kernel on the generated corpus: ")
        row = rf"^accuracy % +{ngd:.2f} +{linear:.2f} +\+{ngd - linear:.2f} +\[\+"
        assert re.search(row, printed, re.MULTILINE)
        for test in ("exact sign test", "McNemar's exact test", "Wilcoxon's signed rank test"):
            assert re.search(rf"^{test} +\d", printed, re.MULTILINE)
        (here / "other.yaml").write_text(SHAPES["table"].replace("methods:", "defaults: {svm: {C: 0.01}}\nmethods:"))
        bench("run", "other", "--out", "other")
        few = bench("compare", folder, "other").stdout
        assert re.match(r"[12] of 3 common cells agree in every prediction\.\n", few)
        assert re.search(r"^config\.defaults\.svm\.C +absent +0\.01 *$", few, re.MULTILINE)

    def test_of_an_explanation(self, shaped: Callable[[str], ShapedRun], tmp_path: Path) -> None:
        folder = shaped("table").folder
        shown = bench("explain", folder, "tf-l1-linear", "--examples", 2).stdout
        wrong = re.findall(r"^(.+) \(one of", shown, re.MULTILINE)
        assert len(wrong) == 2
        assert bench("explain", folder, "tf-l1-linear", "--document", wrong[0]).stdout.startswith(wrong[0])
        copied = shutil.copytree(folder, tmp_path / "run")
        assert bench("report", copied, "--html").stdout == f"{copied / 'report.html'}\n"
        assert len((copied / "report.html").read_text()) > len((folder / "report.html").read_text()) + 1000


def test_a_cell_that_fails_is_shown_and_the_others_have_their_numbers(
    shaped: Callable[[str], ShapedRun], here: Path
) -> None:
    done, reason = shaped("failing"), "gives values that are not finite numbers"
    assert re.search(rf"^{FAILS}: failed: cornell: .*{reason}$", done.result.stdout, re.MULTILINE)
    assert re.search(rf"^{FAILS} failed: cornell: .*{reason}$", done.result.stderr, re.MULTILINE)
    assert reason in (done.folder / "table.md").read_text()
    assert reason in json.loads((done.folder / "manifest.json").read_text())["failures"][FAILS]
    assert set(pd.read_csv(done.folder / "scores.csv")["cell"]) == {"mnb", "linear-svm"}
    refused("compare", done.folder, "mnb", FAILS, said=(f"bench: the cell '{FAILS}' failed: cornell: ", reason))
    for order in ((done.config, "small"), ("small", done.config)):
        bench("run", *order, "--quiet", code=1)


def test_the_worst_is_the_exit_code_wherever_it_stands(here: Path) -> None:
    (here / "wrong.yaml").write_text(SMALL.replace("mnb,", "mmb,"))
    gone = SMALL.replace("{name: synthetic}", "{name: files, path: gone.csv}").replace("cornell", "a")
    (here / "gone.yaml").write_text(gone)
    for names in (("gone", "wrong", "small"), ("small", "wrong", "gone")):
        done = bench("validate", *names, code=3)
        assert done.stdout == "small.yaml: good, 3 cells\n"
        assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["bench", "bench"]


def test_a_page_of_papers_and_one_of_corpora(here: Path, publish: Callable[..., str]) -> None:
    value = {"table": 1, "config": "small", "cell": "mnb", "metric": "accuracy", "value": "90.1"}
    paper = {"paper": "a1", "title": "A", "reference": "R.", "unit": "percent", "finding": "It is.", "values": [value]}
    (here / "mine").mkdir()
    (here / "mine" / "small.yaml").write_text(f"{SMALL}paper: {publish(paper)}\n")
    done = bench("reproduce", "--configs", "mine", *["--jobs", "2", "--no-download"])
    assert re.search(r"results/REPRODUCTION\.md: [01] of 1 published results are reproduced\.$", done.stdout.strip())
    papers = ["a1.md", "claims.csv", "comparisons.csv", "coverage.md", "deviations.md", "values.csv"]
    assert sorted(path.name for path in (here / "results" / "papers").iterdir()) == papers
    (here / "second.yaml").write_text(SMALL.replace("small", "second").replace("cornell", "texas"))
    page = bench("survey", "methods", "small", "second", "--page", "pages/mine.md").stdout
    assert page.splitlines()[-1] == "pages/mine.md: 3 methods on 2 problems"
    assert "linear-svm" in (here / "pages" / "mine.md").read_text()
    bench("survey", "ablation", "small", "--page", "steps.md", code=2)
