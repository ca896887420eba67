"""Data gate of users' corpora: a card is written once, and a corpus that has changed since is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from benchmark.corpora.card import WHOLE_CORPUS, DatasetCard, read_card
from benchmark.system.errors import MAX_PROBLEMS, DataError

if TYPE_CHECKING:
    from benchmark.corpora.user.user_corpus import UserCorpus

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
        The corpus has changed. The message lists differing numbers by class, or says that only the content
        differs.
    """
    path = user_card_path(config)
    if not path.exists():
        return
    card, now = read_card(path.stem, path.parent), _card(reader, path.stem)
    if (now.digest, now.counts, now.documents) == (card.digest, card.counts, card.documents):
        return
    before, after = ({name: sum(row.values()) for name, row in each.counts.items()} for each in (card, now))
    wrong = [
        f"  {name}: {before.get(name, 0):,} documents on the card, {after.get(name, 0):,} now"
        for name in dict.fromkeys([*before, *after])
        if before.get(name, 0) != after.get(name, 0)
    ]
    more = [f"  … and {len(wrong) - MAX_PROBLEMS:,} more"] if len(wrong) > MAX_PROBLEMS else []
    lines = [*wrong[:MAX_PROBLEMS], *more] or ["  as many documents of each class, but other content"]
    hint = f"Restore the files; or, if the change is intended, write the card again: bench data pin {config}"
    raise DataError("\n".join([f"{now.title} differs from its card {path}:", *lines, hint]))


def _card(reader: UserCorpus, name: str) -> DatasetCard:
    documents, files = reader.outline(), [reader.path] if isinstance(reader.path, str) else [*reader.path.values()]
    sizes = documents.sizes().sum(axis=1).tolist()
    return DatasetCard(
        name=name,
        title=", ".join(Path(file).name for file in files),
        tops=tuple(files),
        digest=reader.digest(),
        counts={label: {WHOLE_CORPUS: size} for label, size in zip(documents.classes, sizes, strict=True)},
        documents={WHOLE_CORPUS: len(documents)} if reader.multilabel else None,
        licence="unknown",
        citation="unknown",
    )
