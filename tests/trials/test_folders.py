"""Finished runs that somebody has edited: `bench report` and `bench compare` give a reason, or the right numbers."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.evaluation.predictions import RUN_FILES
from benchmark.system.checks import digest_without_itself
from tests.strategies import damaged, damaged_trees, one
from tests.trials.limits import assert_clear, examples, trial
from tests.trials.processes import SHAPES, Undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable

MANIFEST = "manifest.json"
#: Keys of the manifest that are read again.
READ = ("config", "variants", "failures", "rows", "files")
JSON_TOKENS = [
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"NaN", b"Infinity", b"1e999", b"\\ud800", b"\xff", b"\0",
    b"[" * 5_000, b"9" * 5_000,
]  # fmt: skip
#: What may be done to a column of n rows.
CHANGES: list[Callable[[pa.ChunkedArray, int], Any]] = [
    lambda column, _: column[::-1],
    lambda column, n: pa.chunked_array([column.slice(n % len(column)), column.slice(0, n % len(column))]),
    lambda column, _: pa.nulls(len(column), column.type),
    lambda column, _: pa.nulls(len(column)),
    lambda column, _: pa.array(["text"] * len(column)),
    lambda column, _: pa.array(["text"] * len(column)).dictionary_encode(),
    lambda column, n: pa.array([n] * len(column)),
    lambda column, _: pa.array([-1] * len(column)),
    lambda column, _: pa.array([10**18] * len(column)),
    lambda column, _: pa.array([float("nan")] * len(column)),
    lambda column, _: pa.array([["text", "text"]] * len(column)),
    lambda column, _: pa.array([[]] * len(column), pa.list_(pa.string())),
    lambda column, n: pa.array([[n, -1]] * len(column)),
    lambda column, _: column.cast(pa.string()),
    lambda column, _: column.cast(pa.float64()),
    lambda column, _: pa.array([column[0].as_py()] * len(column), column.type),
]


def as_json(tree: Any) -> bytes:
    return json.dumps(tree, default=str, skipkeys=True).encode("utf-8", "surrogatepass")


@st.composite
def manifests(draw: Any, content: bytes) -> bytes:
    """Draw the manifest changed, as bytes or in one of its values, mostly in one that is read again."""
    if draw(st.integers(0, 4)) == 1:
        return draw(damaged([content], JSON_TOKENS))
    tree = json.loads(content)
    key = one(draw, [*(each for each in READ if each in tree), None])
    if key is None:
        return as_json(draw(damaged_trees(tree, tree)))
    return as_json(tree | {key: draw(damaged_trees(tree[key], tree))})


@st.composite
def tables(draw: Any, content: bytes) -> bytes:
    """Draw a table changed: as bytes, or in its columns and rows; some are missing, or another's."""
    if draw(st.integers(0, 4)) == 1 or not content.startswith(b"PAR1"):
        return draw(damaged([content], [b"PAR1", b"\0" * 40, b"PK\3\4", b"\xff" * 8]))
    table = parquet.read_table(pa.BufferReader(content))
    for _ in range(one(draw, (1, 1, 2))):
        name, other = one(draw, table.column_names), one(draw, table.column_names)
        at, n = table.column_names.index(name), draw(st.integers(1, 99))
        # Not every column can be changed in every way.
        with contextlib.suppress(pa.ArrowException, IndexError, ZeroDivisionError):
            match draw(st.integers(0, 9)):
                case 0:
                    table = table.drop_columns(name)
                case 1:
                    table = table.set_column(at, name, table[other])
                case 2:
                    table = table.rename_columns([f"{each}2" if each == name else each for each in table.column_names])
                case 3:
                    table = table.slice(n % (len(table) + 1))
                case 4:
                    table = pa.concat_tables([table, table.slice(0, n)])
                case 5:
                    table = table.replace_schema_metadata()
                case _:
                    table = table.set_column(at, name, one(draw, CHANGES)(table[name], n))
    file = io.BytesIO()
    try:
        parquet.write_table(table, file)
    except pa.ArrowException:
        return b"PAR1"
    return file.getvalue()


def forge(folder: Path) -> bool:
    """Make every digest fit what was changed, where the manifest can still be read."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        manifest["files"] |= {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in RUN_FILES}
        manifest["digest"] = digest_without_itself(manifest)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
    (folder / MANIFEST).write_bytes(json.dumps(manifest).encode())
    return True


def rows(folder: Path) -> list[tuple[str, ...]]:
    with (folder / "scores.csv").open(newline="", encoding="utf-8") as file:
        return [*map(tuple, csv.reader(file))]


@examples(200, 5)
@given(shape=st.sampled_from(sorted(SHAPES)), name=st.sampled_from([MANIFEST, *RUN_FILES]), data=st.data())
@trial(60)
def test_an_edited_run_gives_a_reason_or_its_own_numbers(
    undisturbed: Callable[[str], Undisturbed], shape: str, name: str, data: Any
) -> None:
    original = undisturbed(shape).run
    cells = st.sampled_from([row[0] for row in rows(original)][1:])
    with tempfile.TemporaryDirectory() as top:
        folder = Path(shutil.copytree(original, Path(top) / "run"))
        changed = manifests if name == MANIFEST else tables
        (folder / name).write_bytes(data.draw(changed((original / name).read_bytes())))
        forged = data.draw(st.booleans()) and forge(folder)
        others = [data.draw(cells), data.draw(cells)] if data.draw(st.booleans()) else [original]
        for words in (["report", folder], ["compare", folder, *others]):
            done = CliRunner().invoke(app, [str(word) for word in words])
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                raise done.exception
            if done.exit_code:
                assert_clear(done.output)
        # Who makes all digests fit has made another run, whose numbers are its own.
        assert forged or set(rows(folder)) <= set(rows(original))
