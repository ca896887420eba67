"""Validate a plug-in's component before a configuration can name it; an error is one line."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from benchmark.config.components import REQUIRED_PARAMETER, component_parameters
from benchmark.corpora.reader import CorpusReader
from benchmark.diagnostics.base import Diagnostic
from benchmark.evaluation.metrics import PAIR_METRICS, TIME_METRICS, DiagnosticMetric, Metric
from benchmark.kernels import Kernel
from benchmark.representation import Weighting
from benchmark.representation.features import FeatureMap
from benchmark.system.tags import problem_with_tags, tags_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.config.registries import Registries

#: Methods that components of each kind must have.
_METHODS: Mapping[str, tuple[str, ...]] = {
    "kernels": ("fit", "transform", "get_params"),
    "classifiers": ("fit", "predict"),
    "protocols": ("splits",),
    "thresholds": ("fit",),
}
#: Another method that a kernel must have, by its tag `solved_by`.
_SOLVED_BY: Mapping[str, str] = {"scores": "scores", "targets": "solve_targets"}
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
        return wrong or _taken_metric(name, known, share=True)
    if not isinstance(component, type):
        return f"each of the {kind} must be a class, not {component!r}"
    missing = [method for method in _METHODS.get(kind, ()) if not callable(getattr(component, method, None))]
    if missing:
        return f"it has no {' and no '.join(missing)}; scikit-learn's BaseEstimator provides get_params"
    if kind in _BASES and not issubclass(component, _BASES[kind]):
        base = _BASES[kind]
        return f"it must be a subclass of {base.__module__}.{base.__name__}"
    if inspect.isabstract(component):
        return f"it lacks {', '.join(sorted(getattr(component, '__abstractmethods__', ())))}"
    wrong = problem_with_tags(component) or _of_parameters(component) or _of_kind(kind, name, component)
    return wrong or (_of_metrics(component, known) if kind == "diagnostics" else "")


def _of_metrics(diagnostic: type[Diagnostic], known: Registries) -> str:
    """Return what is wrong with the metrics that a diagnostic declares, or ""."""
    declared = diagnostic.metrics
    if not isinstance(declared, tuple) or not all(isinstance(each, DiagnosticMetric) for each in declared):
        said = "benchmark.evaluation.metrics.DiagnosticMetric"
        return (
            f"its `metrics` are {declared!r}: must be a tuple of {said}, such as (DiagnosticMetric('length', 'words'),)"
        )
    names = [each.name for each in declared]
    for name in names:
        if names.count(name) > 1:
            return f"it declares the metric {name!r} twice"
    for each in declared:
        there = known.quantities.get(each.name)
        if there is not None and there.unit != each.unit:
            return f"it declares {each.name!r} in {each.unit!r}: a metric of this name exists, in {there.unit!r}"
        if wrong := _taken_metric(each.name, known, share=False):
            return wrong
    return ""


def _taken_metric(name: str, known: Registries, *, share: bool) -> str:
    """Return why a metric's name is taken, or "": by a metric of predictions, or by another diagnostic's number."""
    what = {
        **dict.fromkeys(TIME_METRICS, "seconds of methods"),
        **dict.fromkeys(PAIR_METRICS, "a statistic of two cells"),
    }
    what |= dict.fromkeys(known.quantities, "a number of a diagnostic") if share else {}
    what |= {} if share else dict.fromkeys(known.metrics, "a share of predictions")
    return f"a metric named {name!r} exists, {what[name]}: choose another name" if name in what else ""


def _of_kind(kind: str, name: str, component: Any) -> str:
    if kind == "corpora" and getattr(component, "name", None) != name:
        return f"its `name` is {getattr(component, 'name', None)!r}: must be its name in CORPORA"
    if kind == "classifiers" and tags_of(component).needs_kernel:
        return "a plug-in's classifier takes points: only the support vector machine takes kernels"
    asked = _SOLVED_BY.get(tags_of(component).solved_by, "") if kind == "kernels" else ""
    if asked and not callable(getattr(component, asked, None)):
        return f"its solved_by is {tags_of(component).solved_by!r}, and it has no {asked}"
    if (
        kind == "kernels"
        and issubclass(component, Kernel)
        and (component.from_products, component.transform)
        == (
            Kernel.from_products,
            Kernel.transform,
        )
    ):
        return "a Kernel must define `from_products`, its values from inner products, or else `transform`"
    return ""


def _of_parameters(component: Any) -> str:
    """Return why a configuration can't set the parameters, or "": no names, unknown types, defaults not data."""
    try:
        known = component_parameters(component)
        kinds = {each.kind for each in inspect.signature(component).parameters.values()}
    except (ValueError, TypeError, NameError, AttributeError) as error:
        return f"its constructor's parameters can't be read ({error})"
    if kinds - {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}:
        return "every parameter of its constructor must have a name: no *args, no **kwargs"
    for name, (_, default) in known.items():
        try:
            json.dumps(None if default is REQUIRED_PARAMETER else default, allow_nan=False)
        except (TypeError, ValueError):
            return f"the default of {name} is {default!r}: must be a number, text, a list, or what else YAML can hold"
    return ""
