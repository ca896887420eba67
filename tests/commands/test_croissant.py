"""Croissant metadata: mlcroissant finds nothing wrong with them, and reads the card's numbers out of them."""

from __future__ import annotations

import json
import logging
import re

import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.commands.croissant import RAI_VERSION, VERSION, croissant
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
    metadata = dataset.metadata
    assert metadata.ctx.is_v1_1()
    assert metadata.cite_as == card.citation
    assert metadata.data_collection == " ".join(card.collection.split())
    read = (metadata.data_use_cases, metadata.data_limitations, metadata.data_biases)
    assert (*read, metadata.personal_sensitive_information) == tuple(
        map(list, (card.uses, card.limitations, card.biases, card.personal))
    )
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


@pytest.mark.parametrize("name", NAMES)
def test_what_a_card_does_not_know_is_left_out(name):
    own = registry.dataset_card(name).model_copy(update={"addresses": (), "archive_sha256": None})
    found = croissant(own)
    assert not {"url", "distribution"} & found.keys()
    assert all(found.values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("digest", [None, "ab" * 32])
@pytest.mark.parametrize("addresses", [(), ("https://a/b.tar.gz", "https://c/d.tar.gz")])
def test_an_archive_needs_a_digest_and_an_address(name, digest, addresses):
    archives = ("b.tar.gz",)
    changes = {"addresses": addresses, "archive_sha256": digest, "archives": archives}
    found = croissant(registry.dataset_card(name).model_copy(update=changes))
    assert found.get("url") == (addresses[0] if addresses else None)
    files = [
        {
            "@type": "cr:FileObject",
            "@id": "b.tar.gz",
            "name": "b.tar.gz",
            "sha256": digest,
            "contentUrl": "https://a/b.tar.gz",
            "encodingFormat": "application/gzip",
        }
    ]
    assert found.get("distribution", []) == (files if digest and addresses else [])


@pytest.mark.parametrize("name", NAMES)
def test_each_card_has_the_facts_of_responsible_ai(name):
    card = registry.dataset_card(name)
    assert all((card.collection, card.uses, card.limitations, card.biases, card.personal))
    assert RAI_VERSION in croissant(card)["conformsTo"]
    bare = card.model_copy(update={"collection": "", "uses": (), "limitations": (), "biases": (), "personal": ()})
    assert croissant(bare)["conformsTo"] == VERSION
    assert not any(key.startswith("rai:") for key in croissant(bare))


def test_numbers_of_the_facts_are_those_of_the_counts():
    """Each number of documents that the facts name is a class's, a part's, or the corpus's."""
    of = {
        "20ng": lambda totals, _: {min(totals.values()), max(totals.values())},
        "webkb": lambda totals, card: {
            totals["other"],
            card.total,
            sum(row["misc"] for row in card.counts.values()),
        },
        "reuters": lambda totals, card: (
            {totals["earn"], totals["acq"], card.total, len(totals)} | {sum(n < 10 for n in totals.values())}
        ),
    }
    for name, numbers in of.items():
        card = registry.dataset_card(name)
        totals = {each: sum(row.values()) for each, row in card.counts.items()}
        facts = " ".join((*card.limitations, *card.biases))
        found = {int(n.replace(",", "")) for n in re.findall(r"(?<![\w])\d[\d,]+(?![\w])", facts)}
        assert found == numbers(totals, card)


def test_the_command_prints_them():
    result = CliRunner().invoke(app, ["data", "croissant", "webkb"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["conformsTo"][0] == VERSION
    assert CliRunner().invoke(app, ["data", "croissant", "webkbb"]).exit_code == 2
