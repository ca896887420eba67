"""What a plug-in's code reads is recorded, what it makes by itself isn't, and what can't be seen is a reason."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.plugins.loader import load_plugin
from benchmark.system.plugin_code import Plugin, run_plugin_code
from benchmark.system.user_code import observation
from benchmark.system.user_code.observation import _ObservedArguments, record_reads
from benchmark.system.user_code.reads import ReadRecord, reads_unchanged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

HEAD = """\
import builtins, os, socket, sqlite3, subprocess, sys
from pathlib import Path
HERE = Path(__file__).parent
def work():
"""
#: The tag of this interpreter in names of compiled modules, and code that names one.
TAG = sys.implementation.cache_tag
CACHED = f"cached = HERE / '__pycache__' / 'data.{TAG}.pyc'"
FILE, LINK, FOLDER, STATE = ("file", "data.txt"), ("file", "link"), ("folder", "many"), ("state", "data.txt")


def made(folder: Path) -> Path:
    """Make a folder with what a plug-in may read."""
    (folder / "many").mkdir(parents=True)
    (folder / "data.txt").write_text("0")
    (folder / "many" / "a.txt").write_text("0")
    (folder / "link").symlink_to("data.txt")
    (folder / "__pycache__").mkdir()
    for name in ("data.py", f"__pycache__/data.{TAG}.pyc", "data.pyc", "data.nbi", "data.nbc"):
        (folder / name).touch()
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plug-in's folder with what it may read."""
    return made(tmp_path / "own")


def loaded(folder: Path, lines: str) -> Plugin:
    """Return a plug-in that has done some work."""
    (folder / "mine.py").write_text(HEAD + "".join(f"    {line}\n" for line in lines.splitlines()), encoding="utf-8")
    plugin = load_plugin(folder / "mine.py")
    assert plugin.module is not None
    with run_plugin_code(plugin):
        plugin.module.work()
    return plugin


def records_of(cases: Iterable[str], top: Path) -> dict[str, ReadRecord]:
    """Return what one plug-in's code has read in each case, in a folder for each, while it runs once."""
    cases, top = list(cases), top / "cases"
    parts = [
        [f"def work{number}():", *(f"    {line}" for line in case.splitlines())] for number, case in enumerate(cases)
    ]
    made(top / "mine")
    (top / "mine" / "mine.py").write_text(
        "\n".join([HEAD, "    pass", *itertools.chain.from_iterable(parts)]), encoding="utf-8"
    )
    plugin, found = load_plugin(top / "mine" / "mine.py"), dict[str, ReadRecord]()
    module: Any = plugin.module
    with run_plugin_code(plugin):
        for number, case in enumerate(cases):
            module.HERE = made(top / str(number) / "own")
            found[case] = ReadRecord(module.HERE)
            with record_reads(found[case], sys._getframe()):
                getattr(module, f"work{number}")()
    return found


#: Code of an installed library, which reads a file while it is imported, or where a function of it is called.
LIBRARY = (
    "import numpy\nlines = 'if name is not None: open(name).close()\\ndef read(name): open(name).close()'\n"
    "code = compile(lines, numpy.__file__, 'exec')"
)
#: What is done, and what is recorded of it besides the plug-in's own file and what it imports.
READS: list[tuple[str, set[tuple[str, str]]]] = [
    ("open(HERE / 'data.txt').close()", {FILE}),
    ("open(HERE / 'data.txt', 'rb').close()", {FILE}),
    ("open(HERE / 'data.txt', 'r+').close()", {FILE}),
    ("open(HERE / 'data.txt', 'a+').close()", {FILE}),
    ("open(HERE / 'data.txt', 'a').close()", set()),
    ("open(HERE / 'data.txt', 'w').close()", set()),
    ("open(HERE / 'data.txt', 'w+').close()", set()),
    ("open(HERE / 'new.txt', 'x').close()\nopen(HERE / 'new.txt').close()", set()),
    ("open(HERE / 'new.txt', 'w').close()\nopen(HERE / 'new.txt').close()\n(HERE / 'new.txt').stat()", set()),
    ("open(HERE / 'data.txt').close()\nopen(HERE / 'data.txt', 'w').close()\nopen(HERE / 'data.txt').close()", {FILE}),
    ("os.close(os.open(HERE / 'data.txt', os.O_RDONLY))", {FILE}),
    ("os.close(os.open(HERE / 'data.txt', os.O_RDWR))", {FILE}),
    ("os.close(os.open(HERE / 'data.txt', os.O_WRONLY))", set()),
    ("os.close(os.open(HERE / 'data.txt', os.O_RDWR | os.O_TRUNC))\nopen(HERE / 'data.txt').close()", set()),
    ("os.close(os.open(HERE / 'new', os.O_RDWR | os.O_CREAT | os.O_EXCL))\nopen(HERE / 'new').close()", set()),
    ("os.mkdir(HERE / 'new')\n(HERE / 'new' / 'a').write_text('0')\nopen(HERE / 'new' / 'a').close()", set()),
    ("os.mkdir(HERE / 'new')\nos.listdir(HERE / 'new')\n(HERE / 'new' / 'b').exists()", set()),
    ("(HERE / 'a').write_text('0')\nos.rename(HERE / 'a', HERE / 'b')\nopen(HERE / 'b').close()", set()),
    ("(HERE / 'ne').write_text('0')\nopen(HERE / 'newer').close() if (HERE / 'newer').exists() else 0",
     {("state", "newer")}),
    ("os.listdir(HERE / 'many')", {FOLDER}),
    ("os.scandir(HERE / 'many').close()", {FOLDER}),
    ("os.listdir(HERE)", {("folder", ".")}),
    ("os.listdir(HERE.parent)", {("folder", "..")}),
    ("os.stat(HERE / 'data.txt')", {STATE}),
    ("os.lstat(HERE / 'data.txt')", {STATE}),
    ("os.access(HERE / 'data.txt', os.R_OK)", {STATE}),
    ("os.readlink(HERE / 'link')", {("state", "link")}),
    ("(HERE / 'nowhere').exists()", {("state", "nowhere")}),
    ("os.stat(HERE)\nos.stat(HERE.parent)\nos.stat('/')", set()),
    ("os.stat(HERE.parent / 'ow') if (HERE.parent / 'ow').exists() else 0", {("state", "../ow")}),
    ("os.fstat(os.open(HERE / 'data.txt', os.O_RDONLY))", {FILE}),
    ("open('/proc/self/status').close()", set()),
    *((f"os.stat({path!r})", set()) for path in ("/proc/self/status", "/sys/kernel", "/dev/null")),
    (f"{LIBRARY}\nexec(code, {{'name': HERE / 'data.txt'}})", set()),
    (f"{LIBRARY}\nspace = {{'name': None}}\nexec(code, space)\nspace['read'](HERE / 'data.txt')", {FILE}),
    ("import threading\none = threading.Thread(target=open, args=(HERE / 'data.txt',))\none.start()\none.join()",
     {FILE}),
    ("import json.tool\nopen(json.tool.__file__).close()", set()),
    (f"{CACHED}\nopen(cached, 'rb').close()", {("file", "data.py"), ("file", f"__pycache__/data.{TAG}.pyc")}),
    (f"{CACHED}\nopen(HERE / 'data.pyc', 'rb').close()", {("file", "data.pyc")}),
    ("open(HERE / 'data.nbi', 'rb').close()\nopen(HERE / 'data.nbc', 'rb').close()", set()),
]  # fmt: skip


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReadRecord]:
    """What is recorded in each case."""
    return records_of([case for case, _ in READS], tmp_path_factory.mktemp("reads"))


@pytest.mark.parametrize(("lines", "expected"), READS)
def test_what_is_read_is_recorded_and_what_is_made_is_not(
    records: dict[str, ReadRecord], lines: str, expected: set[tuple[str, str]]
) -> None:
    record = records[lines]
    assert {each for each in record.reads if each[0] != "module"} == expected
    assert [[kind, name] for kind, name, _ in record.listed] == sorted([kind, name] for kind, name in record.reads)


#: What is done, and the reason why its results can't be stored.
REASONS = {
    "os.getcwd()": "reads the current folder",
    "os.getcwdb()": "reads the current folder",
    "Path.cwd()": "reads the current folder",
    "os.uname()": "reads the name of the machine",
    "socket.gethostname()": "reads the name of the machine",
    "open('/proc/self/status').close()": "reads /proc/self/status",
    "os.environ['PATH']": "reads the environment",
    "os.environ.get('NO_SUCH')": "reads the environment",
    "list(os.environ)": "reads the environment",
    "len(os.environ)": "reads the environment",
    "'PATH' in os.environ": "reads the environment",
    "os.environb[b'PATH']": "reads the environment",
    "os.getenv('PATH')": "reads the environment",
    "os.system('true')": "starts a process",
    "subprocess.run(['true'])": "starts a process",
    "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)": "starts a process",
    "sqlite3.connect(':memory:').close()": "opens a database",
    "socket.gethostbyname('localhost')": "uses the network",
    "socket.getaddrinfo('127.0.0.1', 9)": "uses the network",
    "socket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('127.0.0.1', 9))": "uses the network",
    "socket.socket().bind(('127.0.0.1', 0))": "uses the network",
    "socket.socket(type=socket.SOCK_DGRAM).connect(('127.0.0.1', 9))": "uses the network",
    "import _thread; _thread.start_new_thread(len, ('',))": "starts threads that can't be observed",
    **{
        f"{of} {how}": "reads the command line"
        for of in ("sys.argv", "sys.orig_argv")
        for how in ("[0]", "[1:]", ".index(ARGV[0])", ".count('x')", ".copy()", "== ['x']", ".__contains__('x')")
    },
    "len(sys.argv)": "reads the command line",
    "repr(sys.argv)": "reads the command line",
    "list(sys.argv)": "reads the command line",
}


def written(statement: str) -> str:
    return statement.replace("ARGV[0]", f"{statement.split(' ', maxsplit=1)[0]}[0]")


@pytest.fixture(scope="module")
def reasons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReadRecord]:
    """What is recorded of each statement."""
    return records_of(map(written, REASONS), tmp_path_factory.mktemp("reasons"))


@pytest.mark.parametrize("statement", REASONS)
def test_what_can_not_be_seen_again_is_a_reason(reasons: dict[str, ReadRecord], statement: str) -> None:
    record = reasons[written(statement)]
    further = {"reads the environment"} if "subprocess" in statement else set()
    assert {*record.reasons} == {REASONS[statement], *further}
    assert record.why_not() == REASONS[statement]


def test_a_reason_of_its_work_is_none_of_its_import(folder: Path) -> None:
    plugin = loaded(folder, "os.getcwd()")
    assert (plugin.why_not(), list(plugin.imported.reasons)) == ("reads the current folder", [])
    plugin.imported.reasons["first"] = None
    assert plugin.why_not() == "first"


def test_a_relative_name_is_a_reason(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    plugin = loaded(folder, "open('data.txt').close()")
    assert plugin.why_not() == "reads 'data.txt', which is relative to the current folder"
    assert FILE in plugin.worked.reads


def test_what_is_put_in_place_while_it_runs_is_gone_afterwards(folder: Path) -> None:
    before = os.stat, os.getcwd, os.environ.__class__, sys.argv, sys.orig_argv, __import__, len(sys.meta_path)
    loaded(folder, "pass")
    assert (os.stat, os.getcwd, os.environ.__class__, sys.argv, sys.orig_argv, __import__, len(sys.meta_path)) == before
    assert not isinstance(sys.argv, _ObservedArguments)


def test_nothing_is_recorded_of_what_runs_before_and_afterwards(folder: Path) -> None:
    first = loaded(folder, "pass")
    other = Plugin(str(folder / "other.py"), folder)
    before = first.worked.listed
    with run_plugin_code(other):
        open(folder / "data.txt").close()  # noqa: PTH123 - what is observed
        with run_plugin_code(first):
            open(folder / "many" / "a.txt").close()  # noqa: PTH123
        open(folder / "link").close()  # noqa: PTH123
    open(folder / "data.py").close()  # noqa: PTH123
    assert not observation._ACTIVE
    assert {*first.worked.reads} - {(kind, name) for kind, name, _ in before} == {("file", "many/a.txt")}
    assert {each for each in other.worked.reads if each[0] == "file"} == {FILE, LINK}


def test_what_is_read_while_it_is_imported_is_not_of_its_work(folder: Path) -> None:
    """A result depends on both: on the first by the digest of its code, on the second by the list in its entry."""
    (folder / "mine.py").write_text(
        f"{HEAD}    return (HERE / 'many' / 'a.txt').read_text()\nopen(HERE / 'data.txt')\n"
    )
    plugin = load_plugin(folder / "mine.py")
    with run_plugin_code(plugin):
        plugin.module.work()  # type: ignore[union-attr]
    assert {name for kind, name in plugin.imported.reads if kind == "file"} == {"mine.py", "data.txt"}
    assert {name for kind, name in plugin.worked.reads if kind == "file"} == {"many/a.txt"}
    digest = plugin.digest
    assert plugin.why_not() == ""
    assert plugin.is_current()
    assert plugin.is_current(plugin.worked.listed)
    (folder / "many" / "a.txt").write_text("1")
    assert plugin.is_current()
    assert not plugin.is_current(plugin.worked.listed)
    assert plugin.why_not() == "reads many/a.txt, which changed meanwhile"
    (folder / "many" / "a.txt").write_text("0")
    (folder / "data.txt").write_text("1")
    assert not plugin.is_current()
    assert plugin.why_not() == "reads data.txt, which changed meanwhile"
    assert load_plugin(folder / "mine.py").digest != digest


def test_a_plug_in_that_is_moved_with_all_that_it_reads_is_the_same(folder: Path, tmp_path: Path) -> None:
    (folder / "helper.py").write_text("import sys\n")
    (folder / "bare").mkdir()
    (folder / "bare" / "one.py").write_text("ONE = 1\n")
    lines = "import helper\nfrom bare import one\nos.listdir(HERE / 'many')\n(HERE / 'data.txt').stat()"
    first = loaded(folder, lines)
    shutil.copytree(folder, tmp_path / "elsewhere", symlinks=True)
    moved = loaded(tmp_path / "elsewhere", lines)
    assert moved.digest == first.digest
    assert moved.worked.listed == first.worked.listed
    assert moved.is_current(first.worked.listed)
    assert first.why_not() == moved.why_not() == ""
    (tmp_path / "elsewhere" / "helper.py").rename(tmp_path / "elsewhere" / "other.py")
    assert not moved.is_current(first.worked.listed)


def test_the_digest_of_an_installed_package_has_its_version(tmp_path: Path) -> None:
    digests = {Plugin(name, tmp_path).digest for name in ("mine 1.0", "mine 1.1", "yours 1.0", str(tmp_path / "a.py"))}
    assert len(digests) == 4
    assert Plugin(str(tmp_path / "a.py"), tmp_path).digest == Plugin(str(tmp_path / "b.py"), tmp_path).digest


def test_a_module_of_another_plug_in_is_hidden_while_one_runs(folder: Path, tmp_path: Path) -> None:
    (folder / "helper.py").write_text("NAME = 'first'\n")
    first = loaded(folder, "import helper\nwork.found = helper.NAME")
    other = tmp_path / "other"
    shutil.copytree(folder, other, symlinks=True)
    (other / "helper.py").write_text("NAME = 'second'\n")
    second = loaded(other, "import helper\nwork.found = helper.NAME")
    found = [each.module.work.found for each in (first, second)]  # type: ignore[union-attr]
    assert found == ["first", "second"]
    assert "helper" not in sys.modules
    sys.modules["of_tests"] = module = type(sys)("of_tests")
    module.__file__ = str(tmp_path / "of_tests.py")
    try:
        with run_plugin_code(first):
            assert "of_tests" not in sys.modules
            assert "second" not in sys.modules["helper"].NAME
        assert sys.modules["of_tests"] is module
    finally:
        del sys.modules["of_tests"]


#: How a folder is changed, and which reads are other ones then.
CHANGES: dict[str, tuple[Callable[[Path], object], set[tuple[str, str]]]] = {
    "other bytes": (lambda each: (each / "data.txt").write_text("1"), {FILE, LINK}),
    "more bytes": (lambda each: (each / "data.txt").write_text("00"), {FILE, LINK, STATE}),
    "no file": (lambda each: (each / "data.txt").unlink(), {FILE, LINK, STATE}),
    "a folder": (
        lambda each: [(each / "data.txt").unlink(), (each / "data.txt").mkdir()],
        {FILE, LINK, STATE},
    ),
    "one more in the folder": (lambda each: (each / "many" / "b.txt").touch(), {FOLDER}),
    "one less in the folder": (lambda each: (each / "many" / "a.txt").unlink(), {FOLDER}),
    "a folder of the same name": (
        lambda each: [(each / "many" / "a.txt").unlink(), (each / "many" / "a.txt").mkdir()],
        {FOLDER},
    ),
    "other bytes in the folder": (lambda each: (each / "many" / "a.txt").write_text("1"), set()),
    "compiled code in the folder": (lambda each: (each / "many" / "__pycache__").mkdir(), set()),
    "the link's target": (lambda each: [(each / "link").unlink(), (each / "link").symlink_to("many")], {LINK}),
    "a module": (lambda each: (each / "late.py").touch(), {("module", "late")}),
    "the time of the folder": (lambda each: os.utime(each / "many", (1, 1)), set()),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_read_is_another_if_what_it_read_is(folder: Path, name: str) -> None:
    record = ReadRecord(folder)
    for kind, path in (FILE, FOLDER, STATE, LINK, ("state", "nowhere")):
        record.read(kind, str(folder / path))
    record.look_for("late", None)
    path = [str(folder)]
    assert reads_unchanged(record.listed, folder, path)
    change, changed = CHANGES[name]
    change(folder)
    found = {(each[0], each[1]) for each in record.listed if not reads_unchanged([each], folder, path)}
    assert found == changed
    assert reads_unchanged(record.listed, folder, path) is (not changed)


def test_a_record_keeps_what_was_read_first(folder: Path) -> None:
    record = ReadRecord(folder)
    record.read("file", str(folder / "data.txt"))
    before = record.listed, record.digest
    (folder / "data.txt").write_text("1")
    record.read("file", str(folder / "data.txt"))
    record.make(str(folder / "data.txt"))
    record.read("state", str(folder / "data.txt"))
    assert record.listed[:1] == before[0]
    assert record.why_not() == "reads data.txt, which changed meanwhile"
    record.reasons["first"] = record.reasons["second"] = None
    assert record.why_not() == "first"
    assert record.digest != before[1]
