"""Documents in a pandas frame: its columns' roles, and a file that the reader of a user's own files takes."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchmark.system.errors import BenchError, ConfigError, quote_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pandas as pd

#: What a column may be, by the parameters of `UserFiles`; and its other parameters that a frame may need.
FRAME_ROLES = ("text", "label", "labels", "id", "split", "group", "date")
FRAME_OPTIONS = ("drop", "separator", "format", "rename")


def frame_columns(frame: pd.DataFrame, named: Mapping[str, str | list[str]]) -> dict[str, str | list[str]]:
    """Return the columns of a frame by role: those that are named, and else those that are called as their role.

    Parameters
    ----------
    frame : DataFrame
    named : mapping of str to str or list of str
        Columns by role; several only for the text.

    Raises
    ------
    ConfigError
        If a named column, the text or the label is missing, or a column is there twice.
    """
    columns = [str(name) for name in frame.columns]
    labelled = {"label", "labels"} & {*named}
    unnamed = [role for role in FRAME_ROLES if role not in named and not (labelled and role.startswith("label"))]
    roles = {**named, **{role: role for role in unnamed if role in columns}}
    if "labels" in roles and "labels" not in named:
        roles.pop("label", None)  # a frame with both has one of the classes, and all of them
    have = f"(columns: {', '.join(columns)})"
    for role in ("text", "label"):
        if role not in roles and not (role == "label" and "labels" in roles):
            raise ConfigError(f"the frame has no column {role!r} {have}; name yours: {role}=…")
    for role, names in roles.items():
        for name in [names] if isinstance(names, str) else names:
            if columns.count(name) != 1:
                problem = "no column" if name not in columns else "several columns"
                raise ConfigError(f"{role}: the frame has {problem} {quote_value(name)} {have}")
    return roles


def write_frame(frame: pd.DataFrame, roles: Mapping[str, str | list[str]], path: Path) -> None:
    """Write the columns that have a role as JSON lines."""
    names = dict.fromkeys(each for name in roles.values() for each in ([name] if isinstance(name, str) else name))
    columns = list(map(str, frame.columns))
    used = frame.iloc[:, [columns.index(name) for name in names]].set_axis(list(names), axis=1)
    used.to_json(path, orient="records", lines=True, force_ascii=False, date_format="iso")


@contextmanager
def name_frame_in_errors(path: Path) -> Iterator[None]:
    """Say "the frame" and its row, from 1, in errors that name the file of a frame, which is gone afterwards."""
    try:
        yield
    except BenchError as error:
        rows = re.sub(re.escape(str(path)) + r":(\d+)", r"the frame, row \1", str(error))
        error.args = (rows.replace(str(path), "the frame"),)
        raise error from None
