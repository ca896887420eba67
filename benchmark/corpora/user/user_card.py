"""Data gate of users' corpora: a card is written once, and a corpus that has changed since is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import yaml

from benchmark.corpora.card import DatasetCard, read_card
from benchmark.system.errors import MAX_PROBLEMS, DataError
from benchmark.system.yaml_source import escape_unprintable

if TYPE_CHECKING:
    from benchmark.corpora.user.user_corpus import UserCorpus

#: Largest number of groups that a card counts separately; with more groups it counts documents by class only.
MAX_CARD_GROUPS = 50
USER_CARDS_FOLDER = "cards"
_HEAD = "# Written by `bench data pin`: a run refuses a corpus that differs. Write the card again after a change.\n"


def user_card_path(config: Path) -> Path:
    """Return the path of a configuration's card: in cards/, beside it."""
    return config.parent / USER_CARDS_FOLDER / f"{config.stem}.yaml"


def user_card_yaml(reader: UserCorpus, name: str) -> str:
    """Return the card as YAML text."""
    facts = _card(reader, name).model_dump(mode="json", exclude_unset=True, exclude_none=True)
    return _HEAD + yaml.safe_dump(facts, sort_keys=False, allow_unicode=True, width=120)


def check_user_card(reader: UserCorpus, config: Path) -> None:
    """Compare the corpus with the card of its configuration, if there is one.

    Raises
    ------
    DataError
        The corpus has changed. The message lists differing numbers by class and group, or says that only the content
        differs.
    """
    path = user_card_path(config)
    if not path.exists():
        return
    card, now = read_card(path.stem, path.parent), _card(reader, path.stem)
    if (now.digest, now.counts, now.documents) == (card.digest, card.counts, card.documents):
        return
    wrong = [
        f"  {name}, {group}: {before:,} documents on the card, {after:,} now"
        for name in dict.fromkeys([*card.counts, *now.counts])
        for group in dict.fromkeys([*card.parts, *now.parts])
        if (before := card.counts.get(name, {}).get(group, 0)) != (after := now.counts.get(name, {}).get(group, 0))
    ]
    more = [f"  … and {len(wrong) - MAX_PROBLEMS:,} more"] if len(wrong) > MAX_PROBLEMS else []
    lines = [*wrong[:MAX_PROBLEMS], *more] or ["  as many documents of each class and group, but other content"]
    hint = f"Restore the files; or, if the change is intended, write the card again: bench data pin {config}"
    raise DataError("\n".join([f"{now.title} differs from its card {path}:", *lines, hint]))


def _card(reader: UserCorpus, name: str) -> DatasetCard:
    documents = reader.outline()
    groups, sizes = list(map(escape_unprintable, documents.part_names)), documents.sizes()
    by_group = np.bincount(documents.parts, minlength=len(groups))
    if len(groups) > MAX_CARD_GROUPS:
        groups, sizes, by_group = ["all"], sizes.sum(axis=1, keepdims=True), by_group.sum(keepdims=True)
    files = [reader.path] if isinstance(reader.path, str) else list(reader.path.values())
    classes = map(escape_unprintable, documents.classes)
    return DatasetCard(
        name=escape_unprintable(name),
        title=", ".join(escape_unprintable(Path(file).name) for file in files),
        tops=tuple(files),
        tops_are="files",
        digest=reader.digest(),
        counts={label: dict(zip(groups, row, strict=True)) for label, row in zip(classes, sizes.tolist(), strict=True)},
        documents=dict(zip(groups, by_group.tolist(), strict=True)) if reader.multilabel else None,
        licence="unknown",
        citation="unknown",
    )
