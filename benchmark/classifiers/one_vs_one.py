"""One-vs-one SVMs from tiles of kernel matrices: the tiles of two classes at a time, never a whole matrix.

SVMs on kernels of the same inner products are trained together: each tile of inner products is computed once for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from benchmark.classifiers.libsvm import NodeMatrix, svm_parameter, train_binary_svm, training_pool
from benchmark.system.row_blocks import blas_threads, rows_per_block

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmark.classifiers.libsvm import BinarySvm, KernelTiles
    from benchmark.system.arrays import Array, Indices


#: Default memory limit of all tiles together, in bytes.
TILE_MEMORY_BYTES = 4_000_000_000
#: Number of columns of streamed products that are computed together: a row of sums fits in a core's cache.
BLOCK_COLUMNS = 4_096


@dataclass(frozen=True, eq=False)
class SvmProblem:
    """Multi-class problem: a square kernel whose rows are sorted by class, and LIBSVM's parameters.

    Parameters
    ----------
    kernel : KernelTiles, shape (n, n)
        Its tiles have the same `source` as those of the other problems trained with it.
    C, epsilon : float
        LIBSVM's -c and -e.
    ridge : float
        Added to the diagonal.
    """

    kernel: KernelTiles
    C: float = 1.0
    epsilon: float = 1e-3
    ridge: float = 0.0


def train_class_pairs(
    wanted: Sequence[SvmProblem],
    bounds: Indices,
    *,
    jobs: int = 1,
    nodes: NodeMatrix | None = None,
    budget: int = TILE_MEMORY_BYTES,
) -> list[tuple[BinarySvm, ...] | Exception]:
    """Train the SVMs of the class pairs (0,1), (0,2), …, (1,2), … of each problem.

    Parameters
    ----------
    wanted : sequence of SvmProblem
    bounds : intp array, shape (n_classes + 1,)
        The rows of class c are ``bounds[c]:bounds[c + 1]``.
    jobs : int
        Number of threads.
    nodes : NodeMatrix, optional
        Memory to reuse from an earlier call.
    budget : int
        Memory limit of tiles in bytes. Up to a quarter is used to cache tiles within a class, which are then computed
        once, not once a pair. Pairs of which `jobs` fit in half of it are solved in parallel, larger ones one by one.
        Strips of streamed products are not counted.

    Returns
    -------
    list of tuple of BinarySvm, or Exception
        One for each of `wanted`; the exception, if training failed.
    """
    if not wanted:
        return []
    classes = [slice(int(start), int(stop)) for start, stop in pairwise(bounds)]
    pairs = list(combinations(range(len(classes)), 2))
    team = _Team(wanted, classes)
    sizes = np.diff(bounds).astype(np.float64)
    nodes = NodeMatrix() if nodes is None else nodes
    free = SimpleQueue[NodeMatrix]()
    for buffer in nodes.desks(jobs):
        free.put(buffer)

    def solve(unit: tuple[int, list[int]]) -> dict[tuple[int, int], list[BinarySvm | None]]:
        buffer = free.get()
        try:
            return team.solve(*unit, buffer)
        finally:
            free.put(buffer)

    large = {pair for pair in pairs if 8 * sizes[list(pair)].sum() ** 2 * jobs > budget / 2}
    small = [pair for pair in pairs if pair not in large]
    solved: dict[tuple[int, int], list[BinarySvm | None]] = {}
    with blas_threads(1), training_pool(jobs) as many, training_pool(1) as one:
        cached = np.flatnonzero(np.cumsum(8 * sizes**2 * len(team.kernels)) <= budget / 4)
        team.cache_tiles(cached[np.argsort(-sizes[cached], kind="stable")].tolist(), many.map)
        work = pair_blocks(small, sizes if wanted[0].kernel.streamed else None)
        for machines in many.map(solve, sorted(work, key=lambda unit: -_magnitude(sizes, unit))):
            solved |= machines
        for machines in one.map(solve, pair_blocks(sorted(large), None)):
            solved |= machines
    by_pair = [solved[pair] for pair in pairs]
    trained = (tuple(m for of_pair in by_pair if (m := of_pair[i])) for i in range(len(wanted)))
    return [team.failed.get(i) or of_problem for i, of_problem in enumerate(trained)]


def pair_blocks(pairs: Sequence[tuple[int, int]], sizes: Array | None) -> list[tuple[int, list[int]]]:
    """Group the pairs of classes into units, which a thread solves pair by pair in order.

    Without `sizes`, each pair is a unit. With the `sizes` of the classes, shape (n_classes,), a unit is all pairs of a
    class with the classes of one of the `class_blocks`.
    """
    if sizes is None:
        return [(i, [j]) for i, j in pairs]
    run_of = np.empty(len(sizes), dtype=np.intp)
    for number, run in enumerate(class_blocks(sizes)):
        run_of[run] = number
    grouped: dict[tuple[int, int], list[int]] = {}
    for i, j in pairs:
        grouped.setdefault((i, int(run_of[j])), []).append(j)
    return [(i, others) for (i, _), others in grouped.items()]


def _magnitude(sizes: Array, unit: tuple[int, list[int]]) -> int:
    """Return the size of a unit as a power of two: the largest units are solved first to balance the threads.

    Units of about the same size stay in order, so that consecutive units share cached data.
    """
    return int(np.log2(1 + ((sizes[unit[0]] + sizes[unit[1]]) ** 2).sum()))


def class_blocks(sizes: Array) -> list[list[int]]:
    """Group consecutive classes of at most `BLOCK_COLUMNS` columns together; a larger class is a group by itself."""
    grouped, width = list[list[int]](), 0.0
    for code, size in enumerate(sizes):
        if not grouped or width + size > BLOCK_COLUMNS:
            grouped.append([])
            width = 0.0
        grouped[-1].append(code)
        width += size
    return grouped


class _Team:
    """Problems that are trained together, grouped by the kernels to evaluate."""

    def __init__(self, wanted: Sequence[SvmProblem], classes: Sequence[slice]) -> None:
        self.wanted, self.classes = wanted, classes
        self.parameters = [svm_parameter(problem.C, problem.epsilon) for problem in wanted]
        self.kernels: dict[tuple[int, float], list[int]] = {}
        for i, problem in enumerate(wanted):
            self.kernels.setdefault((id(problem.kernel), problem.ridge), []).append(i)
        self.failed: dict[int, Exception] = {}
        self.tiles: dict[tuple[tuple[int, float], int], Array] = {}

    def cache_tiles(self, codes: Sequence[int], run: Callable[..., object]) -> None:
        """Compute and cache the diagonal tiles of the classes `codes`, for all pairs with these classes."""

        def make(code: int) -> None:
            of_class, rows = self.classes[code], self.classes[code].stop - self.classes[code].start
            source = self._source(of_class)
            for key, members in self._active():
                tile = np.empty((rows, rows))

                def put(row: int, _: int, values: Array, tile: Array = tile) -> None:
                    tile[row : row + len(values)] = values

                if self._evaluate(members, source, of_class, of_class, put):
                    self.tiles[key, code] = tile

        list(run(make, codes))  # type: ignore[call-overload]

    def solve(self, i: int, others: list[int], buffer: NodeMatrix) -> dict[tuple[int, int], list[BinarySvm | None]]:
        """Train the SVMs between class i and consecutive `others`, for each problem; None where training failed."""
        first, strip = self.classes[i], slice(self.classes[others[0]].start, self.classes[others[-1]].stop)
        across, back = self.wanted[0].kernel.both(first, strip)
        m = first.stop - first.start
        widths = [self.classes[j].stop - self.classes[j].start for j in others]
        trained: dict[tuple[int, int], list[BinarySvm | None]] = {(i, j): [None] * len(self.wanted) for j in others}
        for key, members in self._active():
            buffer.resize(m + max(widths))
            if not self._write_diagonal(key, members, i, 0, buffer):
                continue
            for j, n in zip(others, widths, strict=True):
                other = self.classes[j]
                part = slice(other.start - strip.start, other.stop - strip.start)
                written = self._write_diagonal(key, members, j, m, buffer)
                written = written and self._evaluate(members, across[:, part], first, other, buffer.write, (0, m))
                if not (written and self._evaluate(members, back[part], other, first, buffer.write, (m, 0))):
                    break
                rows, pointers = np.r_[first, other], buffer.pointers()[: m + n]
                for member in members:
                    try:
                        trained[i, j][member] = train_binary_svm(pointers, rows, m, self.parameters[member])
                    except ValueError as error:
                        self.failed[member] = error
        return trained

    def _write_diagonal(
        self, key: tuple[int, float], members: list[int], code: int, at: int, buffer: NodeMatrix
    ) -> bool:
        """Write the diagonal tile of a class at row and column `at`; return False if a value can't be computed."""
        rows = self.classes[code]
        if (tile := self.tiles.get((key, code))) is not None:
            buffer.write(at, at, tile)
        elif not self._evaluate(members, self._source(rows), rows, rows, buffer.write, (at, at)):
            return False
        buffer.add_to_diagonal(key[1], at, at + rows.stop - rows.start)
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
        """Evaluate a kernel on a tile, in blocks that fit in a core's cache; return False if that fails."""
        kernel = self.wanted[members[0]].kernel
        step = rows_per_block(source.shape[1])
        try:
            for start in range(0, len(source), step):
                part = slice(rows.start + start, min(rows.start + start + step, rows.stop))
                put(at[0] + start, at[1], kernel.values(source[start : start + step], part, columns))
        except (ValueError, FloatingPointError) as error:
            self.failed |= dict.fromkeys(members, error)
            return False
        return True

    def _source(self, rows: slice) -> Array:
        return self.wanted[0].kernel.source(rows, rows)

    def _active(self) -> list[tuple[tuple[int, float], list[int]]]:
        """Return the kernels with those of their problems that haven't failed."""
        active = ((key, [i for i in members if i not in self.failed]) for key, members in self.kernels.items())
        return [(key, members) for key, members in active if members]
