"""Methods with plug-ins' components: an error in one is reported with file and line, and fails its cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.kernels import is_elementwise_kernel
from benchmark.methods.kernel_machines import build_kernel, check_not_constant
from benchmark.methods.plugin_outputs import check_real_array
from benchmark.methods.weighted_counts import split_weighting, weighted_points
from benchmark.system.plugin_code import run_guarded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.base import Method
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem

#: Training documents that are checked first.
_FEW = 50


@dataclass(frozen=True)
class PluginMethod:
    """Method with components of plug-ins or libraries.

    Parameters
    ----------
    method : Method
        The method to run.
    parts : tuple of type
        The classes of these components.
    """

    method: Method
    parts: tuple[type[Any], ...]

    @property
    def batched(self) -> bool:
        """`batched` of the wrapped method."""
        return self.method.batched

    @property
    def uses_seed(self) -> bool:
        """`uses_seed` of the wrapped method."""
        return self.method.uses_seed

    @property
    def spec(self) -> MethodSpec:
        """`spec` of the wrapped method."""
        return self.method.spec

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Solve with the wrapped method, see `Method.solve`.

        Raises
        ------
        ValueError
            For any error in the plug-in's code, in one line; and if all values of its kernel are equal.
        """
        with run_guarded(*self.parts):
            self._check_values(problem, splits[0])
            return self.method.solve(problem, splits, terms, bench)

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: MatrixCache) -> FittedMethod:
        """Train with the wrapped method, see `Method.fit`; any error in the plug-in's code becomes a ValueError."""
        with run_guarded(*self.parts):
            return self.method.fit(problem, split, terms, bench)

    def _check_values(self, problem: Problem, split: Split) -> None:
        """Raise ValueError where an elementwise kernel has values that aren't finite numbers, or only equal values."""
        spec = self.method.spec
        if spec.kernel is None or not is_elementwise_kernel(spec.kernel.cls):
            return
        counts = problem.counts.matrix
        weighting = split_weighting(problem, counts, spec.representation, split)
        points, kernel = weighted_points(counts, spec.representation, weighting), build_kernel(spec)
        for train in (split.train[:_FEW], split.train):
            values = kernel.fit(points[train]).transform(points[train])
            gram = check_real_array(values, (len(train), len(train)), f"the kernel {kernel!r}")
            if gram.min() < gram.max():
                return
        check_not_constant(kernel, gram)
