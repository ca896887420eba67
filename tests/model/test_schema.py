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
from benchmark.model.persistence import ARRAYS_FILE, DESCRIPTION_FILE, read_model
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import DataError
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


def written(about: dict[str, Any], arrays: Arrays, folder: Path) -> None:
    """Write a model with these files, its digests right."""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    if isinstance(about.get("files"), dict) and ARRAYS_FILE in about["files"]:
        about["files"][ARRAYS_FILE] = hashlib.sha256(file.getvalue()).hexdigest()
    about["digest"] = digest_without_itself(about)
    folder.mkdir(exist_ok=True)
    (folder / ARRAYS_FILE).write_bytes(file.getvalue())
    (folder / DESCRIPTION_FILE).write_text(json.dumps(about))


def predicted(about: dict[str, Any], arrays: Arrays, folder: Path) -> Any:
    """What comes out of a model with these files, its digests right."""
    written(about, arrays, folder)
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


def of(place: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Set a key of a description, which is named with the keys above it; ... leaves it out."""

    def change(about: dict[str, Any]) -> None:
        *above, key = place.split(".")
        for each in above:
            about = about[each]
        about[key] = value
        if value is ...:
            del about[key]

    return change


READING = {"encoding": "utf-8", "delimiter": None, "header": True, "id": None}
ARCSINE = {"name": "arcsine", "n_components": 4}
KEYS: list[tuple[str, str, Any, str]] = [
    ("machines", "classes", ["a", "b", "a"], "classes has a name twice"),
    ("machines", "classes", ["a"], "classes has one name: a document that has one class needs two to choose from"),
    ("machines", "about.name", ..., "the key about.name is missing"),
    ("machines", "about.more", 1, "the key about.more is unknown"),
    ("machines", "about.documents", -1, "about.documents is -1: "),
    ("machines", "about.text", [], "about.text is []: "),
    ("machines", "about.precision", "half", "about.precision is 'half': "),
    ("machines", "about.chosen", {"by": "oracle", "candidate": -1, "of": 3}, "about.chosen.candidate is -1: "),
    ("machines", "about.chosen", {"by": "oracle", "candidate": 0, "of": 0}, "about.chosen.of is 0: "),
    ("machines", "about.reading", READING | {"encoding": "utf-9"}, "about.reading.encoding"),
    ("machines", "about.reading", READING | {"delimiter": ";;"}, "about.reading.delimiter is ';;': "),
    ("machines", "about.reading", READING | {"delimiter": '"'}, "about.reading.delimiter is "),
    ("machines", "about.reading", READING | {"delimiter": "\n"}, "about.reading.delimiter is "),
    ("machines", "lexing.fields", [], "lexing.fields and lexing.ngrams must not be empty, and name nothing twice"),
    ("machines", "lexing.fields", ["all", "all"], "lexing.fields and lexing.ngrams must not be empty"),
    ("machines", "lexing.ngrams", [1, 1], "lexing.fields and lexing.ngrams must not be empty"),
    ("machines", "lexing.format", "book", "lexing.format is 'book': must be one of "),
    ("machines", "kind", "thresholds", "kind is 'thresholds', and threshold 'zero'"),
    ("machines", "threshold", "cross-validated", "kind is 'machines', and threshold 'cross-validated'"),
    ("machines", "kind", "points", "kind is 'points', and kernel 'ngd'"),
    ("machines", "kind", "hyperplanes", "kind is 'hyperplanes', but several is false"),
    ("machines", "kind", "forest", "kind is 'forest': "),
    ("machines", "kernel", "hp-top", "kernel is 'hp-top', which saved models don't support"),
    ("machines", "kernel", None, "doesn't describe a model of this version"),
    ("machines", "files", {}, "files is {}: "),
    ("machines", "plugins", [{"file": "../a.py", "module": "a", "files": {"a.py": "0"}}], "plugins.0.file is "),
    ("machines", "plugins", [{"file": "a.py", "module": "a", "files": {}}], "plugins.0.files is {}: "),
    ("machines", "representation.dirichlet", -0.5, "representation.dirichlet is -0.5: "),
    ("machines", "representation.dirichlet", 1e30, "representation.dirichlet is 1e+30: "),
    ("machines", "representation.normalization", "l3", "representation.normalization is 'l3': "),
    ("machines", "representation.idf", "none", "representation.idf is 'none': "),
    ("machines", "several", True, "kind is 'machines'|bounds"),
    ("hyperplanes", "threshold", "cross-validated", "kind is 'hyperplanes', and threshold 'cross-validated'"),
    ("thresholds", "several", False, "threshold is 'cross-validated', but several is false: only several classes have"),
    ("blocks", "representation.fields", {"all": -1.0, "subject": 2.0}, "representation.fields.all is -1.0: "),
    ("blocks", "representation.fields", {"all": 1.0, "subject": 2e12}, "representation.fields.subject is 2"),
    ("features", "representation.normalization", "l2", "representation.normalization: 'arcsine' takes "),
    ("mnb", "representation.features", ARCSINE, "representation.features: the classifier 'mnb' takes none"),
    ("mnb", "kind", "machines", "kind is 'machines', and kernel None"),
    ("mnb", "kind", "hyperplanes", "kind is 'hyperplanes', and kernel None"),
]


@pytest.mark.parametrize(("name", "place", "value", "message"), KEYS)
def test_the_message_says_which_key_and_why(
    name: str, place: str, value: Any, message: str, model: Callable[[str], Model], tmp_path: Path
) -> None:
    about, arrays = model(name)
    of(place, value)(about)
    written(about, arrays, tmp_path)
    with pytest.raises(DataError) as caught:
        read_model(tmp_path)
    assert any(each in str(caught.value) for each in message.split("|"))
    assert str(caught.value).startswith(
        str(tmp_path / ("model.npz" if "bounds" in str(caught.value) else "model.json"))
    )


ALLOWED: list[tuple[str, str, Any]] = [
    ("machines", "about.documents", 0),
    ("machines", "about.chosen", {"by": "oracle", "candidate": 0, "of": 1}),
    ("machines", "about.reading", READING | {"delimiter": "|", "id": "name", "encoding": "cp1252"}),
    ("machines", "about.reading", ...),
    ("machines", "threshold", ...),
    ("machines", "representation.dirichlet", 0.0),
    ("mnb", "representation.fields", {}),
    ("blocks", "representation.fields", {"all": 0.0, "subject": 1e12}),
]


@pytest.mark.parametrize(("name", "place", "value"), ALLOWED)
def test_values_at_their_limits_are_read(
    name: str, place: str, value: Any, model: Callable[[str], Model], tmp_path: Path
) -> None:
    about, arrays = model(name)
    of(place, value)(about)
    written(about, arrays, tmp_path)
    assert read_model(tmp_path).classes == tuple(about["classes"])


def changed(place: int, value: Any) -> Callable[[Any], Any]:
    """Return a change of one value of an array."""

    def change(array: Any) -> Any:
        array.flat[place] = value
        return array

    return change


def doubled(array: Any) -> Any:
    """Let an array have its first row twice."""
    return np.concatenate([array[:1], array[:1], array[2:]])


ARRAYS: list[tuple[str, str, Callable[[Any], Any], str]] = [
    ("machines", "columns", lambda each: each[::-1].copy(), "columns must ascend"),
    ("machines", "columns", doubled, "columns must ascend"),
    ("machines", "columns", lambda each: each[:2], "columns has 2 of 3 classes"),
    ("machines", "columns", changed(2, 3), "columns has the index 3, but there are 3 classes"),
    ("machines", "everywhere", changed(0, True), "everywhere is true for a class that was learned"),
    ("machines", "everywhere", lambda each: each[:2], "everywhere is of shape (2,): must be (3,)"),
    ("machines", "sigmoids", lambda each: each[:2], "sigmoids is of shape (2, 2): must be (3, 2)"),
    ("machines", "sigmoids", lambda each: each[:, :1], "sigmoids is of shape (3, 1): must be (3, 2)"),
    ("machines", "sigmoids", np.ravel, "sigmoids has 1 dimensions: must have 2"),
    ("machines", "sigmoids", changed(0, 2e100), "sigmoids holds 2e+100: must lie between -1e+100 and 1e+100"),
    ("machines", "sigmoids", changed(0, -2e100), "sigmoids holds -2e+100: must lie between -1e+100 and 1e+100"),
    ("machines", "sigmoids", lambda each: each.astype("f4"), "sigmoids is of type float32: must be numbers"),
    (
        "machines",
        "vocabulary",
        lambda each: np.concatenate([each, np.frombuffer(b"\xff", "u1")]),
        "vocabulary isn't UTF-8",
    ),
    (
        "machines",
        "weighting/factors_",
        changed(0, -1.0),
        "weighting/factors_ holds -1.0: must lie between 0 and 1e+100",
    ),
    ("machines", "weighting/factors_", lambda each: each[1:], "weighting/factors_ is of shape"),
    ("machines", "weighting/mean_length_", lambda each: each - 1e6, "weighting/mean_length_ holds -"),
    ("machines", "fitted/bounds", changed(0, 1), "fitted/bounds must ascend from 0 to"),
    ("machines", "fitted/bounds", changed(1, 10**6), "fitted/bounds must ascend from 0 to"),
    ("machines", "fitted/bounds", lambda each: each[1:], "fitted/bounds is of shape (3,): must be (4,)"),
    ("machines", "fitted/counts.indptr", changed(0, 1), "fitted/counts.indptr must ascend from 0 to"),
    ("machines", "fitted/counts.indptr", changed(-1, 0), "fitted/counts.indptr must ascend from 0 to"),
    ("machines", "fitted/counts.shape", changed(0, 1), "fitted/counts.shape is [1, "),
    ("machines", "fitted/counts.shape", changed(1, 1), "fitted/counts.shape is ["),
    ("machines", "fitted/counts.data", changed(0, 0), "fitted/counts.data holds 0: must lie between 1 and"),
    ("machines", "fitted/n_support", changed(0, -1), "fitted/n_support holds -1: must lie between 0 and"),
    ("machines", "fitted/n_support", lambda each: each[:2], "fitted/n_support is of shape (2,): must be (3,)"),
    ("machines", "fitted/support", doubled, "fitted/support has a support vector twice for one machine"),
    ("machines", "fitted/rho", lambda each: each[:2], "fitted/rho is of shape (2,): must be (3,)"),
    (
        "machines-of-several",
        "fitted/bounds",
        lambda each: np.repeat(each, 2),
        "fitted/bounds is of shape (4,): must be (2,)",
    ),
    ("machines-of-several", "fitted/rho", lambda each: each[:1], "fitted/rho is of shape (1,): must be (3,)"),
    ("machines-of-several", "sigmoids", lambda each: each[:2], "sigmoids is of shape (2, 2): must be (3, 2)"),
    ("one-vs-rest", "fitted/rho", lambda each: each[:1], "fitted/rho is of shape (1,): must be (3,)"),
    ("hyperplanes", "fitted/weights", lambda each: each[:, :2], "fitted/weights is of shape"),
    ("hyperplanes", "fitted/offsets", lambda each: each[:2], "fitted/offsets is of shape (2,): must be (3,)"),
    ("blocks", "weighting/block_of_", changed(0, 2), "weighting/block_of_ has the index 2, but there are 2 blocks"),
    (
        "blocks",
        "weighting/block_weights_",
        changed(0, -1),
        "weighting/block_weights_ holds -1.0: must lie between 0 and",
    ),
    ("blocks", "weighting/block_norm_", lambda _: np.array("l3"), "weighting/block_norm_ is 'l3': must be one of "),
    (
        "blocks",
        "weighting/block_norm_",
        lambda _: np.array(1.0),
        "weighting/block_norm_ is of type float64: must be a word",
    ),
    ("features", "fitted/0.coef_", lambda each: each[:, 1:], "fitted/0.coef_ is of shape"),
    (
        "mnb",
        "fitted/0.class_log_prior_",
        lambda each: each[:2],
        "fitted/0.class_log_prior_ is of shape (2,): must be (3,)",
    ),
    ("mnb", "fitted/0.classes_", changed(0, 3), "fitted/0.classes_ has the index 3, but there are 3 own classes"),
    ("mnb", "fitted/0.classes_", changed(0, 1), "fitted/0.classes_ has a class twice"),
    ("mnb-of-several", "fitted/2.classes_", changed(0, 1), "fitted/2.classes_ has a class twice"),
    (
        "mnb-of-several",
        "fitted/1.classes_",
        changed(0, 2),
        "fitted/1.classes_ has the index 2, but there are 2 own classes",
    ),
    (
        "divergence",
        "fitted/0.centroids_",
        changed(0, 0.0),
        "fitted/0.centroids_ holds 0.0: must lie between 4.94066e-324 and",
    ),
    ("thresholds", "fitted/kind", lambda _: np.array("points"), "fitted/kind is 'points', and kernel 'ngd'"),
    (
        "thresholds",
        "fitted/kind",
        lambda _: np.array("trees"),
        "fitted/kind is 'trees': must be machines, hyperplanes or points",
    ),
    (
        "thresholds",
        "fitted/at_least_one",
        np.logical_not,
        "fitted/at_least_one doesn't belong to the threshold 'cross-validated'",
    ),
    ("thresholds", "fitted/thresholds", lambda each: each[:2], "fitted/thresholds is of shape (2,): must be (3,)"),
]


@pytest.mark.parametrize(("name", "key", "change", "message"), ARRAYS)
def test_the_message_says_which_array_does_not_fit(
    name: str,
    key: str,
    change: Callable[[Any], Any],
    message: str,
    model: Callable[[str], Model],
    tmp_path: Path,
) -> None:
    about, arrays = model(name)
    arrays[key] = np.asarray(change(arrays[key]))
    written(about, arrays, tmp_path)
    with pytest.raises(DataError) as caught:
        read_model(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / ARRAYS_FILE}: {message}")


def test_arrays_at_their_limits_are_read(model: Callable[[str], Model], tmp_path: Path) -> None:
    for name, key, value in (
        ("machines", "weighting/factors_", 0.0),
        ("machines", "sigmoids", 1e100),
        ("machines", "sigmoids", -1e100),
        ("blocks", "weighting/block_weights_", 0.0),
    ):
        about, arrays = model(name)
        arrays[key].flat[0] = value
        written(about, arrays, tmp_path / f"{name}-{key.replace('/', '-')}-{value}")
        read_model(tmp_path / f"{name}-{key.replace('/', '-')}-{value}")
