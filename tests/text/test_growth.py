"""A corpus by Zipf's law, of any size; and what reading and counting it hold, which grows no faster than it does."""

from __future__ import annotations

import importlib.util
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
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


def test_a_small_corpus_is_the_beginning_of_a_large_one(zipf: ModuleType, tmp_path: Path) -> None:
    small, large, other = (tmp_path / f"{name}.csv" for name in ("small", "large", "other"))
    zipf.write(small, 300, n_words=1000)
    zipf.write(large, 500, n_words=1000)
    zipf.write(other, 300, n_words=1000, seed=1)
    assert large.read_bytes().startswith(small.read_bytes())
    assert other.read_bytes() != small.read_bytes()


def test_words_follow_zipf_and_classes_are_told_by_them(zipf: ModuleType, tmp_path: Path) -> None:
    zipf.write(tmp_path / "c.csv", 2000, n_words=1000, n_classes=4)
    corpus = corpus_of(tmp_path / "c.csv")
    documents = corpus.documents
    assert len(documents.classes) == 4
    assert np.bincount(documents.parts).tolist() == [400, 1600]  # test, train
    found = Counter(word for text in corpus for word in text.decode().split())
    assert set(found) <= {zipf.word_of(rank) for rank in range(1000)}
    assert sum(found.values()) == 2000 * 100
    often = [found[zipf.word_of(rank)] for rank in (0, 9, 99)]
    assert often[0] / often[1] == pytest.approx(10.5 / 1.5, rel=0.2)
    assert often[0] / often[2] == pytest.approx(100.5 / 1.5, rel=0.35)
    # A class's own words are others than all's: some word stands in its documents alone far more often.
    matrix = count_terms(corpus, Lexing(stoplist="none"), Pruning()).matrix
    shares = np.stack([np.asarray(matrix[documents.labels == each].sum(axis=0)).ravel() for each in range(4)])
    assert ((shares.max(axis=0) / shares.sum(axis=0))[shares.sum(axis=0) > 100] > 0.9).sum() >= 4


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
