"""Public test sets, and the labels that our methods predict on them: ids and labels alone, without texts or counts.

`results/predictions/<configuration>.parquet` has a row for each test document and a column for each cell. The labels
of a document are one text, as `bench predict` writes them: several are separated by semicolons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from benchmark.system.errors import BenchError, ConfigError, DataError, unknown_name
from benchmark.system.shipped_files import SHIPPED, find_shipped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray


#: Folder with one file for each configuration.
PREDICTIONS_FOLDER = SHIPPED / "results" / "predictions"
PREDICTIONS_FORMAT = 3
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
    """

    name: str
    title: str
    configurations: Sequence[str]
    documents: str
    training: str
    multilabel: bool = False

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
        Configuration of each cell; a cell that an earlier one has, too, is named with its own before it.
    """

    test_set: PublicTestSet
    frame: pd.DataFrame
    classes: tuple[str, ...]
    digest: str
    cells: Mapping[str, str]

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the splits that test the documents, in order."""
        return tuple(dict.fromkeys(self.frame["group"]))


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


def load_shipped(name: str) -> ShippedPredictions:
    """Read the shipped predictions on a public test set.

    Raises
    ------
    ConfigError
        If there is no such test set.
    BenchError, DataError
        As `read_labels` does.
    """
    test_set = public_test_set(name)
    first, *others = (read_labels(configuration) for configuration in test_set.configurations)
    frame, cells = first, dict.fromkeys(first.columns.drop(list(DOCUMENT_COLUMNS)), test_set.configurations[0])
    for configuration, labels in zip(test_set.configurations[1:], others, strict=True):
        own = labels.columns.drop(list(DOCUMENT_COLUMNS))
        names = {cell: f"{configuration}-{cell}" if cell in cells else cell for cell in own}
        frame = frame.merge(labels.rename(columns=names), on=list(DOCUMENT_COLUMNS), validate="one_to_one")
        cells |= dict.fromkeys(names.values(), configuration)
    return ShippedPredictions(test_set, frame, tuple(first.attrs["classes"]), first.attrs["corpus_digest"], cells)


def read_labels(configuration: str, folder: Path | None = None) -> pd.DataFrame:
    """Read the labels that a configuration predicts, with the columns `DOCUMENT_COLUMNS` and one for each cell.

    Its `attrs` have the classes, the digest of the corpus, and the version that computed the labels.

    Raises
    ------
    BenchError
        If there is no such file.
    DataError
        If the file is damaged, or of another format.
    """
    import pandas as pd  # noqa: PLC0415 - slow, and needed for the files alone

    path = find_shipped(folder or PREDICTIONS_FOLDER, f"{configuration}.parquet")
    try:
        frame = pd.read_parquet(path)
    except FileNotFoundError:
        raise BenchError(f"{path}: is missing; `bench check --update {configuration}` makes it") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: can't be read ({error})") from None
    if frame.attrs.get("format") != PREDICTIONS_FORMAT:
        raise DataError(f"{path}: is not of format {PREDICTIONS_FORMAT}, which this version reads")
    return frame


def encode_labels(frame: pd.DataFrame, classes: Sequence[str], digest: str, version: str) -> bytes:
    """Return the content of a file that `read_labels` reads."""
    described = frame.copy()
    described.attrs = {"format": PREDICTIONS_FORMAT, "classes": [*classes], "corpus_digest": digest, "version": version}
    content: bytes = described.to_parquet(index=False, compression="zstd", compression_level=19)
    return content
