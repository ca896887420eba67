"""Old commands and options mean the same as new ones, with a line on standard error, until 0.3."""

from __future__ import annotations

from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.cli.old_names import RENAMED, with_current_names
from benchmark.commands.survey import SURVEY_PAGES
from benchmark.schema.registries import list_components

PAIRS = [(command, old, new) for command, words in RENAMED.items() for old, new in words.items()]


@pytest.mark.parametrize(("command", "old", "new"), PAIRS)
def test_an_old_name_becomes_one_that_exists(command: str, old: str, new: str, capsys: Any) -> None:
    assert with_current_names([command, old, "x"]) == [command, new, "x"]
    prefix = "" if old.startswith("--") else f"{command} "
    assert capsys.readouterr().err == f"bench: {prefix}{old} is now {prefix}{new}; 0.3 will refuse the old name\n"
    found: Any = get_command(app)
    parameters = found.commands[command].params
    if old.startswith("--"):
        assert new in {name for each in parameters for name in each.opts}
        assert old not in {name for each in parameters for name in each.opts}
    elif command == "survey":
        assert new in SURVEY_PAGES
        assert old not in SURVEY_PAGES
    elif command == "list":
        assert list(list_components(new, ()))
    else:
        assert new in found.commands[command].commands
        assert old not in found.commands[command].commands


def test_values_and_later_words_are_left_alone(capsys: Any) -> None:
    for arguments in ([], ["run", "--", "--at-most"], ["data", "list", "card"], ["explain", "run", "choosing"]):
        assert with_current_names(arguments) == arguments
    assert with_current_names(["run", "a.yaml", "--at-most=2"]) == ["run", "a.yaml", "--max-workers=2"]
    capsys.readouterr()


def test_a_configuration_with_an_old_key_says_so_once_and_beside_the_output(tmp_path: Any) -> None:
    config = tmp_path / "old.yaml"
    config.write_text(
        "name: old\ncorpus: {name: synthetic}\nprotocol: {name: k-fold, k: 2}\n"
        "methods: [{call: a, kernel: ngd}, {call: b, kernel: ned}]\n"
    )
    result = CliRunner().invoke(app, ["validate", str(config)])
    assert result.exit_code == 0
    assert result.stderr == f"bench: {config}:4: the key `call` is now `name`; 0.3 will refuse the old one\n"
    assert "key" not in result.stdout
