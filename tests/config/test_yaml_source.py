from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmark.system.errors import ConfigError, combine_errors, did_you_mean, unknown_name
from benchmark.system.yaml_source import UNPRINTABLE, YamlSource, escape_unprintable, read_yaml


@pytest.fixture
def write(tmp_path):
    def write(content, name="config.yaml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def lines(source):
    return {place: line for place, (_, line) in source.marks.items()}


def refusal(path):
    with pytest.raises(ConfigError) as caught:
        read_yaml(path)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_every_key_and_item_knows_its_line(write):
    source = read_yaml(
        write(
            "# a comment\nname: x\ncorpus:\n  name: webkb\n\n  classes: [a,\n    b]\n"
            "cells:\n  - k: 1\n  - k:\n      2\n"
        )
    )
    assert source.data == {
        "name": "x",
        "corpus": {"name": "webkb", "classes": ["a", "b"]},
        "cells": [{"k": 1}, {"k": 2}],
    }
    assert lines(source) == {
        (): 2,
        ("name",): 2,
        ("corpus",): 3,
        ("corpus", "name"): 4,
        ("corpus", "classes"): 6,
        ("corpus", "classes", 0): 6,
        ("corpus", "classes", 1): 7,
        ("cells",): 8,
        ("cells", 0): 9,
        ("cells", 0, "k"): 9,
        ("cells", 1): 10,
        ("cells", 1, "k"): 10,
    }


def test_an_alias_has_its_own_line_and_its_items_those_of_the_anchor(write):
    source = read_yaml(write("one: &all\n  - a\n  - b\ntwo: *all\n"))
    assert source.data["two"] == ["a", "b"]
    assert lines(source)["two",] == 4
    assert [lines(source)["two", index] for index in (0, 1)] == [2, 3]


def test_merged_keys_are_read_and_point_at_the_mapping_they_are_merged_into(write):
    source = read_yaml(write("one: &x\n  a: 1\n  b: 1\ntwo:\n  <<: *x\n  b: 2\n"))
    assert source.data["two"] == {"a": 1, "b": 2}
    assert lines(source)["two", "b"] == 6
    assert str(source.error(("two", "a"), "wrong")).endswith("config.yaml:4: wrong")


def test_an_error_points_at_the_nearest_known_place():
    source = YamlSource("x.yaml", {}, {(): ("x.yaml", 1), ("a",): ("x.yaml", 3), ("a", 0): ("x.yaml", 4)})
    assert str(source.error(("a", 0), "m")) == "x.yaml:4: m"
    assert str(source.error(("a", 7, "b"), "m")) == "x.yaml:3: m"
    assert str(source.error(("z",), "m")) == "x.yaml:1: m"
    assert str(YamlSource("manifest.json", {}).error(("z",), "m")) == "manifest.json: m"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key 'a' is given twice"),
        ("a:\n  - b: 1\n    c: 2\n    b: 1\n", 4, "the key 'b' is given twice"),
        ("a: 1\n\tb: 2\n", 2, "is not valid YAML: found a tab character"),
        ("a:\n\tb: 1\n", 2, "is not valid YAML: a tab stands here: indent by spaces"),
        ('a: 1\nb: "x\nc: 1\n', 4, "while scanning a quoted scalar that begins in line 2"),
        (
            "a: 1\nb: [x\nc: 2\n",
            3,
            "did not find expected ',' or ']' while parsing a flow sequence that begins in l",
        ),
        ("a: *nowhere\n", 1, "undefined alias"),
        ("a: 1\n---\nb: 2\n", 2, "another document"),
        ("a: 1\n[x]: 2\n", 2, "unhashable key"),
        ("a: 1\ntitle: 2024-13-45\n", 2, "'2024-13-45' is not a valid timestamp (month must be in 1..12)"),
        ("a: 1\nb: !!python/object:os.system x\n", 2, "could not determine a constructor"),
        (b"a: 1\n# caf\xe9\n", 2, "is not UTF-8 text (byte 10 of the file)"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_line(write, text, line, words):
    path = write(text)
    message = refusal(path)
    assert message.startswith(f"{path}:{line}: ")
    assert words in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty; it must be a mapping of keys such as name, corpus and methods"),
        ("# nothing yet\n", "is empty"),
        ("- a\n- b\n", "is not a mapping; it must be a mapping"),
        ("just words\n", "is not a mapping"),
        ("a: 1\nb: x\0y\n", "is not valid YAML: unacceptable character #x0000"),
    ],
)
def test_what_is_no_mapping_is_refused(write, text, words):
    path = write(text)
    message = refusal(path)
    assert message.startswith(f"{path}: ")
    assert words in message


def test_a_missing_file_is_refused_with_the_nearest_that_is_there(write):
    path = write("a: 1\n", "webkb.yaml")
    wrong = path.with_name("wbkb.yaml")
    assert refusal(wrong) == f"{wrong}: can't be read: No such file or directory; did you mean {str(path)!r}?"
    assert "did you mean" not in refusal(path.parent / "nowhere" / "x.yaml")


def test_a_file_that_may_not_be_read_is_refused_and_not_suggested(write, monkeypatch):
    path = write("a: 1\n")

    def refused(self, **_):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(type(path), "read_text", refused)
    assert refusal(path) == f"{path}: can't be read: Permission denied"


def test_a_folder_is_refused_with_a_file_in_it(write, tmp_path):
    assert refusal(tmp_path) == f"{tmp_path}: is a folder, not a YAML file"
    path = write("a: 1\n")
    assert refusal(tmp_path).endswith(f"is a folder, not a YAML file; name a file in it, such as {path}")


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ("!!str 5", "5"),
        ("!!float 1", 1.0),
        ("!!null ~", None),
        ("!!bool yes", True),
        ("!!int 0x10", 16),
        ("!!map {<<: {a: 1}}", {"a": 1}),
        (r'"\t\n"', "\t\n"),
    ],
)
def test_values_are_read_by_their_form_or_tag(write, value, data):
    assert read_yaml(write(f"a: {value}\n")).data == {"a": data}


def test_a_message_is_one_line_of_printable_characters_and_no_more_than_can_be_read():
    source = YamlSource("x.yaml", {}, {(): ("x.yaml", 1)})
    assert str(source.error((), "a\nb\x1b[31m\ud800é")) == r"x.yaml:1: a\nb\x1b[31m\ud800é"
    assert len(str(source.error((), "x" * 10**6))) < 6000
    assert len(unknown_name("key", "x" * 10**6, ["a"])) < 400


def test_twenty_problems_are_listed_and_the_others_counted():
    assert str(combine_errors(["a", "b", "a"])) == "a\nb"
    assert str(combine_errors(map(str, range(20)))).splitlines() == [str(n) for n in range(20)]
    assert str(combine_errors(["a"], more=2)).splitlines() == ["a", "… and 2 more problems"]
    assert str(combine_errors(map(str, range(3021)))).splitlines()[19:] == ["19", "… and 3,001 more problems"]


def test_a_byte_order_mark_and_windows_line_ends_are_read(write):
    source = read_yaml(write("\ufeffa: 1\r\nb: é\r\n".encode()))
    assert (source.data, lines(source)["b",]) == ({"a": 1, "b": "é"}, 2)


@pytest.mark.parametrize(
    ("name", "escaped"),
    [("tr\x07ain", "tr\\x07ain"), ("a\udcff", "a\\udcff"), ("é 漢\t", "é 漢\t"), ("\ufffe\x1b[", "\\ufffe\\x1b[")],
)
def test_what_no_file_can_have_is_escaped(name, escaped):
    assert escape_unprintable(name) == escaped


def test_names_that_are_near_are_suggested():
    assert did_you_mean("ngb", ["linear", "ngd"]) == "; did you mean 'ngd'?"
    assert did_you_mean("c", ["C", "epsilon", "scheme"]) == "; did you mean 'C'?"
    assert did_you_mean("quite another", ["linear", "ngd"]) == ""
    assert (
        unknown_name("kernel", "ngb", ["linear", "ngd"])
        == "unknown kernel 'ngb'; did you mean 'ngd'? (allowed: linear, ngd)"
    )


TEXT = st.text(max_size=12).filter(lambda text: not UNPRINTABLE.search(text))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.dates() | TEXT
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def paths(data, start=()):
    yield start
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from paths(value, (*start, key))


@given(data=st.dictionaries(TEXT, TREES, max_size=5), flow=st.sampled_from([None, True, False]))
def test_what_was_dumped_reads_back_equal_and_every_path_has_a_line(tmp_path_factory, data, flow):
    path = tmp_path_factory.getbasetemp() / "dumped.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False, default_flow_style=flow), encoding="utf-8")
    source = read_yaml(path)
    assert source.data == data
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    for place in paths(data):
        assert 1 <= lines(source)[place] <= n_lines
        assert lines(source)[place] >= lines(source)[place[:-1]]


def document(text, name="config.yaml"):
    """A document of which every key stands on the line that text has it on."""
    source = YamlSource(name, yaml.safe_load(text))
    for place in paths(source.data):
        word = f"{place[-1]}:" if place and isinstance(place[-1], str) else None
        numbers = [number for number, line in enumerate(text.splitlines(), 1) if word and line.strip().startswith(word)]
        if numbers or not place:
            source.marks[place] = name, numbers[0] if numbers else 1
    return source


class TestPart:
    def test_knows_its_lines_by_places_of_its_own(self, write):
        source = read_yaml(write("a: 1\nb:\n  c:\n    d: [1,\n      2]\n"))
        part = source.part(("b", "c"))
        assert part.data == {"d": [1, 2]}
        assert lines(part) == {(): 3, ("d",): 4, ("d", 0): 4, ("d", 1): 5}
        assert str(part.error(("d", 1), "m")) == str(source.error(("b", "c", "d", 1), "m"))

    def test_knows_of_which_file_each_place_is(self, write):
        base = read_yaml(write("a: {b: 1}\nc: 2\n", "base.yaml"))
        merged = base.overlaid(read_yaml(write("a: {d: 4}\n", "over.yaml")))
        part = merged.part(("a",))
        for key in ("b", "d"):
            assert str(part.error((key,), "m")) == str(merged.error(("a", key), "m"))
        assert {place: Path(name).name for place, (name, _) in part.marks.items()} == {
            (): "over.yaml",
            ("b",): "base.yaml",
            ("d",): "over.yaml",
        }

    def test_of_everything_is_everything(self, write):
        source = read_yaml(write("a: {b: 1}\n"))
        assert source.part(()) == source


class TestWithout:
    def test_neither_key_nor_line_is_left(self, write):
        source = read_yaml(write("a: 1\nb:\n  c: 2\nd: 3\n")).without(["b", "z"])
        assert source.data == {"a": 1, "d": 3}
        assert set(lines(source)) == {(), ("a",), ("d",)}

    def test_places_of_other_files_stay_of_these(self, write):
        base = read_yaml(write("a: 1\nb: {c: 2}\n", "base.yaml"))
        merged = base.overlaid(read_yaml(write("d: 4\n", "over.yaml"))).without(["a"])
        assert set(merged.marks) == {(), ("b",), ("b", "c"), ("d",)}
        assert {Path(name).name for place, (name, _) in merged.marks.items() if place[:1] == ("b",)} == {"base.yaml"}
        assert merged.folder(("b", "c")) == merged.folder(("nowhere",)) == Path(base.name).parent
        assert YamlSource("x.yaml", {}).line(("a",)) == 0


class TestOverlaid:
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
        base = {"a": {"b": 1, "c": {"d": 2, "e": 3}}, "f": [1, 2], "g": "text"}
        expected = {**{key: value for key, value in base.items() if f"{key}: null" not in over}, **merged}
        result = YamlSource("x", yaml.safe_load(self.BASE)).overlaid(YamlSource("x", yaml.safe_load(over)))
        assert result.data == expected

    def test_neither_document_is_changed(self):
        base, over = document(self.BASE), document("a:\n  c: {d: 9}\nf:\n  - 7\n")
        before = yaml.safe_dump(base.data), dict(lines(base))
        base.overlaid(over)
        assert (yaml.safe_dump(base.data), lines(base)) == before
        assert over.data == {"a": {"c": {"d": 9}}, "f": [7]}

    def test_every_value_stands_in_the_file_and_on_the_line_it_was_written_on(self, write):
        base = read_yaml(write(self.BASE, "base.yaml"))
        over = read_yaml(write("# over\nx: 0\na:\n  c: {d: 4}\nf:\n  - 1\n  - 9\n", "over.yaml"))
        merged = base.overlaid(over)

        def where(*place):
            name, line = str(merged.error(place, "m")).split(":")[:2]
            return name.rpartition("/")[2], int(line)

        assert where("a", "b") == ("base.yaml", 2)
        assert where("a", "c", "d") == ("over.yaml", 4)
        assert where("a", "c", "e") == ("base.yaml", 5)
        assert where("f", 1) == ("over.yaml", 7)
        assert where("g") == ("base.yaml", 7)
        assert where() == where("nowhere") == ("over.yaml", 2)

    def test_what_replaces_a_value_leaves_none_of_its_lines(self, write):
        base = read_yaml(write("a:\n  b:\n    - 1\n    - 2\n", "base.yaml"))
        merged = base.overlaid(read_yaml(write("z: 1\n\n\n\n\n\na: {b: [3]}\n", "over.yaml")))
        assert lines(merged)["a", "b", 0] == 7
        assert ("a", "b", 1) not in lines(merged)
        component = read_yaml(write("a:\n  name: x\n  b: 1\n", "base.yaml"))
        other = component.overlaid(read_yaml(write("a: {name: y}\n", "over.yaml")))
        assert set(lines(other)) == {(), ("a",), ("a", "name")}
        assert {Path(name).name for name, _ in other.marks.values()} == {"over.yaml"}

    @given(
        a=st.dictionaries(st.sampled_from("abc"), TREES, max_size=3),
        b=st.dictionaries(st.sampled_from("abc"), TREES, max_size=3),
    )
    def test_overlaying_twice_is_overlaying_once(self, a, b):
        once = YamlSource("x", a).overlaid(YamlSource("x", b))
        assert once.overlaid(YamlSource("x", b)).data == once.data


def test_the_file_that_extends_is_named_beside_the_one_with_the_error(write):
    base = read_yaml(write("a: {b: 1}\n", "base.yaml"))
    over = read_yaml(write("c: 2\n", "over.yaml"))
    merged = base.overlaid(over)
    assert str(merged.error(("a", "b"), "wrong")) == f"{base.name}:1: wrong (in over.yaml, which extends this file)"
    assert str(merged.error(("c",), "wrong")) == f"{over.name}:1: wrong"
