"""`methods` and `defaults` to entries: the label of each method, and every parameter of each of its candidates."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pyarrow import ArrowException, types

from benchmark.config.collection import text_from_config
from benchmark.config.components import Component, check_component, component_parameters
from benchmark.config.method_sections import DefaultsSection, expand_method
from benchmark.config.model import (
    FusedMethods,
    MethodEntry,
    MethodFile,
    MethodSpec,
    Representation,
    VectorFile,
)
from benchmark.config.schema import check_known, id_of_title, validate_section
from benchmark.corpora.user.text_files import file_digest
from benchmark.kernels import is_elementwise_kernel
from benchmark.representation import WEIGHTINGS
from benchmark.representation.weightings import FROM_LABELS
from benchmark.system.errors import ConfigError, DataError, did_you_mean
from benchmark.system.tags import Tags
from benchmark.system.user_classes import guarded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchmark.config.components import Registries, Registry
    from benchmark.config.model import Collection, Variant
    from benchmark.config.tasks import ChooseSection
    from benchmark.system.yaml_source import Node

    Settings = Mapping[str, Node]

#: The rule of a method that names none.
DEFAULT_THRESHOLD = "zero"
#: The classifier of a method that names only a kernel.
DEFAULT_KERNEL_CLASSIFIER = "svm"
#: Keys that every method of weighted counts has.
_OF_POINTS = ("fields", "weighting", "normalization", "idf")
#: Why a method has no decision value for each class.
_VOTES = "lets pairs of classes vote: give it `scheme: one-vs-rest`, which has a decision value for each class"
#: What a column of the corpus may be; its columns are no features. And the beginning of the name of a pandas index.
COLUMN_ROLES = ("label", "labels", "text", "id", "split", "group", "date")
_PANDAS_INDEX = "__index_level_"


class Untrained:
    """Stands for the classifier of predictions that were made elsewhere, and of sums of other methods."""

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False)


def list_methods(
    choose: ChooseSection | None, node: Node, known: Registries, collection: Collection
) -> tuple[MethodEntry, ...]:
    """Return the methods of a configuration, in order.

    Parameters
    ----------
    choose : ChooseSection or None
    node : Node
        The configuration.
    known : Registries
    collection : Collection
        The documents that methods classify.
    """
    over = None if choose is None else frozenset(choose.grid_keys)
    resolver, reader = _Resolver(node, known), collection.reader
    candidates: dict[str, list[MethodSpec]] = {}
    first: dict[str, Node] = {}
    entries = node["methods"].each()
    for entry in (each for each in entries if "fuse" not in each):
        for label, settings in expand_method(entry, known, over):
            spec = resolver.spec(settings, entry)
            if "text" in settings:
                spec = replace(spec, text=text_from_config(node["text"].merged(settings["text"]), reader))
            blocks = (spec.text or collection.text).lexing.blocks
            for block, _ in spec.representation.fields:
                check_known("block of terms of `fields`:", block, blocks, settings.get("fields", entry))
            if spec.threshold is not None and not reader.multilabel:
                at = settings.get("threshold", entry)
                raise at.error("a threshold needs documents that may have several classes")
            if first.setdefault(label, entry) is not entry or (label in candidates and over is None):
                raise entry.error(f"the method {label!r} is listed twice")
            candidates.setdefault(label, []).append(spec)
    resolver.check_all_used(spec for specs in candidates.values() for spec in specs)
    for entry in (each for each in entries if "fuse" in each):
        candidates |= fuse_methods(entry, candidates, several=over is not None)
    if over is not None and all(len(specs) == 1 for specs in candidates.values()):
        raise node["choose"].error("nothing to choose: no kernel, classifier or key of `grid_keys` has a list")
    return tuple(MethodEntry(label, tuple(specs)) for label, specs in candidates.items())


class _Resolver:
    """Fills in the settings that entries leave out.

    A setting comes from the entry, or else from the defaults of its kernel or classifier by name, or else from all.
    """

    def __init__(self, config: Node, known: Registries) -> None:
        defaults, self._corpus, self._known = config["defaults"], config["corpus"], known
        self._named = {key: each for key, each in defaults.children.items() if key in known.methods}
        self._general = dict(defaults.without("classifier", *self._named).children)
        machine = defaults["classifier"]
        self._machine = {"name": machine} if isinstance(machine.value, str) else dict(machine.children)
        for key, node in self._named.items():
            validate_section(DefaultsSection, node)
            allowed = [*_OF_POINTS, "dirichlet", "features", "threshold", *component_parameters(known.methods[key])]
            for name, each in node.children.items():
                check_known(f"parameter of {key!r}:", name, allowed, each)

    def spec(self, stated: Settings, entry: Node) -> MethodSpec:
        """Return one method with every parameter."""
        if "predictions" in stated:
            return predictions_method(stated["predictions"])
        kernel = None
        if "pipeline" in stated:
            classifier = check_component("pipeline", self._known.pipelines, stated["pipeline"])
        else:
            classifier = self._classifier(stated, entry)
            kernel = None if "vectors" in stated else self._kernel(stated, classifier, entry)
        by_name = self._by_name(classifier.name), self._by_name(kernel.name) if kernel else {}
        layers = self._general, *by_name, stated
        filled = {key: each for layer in layers for key, each in layer.items() if each.value is not None}
        method = _Method(self._known, entry, stated, filled, kernel, classifier)
        if "pipeline" in stated:
            return MethodSpec(uncounted_points("none"), None, classifier, None, method.threshold())
        if "vectors" in stated:
            return method.of_vectors(self._corpus)
        return method.of_counts()

    def check_all_used(self, specs: Iterable[MethodSpec]) -> None:
        """Refuse defaults that no method here has as a parameter."""
        parts = [each for spec in specs for each in (spec.kernel, spec.classifier) if each is not None]
        used = {name for each in parts for name in (each.name, *component_parameters(each.cls))}
        allowed = ["name", *DefaultsSection.model_fields, *sorted(used)]
        for key, node in (self._named | self._general | self._machine).items():
            if key not in allowed:
                raise node.error(f"no method here has the parameter {key!r}{did_you_mean(key, allowed)}")

    def _classifier(self, stated: Settings, entry: Node) -> Component:
        node = stated.get("classifier", entry.with_children({}))
        if isinstance(node.value, dict) and "name" not in node:
            name = self._machine.get("name")
            if "kernel" in stated or ("kernel" in self._general and "classifier" not in stated):
                name = replace(node, value=DEFAULT_KERNEL_CLASSIFIER, children={})
            if name is None:
                raise entry.error("this method names neither a kernel nor a classifier, and no default does")
            node = node.with_children({**node.children, "name": name})
        return self._built("classifier", self._known.classifiers, node)

    def _kernel(self, stated: Settings, classifier: Component, entry: Node) -> Component | None:
        """Return the kernel of a classifier that takes one."""
        if classifier.tags.needs_kernel:
            usual = self._general.get("kernel")
            default = usual if usual and usual.value else replace(entry, value="linear", children={})
            return self._built("kernel", self._known.kernels, stated.get("kernel", default))
        if "kernel" in stated:
            problem = f"the classifier {classifier.name!r} takes no kernel: {DEFAULT_KERNEL_CLASSIFIER!r} does"
            raise stated["kernel"].error(problem)
        return None

    def _built(self, what: str, registry: Registry, node: Node) -> Component:
        """Return a component with the defaults that apply to its parameters; an error points at the wrong value."""
        name = node.value if isinstance(node.value, str) else str(node["name"].value)
        defaults = {**(self._machine if what == "classifier" else {}), **self._general}
        return check_component(what, registry, node, {**defaults, **self._by_name(name)})

    def _by_name(self, name: str) -> Settings:
        """Return the defaults of a kernel or classifier."""
        return self._named[name].children if name in self._named else {}


@dataclass(frozen=True)
class _Method:
    """A kernel and classifier, what their entry states, and the same with the defaults that apply to them."""

    known: Registries
    entry: Node
    stated: Settings
    filled: Settings
    kernel: Component | None
    classifier: Component

    def of_counts(self) -> MethodSpec:
        """Return the method that classifies counts, weighted or not."""
        elementwise = self.kernel is None or is_elementwise_kernel(self.kernel.cls)
        threshold = self.threshold() if elementwise or "threshold" in self.stated else None
        representation = self._representation()
        if self.kernel is not None and not elementwise:
            _check_model(self.kernel, self.classifier.build(), threshold, self.entry)
        return MethodSpec(representation, self.kernel, self.classifier, None, threshold)

    def of_vectors(self, corpus: Node) -> MethodSpec:
        """Return the method that classifies vectors of a file, of unit length only where it says so."""
        vectors, stated = self.stated["vectors"], self.stated.get("normalization")
        if self.classifier.tags.needs_kernel:
            problem = f"the classifier {self.classifier.name!r} takes kernel values; vectors need one of points"
            raise vectors.error(problem)
        points, file = uncounted_points(stated.value if stated else "none"), vector_file(vectors, corpus)
        return MethodSpec(points, None, self.classifier, None, self.threshold(), vectors=file)

    def threshold(self) -> Component | None:
        """Return the rule of thresholds; None for that of a method that names none."""
        rule = check_component("threshold", self.known.thresholds, self._chosen("threshold", DEFAULT_THRESHOLD))
        return None if rule.name == DEFAULT_THRESHOLD else rule

    def _chosen(self, key: str, default: Any) -> Node:
        """Return a setting, or a default at the line of the entry."""
        return self.filled.get(key) or replace(self.entry, value=default, children={})

    def _takes(self, main: Component) -> tuple[str, ...]:
        """Return the keys of a representation that the method has."""
        if main.tags.sees_counts:
            return ()
        if self.kernel is None:
            return (*_OF_POINTS, "features") if main.tags.takes_features else _OF_POINTS
        return (*_OF_POINTS, "dirichlet") if is_elementwise_kernel(self.kernel.cls) else _OF_POINTS

    def _representation(self) -> Representation:
        stated, main = self.stated, self.kernel or self.classifier
        takes = self._takes(main)
        for key in (key for key in (*_OF_POINTS, "features", "dirichlet") if key in stated and key not in takes):
            raise stated[key].error(f"{main.name!r} takes no {key}")
        if not takes:
            return uncounted_points("none")
        features = None
        if "features" in takes and "features" in self.filled:
            features = check_component("features", self.known.features, self.filled["features"])
        main = features or main
        normalization = self._chosen("normalization", main.tags.normalization)
        if normalization.value not in main.tags.normalizations:
            needs = f"{main.name!r} needs the normalization {' or '.join(main.tags.normalizations)}"
            raise normalization.error(f"{needs}, not {normalization.value!r}: it is defined on the simplex")
        weighting = check_component("weighting", self.known.weightings, self._chosen("weighting", "tf"))
        with guarded([weighting.cls], ConfigError):
            learns = str(weighting.build().learns)
        # A weighting that learns nothing ignores `idf`.
        idf = str(self._chosen("idf", "training" if learns else "collection").value)
        if learns == FROM_LABELS and idf == "collection":
            if "idf" in stated:
                raise stated["idf"].error(f"{weighting.name!r} would learn from labels of test documents")
            idf = "training"
        fields = self._chosen("fields", {}).value
        prior = float(self._chosen("dirichlet", 0.0).value) if "dirichlet" in takes else 0.0
        if prior and normalization.value != "l1":
            if "dirichlet" in stated:
                raise stated["dirichlet"].error("a Dirichlet prior needs the normalization l1")
            prior = 0.0
        if prior and (fields or weighting.name not in ("tf", "binary")):
            raise self.entry.error(
                "a Dirichlet prior is on the counts of one multinomial: weighting tf or binary, no fields"
            )
        weights = tuple((str(name), float(weight)) for name, weight in fields.items())
        return Representation(weighting, normalization.value, idf, prior, features, weights, learns=learns)


def _check_model(kernel: Component, classifier: Any, threshold: Component | None, entry: Node) -> None:
    """Refuse settings that need kernel values, where a kernel learns a model of the documents."""
    wrong = {
        "ridge": classifier.ridge and kernel.tags.solved_by == "targets",
        "scale_C": classifier.scale_C != "one",
        "threshold": threshold is not None,
    }
    for key in (key for key, is_set in wrong.items() if is_set):
        raise entry.error(f"the kernel {kernel.name!r} is not a function of inner products: it has no {key}")


def check_ranked(variant: Variant, metric: str, node: Node) -> None:
    """Refuse methods without a decision value for each class where a metric ranks documents by them."""
    if variant.collection.multilabel or all(len(task.classes) == 2 for task in variant.tasks):
        return
    for entry in variant.entries:
        if any(spec.classifier.resolved.get("scheme") == "one-vs-one" for spec in entry.candidates):
            problem = f"{metric!r} ranks documents by decision values, and {entry.label!r} {_VOTES}"
            raise node["metrics"].error(problem)


# --- Sums of methods, and files ---


def fuse_methods(node: Node, known: Mapping[str, list[MethodSpec]], *, several: bool) -> dict[str, list[MethodSpec]]:
    """Return the candidates of a method that adds the decision values of others, by its label.

    If there is anything to choose, candidates are lists of lists, and all combinations of their methods' candidates.
    """
    label, fuse = id_of_title(node["name"].value), node["fuse"]
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
    added, scale = tuple(map(float, weights)), node["scale"].value or "out-of-fold"
    for members in itertools.product(*(known[name] for name in names.value)):
        fused = FusedMethods(tuple(names.value), members, added, scale)
        yield MethodSpec(uncounted_points("none"), None, Component.of("fusion", Untrained, {}), fused=fused)


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


def predictions_method(node: Node) -> MethodSpec:
    """Return the method whose predictions stand in a file beside the configuration; ConfigError if it can't be read."""
    elsewhere = Component.of("made elsewhere", Untrained, {})
    return MethodSpec(uncounted_points("none"), None, elsewhere, predictions=_file(node))


def vector_file(node: Node, corpus: Node) -> VectorFile:
    """Return the vectors of a file beside the configuration; ConfigError if it can't be read."""
    file = node["file"] if isinstance(node.value, dict) else node
    kind = Path(file.value).suffix.lower()
    if kind == ".npz":
        raise node.error("a .npz file holds several arrays and is no table: write one of them by numpy.save, as .npy")
    if (kind == ".npy") != ("ids" in node):
        raise node.error("a .npy file needs `ids`, a file with an id a line; a Parquet file has a column named by `id`")
    ids = _file(node["ids"]) if "ids" in node else None
    found = VectorFile(_file(file), ids, node["id"].value or "id", node["column"].value or "")
    return found if ids is not None or found.column else _with_features(found, node, corpus)


def _with_features(vectors: VectorFile, node: Node, corpus: Node) -> VectorFile:
    """Return the vectors with the columns that are features: those of numbers which the corpus doesn't read.

    A file that can't be read is refused by the run.
    """
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
