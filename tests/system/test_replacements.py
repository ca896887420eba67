"""What other code uses is restored in every shared module and class; what is compiled meanwhile stays."""

from __future__ import annotations

import importlib
from typing import Any

import numba
import pytest

from benchmark.system.user_code.replacements import PatchedError, SharedCode

#: A function or class of each shared module.
SHARED = """
builtins.bin os.getlogin posixpath.commonpath math.erf random.gauss json.load io.open_code time.ctime copy.deepcopy
itertools.permutations functools.singledispatch collections.ChainMap warnings.formatwarning pathlib.PureWindowsPath
re.escape csv.Sniffer hashlib.pbkdf2_hmac struct.iter_unpack string.capwords operator.matmul statistics.mode
datetime.time decimal.DivisionByZero threading.Barrier subprocess.getoutput tempfile.mkdtemp shutil.move zlib.adler32
gzip.GzipFile zipfile.PyZipFile pickle.Pickler numpy.vander numpy.linalg.slogdet scipy.sparse.kron sklearn.base.clone
pandas.DataFrame numba.jit libsvm.svm.svm_model yaml.dump pyarrow.Table pydantic.create_model
benchmark.system.errors.one_line
"""
#: Methods of shared classes.
METHODS = """
sklearn.base.BaseEstimator.get_params sklearn.base.ClassifierMixin.score scipy.sparse.csr_array.count_nonzero
benchmark.system.observer.Observer.note benchmark.text.counts.Counts.__init__
"""


class Other:
    """Something else in place of what was there."""


def place_of(name: str) -> tuple[Any, str]:
    """Return what has an attribute, and the attribute's name."""
    words = name.split(".")
    owner: Any = importlib.import_module(words[0])
    for n, word in enumerate(words[1:-1], start=2):
        try:
            owner = importlib.import_module(".".join(words[:n]))
        except ImportError:
            owner = getattr(owner, word)
    return owner, words[-1]


def test_each_shared_module_and_class_is_restored() -> None:
    places = [place_of(name) for name in (SHARED + METHODS).split()]
    before = [vars(owner).get(name, Other) for owner, name in places]
    shared = SharedCode()
    for owner, name in places:
        setattr(owner, name, Other)
    try:
        with pytest.raises(PatchedError) as raised:
            shared.restore()
        left = [
            f"{o.__name__}.{n}" for (o, n), old in zip(places, before, strict=True) if vars(o).get(n, Other) is not old
        ]
    finally:
        for (owner, name), old in zip(places, before, strict=True):
            if old is Other:
                vars(owner).get(name) and delattr(owner, name)
            else:
                setattr(owner, name, old)
    assert left == []
    named = str(raised.value).removeprefix("it replaces ").partition(", which")[0].split(", ")
    assert named == sorted(named)
    assert len(named) == 3


@pytest.mark.parametrize("name", METHODS.split())
def test_a_method_is_named_by_its_class(name: str) -> None:
    owner, attribute = place_of(name)
    old = vars(owner).get(attribute)
    shared = SharedCode()
    setattr(owner, attribute, lambda *_: None)
    with pytest.raises(
        PatchedError, match=rf"^it replaces {owner.__module__}\.{owner.__qualname__}\.{attribute}, which"
    ):
        shared.restore()
    assert vars(owner).get(attribute) is old


def test_what_is_compiled_while_it_runs_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """This package's functions are replaced by their machine code when they are first called."""
    module = importlib.import_module("benchmark.system.errors")
    shared, compiled = SharedCode(), numba.njit(module.one_line)
    monkeypatch.setattr(module, "one_line", compiled)
    shared.restore()
    assert module.one_line is compiled
