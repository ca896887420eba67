"""A corpus of one's own as a manifest keeps it: by number, when its files may have gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmark.corpora.corpus import Documents
from benchmark.corpora.reader import CorpusReader
from benchmark.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True)
class RecordedCorpus(CorpusReader):
    """One's own corpus as a manifest keeps it: enough to read a run again, not to make one.

    Parameters
    ----------
    kept : mapping
        As `CorpusReader.facts` gives it.
    """

    kept: Mapping[str, Any]

    name: ClassVar[str] = "files"

    @classmethod
    def called(cls, name: str, facts: Mapping[str, Any]) -> RecordedCorpus:
        """One that configurations call otherwise."""
        own: type[RecordedCorpus] = cls if name == cls.name else type(cls.__name__, (cls,), {"name": name})
        return own(facts)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in the order of their names."""
        return tuple(self.kept["classes"])

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups, in the order of their names."""
        return tuple(self.kept["groups"])

    @property
    def several(self) -> bool:
        """Whether documents may have several classes, or none."""
        return self.kept["documents"] is not None

    def outline(self) -> Documents:
        """Documents right in number, class and group."""
        return outlined(self.classes, self.groups, self.kept["sizes"], self.kept["documents"])

    def locate(self, *_: Any, **__: Any) -> Any:
        """Nowhere."""
        raise DataError("the corpus of a finished run is asked for by its configuration, not by its manifest")

    content = load = locate


def outlined(
    classes: tuple[str, ...],
    groups: tuple[str, ...],
    sizes: Iterable[Sequence[int]],
    documents: Sequence[int] | None,
) -> Documents:
    """Documents by number: of each class and group, or, where they may have several classes, of each group.

    Of documents with several classes or none, numbers don't say which; these have none here.
    """
    if documents is not None:
        sides = np.repeat(np.arange(len(groups)), list(documents)).astype(np.int32)
        none = np.zeros((len(sides), len(classes)), dtype=bool)
        labels = np.full(len(sides), -1, dtype=np.int32)
        return Documents(tuple(map(str, range(len(sides)))), labels, sides, classes, groups, none)
    flat = np.ravel([list(row) for row in sizes])
    labels = np.repeat(np.repeat(np.arange(len(classes)), len(groups)), flat).astype(np.int32)
    sides = np.repeat(np.tile(np.arange(len(groups)), len(classes)), flat).astype(np.int32)
    return Documents(tuple(map(str, range(len(labels)))), labels, sides, classes, groups)
