"""Public test sets, and the labels that our methods predict on them: ids and labels alone, without texts or counts.

`results/predictions/<name>.parquet` has a row for each test document and a column for each cell. The labels of a
document are one text, as `bench predict` writes them: several are separated by semicolons.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from benchmark.evaluation.outcomes import CellScores, Outcome, outcome_scores
from benchmark.system.errors import BenchError, ConfigError, unknown_name
from benchmark.system.shipped_files import SHIPPED, find_shipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray


#: Folder with one file for each test set.
PREDICTIONS_FOLDER = SHIPPED / "results" / "predictions"
#: Between the labels of one document.
LABEL_SEPARATOR = ";"
#: Columns beside those of the cells: the id, the split that tests the document, its true labels.
DOCUMENT_COLUMNS = ("id", "group", "label")


@dataclass(frozen=True)
class PublicTestSet:
    """Test documents that others score, too.

    Parameters
    ----------
    name, title : str
    configurations : sequence of str
        Configurations whose predictions are shipped.
    documents : str
        What its documents are called: "posts".
    training : str
        What a method may be trained on, as a sentence.
    multilabel : bool
        Whether a document may have several labels.
    excluded : mapping of str to str
        Labels of documents that belong to the set and that our methods leave out, by id.
    """

    name: str
    title: str
    configurations: Sequence[str]
    documents: str
    training: str
    multilabel: bool = False
    excluded: Mapping[str, str] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, str]:
        """Main metric and further metric."""
        return ("micro-f1", "macro-f1") if self.multilabel else ("accuracy", "macro-f1")

    @property
    def label_column(self) -> str:
        """Column of the labels in a file of predictions, as `bench predict` names it."""
        return "labels" if self.multilabel else "label"


_FACTS = yaml.safe_load((PREDICTIONS_FOLDER / "test-sets.yaml").read_text(encoding="utf-8"))
TEST_SETS = {name: PublicTestSet(name, **fields) for name, fields in _FACTS.items()}


@dataclass(frozen=True, eq=False)
class ShippedPredictions:
    """Labels that our methods predict on a public test set.

    Parameters
    ----------
    test_set : PublicTestSet
    frame : DataFrame
        A row for each document, with the columns `DOCUMENT_COLUMNS` and one for each cell; all are texts.
    classes : tuple of str
        Classes of the test set.
    digest : str
        Content digest of the corpus.
    cells : mapping of str to str
        Configuration of each cell.
    versions : mapping of str to str
        Version that computed each configuration.
    """

    test_set: PublicTestSet
    frame: pd.DataFrame
    classes: tuple[str, ...]
    digest: str
    cells: Mapping[str, str]
    versions: Mapping[str, str]

    def column(self, configuration: str, cell: str) -> str | None:
        """Return the column of a cell: its id, with its configuration before it where another one has such a cell."""
        names = (cell, f"{configuration}-{cell}")
        return next((name for name in names if self.cells.get(name) == configuration), None)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Names of the splits that test the documents, in order."""
        return tuple(dict.fromkeys(self.frame["group"]))

    @cached_property
    def truth(self) -> NDArray[Any]:
        """True labels as codes, see `label_codes`."""
        return self.codes(self.frame["label"].tolist())

    def codes(self, labels: Sequence[str]) -> NDArray[Any]:
        """Return the codes of one label text a document, in the order of `frame`."""
        return label_codes(labels, self.classes, multilabel=self.test_set.multilabel)

    def predicted(self, labels: Iterable[str]) -> dict[tuple[str, str], frozenset[str]]:
        """Return the classes of one label text a document, by split and document."""
        keys = zip(self.frame["group"], self.frame["id"], strict=True)
        return {key: frozenset(split_labels(text)) for key, text in zip(keys, labels, strict=True)}

    def scores(self, name: str, labels: Sequence[str]) -> CellScores:
        """Return the scores of predictions on every split.

        Parameters
        ----------
        name : str
            Name of the method.
        labels : sequence of str
            A text for each document, in the order of `frame`.
        """
        rows, folds = np.arange(len(self.frame)), self.frame["group"].factorize()[0]
        outcome = Outcome(name, rows, folds, self.truth, self.codes(labels), len(self.classes))
        n = np.array([rows.size for rows in outcome.rows])
        return CellScores(name, self.groups, outcome_scores(outcome), n, outcome.ties(None), outcome)


def label_codes(labels: Sequence[str], classes: Sequence[str], *, multilabel: bool) -> NDArray[Any]:
    """Return an int16 array of class codes, shape (n,), or bool class indicators, shape (n, k).

    Raises
    ------
    KeyError
        If a label isn't one of the classes.

    Examples
    --------
    >>> label_codes(["b", "a"], ["a", "b"], multilabel=False)
    array([1, 0], dtype=int16)
    >>> label_codes(["a;b", ""], ["a", "b"], multilabel=True).tolist()
    [[True, True], [False, False]]
    """
    position = {name: code for code, name in enumerate(classes)}
    if not multilabel:
        return np.array([position[label] for label in labels], dtype=np.int16)
    codes = np.zeros((len(labels), len(classes)), dtype=np.bool_)
    for row, text in enumerate(labels):
        codes[row, [position[label] for label in split_labels(text)]] = True
    return codes


def split_labels(text: str) -> list[str]:
    """Return the labels of a text that separates them by semicolons; none for an empty text."""
    return [label.strip() for label in text.split(LABEL_SEPARATOR) if label.strip()]


def public_test_set(name: str) -> PublicTestSet:
    """Return the public test set of this name; ConfigError if there is none."""
    if name not in TEST_SETS:
        raise ConfigError(unknown_name("test set", name, list(TEST_SETS)))
    return TEST_SETS[name]


def public_set_of_configuration(configuration: str) -> PublicTestSet | None:
    """Return the test set with the predictions of a configuration; None if its predictions aren't shipped."""
    return next((each for each in TEST_SETS.values() if configuration in each.configurations), None)


def load_shipped(name: str, folder: Path | None = None) -> ShippedPredictions:
    """Read the shipped predictions on a public test set.

    Raises
    ------
    ConfigError
        If there is no such test set.
    BenchError
        If its predictions aren't here.
    """
    import pandas as pd  # noqa: PLC0415 - slow, and needed for the files alone

    test_set, path = public_test_set(name), find_shipped(folder or PREDICTIONS_FOLDER, f"{name}.parquet")
    if not path.exists():
        makes = f"`bench check --update {' '.join(test_set.configurations)}` makes it"
        raise BenchError(f"{path}: there are no predictions on {name!r}; {makes}")
    frame = pd.read_parquet(path)
    facts, frame.attrs = frame.attrs, {}
    classes = tuple(facts["classes"])
    return ShippedPredictions(test_set, frame, classes, facts["corpus_digest"], facts["cells"], facts["versions"])


def encode_shipped(shipped: ShippedPredictions) -> bytes:
    """Return the content of the file."""
    frame = shipped.frame.copy()
    frame.attrs = {
        "corpus_digest": shipped.digest,
        "classes": list(shipped.classes),
        "cells": dict(shipped.cells),
        "versions": dict(shipped.versions),
    }
    content: bytes = frame.to_parquet(index=False, compression="zstd", compression_level=19)
    return content
