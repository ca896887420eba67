"""One-vs-one machines from tiles of kernel matrices: those of two classes at a time, never a matrix as a whole.

Machines on kernels of the same inner products are trained side by side: each tile of products is made once for all.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations, pairwise
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from benchmark.blocks import blas_threads, rows_per_block
from benchmark.classifiers.libsvm import NodeMatrix, parameter_of, train_binary, trainers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchmark.classifiers.libsvm import KernelTiles, Machine

    Array = NDArray[np.float64]

#: Bytes that tiles may take together, unless given.
TILES = 4_000_000_000
#: Columns of streamed products that are computed together: their row of sums stays in the core's own cache.
RUN = 4_096


@dataclass(frozen=True, eq=False)
class Wanted:
    """Machines to be trained: a square kernel whose rows are sorted by class, and LIBSVM's parameters.

    Parameters
    ----------
    kernel : KernelTiles, shape (n, n)
        Its tiles have the same `source` as those of the others that are wanted with it.
    C, epsilon, cache_mb : float
        LIBSVM's -c, -e and -m.
    ridge : float
        Added to the diagonal.
    """

    kernel: KernelTiles
    C: float = 1.0
    epsilon: float = 1e-3
    cache_mb: float = 200.0
    ridge: float = 0.0


class Clock:
    """Seconds of several threads, by what they were spent on.

    Parameters
    ----------
    n : int
        How many machines there are wanted.

    Attributes
    ----------
    shared : float
        Spent for all of them.
    own : float array, shape (n,)
    """

    def __init__(self, n: int) -> None:
        self.shared, self.own = 0.0, np.zeros(n)
        self._lock = Lock()

    def book(self, started: float, members: Sequence[int] = ()) -> None:
        """Add what has passed since `started` to some machines, in equal parts, or to what all of them share."""
        spent = time.perf_counter() - started
        with self._lock:
            if members:
                self.own[members] += spent / len(members)
            else:
                self.shared += spent


def train_pairs(
    wanted: Sequence[Wanted],
    bounds: NDArray[np.intp],
    *,
    jobs: int = 1,
    nodes: NodeMatrix | None = None,
    budget: int = TILES,
    clock: Clock | None = None,
) -> list[tuple[Machine, ...] | Exception]:
    """The machines of the pairs of classes (0,1), (0,2), …, (1,2), … of all that are wanted; or why they can't be.

    Parameters
    ----------
    wanted : sequence of Wanted
    bounds : intp array, shape (n_classes + 1,)
        Class c owns the rows ``bounds[c]:bounds[c + 1]``.
    nodes : NodeMatrix, optional
        Memory to reuse from an earlier call.
    budget : int
        Bytes that tiles may take. Up to a quarter of it, tiles within a class are made once, not once a pair; up to
        half of it, `jobs` pairs are solved at a time, else one. Strips of streamed products come beside it.
    clock : Clock, optional
        What the seconds are added to.
    """
    classes = [slice(int(start), int(stop)) for start, stop in pairwise(bounds)]
    pairs = list(combinations(range(len(classes)), 2))
    team = _Team(wanted, classes, clock or Clock(len(wanted)))
    sizes = np.diff(bounds).astype(np.float64)
    nodes = NodeMatrix() if nodes is None else nodes
    free = SimpleQueue[NodeMatrix]()
    for desk in nodes.desks(jobs):
        free.put(desk)

    def solve(unit: tuple[int, list[int]]) -> dict[tuple[int, int], list[Machine | None]]:
        desk = free.get()
        try:
            return team.solve(*unit, desk)
        finally:
            free.put(desk)

    large = {pair for pair in pairs if 8 * sizes[list(pair)].sum() ** 2 * jobs > budget / 2}
    small = [pair for pair in pairs if pair not in large]
    found: dict[tuple[int, int], list[Machine | None]] = {}
    with blas_threads(1), trainers(jobs) as many, trainers(1) as one:
        kept = np.flatnonzero(np.cumsum(8 * sizes**2 * len(team.kernels)) <= budget / 4)
        team.keep(kept[np.argsort(-sizes[kept], kind="stable")].tolist(), many.map)
        apart = units(small, sizes if wanted and wanted[0].kernel.streamed else None)
        for each in many.map(solve, sorted(apart, key=lambda unit: -_magnitude(sizes, unit))):
            found |= each
        for each in one.map(solve, units(sorted(large), None)):
            found |= each
    nodes.tiles_bytes = max(nodes.tiles_bytes, sum(tile.nbytes for tile in team.tiles.values()))
    by_pair = [found[pair] for pair in pairs]
    trained = (tuple(m for each in by_pair if (m := each[i])) for i in range(len(wanted)))
    return [team.failed.get(i) or machines for i, machines in enumerate(trained)]


def units(pairs: Sequence[tuple[int, int]], sizes: Array | None) -> list[tuple[int, list[int]]]:
    """The pairs of classes that a thread solves one after the other, in their order.

    A pair is a unit, unless `sizes` of the classes are given, shape (n_classes,): then all pairs of a class with those
    of one of the `runs` are.
    """
    if sizes is None:
        return [(i, [j]) for i, j in pairs]
    run_of = np.empty(len(sizes), dtype=np.intp)
    for number, run in enumerate(runs(sizes)):
        run_of[run] = number
    found: dict[tuple[int, int], list[int]] = {}
    for i, j in pairs:
        found.setdefault((i, int(run_of[j])), []).append(j)
    return [(i, others) for (i, _), others in found.items()]


def _magnitude(sizes: Array, unit: tuple[int, list[int]]) -> int:
    """How large a unit is, in powers of two: the largest come first, lest one is solved alone in the end.

    Those that are about as large stay in their order, in which they share what is in the caches.
    """
    return int(np.log2(1 + ((sizes[unit[0]] + sizes[unit[1]]) ** 2).sum()))


def runs(sizes: Array) -> list[list[int]]:
    """The classes that follow each other and together have at most `RUN` columns, or one that has more by itself."""
    found, width = list[list[int]](), 0.0
    for code, size in enumerate(sizes):
        if not found or width + size > RUN:
            found.append([])
            width = 0.0
        found[-1].append(code)
        width += size
    return found


class _Team:
    """What is wanted, by the kernels that have to be evaluated for it."""

    def __init__(self, wanted: Sequence[Wanted], classes: Sequence[slice], clock: Clock) -> None:
        self.wanted, self.classes, self.clock = wanted, classes, clock
        self.parameters = [parameter_of(each.C, each.epsilon, each.cache_mb) for each in wanted]
        self.kernels: dict[tuple[int, float], list[int]] = {}
        for i, each in enumerate(wanted):
            self.kernels.setdefault((id(each.kernel), each.ridge), []).append(i)
        self.failed: dict[int, Exception] = {}
        self.tiles: dict[tuple[tuple[int, float], int], Array] = {}

    def keep(self, codes: Sequence[int], run: Callable[..., object]) -> None:
        """Make the tiles of some classes with themselves, which their pairs then find."""

        def make(code: int) -> None:
            own, rows = self.classes[code], self.classes[code].stop - self.classes[code].start
            source = self._source(own)
            for key, members in self._left():
                tile = np.empty((rows, rows))

                def put(row: int, _: int, values: Array, tile: Array = tile) -> None:
                    tile[row : row + len(values)] = values

                if self._evaluate(members, source, own, own, put):
                    self.tiles[key, code] = tile

        list(run(make, codes))  # type: ignore[call-overload]

    def solve(self, i: int, others: list[int], desk: NodeMatrix) -> dict[tuple[int, int], list[Machine | None]]:
        """The machines between a class and others that follow each other; None where they can't be trained."""
        own, strip = self.classes[i], slice(self.classes[others[0]].start, self.classes[others[-1]].stop)
        started = time.perf_counter()
        across, back = self.wanted[0].kernel.both(own, strip)
        self.clock.book(started)
        m = own.stop - own.start
        widths = [self.classes[j].stop - self.classes[j].start for j in others]
        found: dict[tuple[int, int], list[Machine | None]] = {(i, j): [None] * len(self.wanted) for j in others}
        for key, members in self._left():
            desk.resize(m + max(widths))
            if not self._own(key, members, i, 0, desk):
                continue
            for j, n in zip(others, widths, strict=True):
                other = self.classes[j]
                part = slice(other.start - strip.start, other.stop - strip.start)
                written = self._own(key, members, j, m, desk)
                written = written and self._evaluate(members, across[:, part], own, other, desk.write, (0, m))
                if not (written and self._evaluate(members, back[part], other, own, desk.write, (m, 0))):
                    break
                rows, pointers = np.r_[own, other], desk.pointers()[: m + n]
                for each in members:
                    started = time.perf_counter()
                    try:
                        found[i, j][each] = train_binary(pointers, rows, m, self.parameters[each])
                    except ValueError as error:
                        self.failed[each] = error
                    self.clock.book(started, [each])
        return found

    def _own(self, key: tuple[int, float], members: list[int], code: int, at: int, desk: NodeMatrix) -> bool:
        """Write the tile of a class with itself."""
        own, started = self.classes[code], time.perf_counter()
        if (tile := self.tiles.get((key, code))) is not None:
            desk.write(at, at, tile)
            self.clock.book(started, members)
        elif not self._evaluate(members, self._source(own), own, own, desk.write, (at, at)):
            return False
        desk.add_to_diagonal(key[1], at, at + own.stop - own.start)
        return True

    def _evaluate(
        self,
        members: list[int],
        source: Array,
        rows: slice,
        columns: slice,
        put: Callable[[int, int, Array], None],
        at: tuple[int, int] = (0, 0),
    ) -> bool:
        """Evaluate a kernel on a tile, a block at a time that stays in the core's cache; False if that can't be."""
        kernel, started = self.wanted[members[0]].kernel, time.perf_counter()
        step = rows_per_block(source.shape[1])
        try:
            for start in range(0, len(source), step):
                part = slice(rows.start + start, min(rows.start + start + step, rows.stop))
                put(at[0] + start, at[1], kernel.values(source[start : start + step], part, columns))
        except (ValueError, FloatingPointError) as error:
            self.failed |= dict.fromkeys(members, error)
            return False
        self.clock.book(started, members)
        return True

    def _source(self, own: slice) -> Array:
        started = time.perf_counter()
        found = self.wanted[0].kernel.source(own, own)
        self.clock.book(started)
        return found

    def _left(self) -> list[tuple[tuple[int, float], list[int]]]:
        """The kernels, each with those members that haven't failed."""
        left = ((key, [i for i in members if i not in self.failed]) for key, members in self.kernels.items())
        return [(key, members) for key, members in left if members]
