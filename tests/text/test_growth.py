"""A corpus by Zipf's law, of any size; and what reading and counting it hold, which grows no faster than it does."""

from __future__ import annotations

import importlib.util
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.user.user_files import UserFiles
from benchmark.text import vocabulary
from benchmark.text.lexer import Lexing
from benchmark.text.pruning import Pruning
from benchmark.text.vocabulary import count_terms

if TYPE_CHECKING:
    from types import ModuleType

    from benchmark.corpora.corpus import Corpus

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def zipf() -> ModuleType:
    spec = importlib.util.spec_from_file_location("zipf", REPOSITORY / "tests" / "perf" / "zipf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def corpus_of(path: Path) -> Corpus:
    return UserFiles(str(path), split="split").load(CorpusSource(path))


def test_what_is_held_grows_no_faster_than_the_documents(
    zipf: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vocabulary, "CHUNK_BYTES", 2**18)  # a small part of few documents

    def held(n: int) -> int:
        zipf.write(tmp_path / f"{n}.csv", n, n_words=5_000)
        tracemalloc.start()
        # On one thread: how many parts two threads hold at once depends on what else the machine does.
        counts = count_terms(corpus_of(tmp_path / f"{n}.csv"), Lexing(stoplist="none"), Pruning())
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert counts.matrix.shape[0] == n
        return peak

    held(300)
    small, large = held(1_250), held(5_000)
    assert large < 4.1 * small
    assert large < 5_000 * 3_000  # bytes a document of 100 words
