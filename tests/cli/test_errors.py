"""Whatever the machine is, a command does its work or says in a line why it can't, and its exit code says so too."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.analysis.formatting.table import Table
from benchmark.cli import errors as world
from benchmark.cli.errors import exit_on_error
from benchmark.cli.terminal import ProgressObserver, stdout_console
from benchmark.report.writers import TerminalTable
from benchmark.system import numba_jit as compiled
from benchmark.system.errors import BenchError

QUICKSTART = Path(__file__).parents[2] / "configs" / "quickstart.yaml"


def program(*arguments, script='"$@"', limits=(), **variables):
    """The command by way of a shell, in a changed environment."""
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "benchmark.cli", *map(str, arguments)]
    environment = {name: value for name, value in {**os.environ, **variables}.items() if value is not None}

    def limit():
        for kind, value in limits:
            resource.setrlimit(kind, (value, value))

    return subprocess.run(command, capture_output=True, timeout=120, check=False, env=environment, preexec_fn=limit)


def stopped(error):
    """The exit code and what is said of an error."""
    with pytest.raises(SystemExit) as caught, exit_on_error():
        raise error
    return caught.value.code


class TestLetters:
    def test_what_an_encoding_lacks_is_escaped(self):
        done = program("list", PYTHONIOENCODING="ascii")
        assert (done.returncode, done.stderr) == (0, b"")
        assert "kernels" in done.stdout.decode("ascii")

    def test_a_name_moves_no_cursor(self, capsys):
        evil = "\x1b]0;x\x07\x9b2J\r"
        stdout_console().print(TerminalTable(Table.of(evil, (evil,), [(evil,)])))
        ProgressObserver("a").note(evil)
        world.echo(evil)
        said = "".join(capsys.readouterr())
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", said)
        assert said.count(r"\x1b]0;x\x07") == 5


class TestStreams:
    @pytest.mark.parametrize(
        ("words", "shell"),
        [
            (["cache", "info"], '"$@" >&-'),
            (["cache", "info"], '"$@" 2>&-'),
            (["data", "list"], '"$@" <&- >&- 2>&-'),  # all libraries are loaded
            (["data", "list"], '"$@" 2>/dev/full'),
        ],
    )
    def test_one_that_is_closed_is_none_of_ours(self, words, shell):
        done = program(*words, script=shell)
        assert (done.returncode, done.stderr) == (0, b"")
        assert bool(done.stdout) == (">&-" not in shell.replace("2>&-", ""))

    @pytest.mark.parametrize("words", [["--help"], ["cache", "info"]])
    def test_one_that_is_full_is_told(self, words):
        done = program(*words, script='"$@" >/dev/full')
        said = b"bench: can't write to standard output: no space left on device\n"
        assert (done.returncode, done.stdout, done.stderr) == (1, b"", said)

    def test_a_reader_may_leave(self):
        done = program("cache", "info", script='"$@" | true')
        assert (done.returncode, done.stderr) == (0, b"")


def test_machine_code_without_a_folder_has_one_for_a_while(monkeypatch):
    places, said = [], []

    def refuse(folder):
        places.append(folder)
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(compiled, "check_writable", refuse)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/nowhere")
    compiled.ensure_numba_cache(said.append)
    (message,) = said
    assert message.endswith("set NUMBA_CACHE_DIR to a writable folder")
    assert Path(os.environ["NUMBA_CACHE_DIR"]).is_dir()
    assert len(places) == 3


@pytest.mark.slow
class TestMemory:
    def test_a_limit_that_is_too_low_is_refused_before_libraries_hang(self):
        done = program("list", limits=[(resource.RLIMIT_AS, 300_000_000)])
        least = f"the smallest run takes {world.MIN_ADDRESS_SPACE / 1e6:,.0f} MB; `ulimit -v unlimited` lifts the limit"
        said = f"bench: not enough memory: ulimit -v allows 300 MB, and {least}\n"
        assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"", said)

    def test_the_least_is_enough_for_the_smallest_run(self, tmp_path):
        limits = [(resource.RLIMIT_AS, world.MIN_ADDRESS_SPACE)]
        threads = dict.fromkeys(("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "2")
        options = ["--jobs", "2", "--out", tmp_path / "run"]
        done = program("run", QUICKSTART, *options, limits=limits, BENCH_CACHE=str(tmp_path / "cache"), **threads)
        assert done.returncode == 0, done.stderr

    def test_a_limit_that_a_run_meets_is_told(self, tmp_path):
        """By a kernel matrix of 3 GB; where the small things of a library are what is too much, no error is sure."""
        words = [f"{'abcdefghij'[i % 10]}w {'klmnopq'[i % 7]}w" for i in range(20_000)]
        rows = (f"{text},{'cd'[i % 2]},{'train' if i % 100 else 'test'}\n" for i, text in enumerate(words))
        (tmp_path / "many.csv").write_text("text,label,split\n" + "".join(rows), encoding="utf-8")
        corpus, machine = "{name: files, path: many.csv, group: split}", "{name: svm, scheme: one-vs-rest}"
        method = f"{{weighting: tf, normalization: l1, kernel: ngd, classifier: {machine}}}"
        config = tmp_path / "many.yaml"
        config.write_text(f"name: many\ntitle: Many\ncorpus: {corpus}\nprotocol: fixed-split\nmethods: [{method}]\n")
        limits = [(resource.RLIMIT_AS, 2_000_000_000)]
        done = program("run", config, "--out", tmp_path / "run", limits=limits, BENCH_CACHE=str(tmp_path / "cache"))
        assert done.returncode == 1
        assert re.fullmatch(
            rb"bench: not enough memory \(ulimit -v allows 2,000 MB\): Unable to allocate 2\.9. GiB .*\n", done.stderr
        )


class TestLackOfMemory:
    @pytest.fixture(autouse=True)
    def _unlimited(self, monkeypatch):
        monkeypatch.setattr(world, "memory_limit", lambda: float("inf"))

    @pytest.mark.parametrize(
        ("limit", "said"),
        [
            (world.MIN_ADDRESS_SPACE, None),
            (float("inf"), None),
            (world.MIN_ADDRESS_SPACE - 1, "ulimit -v allows 1,400 MB, and the smallest run takes 1,400 MB"),
            (300_000_000, "ulimit -v allows 300 MB, and the smallest run takes 1,400 MB; `ulimit -v unlimited`"),
        ],
    )
    def test_less_than_the_smallest_run_takes_is_refused(self, monkeypatch, limit, said):
        monkeypatch.setattr(world, "memory_limit", lambda: limit)
        if said is None:
            world.ensure_memory()
        else:
            with pytest.raises(BenchError, match=re.escape(f"not enough memory: {said}")):
                world.ensure_memory()

    @pytest.mark.parametrize(
        "error",
        [
            MemoryError("Unable to allocate 7 TiB"),
            RuntimeError("can't start new thread"),
            ImportError("x.so: failed to map segment from shared object"),
            SystemError("error return without exception set"),
            OSError(errno.ENOMEM, "Cannot allocate memory"),
            OSError(errno.ENOMEM, "as another system calls it"),
            OSError("cannot ALLOCATE"),
        ],
    )
    def test_every_way_to_lack_it_is_one_line(self, error, capsys):
        assert stopped(error) == 1
        assert capsys.readouterr().err == f"bench: not enough memory: {error}\n"
        wrapped = ImportError("numpy can't be imported\nmany\nlines")
        wrapped.__cause__ = error
        assert stopped(wrapped) == 1
        assert capsys.readouterr().err == f"bench: not enough memory: {error}\n"
        while_handled, outer = ImportError("half-imported"), RuntimeError("outer")
        while_handled.__context__, outer.__cause__ = error, while_handled
        assert stopped(outer) == 1
        assert capsys.readouterr().err == f"bench: not enough memory: {error}\n"

    def test_an_error_without_words_is_called_by_its_type_and_of_many_lines_the_first_is_told(self, capsys):
        assert stopped(MemoryError()) == 1
        assert stopped(MemoryError("one\ntwo")) == 1
        assert capsys.readouterr().err == "bench: not enough memory: MemoryError\nbench: not enough memory: one\n"

    @pytest.mark.parametrize("error", [RuntimeError("ours"), ImportError("no module"), ValueError("ours")])
    def test_an_error_of_ours_passes(self, error):
        with pytest.raises(type(error)) as caught, exit_on_error():
            raise error
        assert caught.value is error


def test_a_limit_of_memory_is_told_in_megabytes(capsys, monkeypatch):
    monkeypatch.setattr(world, "memory_limit", lambda: 2e9)
    assert stopped(MemoryError("7 TiB")) == 1
    assert capsys.readouterr().err == "bench: not enough memory (ulimit -v allows 2,000 MB): 7 TiB\n"


class TestInterruptions:
    @pytest.mark.parametrize("words", [(), ("results so far are stored",)])
    def test_it_says_what_is_kept_only_where_it_is(self, words, capsys):
        assert stopped(KeyboardInterrupt(*words)) == 130
        assert capsys.readouterr().err == "\nbench: " + "; ".join(["interrupted", *words]) + "\n"


def test_files_and_limits_of_the_system_are_one_line(tmp_path, capsys):
    assert stopped(OSError(errno.EMFILE, "Too many open files")) == 1
    assert stopped(OSError(errno.EROFS, "Read-only file system", str(tmp_path))) == 1
    assert capsys.readouterr().err == f"bench: Too many open files\nbench: {tmp_path}: Read-only file system\n"
    with contextlib.suppress(BrokenPipeError), exit_on_error():
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")
