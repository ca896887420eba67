"""`methods` and `defaults` to entries: the label of each method, and every parameter of each of its candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmark.config.collection import text_from_config
from benchmark.config.components import check_component, component_parameters
from benchmark.config.method_sections import DefaultsSection, NamedDefaultsSection, expand_method
from benchmark.config.model import MethodEntry, MethodSpec, Representation
from benchmark.config.other_methods import fuse_methods, predictions_method, uncounted_points, vector_file
from benchmark.config.schema import check_known, validate_section
from benchmark.kernels import is_elementwise_kernel
from benchmark.representation.weightings import FROM_LABELS
from benchmark.system.errors import ConfigError, did_you_mean
from benchmark.system.user_classes import guarded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmark.config.components import Component, Registries
    from benchmark.config.model import Collection
    from benchmark.config.tasks import ChooseSection
    from benchmark.system.registries import Registry
    from benchmark.system.yaml_source import Node

    Settings = Mapping[str, Node]

#: The rule of a method that names none.
DEFAULT_THRESHOLD = "zero"
#: The classifier of a method that names only a kernel.
DEFAULT_KERNEL_CLASSIFIER = "svm"
_REPRESENTATION_KEYS = ("fields", "weighting", "normalization", "idf", "dirichlet", "features")


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
        self._general = {
            key: each for key, each in defaults.children.items() if key not in self._named and key != "classifier"
        }
        machine = defaults["classifier"]
        self._machine = {"name": machine} if isinstance(machine.value, str) else dict(machine.children)
        for key, node in self._named.items():
            validate_section(NamedDefaultsSection, node)
            allowed = [*NamedDefaultsSection.model_fields, *component_parameters(known.methods[key])]
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

    def _representation(self) -> Representation:
        stated, main = self.stated, self.kernel or self.classifier
        if main.tags.sees_counts:
            for key in _REPRESENTATION_KEYS:
                if key in stated:
                    raise stated[key].error(f"{main.name!r} works on the counts: it has no {key}")
            return uncounted_points("none")
        features = self._features()
        main = features or main
        normalization = self._chosen("normalization", main.tags.normalization)
        if normalization.value not in main.tags.normalizations:
            what = "features" if features else "kernel" if self.kernel else "classifier"
            needs = f"the {what} {main.name!r} needs the normalization {' or '.join(main.tags.normalizations)}"
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
        fields = self._chosen("fields", {})
        prior = self._prior(main.name, normalization.value, weighting)
        if prior and fields.value:
            raise fields.error("a Dirichlet prior can't be combined with fields: it is on one multinomial")
        weights = tuple((str(name), float(weight)) for name, weight in fields.value.items())
        return Representation(weighting, normalization.value, idf, prior, features, weights, learns=learns)

    def _prior(self, main: str, normalization: str, weighting: Component) -> float:
        """Return α of a prior on documents; 0 where a default goes to a method that can't have one."""
        alpha = float(self._chosen("dirichlet", 0.0).value)
        if not (self.kernel and is_elementwise_kernel(self.kernel.cls) and normalization == "l1"):
            if alpha and "dirichlet" in self.stated:
                raise self.stated["dirichlet"].error(f"dirichlet is for a kernel of l1, not {main!r}")
            return 0.0
        if alpha and weighting.name not in ("tf", "binary"):
            raise self.entry.error("a Dirichlet prior needs counts: the weighting tf or binary")
        return alpha

    def _features(self) -> Component | None:
        """Return the feature map; only classifiers without a kernel that accept any points have one."""
        node, takes = self.filled.get("features"), self.kernel is None and self.classifier.tags.takes_features
        if node is not None and not takes and "features" in self.stated:
            raise node.error(f"{(self.kernel or self.classifier).name!r} takes no features")
        return check_component("features", self.known.features, node) if node is not None and takes else None


def _check_model(kernel: Component, classifier: Any, threshold: Component | None, entry: Node) -> None:
    """Refuse settings that need kernel values, where a kernel learns a model of the documents."""
    wrong = {
        "ridge": classifier.ridge and kernel.tags.solved_by == "targets",
        "scale_C": classifier.scale_C != "one",
        "threshold": threshold is not None,
    }
    for key in (key for key, is_set in wrong.items() if is_set):
        raise entry.error(f"the kernel {kernel.name!r} is not a function of inner products: it has no {key}")
