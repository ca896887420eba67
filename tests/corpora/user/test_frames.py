"""A frame's columns have the roles that its names or the user give them, and errors speak of the frame."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import benchmark as sb
from benchmark.commands.init import configuration_text, propose_columns, sample_file
from benchmark.corpora.user.frames import FRAME_ROLES, frame_columns
from benchmark.system.errors import ConfigError

TICKETS = pd.DataFrame(
    {
        "Long Description": [f"the printer {'jams' if i % 2 else 'is slow'} again {i}" for i in range(40)],
        "Kategorie": ["paper" if i % 2 else "network" for i in range(40)],
        "number": range(40),
    }
)
NAMED = {"text": "Long Description", "label": "Kategorie"}


def test_columns_are_found_by_name_and_named_ones_come_first() -> None:
    frame = pd.DataFrame({role: ["a"] for role in FRAME_ROLES} | {"body": ["b"]})
    assert frame_columns(frame.drop(columns="labels"), {"text": "body"}) == {
        "text": "body",
        **{role: role for role in ("label", "id", "split", "group", "date")},
    }
    assert "label" not in frame_columns(frame, {}), "all classes of a document, rather than one"
    assert "labels" not in frame_columns(frame, {"label": "label"})


@pytest.mark.parametrize(
    ("columns", "named", "message"),
    [
        ("body,label", {}, "text: the frame has no column 'text' (columns: body, label); name yours: text=…"),
        ("text,kind", {}, "label: the frame has no column 'label' (columns: text, kind); name yours: label=…"),
        ("body,label", {"text": "bodi"}, "text: the frame has no column 'bodi' (columns: body, label); name yours: …"),
        ("text,label,label", {}, "label: the frame has several columns 'label' (columns: text, label, label); name y…"),
    ],
)
def test_a_missing_or_doubled_column_is_named_with_those_that_there_are(
    columns: str, named: dict[str, str | list[str]], message: str
) -> None:
    names = columns.split(",")
    with pytest.raises(ConfigError) as raised:
        frame_columns(pd.DataFrame([["a"] * len(names)], columns=names), named)
    assert str(raised.value).startswith(message.removesuffix("…"))


def test_a_notebook_has_the_numbers_of_the_command(tmp_path) -> None:
    pages = sb.load("synthetic")[::4]
    pages.to_csv(tmp_path / "pages.csv", index=False)
    seen = sample_file(tmp_path / "pages.csv")
    roles = propose_columns(seen, {"text": "text", "label": "label"})
    config = tmp_path / "pages.yaml"
    config.write_text(configuration_text(replace(seen, roles=roles), config))
    pd.testing.assert_frame_equal(sb.run(corpus=pages).scores, sb.run(config).scores)
