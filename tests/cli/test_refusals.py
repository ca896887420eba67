"""What is refused, before any work and in a line: names, files, folders and corpora; and Ctrl-C."""

from __future__ import annotations

import json
import re
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.corpora import registry
from benchmark.evaluation.predictions import RUN_FILES
from benchmark.experiment.store import Store
from tests.processes import Process, files_of
from tests.shapes import PLUGIN, SHAPES, bench, refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.shapes import ShapedRun

pytestmark = pytest.mark.usefixtures("sketched")
CONFIGS = Path(__file__).parents[2] / "configs"
SMALL = """\
name: small
corpus: {name: synthetic}
text: {min_occurrences: 5}
protocol: {name: leave-one-group-out, held_out: [texas]}
methods: [ngd, linear]
compare: [[ngd, linear]]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with configurations, of which one is wrong and one expects other data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    texts = {
        "small": SMALL,
        "other": SMALL.replace("name: small", "name: other"),
        "same": SMALL,
        "wrong": SMALL.replace("[ngd", "[ngb"),
        "expects": SMALL + "expect: {documents: 599}\n",
        "excludes": SMALL.replace("{name: synthetic}", "{name: synthetic, exclude: [course/x]}"),
        "unpinned": SMALL.replace("name: small", "name: unpinned"),
        "none": "",
    }
    for name, text in texts.items():
        (tmp_path / "configs" / f"{name}.yaml").write_text(text)
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "empty").mkdir()
    return tmp_path


MISTAKES: list[tuple[str, int, tuple[str, ...]]] = [
    ("frobnicate", 2, ("No such command 'frobnicate'",)),
    ("run", 2, ("Missing argument 'CONFIG",)),
    ("data export small", 2, ("Missing option '--out'",)),
    ("run wrong", 2, ("bench: configs/wrong.yaml:5: ", "'ngb'; did you mean 'ngd'?")),
    ("run small wrong --out runs", 2, ("unknown method 'ngb'",)),
    ("run small same --out runs", 2, ("bench: two of these configurations are named 'small'",)),
    ("run none", 2, ("must be a mapping of keys such as name, corpus and methods",)),
    ("run file", 2, ("for a table, `bench init file` writes a configuration",)),
    ("run small --out file/run", 1, ("can't write results to file/run: Not a directory.", "another folder")),
    ("run empty", 1, ("empty: is not the folder of a finished run (manifest.json is missing)",)),
    ("run smal", 2, ("smal: there is no such file, and no configuration of this name here, in configs", "'small'?")),
    ("run configs/smal.yaml", 2, ("bench: configs/smal.yaml: can't be read", "did you mean 'configs/small.yaml'?")),
    *(
        (f"{command} configs/smal.yaml", 2, ("did you mean 'configs/small.yaml'?",))
        for command in ("validate", "plan", "check", "published pin-settings", "fit --cell x --out y")
    ),
    ("run small --only ngdx", 2, ("unknown cell 'ngdx'; did you mean 'ngd'? of small",)),
    ("list kernel", 2, ("unknown list 'kernel'; did you mean 'kernels'?",)),
    ("report empty", 1, ("bench: empty: is not the folder of a finished run (manifest.json is missing",)),
    ("compare empty a b", 1, ("bench: empty: is not the folder of a finished run",)),
    ("cite empty", 1, ("bench: empty: is not the folder of a finished run",)),
    ("report smalll", 2, ("smalll: there is no such folder, and no run of this name in results/runs",)),
    ("check unpinned", 2, ("nothing is pinned for unpinned; `bench check CONFIG --update` pins",)),
    ("reproduce --configs empty", 2, ("empty: no configuration here belongs to a paper",)),
    ("survey methds", 2, ("did you mean 'methods'",)),
    ("survey methods small --page file/page.md", 1, ("can't write results to file",)),
    ("place mine.csv", 2, ("place needs a file of predictions and a test set: bench place mine.csv --on 20ng",)),
    ("place --template r8 --on r8", 2, ("takes neither PREDICTIONS nor --on",)),
    ("place nothing.csv --on r88", 2, ("did you mean 'r8'",)),
    ("place nothing.csv --on r8", 3, ("nothing.csv",)),
]


@pytest.mark.usefixtures("here", "no_corpus_is_touched")
@pytest.mark.parametrize(("words", "code", "said"), MISTAKES, ids=[words for words, *_ in MISTAKES])
def test_a_mistake_is_refused_before_any_work(words: str, code: int, said: tuple[str, ...]) -> None:
    refused(*words.split(), code=code, said=said)
    assert not Path("runs").exists()


def test_what_only_data_show_is_refused_before_a_score(here: Path) -> None:
    refused("run", "expects", "--out", "run", code=3, said="expects 599 documents, but there are 600")
    refused("run", "excludes", "--out", "run", said="has no document 'course/x'")
    assert not list((here / "run").iterdir())


class TestFolders:
    @pytest.fixture
    def run(self, here: Path, shaped: Callable[[str], ShapedRun]) -> Path:
        """A finished run, of an experiment that is named table, where runs are looked for."""
        (here / "table.yaml").write_text(SHAPES["table"])
        return Path(shutil.copytree(shaped("table").folder, here / "results" / "runs" / "table"))

    def test_of_another_experiment_or_of_other_files_are_left_alone(self, run: Path, here: Path) -> None:
        before = files_of(run)
        for command in ("run other --out", "check other --update --out"):
            said = f"{run}: holds the run of 'table' (all cells); name another folder", "--overwrite"
            refused(*command.split(), run, said=said)
        assert files_of(run) == before
        shutil.copytree(run, here / "runs" / "other")
        refused("run", "small", "other", "--out", "runs", said="runs/other: holds the run of 'table'")
        assert not (here / "runs" / "small").exists(), "the second folder is refused before the first run"
        for name in ("thesis.tex", "manifest.json"):
            (here / name[:4]).mkdir()
            (here / name[:4] / name).write_text('{"short_name": "an app"}')
            refused("run", "small", "--out", name[:4], said=f"{name[:4]}: holds files that no run wrote ({name})")
        bench("run", "other", "--out", run, "--overwrite")
        assert json.loads((run / "manifest.json").read_text())["name"] == "other"
        for name in (".gitkeep", "predictions.parquet", "timings.parquet"):  # as a stopped run leaves them
            (here / "empty" / name).write_text("x")
        bench("run", "small", "--out", "empty")

    def test_of_a_part_and_of_the_whole_are_two(self, run: Path, here: Path) -> None:
        before = files_of(run)
        bench("run", "table", "--only", "tf-*")
        assert files_of(run) == before
        refused("run", "table", "--only", "tf-*", "--out", run, said="holds the run of 'table' (all cells)")
        refused("run", "table", "--only", "mnb", said="holds the run of 'table' (tf-*)")
        again = bench("run", "results/runs/table-only", "--out", "again").stdout
        assert again.startswith("table, run again: 2 of 2 common cells agree")
        assert json.loads((here / "again" / "manifest.json").read_text())["only"] == ["tf-*"]

    @pytest.mark.parametrize("name", [*RUN_FILES, "manifest.json"])
    def test_that_are_damaged_give_no_table_and_are_run_again(self, run: Path, name: str) -> None:
        content = (run / name).read_bytes()
        (run / name).write_bytes(content[: len(content) // 2])
        said = refused("report", run, code=3, said="run the configuration again")
        assert re.search(rf"{name}: (can't be read|is damaged)", said)
        if name != "manifest.json":
            bench("run", "table", "--quiet")
            assert json.loads((run / "manifest.json").read_text())["name"] == "table"

    def test_short_names_are_those_of_the_runs_unless_a_path_is_there(
        self, run: Path, here: Path, shaped: Callable[[str], ShapedRun]
    ) -> None:
        assert bench("validate", "small").stdout == "configs/small.yaml: good, 2 cells\n"
        assert bench("cite", "table").stdout == bench("cite", run).stdout
        refused("report", "tablee", said="no run of this name in results/runs; did you mean 'table'?")
        refused("compare", "table", "mnb", said="mnb: there is no such folder, and no run of this name")
        refused("compare", "table", "mnb", "mnb", said="a comparison names two different cells, not 'mnb' twice")
        refused("compare", "table", "mnb", "tf-l1-linearr", said="did you mean 'tf-l1-linear'?")
        refused("compare", "table", shaped("curves").folder, said="predict no document by cells of the same name")
        (here / "small").write_text(SMALL.replace("methods: [ngd", "methods: [mnb, ngd"))
        assert bench("validate", "small").stdout == "small: good, 3 cells\n"

    def test_of_a_run_stand_for_its_experiment(self, run: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is stored, and nothing is taken from the store."""
        monkeypatch.setenv("BENCH_CACHE", str(here / "cache"))
        before, there = files_of(run), {path.name for path in here.iterdir()}
        words = " ".join(bench("run", run).stdout.split())
        assert words.startswith("table, run again: 3 of 3 common cells agree in every prediction.")
        assert words.endswith("Settings that differ: none")
        assert (files_of(run), {path.name for path in here.iterdir()}) == (before, there)
        refused("run", run, "--out", run, said="name another folder with --out")
        for more in ((run,), ("--only", "x"), ("--dask", "local:1")):
            refused("run", run, *more, said="name its folder alone")

    @pytest.mark.usefixtures("users_code_here")
    def test_of_own_files_and_plugins_are_run_again_from_anywhere_until_they_change(self, here: Path) -> None:
        mine = here / "mine"
        mine.mkdir()
        rows = [f"{i},{'sun sea sand' if i % 2 else 'snow ice wind'} word{i % 7},{'ab'[i % 2]}" for i in range(40)]
        (mine / "own.csv").write_text("\n".join(["id,text,label", *rows]))
        (mine / "mine.py").write_text(PLUGIN)
        (mine / "own.yaml").write_text(
            "name: own\ncorpus: {name: files, path: own.csv, id: id}\ntext: {lexer: unicode}\nplugins: [mine.py]\n"
            "protocol: {name: k-fold, k: 2}\nmethods: [mine, ngd]\n"
        )
        assert "\nNext: bench explain run " in bench("run", "mine/own.yaml", "--out", "run").stdout
        assert bench("run", "run", "--out", "again").stdout.endswith("Settings that differ: none\n")
        assert (here / "again" / "scores.csv").read_bytes() == (here / "run" / "scores.csv").read_bytes()
        (mine / "own.csv").write_text((mine / "own.csv").read_text().replace("sun sea sand", "snow ice wind", 15))
        assert bench("run", "run", "--out", "edited", code=1).stdout.startswith("own, run again: ")
        assert "variants.base.content_digest" in bench("compare", "run", "edited").stdout
        (mine / "own.csv").unlink()
        refused("run", "run", code=3, said="own.csv: no such file or folder")
        (mine / "mine.py").unlink()
        refused("run", "run", said="mine.py: no such file")


class TestWithoutData:
    @pytest.fixture(autouse=True)
    def nothing_near(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Hide the corpora, and cut the network."""

        def unreachable(*_: Any, **__: Any) -> None:
            raise OSError("no network")

        monkeypatch.setattr(registry, "CHECKOUT", tmp_path / "repository")
        monkeypatch.setenv("BENCH_DATASETS", str(tmp_path / "named"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setattr("socket.socket.connect", unreachable)
        monkeypatch.setattr("socket.getaddrinfo", unreachable)
        monkeypatch.setattr("time.sleep", lambda _: None)  # between attempts

    @pytest.mark.parametrize("options", ["--no-download", "--download"])
    def test_a_run_says_how_to_get_them(self, options: str, tmp_path: Path) -> None:
        card = registry.dataset_card("webkb")
        said = refused("run", CONFIGS / "webkb.yaml", options, "--out", tmp_path / "run", code=3)
        places = [*card.archives, *card.addresses, card.digest, *map(str, registry.search_folders()), "$BENCH_DATASETS"]
        assert [each for each in [*places, "bench run quickstart"] if each not in said] == []
        assert (card.licence in said) == (options == "--download"), "terms of use are shown before a download"

    def test_what_is_here_is_listed_and_verified(self) -> None:
        shown = bench("data", "list").stdout
        assert re.search(r"^webkb +8,282 .* not here: bench data fetch webkb *$", shown, re.MULTILINE)
        assert re.search(r"^synthetic +600 +4 .* generated by code *$", shown, re.MULTILINE)
        (line,) = bench("data", "verify").stdout.splitlines()
        digest = registry.dataset_card("synthetic").digest
        assert line == f"synthetic: as its card says, 600 documents, content digest {digest}"
        for command in ("fetch", "verify"):
            refused("data", command, "webbk", said=("'webbk'", "'webkb'"))
        assert bench("data", "fetch", "synthetic").stdout.startswith("synthetic: generated by code, 600 documents, ")


def test_the_store_is_listed_by_kind_and_removed_after_a_question(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = here / "store"
    monkeypatch.setenv("BENCH_CACHE", str(folder))
    assert bench("cache", "info").stdout == f"{folder}\n0 entries, 0 bytes of at most 20.0 GB\n"
    (here / "configs" / "small.yaml").write_text(SMALL.replace("ngd, linear]\ncomp", "hp-top, linear]\n#"))
    monkeypatch.setattr("benchmark.experiment.store.MIN_KERNEL_SECONDS", 0.0, raising=False)
    bench("run", "small", "--quiet")
    n = len(Store().entries())
    assert re.fullmatch(rf"{folder}\n{n} entries, [\d.]+ kB of at most 20\.0 GB\n", bench("cache", "info").stdout)
    *kernels, rest = bench("cache", "list").stdout.splitlines()
    assert all(re.fullmatch(r"\d+ × .+: [\d.]+ \w+, [\d,.]+ s to compute", line) for line in kernels)
    others = re.fullmatch(r"(\d+) other entries, [\d.]+ kB", rest)
    assert others is not None
    assert int(others[1]) + sum(int(line.partition(" ")[0]) for line in kernels) == n
    asked = bench("cache", "clear", input="\n", code=1).stderr
    assert re.match(rf"Remove {n} entries, [\d.]+ kB from {re.escape(str(folder))}\?", asked)
    assert len(Store().entries()) == n
    assert bench("cache", "clear", "--yes").stdout.startswith(f"removed {n} entries, ")
    assert not Store().entries()
    monkeypatch.setenv("BENCH_CACHE", str(here / "file"))
    assert bench("run", "small").stderr.count("results are no longer kept") == 1
    monkeypatch.setenv("BENCH_CACHE_LIMIT_GB", "much")
    refused("cache", "info", code=1, said="BENCH_CACHE_LIMIT_GB is 'much'; it must be a number of gigabytes")


def test_ctrl_c_stops_a_run_and_what_was_computed_is_stored(here: Path) -> None:
    sizes = [1.01 + i / 100 for i in range(50)]
    cells = f"methods: [{{weighting: tf, normalization: l2, kernel: linear, classifier: {{C: {sizes}}}}}]\n"
    (here / "many.yaml").write_text(SMALL.partition("methods:")[0] + cells)
    words = ("run", "many.yaml", "--out", "run", "-v")
    with Process(*words, folder=here, variables={"BENCH_CACHE": str(here / "cache")}) as process:
        assert " s  " in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        code, printed, said = process.finish()
    assert (code, printed) == (130, "")
    last = said.splitlines()[-1]
    assert last == "bench: interrupted; results so far are stored, and the same command continues from there"
    assert not list((here / "run").iterdir())
    assert len(list((here / "cache").glob("??/*"))) >= 2
