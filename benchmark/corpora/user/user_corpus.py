"""Base of users' corpora, which lie beside their configuration, and their data gate.

Their classes come from their documents. A card is written once, and a corpus that has changed since is refused.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import yaml

from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.corpus import Documents
from benchmark.corpora.reader import CorpusReader
from benchmark.system.errors import MAX_PROBLEMS, DataError
from benchmark.system.tags import Tags
from benchmark.system.yaml_source import read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

_HEAD = "# Written by `bench data pin`: a run refuses a corpus that differs. Write the card again after a change.\n"


@dataclass(frozen=True)
class UserCorpus(CorpusReader):
    """Documents that no card describes, unless the user writes one (see `check_user_card`).

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

    def paths_by_part(self) -> list[tuple[str, Path]]:
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

    def locate(self, *, download: bool, notify: Callable[[str], None]) -> CorpusSource:  # noqa: ARG002 - no address
        """Return the path as written in the configuration; nothing is downloaded."""
        return CorpusSource(Path(self.where))

    def facts(self) -> dict[str, Any]:
        """Return the folder that paths are relative to."""
        return {"base": str(self.base.resolve())}


def user_card_path(config: Path) -> Path:
    """Return the path of a configuration's card: in cards/, beside it."""
    return config.parent / "cards" / f"{config.stem}.yaml"


def user_card_yaml(reader: UserCorpus) -> str:
    """Return the card as YAML text."""
    return _HEAD + yaml.safe_dump(_facts(reader), sort_keys=False, allow_unicode=True, width=120)


def check_user_card(reader: UserCorpus, config: Path) -> None:
    """Compare the corpus with the card of its configuration, if there is one.

    Raises
    ------
    ConfigError
        The card isn't YAML.
    DataError
        The corpus has changed. The message lists differing numbers by class, or says that only the content differs.
    """
    path = user_card_path(config)
    if not path.exists() or (card := read_yaml(path).value) == (now := _facts(reader)):
        return
    before, after = dict(card.get("classes") or {}), now["classes"]
    wrong = [
        f"  {name}: {before.get(name, 0):,} documents on the card, {after.get(name, 0):,} now"
        for name in dict.fromkeys([*before, *after])
        if before.get(name, 0) != after.get(name, 0)
    ]
    lines = wrong[:MAX_PROBLEMS] or ["  as many documents of each class, but other content"]
    hint = f"Restore the files; or, if the change is intended, write the card again: bench data pin {config}"
    raise DataError("\n".join([f"{reader.where} differs from its card {path}:", *lines, hint]))


def _facts(reader: UserCorpus) -> dict[str, Any]:
    documents = reader.outline()
    sizes = dict(zip(documents.classes, documents.sizes().sum(axis=1).tolist(), strict=True))
    return {"digest": reader.digest(), "documents": len(documents), "classes": sizes}


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
