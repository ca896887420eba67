"""A frame's columns have the roles that its names or the user give them, and errors speak of the frame."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import benchmark as sb
from benchmark.commands.init import configuration_text, propose_columns, sample_file
from benchmark.corpora.user.frames import FRAME_ROLES, frame_columns, write_frame
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


def test_a_missing_or_doubled_column_is_named_with_those_that_there_are() -> None:
    for columns, named, part in (
        (["body", "label"], {}, "the frame has no column 'text' (columns: body, label); name yours: text=…"),
        (["text", "kind"], {}, "the frame has no column 'label' (columns: text, kind); name yours: label=…"),
        (["body", "label"], {"text": "bodi"}, "text: the frame has no column 'bodi' (columns: body, label)"),
        (["text", "label", "label"], {}, "label: the frame has several columns 'label' (columns: text, label, label)"),
    ):
        with pytest.raises(ConfigError) as raised:
            frame_columns(pd.DataFrame([["a"] * len(columns)], columns=columns), named)
        assert str(raised.value) == part


def test_the_file_has_the_columns_that_have_a_role(tmp_path) -> None:
    frame = TICKETS.assign(day=pd.Timestamp("2024-05-31", tz="UTC"))
    write_frame(frame, {"text": ["number", "Long Description"], "date": "day"}, tmp_path / "frame.jsonl")
    row = json.loads((tmp_path / "frame.jsonl").read_text().splitlines()[3])
    assert row == {"number": 3, "Long Description": TICKETS["Long Description"][3], "day": "2024-05-31T00:00:00.000Z"}


@pytest.mark.parametrize(
    ("frame", "how"),
    [
        (TICKETS, {**NAMED, "methods": ["mnbb"]}),
        (TICKETS.assign(Kategorie=[None, *TICKETS["Kategorie"][1:]]), {**NAMED, "methods": ["mnb"]}),
        (TICKETS, {**NAMED, "methods": ["mnb"], "protocol": "leave-one-group-out"}),
    ],
)
def test_no_error_names_a_folder_that_is_gone(frame: pd.DataFrame, how: dict[str, object]) -> None:
    with pytest.raises(sb.BenchError) as caught:
        sb.run(corpus=frame, **how)
    assert "simplexbench-" not in str(caught.value)


def test_a_frame_is_run_as_init_proposes() -> None:
    result = sb.run(corpus=TICKETS, **NAMED)
    better = ["log-entropy-linear-svm", "tfidf-hellinger", "ngd"]
    assert list(result.scores["cell"].unique()) == ["mnb", "complement-nb", "tfidf-linear-svm", *better]
    assert set(zip(result.significance["a"], result.significance["b"], strict=True)) == {
        (name, "tfidf-linear-svm") for name in ("mnb", "complement-nb", *better)
    }
    raw = result.findings.experiment.raw
    assert raw["text"] == {"lexer": "unicode", "stoplist": "none", "digits": "token", "min_documents": 2}
    assert raw["protocol"] == {"name": "k-fold", "k": 5}
    assert raw["corpus"]["path"] == "frame.jsonl", "the folder is gone"
    own = sb.run(corpus=TICKETS, **NAMED, methods=["mnb"], protocol={"name": "k-fold", "k": 4})
    assert not len(own.significance)
    assert set(own.scores["fold"]) == {"all", *(f"fold-{i}" for i in range(1, 5))}


def test_several_classes_and_given_parts_need_no_protocol() -> None:
    several = TICKETS.assign(tags=[[name, "all"] if i % 3 else [name] for i, name in enumerate(TICKETS["Kategorie"])])
    result = sb.run(corpus=several, text="Long Description", labels="tags", methods=["mnb"])
    assert result.predictions("mnb")["truth"].map(len).max() == 2
    parts = TICKETS.assign(split=np.where(np.arange(40) < 30, "train", "test"))
    assert set(sb.run(corpus=parts, **NAMED, methods=["mnb"]).scores["fold"]) == {"test", "all"}
    raw = sb.run(corpus=parts, **NAMED, methods=["mnb"], protocol={"name": "k-fold", "k": 2}).findings.experiment.raw
    assert "vocabulary_from" not in raw["text"]


def test_a_notebook_has_the_numbers_of_the_command(tmp_path) -> None:
    pages = sb.load("synthetic")
    pages.to_csv(tmp_path / "pages.csv", index=False)
    seen = sample_file(tmp_path / "pages.csv")
    roles = propose_columns(seen, {"text": "text", "label": "label"})
    config = tmp_path / "pages.yaml"
    config.write_text(configuration_text(replace(seen, roles=roles), config))
    pd.testing.assert_frame_equal(sb.run(corpus=pages).scores, sb.run(config).scores)
