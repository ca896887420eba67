"""What a user meets on the way to a run: short names, folders that are in use, what is listed, and exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmark.classifiers import CLASSIFIERS
from benchmark.cli import app
from benchmark.corpora import registry
from benchmark.evaluation.metrics import METRICS
from benchmark.experiment import run as session
from benchmark.system.errors import BenchError, ConfigError, DataError
from tests.processes import files_of

pytestmark = pytest.mark.usefixtures("sketched")

SMALL = """\
name: small
corpus: {name: synthetic}
text: {min_occurrences: 5}
protocol: {name: leave-one-group-out, held_out: [texas]}
methods: [ngd, linear]
compare: [[ngd, linear]]
"""


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(result, *parts, code=2):
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert all(part in result.stderr for part in parts), result.stderr
    assert "Traceback" not in result.stderr


def begun(*args, **kwargs):
    pytest.fail("work was begun")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def here(cache, tmp_path, monkeypatch):
    """A working folder with one configuration."""
    monkeypatch.setenv("BENCH_CACHE", str(cache))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "small.yaml").write_text(SMALL)
    (tmp_path / "configs" / "other.yaml").write_text(SMALL.replace("name: small", "name: other"))
    return tmp_path


@pytest.fixture
def no_work(monkeypatch):
    monkeypatch.setattr(registry, "locate_corpus", begun)


class TestNames:
    def test_a_configuration_and_its_run(self):
        assert invoke("validate", "small").stdout == "configs/small.yaml: good, 2 cells\n"
        assert invoke("run", "small", "other").exit_code == 0
        for words in (["report", "small"], ["compare", "small", "other"], ["compare", "small", "ngd", "linear"]):
            result = invoke(*words)
            assert (result.exit_code, result.stderr) == (0, ""), result.output
        assert invoke("plan", "small", "--no-pilot").stdout.splitlines()[1].split() == ["ngd", "1", "1"]

    def test_a_path_that_exists_goes_first(self, here):
        (here / "small").write_text(SMALL.replace("methods: [ngd", "methods: [mnb, ngd"))
        assert invoke("validate", "small").stdout == "small: good, 3 cells\n"
        shutil.copytree(here / "configs", here / "results" / "runs" / "configs")
        refused(invoke("report", "configs"), "configs: is not the folder of a finished run", code=1)

    @pytest.mark.usefixtures("no_work")
    def test_a_wrong_one_names_the_nearest(self, here):
        refused(
            invoke("run", "smal"),
            "smal: there is no such file, and no configuration of this name here, in configs",
            "'small'?",
        )
        refused(invoke("run", "configs/smal.yaml"), "did you mean 'configs/small.yaml'?")
        (here / "results" / "runs" / "small").mkdir(parents=True)
        refused(invoke("report", "smalll"), "no run of this name in results/runs; did you mean 'small'?")
        refused(invoke("report", "results/runs/smalll"), "no run of this name in results/runs; did you mean 'small'?")
        refused(invoke("compare", "smal", "small"), "did you mean 'small'?")


class TestFolders:
    @pytest.fixture
    def run(self, here):
        """The folder of a finished run."""
        assert invoke("run", "small").exit_code == 0
        return here / "results" / "runs" / "small"

    @pytest.mark.usefixtures("run")
    def test_the_same_experiment_writes_over_its_own(self):
        result = invoke("run", "small")
        assert (result.exit_code, result.stderr) == (0, "")
        *_, last, page, _ = result.stdout.splitlines()
        assert page.rstrip() == "open results/runs/small/report.html"
        assert last.startswith("small: 2 methods, 2 of them from the store; ")
        assert last.endswith("; written to results/runs/small")

    @pytest.mark.parametrize("words", [["run", "other", "--out"], ["check", "other", "--update", "--out"]])
    def test_another_experiment_does_not(self, run, words, monkeypatch):
        before = files_of(run)
        with monkeypatch.context() as patch:
            patch.setattr(session, "run_and_write", begun)
            refused(invoke(*words, run), f"{run}: holds the run of 'small'; name another folder", "--overwrite")
        assert files_of(run) == before

    def test_unless_it_is_told_to(self, run):
        assert invoke("run", "other", "--out", run, "--overwrite").exit_code == 0
        assert json.loads((run / "manifest.json").read_text())["name"] == "other"

    def test_the_second_folder_is_refused_before_the_first_run(self, run, here):
        runs = here / "runs"
        shutil.copytree(run, runs / "other")
        refused(invoke("run", "small", "other", "--out", runs), f"{runs / 'other'}: holds the run of 'small'")
        assert not (runs / "small").exists()

    @pytest.mark.parametrize(
        ("names", "said"),
        [
            (["thesis.tex"], "files that no run wrote (thesis.tex)"),
            (["a", "b", "c", "d"], "files that no run wrote (a, b, c, …)"),
            (["manifest.json"], "files that no run wrote (manifest.json)"),
            (["predictions.parquet", "thesis.tex"], "files that no run wrote (predictions.parquet, thesis.tex)"),
        ],
    )
    @pytest.mark.usefixtures("no_work")
    def test_nor_over_files_of_others(self, here, names, said):
        (here / "mine").mkdir()
        for name in names:
            (here / "mine" / name).write_text('{"short_name": "an app"}')
        refused(invoke("run", "small", "--out", "mine"), f"mine: holds {said}")

    @pytest.mark.parametrize(
        "names", [[], [".gitkeep"], ["predictions.parquet"], ["predictions.parquet", "timings.parquet"]]
    )
    def test_what_is_empty_or_left_by_a_stopped_run_is_free(self, here, names):
        (here / "mine").mkdir()
        for name in names:
            (here / "mine" / name).write_text("x")
        assert invoke("run", "small", "--out", "mine").exit_code == 0

    def test_a_damaged_run_is_run_again(self, run):
        (run / "predictions.parquet").write_bytes(b"PAR1")
        assert invoke("run", "small").exit_code == 0
        assert invoke("report", "small").exit_code == 0

    def test_a_part_stands_beside_the_whole_and_never_in_its_place(self, run, here):
        before = files_of(run)
        assert invoke("run", "small", "--only", "n*").exit_code == 0
        assert files_of(run) == before
        part = here / "results" / "runs" / "small-only"
        assert json.loads((part / "manifest.json").read_text())["only"] == ["n*"]
        refused(invoke("run", "small", "--only", "n*", "--out", run), "holds the whole run")
        refused(invoke("run", "small", "--only", "linear"), "holds the run of n*")
        assert invoke("run", "small", "--only", "n*").exit_code == 0
        assert invoke("run", "small", "--out", part).exit_code == 0


class TestCompare:
    def test_runs_that_share_no_documents(self, here):
        text = SMALL.replace("name: small", "name: apart").replace("[texas]", "[cornell]")
        (here / "configs" / "apart.yaml").write_text(text)
        assert invoke("run", "small", "apart").exit_code == 0
        refused(invoke("compare", "small", "apart"), "results/runs/small and results/runs/apart share no documents")


class TestList:
    def test_every_kind_of_name(self):
        shown = invoke("list").stdout
        kinds = ["datasets", "kernels", "classifiers", "protocols", "diagnostics", "metrics", "weightings"]
        for kind in [*kinds, "normalizations", "digits", "stoplists", "papers"]:
            assert re.search(rf"^{kind}: ", shown, re.MULTILINE)
            assert len(invoke("list", kind).stdout.splitlines()) > 2
        assert max(map(len, shown.splitlines())) <= 80

    @pytest.mark.parametrize(
        ("kind", "names"),
        [
            ("metrics", METRICS),
            ("classifiers", CLASSIFIERS),
            ("stoplists", ["smart", "none"]),
            ("digits", ["drop", "run-length"]),
            ("papers", ["zhang2005"]),
        ],
    )
    def test_names_and_what_they_are(self, kind, names):
        rows = [line.split(maxsplit=1) for line in invoke("list", kind).stdout.splitlines()[2:] if line.strip()]
        found = dict(rows)
        assert set(names) <= set(found)
        assert all(len(found[name].strip()) > 3 for name in names)


class TestSchema:
    def test_is_json(self):
        assert json.loads(invoke("schema").stdout)["$schema"].startswith("https://json-schema.org/")

    def test_and_a_page(self):
        reference = Path(__file__).parents[2] / "docs" / "reference.md"
        assert invoke("schema", "--markdown").stdout == reference.read_text(encoding="utf-8")


class TestExitCodes:
    """The codes that `bench --help` and the README name, and only these."""

    def test_are_those_of_the_errors(self):
        assert [each.exit_code for each in (BenchError, ConfigError, DataError)] == [1, 2, 3]

    @pytest.mark.parametrize("text", ["help", "README"])
    def test_are_documented(self, text):
        readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
        shown = " ".join((invoke("--help").stdout if text == "help" else readme).split())
        assert (
            "Exit codes: 0 success; 1 a cell failed, a pinned number or a prediction of a run changed, or memory, "
            "disk or workers failed;" in shown
        )
        assert "2 a command or configuration is wrong;" in shown
        assert "3 data are missing or damaged; 130 interrupted." in shown

    def test_are_given(self, here):
        (here / "configs" / "wrong.yaml").write_text(SMALL.replace("ngd", "ngb"))
        (here / "configs" / "data.yaml").write_text(SMALL + "expect: {documents: 1}\n")
        degree = "[linear, {normalization: none, kernel: {name: polynomial, degree: 400}}]\n"
        (here / "configs" / "failing.yaml").write_text(SMALL.partition("methods:")[0] + f"methods: {degree}")
        codes = {name: invoke("run", name, "--out", name).exit_code for name in ("small", "failing", "wrong", "data")}
        assert codes == {"small": 0, "failing": 1, "wrong": 2, "data": 3}


def test_the_version():
    result = invoke("--version")
    assert (result.exit_code, result.stdout) == (0, f"bench {version('simplexbench')}\n")


def test_the_shell_is_told_what_can_be_typed():
    environment = {**os.environ, "_BENCH_COMPLETE": "complete_bash", "COMP_WORDS": "bench ca", "COMP_CWORD": "1"}
    code = "import sys; sys.argv[0] = 'bench'; from benchmark.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["cache"], "")
