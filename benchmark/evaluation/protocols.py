"""From documents to splits: the rules, each of which keeps the four promises of `splits`."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from benchmark.errors import ConfigError
from benchmark.evaluation.splits import Split, listed, split_of
from benchmark.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.corpora.corpus import Documents

__all__ = [
    "PROTOCOLS",
    "ByDate",
    "EvaluationProtocol",
    "FixedSplit",
    "HoldOut",
    "KFold",
    "LeaveOneGroupOut",
    "RandomSubsets",
    "Split",
]


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

    tags: ClassVar[Tags] = Tags(leaves_groups_out=True)

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
            split_of(documents, name, number, ~test, test)
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
        return [split_of(documents, self.test, 1, train, test)]


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
    grouped : bool
        Keep the documents of a group (a customer's, an author's) in one fold; sizes and classes are then as even as
        scikit-learn's `StratifiedGroupKFold` or `GroupKFold` makes them.
    keep_lone : bool
        Whether the only document of a class trains in every fold, and is tested in none: so folds are made to choose
        by. Otherwise it is refused.
    """

    k: int
    seed: int = 0
    stratified: bool = True
    grouped: bool = False
    keep_lone: bool = False

    tags: ClassVar[Tags] = Tags(set_by_run=("keep_lone",))

    def __post_init__(self) -> None:
        _at_least(self.k, 2, "k")
        _at_least(self.seed, 0, "seed")

    def splits(self, documents: Documents) -> list[Split]:
        """K splits, "fold-1" to "fold-k"."""
        if self.stratified and documents.topics is not None:
            raise ConfigError("stratified must be false where documents may have several classes, or none")
        if self.k > len(documents):
            raise ConfigError(f"k = {self.k} folds cannot be made of {len(documents)} documents")
        if self.grouped:
            return self._by_group(documents)
        order = np.random.default_rng([self.seed, self.k]).permutation(len(documents))
        if self.stratified:
            order = order[np.argsort(documents.labels[order], kind="stable")]
        # Dealing the shuffled documents out like cards, class after class without restarting at the first fold,
        # balances both the classes and the sizes of the folds.
        fold = np.empty(len(documents), dtype=np.intp)
        fold[order] = np.arange(len(documents)) % self.k
        if self.keep_lone and documents.topics is None:
            fold[np.bincount(documents.labels)[documents.labels] == 1] = self.k
        return self._folds(documents, fold)

    def _by_group(self, documents: Documents) -> list[Split]:
        from sklearn.model_selection import GroupKFold, StratifiedGroupKFold  # noqa: PLC0415 - slow, and seldom needed

        units = _units(documents)
        if self.k > len(np.unique(units)):
            raise ConfigError(f"k = {self.k} folds cannot be made of {len(np.unique(units))} groups")
        kind = StratifiedGroupKFold if self.stratified else GroupKFold
        fold = np.empty(len(documents), dtype=np.intp)
        given = (documents.labels, documents.labels, units)
        for i, (_, test) in enumerate(kind(self.k, shuffle=True, random_state=self.seed).split(*given)):
            fold[test] = i
        return self._folds(documents, fold)

    def _folds(self, documents: Documents, fold: NDArray[np.intp]) -> list[Split]:
        return [split_of(documents, f"fold-{i + 1}", i + 1, fold != i, fold == i) for i in range(self.k)]


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

    tags: ClassVar[Tags] = Tags(draws=True)

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
            splits.append(split_of(documents, f"replicate-{replicate:02d}", replicate, train, test))
        return splits

    def _quotas(self, documents: Documents, pool: NDArray[np.intp]) -> NDArray[np.intp]:
        """Training documents a class: proportional shares, rounded by the largest remainders (ties: first class)."""
        sizes = np.bincount(documents.labels[pool], minlength=len(documents.classes))
        whole, remainder = np.divmod(self.train_size * sizes, pool.size)
        left = self.train_size - int(whole.sum())
        whole[np.argsort(-remainder, kind="stable")[:left]] += 1
        empty = [documents.classes[c] for c in np.flatnonzero(whole == 0)]
        if empty:
            raise ConfigError(f"train_size = {self.train_size} leaves no training document for {listed(empty)}")
        return np.asarray(whole, dtype=np.intp)

    def _drawn(
        self, rows: NDArray[np.intp], labels: NDArray[np.int32], quotas: NDArray[np.intp] | None
    ) -> NDArray[np.intp]:
        """The first documents of a shuffled pool: of all, or of each class up to its quota."""
        if quotas is None:
            return rows[: self.train_size]
        return np.concatenate([rows[labels == c][:quota] for c, quota in enumerate(quotas)])


@dataclass(frozen=True)
class HoldOut:
    """Test on a random share of the documents and train on the rest, again and again.

    Parameters
    ----------
    test_share : float
        More than 0 and less than 1.
    replicates : int
        Number of draws.
    seed : int
    stratified : bool
        Keep the share of each class among the training documents, as `RandomSubsets` does.
    grouped : bool
        Draw whole groups (a customer's documents, an author's), as long as they fit into the share; not stratified.
    """

    test_share: float = 0.2
    replicates: int = 10
    seed: int = 0
    stratified: bool = True
    grouped: bool = False

    tags: ClassVar[Tags] = Tags(draws=True)

    def __post_init__(self) -> None:
        _share(self.test_share)
        _at_least(self.replicates, 1, "replicates")
        _at_least(self.seed, 0, "seed")
        if self.grouped and self.stratified:
            raise ConfigError("stratified must be false where grouped is true: a group has documents of any class")

    def splits(self, documents: Documents) -> list[Split]:
        """One split a draw, "replicate-01" onwards."""
        n_tested = max(1, round(self.test_share * len(documents)))
        if not self.grouped:
            size = len(documents) - n_tested
            return RandomSubsets(size, self.replicates, self.seed, self.stratified).splits(documents)
        units = _units(documents)
        sizes = np.bincount(units)
        names = np.flatnonzero(sizes)
        splits = []
        for replicate in range(1, self.replicates + 1):
            order = np.random.default_rng([self.seed, replicate]).permutation(names)
            drawn = order[: max(1, int(np.searchsorted(np.cumsum(sizes[order]), n_tested, side="right")))]
            test = np.isin(units, drawn)
            splits.append(split_of(documents, f"replicate-{replicate:02d}", replicate, ~test, test))
        return splits


@dataclass(frozen=True)
class ByDate:
    """Train on the old documents and test on the new; those of one moment are on one side.

    Parameters
    ----------
    test_share : float
        Share of the documents, the newest, to test: at least so many. Without effect where `test_from` is given.
    test_from : str, optional
        Date of the first document to test, as ISO 8601 has it: "2024-05-31".
    stratified : bool
        Test that share of each class, its newest documents; nothing else can be done where dates order the documents of
        one class alone.
    """

    test_share: float = 0.25
    test_from: str | None = None
    stratified: bool = False

    def __post_init__(self) -> None:
        _share(self.test_share)
        if self.test_from is not None:
            if self.stratified:
                raise ConfigError("stratified must be false where test_from is given: one date parts all classes")
            try:
                np.datetime64(self.test_from, "s")
            except ValueError:
                problem = "must be a date as ISO 8601 has it, in quotes: '2024-05-31'"
                raise ConfigError(f"test_from is {self.test_from!r}: {problem}") from None

    def splits(self, documents: Documents) -> list[Split]:
        """One split, "newest"."""
        if documents.dates is None:
            raise ConfigError("by-date: the documents have no dates; name the column of the corpus that holds them")
        if documents.dated_by_class and not self.stratified:
            raise ConfigError("by-date: these dates order the documents of one class alone; say stratified: true")
        if self.stratified and documents.topics is not None:
            raise ConfigError("stratified must be false where documents may have several classes, or none")
        test = np.zeros(len(documents), dtype=bool)
        if self.test_from is not None:
            test[:] = documents.dates >= np.datetime64(self.test_from, "s")
            return [split_of(documents, "newest", 1, ~test, test)]
        parts = documents.labels if self.stratified else np.zeros_like(documents.labels)
        for part in np.unique(parts):
            rows = np.flatnonzero(parts == part)
            dates, n_tested = documents.dates[rows], max(1, round(self.test_share * len(rows)))
            test[rows] = dates >= np.sort(dates)[-n_tested]
        return [split_of(documents, "newest", 1, ~test, test)]


PROTOCOLS: dict[str, type[EvaluationProtocol]] = {
    "leave-one-group-out": LeaveOneGroupOut,
    "fixed-split": FixedSplit,
    "k-fold": KFold,
    "random-subsets": RandomSubsets,
    "hold-out": HoldOut,
    "by-date": ByDate,
}


def _in_group(documents: Documents, name: str, parameter: str) -> NDArray[np.bool_]:
    """Mask of the documents of a group, by its name."""
    if name not in documents.group_names:
        near = difflib.get_close_matches(name, documents.group_names, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"{parameter}: no group {name!r}{hint} (groups: {', '.join(documents.group_names)})")
    mask: NDArray[np.bool_] = documents.groups == documents.group_names.index(name)
    return mask


def _units(documents: Documents) -> NDArray[np.int32]:
    """What documents belong to."""
    if documents.units is None:
        raise ConfigError("grouped: the documents have no groups; name the column of the corpus that holds them")
    return documents.units


def _share(value: float) -> None:
    if not 0 < value < 1:
        raise ConfigError(f"test_share = {value:g} must be more than 0 and less than 1")


def _at_least(value: int, least: int, name: str) -> None:
    if value < least:
        raise ConfigError(f"{name} = {value} is too small: it must be at least {least}")
