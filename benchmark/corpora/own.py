"""What corpora of one's own have in common: they lie beside their configuration, and name their classes themselves."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmark.corpora.archive import Source
from benchmark.corpora.corpus import Documents
from benchmark.corpora.reader import CorpusReader
from benchmark.errors import DataError
from benchmark.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class OwnCorpus(CorpusReader):
    """Documents that no card ships with: a card of one's own may be written of them, see `own_card`.

    Parameters
    ----------
    path : str, or mapping of str to str
        Relative to the configuration; a mapping names one for each side of a split.
    base : Path
        What `path` is relative to.
    """

    path: str | dict[str, str]
    base: Path = field(default=Path(), compare=False, kw_only=True)

    tags: ClassVar[Tags] = Tags(set_by_run=("base",))

    @abstractmethod
    def digest(self) -> str:
        """The sha256 over all that the files hold."""

    @property
    def where(self) -> str:
        """The path, as the configuration names it."""
        return self.path if isinstance(self.path, str) else ", ".join(self.path.values())

    def places(self) -> list[tuple[str, Path]]:
        """Each file or folder with the side of the split that it is, "" where the path names none.

        Raises
        ------
        DataError
            One of them isn't there.
        """
        given = self.path if isinstance(self.path, dict) else {"": self.path}
        found = [(split, self.base / Path(name).expanduser()) for split, name in given.items()]
        for _, path in found:
            if not path.exists():
                raise DataError(f"{path}: no such file or folder; path is relative to the configuration")
        return found

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in their order."""
        return self.outline().classes

    @property
    def groups(self) -> tuple[str, ...]:
        """The sides of the split, or else the groups, in the order of their names; "all" where there are none."""
        return self.outline().group_names

    def locate(
        self,
        *,
        download: bool,  # noqa: ARG002 - it is here, or nowhere
        notify: Callable[[str], None],  # noqa: ARG002
        progress: bool,  # noqa: ARG002
    ) -> Source:
        """The path, as the configuration names it."""
        return Source(Path(self.where))

    def facts(self) -> dict[str, Any]:
        """Return the folder that paths are relative to."""
        return {"base": str(self.base.resolve())}


def documents_of(
    ids: Sequence[str],
    labels: Iterable[Collection[str]],
    classes: Sequence[str],
    sides: Sequence[str],
    *,
    several: bool,
    units: Sequence[str] | None = None,
    dates: NDArray[np.datetime64] | None = None,
) -> Documents:
    """Documents by the names of their classes and groups.

    Parameters
    ----------
    ids : sequence of str, length n
    labels : iterable of collections of str, length n
        The classes of each; one, unless `several`.
    classes : sequence of str
        In the order that decides ties.
    sides : sequence of str, length n
        The group of each; groups stand in the order of their names.
    several : bool
        Whether documents may have several classes, or none.
    units : sequence of str, length n, optional
        What each belongs to.
    dates : datetime64[s] array, shape (n,), optional
    """
    n, code = len(ids), {name: position for position, name in enumerate(classes)}
    codes, topics = np.full(n, -1, np.int32), np.zeros((n, len(classes)), np.bool_) if several else None
    for row, names in enumerate(labels):
        if topics is not None:
            topics[row, [code[name] for name in names]] = True
        else:
            (codes[row],) = (code[name] for name in names)
    groups, group_names = _coded(sides)
    of_unit = None if units is None else _coded(units)[0]
    return Documents(tuple(ids), codes, groups, tuple(classes), group_names, topics, of_unit, dates)


def _coded(names: Sequence[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Names as positions among their sorted values."""
    known = sorted(set(names))
    code = {name: position for position, name in enumerate(known)}
    return np.array([code[name] for name in names], dtype=np.int32), tuple(known)
