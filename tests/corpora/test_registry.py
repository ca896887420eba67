from __future__ import annotations

import os

import numpy as np
import pytest
import yaml

from benchmark.corpora import card as cards
from benchmark.corpora import download, registry
from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.reader import LastCorpus
from benchmark.corpora.user.user_files import UserFiles
from benchmark.system.errors import ConfigError, DataError
from tests.corpora.small import pack_files, small_card, small_files, unpack_files
from tests.corpora.test_reuters import CARD as REUTERS


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A repository of small cards, and no corpus anywhere."""
    repository = tmp_path / "repository"
    (repository / "datasets").mkdir(parents=True)
    for name in ("webkb", "20ng"):
        text = yaml.safe_dump(
            small_card(name, addresses=["http://example.org/x"]).model_dump(mode="json"), sort_keys=False
        )
        (repository / "datasets" / f"{name}.yaml").write_text(text)
    monkeypatch.setattr(registry, "CHECKOUT", repository)
    monkeypatch.setattr(cards, "CARDS", repository / "datasets")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(registry.DATASETS_VARIABLE, raising=False)
    return repository


@pytest.mark.parametrize("name", ["webkb", "20ng"])
def test_archive_and_folder_give_equal_corpora(small, tmp_path, name):
    archive = CorpusSource(pack_files(small_files(name), tmp_path / "a.tar.gz", prefix=b"./"))
    folder = CorpusSource(unpack_files(small_files(name), tmp_path / "folder"))
    one, two = registry.load_corpus(name, archive), registry.load_corpus(name, folder)
    assert one.documents.ids == two.documents.ids
    assert list(one) == list(two)
    assert one.digest == two.digest
    for field in ("labels", "parts"):
        assert np.array_equal(getattr(one.documents, field), getattr(two.documents, field))


def test_places_are_searched_in_order(small, tmp_path, monkeypatch, files):
    pack_files(files, tmp_path / "cache" / "simplexbench" / "datasets" / "webkb-data.tar")
    found = [registry.locate_corpus("webkb").path]
    for folder in (tmp_path / "shared" / "datasets", small / "datasets", tmp_path / "second", tmp_path / "first"):
        pack_files(files, folder / "webkb-data.tar")
        monkeypatch.setenv(
            registry.DATASETS_VARIABLE, os.pathsep.join([str(tmp_path / "first"), "", str(tmp_path / "second")])
        )
        found.append(registry.locate_corpus("webkb").path)
    assert [str(path.parent.relative_to(tmp_path)) for path in found] == [
        "cache/simplexbench/datasets",
        "shared/datasets",
        "repository/datasets",
        "second",
        "first",
    ]
    monkeypatch.setenv(registry.DATASETS_VARIABLE, str(tmp_path / "second" / "webkb-data.tar"))
    assert registry.locate_corpus("webkb").path == tmp_path / "second" / "webkb-data.tar"


def test_a_missing_corpus_is_explained(small, tmp_path, monkeypatch, card):
    monkeypatch.setenv(registry.DATASETS_VARIABLE, str(tmp_path / "nowhere"))
    assert registry.find_corpus("webkb") is None
    with pytest.raises(DataError) as caught:
        registry.load_corpus("webkb")
    parts = ["webkb-data.gtar.gz", "course/", "nowhere (does not exist", "http://example.org/x", card.digest]
    parts += [*map(str, registry.search_folders()), "$BENCH_DATASETS", "bench run quickstart"]
    for part in parts:
        assert part in str(caught.value)


def test_where_a_corpus_was_looked_for_is_said_with_its_names(small, tmp_path, monkeypatch):
    """Archives, then folders or files, then each place and whether it is there."""
    (small / "datasets" / "reuters.yaml").write_text(
        yaml.safe_dump(REUTERS.model_dump(mode="json", exclude_none=True), sort_keys=False)
    )
    monkeypatch.setenv(registry.DATASETS_VARIABLE, str(tmp_path / "none"))
    absent = " (does not exist, or may not be read)"
    otherwise = "Or put the archive, or its unpacked folder, into one of these places, or name its folder in $"
    otherwise += "BENCH_DATASETS."
    places = [
        f"{tmp_path}/none{absent}",
        str(small / "datasets"),
        f"{tmp_path}/shared/datasets{absent}",
        f"{tmp_path}/cache/simplexbench/datasets{absent}",
    ]
    for name, names, where, digest in (
        (
            "webkb",
            "webkb-data.gtar.gz, webkb-data.tar, or a folder holding course/, faculty/",
            "http://example.org/x",
            small_card("webkb").digest,
        ),
        (
            "reuters",
            "reuters21578.tar.gz, or a folder holding reut2-000.sgm, reut2-001.sgm",
            "(the card names no address)",
            REUTERS.digest,
        ),
    ):
        with pytest.raises(DataError) as caught:
            registry.locate_corpus(name)
        title = registry.dataset_card(name).title
        assert str(caught.value).splitlines() == [
            f"The corpus {name} is not here. Looked for {names}, in:",
            *(f"  {place}" for place in places),
            f"{title} can be downloaded from:",
            f"  {where}",
            f"Its content digest is {digest}.",
            f"`bench data fetch {name}` downloads it. {otherwise}",
            "To try the benchmark without this corpus: bench run quickstart",
        ]


def test_a_wrong_corpus_never_loads(small, tmp_path, files):
    files[b"course/cornell/http:^^x^"] += b"!"
    with pytest.raises(DataError, match="another corpus"):
        registry.load_corpus("webkb", CorpusSource(pack_files(files, tmp_path / "a.tar")))


def test_a_card_at_odds_with_the_corpus_stops_at_the_gate(small, tmp_path, files):
    wrong = small_card("webkb", counts={"course": {"cornell": 1, "misc": 2}, "faculty": {"cornell": 2, "misc": 1}})
    (small / "datasets" / "webkb.yaml").write_text(yaml.safe_dump(wrong.model_dump(mode="json"), sort_keys=False))
    with pytest.raises(DataError, match="course, misc: expected 2, found 1"):
        registry.load_corpus("webkb", CorpusSource(pack_files(files, tmp_path / "a.tar")))


def test_parameters_are_for_generated_corpora():
    with pytest.raises(ConfigError, match="'seed'; it has none"):
        registry.load_corpus("webkb", seed=1)
    with pytest.raises(ConfigError, match="'sed'; it has seed, size"):
        registry.load_corpus("synthetic", sed=1)
    with pytest.raises(ConfigError, match="no subset 'half'"):
        registry.load_corpus("synthetic", subset="half")


def test_parameters_reach_the_generator():
    usual, small, other = (registry.load_corpus("synthetic", **params) for params in ({}, {"size": 60}, {"seed": 2}))
    assert (
        usual.digest
        == registry.dataset_card("synthetic").digest
        == registry.load_corpus("synthetic", seed=1, size=600).digest
    )
    assert len({usual.digest, small.digest, other.digest}) == 3
    assert 40 <= len(small.documents) < 90


def test_the_usual_parameters_are_verified_though_they_are_given(small):
    """Others make a corpus that no card describes."""
    wrong = registry.cards.read_card("webkb").model_dump(mode="json") | {"name": "synthetic"}
    (small / "datasets" / "synthetic.yaml").write_text(yaml.safe_dump(wrong, sort_keys=False))
    for params in ({}, {"seed": 1}, {"size": 600}, {"seed": 1, "size": 600}):
        with pytest.raises(DataError, match=r"^generated by code holds another corpus than its card describes"):
            registry.load_corpus("synthetic", **params)


def test_a_corpus_is_read_from_where_it_was_located(small, tmp_path, monkeypatch, files):
    """And not from where it would be found now."""
    good = CorpusSource(pack_files(files, tmp_path / "first" / "webkb-data.tar"))
    monkeypatch.setenv(registry.DATASETS_VARIABLE, str(tmp_path / "first"))
    bad = CorpusSource(pack_files({}, tmp_path / "other" / "webkb-data.tar"))
    reader = registry.CORPORA["webkb"]()
    where = {"download": False, "notify": print, "progress": False}
    assert reader.locate(**where) == good
    assert len(reader.load(good).documents) == 5
    for load in (reader.load, lambda source: registry.load_corpus("webkb", source)):
        with pytest.raises(DataError, match=f"^{bad} holds another corpus"):
            load(bad)
    monkeypatch.delenv(registry.DATASETS_VARIABLE)
    assert len(reader.load(good).documents) == 5
    assert reader.content(good) != reader.content(bad)


def test_the_last_corpus_is_read_again_where_its_reader_its_place_or_its_content_is_another(tmp_path):
    path, other = tmp_path / "a.csv", tmp_path / "b.csv"
    for each in (path, other):
        each.write_text("text,label,more\na,x,p\nb,y,q\nc,x,p\nd,y,q\n")
    last = LastCorpus()

    def load(name, label="label"):
        reader = UserFiles(name, label=label, base=tmp_path)
        return last.load(reader, reader.locate(download=False, notify=print, progress=False))

    first = load("a.csv")
    assert load("a.csv") is first
    assert load("a.csv", "more").documents.classes == ("p", "q")
    assert load("b.csv") is not load("a.csv")
    path.write_text("text,label,more\na,u,p\nb,v,q\nc,u,p\nd,v,q\n")
    os.utime(path, (1, 1))
    assert load("a.csv").documents.classes == ("u", "v")


def test_documents_that_stand_for_others_have_their_classes_and_parts():
    plain = registry.placeholder_documents(("a", "b"), ("p", "q", "r"), [(1, 0, 2), (0, 3, 1)], None)
    pairs = [
        (plain.classes[label], plain.part_names[part]) for label, part in zip(plain.labels, plain.parts, strict=True)
    ]
    assert pairs == [("a", "p"), ("a", "r"), ("a", "r"), ("b", "q"), ("b", "q"), ("b", "q"), ("b", "r")]
    assert len(set(plain.ids)) == len(plain) == 7
    several = registry.placeholder_documents(("a", "b"), ("p", "q"), [(1, 0), (3, 1)], (2, 3))
    assert several.parts.tolist() == [0, 0, 1, 1, 1]
    assert several.topics.shape == (5, 2)
    assert (several.labels.tolist(), several.topics.any()) == ([-1] * 5, False)


@pytest.mark.parametrize("name", registry.corpus_names())
def test_what_is_known_of_a_corpus_without_its_text_is_its_cards(name):
    for subset in (None, *registry.dataset_card(name).subset_names):
        reader, card = registry.CORPORA[name](subset), registry.dataset_card(name, subset)
        reader.check()
        documents = reader.outline()
        assert (reader.classes, reader.parts) == (card.classes, card.parts) == (documents.classes, documents.part_names)
        assert reader.multilabel == (card.documents is not None) == (documents.topics is not None)
        assert len(documents) == card.total
        if not reader.multilabel:
            assert documents.sizes().tolist() == [list(row.values()) for row in card.counts.values()]
        assert (documents.groups is not None) == (documents.dates is not None) == (name == "20ng")
    for subset in ("half", ""):
        with pytest.raises(ConfigError, match=rf"subset: unknown subset of {name}: '{subset}'"):
            registry.CORPORA[name](subset).check()


@pytest.mark.parametrize("progress", [True, False])
@pytest.mark.parametrize("dest", ["elsewhere", None])
def test_a_missing_corpus_is_downloaded_where_it_is_asked_for(small, tmp_path, monkeypatch, progress, dest):
    asked, said = [], []

    def fetch(card, folder, **how):
        asked.append((card.name, folder, how))
        if card.name == "20ng":
            raise DataError("no address has it")
        return CorpusSource(tmp_path)

    monkeypatch.setattr(download, "download_archive", fetch)
    dest = dest and tmp_path / dest
    how = {"dest": dest, "notify": said.append, "progress": progress}
    assert registry.locate_corpus("webkb", download=True, **how) == CorpusSource(tmp_path)
    bar = download.DownloadBar if progress else None
    assert asked == [("webkb", dest or small / "datasets", {"notify": said.append, "progress": bar})]
    with pytest.raises(
        DataError, match=r"(?s)^no address has it\nLooked for 20news-bydate\.tar\.gz, or a.*quickstart$"
    ) as raised:
        registry.locate_corpus("20ng", download=True, **how)
    assert str(small / "datasets") in str(raised.value)
    with pytest.raises(DataError, match="The corpus webkb is not here"):
        registry.locate_corpus("webkb", **how)
    assert len(asked) == 2


def test_downloads_lie_in_the_checkout_or_in_the_users_cache(small, tmp_path, monkeypatch):
    assert registry.download_folder() == small / "datasets"
    monkeypatch.setattr(registry, "CHECKOUT", None)
    assert registry.download_folder() == tmp_path / "cache" / "simplexbench" / "datasets"
    assert registry.search_folders() == [registry.download_folder()]


def test_posts_that_stand_for_others_are_of_several_authors_and_in_order():
    documents = registry.CORPORA["20ng"]().outline()
    assert documents.dated_by_class
    assert (np.diff(documents.dates) == 1).all()
    assert set(np.bincount(documents.groups)) <= {40, len(documents) % 40}


def test_content_is_what_the_documents_are_checked_against(small, tmp_path):
    source = CorpusSource(pack_files(small_files("webkb"), tmp_path / "a.tar"))
    card = registry.dataset_card("webkb")
    assert registry.CORPORA["webkb"]().content(source) == {
        "source": registry.corpus_fingerprint("webkb", source),
        "card": [card.digest, card.tops, [[name, list(row.items())] for name, row in card.counts.items()], None],
        "subset": None,
    }


def test_content_names_the_subset_and_its_documents():
    several = registry.CORPORA["synthetic"]("several").content(CorpusSource(None))
    card = registry.dataset_card("synthetic", "several")
    assert (several["subset"], several["source"]) == ("several", card.digest)
    assert several["card"][3] == card.documents
    assert several["card"][3] is not None


@pytest.mark.parametrize("allowed", [True, False])
def test_a_run_downloads_as_it_is_told(small, monkeypatch, allowed):
    asked = []
    monkeypatch.setattr(registry, "locate_corpus", lambda name, **how: asked.append((name, how)) or CorpusSource(None))
    how = {"download": allowed, "notify": asked.append, "progress": not allowed}
    registry.CORPORA["webkb"]().locate(**how)
    assert asked == [("webkb", how)]
