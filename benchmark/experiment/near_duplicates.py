"""Near-duplicates: test documents with almost the same words as a training document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.experiment.code_digest import code_digest
from benchmark.experiment.store import StoreEntry, array_digest, store_key
from benchmark.text.duplicates import near_duplicates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.experiment.settings import PlannedTask
    from benchmark.experiment.store import Store

#: The largest number of splits that are searched; repeated draws from one collection are not searched.
MAX_DUPLICATE_SPLITS = 20
N_DUPLICATE_EXAMPLES = 3


def find_near_duplicates(work: PlannedTask, store: Store) -> tuple[list[dict[str, Any]], list[NDArray[np.intp]]]:
    """Find each split's test documents with a near-duplicate among its training documents.

    Returns
    -------
    list of dict
        Counts of each split, with a few examples; empty if no split was searched.
    list of intp array
        Rows of these documents in each split.
    """
    splits = [split for each in work.splits.values() for split in each]
    matrix, ids = work.problem.counts.matrix, work.problem.documents.ids
    if len(splits) > MAX_DUPLICATE_SPLITS or matrix.dtype.kind == "f":  # points have no words in common
        return [], []
    found, rows_of = [], []
    for split in splits:
        rows = array_digest(split.train.astype(np.int64), split.test.astype(np.int64))
        key = store_key(stage="near-duplicates", code=code_digest(near_duplicates), problem=work.problem.key, rows=rows)
        entry = store.get(key)
        if entry is None:
            entry = StoreEntry(
                dict(zip(("rows", "like"), near_duplicates(matrix, split.train, split.test), strict=True))
            )
            store.put(key, entry)
        known, like = entry.arrays["rows"], entry.arrays["like"]
        which = np.flatnonzero(known >= 0)
        pairs = [[ids[split.test[n]], ids[known[n]], round(float(like[n]), 4)] for n in which[:N_DUPLICATE_EXAMPLES]]
        same = int(np.count_nonzero(like == 1.0))
        rows_of.append(split.test[which])
        found.append(
            {"split": split.name, "tested": len(split.test), "near": len(which), "same": same, "such_as": pairs}
        )
    return found, rows_of
