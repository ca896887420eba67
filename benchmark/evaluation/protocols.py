"""From documents to splits: which rows train a classifier and which rows test it.

Every protocol keeps four promises (`_split` enforces them): rows ascend, no row both trains and tests, something is
tested, and, of documents with one class each, every class has a training document. The last is refused rather than
worked around: a one-vs-one vote in which a class never stood is not the experiment that the table's header names.
"""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

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


class EvaluationProtocol(Protocol):
    """A rule that splits any collection; its parameters are its constructor's."""

    def splits(self, documents: Documents) -> list[Split]:
        """The folds, in the order in which tables list them."""


@dataclass(frozen=True)
class LeaveOneGroupOut:
    """Test each held-out group in turn, train on all the others.

    Parameters
    ----------
    held_out : sequence of str, optional
        Groups to test, in this order; all groups where left out. A group never held out (WebKB's "misc") always trains.
    """

    held_out: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.held_out is None:
            return
        if not self.held_out:
            raise ConfigError("held_out names no group: list at least one, or leave it out to test every group in turn")
        twice = sorted(name for name, number in Counter(self.held_out).items() if number > 1)
        if twice:
            raise ConfigError(f"held_out names {', '.join(map(repr, twice))} more than once")

    def splits(self, documents: Documents) -> list[Split]:
        """One split a held-out group, named after it."""
        names = documents.group_names if self.held_out is None else self.held_out
        tested = [_in_group(documents, name, "held_out") for name in names]
        return [
            _split(documents, name, number, ~test, test)
            for number, (name, test) in enumerate(zip(names, tested, strict=True), start=1)
        ]


@dataclass(frozen=True)
class FixedSplit:
    """The split that the collection comes with.

    Parameters
    ----------
    train, test : str
        Names of the two groups; documents of any other group are left out.
    """

    train: str = "train"
    test: str = "test"

    def __post_init__(self) -> None:
        if self.train == self.test:
            raise ConfigError(f"fixed-split trains and tests on the same group {self.train!r}")

    def splits(self, documents: Documents) -> list[Split]:
        """One split, named after the group it tests."""
        train = _in_group(documents, self.train, "train")
        test = _in_group(documents, self.test, "test")
        return [_split(documents, self.test, 1, train, test)]


@dataclass(frozen=True)
class KFold:
    """Each document is tested exactly once, in one of k random folds of equal size (to within one document).

    Parameters
    ----------
    k : int
        Number of folds, 2 or more.
    seed : int
    stratified : bool
        Spread each class evenly, too: its counts in two folds differ by at most one.
    """

    k: int
    seed: int = 0
    stratified: bool = True

    def __post_init__(self) -> None:
        _at_least(self.k, 2, "k")
        _at_least(self.seed, 0, "seed")

    def splits(self, documents: Documents) -> list[Split]:
        """K splits, "fold-1" to "fold-k"."""
        if self.stratified and documents.topics is not None:
            raise ConfigError("stratified must be false where documents may have several classes, or none")
        if self.k > len(documents):
            raise ConfigError(f"k = {self.k} folds cannot be made of {len(documents)} documents")
        order = np.random.default_rng([self.seed, self.k]).permutation(len(documents))
        if self.stratified:
            order = order[np.argsort(documents.labels[order], kind="stable")]
        # Dealing the shuffled documents out like cards, class after class without restarting at the first fold,
        # balances both the classes and the sizes of the folds.
        fold = np.empty(len(documents), dtype=np.intp)
        fold[order] = np.arange(len(documents)) % self.k
        return [_split(documents, f"fold-{i + 1}", i + 1, fold != i, fold == i) for i in range(self.k)]


@dataclass(frozen=True)
class RandomSubsets:
    """Train on random subsets of one size.

    A learning curve is one such protocol a size. The draw is a function of (seed, train_size, replicate) alone, so that
    more sizes or more replicates never change the draws already made.

    Parameters
    ----------
    train_size : int
        Training documents a draw.
    replicates : int
        Number of draws.
    seed : int
    stratified : bool
        Keep the pool's share of each class (largest remainders); a class whose share rounds to nothing is refused.
    nested : bool
        Whether a replicate's smaller training set is part of its larger one: all are then the beginning of one order.
    test : str, optional
        Group that every draw is tested on; the pool is then the other groups. Where left out, the pool is the whole
        collection and each draw is tested on the rest.
    """

    train_size: int
    replicates: int
    seed: int = 0
    stratified: bool = True
    nested: bool = False
    test: str | None = None

    def __post_init__(self) -> None:
        _at_least(self.train_size, 1, "train_size")
        _at_least(self.replicates, 1, "replicates")
        _at_least(self.seed, 0, "seed")

    def splits(self, documents: Documents) -> list[Split]:
        """One split a draw, "replicate-01" onwards."""
        held = np.zeros(len(documents), dtype=bool) if self.test is None else _in_group(documents, self.test, "test")
        pool = np.flatnonzero(~held)
        largest = pool.size - (self.test is None)  # without a test group, a document must be left to test on
        if self.train_size > largest:
            raise ConfigError(f"train_size = {self.train_size} is more than this collection allows: at most {largest}")
        if self.stratified and documents.topics is not None:
            raise ConfigError("stratified must be false where documents may have several classes, or none")
        quotas = self._quotas(documents, pool) if self.stratified else None
        splits = []
        for replicate in range(1, self.replicates + 1):
            words = [self.seed, replicate] if self.nested else [self.seed, self.train_size, replicate]
            rows = np.random.default_rng(words).permutation(pool)
            train = np.zeros(len(documents), dtype=bool)
            train[self._drawn(rows, documents.labels[rows], quotas)] = True
            test = ~train if self.test is None else held
            splits.append(_split(documents, f"replicate-{replicate:02d}", replicate, train, test))
        return splits

    def _quotas(self, documents: Documents, pool: NDArray[np.intp]) -> NDArray[np.intp]:
        """Training documents a class: proportional shares, rounded by the largest remainders (ties: first class)."""
        sizes = np.bincount(documents.labels[pool], minlength=len(documents.classes))
        whole, remainder = np.divmod(self.train_size * sizes, pool.size)
        left = self.train_size - int(whole.sum())
        whole[np.argsort(-remainder, kind="stable")[:left]] += 1
        empty = [documents.classes[c] for c in np.flatnonzero(whole == 0)]
        if empty:
            raise ConfigError(f"train_size = {self.train_size} leaves no training document for {_listed(empty)}")
        return np.asarray(whole, dtype=np.intp)

    def _drawn(
        self, rows: NDArray[np.intp], labels: NDArray[np.int32], quotas: NDArray[np.intp] | None
    ) -> NDArray[np.intp]:
        """The first documents of a shuffled pool: of all, or of each class up to its quota."""
        if quotas is None:
            return rows[: self.train_size]
        return np.concatenate([rows[labels == c][:quota] for c, quota in enumerate(quotas)])


PROTOCOLS: dict[str, type[EvaluationProtocol]] = {
    "leave-one-group-out": LeaveOneGroupOut,
    "fixed-split": FixedSplit,
    "k-fold": KFold,
    "random-subsets": RandomSubsets,
}


def _split(documents: Documents, name: str, number: int, train: NDArray[np.bool_], test: NDArray[np.bool_]) -> Split:
    """Masks to rows, refused where there is nothing to test or a class nobody could learn.

    Of documents with several classes each class is decided by itself: one that can't be learned harms no other.
    """
    if not test.any():
        raise ConfigError(f"the split {name!r} has no document to test")
    if documents.topics is None:
        sizes = np.bincount(documents.labels[train], minlength=len(documents.classes))
        missing = [documents.classes[c] for c in np.flatnonzero(sizes == 0)]
        if missing:
            raise ConfigError(f"the split {name!r} has no training document of {_listed(missing)}")
    return Split(name, np.flatnonzero(train), np.flatnonzero(test), number)


def _in_group(documents: Documents, name: str, parameter: str) -> NDArray[np.bool_]:
    """Mask of the documents of a group, by its name."""
    if name not in documents.group_names:
        near = difflib.get_close_matches(name, documents.group_names, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"{parameter}: no group {name!r}{hint} (groups: {', '.join(documents.group_names)})")
    mask: NDArray[np.bool_] = documents.groups == documents.group_names.index(name)
    return mask


def _at_least(value: int, least: int, name: str) -> None:
    if value < least:
        raise ConfigError(f"{name} = {value} is too small: it must be at least {least}")


def _listed(classes: list[str]) -> str:
    kind = "class" if len(classes) == 1 else "classes"
    return f"{kind} {', '.join(map(repr, classes))}"
