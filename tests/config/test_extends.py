"""`extends`: a file that takes another one and says only what differs."""

from __future__ import annotations

import pytest

from benchmark.config.experiment import check_experiment
from benchmark.config.extends import read_config
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.errors import ConfigError

BASE = """\
name: base
title: The base
notes: [of the base]
corpus: {name: synthetic, classes: [student, course]}
text: {digits: token}
expect: {documents: 330}
protocol: {name: k-fold, k: 3}
methods: [linear, ngd]
compare: [[ngd, linear]]
"""


@pytest.fixture(name="files")
def files_of(tmp_path):
    def write(**texts):
        for name, text in {"base": BASE, **texts}.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        return lambda name: tmp_path / f"{name}.yaml"

    return write


def refusal(path):
    with pytest.raises(ConfigError) as caught:
        check_experiment(read_config(path), BUILTIN_REGISTRIES)
    return str(caught.value)


def test_what_is_not_said_is_taken_over(files):
    path = files(own="extends: base\nname: own\ntext: {stoplist: none}\n")
    experiment = check_experiment(read_config(path("own")), BUILTIN_REGISTRIES)
    collection = experiment.variants["base"].collection
    assert (collection.classes, collection.lexing.digits) == (("student", "course"), "token")
    assert collection.lexing.stoplist == "none"
    assert experiment.compare
    assert experiment.expected_documents == 330


def test_what_says_which_configuration_a_file_is_is_not(files):
    path = files(own="extends: base.yaml\nname: own\n")
    experiment = check_experiment(read_config(path("own")), BUILTIN_REGISTRIES)
    assert (experiment.name, experiment.title, experiment.notes) == ("own", "own", ())
    assert "extends" not in experiment.raw
    unnamed = files(unnamed="# nothing\nextends: base\n")
    assert refusal(unnamed("unnamed")) == f"{unnamed('unnamed')}:2: the key 'name' is missing"


def test_each_key_that_identifies_a_file_is_its_own(files):
    own_keys = (
        "title: A base\nnotes: [x]\npaper: zhang2005\nreadings: {base: a, v: b}\n"
        "variants: {v: {text: {digits: drop}}}\n"
        "tuned_to_published: [{cells: '*', choice: a, to: b}]\n"
    )
    rest = BASE.replace("title: The base\nnotes: [of the base]\n", own_keys)
    for base in ("base", "other"):
        text = f"extends: {base}\nname: own\nseed: 3\n"
        path = files(base=rest, other=rest.replace("readings: {base: a, v: b}\n", "sensitivity_of: webkb\n"), own=text)
        whole, found = (check_experiment(read_config(path(name)), BUILTIN_REGISTRIES) for name in (base, "own"))
        assert (whole.title, whole.notes, whole.paper) == ("A base", ("x",), "zhang2005")
        assert whole.tuned_cells
        assert whole.readings or whole.sensitivity_of
        assert (found.title, found.notes, found.paper, found.sensitivity_of) == ("own", (), None, None)
        assert (found.readings, found.tuned_cells) == ({}, {})
        assert (list(found.variants), found.seed, found.expected_documents) == (["base", "v"], 3, 330)


def test_what_the_configuration_itself_must_have_is_not_asked_where_it_is_not_run(files):
    path = files(own="extends: base\nname: own\nrun_base: false\nvariants: {x: {text: {digits: drop}}}\n")
    assert check_experiment(read_config(path("own")), BUILTIN_REGISTRIES).expected_documents is None


def test_files_extend_files_that_extend_others(files):
    path = files(
        middle="extends: base\nname: middle\ntext: {digits: drop}\nprotocol: {k: 4}\n",
        own="extends: middle\nname: own\nmethods: [linear, ned, ngd]\n",
    )
    experiment = check_experiment(read_config(path("own")), BUILTIN_REGISTRIES)
    variant = experiment.variants["base"]
    assert (variant.protocol.given["k"], variant.collection.lexing.digits) == (4, "drop")
    assert [cell.id for cell in experiment.cells] == ["linear", "ned", "ngd"]


@pytest.mark.parametrize(
    ("own", "where", "said"),
    [
        ("extends: base\nname: own\nprotocol: {k: 1}\n", "own:3", "k = 1 is too small"),
        ("extends: base\nname: own\nmethods: [ned, linear]\n", "base:9", "unknown method or cell 'ngd'"),
        ("extends: base\nname: own\ncorpus: null\n", "own:1", "the key 'corpus' is missing"),
        ("extends: base\nname: own\ncorpus: {classes: [studnet, course]}\n", "own:3", "did you mean 'student'"),
        ("name: own\nextends: own\n", "own:2", "goes round in a circle"),
        ("name: own\nextends: there\n", "there:2", "goes round in a circle"),
        (
            "name: own\nextends: bas\n",
            "own:2",
            "there is no configuration 'bas' in the same folder or in the package; did you mean 'base'?",
        ),
        ("name: own\nextends: [base]\n", "own:2", "must be the name of a configuration in the same folder"),
        ("name: own\nextends: ''\n", "own:2", "must name a configuration in the same folder"),
        ("name: own\nextends: ../base\n", "own:2", "must name a configuration in the same folder"),
        ("name: own\nextends: broken\n", "broken:2", "is not valid YAML"),
    ],
)
def test_an_error_points_at_the_file_it_is_in(files, own, where, said):
    path = files(own=own, there="name: there\nextends: own\n", broken="name: broken\na: ]\n")
    name, line = where.split(":")
    message = refusal(path("own"))
    assert message.startswith(f"{path(name)}:{line}: ")
    assert said in message
