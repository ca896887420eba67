"""`methods` and `defaults` to entries: the label of each method, and every parameter of each of its candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmark.config.collection import text_from_config
from benchmark.config.components import Component, check_component, component_parameters
from benchmark.config.expansion import expand_method
from benchmark.config.method_schema import DefaultsSection, NamedDefaultsSection
from benchmark.config.model import MethodEntry, MethodSpec, Representation
from benchmark.config.other_methods import fuse_methods, predictions_method, uncounted_points, vector_file
from benchmark.config.schema_errors import validate_section
from benchmark.kernels import is_elementwise_kernel
from benchmark.representation.weightings import FROM_LABELS
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.tags import tags_of
from benchmark.system.user_classes import guarded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmark.config.registries import Registries
    from benchmark.config.schema import ExperimentSection
    from benchmark.corpora.reader import CorpusReader
    from benchmark.system.yaml_source import Node

#: The rule of a method that names none.
DEFAULT_THRESHOLD = "zero"
#: The classifier of a method that names only a kernel.
DEFAULT_KERNEL_CLASSIFIER = "svm"
_REPRESENTATION_KEYS = ("fields", "weighting", "normalization", "idf", "dirichlet", "features")

Settings = dict[str, "Node"]


def list_methods(
    config: ExperimentSection, node: Node, known: Registries, reader: CorpusReader
) -> tuple[MethodEntry, ...]:
    """Return the methods of a configuration, in order.

    Parameters
    ----------
    config : ExperimentSection
    node : Node
        The configuration.
    known : Registries
    reader : CorpusReader
        Reader of the documents that methods classify.
    """
    over = None if config.choose is None else frozenset(config.choose.grid_keys)
    resolver, same = _Resolver(node, known), text_from_config(node["text"], reader)
    candidates: dict[str, list[MethodSpec]] = {}
    first: dict[str, Node] = {}
    entries = node["methods"].each()
    for entry in (each for each in entries if "fuse" not in each):
        for label, settings in expand_method(entry, known, over):
            spec = resolver.spec(settings, entry)
            if "text" in settings:
                spec = replace(spec, text=text_from_config(node["text"].merged(settings["text"]), reader))
            _check_blocks(spec, (spec.text or same).lexing.blocks, settings.get("fields", entry))
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


def _check_blocks(spec: MethodSpec, blocks: Sequence[str], node: Node) -> None:
    """Refuse fields of a method that its text doesn't have."""
    for block, _ in spec.representation.fields:
        if block not in blocks:
            raise node.error(unknown_name("block of terms of `fields`:", block, blocks))


class _Resolver:
    """Fills in the settings that entries leave out, and records which defaults were used.

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
        self._check_named()

    def spec(self, settings: Settings, entry: Node) -> MethodSpec:
        """Return one method with every parameter."""
        if "predictions" in settings:
            return predictions_method(settings["predictions"])
        if "pipeline" in settings:
            pipeline = check_component("pipeline", self._known.pipelines, settings["pipeline"])
            threshold = self._threshold(settings, [pipeline.name], entry)
            return MethodSpec(uncounted_points("none"), None, pipeline, None, threshold)
        classifier = self._classifier(settings, entry)
        kernel = None if "vectors" in settings else self._kernel(settings, classifier, entry)
        names = [each.name for each in (kernel, classifier) if each is not None]
        if "vectors" in settings:
            return self._of_vectors(classifier, settings, entry)
        elementwise = kernel is None or is_elementwise_kernel(kernel.cls)
        takes = elementwise or "threshold" in settings
        threshold = self._threshold(settings, names, entry) if takes else None
        representation = self._representation(settings, kernel, classifier, entry)
        if kernel is not None and not elementwise:
            _check_model(kernel, classifier.build(), threshold, entry)
        return MethodSpec(representation, kernel, classifier, None, threshold)

    def _check_named(self) -> None:
        """Refuse defaults of a kernel or classifier by name that it doesn't have."""
        for key, node in self._named.items():
            validate_section(NamedDefaultsSection, node)
            allowed = [*NamedDefaultsSection.model_fields, *component_parameters(self._known.methods[key])]
            for name, each in node.children.items():
                if name not in allowed:
                    raise each.error(unknown_name(f"parameter of {key!r}:", name, allowed))

    def check_all_used(self, specs: Iterable[MethodSpec]) -> None:
        """Refuse defaults that no method here has as a parameter."""
        parts = [each for spec in specs for each in (spec.kernel, spec.classifier) if each is not None]
        used = {name for each in parts for name in (each.name, *component_parameters(each.cls))}
        components = self._known.methods
        parameters = dict.fromkeys(name for cls in components.values() for name in component_parameters(cls))
        for key, node in (self._named | self._general | self._machine).items():
            if key in used or key in ("name", *DefaultsSection.model_fields):
                continue
            if key in parameters or key in components:
                raise node.error(f"no method here has the parameter {key!r}")
            raise node.error(unknown_name("parameter", key, [*DefaultsSection.model_fields, *parameters, *components]))

    def _of_vectors(self, classifier: Component, settings: Settings, entry: Node) -> MethodSpec:
        """Return the method that classifies vectors of a file, of unit length only where it says so."""
        vectors = settings["vectors"]
        if classifier.tags.needs_kernel:
            raise vectors.error(f"the classifier {classifier.name!r} takes kernel values; vectors need one of points")
        points = uncounted_points(settings["normalization"].value if "normalization" in settings else "none")
        threshold = self._threshold(settings, [classifier.name], entry)
        return MethodSpec(points, None, classifier, None, threshold, vectors=vector_file(vectors, self._corpus))

    def _threshold(self, settings: Settings, names: list[str], entry: Node) -> Component | None:
        """Return the rule of thresholds; None for that of a method that names none."""
        node = self._chosen("threshold", settings, names, DEFAULT_THRESHOLD, entry)
        rule = check_component("threshold", self._known.thresholds, node)
        return None if rule.name == DEFAULT_THRESHOLD else rule

    def _classifier(self, settings: Settings, entry: Node) -> Component:
        node = settings.get("classifier", entry.with_children({}))
        if isinstance(node.value, dict) and "name" not in node:
            of_kernel = "kernel" in settings or ("kernel" in self._general and "classifier" not in settings)
            default = node[""] if "name" not in self._machine else self._machine["name"]
            name = replace(node, value=DEFAULT_KERNEL_CLASSIFIER, children={}) if of_kernel else default
            if name.value is None:
                raise entry.error("this method names neither a kernel nor a classifier, and no default does")
            node = node.with_children({**node.children, "name": name})
        return self._built("classifier", self._known.classifiers, node)

    def _kernel(self, settings: Settings, classifier: Component, entry: Node) -> Component | None:
        takes, node = tags_of(classifier.cls).needs_kernel, settings.get("kernel")
        if node is not None and not takes:
            raise node.error(f"the classifier {classifier.name!r} takes no kernel: {DEFAULT_KERNEL_CLASSIFIER!r} does")
        if not takes:
            return None
        default = self._chosen("kernel", settings, [], "linear", entry)
        return self._built("kernel", self._known.kernels, default)

    def _built(self, what: str, registry: Any, node: Node) -> Component:
        """Return a component with the defaults that apply to its parameters; an error points at the wrong value."""
        children = {"name": node} if isinstance(node.value, str) else node.children
        name = children["name"].value
        allowed = component_parameters(registry[name]) if isinstance(name, str) and name in registry else {}
        taken: dict[Any, Node] = {}
        layers: list[Any] = [self._machine if what == "classifier" else {}, self._general]
        layers += [self._named[name].children] if name in self._named else []
        for layer in layers:
            taken |= {key: layer[key] for key in layer if key in allowed}
        return check_component(what, registry, node.with_children(taken | dict(children)))

    def _representation(
        self, settings: Settings, kernel: Component | None, classifier: Component, entry: Node
    ) -> Representation:
        main = kernel or classifier
        if tags_of(main.cls).sees_counts:
            for key in _REPRESENTATION_KEYS:
                if key in settings:
                    raise settings[key].error(f"{main.name!r} works on the counts: it has no {key}")
            return uncounted_points("none")
        features = self._features(settings, main, entry)
        main = features or main
        names = [main.name, classifier.name]
        normalization = self._chosen("normalization", settings, names, tags_of(main.cls).normalization, entry)
        allowed = tags_of(main.build()).normalizations
        if normalization.value not in allowed:
            what = "features" if features else "kernel" if kernel else "classifier"
            needs = f"the {what} {main.name!r} needs the normalization {' or '.join(allowed)}"
            raise normalization.error(f"{needs}, not {normalization.value!r}: it is defined on the simplex")
        weighting, learns = self._weighting(settings, names, entry)
        counted = "training" if learns else "collection"  # a weighting that learns nothing ignores it
        idf = str(self._chosen("idf", settings, names, counted, entry).value)
        if learns == FROM_LABELS and idf == "collection":
            if "idf" in settings:
                raise settings["idf"].error(f"{weighting.name!r} would learn from labels of test documents")
            idf = "training"
        fields = self._chosen("fields", settings, names, {}, entry)
        weights = tuple((str(name), float(weight)) for name, weight in fields.value.items())
        simplex = kernel is not None and is_elementwise_kernel(kernel.cls) and normalization.value == "l1"
        prior = self._prior(settings, names, entry, main.name if not simplex else "", weighting)
        if fields.value and prior:
            raise fields.error("a Dirichlet prior can't be combined with fields: it is on one multinomial")
        return Representation(weighting, normalization.value, idf, prior, features, weights, learns=learns)

    def _prior(self, settings: Settings, names: list[str], entry: Node, no_simplex: str, weighting: Component) -> float:
        """Return α of a prior on documents; 0 where a default goes to a method that can't have one."""
        alpha = float(self._chosen("dirichlet", settings, names, 0.0, entry).value)
        if alpha and no_simplex:
            if "dirichlet" in settings:
                raise settings["dirichlet"].error(f"dirichlet is for a kernel of l1, not {no_simplex!r}")
            return 0.0
        if alpha and weighting.name not in ("tf", "binary"):
            raise entry.error("a Dirichlet prior needs counts: the weighting tf or binary")
        return alpha

    def _weighting(self, settings: Settings, names: list[str], entry: Node) -> tuple[Component, str]:
        """Return the weighting and what it learns from, see `Weighting.learns`."""
        node = self._chosen("weighting", settings, names, "tf", entry)
        weighting = check_component("weighting", self._known.weightings, node)
        try:
            with guarded([weighting.cls], ConfigError):
                return weighting, str(weighting.build().learns)
        except ConfigError as error:
            raise node.error(str(error)) from None

    def _features(self, settings: Settings, main: Component, entry: Node) -> Component | None:
        """Return the feature map; only classifiers without a kernel that accept any points have one."""
        node = self._chosen("features", settings, [main.name], None, entry)
        takes = main.name not in self._known.kernels and tags_of(main.cls).takes_features
        if node.value is None or ("features" not in settings and not takes):
            return None
        if not takes:
            raise node.error(f"{main.name!r} takes no features")
        return check_component("features", self._known.features, node)

    def _chosen(self, key: str, settings: Settings, names: list[str], default: Any, entry: Node) -> Node:
        """Return the first value set by the method, its kernel's or classifier's defaults, or the general defaults."""
        named = (self._named[name][key] for name in names if name in self._named)
        found = (
            each for each in (settings.get(key), *named, self._general.get(key)) if each and each.value is not None
        )
        return next(found, replace(entry, value=default, children={}))


def _check_model(kernel: Component, classifier: Any, threshold: Component | None, entry: Node) -> None:
    """Refuse settings that a kernel which learns a model of the documents can't use."""
    if tags_of(kernel.cls).solved_by == "targets" and classifier.ridge:
        raise entry.error(f"the kernel {kernel.name!r} differs from class to class: it has no ridge")
    if classifier.scale_C != "one":
        raise entry.error(f"C can't be scaled by the mean of k(x, x) of the kernel {kernel.name!r}")
    if threshold is not None:
        raise entry.error(f"the kernel {kernel.name!r} is not a function of inner products: it has no threshold")
