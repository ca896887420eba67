"""The same experiment in another order and another format: the same numbers of each method.

A configuration's keys, its methods, a table's columns and its format decide nothing; the order of documents decides
nothing for methods that count.
"""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from benchmark.experiment import run
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.store import Store
from tests.strategies import one
from tests.trials.limits import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Row = dict[str, Any]

WORDS = {"tea": "leaf cup kettle Earl café", "rum": "cane ship sailor 1700 barrel", "ink": "pen paper quill blot ß"}
#: Methods that count, whose numbers no order of documents decides, and others.
COUNTING = ["mnb", "complement-nb", "ppt", "divergence-bayes", "born"]
METHODS = [
    *COUNTING,
    "ngd",
    "linear-svm",
    "logistic",
    {"kernel": "linear", "weighting": "tfidf", "normalization": "l2"},
]


@st.composite
def documents(draw: Any) -> list[Row]:
    """Draw documents with a class, a part of the split, an id and an idle column; each class has each part."""
    random = Random(draw(st.integers(0, 2**32)))  # noqa: S311 - it keeps no secret
    rows = []
    for number in range(24 + draw(st.integers(0, 24))):
        label = list(WORDS)[number % 3]
        words = random.choices([*WORDS[label].split(), "the", "of", *WORDS[random.choice(list(WORDS))].split()], k=8)
        text = one(draw, (" ", "\n", ", ", "; ")).join(words)
        part = "train" if number < 6 else "test" if number < 12 else random.choice(("train", "test"))
        rows.append({"id": f"d{number}", "text": text, "label": label, "part": part, "idle": f"x{number % 4}"})
    return rows


def as_parquet(rows: list[Row]) -> bytes:
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), out, row_group_size=5)
    return out.getvalue()


FORMATS: dict[str, Callable[[list[Row]], bytes]] = {
    "t.jsonl": lambda rows: "".join(json.dumps(row) + "\n" for row in rows).encode(),
    "t.csv": lambda rows: pd.DataFrame(rows).to_csv(None, index=False, lineterminator="\r\n").encode("utf-8-sig"),
    "t.parquet": as_parquet,
}


def numbers_of(rows: list[Row], name: str, methods: list[Any], order: Random | None, top: Path) -> list[str]:
    """Run an experiment on documents in a file of a format; return each cell's predictions by id, and scores."""
    top.mkdir()
    (top / name).write_bytes(FORMATS[name](rows))
    config = {
        "name": "own",
        "corpus": {"name": "files", "path": name, "id": "id", "split": "part"},
        "text": {"stoplist": "none", "lexer": "unicode", "characters": [3, 4], "min_occurrences": 2},
        "protocol": {"name": "fixed-split", "train": "train", "test": "test"},
        "methods": methods,
        "metrics": ["accuracy", "macro-f1"],
    }
    if order is not None:
        config = shuffled(config, order)
    (top / "own.yaml").write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    done = run.run_and_write(load_checked(top / "own.yaml"), RunContext(Store(top / "store")), folder=top / "run")
    assert not done.results.failures
    found = pd.read_parquet(top / "run" / "predictions.parquet").astype(str).sort_values(["cell", "document"])
    scores = pd.read_csv(top / "run" / "scores.csv", dtype=str)
    named = scores.reindex(columns=sorted(scores)).sort_values(sorted(scores))
    return [each.to_csv(index=False) for each in (found[["cell", "document", "label", "predicted", "tied"]], named)]


def shuffled(tree: Any, order: Random) -> Any:
    """Return plain data with the keys of all mappings in another order."""
    if isinstance(tree, dict):
        return {key: shuffled(tree[key], order) for key in order.sample(list(tree), len(tree))}
    return [shuffled(each, order) for each in tree] if isinstance(tree, list) else tree


@pytest.fixture(autouse=True, scope="module")
def undrawn() -> Iterator[None]:
    """Draw no pictures, which take most of a small run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "cached_pictures", lambda _, specs: {name: {} for name in specs})
        yield


@examples(100)
@given(rows=documents(), names=st.lists(st.sampled_from(sorted(FORMATS)), min_size=2, max_size=2), data=st.data())
def test_another_order_or_format_gives_the_same_numbers(rows: list[Row], names: list[str], data: Any) -> None:
    order = Random(data.draw(st.integers(0, 2**32)))  # noqa: S311 - it keeps no secret
    counting = data.draw(st.booleans())
    methods = order.sample(COUNTING if counting else METHODS, 3)
    columns = order.sample(list(rows[0]), len(rows[0]))
    others = [{name: row[name] for name in columns} for row in (order.sample(rows, len(rows)) if counting else rows)]
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        one_way = numbers_of(rows, names[0], methods, None, top / "one")
        other_way = numbers_of(others, names[1], order.sample(methods, 3), order, top / "other")
        assert one_way == other_way
