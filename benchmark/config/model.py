"""A configuration that has been checked: its variants, its cells, and what is to be compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from benchmark.errors import ConfigError
from benchmark.yaml_source import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    subset : str or None
        Part of the corpus, as its card names it; None for the whole.
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
    subset: str | None
    classes: tuple[str, ...]
    exclude: tuple[str, ...]
    lexing: Lexing
    pruning: Pruning
    idf: str


class Named(Protocol):
    """What tables have rows for: it has an id."""

    @property
    def id(self) -> str:
        """Stable words, unique in its configuration."""


@dataclass(frozen=True)
class Study:
    """What every checked configuration has, whatever its kind.

    Parameters
    ----------
    kind, name, title : str
    paper : str or None
        Key of the paper whose numbers it is compared with.
    explains : str or None
        Name of the configuration whose deviations this one looks into.
    variants : dict of str to Variant
        Each choice of documents and lexing; none where data are generated.
    compare : tuple of pairs of cell ids
    seed : int
    notes : tuple of str
    expected_documents, expected_vocabulary : int or None
        What the base variant must have, or no score is computed.
    raw : dict
        The configuration as it was written.
    """

    kind: str
    name: str
    title: str
    paper: str | None
    explains: str | None
    variants: dict[str, Variant]
    compare: tuple[tuple[str, str], ...]
    seed: int
    notes: tuple[str, ...]
    expected_documents: int | None
    expected_vocabulary: int | None
    raw: dict[str, Any] = field(repr=False)

    @property
    def named_cells(self) -> Sequence[Named]:
        """Its cells, in table order."""
        raise NotImplementedError


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
class Experiment(Study):
    """A table: every combination of representation, kernel and classifier on the splits of one protocol.

    Its seed is that of the bootstrap intervals.

    Parameters
    ----------
    protocol : Component
    cells : tuple of Cell
    metrics : tuple of str
    """

    protocol: Component
    cells: tuple[Cell, ...]
    metrics: tuple[str, ...]

    @property
    def named_cells(self) -> Sequence[Named]:
        """Its cells, in table order."""
        return self.cells

    def cell(self, cell_id: str) -> Cell:
        """The cell of that id; ConfigError with the nearest right one if there is none."""
        for cell in self.cells:
            if cell.id == cell_id:
                return cell
        raise ConfigError(unknown("cell", cell_id, [cell.id for cell in self.cells]))
