"""Term counts of a corpus: a sparse matrix with its vocabulary, and its conversion to plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.corpora.corpus import Documents
from benchmark.system.arrays import join_names, split_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Counts:
    """Term counts per document.

    Parameters
    ----------
    documents : Documents
        The n rows.
    matrix : CSR matrix of int32, shape (n, V)
        Entry (i, w) is the count of term w in document i; column indices sorted, no stored zeros.
    vocabulary : tuple of str, length V
        The terms, block after block, in bytewise order within a block.
    dropped : int
        Number of letters of the whole collection that the lexer ignored: see `benchmark.text.lexer.TokenSpans`.
    blocks : tuple of str
        Names of the blocks of terms, see `benchmark.text.lexer.Lexing.blocks`.
    block_of : int32 array, shape (V,), optional
        The block number of each term, ascending; all 0 by default.
    """

    documents: Documents
    matrix: sp.csr_array
    vocabulary: tuple[str, ...]
    dropped: int = 0
    blocks: tuple[str, ...] = ("all",)
    block_of: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    def __post_init__(self) -> None:
        """Assign all terms to the first block where `block_of` is empty."""
        if not len(self.block_of):
            object.__setattr__(self, "block_of", np.zeros(len(self.vocabulary), dtype=np.int32))


def counts_to_arrays(counts: Counts) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return counts as plain arrays and a mapping of names and numbers."""
    documents = counts.documents
    arrays = {
        "indptr": counts.matrix.indptr,
        "indices": counts.matrix.indices,
        "data": _narrowed(counts.matrix.data),
        "labels": documents.labels,
        "parts": documents.parts,
        "block_of": counts.block_of,
        "ids": join_names(documents.ids),
        "vocabulary": join_names(counts.vocabulary),
    }
    if documents.topics is not None:
        arrays["topics"] = np.packbits(documents.topics, axis=1)
    if documents.groups is not None:
        arrays["groups"] = documents.groups
    if documents.dates is not None:
        arrays["order" if documents.dated_by_class else "dates"] = documents.dates.astype(np.int64)
    names = {"classes": documents.classes, "part_names": documents.part_names, "blocks": counts.blocks}
    return arrays, {key: list(values) for key, values in names.items()} | {"dropped": counts.dropped}


def counts_from_arrays(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Counts:
    """Rebuild counts from the arrays and facts that `counts_to_arrays` returned."""
    ids, vocabulary = (split_names(arrays[key]) if arrays[key].size else () for key in ("ids", "vocabulary"))
    topics, classes = arrays.get("topics"), tuple(facts["classes"])
    documents = Documents(
        ids,
        arrays["labels"],
        arrays["parts"],
        classes,
        tuple(facts["part_names"]),
        None if topics is None else np.unpackbits(topics, axis=1, count=len(classes)).astype(bool),
        arrays.get("groups"),
        arrays["dates"].astype("datetime64[s]") if "dates" in arrays else arrays.get("order"),
    )
    data = arrays["data"].astype(np.int32) if arrays["data"].dtype.kind == "u" else arrays["data"]
    parts = data, arrays["indices"], arrays["indptr"]
    matrix = sp.csr_array(parts, shape=(len(ids), len(vocabulary)))
    blocks = tuple(facts["blocks"]), arrays["block_of"]
    return Counts(documents, matrix, vocabulary, facts["dropped"], *blocks)


def _narrowed(data: NDArray[Any]) -> NDArray[Any]:
    """Return counts as the smallest unsigned integers that hold them, and vectors as they are."""
    return data.astype(np.min_scalar_type(data.max(initial=0))) if data.dtype.kind == "i" else data
