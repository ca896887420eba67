"""Splits: the training and test rows, and the guarantees of every protocol.

Every protocol guarantees that rows ascend, that no row is both trained on and tested, that there are test documents,
and that every class has a training document where each document has exactly one class. A split that breaks the last
guarantee is an error: a one-vs-one vote without one of the classes isn't the experiment that the table names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.corpora.corpus import Documents
    from benchmark.system.arrays import Bools, Indices


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows and test rows of one split.

    Parameters
    ----------
    name : str
        Unique within its protocol: "cornell", "test", "fold-3", "replicate-07".
    train, test : intp array
        Row numbers of the documents, ascending, without a row in common.
    number : int
        Position among the protocol's splits, from 1; seeds of a split depend on it.
    """

    name: str
    train: Indices
    test: Indices
    number: int = 1


def make_split(documents: Documents, name: str, number: int, train: Bools, test: Bools) -> Split:
    """Return the split with the rows of two masks, shape (n,).

    Where documents may have several classes, a class without training documents is allowed: each class is predicted
    separately.

    Raises
    ------
    ConfigError
        If there is no test document, no training document, or no training document of a class.
    """
    if not test.any():
        raise ConfigError(f"the split {name!r} has no document to test")
    if not train.any():
        raise ConfigError(f"the split {name!r} has no document to train on")
    if documents.topics is None:
        sizes = np.bincount(documents.labels[train], minlength=len(documents.classes))
        missing = [documents.classes[c] for c in np.flatnonzero(sizes == 0)]
        if missing:
            raise ConfigError(f"the split {name!r} has no training document of {class_list(missing)}")
    return Split(name, np.flatnonzero(train), np.flatnonzero(test), number)


def check_split_promises(splits: Sequence[Split], documents: Documents, *, repeated: bool) -> None:
    """Check that the splits of a plug-in have the guarantees of every protocol.

    Parameters
    ----------
    splits : sequence of Split
    documents : Documents
    repeated : bool
        True if a document may be tested by several splits.

    Raises
    ------
    ConfigError
        If a guarantee is broken.
    """
    if not splits or len({split.name for split in splits}) < len(splits):
        raise ConfigError("the protocol returns no split, or two splits of the same name")
    for split in splits:
        for rows in (split.train, split.test):
            if not len(rows) or (np.diff(rows) <= 0).any() or rows[0] < 0 or rows[-1] >= len(documents):
                raise ConfigError(f"the split {split.name!r} has no rows, or rows that don't ascend or don't exist")
        if np.intersect1d(split.train, split.test).size:
            raise ConfigError(f"the split {split.name!r} tests a document that it trains on")
        train, test = np.zeros((2, len(documents)), dtype=np.bool_)
        train[split.train] = test[split.test] = True
        make_split(documents, split.name, split.number, train, test)
    tested = np.concatenate([split.test for split in splits])
    if not repeated and len(np.unique(tested)) < len(tested):
        raise ConfigError("documents are tested by several splits: the protocol needs `tags = Tags(replicated=True)`")


def class_list(classes: list[str]) -> str:
    """Return the names of classes as a message lists them."""
    kind = "class" if len(classes) == 1 else "classes"
    return f"{kind} {', '.join(map(repr, classes))}"
