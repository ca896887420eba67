"""Columns of JSON: arrays of objects, and names with dots for what is nested, as in Parquet."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora.user.json_records import column_names, has_column, nested_value, objects_of_array
from benchmark.corpora.user.records import iter_records, read_columns
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [{"id": n, "body": {"text": f"word {n}", "more": {"lang": "en"}}, "a.b": "x", "tags": ["p"]} for n in range(3)]
COLUMNS = ("body.text", "body.more.lang", "a.b", "id")
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=3), each, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet"])
def test_dots_in_a_name_go_into_nested_objects(tmp_path: Path, kind: str) -> None:
    path, out = tmp_path / f"a.{kind}", io.BytesIO()
    pa.parquet.write_table(pa.Table.from_pylist(ROWS), out)
    texts = {"jsonl": "".join(json.dumps(row) + "\n" for row in ROWS), "json": json.dumps(ROWS)}
    path.write_bytes(out.getvalue() if kind == "parquet" else texts[kind].encode())
    assert read_columns(path) == ["id", "body.text", "body.more.lang", "a.b", "tags"]
    assert [values for _, values in iter_records(path, COLUMNS)] == [[f"word {n}", "en", "x", n] for n in range(3)]
    with pytest.raises(DataError, match=r"has no column 'body\.txt'; did you mean 'body\.text'\?"):
        list(iter_records(path, ["body.txt"]))


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_every_column_has_its_value(record: dict[str, object]) -> None:
    for name in column_names({"outer": record} if record else {}):
        found = object()
        assert nested_value({"outer": record}, name, found) is not found


def test_objects_below_ten_others_are_values() -> None:
    record: dict[str, object] = {"k": 1}
    for _ in range(11):
        record = {"k": record}
    (name,) = column_names(record)
    assert name.split(".") == ["k"] * 11
    assert nested_value(record, name) == {"k": 1}
    assert list(column_names({"a": {}, "b": {"c": {}}, "d": [{"e": 1}]})) == ["a", "b.c", "d"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a.b", 1),
        ("a.b.c", 2),
        ("a.c.d", 3),
        ("a.c", {"d": 3}),
        ("b", None),
        ("a.x", None),
        ("a.b.x", None),
        ("", None),
    ],
)
def test_a_key_of_that_very_name_goes_before_nested_ones(name: str, value: object) -> None:
    record = {"a.b": 1, "a": {"b": 9, "b.c": 2, "c": {"d": 3}}, "b": None}
    assert nested_value(record, name) == value
    assert has_column(record, name) == (value is not None or name == "b")


@given(st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=5), st.sampled_from([None, 1, "\t"]))
def test_an_array_gives_the_objects_that_json_gives(rows: list[dict[str, object]], indent: int | str | None) -> None:
    lines = json.dumps(rows, indent=indent).splitlines(keepends=True)
    assert list(objects_of_array("a.json", lines)) == list(enumerate(rows, start=1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"data": [{"text": "x"}]}',
            "a .json file is an array of objects: [{…}, …]; write the array of its key 'data'",
        ),
        ('{"n": 3, "all": [1], "more": [2]}', "write the array of its key 'all' to a file of its own"),
        ('{"n": 3}', "is no array; a .json file is an array of objects: [{…}, …]"),
        ('{"text": "x"}\n{"text": "y"}\n', "has an object a line: name the file .jsonl"),
        ("", "is not valid JSON; a .json file is an array"),
        ("3", "is no array; a .json file is an array"),
        ('[{"text": "x"},\n {"text": }]', ":2: is not valid JSON: Expecting value"),
        ('[{"text": "x"}\n {"text": "y"}]', ":2: is not valid JSON: a comma or ] should follow object 1"),
        ('[{"text": "x"}]\n[]', "and nothing a ]"),
        ('[{"text": "x"}', "a comma or ] should follow object 1"),
        ('[{"text": "x"}, 3]', ":2: is 3, and must be an object"),
    ],
)
def test_what_is_no_array_of_objects_is_refused_with_what_to_do(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DataError) as raised:
        list(iter_records(path, ["text"]))
    assert str(raised.value).startswith(str(path))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
