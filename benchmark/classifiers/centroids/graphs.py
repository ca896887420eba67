"""Graphs of words for the gradient flow: paths in several orders, and co-occurrence graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from benchmark.classifiers.centroids.flow import path_edges
from benchmark.representation.weighting import canonical_csr

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Indices = NDArray[np.int64]

#: Number of most similar words that a word is joined to.
NEIGHBOURS = 2


def vocabulary_path(counts: Any) -> Indices:
    """Return the path through the words in the order of the counts' columns, shape (V - 1, 2): the paper's graph."""
    return path_edges(np.arange(canonical_csr(counts).shape[1]))


def frequency_path(counts: Any) -> Indices:
    """Return the path from the most frequent word to the rarest; equally frequent words keep the column order."""
    totals = np.asarray(canonical_csr(counts).sum(axis=0))
    return path_edges(np.argsort(-totals, kind="stable"))


def co_occurrence_tree(counts: Any) -> Indices:
    """Return the spanning tree with the largest product of similarities (see `co_occurrence_graph`), V - 1 edges."""
    return _tree(_similarity(counts))


def co_occurrence_graph(counts: Any, neighbours: int = NEIGHBOURS) -> Indices:
    """Join every word to the words that it occurs with: the paper's open problem 3.

    The similarity of two words is the cosine of their sets D of documents, |D_i ∩ D_j| / √(|D_i| |D_j|). Each word is
    joined to the `neighbours` most similar words. The spanning tree with the largest similarities is added, because the
    flow needs a connected graph. A word that occurs with no other word is joined to the most frequent word.

    Parameters
    ----------
    counts : CSR array or array, shape (n, V)
        Term counts.
    neighbours : int
        Number of most similar words that a word is joined to.

    Returns
    -------
    int64 array, shape (E, 2)
        Sorted, with the smaller word number first; no edge twice.
    """
    similarity = _similarity(counts)
    v = similarity.shape[0]
    nearest = [np.sort(_tree(similarity), axis=1)]
    for word in range(v):
        row = slice(similarity.indptr[word], similarity.indptr[word + 1])
        best = np.argsort(-similarity.data[row], kind="stable")[:neighbours]
        others = similarity.indices[row][best].astype(np.int64)
        nearest.append(np.sort(np.stack([np.full(len(others), word), others], axis=1), axis=1))
    return np.unique(np.concatenate(nearest), axis=0)


WORD_GRAPHS: dict[str, Callable[[Any], Indices]] = {
    "path": vocabulary_path,
    "path-by-frequency": frequency_path,
    "co-occurrence-tree": co_occurrence_tree,
    "co-occurrence": co_occurrence_graph,
}


def _similarity(counts: Any) -> sp.csr_array:
    """Compute cosines of the words' sets of documents as a connected graph without diagonal; columns ascend."""
    matrix = canonical_csr(counts)
    occurs = sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    documents = np.bincount(matrix.indices, minlength=matrix.shape[1])
    together = sp.coo_array(occurs.T @ occurs)
    row, column = together.coords
    apart = row != column
    row, column = row[apart], column[apart]
    cosine = together.data[apart] / np.sqrt(documents[row] * documents[column])
    similarity = sp.csr_array((cosine, (row, column)), shape=together.shape)
    n_parts, part = connected_components(similarity, directed=False)
    if n_parts > 1:
        hub = int(documents.argmax())
        firsts = np.unique(part, return_index=True)[1]
        loose = firsts[part[firsts] != part[hub]]
        # Smaller than every cosine, as cosines are at least 1/n.
        weak = np.full(len(loose), 0.5 / matrix.shape[0])
        bridges = sp.csr_array((weak, (loose, np.full(len(loose), hub))), shape=together.shape)
        similarity = sp.csr_array(similarity + bridges + bridges.T)
    similarity.sort_indices()
    return similarity


def _tree(similarity: sp.csr_array) -> Indices:
    """Return the edges of the spanning tree with the largest similarities, which depends on their order alone."""
    distance = similarity.copy()
    distance.data = 2.0 - distance.data  # a distance of 0 would mean no edge
    tree = sp.coo_array(minimum_spanning_tree(distance))
    return np.stack(tree.coords, axis=1).astype(np.int64)
