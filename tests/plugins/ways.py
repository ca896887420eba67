"""Ways to write a plug-in, and to change what it computes; each is tried in one process and in several."""

from __future__ import annotations

import os
import sqlite3
import sys
import zipfile
from contextlib import closing
from dataclasses import dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

CONFIG = """\
name: own
title: "0"
plugins: [FILES]
corpus: {name: CORPUS, classes: [course, faculty, student]}
text: {skip_header: true, skip_html: true, stoplist: none, min_occurrences: 100}
protocol: {name: leave-one-group-out, held_out: [cornell]}
methods: [METHOD]
"""
CLASSIFIER = """\
import csv, ctypes, importlib, importlib.util, json, os, pickle, pkgutil, subprocess, sys, threading
import importlib.resources
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING
import numpy as np
from sklearn.base import BaseEstimator
HERE = Path(__file__).parent
{head}

class Mine(BaseEstimator):
    normalization = "l2"

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.vstack([X[y == c].mean(axis=0) for c in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[np.roll(X @ self.means_.T, {roll}, axis=1).argmax(axis=1)]
{tail}
CLASSIFIERS = {{"mine": Mine}}
"""
#: The same class under two names: what the first has kept of what it read, the second finds.
TWO = CLASSIFIER.replace('{{"mine": Mine}}', '{{"mine": Mine, "second": type("Second", (Mine,), {{}})}}')
KERNEL = """\
import json, os
from pathlib import Path
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from benchmark.kernels import Kernel
HERE = Path(__file__).parent
{head}

class Linked(Kernel):
    def from_products(self, products, left, right):
        return products ** (1 + 40 * ({roll}))

class Mine(TransformerMixin, BaseEstimator):
    normalization = "l2"

    def fit(self, X, y=None):
        self.points_ = X
        return self

    def transform(self, X):
        return np.asarray((X @ self.points_.T).todense()) ** (1 + 40 * ({roll}))

KERNELS = {{"mine": Mine, "linked": Linked}}
"""
CORPUS = """\
import json, os
from dataclasses import dataclass
from pathlib import Path
from benchmark.corpora import registry
from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.reader import CorpusReader
HERE = Path(__file__).parent
{head}

@dataclass(frozen=True)
class Mine(CorpusReader):
    name = "generated"
    lexer = "rainbow"
    classes = ("course", "faculty", "project", "student")
    parts = ("cornell", "misc", "texas", "washington", "wisconsin")
    multilabel = False
    def outline(self): return self.load(CorpusSource(None)).documents
    def locate(self, *, download, notify, progress): return CorpusSource(None)
    def content(self, source): return {{}}
    def load(self, source): return registry.load_corpus("synthetic", source, seed=1 + ({roll}))

CORPORA = {{"generated": Mine}}
"""


@dataclass
class Way:
    """A way to write a plug-in, and to change what it computes."""

    head: str = ""
    roll: str = "SHIFT"
    tail: str = ""
    files: dict[str, str] = field(default_factory=dict)
    change: Any = ("mine.py", "SHIFT = 0", "SHIFT = 1")
    plugins: str = "mine.py"
    template: str = CLASSIFIER
    method: str = "mine"
    corpus: str = "synthetic"


def helped(head: str, roll: str = "SHIFT", file: str = "helper.py", **more: Any) -> Way:
    """A plug-in with a module beside it, which is edited."""
    return Way(head, roll, files={file: "SHIFT = 0\n"}, change=(file, "0", "1"), **more)


def reading(head: str, roll: str, file: str = "data.txt", before: str = "0", after: str = "1", **more: Any) -> Way:
    return Way(head, roll, files={file: before}, change=lambda folder: (folder / file).write_text(after), **more)


def at_both(name: str, expression: str, file: str = "data.txt", before: str = "0", after: str = "1") -> dict[str, Way]:
    """What is read when the file is imported, and when the method works."""
    return {
        f"{name}, on import": reading(f"SHIFT = {expression}", "SHIFT", file, before, after),
        f"{name}, at work": reading("", expression, file, before, after),
    }


def environment(name: str, value: str) -> Callable[[Path], None]:
    return lambda _: os.environ.__setitem__(name, value)


def made(call: str) -> str:
    body = CLASSIFIER[CLASSIFIER.index("class Mine") : CLASSIFIER.index("{tail}")].format(roll="shift")
    inner = "".join(f"    {line}\n" for line in body.splitlines())
    return f"\ndef make(shift):\n{inner}    return Mine\n{call}"


def package_instead(folder: Path) -> None:
    (folder / "helper").mkdir()
    (folder / "helper" / "__init__.py").write_text("SHIFT = 1")


def put_back(folder: Path) -> None:
    """Another content of the same size, with the time of the old one."""
    path = folder / "data.txt"
    time = path.stat().st_mtime_ns
    path.write_text("1")
    os.utime(path, ns=(time, time))


def link_target(folder: Path) -> None:
    (folder / "target.json").write_text('{"shift": 1}')


JSON = 'json.loads((HERE / "data.json").read_text())["shift"]'
LIB = "sys.path.insert(0, str(HERE / 'lib'))\nfrom helper2 import SHIFT"
SPEC = """\
spec = importlib.util.spec_from_file_location("h", HERE / "helper.py")
helper = importlib.util.module_from_spec(spec)
spec.loader.exec_module(helper)"""
MADE: dict[str, Any] = {"change": ("mine.py", "make(0)", "make(1)")}
twice: dict[str, Any] = {"template": TWO, "method": "mine, second"}
WAYS: dict[str, Way] = {
    # a. A module beside it
    "import": helped("import helper", "helper.SHIFT"),
    "from import": helped("from helper import SHIFT"),
    "try": helped("try:\n    from helper import SHIFT\nexcept ImportError:\n    SHIFT = 0"),
    "if": helped("if sys.version_info >= (3, 8):\n    from helper import SHIFT"),
    "for": helped("for _ in range(1):\n    from helper import SHIFT"),
    "with": helped("with suppress(ImportError):\n    from helper import SHIFT"),
    "star": helped("from helper import *"),
    "import_module": helped('helper = importlib.import_module("helper")', "helper.SHIFT"),
    "__import__": helped('helper = __import__("helper")', "helper.SHIFT"),
    "exec of a file": helped('exec((HERE / "helper.py").read_text())'),
    "spec from file": helped(SPEC, "helper.SHIFT"),
    "path of a folder": helped(LIB, file="lib/helper2.py"),
    "path of another folder": helped(
        "sys.path.append(str(HERE.parent / 'shared'))\nfrom helper3 import SHIFT", file="../shared/helper3.py"
    ),
    "in a method": helped("def shift():\n    from helper import SHIFT\n    return SHIFT", "shift()"),
    "in a method, by name": helped("", 'importlib.import_module("helper").SHIFT'),
    "a package": helped("from pack import two", "two.SHIFT", "pack/two.py"),
    "a package that imports its own": Way(
        "from pack import two",
        "two.SHIFT",
        files={"pack/__init__.py": "from . import two\n", "pack/two.py": "SHIFT = 0\n"},
        change=("pack/two.py", "0", "1"),
    ),
    "a folder without __init__": helped("from bare.one import SHIFT", file="bare/one.py"),
    "in two steps": Way(
        "from first import SHIFT",
        files={"first.py": "from second import SHIFT\n", "second.py": "SHIFT = 0\n"},
        change=("second.py", "0", "1"),
    ),
    "a module that comes later": Way(
        "try:\n    from helper import SHIFT\nexcept ImportError:\n    SHIFT = 0",
        change=lambda folder: (folder / "helper.py").write_text("SHIFT = 1\n"),
    ),
    "a module that comes later, at work": Way(
        "def shift():\n    try:\n        import helper\n        return helper.SHIFT\n"
        "    except ImportError:\n        return 0",
        "shift()",
        change=lambda folder: (folder / "helper.py").write_text("SHIFT = 1\n"),
    ),
    "a submodule that comes later, at work": Way(
        "import pack\ndef shift():\n    try:\n        from pack import late\n        return late.SHIFT\n"
        "    except ImportError:\n        return 0",
        "shift()",
        files={"pack/__init__.py": ""},
        change=lambda folder: (folder / "pack" / "late.py").write_text("SHIFT = 1\n"),
    ),
    "a thread that imports": helped(
        "def shift():\n    found = []\n"
        "    one = threading.Thread(target=lambda: found.append(importlib.import_module('helper').SHIFT))\n"
        "    one.start()\n    one.join()\n    return found[0]",
        "shift()",
    ),
    "resources": Way(
        "import pack",
        'int(importlib.resources.files(pack).joinpath("data.txt").read_text())',
        files={"pack/__init__.py": "", "pack/data.txt": "0"},
        change=("pack/data.txt", "0", "1"),
    ),
    "get_data": Way(
        "import pack",
        'int(pkgutil.get_data(pack.__name__, "data.txt"))',
        files={"pack/__init__.py": "", "pack/data.txt": "0"},
        change=("pack/data.txt", "0", "1"),
    ),
    # b. Definitions
    "a constant": Way("SHIFT = 0"),
    "a factory": Way(tail=made("Mine = make(0)"), roll="0", **MADE),
    "type": Way("SHIFT = 0", "self.shift", "\nMine = type('Made', (Mine,), {'shift': SHIFT})"),
    "under if": Way("FIRST = 0\nif True:\n    SHIFT = FIRST", change=("mine.py", "FIRST = 0", "FIRST = 1")),
    "under match": Way("match 1:\n    case 1:\n        SHIFT = 0"),
    "with as": Way(
        "FIRST = 0\nwith nullcontext(FIRST) as SHIFT:\n    pass", change=("mine.py", "FIRST = 0", "FIRST = 1")
    ),
    "type checking": Way("if TYPE_CHECKING:\n    SHIFT: int\nelse:\n    SHIFT = 0"),
    "setattr": Way("SHIFT = 0", "self.shift", '\nsetattr(Mine, "shift", SHIFT)'),
    "another's attribute": Way(
        "import helper\nhelper.SHIFT = 0",
        "helper.SHIFT",
        files={"helper.py": ""},
        change=("mine.py", "SHIFT = 0", "SHIFT = 1"),
    ),
    "append": Way("SHIFT = 0\nSTATE = []\nSTATE.append(SHIFT)", "STATE[0]"),
    "global": Way("def setup():\n    global SHIFT\n    SHIFT = 0\nsetup()"),
    "globals": Way("SHIFT = 0", 'globals()["SHIFT"]'),
    "exec of text": Way('TEXT = "SHIFT = 0"\nexec(TEXT)'),
    "docstring": Way('def f():\n    """0"""\nSHIFT = int(f.__doc__)', change=("mine.py", '"""0"""', '"""1"""')),
    "comment": Way(
        'SHIFT = int(Path(__file__).read_text().split("# " + "level ")[1][0])\n# level 0',
        change=("mine.py", "# level 0", "# level 1"),
    ),
    # c. What it reads
    **at_both("json", JSON, "data.json", '{"shift": 0}', '{"shift": 1}'),
    **at_both("text", 'int((HERE / "data.txt").read_text())'),
    **at_both("csv", 'int(list(csv.reader((HERE / "data.csv").open()))[0][1])', "data.csv", "a,0", "a,1"),
    **at_both("os.open", 'int(os.read(os.open(HERE / "data.txt", os.O_RDONLY), 9))'),
    **at_both("numpy", 'int(np.loadtxt(HERE / "data.txt"))'),
    **at_both("numpy of numbers", 'int(np.fromfile(HERE / "data.bin", dtype="u1")[0] - 48)', "data.bin"),
    **at_both("memmap", 'int(np.memmap(HERE / "data.bin", dtype="u1", mode="r")[0] - 48)', "data.bin"),
    **at_both("the relative path", 'int(Path(os.path.relpath(HERE / "data.txt")).read_text())'),
    **at_both("a process", 'int(subprocess.check_output(["cat", str(HERE / "data.txt")]))'),
    **at_both("os.system", 'os.system(f"exit $(cat {HERE}/data.txt)") // 256'),
    **at_both("size", '(HERE / "data.txt").stat().st_size - 1', after="11"),
    **at_both("size, of os.path", 'os.path.getsize(HERE / "data.txt") - 1', after="11"),
    **at_both("the configuration", '"1" in (HERE / "own.yaml").read_text().split("title:")[1][:5]', "own.yaml"),
    **at_both("glob", 'len(list((HERE / "many").glob("*.txt"))) - 1', "many/a.txt"),
    **at_both("listdir", 'len(os.listdir(HERE / "many")) - 1', "many/a.txt"),
    **at_both("walk", 'sum(len(files) for _, _, files in os.walk(HERE / "many")) - 1', "many/a.txt"),
    **at_both("exists", 'int((HERE / "flag").exists())', "flag"),
    **at_both("os.path.exists", 'int(os.path.exists(HERE / "flag"))', "flag"),
    **at_both("os.access", 'int(os.access(HERE / "flag", os.R_OK))', "flag"),
    **at_both("open that fails", 'int(not suppress(OSError).__exit__ and 0) + int((HERE / "flag").is_file())', "flag"),
    **at_both("environment", 'int(os.environ.get("MY_SHIFT", "0"))', ""),
    **at_both("getenv", 'int(os.getenv("MY_SHIFT") or 0)', ""),
    **at_both("all of the environment", 'int(dict(os.environ).get("MY_SHIFT", 0))', ""),
    **at_both("bytes of the environment", 'int(os.environb.get(b"MY_SHIFT", b"0"))', ""),
    **at_both("command line", 'int("--verbose" in sys.argv)', ""),
    **at_both("words of the command line", "len(sys.argv[1:])", ""),
    **at_both("folder", 'int(Path.cwd().name.endswith("-b"))', ""),
    **at_both("link", 'json.loads((HERE / "link.json").read_text())["shift"]', "link.json"),
    "pickle": reading("", 'pickle.loads((HERE / "data.pkl").read_bytes())', "data.pkl", "I0\n.", "I1\n."),
    "a thread that reads": reading(
        "def shift():\n    found = []\n"
        "    one = threading.Thread(target=lambda: found.append(int(Path(HERE / 'data.txt').read_text())))\n"
        "    one.start()\n    one.join()\n    return found[0]",
        "shift()",
    ),
    "a pool that reads": reading(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def shift():\n    with ThreadPoolExecutor(2) as pool:\n"
        "        return int(list(pool.map(np.loadtxt, [HERE / 'data.txt']))[0])",
        "shift()",
    ),
    "compiled code": reading(
        "SHIFT = 0\nimport _ctypes\nctypes.CDLL(_ctypes.__file__)", "int((HERE / 'data.txt').read_text())"
    ),
    "a module in place of another": Way(
        "def shift():\n    import helper\n    return helper.SHIFT",
        "shift()",
        files={"helper.py": "SHIFT = 0\n"},
        change=package_instead,
    ),
    "the same size and time": Way("", 'int((HERE / "data.txt").read_text())', files={"data.txt": "0"}, change=put_back),
    "a file that it makes by itself": reading(
        "def shift():\n    (HERE / 'made.txt').write_text((HERE / 'data.txt').read_text())\n"
        "    return int((HERE / 'made.txt').read_text())",
        "shift()",
    ),
    "a cache": reading(
        "import functools\n@functools.cache\ndef shift():\n    return int((HERE / 'data.txt').read_text())",
        "shift()",
        **twice,
    ),
    "a pool that lives on": reading(
        "from concurrent.futures import ThreadPoolExecutor\nPOOL = ThreadPoolExecutor(1)\n"
        "def shift():\n    return int(POOL.submit((HERE / 'data.txt').read_text).result())",
        "shift()",
        **twice,
    ),
    "processes that live on": reading(
        "import multiprocessing\nPOOL = []\n"
        "def shift():\n    POOL[:] = POOL or [multiprocessing.get_context('spawn').Pool(1)]\n"
        "    return int(POOL[0].apply(Path.read_text, (HERE / 'data.txt',)))",
        "shift()",
        **twice,
    ),
    "a kernel's transform": reading("", JSON, "data.json", '{"shift": 0}', '{"shift": 1}', template=KERNEL),
    "a kernel's link": reading("", JSON, "data.json", '{"shift": 0}', '{"shift": 1}', template=KERNEL, method="linked"),
    "a kernel's environment": Way(
        "", 'int(os.environ.get("MY_SHIFT", 0))', change=environment("MY_SHIFT", "1"), template=KERNEL
    ),
    "a corpus that reads": reading(
        "", JSON, "data.json", '{"shift": 0}', '{"shift": 1}', template=CORPUS, method="mnb", corpus="generated"
    ),
    "a corpus' environment": Way(
        "",
        'int(os.environ.get("MY_SHIFT", 0))',
        change=environment("MY_SHIFT", "1"),
        template=CORPUS,
        method="mnb",
        corpus="generated",
    ),
}
NO_FILE = {
    "glob": lambda folder: (folder / "many" / "b.txt").write_text("0"),
    "listdir": lambda folder: (folder / "many" / "b.txt").write_text("0"),
    "walk": lambda folder: (folder / "many" / "b.txt").write_text("0"),
    "exists": lambda folder: (folder / "flag").touch(),
    "os.path.exists": lambda folder: (folder / "flag").touch(),
    "os.access": lambda folder: (folder / "flag").touch(),
    "open that fails": lambda folder: (folder / "flag").touch(),
    "environment": environment("MY_SHIFT", "1"),
    "getenv": environment("MY_SHIFT", "1"),
    "all of the environment": environment("MY_SHIFT", "1"),
    "bytes of the environment": environment("MY_SHIFT", "1"),
    "command line": lambda _: sys.argv.append("--verbose"),
    "words of the command line": lambda _: sys.argv.append("--verbose"),
    "folder": lambda folder: os.chdir(folder.with_name("folder-b")),
    "the configuration": lambda folder: (folder / "own.yaml").write_text(
        (folder / "own.yaml").read_text().replace('title: "0"', 'title: "1"')
    ),
    "link": link_target,
}


#: What one line must say of ways that can't be stored; of all others nothing is said.
REASONS = {
    "a process": "starts a process",
    "os.system": "starts a process",
    "the relative path": "current folder",
    "environment": "reads the environment",
    "getenv": "reads the environment",
    "all of the environment": "reads the environment",
    "bytes of the environment": "reads the environment",
    "command line": "reads the command line",
    "words of the command line": "reads the command line",
    "folder": "reads the current folder",
    "a kernel's environment": "reads the environment",
    "a corpus' environment": "reads the environment",
    "compiled code": "compiled code",
    # The first reason depends on whether a helper process of multiprocessing's already runs in this process.
    "processes that live on": "aren't stored",
}


#: Ways to read a number that a file has, and statements that one which sets SHIFT can stand in, with it and without.
READS = (
    'int((HERE / "data.txt").read_text())',
    'int(open(HERE / "data.txt", "rb").read())',
    'json.load((HERE / "data.txt").open())',
    'int(next(csv.reader((HERE / "data.txt").open()))[0])',
    'int(np.loadtxt(HERE / "data.txt"))',
    'int(os.read(os.open(HERE / "data.txt", os.O_RDONLY), 9))',
    'int(np.memmap(HERE / "data.txt", dtype="u1", mode="r")[0] - 48)',
    'importlib.import_module("helper").SHIFT',
    '__import__("helper").SHIFT',
    '__import__("runpy").run_path(str(HERE / "helper.py"))["SHIFT"]',
    'int((HERE / "helper.py").read_text().split("=")[1])',
    'int(__import__("linecache").getline(str(HERE / "helper.py"), 1).split("=")[1])',
    'int(__import__("zipfile").Path(HERE / "data.zip", "data.txt").read_text())',
    'int(__import__("sqlite3").connect(HERE / "data.db").execute("select n from t").fetchone()[0])',
)
IN_A_THREAD = """\
def inner():
{0}
    found.append(SHIFT)
found, one = [], threading.Thread(target=inner)
one.start()
one.join()
SHIFT = found[0]"""
INSIDE = (
    "try:\n{0}\nfinally:\n    pass",
    "with nullcontext():\n{0}",
    "for _ in range(1):\n{0}",
    "while True:\n{0}\n    break",
    "if HERE:\n{0}",
    "class Holder:\n{0}\nSHIFT = Holder.SHIFT",
    "def inner():\n{0}\n    return SHIFT\nSHIFT = inner()",
    "def inner():\n{0}\n    yield SHIFT\nSHIFT = next(inner())",
    "@__import__('functools').cache\ndef inner():\n{0}\n    return SHIFT\nSHIFT = inner()",
    "@lambda run: run()\ndef SHIFT():\n{0}\n    return SHIFT",
    IN_A_THREAD,
)


def composed(random: Random) -> Way:
    """Make a way to read a number, inside one to three statements, when the file is imported or when it works."""
    text = f"SHIFT = {random.choice(READS)}"
    for _ in range(random.choice((1, 2, 3))):
        if random.random() < 0.15:
            text = f"space = dict(globals())\nexec({text!r}, space)\nSHIFT = space['SHIFT']"
        else:
            text = random.choice(INSIDE).format(indent(text, "    "))
    works = random.random() < 0.5
    head = f"def shift():\n{indent(text, '    ')}\n    return SHIFT" if works else text
    return Way(head, "shift()" if works else "SHIFT", change=write_number)


def write_number(folder: Path, number: int = 1) -> None:
    """Write a number into all files that `READS` read."""
    (folder / "data.txt").write_text(str(number))
    (folder / "helper.py").write_text(f"SHIFT = {number}\n")
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("data.txt", str(number))
    (folder / "data.db").unlink(missing_ok=True)
    with closing(sqlite3.connect(folder / "data.db")) as base:
        base.execute("create table t (n)")
        base.execute("insert into t values (?)", (number,))
        base.commit()


def written(way: Way, folder: Path) -> Path:
    folder.mkdir()
    folder.with_name("folder-b").mkdir()
    (folder.with_name("shared")).mkdir()
    config = CONFIG.replace("FILES", way.plugins).replace("METHOD", way.method).replace("CORPUS", way.corpus)
    for name, text in way.files.items():
        if name in ("", "flag", "own.yaml", "link.json"):
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    if "link.json" in way.files:
        (folder / "target.json").write_text('{"shift": 0}')
        (folder / "link.json").symlink_to("target.json")
    (folder / "mine.py").write_text(way.template.format(head=way.head, roll=way.roll, tail=way.tail))
    (folder / "own.yaml").write_text(config)
    return folder / "own.yaml"


def change(name: str, way: Way, folder: Path) -> None:
    """Change what a way reads or is."""
    change = NO_FILE.get(name.partition(",")[0], way.change)
    if callable(change):
        change(folder)
        return
    file, before, after = change
    text = (folder / file).read_text()
    assert before in text
    (folder / file).write_text(text.replace(before, after))
