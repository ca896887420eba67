"""A model edited by hand, its digests mended: refused in a line before anything is answered, or still answers."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.model.persistence import ARRAYS_FILE, DESCRIPTION_FILE
from benchmark.system.checks import digest_without_itself
from tests.trials.limits import mostly_slow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Arrays = dict[str, np.ndarray[Any, Any]]
    Model = tuple[dict[str, Any], Arrays]

#: Edits of each model that are tried.
DRAWN = 40
WORDS = {"tea": "leaf cup kettle", "rum": "cane ship sailor", "ink": "pen paper quill"}
#: Methods by a name of what is kept, and whether documents have several classes.
METHODS: dict[str, tuple[Any, bool]] = {
    "machines": ({"kernel": "ngd", "weighting": "tfidf", "normalization": "l1"}, False),
    "machines-of-several": ({"kernel": "ngd", "weighting": "tfidf"}, True),
    "one-vs-rest": ({"kernel": "linear", "classifier": {"scheme": "one-vs-rest"}}, False),
    "hyperplanes": ("linear", True),
    "blocks": ({"classifier": "linear-svm", "weighting": "tfidf", "fields": {"all": 1, "subject": 2}}, False),
    "features": (
        {"classifier": "linear-svm", "features": {"name": "arcsine", "n_components": 4}, "normalization": "l1"},
        False,
    ),
    "mnb": ("mnb", False),
    "mnb-of-several": ("mnb", True),
    "complement-nb": ("complement-nb", False),
    "divergence": ("divergence-bayes", False),
    "thresholds": ({"kernel": "ngd", "threshold": "cross-validated"}, True),
}


def bench(*arguments: object, **options: Any) -> Any:
    return CliRunner().invoke(app, [str(each) for each in arguments], **options)


def documents(*, multilabel: bool) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(0)
    for number in range(36):
        names = [name for name in WORDS if rng.random() < 0.5] if multilabel else [list(WORDS)[number % 3]]
        words = rng.choice([*" ".join(WORDS[name] for name in names).split(), "the", "of"], 6)
        yield {"subject": words[0], "body": " ".join(words), "label": ";".join(names)}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Model]:
    """What a model's files hold, by its name in `METHODS`; fitted once."""
    found: dict[str, Model] = {}

    def made(name: str) -> Model:
        if name not in found:
            folder, (method, multilabel) = tmp_path_factory.mktemp(name), METHODS[name]
            rows = list(documents(multilabel=multilabel))
            with (folder / "mine.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
            corpus = {"name": "files", "path": "mine.csv", "text": ["subject", "body"]}
            corpus |= {"labels": "label", "separator": ";"} if multilabel else {"label": "label"}
            text = {"stoplist": "none"} | ({"fields": ["all", "subject"]} if name == "blocks" else {})
            protocol = {"name": "k-fold", "k": 3, "stratified": False}
            config = {"name": "mine", "corpus": corpus, "text": text, "protocol": protocol, "methods": [method]}
            (folder / "mine.yaml").write_text(json.dumps(config))
            named = bench("fit", folder / "mine.yaml", "--cell", "?", "--out", folder / "model").stderr
            cell = named.partition("(allowed: ")[2].partition(")")[0]
            result = bench("fit", folder / "mine.yaml", "-c", cell, "--out", folder / "model", "--probability")
            assert result.exit_code == 0, result.stderr
            with np.load(folder / "model" / ARRAYS_FILE) as archive:
                found[name] = json.loads((folder / "model" / DESCRIPTION_FILE).read_text()), dict(archive)
        about, arrays = found[name]
        return json.loads(json.dumps(about)), {key: each.copy() for key, each in arrays.items()}

    return made


def predicted(about: dict[str, Any], arrays: Arrays, folder: Path) -> Any:
    """What comes out of a model with these files, its digests right."""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    if isinstance(about.get("files"), dict) and ARRAYS_FILE in about["files"]:
        about["files"][ARRAYS_FILE] = hashlib.sha256(file.getvalue()).hexdigest()
    about["digest"] = digest_without_itself(about)
    folder.mkdir(exist_ok=True)
    (folder / ARRAYS_FILE).write_bytes(file.getvalue())
    (folder / DESCRIPTION_FILE).write_text(json.dumps(about))
    (folder / "new.jsonl").write_text('{"subject": "leaf", "body": "leaf cup pen ship"}\n{"subject": "", "body": ""}\n')
    return bench("predict", folder, folder / "new.jsonl", "--top-terms", 2)


def check(result: Any, folder: Path, what: str) -> None:
    """Fail unless it answers with numbers, or says in a line which file holds what is wrong."""
    case = f"{what}: exit {result.exit_code}, {result.stderr[:300]}, {result.exception!r}"
    if result.exit_code == 0:
        rows = list(csv.DictReader(result.stdout.splitlines()))
        numbers = [row[name] for row in rows for name in row if name.startswith(("decision", "probability"))]
        assert len(rows) == 2, case
        assert all(math.isfinite(float(each)) for each in numbers if each), case
        return
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (3, "", 1), case
    assert result.stderr.startswith((f"bench: {folder / DESCRIPTION_FILE}: ", f"bench: {folder / ARRAYS_FILE}: ")), case
    assert result.stderr.endswith("; fit it again\n"), case


def edits(array: np.ndarray[Any, Any]) -> Iterator[tuple[str, Any]]:
    """An array edited in ways of all kinds."""
    if array.dtype.kind in "iuf":
        for value in (-1, 0, 1, 1e6, 2**40, 1e308, np.nan, np.inf, -np.inf):
            if array.dtype.kind == "f" or np.iinfo(array.dtype).min <= value <= np.iinfo(array.dtype).max:
                yield f"all {value:g}", np.full_like(array, value)
                if array.size > 1:
                    changed = array.copy()
                    changed.flat[array.size // 2] = value
                    yield f"one {value:g}", changed
    if array.ndim:
        yield "one less", array[:-1]
        yield "one more", np.concatenate([array, array[:1]])
        yield "empty", array[:0]
        yield "reversed", array[::-1].copy()
        yield "flat", array.ravel() if array.ndim > 1 else array[:, None]
    for kind in ("f4", "f8", "i8", ">i4", "c16", "?", "S30"):
        yield f"as {kind}", np.zeros(array.shape, dtype=kind)
    yield "another dimension", array[None]


def some(cases: list[Any]) -> list[Any]:
    """Draw some of many cases, always the same: all of them take minutes, and have been tried."""
    rng = np.random.default_rng(0)
    return [cases[place] for place in rng.permutation(len(cases))[:DRAWN]]


@pytest.mark.parametrize("name", mostly_slow(METHODS, 4))
def test_an_edited_array_is_refused_in_a_line_or_still_answers(
    name: str, model: Callable[[str], Model], tmp_path: Path
) -> None:
    _, whole = model(name)
    check(predicted(*model(name), tmp_path), tmp_path, "as it was")
    cases = [(key, *edit) for key, array in whole.items() for edit in edits(array)]
    for key, what, edited in some(cases):
        about, arrays = model(name)
        check(predicted(about, arrays | {key: edited}, tmp_path), tmp_path, f"{name}: {key} {what}")
    for key in whole:
        about, arrays = model(name)
        del arrays[key]
        check(predicted(about, arrays, tmp_path), tmp_path, f"{name}: no {key}")
    result = predicted(about, whole | {"fitted/more": np.zeros(1)}, tmp_path)
    assert f"{ARRAYS_FILE}: fitted/more is no array of such a model" in result.stderr


#: Of the first two, a model may well name others than the test's texts have.
NEEDS_OTHER_TEXTS = (("about", "text"), ("lexing", "fields"), ("digest",))
VALUES: list[Any] = [None, True, -1, 10**6, 1e308, "", "x", [], ["x"], [[0]], {}, {"name": "x"}, ["y", "y"]]


def keys_of(facts: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in facts.items():
        yield (*above, key)
        if isinstance(value, dict) and key != "config":
            yield from keys_of(value, (*above, key))


@pytest.mark.parametrize("name", ["machines", "blocks", "features", "thresholds"])
def test_an_edited_key_is_refused_in_a_line_or_still_answers(
    name: str, model: Callable[[str], Model], tmp_path: Path
) -> None:
    keys = [each for each in keys_of(model(name)[0]) if each not in NEEDS_OTHER_TEXTS]
    for (*above, key), value in some([(each, value) for each in keys for value in (..., *VALUES)]):
        about, arrays = model(name)
        place = about
        for each in above:
            place = place[each]
        place[key] = value
        if value is ...:
            del place[key]
        check(predicted(about, arrays, tmp_path), tmp_path, f"{name}: {'.'.join([*above, key])} = {value!r}")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("fitted/support", 1_000_000, "fitted/support has the index 1000000, but there are {s} support vectors"),
        ("fitted/support", -1, "fitted/support has the index -1, but there are {s} support vectors"),
        ("fitted/counts.indices", -1, "fitted/counts.indices has the index -1, but there are {V} words"),
        ("fitted/counts.indices", 1_000_000, "fitted/counts.indices has the index 1000000, but there are {V} words"),
        ("fitted/counts.data", -1, "fitted/counts.data holds -1: must lie between 1 and 1e+100"),
        ("fitted/bounds", 99999, "fitted/bounds must ascend from 0 to {s}, the number of support vectors"),
        ("fitted/n_support", 1_000_000, "fitted/n_support sums to 3000000, but fitted/support has {n} entries"),
        ("fitted/rho", np.nan, "fitted/rho holds nan: must lie between -1e+100 and 1e+100"),
        ("weighting/n_features_in_", 6, "weighting/n_features_in_ is 6, but the vocabulary has {V} words"),
    ],
)
def test_the_message_says_which_array_and_why(
    key: str, value: float, message: str, model: Callable[[str], Model], tmp_path: Path
) -> None:
    about, arrays = model("machines")
    sizes = {"s": len(arrays["fitted/counts.indptr"]) - 1, "n": len(arrays["fitted/support"])}
    sizes["V"] = int(arrays["weighting/n_features_in_"])
    arrays[key] = np.full_like(arrays[key], value)
    result = predicted(about, arrays, tmp_path)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == f"bench: {tmp_path / ARRAYS_FILE}: {message.format(**sizes)}; fit it again\n"
