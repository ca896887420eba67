"""Documents in a pandas frame: its columns' roles, and a file that the reader of a user's own files takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.system.checks import as_list
from benchmark.system.errors import ConfigError, quote_value

if TYPE_CHECKING:
    from collections.abc import Mapping
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
    columns = list(map(str, frame.columns))
    labels = "labels" if "labels" in named or ("labels" in columns and "label" not in named) else "label"
    others = {role: role for role in FRAME_ROLES if role in columns and role not in ("label", "labels")}
    roles = {"text": "text", labels: labels, **others, **named}
    for role, names in roles.items():
        for name in as_list(names):
            if columns.count(name) != 1:
                problem = f"{'several columns' if name in columns else 'no column'} {quote_value(name)}"
                have = f"(columns: {', '.join(columns)})"
                raise ConfigError(f"{role}: the frame has {problem} {have}; name yours: {role}=…")
    return roles


def write_frame(frame: pd.DataFrame, roles: Mapping[str, str | list[str]], path: Path) -> None:
    """Write the columns that have a role as JSON lines."""
    names = list(dict.fromkeys(name for names in roles.values() for name in as_list(names)))
    columns = list(map(str, frame.columns))
    used = frame.iloc[:, [columns.index(name) for name in names]].set_axis(names, axis=1)
    used.to_json(path, orient="records", lines=True, force_ascii=False, date_format="iso")
