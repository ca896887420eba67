"""A YAML file is read into nodes: values with file and line, which merge as configurations and their variants do."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from yaml.reader import Reader

from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.yaml_source import Node, read_yaml


@pytest.fixture
def write(tmp_path):
    def write(content, name="config.yaml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(path):
    with pytest.raises(ConfigError) as caught:
        read_yaml(path)
    assert caught.value.exit_code == 2
    return str(caught.value)


def places(node, start=()):
    """File and line of every value, by its keys."""
    found = {start: (Path(node.file).name, node.line)}
    for key, each in node.children.items():
        found |= places(each, (*start, key))
    return found


def test_every_key_and_item_knows_its_line(write):
    text = "# a comment\nname: x\ncorpus:\n  name: webkb\n\n  classes: [a,\n    b]\ncells:\n  - k: 1\n  - k:\n      2\n"
    node = read_yaml(write(text))
    assert node.value == yaml.safe_load(text)
    lines = {".".join(map(str, keys)): line for keys, (_, line) in places(node).items()}
    corpus = {"corpus": 3, "corpus.name": 4, "corpus.classes": 6, "corpus.classes.0": 6, "corpus.classes.1": 7}
    cells = {"cells": 8, "cells.0": 9, "cells.0.k": 9, "cells.1": 10, "cells.1.k": 10}
    assert lines == {"": 2, "name": 2, **corpus, **cells}
    assert str(node["corpus"]["classes"][7].error("m")) == f"{node.file}:6: m"
    assert str(node["nowhere"]["b"].error("m")) == f"{node.file}:2: m"
    assert str(node.at(["cells", "a type", 1, "k"]).error("m")) == f"{node.file}:10: m"
    assert (node["nowhere"].value, "nowhere" in node, node.folder) == (None, False, Path(node.file).parent)
    assert [each.value for each in node["corpus"]["classes"].each()] == ["a", "b"]
    assert [each.value for each in node["name"].each()] == ["x"]


def test_aliases_and_merged_keys_have_the_lines_where_they_were_written(write):
    node = read_yaml(
        write("one: &all\n  - a\n  - b\ntwo: *all\nx: &x\n  a: 1\n  b: 1\ny: &y\n  <<: *x\n  b: 2\nz: *y\n")
    )
    both = {"one": ["a", "b"], "two": ["a", "b"]}
    assert node.value == {**both, "x": {"a": 1, "b": 1}, "y": {"a": 1, "b": 2}, "z": {"a": 1, "b": 2}}
    assert [node["two"].line, *(each.line for each in node["two"])] == [4, 2, 3]
    assert [node["y"]["a"].line, node["y"]["b"].line, node["z"].line] == [6, 10, 11]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key 'a' is given twice"),
        ("a:\n  - b: 1\n    c: 2\n    b: 1\n", 4, "the key 'b' is given twice"),
        ("a: 1\n\tb: 2\n", 2, "is not valid YAML: found a tab character"),
        ('a: 1\nb: "x\nc: 1\n', 4, "while scanning a quoted scalar that begins in line 2"),
        ("a: 1\nb: [x\nc: 2\n", 3, "did not find expected ',' or ']' while parsing a flow sequence that begins in l"),
        ("a: *nowhere\n", 1, "undefined alias"),
        ("a: &a [*a]\n", None, "an alias stands inside of what it names"),
        ("a: 1\n---\nb: 2\n", 2, "another document"),
        ("a: 1\n[x]: 2\n", 2, "a key must be text, not a list or a mapping"),
        ("a: 1\ntitle: 2024-13-45\n", 2, "is not valid YAML: month must be in 1..12; put text in quotes"),
        ("a: 1\nb: !!python/object:os.system x\n", 2, "could not determine a constructor"),
        (b"a: 1\n# caf\xe9\n", 2, "is not UTF-8 text (byte 10 of the file)"),
        ("# nothing yet\n", None, "must be a mapping of keys such as name, corpus and methods"),
        ("- a\n- b\n", None, "must be a mapping of keys"),
        ("a: 1\nb: x\0y\n", None, "is not valid YAML: unacceptable character #x0000"),
    ],
)
def test_what_is_no_mapping_in_yaml_is_refused_with_its_line(write, text, line, words):
    path = write(text)
    message = refusal(path)
    assert message.startswith(f"{path}{f':{line}' if line else ''}: ")
    assert words in message


def test_a_file_that_can_not_be_read_is_refused_with_one_that_is_there(write, tmp_path, monkeypatch):
    path = write("a: 1\n", "webkb.yaml")
    assert refusal(tmp_path) == f"{tmp_path}: can't be read: Is a directory"
    wrong = path.with_name("wbkb.yaml")
    assert refusal(wrong) == f"{wrong}: can't be read: No such file or directory; did you mean {str(path)!r}?"
    assert "did you mean" not in refusal(path.parent / "nowhere" / "x.yaml")


TEXT = st.text(max_size=12).filter(lambda text: not Reader.NON_PRINTABLE.search(text))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.dates() | TEXT
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)


@given(data=st.dictionaries(TEXT, TREES, max_size=5), flow=st.sampled_from([None, True, False]))
def test_what_was_dumped_reads_back_equal_and_every_value_has_a_line(tmp_path_factory, data, flow):
    path = tmp_path_factory.getbasetemp() / "dumped.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False, default_flow_style=flow), encoding="utf-8")
    node = read_yaml(path)
    assert node.value == data
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    lines = {keys: line for keys, (_, line) in places(node).items()}
    assert all(1 <= line <= n_lines and line >= lines[keys[:-1]] for keys, line in lines.items())


class TestMerged:
    BASE = "a:\n  b: 1\n  c:\n    d: 2\n    e: 3\nf: [1, 2]\ng: text\n"

    @pytest.mark.parametrize(
        ("over", "merged"),
        [
            ("{}", {}),
            ("{f: [3]}", {"f": [3]}),
            ("{h: {i: 1}}", {"h": {"i": 1}}),
            ("{f: {i: 1}}", {"f": {"i": 1}}),
            ("{a: 5}", {"a": 5}),
            ("{a: {c: {d: 4}}}", {"a": {"b": 1, "c": {"d": 4, "e": 3}}}),
            ("{a: {c: [4]}}", {"a": {"b": 1, "c": [4]}}),
            ("{a: {c: null}}", {"a": {"b": 1}}),
            ("{a: {z: null}}", {}),
            ("{g: null, h: {i: null, j: {}}}", {"h": {"j": {}}}),
            ("{a: {name: new, b: 2}}", {"a": {"name": "new", "b": 2}}),
            ("{g: {b: 2}}", {"g": {"name": "text", "b": 2}}),
            ("{g: {name: other}}", {"g": {"name": "other"}}),
            ("{g: other}", {"g": "other"}),
        ],
    )
    def test_mappings_merge_null_removes_and_all_else_stands_instead(self, over, merged):
        base = yaml.safe_load(self.BASE)
        expected = {**{key: value for key, value in base.items() if f"{key}: null" not in over}, **merged}
        node = Node.of_data(base, "x")
        assert node.merged(Node.of_data(yaml.safe_load(over), "x")).value == expected
        assert node.value == base


def test_a_message_is_one_line_of_printable_characters_and_no_more_than_can_be_read():
    node = Node(None, "x.yaml", 1)
    assert str(node.error("a\nb\x1b[31m\ud800é")) == r"x.yaml:1: a\nb\x1b[31m\ud800é"
    assert len(str(node.error("x" * 10**6))) < 6000
    assert len(unknown_name("key", "x" * 10**6, ["a"])) < 400
    assert str(Node.of_data({}, "manifest.json")["z"].error("m")) == "manifest.json: m"
