"""Evaluation protocols: rules that divide documents into splits, with the guarantees that `splits` lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from benchmark.evaluation.splits import Split, class_list, make_split
from benchmark.system.checks import NOT_NEGATIVE, Range, check_parameters
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.corpora.corpus import Documents
    from benchmark.system.arrays import Bools, Indices
    from benchmark.system.checks import Allowed


class EvaluationProtocol(Protocol):
    """Interface of evaluation protocols; the parameters of a protocol are those of its constructor."""

    def splits(self, documents: Documents) -> list[Split]:
        """Divide documents into training and test documents.

        Parameters
        ----------
        documents : Documents
            Documents of one task, with their classes and, where the corpus has them, groups and dates.

        Returns
        -------
        list of Split
            Splits in the order in which tables list them.

        Raises
        ------
        ConfigError
            If the documents can't be divided in this way.
        """


BETWEEN_0_AND_1 = Range(0, 1, ends=False)


class _InRange:
    """Protocol whose parameters have ranges; a ValueError names one that is outside."""

    allowed: ClassVar[Allowed] = {}

    def __post_init__(self) -> None:
        check_parameters(self, self.allowed)


@dataclass(frozen=True)
class LeaveOneGroupOut:
    """Test on each held-out group in turn and train on all other groups.

    Parameters
    ----------
    held_out : sequence of str, optional
        Groups to test, in this order; by default all groups. A group that is never held out (WebKB's "misc") is always
        part of the training documents.

    Raises
    ------
    ConfigError
        If `held_out` is empty or names a group twice.
    """

    held_out: Sequence[str] | None = None

    tags: ClassVar[Tags] = Tags(leaves_groups_out=True)

    def __post_init__(self) -> None:
        names = list(self.held_out or ())
        if self.held_out is not None and not names:
            raise ConfigError("held_out names no group: list at least one, or leave it out to test every group in turn")
        if twice := sorted({name for n, name in enumerate(names) if name in names[:n]}):
            raise ConfigError(f"held_out names {', '.join(map(repr, twice))} more than once")

    def splits(self, documents: Documents) -> list[Split]:
        """Return one split for each held-out group, named after the group.

        Parameters
        ----------
        documents : Documents

        Returns
        -------
        list of Split

        Raises
        ------
        ConfigError
            If a group doesn't exist, or a class has no training document.
        """
        names = documents.part_names if self.held_out is None else self.held_out
        tested = [_in_group(documents, name, "held_out") for name in names]
        return [
            make_split(documents, name, number, ~test, test)
            for number, (name, test) in enumerate(zip(names, tested, strict=True), start=1)
        ]


@dataclass(frozen=True)
class FixedSplit:
    """Use the split that the corpus comes with.

    Parameters
    ----------
    train, test : str
        Names of the two parts; documents of any other part are left out.

    Raises
    ------
    ConfigError
        If both names are equal.
    """

    train: str = "train"
    test: str = "test"

    def __post_init__(self) -> None:
        if self.train == self.test:
            raise ConfigError(f"fixed-split trains and tests on the same group {self.train!r}")

    def splits(self, documents: Documents) -> list[Split]:
        """Return one split, named after the part that it tests.

        Parameters
        ----------
        documents : Documents

        Returns
        -------
        list of Split

        Raises
        ------
        ConfigError
            If a part doesn't exist, or a class has no training document.
        """
        train = _in_group(documents, self.train, "train")
        test = _in_group(documents, self.test, "test")
        return [make_split(documents, self.test, 1, train, test)]


@dataclass(frozen=True)
class KFold(_InRange):
    """Test each document exactly once, in one of k random folds of equal size (to within one document).

    Parameters
    ----------
    k : int
        Number of folds, 2 or more.
    seed : int
        Seed of the random folds.
    stratified : bool
        Whether to spread each class evenly, too: its counts in two folds differ by at most one.
    grouped : bool
        Whether to keep the documents of a group (a customer's, an author's) in one fold; sizes and classes are then as
        even as scikit-learn's `StratifiedGroupKFold` or `GroupKFold` makes them.
    keep_lone : bool
        Whether to train on the only document of a class in every fold and never test it, as the folds of a grid search
        do. If False, a class with only one document is an error.

    Raises
    ------
    ValueError
        If `k` is less than 2 or `seed` is negative.
    """

    k: int
    seed: int = 0
    stratified: bool = True
    grouped: bool = False
    keep_lone: bool = False

    tags: ClassVar[Tags] = Tags(set_by_run=("keep_lone",))
    allowed: ClassVar = {"k": Range(2), "seed": NOT_NEGATIVE}

    def splits(self, documents: Documents) -> list[Split]:
        """Return k splits, "fold-1" to "fold-k".

        Parameters
        ----------
        documents : Documents

        Returns
        -------
        list of Split

        Raises
        ------
        ConfigError
            If there are fewer documents or groups than folds, if a class has no training document, or if folds are to
            be stratified and documents may have several classes, or none.
        """
        _check_stratified(self.stratified, documents)
        if self.k > len(documents):
            raise ConfigError(f"k = {self.k} folds cannot be made of {len(documents)} documents")
        if self.grouped:
            return self._by_group(documents)
        order = np.random.default_rng([self.seed, self.k]).permutation(len(documents))
        if self.stratified:
            order = order[np.argsort(documents.labels[order], kind="stable")]
        # Assigning the shuffled documents to folds in rotation, class after class without restarting at the first
        # fold, balances both the classes and the sizes of the folds.
        fold = np.empty(len(documents), dtype=np.intp)
        fold[order] = np.arange(len(documents)) % self.k
        if self.keep_lone and documents.topics is None:
            fold[np.bincount(documents.labels)[documents.labels] == 1] = self.k
        return self._folds(documents, fold)

    def _by_group(self, documents: Documents) -> list[Split]:
        """Return the splits that keep groups together."""
        from sklearn.model_selection import GroupKFold, StratifiedGroupKFold  # noqa: PLC0415 - slow, and seldom needed

        kind = StratifiedGroupKFold if self.stratified else GroupKFold
        fold, arguments = (
            np.empty(len(documents), dtype=np.intp),
            (documents.labels, documents.labels, _groups(documents)),
        )
        try:
            for i, (_, test) in enumerate(kind(self.k, shuffle=True, random_state=self.seed).split(*arguments)):
                fold[test] = i
        except ValueError as error:  # too few groups, or documents of a class
            raise ConfigError(f"k = {self.k} grouped folds: {error}") from None
        return self._folds(documents, fold)

    def _folds(self, documents: Documents, fold: Indices) -> list[Split]:
        return [make_split(documents, f"fold-{i + 1}", i + 1, fold != i, fold == i) for i in range(self.k)]


@dataclass(frozen=True)
class RandomSubsets(_InRange):
    """Train on random subsets of one size.

    A learning curve is one such protocol for each size. A subset is a function of (seed, train_size, replicate) only,
    so that more sizes or more replicates never change existing subsets.

    Parameters
    ----------
    train_size : int
        Number of training documents of a replicate.
    replicates : int
        Number of replicates.
    seed : int
        Seed of the random subsets.
    stratified : bool
        Whether to keep the pool's share of each class (largest remainders); a share that rounds to 0 is an error.
    test : str, optional
        Part that every replicate is tested on; the pool is then all other parts. By default, the pool is the whole
        corpus, and each replicate is tested on the documents that it doesn't train on.

    Raises
    ------
    ValueError
        If `train_size` or `replicates` is less than 1, or `seed` is negative.
    """

    train_size: int
    replicates: int
    seed: int = 0
    stratified: bool = True
    test: str | None = None

    tags: ClassVar[Tags] = Tags(replicated=True)
    allowed: ClassVar = {"train_size": Range(1), "replicates": Range(1), "seed": NOT_NEGATIVE}

    def splits(self, documents: Documents) -> list[Split]:
        """Return one split for each replicate, "replicate-01" onwards.

        Parameters
        ----------
        documents : Documents

        Returns
        -------
        list of Split

        Raises
        ------
        ConfigError
            If the pool has fewer documents than `train_size`, if a class has no training document, or if subsets are
            to be stratified and documents may have several classes, or none.
        """
        fixed = np.zeros(len(documents), dtype=bool) if self.test is None else _in_group(documents, self.test, "test")
        pool = np.flatnonzero(~fixed)
        largest = pool.size - (self.test is None)  # without a test part, a document must remain to test on
        if self.train_size > largest:
            raise ConfigError(f"train_size = {self.train_size} is more than this collection allows: at most {largest}")
        _check_stratified(self.stratified, documents)
        quotas = self._quotas(documents, pool) if self.stratified else None
        splits = []
        for replicate in range(1, self.replicates + 1):
            rows = np.random.default_rng([self.seed, self.train_size, replicate]).permutation(pool)
            drawn = rows[: self.train_size]
            if quotas is not None:
                labels = documents.labels[rows]
                drawn = np.concatenate([rows[labels == code][:quota] for code, quota in enumerate(quotas)])
            train = np.zeros(len(documents), dtype=bool)
            train[drawn] = True
            test = ~train if self.test is None else fixed
            splits.append(make_split(documents, f"replicate-{replicate:02d}", replicate, train, test))
        return splits

    def _quotas(self, documents: Documents, pool: Indices) -> Indices:
        """Return the training documents per class: proportional, by largest remainders (ties: first class)."""
        sizes = np.bincount(documents.labels[pool], minlength=len(documents.classes))
        whole, remainder = np.divmod(self.train_size * sizes, pool.size)
        left = self.train_size - int(whole.sum())
        whole[np.argsort(-remainder, kind="stable")[:left]] += 1
        empty = [documents.classes[c] for c in np.flatnonzero(whole == 0)]
        if empty:
            raise ConfigError(f"train_size = {self.train_size} leaves no training document for {class_list(empty)}")
        return np.asarray(whole, dtype=np.intp)


@dataclass(frozen=True)
class HoldOut(_InRange):
    """Test on a random share of the documents and train on the rest, repeatedly.

    Parameters
    ----------
    test_share : float
        Share of the documents to test, more than 0 and less than 1.
    replicates : int
        Number of replicates.
    seed : int
        Seed of the random shares.
    stratified : bool
        Whether to keep the share of each class among the training documents, as `RandomSubsets` does.
    grouped : bool
        Whether to draw whole groups (a customer's documents, an author's), as long as they fit into the share; not
        stratified.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    ConfigError
        If both `stratified` and `grouped` are true.
    """

    test_share: float = 0.2
    replicates: int = 10
    seed: int = 0
    stratified: bool = True
    grouped: bool = False

    tags: ClassVar[Tags] = Tags(replicated=True)
    allowed: ClassVar = {"test_share": BETWEEN_0_AND_1, "replicates": Range(1), "seed": NOT_NEGATIVE}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grouped and self.stratified:
            raise ConfigError("stratified must be false where grouped is true: a group has documents of any class")

    def splits(self, documents: Documents) -> list[Split]:
        """Return one split for each replicate, "replicate-01" onwards.

        Parameters
        ----------
        documents : Documents

        Returns
        -------
        list of Split

        Raises
        ------
        ConfigError
            If the documents have no groups and `grouped` is true, if a class has no training document, or if subsets
            are to be stratified and documents may have several classes, or none.
        """
        n_tested = max(1, round(self.test_share * len(documents)))
        if not self.grouped:
            size = len(documents) - n_tested
            return RandomSubsets(size, self.replicates, self.seed, self.stratified).splits(documents)
        groups = _groups(documents)
        sizes = np.bincount(groups)
        names = np.flatnonzero(sizes)
        splits = []
        for replicate in range(1, self.replicates + 1):
            order = np.random.default_rng([self.seed, replicate]).permutation(names)
            drawn = order[: max(1, int(np.searchsorted(np.cumsum(sizes[order]), n_tested, side="right")))]
            test = np.isin(groups, drawn)
            splits.append(make_split(documents, f"replicate-{replicate:02d}", replicate, ~test, test))
        return splits


@dataclass(frozen=True)
class ByDate(_InRange):
    """Train on the old documents and test on the newest; documents of the same date are never separated.

    Parameters
    ----------
    test_share : float
        Share of the newest documents to test, rounded up to whole dates.
    stratified : bool
        Whether to test the newest documents of each class, that share of each. Required where dates are comparable
        only within a class.

    Raises
    ------
    ValueError
        If `test_share` is out of range.
    """

    test_share: float = 0.25
    stratified: bool = False

    allowed: ClassVar = {"test_share": BETWEEN_0_AND_1}

    def splits(self, documents: Documents) -> list[Split]:
        """Return one split, "newest".

        Parameters
        ----------
        documents : Documents

        Returns
        -------
        list of Split

        Raises
        ------
        ConfigError
            If the documents have no dates, if dates are comparable only within a class and `stratified` is false, if
            a class has no training document, or if the split is to be stratified and documents may have several
            classes, or none.
        """
        if documents.dates is None:
            raise ConfigError("by-date: the documents have no dates; name the column of the corpus that holds them")
        if documents.dated_by_class and not self.stratified:
            raise ConfigError("by-date: these dates are comparable only within a class; set stratified: true")
        _check_stratified(self.stratified, documents)
        test = np.zeros(len(documents), dtype=bool)
        parts = documents.labels if self.stratified else np.zeros_like(documents.labels)
        for part in np.unique(parts):
            rows = np.flatnonzero(parts == part)
            dates, n_tested = documents.dates[rows], max(1, round(self.test_share * len(rows)))
            test[rows] = dates >= np.sort(dates)[-n_tested]
        return [make_split(documents, "newest", 1, ~test, test)]


PROTOCOLS: dict[str, type[EvaluationProtocol]] = {
    "leave-one-group-out": LeaveOneGroupOut,
    "fixed-split": FixedSplit,
    "k-fold": KFold,
    "random-subsets": RandomSubsets,
    "hold-out": HoldOut,
    "by-date": ByDate,
}


def _in_group(documents: Documents, name: str, parameter: str) -> Bools:
    """Return a mask of the documents of a group or part; ConfigError if there is none of that name."""
    if len(documents.part_names) < 2:
        problem = "the documents have no groups and no parts: name their column under `corpus`"
        raise ConfigError(f"{parameter}: {problem}, as in group: customer or split: side")
    if name not in documents.part_names:
        raise ConfigError(f"{parameter}: {unknown_name('group', name, documents.part_names)}")
    mask: Bools = documents.parts == documents.part_names.index(name)
    return mask


def _groups(documents: Documents) -> NDArray[np.int32]:
    """Return the number of each document's group; ConfigError if the documents have no groups."""
    if documents.groups is None:
        raise ConfigError("grouped: the documents have no groups; name the column of the corpus that holds them")
    return documents.groups


def _check_stratified(stratified: bool, documents: Documents) -> None:
    """Raise ConfigError where documents may have several classes, or none, and splits are to be stratified."""
    if stratified and documents.topics is not None:
        raise ConfigError("stratified must be false where documents may have several classes, or none")
