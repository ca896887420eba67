from __future__ import annotations

import json
import os

import pytest

from benchmark.corpora import registry
from benchmark.corpora.card import CARDS, read_card
from benchmark.system.errors import ConfigError, DataError

GOOD = f"""
name: tiny
title: Tiny
tops: [a]
digest: {"ab" * 32}
counts: {{a: {{x: 1, z: 2}}, b: {{x: 3, z: 4}}}}
licence: Free.
citation: None.
"""


def test_a_card_says_classes_groups_and_total(tmp_path):
    (tmp_path / "tiny.yaml").write_text(GOOD)
    card = read_card("tiny", tmp_path)
    assert (card.classes, card.parts, card.total) == (("a", "b"), ("x", "z"), 10)


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        (GOOD + "colour: red", "colour"),
        (GOOD.replace("licence: Free.", ""), "licence"),
        (GOOD.replace("{x: 3, z: 4}", "{z: 4, x: 3}"), "'b'"),
        (GOOD.replace("ab" * 32, "cafe"), "digest"),
        (GOOD + "documents: {z: 1, x: 1}", "documents list the groups"),
        (GOOD + "subsets: {few: {counts: {a: {z: 1, x: 1}}}}", "counts of 'a'"),
        (
            GOOD + "documents: {x: 1, z: 1}\nsubsets: {few: {counts: {a: {x: 1, z: 1}}, documents: {z: 1, x: 1}}}",
            r"documents list the groups \['z', 'x'\], counts \['x', 'z'\]",
        ),
        (GOOD + "subsets: {few: {counts: {a: {x: 1, z: 1}}, documents: {x: 1}}}", r"documents list the groups \['x'\]"),
        (GOOD + "size: 0", "size"),
        (GOOD + "archive_sha256: abc", "archive_sha256"),
        (GOOD + "subsets: {few: {counts: {}}}", "subsets.few.counts"),
        (GOOD + "tops_are: archives", "tops_are"),
        (GOOD.replace("name: tiny", "name: other"), "'other'"),
        (GOOD + "  : [", "tiny.yaml:9: is not valid YAML"),
        ("", "card"),
    ],
)
def test_a_wrong_card_is_explained(tmp_path, wrong, part):
    path = tmp_path / "tiny.yaml"
    path.write_text(wrong)
    with pytest.raises(DataError, match=part) as caught:
        read_card("tiny", tmp_path)
    assert str(path) in str(caught.value)


def test_a_missing_card_is_explained(tmp_path):
    with pytest.raises(DataError, match="comes with the package"):
        read_card("tiny", tmp_path)


def test_every_card_in_the_folder_is_registered_and_the_other_way_round():
    assert sorted(path.stem for path in CARDS.glob("*.yaml")) == sorted(registry.corpus_names())


@pytest.mark.parametrize("name", registry.corpus_names())
def test_every_card_is_complete(name):
    card = registry.dataset_card(name)
    if name != "reuters":
        assert list(card.classes) == sorted(card.classes)
    assert all(text.strip() for text in (card.title, card.licence, card.citation, card.notes))
    assert bool(card.addresses) == bool(card.archives) == bool(card.folders) == (name != "synthetic")


def test_totals_are_the_published_ones():
    assert [registry.dataset_card(name).total for name in ("webkb", "20ng", "reuters")] == [8282, 18846, 12902]


def test_a_subset_has_the_source_of_the_whole_and_counts_of_its_own(tmp_path):
    few = "subsets: {few: {counts: {b: {x: 1, z: 0}, a: {x: 1, z: 1}}, documents: {x: 1, z: 4}}}"
    (tmp_path / "tiny.yaml").write_text(GOOD + few)
    card = read_card("tiny", tmp_path)
    part = card.subset("few")
    assert (card.kept, card.subset_names, card.total) == ("all", ("all", "few"), 10)
    assert (part.kept, part.subset_names, part.total, part.classes) == ("few", ("few",), 5, ("b", "a"))
    assert (part.digest, part.tops) == (card.digest, card.tops)


def test_a_corpus_without_subsets_is_all_there_is():
    assert registry.dataset_card("webkb", "all") == registry.dataset_card("webkb")
    with pytest.raises(ConfigError, match=r"'webkb' has no subset 'top4'\. It has: all"):
        registry.dataset_card("webkb", "top4")


@pytest.mark.parametrize("subset", registry.dataset_card("reuters").subset_names)
def test_topics_are_ordered_by_training_stories_then_by_name(subset):
    counts = registry.dataset_card("reuters", subset).counts
    assert list(counts) == sorted(counts, key=lambda name: (-counts[name]["train"], name))
    assert all(sum(row.values()) for row in counts.values())


def test_an_unknown_corpus_is_told_with_all_that_there_are():
    for name, hint in (("wbkb", " Did you mean 'webkb'?"), ("20NG", ""), ("", "")):
        with pytest.raises(ConfigError) as caught:
            registry.dataset_card(name)
        said = f"There is no corpus {name!r}.{hint} Registered: webkb, 20ng, reuters, synthetic."
        assert str(caught.value) == said


def test_an_unknown_corpus_is_named_with_the_nearest():
    with pytest.raises(ConfigError, match="'webkb'"):
        registry.dataset_card("wbkb")


def test_an_archive_may_be_about_twice_its_corpus(tmp_path):
    """Twice its files and 1,000 members more; twice its bytes, and 2 KiB for each member's header."""
    (tmp_path / "tiny.yaml").write_text(GOOD + "size: 5000")
    card = read_card("tiny", tmp_path)
    assert (card.most_members, card.most_bytes) == (2 * 10 + 1000, 2 * 5000 + 2048 * 1020)
    (tmp_path / "tiny.yaml").write_text(GOOD.replace("tops: [a]", "tops: [a, b, c]\ntops_are: files"))
    card = read_card("tiny", tmp_path)
    assert (card.most_members, card.most_bytes) == (2 * 3 + 1000, 2 * 2**25 + 2048 * 1006)


def test_an_edited_card_is_read_again(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(GOOD)
    assert read_card("tiny", tmp_path).title == "Tiny"
    path.write_text(GOOD.replace("Tiny", "Small one"))
    assert read_card("tiny", tmp_path).title == "Small one"


def test_a_card_edited_without_another_length_is_read_again(tmp_path):
    path = tmp_path / "tiny.yaml"
    for second, title in enumerate(("Tiny", "Puny", "Tiny")):
        path.write_text(GOOD.replace("Tiny", title))
        os.utime(path, (second + 1, second + 1))
        assert read_card("tiny", tmp_path).title == title


def test_a_subset_has_no_subsets(tmp_path):
    subsets = "subsets: {few: {counts: {a: {x: 1, z: 1}}, documents: {x: 1, z: 0}}, one: {counts: {b: {x: 0, z: 9}}}}"
    (tmp_path / "tiny.yaml").write_text(f"{GOOD}documents: {{x: 4, z: 5}}\n{subsets}")
    whole = read_card("tiny", tmp_path)
    few, one = whole.subset("few"), whole.subset("one")
    assert (whole.total, few.total, one.total) == (9, 1, 9)
    assert (few.kept, few.subset_names, few.classes, few.documents) == ("few", ("few",), ("a",), {"x": 1, "z": 0})
    assert (one.documents, whole.subset_names) == (None, ("all", "few", "one"))
    assert few.subset("few") is few
    with pytest.raises(ConfigError, match=r"'tiny' has no subset 'one'\. .*It has: few\."):
        few.subset("one")
    assert (few.digest, few.tops, few.title) == (whole.digest, whole.tops, whole.title)


def test_an_unknown_subset_is_named_with_the_nearest(tmp_path):
    (tmp_path / "tiny.yaml").write_text(GOOD + "subsets: {few: {counts: {a: {x: 1, z: 1}}}}")
    card = read_card("tiny", tmp_path)
    assert card.subset(None) is card.subset("all") is card
    with pytest.raises(ConfigError, match=r"'tiny' has no subset 'fewe'\. Did you mean 'few'\? It has: all, few\."):
        card.subset("fewe")


@pytest.mark.parametrize("name", ["20ng", "reuters", "webkb"])
def test_what_indexes_read_of_a_corpus_is_what_its_card_says(name: str) -> None:
    card = registry.dataset_card(name)
    found = json.loads((CARDS / f"{name}.croissant.json").read_text(encoding="utf-8"))
    assert found["identifier"] == f"sha256:{card.digest}"
    assert (found["license"], found["citeAs"], found["url"]) == (card.licence, card.citation, card.addresses[0])
    assert [each["sha256"] for each in found.get("distribution", [])] == list(filter(None, [card.archive_sha256]))
    assert "recordSet" not in found
