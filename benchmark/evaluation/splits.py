"""Which rows train a classifier and which rows test it, and what every protocol promises of them.

There are four promises: rows ascend, no row both trains and tests, something is tested, and, of documents with one
class each, every class has a training document. The last is refused rather than worked around: a one-vs-one vote in
which a class never stood is not the experiment that the table's header names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmark.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.corpora.corpus import Documents


@dataclass(frozen=True, eq=False)
class Split:
    """One fold: the rows that train and the rows that test.

    Parameters
    ----------
    name : str
        Unique within its protocol: "cornell", "test", "fold-3", "replicate-07".
    train, test : intp array
        Row numbers of the documents, ascending, without a row in common.
    number: int
        Its position among its protocol's splits, from 1: what seeds of a split are made with.
    """

    name: str
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    number: int = 1


def split_of(documents: Documents, name: str, number: int, train: NDArray[np.bool_], test: NDArray[np.bool_]) -> Split:
    """Masks to rows, refused where there is nothing to test or a class nobody could learn.

    Of documents with several classes each class is decided by itself: one that can't be learned harms no other.
    """
    if not test.any():
        raise ConfigError(f"the split {name!r} has no document to test")
    if not train.any():
        raise ConfigError(f"the split {name!r} has no document to train on")
    if documents.topics is None:
        sizes = np.bincount(documents.labels[train], minlength=len(documents.classes))
        missing = [documents.classes[c] for c in np.flatnonzero(sizes == 0)]
        if missing:
            raise ConfigError(f"the split {name!r} has no training document of {listed(missing)}")
    return Split(name, np.flatnonzero(train), np.flatnonzero(test), number)


def check_promises(splits: Sequence[Split], documents: Documents, *, repeated: bool) -> None:
    """Refuse splits of one's own that break the promises which every protocol keeps.

    Parameters
    ----------
    splits : sequence of Split
    documents : Documents
    repeated : bool
        Whether a document may be tested by several splits.
    """
    if not splits or len({split.name for split in splits}) < len(splits):
        raise ConfigError("there is no split, or two have one name")
    for split in splits:
        for rows in (split.train, split.test):
            if not len(rows) or (np.diff(rows) <= 0).any() or rows[0] < 0 or rows[-1] >= len(documents):
                raise ConfigError(f"the split {split.name!r} has no rows, or such as don't ascend or don't exist")
        if np.intersect1d(split.train, split.test).size:
            raise ConfigError(f"the split {split.name!r} tests a document that it trains on")
        train, test = np.zeros((2, len(documents)), dtype=np.bool_)
        train[split.train] = test[split.test] = True
        split_of(documents, split.name, split.number, train, test)
    tested = np.concatenate([split.test for split in splits])
    if not repeated and len(np.unique(tested)) < len(tested):
        raise ConfigError("documents are tested twice: a protocol that draws says `draws = True`")


def listed(classes: list[str]) -> str:
    """Some classes, as a message names them."""
    kind = "class" if len(classes) == 1 else "classes"
    return f"{kind} {', '.join(map(repr, classes))}"
