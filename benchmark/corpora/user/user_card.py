"""Data gate of users' corpora: a card is written once, and a corpus that has changed since is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from benchmark.system.errors import MAX_PROBLEMS, DataError
from benchmark.system.yaml_source import read_yaml

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.corpora.user.user_corpus import UserCorpus

USER_CARDS_FOLDER = "cards"
_HEAD = "# Written by `bench data pin`: a run refuses a corpus that differs. Write the card again after a change.\n"


def user_card_path(config: Path) -> Path:
    """Return the path of a configuration's card: in cards/, beside it."""
    return config.parent / USER_CARDS_FOLDER / f"{config.stem}.yaml"


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
    more = [f"  … and {len(wrong) - MAX_PROBLEMS:,} more"] if len(wrong) > MAX_PROBLEMS else []
    lines = [*wrong[:MAX_PROBLEMS], *more] or ["  as many documents of each class, but other content"]
    hint = f"Restore the files; or, if the change is intended, write the card again: bench data pin {config}"
    raise DataError("\n".join([f"{reader.where} differs from its card {path}:", *lines, hint]))


def _facts(reader: UserCorpus) -> dict[str, Any]:
    documents = reader.outline()
    sizes = dict(zip(documents.classes, documents.sizes().sum(axis=1).tolist(), strict=True))
    return {"digest": reader.digest(), "documents": len(documents), "classes": sizes}
