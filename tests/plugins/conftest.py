"""Plug-ins of all kinds, and configurations that name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CONFIG = """\
name: own
plugins: [FILES]
corpus: {name: synthetic}
text: {skip_header: true, skip_html: true, stoplist: none, min_occurrences: 100}
protocol: {name: leave-one-group-out, held_out: [cornell]}
methods: [METHODS]
"""
#: The χ² kernel, by way of a module beside the file.
CHI2 = """\
from benchmark.system.tags import Tags
from sklearn.base import BaseEstimator, TransformerMixin
from beside import scaled

class ChiSquared(TransformerMixin, BaseEstimator):
    tags = Tags(normalization="l1")

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma

    def fit(self, X, y=None):
        self.points_ = X.toarray()
        return self

    def transform(self, X):
        return scaled(X.toarray(), self.points_, self.gamma)


class Other(ChiSquared):
    def transform(self, X):
        return super().transform(X) + 1


KERNELS = {"chi2": ChiSquared, "other": Other}
"""
BESIDE = """\
from sklearn.metrics.pairwise import chi2_kernel


def scaled(x, y, gamma):
    return chi2_kernel(x, y, gamma)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the χ² kernel."""
    (tmp_path / "chi2.py").write_text(CHI2, encoding="utf-8")
    (tmp_path / "beside.py").write_text(BESIDE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def plugin(folder: Path) -> Callable[..., Path]:
    """Write a plug-in's file."""

    def write(text: str, name: str = "mine.py") -> Path:
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    return write


@pytest.fixture
def config(folder: Path) -> Callable[..., Path]:
    """Write a configuration that names files and methods; keywords replace other lines."""

    def write(files: str = "chi2.py", methods: str = "chi2", name: str = "own", **lines: str) -> Path:
        text = CONFIG.replace("FILES", files).replace("METHODS", methods).replace("own", name)
        kept = [line for line in text.splitlines() if line.split(":")[0] not in lines]
        path = folder / f"{name}.yaml"
        path.write_text("\n".join([*kept, *(f"{key}: {value}" for key, value in lines.items()), ""]), encoding="utf-8")
        return path

    return write
