"""Random splits: of all documents, into parts of given sizes; and of the pages of some universities."""

from dataclasses import dataclass

import numpy as np

from benchmark.evaluation.protocols import RandomSubsets
from benchmark.evaluation.splits import make_split
from benchmark.system.tags import Tags


@dataclass(frozen=True)
class GroupSubsets:
    """Train on random pages of some groups, and test on all others of these groups, or of other groups.

    Parameters
    ----------
    train_size : int
        Number of training pages of a replicate.
    replicates : int
        Number of replicates.
    groups : list of str
        Groups that are drawn from.
    tested : list of str
        Groups that are tested on; by default the pages of `groups` that weren't drawn.
    balanced : bool
        Whether to draw as many pages of each class, and not by the classes' shares.
    seed : int
        Seed of the draws.
    """

    train_size: int
    replicates: int
    groups: list[str]
    tested: list[str] | None = None
    balanced: bool = False
    seed: int = 0

    tags = Tags(replicated=True)

    def splits(self, documents):
        """Return one split for each replicate."""
        drawn_from, tested = (
            np.isin(documents.parts, [documents.part_names.index(name) for name in names])
            for names in (self.groups, self.tested or self.groups)
        )
        pool, n_classes, splits = np.flatnonzero(drawn_from), len(documents.classes), []
        sizes = np.bincount(documents.labels[pool], minlength=n_classes)
        shares = np.full(n_classes, 1 / n_classes) if self.balanced else sizes / sizes.sum()
        quotas = np.floor(self.train_size * shares + 0.5).astype(int)
        quotas[0] += self.train_size - quotas.sum()
        for replicate in range(1, self.replicates + 1):
            rows = np.random.default_rng([self.seed, self.train_size, replicate]).permutation(pool)
            train = np.zeros(len(documents), dtype=bool)
            for code, quota in enumerate(quotas):
                train[rows[documents.labels[rows] == code][:quota]] = True
            splits.append(make_split(documents, f"replicate-{replicate:02d}", replicate, train, tested & ~train))
        return splits


@dataclass(frozen=True)
class RandomSplit:
    """Train on random documents, with each class's share, and test on all others, once.

    Parameters
    ----------
    train_size : int
        Number of training documents.
    seed : int
        Seed of the draw.
    """

    train_size: int
    seed: int = 0

    def splits(self, documents):
        """Return the one split; a document is tested at most once, so that pairs of methods can be compared."""
        (drawn,) = RandomSubsets(self.train_size, 1, self.seed).splits(documents)
        return [drawn]


PROTOCOLS = {"random-split": RandomSplit, "group-subsets": GroupSubsets}
