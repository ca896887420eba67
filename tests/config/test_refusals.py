"""What no configuration can have is refused at its line, with what is wrong and what is allowed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmark.config.experiment import check_experiment, read_config
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.errors import ConfigError, DataError
from tests.config.conftest import BASE

TABLE = Path(__file__).with_name("refusals.txt").read_text(encoding="utf-8").splitlines()[2:]
HERE = " # HERE"


def rows() -> list[tuple[str, list[str]]]:
    """The fragments of the table, each with its messages."""
    found: list[tuple[list[str], list[str]]] = []
    for line in TABLE:
        if line.startswith("> "):
            found[-1][1].append(line[2:])
        elif not found or found[-1][1]:
            found.append(([line], []))
        else:
            found[-1][0].append(line)
    return [("\n".join(fragment) + "\n", messages) for fragment, messages in found]


@pytest.mark.parametrize(("fragment", "messages"), rows())
def test_it_is_refused_at_its_line(written, read, fragment, messages):
    path = written(fragment)
    lines = path.read_text(encoding="utf-8").splitlines()
    here = [number for number, line in enumerate(lines, 1) if line.endswith(HERE)]
    with pytest.raises((ConfigError, DataError)) as caught:
        read(path)
    found = str(caught.value).replace(f"{path.parent}/", "").splitlines()
    assert sorted({int(line.split(":")[1]) for line in found}) == here
    for line, expected in zip(found, messages, strict=True):
        pattern = ".*".join(map(re.escape, expected.split("…")))
        assert re.fullmatch(rf"config\.yaml:\d+: {pattern}", line), line


@pytest.mark.parametrize(
    ("own", "where", "message"),
    [
        ("extends: base\nname: own\nprotocol: {k: 1}\n", "own:3", "k must be a number of at least 2, not 1"),
        ("extends: base\nname: own\nmethods: [ned, linear]\n", "base:9", "unknown method or cell 'ngd'"),
        ("extends: base\nname: own\nmethods: [mnb]\n", "base:9", "(in own.yaml, which extends this file)"),
        ("extends: base\nname: own\ncorpus: null\n", "own:1", "the key 'corpus' is missing"),
        ("extends: base\nname: own\ncorpus: {classes: [studnet, course]}\n", "own:3", "did you mean 'student'"),
        ("# nothing\nextends: base\n", "own:2", "the key 'name' is missing"),
        ("name: own\nextends: own\n", "own:2", "goes round in a circle"),
        ("name: own\nextends: there\n", "there:2", "goes round in a circle"),
        ("name: own\nextends: bas\n", "own:2", "no configuration 'bas' in the same folder or in the package; did you"),
        ("name: own\nextends: [base]\n", "own:2", "must name a configuration in the same folder"),
        ("name: own\nextends: ../base\n", "own:2", "must name a configuration in the same folder"),
        ("name: own\nextends: broken\n", "broken:2", "is not valid YAML"),
    ],
)
def test_an_error_of_a_file_that_is_extended_points_at_it(tmp_path, own, where, message):
    for name, text in {
        "base": BASE,
        "own": own,
        "there": "name: there\nextends: own\n",
        "broken": "a: b\nc: ]\n",
    }.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        check_experiment(read_config(tmp_path / "own.yaml"), BUILTIN_REGISTRIES)
    name, line = where.split(":")
    assert str(caught.value).startswith(f"{tmp_path / name}.yaml:{line}: ")
    assert message in str(caught.value)
