"""`extends`: a file that takes another one and says only what differs."""

from __future__ import annotations

import pytest

from benchmark.config import experiment as experiments
from benchmark.config.experiment import check_experiment, read_config
from benchmark.config.model import BASE_VARIANT
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from tests.config.conftest import BASE


@pytest.fixture(name="checked_files")
def checked_of(tmp_path):
    """Write files and check the one named `own`."""

    def check(**texts):
        for name, text in {"base": BASE, **texts}.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        return check_experiment(read_config(tmp_path / "own.yaml"), BUILTIN_REGISTRIES)

    return check


def test_what_is_not_said_is_taken_over_but_for_keys_that_identify_a_file(checked_files):
    experiment = checked_files(own="extends: base.yaml\nname: own\ntext: {stoplist: none}\n")
    collection = experiment.variants["base"].collection
    assert (collection.classes, collection.lexing.digits) == (("student", "course"), "token")
    assert (collection.lexing.stoplist, experiment.expected_documents) == ("none", 330)
    assert experiment.compare
    assert (experiment.name, experiment.title, experiment.notes) == ("own", "own", ())
    assert "extends" not in experiment.raw


def test_each_key_that_identifies_a_file_is_its_own(checked_files):
    own_keys = (
        "title: A base\nnotes: [x]\npaper: zhang2005\nreadings: {base: a, v: b}\nsensitivity_of: webkb\n"
        "variants: {v: {text: {digits: drop}}}\ntuned_to_published: [{cells: '*', choice: a, to: b}]\n"
    )
    base = BASE.replace("title: The base\nnotes: [of the base]\n", own_keys)
    found = checked_files(base=base, own="extends: base\nname: own\nseed: 3\n")
    assert (found.title, found.notes, found.paper, found.sensitivity_of) == ("own", (), None, None)
    assert (found.readings, found.tuned_cells) == ({}, {})
    assert (list(found.variants), found.seed, found.expected_documents) == (["base", "v"], 3, 330)


def test_files_extend_files_that_extend_others(checked_files):
    experiment = checked_files(
        middle="extends: base\nname: middle\ntext: {digits: drop}\nprotocol: {k: 4}\n",
        own="extends: middle\nname: own\nmethods: [linear, ned, ngd]\n",
    )
    variant = experiment.variants["base"]
    assert (variant.protocol.given["k"], variant.collection.lexing.digits) == (4, "drop")
    assert [cell.id for cell in experiment.cells] == ["linear", "ned", "ngd"]


def test_files_are_looked_for_beside_the_file_that_names_them(tmp_path, monkeypatch, read, written):
    """The stop list of a method and predictions of a configuration of the package."""
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    monkeypatch.setattr(experiments, "find_shipped", lambda _folder, name: shipped / name)
    own = "methods: [{text: {stoplist: ./words.txt}, classifier: mnb}, {predictions: p.csv, name: given}]\n"
    (shipped / "theirs.yaml").write_text(written(own).read_text())
    for name, text in (("words.txt", "theirs"), ("p.csv", "id,label\n")):
        (shipped / name).write_text(text)
        (tmp_path / name).write_text("mine")
    (tmp_path / "own.yaml").write_text("extends: theirs\nname: own\n")
    stopped, given = (entry.candidates[0] for entry in read(tmp_path / "own.yaml").variants[BASE_VARIANT].entries)
    assert stopped.text.lexing.stopped == ("theirs",)
    assert given.predictions.path == shipped / "p.csv"
