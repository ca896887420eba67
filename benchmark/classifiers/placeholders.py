"""Classifiers that stand in tables for methods whose decisions come from elsewhere, and can't be trained."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from benchmark.system.tags import Tags


class MadeElsewhere:
    """Classifier that was trained elsewhere: its predictions stand in a file."""

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False)

    def fit(self, X: Any, y: Any) -> NoReturn:
        """Raise NotImplementedError."""
        raise NotImplementedError

    def predict(self, X: Any) -> NoReturn:
        """Raise NotImplementedError."""
        raise NotImplementedError


class Fusion(MadeElsewhere):
    """Sum of the decision values of other methods of the run."""


MADE_ELSEWHERE, FUSION = "made elsewhere", "fusion"
