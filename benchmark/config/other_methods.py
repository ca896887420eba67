"""Methods that a configuration doesn't train on counts: predictions and vectors of files, and sums of other methods."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pyarrow import ArrowException, types

from benchmark.config.components import Component
from benchmark.config.method_sections import method_label
from benchmark.config.model import FUSION_SCALES, FusedMethods, MethodFile, MethodSpec, Representation, VectorFile
from benchmark.config.schema import check_known
from benchmark.corpora.user.text_files import file_digest
from benchmark.representation import WEIGHTINGS
from benchmark.system.errors import DataError
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmark.config.model import Variant
    from benchmark.system.yaml_source import Node

#: Why a method has no decision value for each class.
_VOTES = "lets pairs of classes vote: give it `scheme: one-vs-rest`, which has a decision value for each class"
#: What a column of the corpus may be; its columns are no features. And the beginning of the name of a pandas index.
COLUMN_ROLES = ("label", "labels", "text", "id", "split", "group", "date")
_PANDAS_INDEX = "__index_level_"


class MadeElsewhere:
    """Stands for the classifier of predictions that were made elsewhere."""

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False)


class Fusion(MadeElsewhere):
    """Sum of the decision values of other methods of the run."""


MADE_ELSEWHERE, FUSION = "made elsewhere", "fusion"


def fuse_methods(node: Node, known: Mapping[str, list[MethodSpec]], *, several: bool) -> dict[str, list[MethodSpec]]:
    """Return the candidates of a method that adds the decision values of others, by its label.

    If there is anything to choose, candidates are lists of lists, and all combinations of their methods' candidates.
    """
    label, fuse = method_label(node["name"].value), node["fuse"]
    if label in known:
        raise node.error(f"the method {label!r} is listed twice")
    nested = isinstance(fuse.value[0], list)
    if nested and not several:
        raise fuse.error("`fuse` lists at least two methods of this configuration; lists of them need `choose`")
    return {label: [spec for names in (fuse if nested else [fuse]) for spec in _fusions(names, node, known)]}


def _fusions(names: Node, node: Node, known: Mapping[str, list[MethodSpec]]) -> Iterator[MethodSpec]:
    """Yield the sums of the named methods' decision values, one for each combination of their candidates."""
    for each in names:
        check_known("method of `fuse`:", each.value, known, each)
        if reason := _why_not_fused(known[each.value]):
            raise each.error(f"{each.value!r} {reason}")
    weights = node["weights"].value or [1.0] * len(names.value)
    if len(weights) != len(names.value):
        raise node["weights"].error(f"weights are {len(names.value)} numbers, one for each method, not {weights}")
    added, scale = tuple(map(float, weights)), node["scale"].value or next(iter(FUSION_SCALES))
    for members in itertools.product(*(known[name] for name in names.value)):
        fused = FusedMethods(tuple(names.value), members, added, scale)
        yield MethodSpec(uncounted_points("none"), None, Component.of(FUSION, Fusion, {}), fused=fused)


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


def check_ranked(variant: Variant, metric: str, node: Node) -> None:
    """Refuse methods without a decision value for each class where a metric ranks documents by them."""
    if variant.collection.multilabel or all(len(task.classes) == 2 for task in variant.tasks):
        return
    for entry in variant.entries:
        if any(spec.classifier.resolved.get("scheme") == "one-vs-one" for spec in entry.candidates):
            problem = f"{metric!r} ranks documents by decision values, and {entry.label!r} {_VOTES}"
            raise node["metrics"].error(problem)


def predictions_method(node: Node) -> MethodSpec:
    """Return the method whose predictions stand in a file beside the configuration; ConfigError if it can't be read."""
    elsewhere = Component.of(MADE_ELSEWHERE, MadeElsewhere, {})
    return MethodSpec(uncounted_points("none"), None, elsewhere, predictions=_file(node))


def vector_file(node: Node, corpus: Node) -> VectorFile:
    """Return the vectors of a file beside the configuration; ConfigError if it can't be read."""
    file = node["file"] if isinstance(node.value, dict) else node
    kind = Path(file.value).suffix.lower()
    if (kind == ".npy") != ("ids" in node):
        problem = "a .npy file needs `ids`, a file with an id for each row, one a line"
        raise node.error(f"{problem}; a Parquet file has a column of ids, named by `id`")
    ids = _file(node["ids"]) if "ids" in node else None
    found = VectorFile(_file(file), ids, node["id"].value or "id", node["column"].value or "")
    return found if ids is not None or found.column else _with_features(found, node, corpus)


def _with_features(vectors: VectorFile, node: Node, corpus: Node) -> VectorFile:
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
    read = [name.value for role in COLUMN_ROLES for name in corpus[role].each()]
    known = {*COLUMN_ROLES, vectors.id_column, *read}
    lists = [each.name for each in schema if types.is_list(each.type) or types.is_fixed_size_list(each.type)]
    if lists:
        raise node.error(f"{vectors.file.name}: {lists[0]!r} is a column of lists: name it by `column`")
    kinds = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal
    numbers = [each.name for each in schema if any(is_kind(each.type) for is_kind in kinds)]
    features = [name for name in numbers if name not in known and not name.startswith(_PANDAS_INDEX)]
    if not features:
        raise node.error(f"{vectors.file.name}: has no column of numbers that could be a feature")
    left_out = [name for name in schema.names if name not in features and name != vectors.id_column]
    return replace(vectors, features=tuple(features), left_out=tuple(left_out))


def uncounted_points(normalization: str) -> Representation:
    """Return the representation of a method that takes no counts."""
    return Representation(Component.of("tf", WEIGHTINGS["tf"], {}), normalization, "collection", learns="")


def _file(node: Node) -> MethodFile:
    """Return a file beside the configuration; ConfigError if it can't be read."""
    path = node.folder / Path(node.value).expanduser()
    try:
        return MethodFile(node.value, file_digest(path), path)
    except DataError as error:
        raise node.error(str(error)) from None
