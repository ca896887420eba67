"""A card of a user's corpus refuses another content, and says how it differs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from benchmark.corpora.user.user_corpus import check_user_card, user_card_path, user_card_yaml
from benchmark.corpora.user.user_files import UserFiles
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


def reader_of(folder: Path, rows: list[dict[str, Any]], **how: Any) -> UserFiles:
    (folder / "t.jsonl").write_text("".join(json.dumps({"text": "a", **row}) + "\n" for row in rows))
    return UserFiles("t.jsonl", **how, base=folder)


def pinned(config: Path, reader: UserFiles) -> dict[str, Any]:
    card = user_card_path(config)
    card.parent.mkdir(exist_ok=True)
    card.write_text(user_card_yaml(reader))
    facts: dict[str, Any] = yaml.safe_load(card.read_text())
    return facts


def test_a_card_refuses_another_corpus_and_lists_the_numbers_that_differ(tmp_path: Path) -> None:
    config, rows = tmp_path / "own.yaml", [{"label": "xy"[n % 2], "side": ["train", "test"][n // 4]} for n in range(8)]
    reader = reader_of(tmp_path, rows, split="side")
    check_user_card(reader, config)  # without a card, any corpus is accepted
    facts = pinned(config, reader)
    assert facts == {"digest": reader.digest(), "documents": 8, "classes": {"x": 4, "y": 4}}
    check_user_card(reader_of(tmp_path, rows, split="side"), config)
    with pytest.raises(DataError, match="as many documents of each class, but other content"):
        check_user_card(reader_of(tmp_path, [{**rows[0], "text": "b"}, *rows[1:]], split="side"), config)
    with pytest.raises(DataError) as raised:
        check_user_card(reader_of(tmp_path, [{"label": "y", "side": "dev"}, *rows[1:]], split="side"), config)
    assert str(raised.value).splitlines() == [
        f"t.jsonl differs from its card {user_card_path(config)}:",
        "  x: 4 documents on the card, 3 now",
        "  y: 4 documents on the card, 5 now",
        f"Restore the files; or, if the change is intended, write the card again: bench data pin {config}",
    ]
