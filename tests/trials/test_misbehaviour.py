"""Plug-ins that misbehave, in runs of their own: their work, or one line that blames them; other methods as ever."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.plugins.test_misbehaviour import CLASSIFIER
from tests.trials.limits import chance, some, trial
from tests.trials.processes import bench

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """\
name: own
plugins: [mine.py]
corpus: {name: synthetic, classes: [course, faculty, student]}
text: {skip_header: true, skip_html: true, stoplist: none, min_occurrences: 100}
protocol: {name: leave-one-group-out, held_out: [cornell]}
methods: [mine, mnb]
"""
IMPORTS = """\
import atexit, builtins, ctypes, decimal, gc, io, locale, logging, multiprocessing, resource, shutil, subprocess
import threading, time, numba, scipy.sparse
"""
#: What it does, and whether its number must be the right one all the same.
STATEMENTS = {
    # It prints.
    "print('noise', flush=True)": True,
    "sys.__stdout__.write('noise')": True,
    "os.write(1, b'noise')": True,
    "open('/dev/stdout', 'w').write('noise')": True,
    "os.dup2(2, 1)": True,
    "sys.stdout = sys.stderr = io.StringIO()": True,
    "subprocess.run(['echo', 'noise'])": True,
    "ctypes.CDLL(None).puts(b'noise')": True,
    "logging.warning('noise')": True,
    "warnings.warn('a note of the run')": True,
    # It closes.
    "sys.stdout.close()": True,
    "sys.__stdout__.close()": True,
    "os.close(1)": True,
    "os.close(2)": True,
    "os.close(0)": True,
    "sys.stdin = None": True,
    # It changes settings.
    "os.chdir('/')": True,
    "os.umask(0o777)": True,
    "os.environ.clear()": True,
    "os.environ['TZ'] = 'Asia/Tokyo'; time.tzset()": True,
    "locale.setlocale(locale.LC_ALL, 'C')": True,
    "sys.setrecursionlimit(90)": True,
    "sys.set_int_max_str_digits(640)": True,
    "sys.setswitchinterval(1e-6)": True,
    "sys.excepthook = sys.unraisablehook = None": True,
    "gc.disable()": True,
    "signal.alarm(1)": True,
    "np.seterr(all='raise')": True,
    "np.set_printoptions(precision=1)": True,
    "warnings.simplefilter('error')": True,
    "__import__('sklearn').set_config(transform_output='pandas')": True,
    "numba.set_num_threads(1)": True,
    "resource.setrlimit(resource.RLIMIT_NOFILE, (20, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))": True,
    "random.seed(7); np.random.seed(7)": True,
    "__import__('csv').field_size_limit(5)": True,
    "decimal.getcontext().prec = 1": True,
    "gc.set_threshold(0); gc.freeze()": True,
    "os.environ = {}; sys.argv.clear()": True,
    "os.nice(1)": True,
    "resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))": True,
    "warnings.showwarning = sys.displayhook = None": True,
    "logging.disable(); logging.basicConfig(level=0, stream=sys.stdout); logging.error('noise')": True,
    "numba.config.DISABLE_JIT = 1": True,
    "sys.path_importer_cache.clear(); sys.path_hooks.clear()": True,
    "sys.tracebacklimit = 0": True,
    # Its objects are odd.
    "X.data *= np.nan; X.resize((1, 1))": True,
    "type(self).__eq__ = type(self).__hash__ = type(self).__str__ = lambda *_: 1 / 0": True,
    "type(self).__len__ = type(self).__bool__ = lambda _: 1 / 0": True,
    "type(self).__repr__ = lambda _: 'x' * 10**8": True,
    # It replaces what others use.
    "np.unique = lambda y: np.array([2, 1, 0])": False,
    "builtins.print = None": False,
    "builtins.open = None": False,
    "json = __import__('json'); json.dumps = lambda *_, **__: '{}'": False,
    "re = __import__('re'); re.compile = None": False,
    "hashlib = __import__('hashlib'); hashlib.sha256 = None": False,
    "os.replace = None": False,
    "time.perf_counter = lambda: 0.0": False,
    "for name in list(sys.modules):\n            if name.startswith('benchmark.'): del sys.modules[name]": False,
    "for name in list(sys.modules):\n            if name.startswith('sklearn'): del sys.modules[name]": False,
    "sys.modules.clear()": False,
    "sys.path.clear()": True,
    "sys.meta_path.clear()": True,
    "scipy.sparse.csr_array.sum = scipy.sparse.csr_array.tocsr = None": False,
    "BaseEstimator.get_params = BaseEstimator.__sklearn_tags__ = None": False,
    "time.sleep = time.monotonic = None": False,
    "sys.modules[__name__] = None": True,
    # It changes files.
    "os.remove(__file__)": True,
    "open(__file__, 'a').write('# more')": True,
    "shutil.rmtree(os.environ['BENCH_CACHE'], ignore_errors=True)": True,
    "open('own.yaml', 'w').close()": True,
    # It ends, or asks.
    "os._exit(0)": False,
    "sys.exit(0)": False,
    "raise KeyboardInterrupt": False,
    "raise BaseException": False,
    "raise ExceptionGroup('x', [ValueError('y')])": False,
    "raise type('Odd', (BaseException,), {'__repr__': lambda _: 1 / 0})": False,
    "raise type('Odd', (Exception,), {'__module__': 1, '__str__': lambda _: None})": False,
    "raise ValueError('x' * 10**7)": False,
    "raise ValueError('a\\n\\n\\tb\\r' * 10**4)": False,
    "raise ValueError('\\ud800\\x1b[31m\\u202e')": False,
    "raise OSError(28, 'No space left on device')": False,
    "raise BrokenPipeError(32, 'Broken pipe')": False,
    "input()": False,
    "sys.stdin.read()": True,
    # It goes on.
    "threading.Thread(target=time.sleep, args=(10**6,)).start()": True,
    "threading.Thread(target=time.sleep, args=(10**6,), daemon=True).start()": True,
    "threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()": True,
    "os.fork()": True,
    "os.fork() or os._exit(0)": True,
    "subprocess.Popen(['sleep', '15'])": True,
    "multiprocessing.Process(target=time.sleep, args=(1,)).start()": True,
    "atexit.register(int, '1')": True,
}
PLACES = ("fit", "scores", "import")
#: What needs an object, which there is none of on import; and what needs its scores.
OF_OBJECTS = ("X.", "type(self)")
OF_SCORES = {
    "scores = (row for row in scores)": False,
    "scores = type('Odd', (), {'__array__': lambda *_, **__: 1 / 0, '__len__': lambda _: 1 / 0})()": False,
    "scores = [1, [2, 3]]": False,
    "scores.flags.writeable = False": True,
    "scores = scores[::-1, ::-1][::-1, ::-1]": True,
    "scores = scores.astype('>f8')": True,
    "scores = scores.view(type('Odd', (np.ndarray,), {'__eq__': lambda *_: 1 / 0, 'astype': None}))": True,
}
#: Where a line says that the file is gone.
GONE = ("os.remove(__file__)", "import")
CASES = [
    *((each, place) for each in STATEMENTS for place in PLACES if place != "import" or not each.startswith(OF_OBJECTS)),
    *((each, "scores") for each in OF_SCORES),
]
STATEMENTS |= OF_SCORES
chance("misbehaviour", 0).shuffle(CASES)


def plugin(statement: str, place: str) -> str:
    """Write a classifier that does something odd in a method, or when it is imported."""
    text = IMPORTS + CLASSIFIER.format(**{"fit": "pass", "scores": "pass"} | {place: statement})
    return text if place != "import" else f"{text}\nif True:\n        {statement}\n"


def accuracies(out: str) -> dict[str, float]:
    scores: list[dict[str, Any]] = json.loads(out)["runs"][0]["scores"]
    return {each["cell"]: each["value"] for each in scores if (each["metric"], each["fold"]) == ("accuracy", "all")}


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Accuracies of a plug-in that does nothing odd."""
    return accuracies(run("pass", "fit", tmp_path_factory.mktemp("right")).out)


def run(statement: str, place: str, folder: Path) -> Any:
    (folder / "own.yaml").write_text(CONFIG)
    (folder / "mine.py").write_text(plugin(statement, place))
    return bench("run", "own.yaml", "--json", "--out", "out", folder=folder, BENCH_CACHE=str(folder / "store"))


@pytest.mark.parametrize(("statement", "place"), some(CASES, 5))
@trial(60)
def test_its_work_or_a_line_that_blames_it(statement: str, place: str, right: dict[str, float], tmp_path: Path) -> None:
    done = run(statement, place, tmp_path)
    done.assert_clear()
    if done.code in (0, 1) and place != "import":
        found = accuracies(done.out)
        assert found["mnb"] == right["mnb"]
        assert found.get("mine", right["mine"]) == right["mine"]
        assert ("mine" in found) == (not done.code)
    assert not done.code or "mine.py" in done.error
    if STATEMENTS[statement] and (statement, place) != GONE:
        assert not done.code
    else:
        assert done.code == (2 if place == "import" else 1)
    assert "noise" not in done.out
