"""Methods that predict a class above a learned threshold instead of 0, for documents with several classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.methods.base import Method
from benchmark.methods.checked_classifiers import check_real_array
from benchmark.methods.fitted import FittedMethod
from benchmark.methods.wrappers.out_of_fold import out_of_fold_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.components import Component
    from benchmark.methods.problem import Decisions
    from benchmark.methods.split_data import SplitData


class ThresholdedMethod(Method):
    """Method whose thresholds are learned from the training documents of each split.

    Parameters
    ----------
    method : Method
        The method whose decision values have thresholds.
    rule : Component
        The rule that learns them.
    """

    def __init__(self, method: Method, rule: Component) -> None:
        super().__init__(method.spec, method.aggregate, batched=method.batched)
        self.method, self.rule = method, rule

    @property
    def uses_seed(self) -> bool:
        """True if the wrapped method uses the seed or thresholds are learned by random folds."""
        return self.method.uses_seed or hasattr(self.rule.cls, "fit")

    def fit(self, work: SplitData) -> FittedThresholds:
        """Train on a split, and on folds of its training documents where the rule learns thresholds.

        Raises
        ------
        ValueError
            If a training document has no class and the rule gives each document one; or if a plug-in's rule has not
            one finite threshold for each class.
        """
        members, rule, whole = work.members, self.rule.build(), self.method.fit(work)
        columns, at_least_one = whole.learned.columns, getattr(rule, "at_least_one", False)
        if at_least_one and not members.any(axis=1).all():
            none = int(np.count_nonzero(~members.any(axis=1)))
            raise ValueError(f"threshold: {self.rule.name}, but {none:,} training documents have no class")
        thresholds = np.zeros(len(columns))
        if hasattr(rule, "fit"):
            values = out_of_fold_values(
                work.whole, work.split, lambda fold: self.method.score(replace(work, split=fold))
            )
            rule.fit(values[:, columns], members[:, columns])
            what = f"the threshold rule {type(rule).__name__}"
            thresholds = check_real_array(getattr(rule, "thresholds_", None), (len(columns),), what)
        return FittedThresholds(whole.view, whole.learned, whole, thresholds, at_least_one)


@dataclass(frozen=True, eq=False)
class FittedThresholds(FittedMethod):
    """Trained method with thresholds.

    Parameters
    ----------
    method : FittedMethod
    thresholds : float64 array, shape (n_learned,)
    at_least_one : bool
        True if at least one class is predicted for each document.
    """

    method: FittedMethod
    thresholds: NDArray[np.float64]
    at_least_one: bool

    def decide(self, inputs: Any) -> Decisions:
        """Return the decisions by the values less the threshold of each learned class, see `FittedMethod`.

        With `at_least_one`, a document without any class gets the one with the largest value (ties: the first).
        """
        values = self.method.class_values(inputs)[:, self.learned.columns] - self.thresholds
        decisions = self.learned.decide(values)
        if self.at_least_one and values.shape[1]:
            none = np.flatnonzero(~decisions.predicted.any(axis=1))
            decisions.predicted[none, self.learned.columns[values[none].argmax(axis=1)]] = True
        return decisions
