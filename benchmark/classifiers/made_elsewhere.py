"""The classifier of predictions that were made elsewhere, which stands for it in tables."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from benchmark.system.tags import Tags

MADE_ELSEWHERE = "made elsewhere"


class MadeElsewhere:
    """Classifier that was trained elsewhere: its predictions stand in a file, and it can't be trained here."""

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False)

    def fit(self, X: Any, y: Any) -> NoReturn:
        """Raise NotImplementedError."""
        raise NotImplementedError

    def predict(self, X: Any) -> NoReturn:
        """Raise NotImplementedError."""
        raise NotImplementedError
