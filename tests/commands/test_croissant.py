"""Croissant metadata: mlcroissant finds nothing wrong with them, and reads the card's numbers out of them."""

from __future__ import annotations

import json
import logging

import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.commands.croissant import VERSION, croissant
from benchmark.corpora import registry

NAMES = registry.corpus_names()
#: The cards know neither, and Croissant only recommends them.
RECOMMENDED = ("schema.org/datePublished", "schema.org/version")


@pytest.fixture(scope="module")
def mlcroissant():
    return pytest.importorskip("mlcroissant")


def text_of(value):
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize("name", NAMES)
def test_validates_and_gives_the_cards_counts(name, mlcroissant, caplog):
    card = registry.dataset_card(name)
    with caplog.at_level(logging.WARNING):
        dataset = mlcroissant.Dataset(jsonld=croissant(card))
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    assert all(any(each in warning for each in RECOMMENDED) for warning in issues.warnings)
    assert "not standard" not in caplog.text
    assert dataset.metadata.cite_as == card.citation
    for part, of in {"documents": card, **card.subsets}.items():
        records = ({key.rpartition("/")[2]: value for key, value in each.items()} for each in dataset.records(part))
        read = {}
        for each in records:
            read.setdefault(text_of(each["class"]), {})[text_of(each["group"])] = int(each["documents"])
        assert read == of.counts


def test_an_archive_is_told_with_its_digest_or_not_at_all():
    for name in NAMES:
        card, found = registry.dataset_card(name), croissant(registry.dataset_card(name))
        digests = [each["sha256"] for each in found.get("distribution", ())]
        assert digests == ([card.archive_sha256] if card.archive_sha256 else [])


def test_the_command_prints_them():
    result = CliRunner().invoke(app, ["data", "croissant", "webkb"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["conformsTo"] == VERSION
    assert CliRunner().invoke(app, ["data", "croissant", "webkbb"]).exit_code == 2
