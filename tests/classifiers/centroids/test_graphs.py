"""Graphs of words: what makes each the graph it is, and that the flow ends at the exact centroid on all of them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from benchmark.classifiers.centroids.divergence import class_statistics, mean_skl
from benchmark.classifiers.centroids.exact import skl_centroid
from benchmark.classifiers.centroids.flow import gradient_flow
from benchmark.classifiers.centroids.graphs import (
    WORD_GRAPHS,
    co_occurrence_graph,
    co_occurrence_tree,
    frequency_path,
    vocabulary_path,
)
from tests.classifiers.centroids.drawn import draw_documents

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cosine(counts: sp.csr_array) -> NDArray[np.float64]:
    occurs = counts.toarray() > 0
    sizes = np.maximum(occurs.sum(axis=0), 1)
    similar = (occurs.T.astype(float) @ occurs) / np.sqrt(np.outer(sizes, sizes))
    np.fill_diagonal(similar, 0)
    return np.asarray(similar)


@pytest.mark.parametrize("name", WORD_GRAPHS)
def test_is_connected_and_names_each_edge_once(name: str) -> None:
    counts = draw_documents(30, 50)
    assert (np.asarray(counts.sum(axis=0)) == 0).any()  # words that occur nowhere must hang on something, too
    edges = np.sort(WORD_GRAPHS[name](counts), axis=1)
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert (edges[:, 0] < edges[:, 1]).all()
    graph = sp.csr_array((np.ones(len(edges)), edges.T), shape=(50, 50))
    assert connected_components(graph, directed=False)[0] == 1
    assert len(edges) == 49 or name == "co-occurrence"


@pytest.mark.parametrize("name", WORD_GRAPHS)
def test_the_flow_ends_at_the_exact_energy_on_it(name: str) -> None:
    counts = draw_documents(20, 40, seed=1)
    statistics = class_statistics(counts, 1e-3)
    end = gradient_flow(statistics, WORD_GRAPHS[name](counts), tolerance=1e-9)
    assert 0 <= end.energies[-1] - mean_skl(statistics, skl_centroid(statistics)) + 1e-13 <= 1e-9 + 1e-13


def test_paths_visit_the_words_in_their_order() -> None:
    counts = draw_documents(30, 50)
    assert vocabulary_path(counts).tolist() == [[i, i + 1] for i in range(49)]
    totals = np.asarray(counts.sum(axis=0))
    edges = frequency_path(counts)
    assert (totals[edges[:, 0]] >= totals[edges[:, 1]]).all()
    assert (edges[1:, 0] == edges[:-1, 1]).all()


def test_words_of_one_frequency_keep_the_order_of_the_columns() -> None:
    # Sorts that don't keep the order of equals do so for up to 16 of them.
    totals = np.random.default_rng(3).integers(0, 3, size=200)
    order = sorted(range(200), key=lambda word: -totals[word])
    edges = frequency_path(sp.csr_array(totals[None].astype(float)))
    assert edges.tolist() == [list(pair) for pair in pairwise(order)]


def test_no_edge_of_the_tree_can_be_exchanged_for_a_more_similar_one() -> None:
    """Of a spanning tree with the largest similarities: a pair is no more similar than any edge on its path."""
    counts = draw_documents(40, 25, seed=2)
    similar, edges = cosine(counts), co_occurrence_tree(counts)
    best = np.zeros((25, 25))  # the weakest edge on the way between two words
    neighbours: dict[int, list[int]] = {i: [] for i in range(25)}
    for i, j in edges.tolist():
        neighbours[i].append(j)
        neighbours[j].append(i)
    for start in range(25):
        weakest, waiting = {start: np.inf}, [start]
        while waiting:
            i = waiting.pop()
            for j in neighbours[i]:
                if j not in weakest:
                    weakest[j] = min(weakest[i], similar[i, j])
                    waiting.append(j)
        best[start] = [weakest[j] for j in range(25)]
    assert (similar <= best + 1e-12).all()


@pytest.mark.parametrize("neighbours", [1, 3])
def test_every_word_is_joined_to_its_most_similar_ones(neighbours: int) -> None:
    counts = draw_documents(40, 25, seed=3)
    similar, edges = cosine(counts), {tuple(edge) for edge in co_occurrence_graph(counts, neighbours).tolist()}
    for word, row in enumerate(similar):
        joined = [row[other] for other in range(25) if tuple(sorted((word, other))) in edges]
        assert sorted(joined, reverse=True)[:neighbours] == pytest.approx(np.sort(row)[::-1][:neighbours])


def test_words_that_occur_with_no_other_hang_on_the_word_of_the_most_documents() -> None:
    """Not on the word of the most occurrences; and of several parts, each by its first word."""
    counts = sp.csr_array(
        np.array(
            [
                [90, 1, 0, 0, 0, 0, 0],
                [0, 1, 2, 0, 0, 0, 0],
                [0, 1, 0, 0, 0, 0, 0],
                [0, 0, 0, 3, 3, 0, 0],
                [0, 0, 0, 0, 0, 5, 0],
            ]
        )
    )
    expected = [[0, 1], [1, 2], [1, 3], [1, 5], [1, 6], [3, 4]]
    assert np.unique(np.sort(co_occurrence_tree(counts), axis=1), axis=0).tolist() == expected
    assert co_occurrence_graph(counts).tolist() == expected


def test_edges_are_sorted_and_equally_similar_words_are_taken_in_their_order() -> None:
    counts = sp.csr_array(np.ones((3, 6)))
    edges = co_occurrence_graph(counts, 2)
    assert edges.tolist() == sorted(map(sorted, edges.tolist()))
    assert {(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (0, 4), (1, 4), (0, 5), (1, 5)} <= set(map(tuple, edges.tolist()))
    assert edges.dtype == np.int64
    more = co_occurrence_graph(draw_documents(40, 25, seed=3))
    default = co_occurrence_graph(draw_documents(40, 25, seed=3), 2)
    np.testing.assert_array_equal(more, default)
