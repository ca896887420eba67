"""Commands and options that 0.2 renamed: the old ones are accepted until 0.3, with a line on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.cli.errors import echo

if TYPE_CHECKING:
    from collections.abc import Sequence

#: New words of the command line by the command and an old word.
RENAMED = {
    "check": {"--pin": "--update"},
    "data": {"card": "pin"},
    "explain": {"--shown": "--examples"},
    "list": {"measures": "diagnostics"},
    "plan": {"--quick": "--no-pilot"},
    "predict": {"--words": "--top-terms"},
    "published": {"pin": "pin-settings"},
    "report": {"--all": "--all-cells"},
    "run": {"--at-most": "--max-workers"},
    "survey": {"choosing": "methods", "geometry": "ablation"},
}
#: Commands that moved to another group, with the words that replace them.
MOVED = {"data export": ("export", "--to", "counts")}


def with_current_names(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of `bench` with new commands and options in place of old ones; print a line for each.

    A subcommand or page is renamed only where it stands directly after the command, and an option anywhere before "--".
    """
    arguments = _moved(arguments)
    command, *rest = [*arguments] or [""]
    renamed = RENAMED.get(command, {})
    for i, argument in enumerate(rest):
        if argument == "--":
            break
        word, equals, value = argument.partition("=")
        if word in renamed and (i == 0 or word.startswith("--")):
            new = renamed[word]
            prefix = "" if word.startswith("--") else f"{command} "
            echo(f"bench: {prefix}{word} is now {prefix}{new}; 0.3 will refuse the old name", err=True)
            rest[i] = f"{new}{equals}{value}"
    return [command, *rest] if arguments else []


def without_trust(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """Return the arguments without `--trust`, which may stand anywhere before "--", and whether it was among them."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options, rest = list(arguments[:end]), list(arguments[end:])
    return [*(each for each in options if each != "--trust"), *rest], "--trust" in options


def _moved(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments with the new words of a command that moved; print a line for it."""
    new = MOVED.get(" ".join(arguments[:2]))
    if new is None:
        return arguments
    echo(f"bench: {' '.join(arguments[:2])} is now {' '.join(new)}; 0.3 will refuse the old name", err=True)
    return [*new, *arguments[2:]]
