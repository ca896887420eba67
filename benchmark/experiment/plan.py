"""A configuration to the list of what must be computed, each thing named by the content it comes from."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.corpora import registry as corpora
from benchmark.experiment.store import array_digest, key_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config import Cell, Experiment, Variant
    from benchmark.evaluation.protocols import Split
    from benchmark.text.counts import Counts

#: The modules (below the package) that decide each stage's result; a change in any of them is a new key.
STAGE_CODE = {
    "counts": ("corpora", "text", "experiment/reading.py"),
    "products": ("representation.py", "kernels/products.py", "experiment/runner.py"),
    "predictions": (
        "representation.py",
        "kernels",
        "heat",
        "classifiers/libsvm.py",
        "classifiers/svm.py",
        "experiment/runner.py",
    ),
    "curves": (
        "representation.py",
        "kernels",
        "heat",
        "classifiers/libsvm.py",
        "classifiers/many.py",
        "evaluation/protocols.py",
        "experiment/learning_curves.py",
    ),
    "categories": (
        "representation.py",
        "kernels/gram.py",
        "kernels/products.py",
        "model_kernels",
        "classifiers/hyperplanes.py",
        "classifiers/libsvm.py",
        "experiment/category_curves.py",
        "experiment/category_methods.py",
    ),
    "features": (
        "representation.py",
        "information_gain.py",
        "kernels/products.py",
        "classifiers/class_specific.py",
        "classifiers/libsvm.py",
        "classifiers/multinomial_bayes.py",
        "classifiers/svm.py",
        "experiment/feature_curves.py",
    ),
    "centroids": (
        "representation.py",
        "centroids",
        "classifiers/divergence_bayes.py",
        "evaluation/protocols.py",
        "experiment/centroid_curves.py",
        "experiment/centroid_solvers.py",
    ),
}
#: The libraries whose numbers a stage passes on.
STAGE_LIBRARIES = {
    "counts": (),
    "products": (),
    "predictions": ("libsvm-official",),
    "curves": ("libsvm-official",),
    "categories": ("libsvm-official",),
    "features": ("libsvm-official", "scikit-learn"),
    "centroids": (),
}


@dataclass(frozen=True)
class Base:
    """One matrix of inner products, and the cells and folds that are computed from it.

    Parameters
    ----------
    key : str
        Store key of the matrix.
    weighting : str
    idf_rows : intp array or None
        Documents the idf is counted over; None for TF.
    exponent : float
        Power of the embedding.
    columns : intp array
        Documents that are columns: all that any of its folds trains on.
    n_documents : int
        Rows.
    tasks : tuple of Task
    """

    key: str
    weighting: str
    idf_rows: NDArray[np.intp] | None
    exponent: float
    columns: NDArray[np.intp]
    n_documents: int
    tasks: tuple[Task, ...]

    @property
    def n_bytes(self) -> int:
        """Size of the matrix as float64."""
        return self.n_documents * len(self.columns) * 8


@dataclass(frozen=True)
class Task:
    """One cell on one fold; its predictions are one entry of the store."""

    cell: Cell
    split: Split
    key: str


@cache
def code_digest(stage: str) -> str:
    """The sha256 of a stage's source files, and of the versions of the libraries whose numbers it passes on."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for part in STAGE_CODE[stage]:
        path = package / part
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.suffix in {".py", ".txt"}:
                digest.update(f"{file.relative_to(package).as_posix()}\n".encode() + file.read_bytes())
    for library in STAGE_LIBRARIES[stage]:
        digest.update(f"{library} {version(library)}\n".encode())
    return digest.hexdigest()


def counts_key(variant: Variant, fingerprint: str) -> str:
    """Store key of a variant's counts, given its source's fingerprint.

    What the dataset card promises is part of it, so that a card that was changed is checked against the corpus anew.
    """
    content = asdict(variant)
    del content["name"], content["idf"]
    card = corpora.card(variant.corpus, variant.subset)
    rows = [[name, list(row.items())] for name, row in card.counts.items()]
    gate = [card.digest, card.tops, rows, card.documents]
    return key_of(stage="counts", code=code_digest("counts"), source=fingerprint, card=gate, **content)


def bases(experiment: Experiment, variant: Variant, counts: Counts, counts_id: str, splits: list[Split]) -> list[Base]:
    """The inner-product matrices a variant needs, in the order of the cells that first use them.

    With the idf of the training documents, TF×IDF differs from fold to fold and each fold has matrices of its own.
    """
    n = len(counts.documents)
    grouped: dict[tuple[str, float, int | None], list[tuple[Cell, Split]]] = {}
    for cell in experiment.cells:
        if cell.variant != variant.name:
            continue
        exponent = cell.kernel.build().exponent
        for number, split in enumerate(splits):
            per_fold = cell.weighting == "tfidf" and variant.idf == "training"
            grouped.setdefault((cell.weighting, exponent, number if per_fold else None), []).append((cell, split))
    all_columns = _union([split.train for split in splits], n)
    found = []
    for (weighting, exponent, fold), members in grouped.items():
        columns = all_columns if fold is None else splits[fold].train
        idf_rows = None
        if weighting == "tfidf":
            idf_rows = np.arange(n) if fold is None else splits[fold].train
        content: dict[str, Any] = {
            "counts": counts_id,
            "weighting": weighting,
            "idf": None if idf_rows is None else array_digest(idf_rows.astype(np.int64)),
            "exponent": exponent,
        }
        key = key_of(
            stage="products",
            code=code_digest("products"),
            columns=array_digest(columns.astype(np.int64)),
            dtype="float64",
            **content,
        )
        tasks = tuple(Task(cell, split, _task_key(cell, split, content)) for cell, split in members)
        found.append(Base(key, weighting, idf_rows, exponent, columns, n, tasks))
    return found


def _task_key(cell: Cell, split: Split, content: dict[str, Any]) -> str:
    return key_of(
        stage="predictions",
        code=code_digest("predictions"),
        normalization=cell.normalization,
        kernel=cell.kernel.resolved,
        classifier=cell.classifier.resolved,
        train=array_digest(split.train.astype(np.int64)),
        test=array_digest(split.test.astype(np.int64)),
        **content,
    )


def _union(rows: list[NDArray[np.intp]], n: int) -> NDArray[np.intp]:
    used = np.zeros(n, dtype=bool)
    for each in rows:
        used[each] = True
    return np.flatnonzero(used)
