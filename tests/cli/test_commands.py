from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from benchmark.analysis.summarize import summarize as summary_of
from benchmark.cli import app
from benchmark.cli import prompts as questions
from benchmark.cli.options import PANELS
from benchmark.commands import check as pinned
from benchmark.commands import run_all
from benchmark.config.model import BASE_VARIANT
from benchmark.corpora import download, registry
from benchmark.evaluation.predictions import RUN_FILES
from benchmark.experiment.run_folder import read_run
from tests.processes import Process, files_of

CONFIGS = Path(__file__).parents[2] / "configs"
QUICKSTART = CONFIGS / "quickstart.yaml"

#: Two cells of the quickstart; the second has a tie or two.
SMALL = """\
name: small
corpus: {name: synthetic}
text: {skip_header: true, skip_html: true, stoplist: none, min_occurrences: 2, digits: run-length}
protocol: {name: leave-one-group-out, held_out: [cornell, texas]}
methods:
  - {weighting: tf, normalization: l1, kernel: ngd}
  - {weighting: tf, normalization: l2, kernel: linear}
compare: [[tf-l1-ngd, tf-l2-linear]]
"""
FAILING = SMALL.replace("small", "failing").replace(
    "compare:", "  - {weighting: tf, normalization: none, kernel: {name: polynomial, degree: 400}}\ncompare:"
)
HEADERS = {
    "scores.csv": "cell,fold,metric,value,low,high,n,ties",
    "significance.csv": "a,b,difference,low,high,test,n,statistic,p_value,p_holm,family,note",
}
FILES = {
    "table.md",
    "table.csv",
    "table.tex",
    "figures/figure.png",
    "figures/figure.svg",
    "report.html",
    "manifest.json",
    *RUN_FILES,
    *HEADERS,
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache, monkeypatch):
    """One store for this module, no variable of the user's, and no colour but for terminals."""
    monkeypatch.setenv("BENCH_CACHE", str(cache))
    for name in ("BENCH_CACHE_LIMIT_GB", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def program(*arguments, **options):
    """The command in a process of its own, its output in pipes."""
    command = [sys.executable, "-m", "benchmark.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


def refused(result, code, *parts):
    """Nothing on standard output, and all parts in one message on standard error."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    for part in parts:
        assert part in result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.fixture
def write(tmp_path):
    def write(text, name="config.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def no_work(monkeypatch):
    """What is refused is refused before a corpus is even looked for."""

    def looked(*args, **kwargs):
        pytest.fail("work was begun")

    monkeypatch.setattr(registry, "locate_corpus", looked)


@pytest.fixture(scope="module")
def finished(cache, tmp_path_factory):
    """A small run: its configuration, its folder, and what was said."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "small.yaml").write_text(SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_CACHE", str(cache))
        result = invoke("run", folder / "small.yaml", "--out", folder / "run")
    assert result.exit_code == 0, result.output
    return folder / "small.yaml", folder / "run", result


@pytest.fixture
def copied(finished, tmp_path):
    return Path(shutil.copytree(finished[1], tmp_path / "copied"))


def commands(command=None, path=()):
    """Every command and group with the words that call it."""
    command = command or typer.main.get_command(app)
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))


EVERY = [pytest.param(path, command, id=" ".join(("bench", *path))) for path, command in commands()]


#: What neither a list of components nor a check of a configuration needs.
HEAVY = (
    "numba statsmodels altair jinja2 skops rich pyarrow.parquet sklearn.naive_bayes "
    "benchmark.analysis.summarize benchmark.experiment.run"
)


class TestHelp:
    @pytest.mark.parametrize(("path", "command"), EVERY)
    def test_shows_what_it_does_and_an_example(self, path, command):
        result = invoke(*path, "--help")
        shown = " ".join(result.stdout.split())
        assert result.exit_code == 0
        assert " ".join(command.help.split()) in shown
        assert re.search(r"(Examples?|Start with): bench", shown)
        assert "[[" not in shown

    def test_every_command_is_in_a_panel(self):
        shown = invoke("--help").stdout
        panels = [panel for panel in PANELS if f"\n{panel}:\n" in shown]
        assert panels == list(PANELS)
        assert "\nCommands:\n" not in shown

    @pytest.mark.parametrize(("path", "command"), EVERY)
    def test_every_example_can_be_typed(self, path, command):
        (examples,) = re.findall(r"(?:Examples?|Start with): (.+)", f"{command.help}\n{command.epilog}")
        for example in examples.split(" · "):
            words = shlex.split(example)[1:]
            each = typer.main.get_command(app)
            while hasattr(each, "commands"):
                each = each.commands[words.pop(0)]
            each.make_context("bench", words)  # refuses what it can't parse
            assert not path or example.startswith(" ".join(("bench", *path)))

    @pytest.mark.parametrize(
        ("words", "heavy"),
        [
            ("--help", "numpy sklearn pydantic yaml rich"),
            ("list", HEAVY),
            (
                "validate webkb",
                HEAVY,
            ),
        ],
    )
    def test_what_computes_nothing_imports_nothing_heavy(self, words, heavy):
        """Help within 0.4 s of processor, the others within 0.5 s more than `import sklearn.base` takes."""
        code = (
            f"import sys; sys.argv = ['bench', *'{words}'.split()]\n"
            "from benchmark.cli import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            f"sys.exit(','.join(name for name in '{heavy}'.split() if name in sys.modules) or 0)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")

    def test_no_command_is_a_question_for_help(self):
        assert invoke().exit_code == 2
        assert "Usage: bench" in invoke().output


@pytest.mark.usefixtures("sketched")
class TestRun:
    def test_it_leaves_all_files_and_nothing_else(self, finished):
        assert files_of(finished[1]).keys() == FILES

    def test_it_prints_its_table_and_where_the_rest_is(self, finished):
        for cell in ("tf-l1-ngd", "tf-l2-linear"):
            assert re.search(rf"^{cell}( ★)? +\d\d\.\d\d +\[", finished[2].stdout, re.MULTILINE)
        assert "\x1b" not in finished[2].stdout
        *_, written, page, following = finished[2].stdout.splitlines()
        assert written.endswith(f"written to {finished[1]}")
        assert (page, following) == (f"open {finished[1]}/report.html", "Next: bench init FILE, for your own documents")

    def test_tables_have_the_columns_that_others_rely_on(self, finished):
        for name, header in HEADERS.items():
            found = (finished[1] / name).read_text().splitlines()[0]
            assert found == header
        scores = pd.read_csv(finished[1] / "scores.csv")
        assert set(scores["cell"]) == {"tf-l1-ngd", "tf-l2-linear"}
        assert set(scores["fold"]) == {"cornell", "texas", "all"}
        assert ((scores["low"] <= scores["value"]) & (scores["value"] <= scores["high"])).all()

    def test_the_manifest_says_what_was_run(self, finished):
        manifest = json.loads((finished[1] / "manifest.json").read_text())
        assert manifest["config"]["name"] == "small"
        assert manifest["failures"] == {}
        facts = manifest["variants"][BASE_VARIANT]
        assert facts["content_digest"] == registry.dataset_card("synthetic").digest
        assert (facts["documents"], facts["classes"]) == (600, ["course", "faculty", "project", "student"])

    def test_a_pipe_gets_no_bar_and_no_colour(self, finished):
        assert finished[2].stderr == ""
        assert "\x1b" not in finished[2].stdout

    def test_verbose_tells_every_step(self, finished, tmp_path):
        result = invoke("run", finished[0], "--out", tmp_path / "run", "--verbose", "--jobs", 1)
        steps = re.findall(r"^ *[\d.]+ s  (\S+) · (\S+)$", result.stderr, re.MULTILINE)
        assert sorted(steps) == sorted((c, f) for c in ("tf-l1-ngd", "tf-l2-linear") for f in ("cornell", "texas"))

    def test_results_stand_below_the_working_folder_unless_told(self, finished, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert invoke("run", finished[0]).exit_code == 0
        assert (tmp_path / "results" / "runs" / "small" / "table.md").exists()

    def test_several_configurations_have_a_folder_each(self, finished, write, tmp_path):
        other = write(SMALL.replace("small", "other"))
        result = invoke("run", finished[0], other, "--out", tmp_path / "runs")
        assert result.exit_code == 0
        assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["other", "small"]

    @pytest.mark.usefixtures("no_work")
    def test_two_of_one_name_are_refused_before_one_overwrites_the_other(self, finished, write, tmp_path):
        result = invoke("run", finished[0], write(SMALL), "--out", tmp_path / "runs")
        refused(result, 2, "bench: two of these configurations are named 'small'")

    @pytest.mark.usefixtures("no_work")
    def test_a_wrong_second_configuration_is_refused_before_the_first_is_run(self, finished, write, tmp_path):
        result = invoke("run", finished[0], write(SMALL.replace("ngd", "ngb")), "--out", tmp_path / "runs")
        refused(result, 2, "unknown kernel 'ngb'")
        assert not (tmp_path / "runs").exists()

    @pytest.mark.usefixtures("no_work")
    def test_a_folder_that_cannot_be_written_is_refused_before_the_work(self, finished, tmp_path):
        (tmp_path / "file").write_text("in the way")
        result = invoke("run", finished[0], "--out", tmp_path / "file" / "run")
        refused(result, 1, f"can't write results to {tmp_path / 'file' / 'run'}: Not a directory.", "another folder")

    def test_a_cell_that_fails_is_shown_and_the_others_have_their_numbers(self, write, tmp_path):
        result = invoke("run", write(FAILING), "--out", tmp_path / "run")
        cell, reason = "tf-none-polynomial-degree400", "gives values that are not finite numbers"
        assert result.exit_code == 1
        assert re.search(rf"^{cell} +–.*failed", result.stdout, re.MULTILINE)
        assert re.search(rf"^{cell}: failed: cornell: .*{reason}$", result.stdout, re.MULTILINE)
        assert re.search(rf"^{cell} failed: cornell: .*{reason}$", result.stderr, re.MULTILINE)
        assert reason in (tmp_path / "run" / "table.md").read_text()
        assert reason in json.loads((tmp_path / "run" / "manifest.json").read_text())["failures"][cell]
        assert set(pd.read_csv(tmp_path / "run" / "scores.csv")["cell"]) == {"tf-l1-ngd", "tf-l2-linear"}
        again = invoke("compare", tmp_path / "run", "tf-l1-ngd", cell)
        refused(again, 2, f"bench: the cell '{cell}' failed: cornell: ", reason)
        assert invoke("report", tmp_path / "run").exit_code == 0

    def test_data_that_a_configuration_does_not_expect_are_not_scored(self, write, tmp_path):
        result = invoke("run", write(SMALL + "expect: {documents: 599}\n"), "--out", tmp_path / "run")
        refused(result, 3, "expects 599 documents, but there are 600")
        assert not list((tmp_path / "run").iterdir())

    def test_a_document_that_is_not_there_cannot_be_left_out(self, write, tmp_path):
        text = SMALL.replace("{name: synthetic}", "{name: synthetic, exclude: [course/x]}")
        refused(invoke("run", write(text), "--out", tmp_path / "run"), 2, "has no document 'course/x'")

    def test_an_error_of_ours_keeps_its_traceback(self, finished, tmp_path, monkeypatch):
        def broken(*args, **kwargs):
            raise RuntimeError("ours")

        monkeypatch.setattr(run_all, "run_and_write", broken)
        result = invoke("run", finished[0], "--out", tmp_path / "run")
        assert isinstance(result.exception, RuntimeError)

    def test_ctrl_c_stops_it_and_keeps_what_was_computed(self, write, tmp_path):
        sizes = [1.01 + i / 100 for i in range(200)]
        cells = f"  - {{weighting: tf, normalization: l2, kernel: linear, classifier: {{C: {sizes}}}}}\ncompare"
        config = write(SMALL.replace("compare", cells))
        arguments = ("run", str(config), "--out", str(tmp_path / "run"), "-v")
        with Process(*arguments, variables={"BENCH_CACHE": str(tmp_path / "cache")}) as process:
            assert " s  " in process.stderr.readline()
            process.send_signal(signal.SIGINT)
            code, said, complaint = process.finish()
        assert (code, said) == (130, "")
        last = complaint.splitlines()[-1]
        assert last == "bench: interrupted; results so far are stored, and the same command continues from there"
        assert "Traceback" not in complaint
        assert not list((tmp_path / "run").iterdir())
        assert len(list((tmp_path / "cache").glob("??/*"))) >= 2


class TestMistakes:
    """Each exits with 2, says what is wrong in a line, and shows no traceback."""

    @pytest.mark.usefixtures("no_work")
    def test_the_message_is_all_that_is_said(self, write):
        path = write(SMALL.replace("l1, kernel: ngd", "l2, kernel: ngd"))
        result = invoke("run", path, "--out", path.parent / "run")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == (
            f"bench: {path}:6: the kernel 'ngd' needs the normalization l1, not 'l2': it is defined on the simplex\n"
        )
        assert not (path.parent / "run").exists()

    @pytest.mark.parametrize("command", [["run"], ["validate"], ["plan"], ["check"], ["data", "stats"]])
    @pytest.mark.usefixtures("no_work")
    def test_a_configuration_that_is_not_there(self, command, write):
        path = write(SMALL)
        wrong = path.with_name("confg.yaml")
        refused(invoke(*command, wrong), 2, f"bench: {wrong}: can't be read: No such file", f"did you mean '{path}'?")

    @pytest.mark.usefixtures("no_work")
    def test_a_folder_instead_of_a_configuration(self):
        refused(
            invoke("run", CONFIGS),
            2,
            f"{CONFIGS}: holds no run (manifest.json is missing)",
            "name a configuration, or the folder of a finished run",
        )

    @pytest.mark.usefixtures("no_work")
    def test_an_empty_configuration(self, write):
        refused(invoke("run", write("")), 2, "is empty; it must be a mapping of keys such as name, corpus and methods")

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["frobnicate"], "No such command 'frobnicate'"),
            (["run"], "Missing argument 'CONFIG'"),
            (["run", QUICKSTART, "--jobs", "-1"], "--jobs"),
            (["run", QUICKSTART, "--ouut", "x"], "--ouut"),
            (["data", "export", QUICKSTART], "Missing option '--out'"),
        ],
    )
    @pytest.mark.usefixtures("no_work")
    def test_what_cannot_be_parsed(self, arguments, said):
        result = invoke(*arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert said in result.stderr

    def test_names_that_nothing_has(self, finished):
        refused(invoke("list", "kernel"), 2, "unknown list 'kernel'; did you mean 'kernels'?")
        refused(invoke("data", "fetch", "webbk"), 2, "'webbk'", "'webkb'")
        refused(invoke("data", "verify", "webbk"), 2, "'webbk'", "'webkb'")
        refused(invoke("compare", finished[1], "tf-l1-ngd", "tf-l2-liner"), 2, "did you mean 'tf-l2-linear'?")

    def test_a_folder_that_holds_no_run(self, finished, tmp_path):
        for command in (["report", tmp_path], ["compare", tmp_path, "a", "b"], ["compare", finished[1], tmp_path]):
            refused(
                invoke(*command), 1, f"bench: {tmp_path}: is not the folder of a finished run (manifest.json is miss"
            )


class TestValidate:
    def test_good_ones(self):
        paths = sorted(CONFIGS.glob("*.yaml"))
        result = invoke("validate", *paths)
        assert (result.exit_code, result.stderr) == (0, "")
        assert [line.split(": ")[0] for line in result.stdout.splitlines()] == [str(path) for path in paths]
        assert f"{QUICKSTART}: good, 10 cells\n" in result.stdout

    @pytest.mark.usefixtures("no_work")
    def test_every_wrong_one_is_told(self, write):
        wrong = [write(SMALL.replace("ngd", "ngb"), "a.yaml"), write(SMALL.replace("small", "a/b"), "b.yaml")]
        result = invoke("validate", wrong[0], QUICKSTART, wrong[1])
        assert result.exit_code == 2
        assert result.stdout == f"{QUICKSTART}: good, 10 cells\n"
        assert [line.split(": ")[1] for line in result.stderr.splitlines()] == [f"{wrong[0]}:6", f"{wrong[1]}:1"]


@pytest.mark.usefixtures("sketched")
class TestPlan:
    def rows(self, *arguments):
        result = invoke("plan", "--no-pilot", *arguments)
        assert (result.exit_code, result.stderr) == (0, "")
        header, *lines = result.stdout.split("\n\n")[0].splitlines()
        assert header.split() == ["what", "entries", "in", "the", "store"]
        return [line.split() for line in lines]

    def test_before_and_after_a_run(self, write, tmp_path, monkeypatch):
        monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
        config = write(SMALL)
        assert self.rows(config) == [["tf-l1-ngd", "2", "0"], ["tf-l2-linear", "2", "0"]]
        said = invoke("plan", config).stdout
        assert "\ncomputed together" in said
        assert re.search(
            r"^Training and predicting take about [\d.]+ s of processor time and .+ GB, ", said, re.MULTILINE
        )
        assert invoke("run", config, "--out", tmp_path / "run").exit_code == 0
        assert self.rows(config) == [["tf-l1-ngd", "2", "2"], ["tf-l2-linear", "2", "2"]]
        assert invoke("plan", config).stdout.endswith("\nThe store has every result.\n")


@pytest.mark.usefixtures("sketched")
class TestCompare:
    def test_two_cells(self, finished):
        result = invoke("compare", finished[1], "tf-l1-ngd", "tf-l2-linear")
        assert (result.exit_code, result.stderr) == (0, "")
        assert re.search(
            r"^accuracy % +\d\d\.\d\d +\d\d\.\d\d +\+\d+\.\d\d +\[\+\d+\.\d\d, \+", result.stdout, re.MULTILINE
        )
        assert re.match(r"The NGD kernel beats the linear kernel on the generated corpus by \d+", result.stdout)
        for test in ("exact sign test", "McNemar's exact test", "Wilcoxon's signed rank test"):
            assert re.search(rf"^{test} +\d", result.stdout, re.MULTILINE)
        assert not re.search(r"\b(nan|None|mcnemar|macro-f1)\b", result.stdout)

    def test_two_runs_answer_first(self, finished, write, tmp_path):
        other = write(SMALL.replace("methods:", "defaults: {classifier: {name: svm, C: 0.01}}\nmethods:"))
        assert invoke("run", other, "--out", tmp_path / "other").exit_code == 0
        result = invoke("compare", finished[1], tmp_path / "other")
        assert (result.exit_code, result.stderr) == (0, "")
        assert re.search(r"^methods\.base\.tf-l1-ngd\.classifier\.C +1\.0 +0\.01 *$", result.stdout, re.MULTILINE)
        assert re.match(r"[01] of 2 common cells agree in every prediction; ", result.stdout)
        assert result.stdout.index("Accuracy") < result.stdout.index("Settings that differ")
        assert len(result.stdout.splitlines()) < len(
            invoke("compare", finished[1], tmp_path / "other", "--all").stdout.splitlines()
        )
        assert re.search(
            r"^tf-l2-linear +\d\d\.\d\d +\d\d\.\d\d +[+−]\d+\.\d\d +126 +\d+ *$", result.stdout, re.MULTILINE
        )

    def test_a_cell_alone_or_twice_is_told_apart(self, finished):
        refused(invoke("compare", finished[1], "tf-l1-ngd"), 2, "'tf-l1-ngd' is a cell of", "name another one")
        result = invoke("compare", finished[1], "tf-l1-ngd", "tf-l1-ngd")
        refused(result, 2, "a comparison names two different cells, not 'tf-l1-ngd' twice")


class TestReport:
    @pytest.mark.usefixtures("no_work")
    def test_gives_the_same_bytes_again_from_predictions_alone(self, copied):
        before = files_of(copied)
        for name in set(before) - {*RUN_FILES, "manifest.json"}:
            (copied / name).unlink()
        result = invoke("report", copied)
        assert (result.exit_code, result.stderr) == (0, "")
        assert files_of(copied) == before

    def test_prints_what_the_run_printed(self, finished, copied):
        table = finished[2].stdout.split("\nsmall: 2 methods")[0]
        assert "tf-l1-ngd" in table
        assert invoke("report", copied).stdout.startswith(table)

    @pytest.mark.parametrize("name", [*RUN_FILES, "manifest.json"])
    def test_damaged_files_give_no_table(self, copied, name):
        content = (copied / name).read_bytes()
        (copied / name).write_bytes(content[: len(content) // 2])
        said = refused(invoke("report", copied), 3, "run the configuration again")
        assert re.search(rf"{name}: (can't be read|is damaged)", said)


class TestData:
    def test_list(self):
        result = invoke("data", "list")
        assert result.exit_code == 0
        assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == registry.corpus_names()
        assert re.search(r"^synthetic +600 +4 .* generated by code *$", result.stdout, re.MULTILINE)

    def test_verify(self):
        result = invoke("data", "verify", "synthetic")
        digest = registry.dataset_card("synthetic").digest
        assert result.stdout == f"synthetic: as its card says, 600 documents, content digest {digest}\n"

    def test_fetch_of_what_is_here_downloads_nothing(self):
        assert invoke("data", "fetch", "synthetic").stdout.startswith("synthetic: generated by code, 600 documents, ")

    def test_stats(self):
        result = invoke("data", "stats", QUICKSTART)
        assert (result.exit_code, result.stderr) == (0, "")
        assert re.search(r"^course +14 +72 +12 +20 +22 +140 *$", result.stdout, re.MULTILINE)
        assert re.search(r"^documents +600 *$", result.stdout, re.MULTILINE)
        assert re.search(r"^vocabulary +1,618 *$", result.stdout, re.MULTILINE)

    def test_a_damaged_archive_is_told_in_a_process_of_its_own(self, tmp_path):
        (tmp_path / "webkb-data.tar.gz").write_bytes(gzip.compress(os.urandom(4096))[:-100])
        done = program("data", "verify", "webkb", env={**os.environ, "BENCH_DATASETS": str(tmp_path)})
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith(f"bench: {tmp_path / 'webkb-data.tar.gz'} is truncated")
        assert registry.dataset_card("webkb").digest in done.stderr
        assert "Traceback" not in done.stderr


def unreachable(*args, **kwargs):
    raise OSError("no network")


class TestWithoutData:
    @pytest.fixture(autouse=True)
    def nothing_near(self, tmp_path, monkeypatch):
        """No corpus in any place, no network, and no second attempt."""
        monkeypatch.setattr(registry, "CHECKOUT", tmp_path / "repository")
        monkeypatch.setenv("BENCH_DATASETS", str(tmp_path / "named"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setattr(download, "RETRIES", 0)
        monkeypatch.setattr("socket.socket.connect", unreachable)
        monkeypatch.setattr("socket.getaddrinfo", unreachable)

    @pytest.mark.parametrize("name", ["webkb"])
    def test_and_without_leave_to_download(self, name, tmp_path):
        card = registry.dataset_card(name)
        result = invoke("run", CONFIGS / f"{name}.yaml", "--no-download", "--out", tmp_path / "run")
        refused(
            result,
            3,
            *card.archives,
            f"{card.tops[0]}/",
            *map(str, registry.search_folders()),
            *card.addresses,
            card.digest,
        )
        refused(
            result,
            3,
            f"bench data fetch {name}",
            "put the archive, or its unpacked folder, into one of these places",
            "$BENCH_DATASETS",
        )
        refused(result, 3, "bench run quickstart")

    @pytest.mark.parametrize("name", ["20ng"])
    def test_and_without_network(self, name, tmp_path):
        card = registry.dataset_card(name)
        result = invoke("run", CONFIGS / f"{name}.yaml", "--out", tmp_path / "run")
        refused(result, 3, card.licence, *card.addresses, "no connection", card.archives[0], card.digest)
        refused(
            result,
            3,
            str(tmp_path / "repository" / "datasets"),
            "$BENCH_DATASETS",
            *map(str, registry.search_folders()),
        )
        refused(result, 3, "bench run quickstart")
        assert not list((tmp_path / "repository" / "datasets").iterdir())

    def test_the_list_says_how_to_get_them(self):
        result = invoke("data", "list")
        assert re.search(r"^webkb +8,282 .* not here: bench data fetch webkb *$", result.stdout, re.MULTILINE)

    def test_what_is_here_is_verified(self):
        result = invoke("data", "verify")
        assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1)

    @pytest.mark.usefixtures("sketched")
    def test_the_small_corpus_needs_none(self, finished, tmp_path):
        assert invoke("run", finished[0], "--out", tmp_path / "run").exit_code == 0


@pytest.mark.usefixtures("sketched")
class TestCache:
    def test_info_and_clear(self, write, tmp_path, monkeypatch):
        monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
        assert invoke("cache", "info").stdout == f"{tmp_path / 'cache'}\n0 entries, 0 B of at most 20.0 GB\n"
        assert invoke("data", "stats", write(SMALL)).exit_code == 0
        assert re.search(r"\n1 entries, \d+ kB of at most 20\.0 GB\n", invoke("cache", "info").stdout)
        refused(
            invoke("cache", "clear"),
            2,
            f"{tmp_path / 'cache'}: 1 entries, ",
            "would be removed; not a terminal: add --yes",
        )
        assert "\n1 entries, " in invoke("cache", "info").stdout
        assert re.fullmatch(r"removed 1 entries, \d+ kB\n", invoke("cache", "clear", "--yes").stdout)
        assert "\n0 entries, " in invoke("cache", "info").stdout

    @pytest.mark.parametrize(("answer", "code", "left"), [("n\n", 1, 1), ("\n", 1, 1), ("y\n", 0, 0)])
    def test_a_terminal_is_asked_before_anything_is_removed(self, write, tmp_path, monkeypatch, answer, code, left):
        monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
        assert invoke("data", "stats", write(SMALL)).exit_code == 0
        monkeypatch.setattr(questions, "is_interactive", lambda: True)
        result = CliRunner().invoke(app, ["cache", "clear"], input=answer)
        assert result.exit_code == code
        assert re.search(r"Remove 1 entries, \d+ kB from ", result.stderr)
        assert f"\n{left} entries, " in invoke("cache", "info").stdout

    def test_a_limit_that_is_no_number(self, monkeypatch):
        monkeypatch.setenv("BENCH_CACHE_LIMIT_GB", "much")
        refused(invoke("cache", "info"), 1, "BENCH_CACHE_LIMIT_GB is 'much'; it must be a number of gigabytes")

    def test_a_store_that_cannot_be_written_stops_no_run(self, finished, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("in the way")
        monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "file"))
        result = invoke("run", finished[0], "--out", tmp_path / "run")
        assert result.exit_code == 0
        assert result.stderr.count("results are no longer kept") == 1
        assert (tmp_path / "run" / "scores.csv").read_bytes() == (finished[1] / "scores.csv").read_bytes()


@pytest.mark.usefixtures("sketched")
class TestCheck:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path, monkeypatch):
        """Where numbers are pinned: none yet."""
        for name in ("pin", "deviations", "pinned_configs"):
            monkeypatch.setattr(pinned, name, partial(getattr(pinned, name), folder=tmp_path / "pinned"))
        return tmp_path / "pinned"

    @pytest.fixture
    def pinned_run(self, finished, folder):
        """The finished run's numbers, pinned."""
        pinned.pin(summary_of(read_run(finished[1])))
        return folder

    @pytest.fixture
    def check(self, finished, tmp_path):
        return partial(invoke, "check", finished[0], "--out", tmp_path / "runs")

    def tamper(self, path, change):
        """Change the first accuracy of a pinned table that `change` doesn't refuse by giving None."""
        table = pd.read_csv(path)
        for row in table.index:
            value = change(table.loc[row])
            if value is not None:
                table.loc[row, "value"] = value
                table.to_csv(path, index=False)
                return
        pytest.fail("nothing to change")

    def test_what_was_pinned_is_found_again(self, check, folder):
        result = check("--update")
        assert (result.exit_code, result.stderr) == (0, "")
        assert sorted(path.name for path in folder.iterdir()) == ["small-verdicts.csv", "small.csv"]
        result = check()
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == "small: as pinned; against the paper: nothing published\n"

    @pytest.mark.parametrize("by", [0.02, -0.02])
    def test_a_number_that_moved_either_way_is_told(self, check, pinned_run, by):
        self.tamper(pinned_run / "small.csv", lambda row: row["value"] + by)
        result = check()
        assert result.exit_code == 1
        assert result.stdout.startswith("small: differs from what is pinned; against the paper: nothing published\n")
        assert re.search(r"^tf-l1-ngd +cornell +0\.\d{6} +0\.\d{6} +0\.000000 *$", result.stdout, re.MULTILINE)

    @pytest.mark.usefixtures("no_work")
    def test_what_is_not_pinned_is_refused_before_the_work(self, check):
        refused(check(), 1, "bench: nothing is pinned for small; `bench check CONFIG --update` pins")
        refused(invoke("check"), 1, "bench: nothing is pinned; `bench check CONFIG --update` pins")

    def test_a_run_with_failures_is_not_pinned(self, write, tmp_path, folder):
        result = invoke("check", write(FAILING), "--update", "--out", tmp_path / "runs")
        assert result.exit_code == 1
        assert "bench: failing: is not pinned, since cells failed: tf-none-polynomial-degree400" in result.stderr
        assert not folder.exists()

    @pytest.mark.usefixtures("pinned_run")
    def test_every_pinned_configuration_unless_told(self, write, tmp_path, monkeypatch):
        write(SMALL, "small.yaml")
        (tmp_path / "configs").mkdir()
        (tmp_path / "small.yaml").rename(tmp_path / "configs" / "small.yaml")
        monkeypatch.chdir(tmp_path)
        result = invoke("check", "--out", tmp_path / "runs")
        assert (result.exit_code, result.stdout.split(":")[0]) == (0, "small")


class TestReproduce:
    @pytest.mark.usefixtures("no_work")
    def test_a_folder_without_papers(self, write, tmp_path):
        path = write(SMALL)
        result = invoke("reproduce", "--configs", path.parent, "--page", tmp_path / "page.md")
        refused(result, 2, f"bench: {path.parent}: no configuration here belongs to a paper")

    @pytest.mark.usefixtures("no_work")
    def test_a_page_that_cannot_be_written_is_refused_before_the_work(self, tmp_path):
        (tmp_path / "file").write_text("in the way")
        result = invoke("reproduce", "--configs", CONFIGS, "--page", tmp_path / "file" / "page.md")
        refused(result, 1, f"can't write results to {tmp_path / 'file'}")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [("data", "list"), ("list", "kernels")])
def test_a_full_disk_behind_standard_output_is_said_in_a_line(arguments):
    code, _, said = Process(*arguments, stdout=Path("/dev/full")).finish()
    assert (code, said) == (1, "bench: can't write to standard output: no space left on device\n")
