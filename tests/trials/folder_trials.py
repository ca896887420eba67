"""Finished runs that somebody has edited: `bench report` and `bench compare` give a reason, or the right numbers."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mutations import mutated_bytes, mutated_tree
from processes import PREDICTIONS, SHAPES, undisturbed
from trial import Family, chance, unclear
from typer.testing import CliRunner

from benchmark.checks import own_digest
from benchmark.cli import app

if TYPE_CHECKING:
    from random import Random

    Arrays = dict[str, np.ndarray[Any, Any]]

MANIFEST = "manifest.json"
#: How many of the edits come with digests that fit.
FORGED = 0.5
EVERY = sorted(SHAPES)
JSON_TOKENS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b"null",
    b"NaN",
    b"Infinity",
    b"1e999",
    b"\\ud800",
    b"\xff",
    b"\0",
    b"[" * 5_000,
    b"9" * 5_000,
]


Change = Callable[[Any, int], Any]
CHANGES: list[Change] = [
    lambda array, n: array[:n],
    lambda array, n: array[n:],
    lambda array, _n: array[..., None],
    lambda array, _n: array[::-1],
    np.roll,
    lambda array, _n: np.repeat(array, 2, axis=0),
    lambda array, _n: array.reshape(-1),
    lambda array, _n: array.astype(np.float64),
    lambda array, _n: array.astype(np.int64),
    lambda array, _n: array.astype(np.uint8),
    lambda array, _n: array.astype(">f4"),
    lambda array, _n: array.astype("U10"),
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


def _manifest(random: Random, folder: Path) -> None:
    """The manifest changed, as bytes or in one of its values, mostly in one that is read again."""
    path = folder / MANIFEST
    text = path.read_bytes()
    if random.random() < 0.2:
        path.write_bytes(mutated_bytes(random, text, JSON_TOKENS))
        return
    tree = json.loads(text)
    key = random.choice([each for each in ("config", "variants", "failures", "rows", "files") if each in tree] + [None])
    if key is None:
        tree = mutated_tree(random, tree, tree)
    else:
        tree[key] = mutated_tree(random, {"it": tree[key]}, tree).get("it")
    path.write_bytes(json.dumps(tree, default=str, skipkeys=True).encode("utf-8", "surrogatepass"))


def _arrays(random: Random, arrays: Arrays) -> Arrays:
    """One or two of the arrays changed in type, shape, or content; or missing, or in another's place."""
    for _ in range(random.choice((1, 1, 2))):
        name, other = random.choice(list(arrays)), random.choice(list(arrays))
        kind = random.random()
        if kind < 0.1:
            del arrays[name]
        elif kind < 0.2:
            arrays[name], arrays[other] = arrays[other], arrays[name]
        elif kind < 0.3:
            arrays[f"{name}2"] = arrays.pop(name)
        elif kind < 0.5 and "index" in arrays:
            index = mutated_tree(random, json.loads(arrays["index"].tobytes()), [["base", "small", "x", 1]])
            arrays["index"] = np.frombuffer(json.dumps(index, default=str, skipkeys=True).encode(), dtype=np.uint8)
        else:
            with contextlib.suppress(
                TypeError, ValueError, IndexError, OverflowError
            ):  # not every array can be changed in every way
                arrays[name] = np.asarray(random.choice(CHANGES)(arrays[name], random.randrange(1, 100)))
    return arrays


def _predictions(random: Random, folder: Path) -> None:
    """The archive changed."""
    path = folder / PREDICTIONS
    content = path.read_bytes()
    if random.random() < 0.2:
        content = mutated_bytes(random, content, [b"PK\3\4", b"\0" * 40, b"\x93NUMPY", b"\xff" * 8])
    else:
        with np.load(io.BytesIO(content)) as archive:
            arrays = _arrays(random, dict(archive))
        file = io.BytesIO()
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        content = file.getvalue()
    path.write_bytes(content)


def _forged(folder: Path) -> bool:
    """Make every digest fit what was changed, where the manifest can still be read."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        manifest["files"][PREDICTIONS] = hashlib.sha256((folder / PREDICTIONS).read_bytes()).hexdigest()
        manifest["digest"] = own_digest(manifest)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
    (folder / MANIFEST).write_bytes(json.dumps(manifest).encode())
    return True


def _rows(path: Path) -> set[tuple[str, ...]]:
    with path.open(newline="", encoding="utf-8") as file:
        return set(map(tuple, csv.reader(file)))


def edited(number: int) -> str | None:
    """Edit manifest or predictions of a run, and let two commands read it; each number is one of the run, or none."""
    random, shape = chance("folder", number), EVERY[number % len(EVERY)]
    original = undisturbed(shape) / "run"
    top = Path(tempfile.mkdtemp())
    folder = Path(shutil.copytree(original, top / "run"))
    (_manifest if number % 2 else _predictions)(random, folder)
    forged = random.random() < FORGED and _forged(folder)
    cells = [row[0] for row in csv.reader((original / "scores.csv").open(encoding="utf-8"))][1:]
    a, b = random.choice(cells), random.choice(cells)
    commands = [("report", folder), random.choice([("compare", folder, a, b), ("compare", folder, original)])]
    for words in commands:
        done = CliRunner().invoke(app, [str(word) for word in words])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if done.exit_code and (problem := unclear(done.output)):
            return f"bench {words[0]}: {problem}"
    # Who makes all digests fit has made another run, whose numbers are its own.
    other = set() if forged else _rows(folder / "scores.csv") - _rows(original / "scores.csv")
    shutil.rmtree(top)
    return f"{len(other)} other numbers, such as {min(other)}" if other else None


FAMILIES = [Family("folders", "a run edited by hand: a reason, or the same numbers", edited, 200, 12, 60)]
