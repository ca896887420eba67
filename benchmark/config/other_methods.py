"""Methods that a configuration doesn't train on counts: predictions and vectors of files, and sums of other methods."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyarrow import ArrowException, types

from benchmark.classifiers.placeholders import FUSION, MADE_ELSEWHERE, Fusion, MadeElsewhere
from benchmark.config.components import Component, check_component
from benchmark.config.limits import check_cell_name
from benchmark.config.model import FUSION_SCALES, FusedMethods, MethodFile, MethodSpec, Representation, VectorFile
from benchmark.config.schema import as_list
from benchmark.corpora.user.records import read_columns
from benchmark.corpora.user.text_files import file_digest
from benchmark.representation import WEIGHTINGS
from benchmark.system.errors import DataError, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyarrow import DataType

    from benchmark.config.model import Variant
    from benchmark.system.yaml_source import Location, YamlSource

#: The keys of a method that adds the decision values of others: the methods, their weights, on which training documents
#: the standard deviations of their values are measured, and its name.
FUSE_KEY, WEIGHTS_KEY, SCALE_KEY, NAME_KEY = "fuse", "weights", "scale", "name"
FUSION_KEYS = FUSE_KEY, WEIGHTS_KEY, SCALE_KEY, NAME_KEY
#: The largest weight of a method: sums stay finite.
MAX_WEIGHT = 1e12
#: First word of the columns with a score of each class in a file of predictions, as `bench predict` writes them; the
#: first kind found counts.
_SCORES = ("decision", "score", "probability")
#: Why a method has no decision value for each class.
_VOTES = "lets pairs of classes vote: give it `scheme: one-vs-rest`, which has a decision value for each class"
#: The keys of a mapping of `vectors`.
VECTOR_KEYS = ("file", "ids", "id", "column")
#: What a column of the corpus may be; its columns are no features. And the beginning of the name of a pandas index.
COLUMN_ROLES = ("label", "labels", "text", "id", "split", "group", "date")
_PANDAS_INDEX = "__index_level_"


def is_fusion(given: Any) -> bool:
    """Return whether an entry of `methods` adds the decision values of others."""
    return isinstance(given, dict) and FUSE_KEY in given


def add_fusions(
    methods: list[Any],
    places: list[Location],
    candidates: dict[str, list[MethodSpec]],
    source: YamlSource,
    *,
    several: bool,
) -> None:
    """Add the methods that add the decision values of others, once all others are known."""
    for given, place in zip(methods, places, strict=True):
        if is_fusion(given):
            name, specs = _fused(given, candidates, source, place, several=several)
            candidates[name] = specs


def _fused(
    given: dict[str, Any],
    known: Mapping[str, list[MethodSpec]],
    source: YamlSource,
    place: Location,
    *,
    several: bool,
) -> tuple[str, list[MethodSpec]]:
    """Return the name and the candidates of a method that adds the decision values of others.

    If there is anything to choose, candidates are lists of lists, and all combinations of their methods' candidates.
    """
    for key in given:
        if key not in FUSION_KEYS:
            raise source.error((*place, key), unknown_name("key of a fusion:", key, FUSION_KEYS))
    scale = given.get(SCALE_KEY, next(iter(FUSION_SCALES)))
    if not isinstance(scale, str) or scale not in FUSION_SCALES:
        raise source.error((*place, SCALE_KEY), unknown_name("scale", scale, list(FUSION_SCALES)))
    if NAME_KEY not in given:
        raise source.error(place, "give this fusion a `name`")
    check_cell_name(given[NAME_KEY], "a method's name", source, (*place, NAME_KEY))
    if given[NAME_KEY] in known:
        raise source.error(place, f"the method {given[NAME_KEY]!r} is listed twice")
    lists = given[FUSE_KEY] if isinstance(given[FUSE_KEY], list) else []
    lists = lists if several and lists and all(isinstance(own, list) for own in lists) else [lists]
    found = list[MethodSpec]()
    for own in lists:
        found += _fusions(own, given.get(WEIGHTS_KEY), scale, known, source, place)
    return given[NAME_KEY], found


def _fusions(
    names: list[Any],
    weights: Any,
    scale: str,
    known: Mapping[str, list[MethodSpec]],
    source: YamlSource,
    place: Location,
) -> list[MethodSpec]:
    """Return the sums of the named methods' decision values, one for each combination of their candidates."""
    where = (*place, FUSE_KEY)
    if len(names) < 2:
        raise source.error(where, "`fuse` lists at least two methods of this configuration")
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise source.error(where, unknown_name("method of `fuse`:", name, list(known)))
        if reason := _why_not_fused(known[name]):
            raise source.error(where, f"{name!r} {reason}")
    if len(set(names)) < len(names):
        raise source.error(where, "`fuse` lists a method twice")
    given = [1.0] * len(names) if weights is None else weights
    numbers = isinstance(given, list) and all(_is_weight(each) for each in given)
    if not numbers or len(given) != len(names):
        problem = f"weights are {len(names)} positive numbers up to {MAX_WEIGHT:g}, one for each method of `fuse`"
        raise source.error((*place, WEIGHTS_KEY), f"{problem}, not {quote_value(weights)}")
    of_each = [known[name] for name in names]
    added, fusion = tuple(map(float, given)), Component.of(FUSION, Fusion, {})
    return [
        MethodSpec(uncounted_points("none"), None, fusion, fused=FusedMethods(tuple(names), members, added, scale))
        for members in itertools.product(*of_each)
    ]


def _without_scores(file: MethodFile) -> str:
    """Return why a file of predictions has no decision values, or ""; the run refuses one that can't be read."""
    try:
        columns = [] if file.path is None else read_columns(file.path)
    except DataError:
        return ""
    wanted = f"{_SCORES[0]} CLASS"
    return "" if score_columns(columns) else f"has predictions alone: add a column `{wanted}` for each class"


def score_columns(columns: Iterable[Any]) -> list[str]:
    """Return the columns of the first kind of scores that a file of predictions has."""
    names = [str(each) for each in columns]
    kinds = ([name for name in names if name.startswith(f"{word} ")] for word in _SCORES)
    return next(filter(None, kinds), [])


def _is_weight(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 < number <= MAX_WEIGHT


def _why_not_fused(specs: list[MethodSpec]) -> str:
    """Return why a candidate of a method has no decision values that can be added, or ""."""
    for spec in specs:
        if spec.fused is not None:
            return "is a fusion itself: list its methods in its place"
        if spec.predictions is not None or spec.vectors is not None:
            return "was made elsewhere: a fusion trains its methods again, on folds of the training documents"
        if spec.classifier.resolved.get("scheme") == "one-vs-one":
            return _VOTES
    return ""


def check_ranked(variant: Variant, metric: str, source: YamlSource) -> None:
    """Refuse methods without a decision value for each class where a metric ranks documents by them."""
    votes = not variant.collection.multilabel and any(len(task.classes) > 2 for task in variant.tasks)
    for entry in variant.entries:
        for spec in entry.candidates:
            reason = "" if spec.predictions is None else _without_scores(spec.predictions)
            if votes and spec.classifier.resolved.get("scheme") == "one-vs-one":
                reason = _VOTES
            if reason:
                problem = f"the metric {metric!r} ranks documents by decision values, and {entry.label!r} {reason}"
                raise source.error(("metrics",), problem)


def given_predictions(name: Any, source: YamlSource, place: Location) -> MethodSpec:
    """Return the method whose predictions stand in a file beside the configuration; ConfigError if it can't be read."""
    if not isinstance(name, str) or not name:
        raise source.error(place, f"predictions are the name of a file, not {quote_value(name)}")
    elsewhere = Component.of(MADE_ELSEWHERE, MadeElsewhere, {})
    return MethodSpec(uncounted_points("none"), None, elsewhere, predictions=_file(name, source, place))


def vector_file(given: Any, source: YamlSource, place: Location) -> VectorFile:
    """Return the vectors of a file, or of a mapping with the keys `VECTOR_KEYS`; ConfigError if it can't be read."""
    given = {"file": given} if isinstance(given, str) else given
    if not isinstance(given, dict) or not isinstance(given.get("file"), str):
        wanted = "vectors are the name of a file, or a mapping with `file` and `ids`, `id` or `column`"
        raise source.error(place, f"{wanted}, not {quote_value(given)}")
    for key, value in given.items():
        if key not in VECTOR_KEYS:
            raise source.error((*place, key), unknown_name("key of `vectors`:", key, VECTOR_KEYS))
        if not isinstance(value, str):
            raise source.error((*place, key), f"{key} is {quote_value(value)}: must be text")
    kind = Path(given["file"]).suffix.lower()
    if kind == ".npz":
        problem = (
            "a .npz file holds several arrays and is no table of vectors: write one of them by numpy.save, as .npy"
        )
        raise source.error(place, problem)
    if kind == ".npy" and "ids" not in given:
        raise source.error(place, "a .npy file needs `ids`, a file with an id for each row, one a line")
    if kind != ".npy" and "ids" in given:
        raise source.error(place, "`ids` are those of a .npy file; a Parquet file has a column of ids, named by `id`")
    ids = _file(given["ids"], source, place) if "ids" in given else None
    found = VectorFile(_file(given["file"], source, place), ids, given.get("id", "id"), given.get("column", ""))
    return found if ids is not None or found.column else _with_features(found, source, place)


def _with_features(vectors: VectorFile, source: YamlSource, place: Location) -> VectorFile:
    """Return the vectors with the columns that are features: those of numbers which the corpus doesn't read.

    A file that can't be read is refused by the run.
    """
    if vectors.file.path is None:
        return vectors
    from pyarrow import parquet  # noqa: PLC0415 - slow to import, and only for Parquet

    try:
        schema = parquet.read_schema(vectors.file.path)
    except (OSError, ArrowException):
        return vectors
    corpus = source.data.get("corpus")
    roles = [corpus.get(role) for role in COLUMN_ROLES] if isinstance(corpus, dict) else []
    known = {*COLUMN_ROLES, vectors.id_column, *(name for role in roles for name in as_list(role))}
    lists = [each.name for each in schema if types.is_list(each.type) or types.is_fixed_size_list(each.type)]
    if lists:
        name = quote_value(lists[0])
        raise source.error(place, f"{vectors.file.name}: {name} is a column of lists: name it by `column`")
    numbers = [each.name for each in schema if _is_number(each.type)]
    features = [name for name in numbers if name not in known and not name.startswith(_PANDAS_INDEX)]
    if not features:
        raise source.error(place, f"{vectors.file.name}: has no column of numbers that could be a feature")
    left_out = [name for name in schema.names if name not in features and name != vectors.id_column]
    return replace(vectors, features=tuple(features), left_out=tuple(left_out))


def _is_number(kind: DataType) -> bool:
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def uncounted_points(normalization: str) -> Representation:
    """Return the representation of a method that takes no counts."""
    return Representation(check_component("weighting", WEIGHTINGS, "tf"), normalization, "collection", learns="")


def _file(name: str, source: YamlSource, place: Location) -> MethodFile:
    """Return a file beside the configuration; ConfigError if it can't be read."""
    path = source.folder(place) / Path(name).expanduser()
    try:
        return MethodFile(name, file_digest(path), path)
    except DataError as error:
        raise source.error(place, str(error)) from None
