"""Validate a plug-in's component before a configuration can name it; an error is one line."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from benchmark.config.components import REQUIRED_PARAMETER, component_parameters
from benchmark.corpora.reader import CorpusReader
from benchmark.diagnostics.base import Diagnostic
from benchmark.evaluation.metrics import PAIR_METRICS, TIME_METRICS, Metric
from benchmark.representation import Weighting
from benchmark.representation.features import FeatureMap
from benchmark.system.tags import DEFAULT_TAGS, Tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmark.config.registries import Registries

#: Methods that components of each kind must have.
_METHODS: Mapping[str, tuple[str, ...]] = {
    "kernels": ("fit", "transform", "get_params"),
    "classifiers": ("fit", "predict"),
    "protocols": ("splits",),
    "thresholds": ("fit",),
}
_BASES: Mapping[str, type[Any]] = {
    "diagnostics": Diagnostic,
    "corpora": CorpusReader,
    "weightings": Weighting,
    "features": FeatureMap,
}


def component_problem(kind: str, name: str, component: Any, known: Registries) -> str:
    """Return why a component can't be used, or "".

    Parameters
    ----------
    kind, name : str
    component : object
    known : Registries
        Components so far, whose names of metrics are taken.
    """
    if kind == "metrics":
        wrong = "" if isinstance(component, Metric) else "a metric is a benchmark.evaluation.metrics.Metric"
        return wrong or _taken_metric(name, known.quantities)
    base = _BASES.get(kind, object)
    if not isinstance(component, type) or not issubclass(component, base):
        return f"each of the {kind} must be a subclass of {base.__module__}.{base.__name__}, not {component!r}"
    missing = [method for method in _METHODS.get(kind, ()) if not callable(getattr(component, method, None))]
    if missing:
        return f"it has no {' and no '.join(missing)}; scikit-learn's BaseEstimator provides get_params"
    try:
        if kind == "corpora" and (called := getattr(component, "name", None)) != name:
            return f"its `name` is {called!r}: must be its name in CORPORA"
        declared = [each.name for each in component.metrics] if issubclass(component, Diagnostic) else []
        return _of_parameters(component) or "".join(_taken_metric(each, known.metrics) for each in declared)
    except (ValueError, TypeError, NameError, AttributeError) as error:
        return f"its attributes or its constructor's parameters can't be read ({error})"


def _taken_metric(name: str, others: Iterable[str]) -> str:
    taken = name in (*TIME_METRICS, *PAIR_METRICS, *others)
    return f"a metric named {name!r} exists: choose another name" if taken else ""


def _of_parameters(component: Any) -> str:
    """Return why tags or parameters can't be read, or "": no names, unknown types, defaults not data."""
    if not isinstance(tags := getattr(component, "tags", DEFAULT_TAGS), Tags):
        return f"its `tags` are {tags!r}: must be a {Tags.__module__}.Tags, such as Tags(normalization='l1')"
    kinds = {each.kind for each in inspect.signature(component).parameters.values()}
    if kinds - {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}:
        return "every parameter of its constructor must have a name: no *args, no **kwargs"
    for name, (_, default) in component_parameters(component).items():
        try:
            json.dumps(None if default is REQUIRED_PARAMETER else default, allow_nan=False)
        except (TypeError, ValueError):
            return f"the default of {name} is {default!r}: must be a number, text, a list, or what else YAML can hold"
    return ""
