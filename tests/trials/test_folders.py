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

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmark.checks import own_digest
from benchmark.cli import app
from tests.experiment.test_resilience import PREDICTIONS
from tests.strategies import damaged, damaged_trees, one
from tests.trials.limits import assert_clear, examples, trial
from tests.trials.processes import SHAPES, Undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable

    Arrays = dict[str, np.ndarray[Any, Any]]

MANIFEST = "manifest.json"
#: Keys of the manifest that are read again.
READ = ("config", "variants", "failures", "rows", "files")
JSON_TOKENS = [
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"NaN", b"Infinity", b"1e999", b"\\ud800", b"\xff", b"\0",
    b"[" * 5_000, b"9" * 5_000,
]  # fmt: skip
CHANGES: list[Callable[[Any, int], Any]] = [
    lambda array, n: array[:n],
    lambda array, n: array[n:],
    lambda array, _n: array[..., None],
    lambda array, _n: array[::-1],
    np.roll,
    lambda array, _n: np.repeat(array, 2, axis=0),
    lambda array, _n: array.reshape(-1),
    lambda array, n: array.astype(("f8", "i8", "u1", ">f4", "U10")[n % 5]),
    lambda array, n: array.astype(("f8", "i8", "u1", ">f4", "U10")[n % 5]),
    lambda array, _n: array * 0,
    lambda array, n: array * 0 + n,
    lambda array, _n: array * 0 + 10**9,
    lambda array, _n: array * 0 - 1,
    lambda array, _n: array * np.nan,
    lambda _array, _n: np.float64(np.nan),
    lambda _array, n: np.empty((0, n)),
    lambda _array, _n: np.zeros(1 << 20),
    lambda _array, _n: np.array("text"),
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
def archives(draw: Any, content: bytes) -> bytes:
    """Draw the predictions changed: as bytes, or one or two of the arrays; some are missing, or another's."""
    if draw(st.integers(0, 4)) == 1:
        return draw(damaged([content], [b"PK\3\4", b"\0" * 40, b"\x93NUMPY", b"\xff" * 8]))
    with np.load(io.BytesIO(content)) as archive:
        arrays: Arrays = dict(archive)
    for _ in range(one(draw, (1, 1, 2))):
        name, other = one(draw, sorted(arrays)), one(draw, sorted(arrays))
        match draw(st.integers(0, 9)):
            case 0:
                del arrays[name]
            case 1:
                arrays[name], arrays[other] = arrays[other], arrays[name]
            case 2:
                arrays[f"{name}2"] = arrays.pop(name)
            case 3 | 4 if "index" in arrays:
                index = draw(damaged_trees(json.loads(arrays["index"].tobytes()), [["base", "small", "x", 1]]))
                arrays["index"] = np.frombuffer(as_json(index), dtype=np.uint8)
            case _:
                change, n = one(draw, CHANGES), draw(st.integers(1, 99))
                # Not every array can be changed in every way.
                with contextlib.suppress(TypeError, ValueError, IndexError, OverflowError):
                    arrays[name] = np.asarray(change(arrays[name], n))
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def forge(folder: Path) -> bool:
    """Make every digest fit what was changed, where the manifest can still be read."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        manifest["files"][PREDICTIONS] = hashlib.sha256((folder / PREDICTIONS).read_bytes()).hexdigest()
        manifest["digest"] = own_digest(manifest)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
    (folder / MANIFEST).write_bytes(json.dumps(manifest).encode())
    return True


def rows(folder: Path) -> list[tuple[str, ...]]:
    with (folder / "scores.csv").open(newline="", encoding="utf-8") as file:
        return [*map(tuple, csv.reader(file))]


@examples(200, 12)
@given(shape=st.sampled_from(sorted(SHAPES)), name=st.sampled_from([MANIFEST, PREDICTIONS]), data=st.data())
@trial(60)
def test_an_edited_run_gives_a_reason_or_its_own_numbers(
    undisturbed: Callable[[str], Undisturbed], shape: str, name: str, data: Any
) -> None:
    original = undisturbed(shape).run
    cells = st.sampled_from([row[0] for row in rows(original)][1:])
    with tempfile.TemporaryDirectory() as top:
        folder = Path(shutil.copytree(original, Path(top) / "run"))
        changed = {MANIFEST: manifests, PREDICTIONS: archives}[name]
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
