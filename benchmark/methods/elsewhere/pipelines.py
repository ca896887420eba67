"""Pipelines: classifiers that read documents as strings, and make points of them by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.methods.plugin_outputs import checked_classifier
from benchmark.methods.point_classifiers import PointClassifierMethod

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.config.components import Component
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem
    from benchmark.methods.split_data import SplitData


@dataclass(frozen=True)
class PipelineMethod(PointClassifierMethod):
    """Pipeline on the texts of the documents; otherwise as `PointClassifierMethod`."""

    @property
    def uses_seed(self) -> bool:
        """True if a step draws random numbers and the configuration doesn't give their seed."""
        return bool(seeds_of(self.spec.classifier))

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on the texts of each split and predict, see `Method.solve`.

        Raises
        ------
        ValueError
            If terms are to be selected.
        """
        if terms is not None:
            raise ValueError("a pipeline makes its own terms: none can be selected for it")
        return super().solve(problem, splits, None, bench)

    def _shared(self, problem: Problem, splits: Sequence[Split]) -> Any:  # noqa: ARG002 - as of the base class
        """Return the texts of all documents, shape (n,)."""
        if problem.texts is None:
            raise ValueError("the documents have no texts here")
        return problem.inputs

    def _points(self, work: SplitData, shared: Any) -> Any:
        return super()._points(work, self._shared(work.problem, [work.split]) if shared is None else shared)

    def _fitted(self, points: Any, labels: NDArray[Any], rankings: Any) -> Any:  # noqa: ARG002 - as of the base class
        seeds = dict.fromkeys(seeds_of(self.spec.classifier), points.seed)
        return checked_classifier(self.spec.classifier.build(**seeds), points.classes).fit(points.train, labels)


def seeds_of(pipeline: Component) -> list[str]:
    """Return the parameters of a pipeline that are seeds, and that the configuration leaves to the experiment's."""
    free = [key for key, value in pipeline.defaults.items() if value is None and key not in pipeline.given]
    return [key for key in free if key.rpartition("__")[2] == "random_state"]
