"""What a command prints, in a terminal of 80 columns, as one document, and as one sentence."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path

import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.experiment import run as session
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.papers import published
from tests.processes import Process
from tests.trials.limits import mostly_slow

pytestmark = pytest.mark.usefixtures("sketched")
CONFIGS = Path(__file__).parents[2] / "configs"
MOST_LINES = 45
SMALL = """\
name: small
corpus: {name: synthetic}
text: {min_occurrences: 5}
protocol: {name: leave-one-group-out, held_out: [texas]}
methods: [ngd, linear]
compare: [[ngd, linear]]
"""
FAILING = SMALL.replace("linear]\n", "linear, {kernel: {name: polynomial, degree: 400}, normalization: none}]\n")
MAIN = "from benchmark.cli import main; main()"
ENDS = ("cell", "fold", "metric", "value", "low", "high", "n", "ties")


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def in_terminal():
    """The lines that a command prints on a terminal of so many columns, without colours."""

    def lines_of(*arguments, columns=80, first=""):
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        variables = dict.fromkeys(("COLUMNS", "LINES", "NO_COLOR"), "") | {"TERM": "xterm"}
        code = f"{first}\nimport os\nfor name in ('COLUMNS', 'LINES', 'NO_COLOR'): del os.environ[name]\n{MAIN}"
        done = Process(*map(str, arguments), code=code, variables=variables, stdout=Path(os.ttyname(its)))
        os.close(its)
        found = bytearray()

        def read():
            while True:
                try:
                    part = os.read(ours, 4096)
                except OSError:  # the other end is closed
                    return
                found.extend(part)

        reader = threading.Thread(target=read)
        reader.start()
        code, _, said = done.finish()
        assert code == 0, said
        reader.join()
        os.close(ours)
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", found.decode()).splitlines()

    return lines_of


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small run, its configuration and its folder."""
    folder = tmp_path_factory.mktemp("answers")
    (folder / "small.yaml").write_text(SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "cached_pictures", lambda _, specs: {name: {} for name in specs})
        assert invoke("run", folder / "small.yaml", "--out", folder / "run").exit_code == 0
    return folder / "small.yaml", folder / "run"


class TestTerminal:
    @pytest.mark.parametrize("name", mostly_slow(["quickstart", "webkb"], 1))
    def test_a_run_fits_eighty_columns_and_a_screen(self, name, in_terminal, publish, tmp_path):
        """Of the configuration on the generated corpus, which has WebKB's classes and groups, as the paper's."""
        config = yaml.safe_load((CONFIGS / f"{name}.yaml").read_text()) | {"corpus": {"name": "synthetic"}}
        config.pop("expect", None)
        publish(yaml.safe_load((published.PUBLISHED_FOLDER / "zhang2005.yaml").read_text()))
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
        experiment = load_checked(tmp_path / "config.yaml")
        # To show a finished run again prints the same, and takes a third of the time.
        folder = tmp_path / ("r" * 80)
        run_and_write(experiment, RunContext(Store(), jobs=2), folder=folder)
        first = (
            "from pathlib import Path; from benchmark.papers import published\n"
            f"published.PUBLISHED_FOLDER = Path({str(published.PUBLISHED_FOLDER)!r})\n"
            "from benchmark.report import files; files.rendered = lambda *_: {}"
        )
        lines = in_terminal("report", folder, first=first)
        assert sum(line.startswith("open ") and f"\\{folder}/report.html\x1b" in line for line in lines) == 1
        printed = [line for line in lines if str(tmp_path) not in line]  # a path is as long as it is
        assert max(map(len, printed)) <= 80
        assert len(lines) <= MOST_LINES
        for cell in experiment.ids:
            verdict = r" (equal|consistent|deviates) *$" if experiment.paper else r" "
            assert any(re.match(rf"{re.escape(cell)}( ★)? +\d+\.\d\d.*{verdict}", line) for line in lines), cell
        assert sum("not testable" in line for line in lines) <= 1

    @pytest.mark.parametrize("columns", mostly_slow([60, 80, 200], 1))
    def test_names_are_never_broken(self, in_terminal, columns):
        lines = in_terminal("list", "classifiers", columns=columns)
        names = {line.split()[0] for line in lines[2:] if line[:1].strip()}
        assert {"svm", "complement-nb", "divergence-bayes", "linear-svm", "logistic"} <= names


class TestDocument:
    def test_a_run_is_one_document_with_the_numbers_of_its_files(self, finished, tmp_path):
        result = invoke("run", finished[0], "--out", tmp_path / "run", "--json")
        (run,) = json.loads(result.stdout)["runs"]
        assert (result.exit_code, run["name"], run["folder"]) == (0, "small", str(tmp_path / "run"))
        written = pd.read_csv(tmp_path / "run" / "scores.csv")
        given = pd.DataFrame(run["scores"])
        assert list(written.columns) == list(given.columns) == list(ENDS)
        pd.testing.assert_frame_equal(given, written, check_dtype=False, rtol=1e-11)
        assert {"verdicts", "claims", "failures", "significance", "seconds", "sentence"} <= run.keys()

    def test_other_commands_answer_likewise(self, finished):
        listed = json.loads(invoke("list", "metrics", "--json").stdout)["tables"]
        assert [table["title"] for table in listed] == ["metrics"]
        assert {"name", "parameters", "description"} == set(listed[0]["rows"][0])
        compared = json.loads(invoke("compare", finished[1], "ngd", "linear", "--json").stdout)["tables"]
        assert [table["title"] for table in compared] == ["Scores", "Predictions", "Tests"]
        scores = pd.read_csv(finished[1] / "scores.csv").query("fold == 'all'").set_index(["metric", "cell"])["value"]
        row, ours = compared[0]["rows"][0], 100 * scores["accuracy"]
        assert [row["ngd"], row["linear"]] == pytest.approx([ours["ngd"], ours["linear"]])
        assert row["difference"] == pytest.approx(ours["ngd"] - ours["linear"])
        assert row["95% interval"][0] <= row["difference"] <= row["95% interval"][1]
        planned = json.loads(invoke("plan", finished[0], "--no-pilot", "--json").stdout)["tables"]
        assert [row["what"] for row in planned[0]["rows"]] == ["ngd", "linear"]
        good = json.loads(invoke("validate", finished[0], "--json").stdout)["good"]
        assert [each["cells"] for each in good] == [2]

    def test_a_failed_cell_is_in_the_document_and_in_the_exit_code(self, tmp_path):
        (tmp_path / "config.yaml").write_text(FAILING)
        result = invoke("run", tmp_path / "config.yaml", "--out", tmp_path / "run", "--json")
        (run,) = json.loads(result.stdout)["runs"]
        assert result.exit_code == 1
        assert len(run["failures"]) == 1

    def test_an_error_leaves_standard_output_empty(self, tmp_path):
        result = invoke("run", tmp_path / "none.yaml", "--json")
        assert (result.exit_code, result.stdout) == (2, "")

    def test_it_excludes_quiet(self, finished):
        result = invoke("run", finished[0], "--json", "--quiet")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "--quiet and --json exclude each other" in result.stderr


class TestSentence:
    def test_quiet_is_the_sentence_alone(self, finished, tmp_path):
        result = invoke("run", finished[0], "--out", tmp_path / "run", "--quiet")
        (line,) = result.stdout.splitlines()
        pattern = (
            rf"small: 2 methods, 2 of them from the store; \d+\.\d s, \d\.\d GB at most; written to {tmp_path}/run"
        )
        assert re.fullmatch(pattern, line)
        assert result.stderr == ""

    def test_of_several_each_has_a_line_where_there_is_no_bar(self, finished, tmp_path):
        (tmp_path / "other.yaml").write_text(SMALL.replace("small", "other"))
        result = invoke("run", finished[0], tmp_path / "other.yaml", "--out", tmp_path / "runs")
        told = [re.sub(r"\d+\.\d s", "… s", line) for line in result.stderr.splitlines()]
        assert told == [
            "small: … s, 2 of 2 cells from the store (1 of 2)",
            "other: … s, 2 of 2 cells from the store (2 of 2)",
        ]


#: Commands that compute no number, and what none of them loads; those that ask for least go first.
LIGHT = [
    (["cache", "info"], "sklearn pandas scipy.stats"),
    (["data", "list"], "sklearn pandas scipy.stats"),
    (["validate", str(CONFIGS / "quickstart.yaml")], ""),
    (["list"], ""),
]


def test_what_is_no_run_loads_little():
    """One after the other in one new process: whatever is there after a command was loaded by it, or by one before."""
    code = (
        "import sys; from benchmark.cli import main\n"
        f"for arguments, heavy in {LIGHT!r}:\n"
        "    sys.argv = ['bench', *arguments]\n"
        "    try: main()\n"
        "    except SystemExit: pass\n"
        "    names = ['altair', 'numba', 'jinja2', 'libsvm', *heavy.split()]\n"
        "    if found := [name for name in names if name in sys.modules]:\n"
        "        sys.exit(f'{arguments}: {found}')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(title in done.stdout for title in ("entries, ", "webkb", "quickstart.yaml: good", "kernels"))
