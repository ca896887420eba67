"""Digests of code that an earlier process has kept are those found anew; tests/experiment/test_keys.py has the rest."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from benchmark import code
from benchmark.classifiers.multinomial_bayes import MultinomialBayes
from benchmark.code import SOURCES, code_digest, forget_trees
from benchmark.kernels.products import inner_products

ROOTS = (MultinomialBayes, inner_products)


def restart() -> None:
    """Know no more than a new process."""
    for cached in (code._digest, code._reached, code._named_by, code._digest_of_one, code._state):
        cached.cache_clear()
    forget_trees()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    restart()
    yield
    restart()


@contextmanager
def unread():
    """Fail where a module is read anew."""

    def never(module):
        pytest.fail(f"{module} is read although its digest is kept")

    restart()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code, "_parsed", never)
        yield


def test_the_next_process_reads_no_module():
    before = code_digest(*ROOTS)
    with unread():
        assert code_digest(*ROOTS) == before


def test_what_is_kept_is_what_is_found_anew():
    first = code_digest(*ROOTS)
    restart()
    kept = code_digest(*ROOTS)
    code._file().unlink()
    restart()
    assert kept == code_digest(*ROOTS) == first


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda raw: raw[: len(raw) // 2],
        lambda raw: raw.replace(b'"digest": "', b'"digest": "0', 1),
        lambda raw: b"\xff" + raw,
    ],
    ids=["empty", "cut", "another digest", "no text"],
)
def test_a_damaged_file_is_as_none(damage):
    before = code_digest(*ROOTS)
    path = code._file()
    path.write_bytes(damage(path.read_bytes()))
    restart()
    assert code_digest(*ROOTS) == before


def test_an_edit_is_seen(monkeypatch):
    before = code_digest(*ROOTS)
    name = MultinomialBayes.__module__
    monkeypatch.setitem(
        SOURCES,
        name,
        SOURCES[name].replace("return np.asarray(self.classes_[best])", "return np.asarray(self.classes_[-best])"),
    )
    restart()
    assert code_digest(*ROOTS) != before
    monkeypatch.undo()


def test_another_version_of_a_library_is_seen(monkeypatch):
    before = code_digest(*ROOTS)
    restart()
    monkeypatch.setattr(code, "version", lambda _: "0.0")
    assert code_digest(*ROOTS) != before


def test_another_python_is_seen(monkeypatch):
    code_digest(*ROOTS)
    restart()
    monkeypatch.setattr(code.sys, "version", "4.0")
    assert code._state() not in code._kept()


def test_plug_ins_are_another_state_and_a_few_are_kept(monkeypatch):
    monkeypatch.setattr(code, "SOURCES", dict(SOURCES))
    states = []
    for number in range(code._STATES + 2):
        code.add_modules({"added": f"x = {number}"})
        code._digest.cache_clear()
        code_digest(*ROOTS)
        states.append(code._state())
    assert list(code._kept()) == states[2:]


def test_a_folder_that_refuses_is_no_obstacle(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    before = code_digest(*ROOTS)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    restart()
    assert code_digest(*ROOTS) == before
