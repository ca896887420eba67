"""A configuration that has been checked: its variants, its cells, and what is to be compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmark.errors import ConfigError
from benchmark.yaml_source import unknown

if TYPE_CHECKING:
    from benchmark.components import Component
    from benchmark.text.lexer import Lexing
    from benchmark.text.vocabulary import Pruning


@dataclass(frozen=True)
class Variant:
    """One choice of documents and lexing: what a `Counts` is made from.

    Parameters
    ----------
    name : str
    corpus : str
    classes : tuple of str
        In the order that decides one-vs-one ties.
    exclude : tuple of str
        Ids of documents left out.
    lexing : Lexing
    pruning : Pruning
    idf : {"collection", "training"}
        Whose documents the inverse document frequency is counted over.
    """

    name: str
    corpus: str
    classes: tuple[str, ...]
    exclude: tuple[str, ...]
    lexing: Lexing
    pruning: Pruning
    idf: str


@dataclass(frozen=True)
class Cell:
    """One cell of a table: a representation, a kernel and a classifier, on one variant.

    Parameters
    ----------
    id : str
        Stable words, such as ``tf-l1-ngd``.
    variant, weighting, normalization : str
    kernel, classifier : Component
    """

    id: str
    variant: str
    weighting: str
    normalization: str
    kernel: Component
    classifier: Component


@dataclass(frozen=True)
class Experiment:
    """A configuration that has been checked.

    Parameters
    ----------
    name, title : str
    paper : str or None
        Key of the paper whose numbers it is compared with.
    explains : str or None
        Name of the configuration whose deviations this one looks into.
    variants : dict of str to Variant
    protocol : Component
    cells : tuple of Cell
    compare : tuple of pairs of cell ids
    metrics : tuple of str
    seed : int
        Of the bootstrap intervals.
    expected_documents, expected_vocabulary : int or None
        What the base variant must have, or no score is computed.
    notes : tuple of str
    raw : dict
        The configuration as it was written.
    """

    name: str
    title: str
    paper: str | None
    explains: str | None
    variants: dict[str, Variant]
    protocol: Component
    cells: tuple[Cell, ...]
    compare: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]
    seed: int
    expected_documents: int | None
    expected_vocabulary: int | None
    notes: tuple[str, ...]
    raw: dict[str, Any] = field(repr=False)

    def cell(self, cell_id: str) -> Cell:
        """The cell of that id; ConfigError with the nearest right one if there is none."""
        for cell in self.cells:
            if cell.id == cell_id:
                return cell
        raise ConfigError(unknown("cell", cell_id, [cell.id for cell in self.cells]))
