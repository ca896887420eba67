"""Near-duplicates against a comparison of every pair, planted ones, and those of the real corpora."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from benchmark.text.duplicates import NEAR_DUPLICATE_SIMILARITY, near_duplicates
from benchmark.text.lexer import Lexing, Pruning
from benchmark.text.vocabulary import count_terms
from tests.builders import real_corpus

N_TERMS = 300


def counts_of(documents: list[set[int]]) -> sp.csr_array:
    indices = np.concatenate([np.empty(0, np.int32), *(np.array(sorted(each), np.int32) for each in documents)])
    pointers = np.cumsum([0, *map(len, documents)], dtype=np.int32)
    data = np.arange(1, len(indices) + 1, dtype=np.int32)  # how often a term occurs makes no difference
    return sp.csr_array((data, indices, pointers), shape=(len(documents), N_TERMS))


def similarity(one: set[int], other: set[int]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


@st.composite
def collections(draw: st.DrawFn) -> list[set[int]]:
    """Documents of a few sets of terms, with some terms more or less."""
    terms = st.integers(0, N_TERMS - 1)
    bases = draw(st.lists(st.sets(terms, min_size=0, max_size=40), min_size=1, max_size=3))
    changes = st.tuples(st.sampled_from(bases), st.sets(terms, max_size=2), st.integers(0, 3))
    return [(base | more) - set(sorted(base)[:less]) for base, more, less in draw(st.lists(changes, max_size=12))]


@given(collections(), st.data())
@example([set(), set(), {1}, {1}], None)
def test_they_are_those_of_a_comparison_of_every_pair(documents: list[set[int]], data: st.DataObject | None) -> None:
    halves = [n % 2 == 0 for n in range(len(documents))]
    if data is not None:
        halves = data.draw(st.lists(st.booleans(), min_size=len(documents), max_size=len(documents)))
    train, test = np.flatnonzero(halves), np.flatnonzero(~np.array(halves, dtype=np.bool_))

    rows, found = near_duplicates(counts_of(documents), train, test)

    for number, row in enumerate(test):
        true = {other: similarity(documents[row], documents[other]) for other in train}
        best = max(true.values(), default=0.0)
        if best < NEAR_DUPLICATE_SIMILARITY:
            assert (rows[number], found[number]) == (-1, 0)
        else:
            assert (rows[number], found[number]) == (min(other for other in true if true[other] == best), best)


@pytest.mark.parametrize(("size", "near"), [(19, True), (38, True), (190, True), (18, False), (36, False)])
def test_of_planted_pairs_none_is_missed_and_of_almost_as_like_ones_none_is_taken(size: int, near: bool) -> None:
    random, changed = np.random.default_rng(size), -(-size // 19)
    documents = []
    for _ in range(200):
        terms = random.permutation(N_TERMS)
        documents += [set(terms[:size].tolist()), set(terms[changed : size + changed].tolist())]
    train, test = np.arange(0, 400, 2), np.arange(1, 400, 2)
    assert (similarity(documents[0], documents[1]) >= NEAR_DUPLICATE_SIMILARITY) is near

    rows, _ = near_duplicates(counts_of(documents), train, test)

    np.testing.assert_array_equal(rows, train if near else np.full(200, -1))


# Our own measurements, equal to those of a comparison of every pair: near-duplicates, and the same terms.
@pytest.mark.corpus
@pytest.mark.parametrize(("name", "near", "same"), [("20ng", 49, 10), ("reuters", 51, 27)])
def test_test_documents_that_training_has_seen(name: str, near: int, same: int) -> None:
    corpus = real_corpus(name)
    documents = corpus.documents
    sides = [np.flatnonzero(documents.parts == documents.part_names.index(side)) for side in ("train", "test")]
    _, found = near_duplicates(count_terms(corpus, Lexing(stoplist="none"), Pruning()).matrix, *sides)
    assert ((found > 0).sum(), (found == 1).sum()) == (near, same)
