"""Old keys and values of a configuration mean the same as new ones, with a warning, until 0.3."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmark import __version__
from benchmark.cli.old_names import RENAMED
from benchmark.config.extends import read_config
from benchmark.config.renamed_keys import (
    RENAMED_KEYS,
    RENAMED_VALUES,
    with_current_keys,
    with_current_parameters,
)
from benchmark.system.errors import ConfigError, RenamedWarning
from benchmark.system.yaml_source import YamlSource

OLD = """name: old
explains: webkb
base: false
classes: each
derive: [growth]
family: [variant]
measures: [document-counts]
fitted: [{cells: "ngd*", choice: C 3, to: Table 1}]
corpus: {name: webkb}
text: {counted_in: train}
protocol: fixed-split
terms: {number: 10, over_classes: average}
choose: {by: [oracle, newest], over: [text]}
defaults: {unit: one, classifier: {name: svm, unit: mean-self-product}, svm: {unit: one}}
methods:
  - {call: best, text: [{counted_in: train}], kernel: ngd, classifier: {name: svm, unit: mean-self-product}}
variants:
  soft:
    text: {counted_in: test}
    methods: [{call: best, kernel: ned}]
"""
NEW = """name: old
sensitivity_of: webkb
run_base: false
per_class: true
gain: true
holm_within: [variant]
diagnostics: [document-counts]
tuned_to_published: [{cells: "ngd*", choice: C 3, to: Table 1}]
corpus: {name: webkb}
text: {vocabulary_from: train}
protocol: fixed-split
terms: {number: 10, aggregate: average}
choose: {by: [oracle, temporal-holdout], grid_keys: [text]}
defaults: {scale_C: one, classifier: {name: svm, scale_C: mean-self-product}, svm: {scale_C: one}}
methods:
  - {name: best, text: [{vocabulary_from: train}], kernel: ngd, classifier: {name: svm, scale_C: mean-self-product}}
variants:
  soft:
    text: {vocabulary_from: test}
    methods: [{name: best, kernel: ned}]
"""


def test_the_next_version_refuses_old_names() -> None:
    minor = int(__version__.split(".")[1])
    assert minor < 3, "0.3 removes renamed_keys.py, cli/old_names.py and their tests"


def test_every_old_name_becomes_its_new_one(tmp_path: Any) -> None:
    path = tmp_path / "old.yaml"
    path.write_text(OLD)
    with pytest.warns(RenamedWarning) as warned:
        source = read_config(path)
    assert source.data == yaml.safe_load(NEW)
    messages = [str(each.message) for each in warned]
    for old, new in RENAMED_KEYS.items():
        key = old.rpartition(".")[2]
        assert any(f"the key `{key}` is now `{new}`" in message for message in messages), key
    first = next(message for message in messages if "`family`" in message)
    assert first == f"{path}:6: the key `family` is now `holm_within`; 0.3 will refuse the old one"
    assert f"{path}:13: the value 'newest' is now 'temporal-holdout'; 0.3 will refuse the old one" in messages


def test_errors_keep_their_lines() -> None:
    data = {"terms": {"number": 10, "over_classes": "x"}, "methods": [{"call": "a"}]}
    lines: dict[Any, int] = {(): 1, ("terms",): 2, ("terms", "over_classes"): 4, ("methods", 0, "call"): 7}
    with pytest.warns(RenamedWarning):
        source = with_current_keys(YamlSource("x.yaml", data, lines))
    assert source.line(("terms", "aggregate")) == 4
    assert source.line(("methods", 0, "name")) == 7
    assert ("terms", "over_classes") not in source.lines


def test_new_names_are_left_alone() -> None:
    source = YamlSource("x.yaml", yaml.safe_load(NEW))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert with_current_keys(source) is source


def test_an_old_name_beside_its_new_one_is_refused() -> None:
    source = YamlSource("x.yaml", {"text": {"counted_in": "train", "vocabulary_from": "train"}})
    with pytest.raises(ConfigError, match="`counted_in` is the old name of `vocabulary_from`, which is there, too"):
        with_current_keys(source)


def test_old_and_new_names_merge_across_files(tmp_path: Any) -> None:
    (tmp_path / "base.yaml").write_text("name: base\ntext: {counted_in: train, digits: drop}\n")
    (tmp_path / "own.yaml").write_text("name: own\nextends: base\ntext: {vocabulary_from: test}\n")
    with pytest.warns(RenamedWarning):
        source = read_config(tmp_path / "own.yaml")
    assert source.data["text"] == {"vocabulary_from": "test", "digits": "drop"}


def test_a_parameter_of_a_saved_model_is_renamed() -> None:
    assert with_current_parameters("classifier", {"name": "svm", "unit": "one"}) == {"name": "svm", "scale_C": "one"}
    assert with_current_parameters("classifier", "mnb") == "mnb"


@pytest.mark.parametrize("name", RENAMED_VALUES)
def test_only_old_values_change(name: str) -> None:
    section, _, key = name.rpartition(".")
    for value in (["cross-validation"], "oracle", 3, None, []):
        data = {section: {key: value}} if section else {key: value}
        assert with_current_keys(YamlSource("x.yaml", data)).data == data


@pytest.mark.parametrize(
    ("section", "old", "new"),
    [
        ("derive", "growth", True),
        ("derive", ["growth"], True),
        ("derive", ["growth", False], True),
        ("derive", [False, "growth"], True),
        ("derive", [False], False),
        ("classes", ["each", "each"], True),
        ("classes", "all", "all"),
        ("classes", ["each", "all"], [True, "all"]),
        ("choose.by", ["newest", "oracle"], ["temporal-holdout", "oracle"]),
        ("choose.by", "newest", "temporal-holdout"),
        ("paper", "landmarks", "reference-values"),
    ],
)
def test_of_a_list_each_old_value_changes_and_one_that_is_now_true_makes_the_whole_true(
    section: str, old: Any, new: Any
) -> None:
    outer, _, key = section.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RenamedWarning)
        data = with_current_keys(YamlSource("x.yaml", {outer: {key: old}} if outer else {key: old})).data
    found = data[outer] if outer else data
    assert found == {RENAMED_KEYS.get(section, key): new}


@pytest.mark.parametrize("order", [1, -1])
def test_an_old_key_is_refused_before_and_after_its_new_one(order: int) -> None:
    keys = [("explains", "a"), ("sensitivity_of", "b")][::order]
    with pytest.raises(ConfigError, match="`explains` is the old name of `sensitivity_of`, which is there, too: keep"):
        with_current_keys(YamlSource("x.yaml", dict(keys)))


def test_the_page_of_what_moved_has_every_old_name() -> None:
    page = (Path(__file__).parents[2] / "docs" / "moved.md").read_text(encoding="utf-8")
    words = set(re.findall(r"[\w-]+", page))
    keys = {key.rpartition(".")[2] for key in RENAMED_KEYS} | set(RENAMED_KEYS.values())
    options = {word for names in RENAMED.values() for pair in names.items() for word in pair}
    assert not (keys | options | {value for values in RENAMED_VALUES.values() for value in values}) - words


def test_an_old_key_is_told_once_where_it_first_occurs() -> None:
    lines: dict[Any, int] = {(): 1, ("methods", 0, "call"): 3, ("methods", 1, "call"): 5}
    with pytest.warns(RenamedWarning) as warned:
        with_current_keys(YamlSource("x.yaml", {"methods": [{"call": "a"}, {"call": "b"}]}, lines))
    assert [str(each.message).partition(" the key")[0] for each in warned] == ["x.yaml:3:"]
