"""Questions at a terminal; without a terminal the proposals are accepted."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from benchmark.system.errors import ConfigError, quote_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: Questions by the role of a column; all roles but text and label are optional.
COLUMN_QUESTIONS = {
    "text": "Column of the text",
    "label": "Column of the class",
    "id": "Column of the documents' names (- for none)",
    "split": "Column that says train or test (- for none)",
    "group": "Column of the group, such as a customer or an author (- for none)",
    "date": "Column of the date (- for none)",
}
NO_COLUMN = "-"


def is_interactive() -> bool:
    """Return whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask_yes_no(problem: str, question: str, options: str) -> bool:
    """Ask a yes-or-no question at a terminal; elsewhere raise a ConfigError that names the options to add."""
    if not (is_interactive() and sys.stdout.isatty()):
        raise ConfigError(f"{problem}: add {options}")
    return typer.confirm(f"{problem}. {question}", err=True)


def confirm_code(question: str) -> bool:
    """Ask at a terminal whether code may run; elsewhere return False."""
    return is_interactive() and sys.stdout.isatty() and typer.confirm(question, err=True)


def without_trust(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """Return the arguments without `--trust`, which may stand anywhere before "--", and whether it was among them."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options, rest = list(arguments[:end]), list(arguments[end:])
    return [*(each for each in options if each != "--trust"), *rest], "--trust" in options


def confirm_columns(columns: Mapping[str, Sequence[Any]], proposed: dict[str, str], given: set[str]) -> dict[str, str]:
    """Return the columns by role, after questions about the proposed ones; the roles in `given` are not asked."""
    if not columns or not is_interactive() or not sys.stdout.isatty():
        return proposed
    for name, values in columns.items():
        typer.echo(f"  {name}: {quote_value(next((v for v in values if v not in (None, '')), ''))[:60]}", err=True)
    roles = {role: name for role, name in proposed.items() if role in given or role == "labels"}
    for role, question in COLUMN_QUESTIONS.items():
        if role in given or (role == "label" and "labels" in roles):
            continue
        default = proposed.get(role, NO_COLUMN if "none" in question else None)
        answer = typer.prompt(question, default=default, err=True)
        while answer not in columns and not (answer == NO_COLUMN and "none" in question):
            answer = typer.prompt(f"There is no column {answer!r}. {question}", default=default, err=True)
        if answer != NO_COLUMN:
            roles[role] = answer
    return roles


def ask_header(path: Path, why: str) -> bool:
    """Ask whether the first row of a table names its columns; `why` is the reason why it looks like a document."""
    problem = f"{path}:1: looks like a document and not like the names of columns ({why})"
    return ask_yes_no(problem, "Does this row name the columns?", "--header or --no-header")


def ask_separator(mark: str, path: Path, column: str, value: str) -> bool:
    """Ask whether documents have several classes, since values of the class column contain a separator."""
    problem = f"{path}: the column {quote_value(column)} has values such as {quote_value(value)}"
    options = f"--labels {column} --separator '{mark}', or --single-label if each is one class"
    return ask_yes_no(problem, f"May a document have several classes, separated by {mark}?", options)


def ask_split(ways: Mapping[str, str]) -> str | None:
    """Ask at a terminal how to divide the documents, if there are several ways; elsewhere return None."""
    if len(ways) < 2 or not is_interactive() or not sys.stdout.isatty():
        return None
    for way, told in ways.items():
        typer.echo(f"  {way}: measures {told}", err=True)
    question, default = f"Split by one of: {', '.join(ways)}", next(iter(ways))
    answer = typer.prompt(question, default=default, err=True)
    while answer not in ways:
        answer = typer.prompt(f"There is no way {answer!r}. {question}", default=default, err=True)
    return str(answer)


def ask_classes(path: Path, columns: Sequence[str], *, one_each: bool) -> bool:
    """Ask whether each of the columns that hold only 0 and 1 is a class; `one_each` if each document has just one."""
    names, role = ",".join(columns), "label" if one_each else "labels"
    problem = f"{path}: the columns {quote_value(', '.join(columns))} hold only 0 and 1"
    options = f"--{role} {quote_value(names)} if each is a class, or --label {columns[0]} if that column alone has it"
    return ask_yes_no(problem, "Is each of them a class?", options)
