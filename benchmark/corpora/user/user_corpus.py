"""Base of users' corpora: they lie beside their configuration, and their classes come from their documents."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.corpus import Documents
from benchmark.corpora.reader import CorpusReader
from benchmark.system.errors import DataError
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class UserCorpus(CorpusReader):
    """Documents that no card describes, unless the user writes one (see `user_card`).

    Parameters
    ----------
    path : str, or mapping of str to str
        File or folder, relative to the configuration; a mapping has one for each part of a split.
    base : Path
        Folder that `path` is relative to.
    """

    path: str | dict[str, str]
    base: Path = field(default=Path(), compare=False, kw_only=True)

    tags: ClassVar[Tags] = Tags(set_by_run=("base",))

    @abstractmethod
    def digest(self) -> str:
        """Return the sha256 over the content of the files.

        Returns
        -------
        str
            64 hexadecimal digits.
        """

    @property
    def where(self) -> str:
        """Path as written in the configuration."""
        return self.path if isinstance(self.path, str) else ", ".join(self.path.values())

    def places(self) -> list[tuple[str, Path]]:
        """Return each file or folder with its part of the split, "" where the path names none.

        Raises
        ------
        DataError
            A file or folder doesn't exist.
        """
        path_of = self.path if isinstance(self.path, dict) else {"": self.path}
        paths = [(part, self.base / Path(name).expanduser()) for part, name in path_of.items()]
        for _, path in paths:
            if not path.exists():
                raise DataError(f"{path}: no such file or folder; path is relative to the configuration")
        return paths

    @property
    def classes(self) -> tuple[str, ...]:
        """Classes, in the order that decides ties."""
        return self.outline().classes

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts of the split, or else the groups, sorted by name; "all" where there are neither."""
        return self.outline().part_names

    def locate(self, *, download: bool, notify: Callable[[str], None]) -> CorpusSource:  # noqa: ARG002 - no address
        """Return the path as written in the configuration; nothing is downloaded."""
        return CorpusSource(Path(self.where))

    def facts(self) -> dict[str, Any]:
        """Return the folder that paths are relative to."""
        return {"base": str(self.base.resolve())}


def encode_documents(
    ids: Sequence[str],
    labels: Sequence[Collection[str]],
    parts: Sequence[str],
    *,
    multilabel: bool,
    classes: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    dates: NDArray[np.datetime64] | None = None,
) -> Documents:
    """Encode documents from the names of their classes, parts and groups.

    Parameters
    ----------
    ids : sequence of str, length n
    labels : sequence of collections of str, length n
        Classes of each document; one, unless `multilabel`.
    parts : sequence of str, length n
        Group or part of each document; `Documents.part_names` is sorted by name.
    multilabel : bool
        Whether documents may have several classes, or none.
    classes : sequence of str, optional
        Classes, in the order that decides ties; by default sorted by name.
    groups : sequence of str, length n, optional
        Name that documents which belong together share.
    dates : datetime64[s] array, shape (n,), optional
    """
    if classes is None:
        classes = sorted({name for names in set(labels) for name in names})
    code = {name: position for position, name in enumerate(classes)}
    topics = None
    if multilabel:
        codes, topics = np.full(len(ids), -1, np.int32), np.zeros((len(ids), len(classes)), np.bool_)
        for row, names in enumerate(labels):
            topics[row, [code[name] for name in names]] = True
    else:
        codes = np.array([code[name] for (name,) in labels], dtype=np.int32)
    part_codes, part_names = _coded(parts)
    group_codes = None if groups is None else _coded(groups)[0]
    return Documents(tuple(ids), codes, part_codes, tuple(classes), part_names, topics, group_codes, dates)


def _coded(names: Sequence[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Encode names as positions among their sorted values; return positions and values."""
    values = sorted(set(names))
    code = {name: position for position, name in enumerate(values)}
    return np.array([code[name] for name in names], dtype=np.int32), tuple(values)
