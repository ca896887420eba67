"""What a plug-in's component must be before it is named: what is wrong with one that isn't, in a line."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from benchmark.config.components import REQUIRED, parameters
from benchmark.corpora.reader import CorpusReader
from benchmark.evaluation.metrics import CLOCK, OF_PAIRS, MeasuredQuantity, Metric
from benchmark.kernels import Kernel
from benchmark.measures.base import Measure
from benchmark.tags import problem_with_tags, tags_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.registries import Registries

#: What each kind must be able to do, and the class that one of it is derived from, if it must be.
_METHODS: Mapping[str, tuple[str, ...]] = {
    "kernels": ("fit", "transform", "get_params"),
    "classifiers": ("fit", "class_scores", "get_params"),
    "protocols": ("splits",),
}
#: What a kernel must be able to do beside, by its tag `solved_by`.
_SOLVED_BY: Mapping[str, str] = {"scores": "scores", "targets": "solve_targets"}
_BASES: Mapping[str, type[Any]] = {"measures": Measure, "corpora": CorpusReader}


def objection(kind: str, name: str, component: Any, known: Registries) -> str:
    """Return why a component can't be used, or "".

    Parameters
    ----------
    kind, name : str
    component : object
    known : Registries
        What is there already, whose metrics it must not take for its own.
    """
    if kind == "metrics":
        wrong = "" if isinstance(component, Metric) else "a metric is a benchmark.evaluation.metrics.Metric"
        return wrong or _taken_metric(name, known, share=True)
    if not isinstance(component, type):
        return f"one of the {kind} is a class, not {component!r}"
    missing = [method for method in _METHODS.get(kind, ()) if not callable(getattr(component, method, None))]
    if missing:
        return f"it has no {' and no '.join(missing)}; scikit-learn's BaseEstimator gives get_params"
    if kind in _BASES and not issubclass(component, _BASES[kind]):
        base = _BASES[kind]
        return f"it must be a subclass of {base.__module__}.{base.__name__}"
    if inspect.isabstract(component):
        return f"it lacks {', '.join(sorted(getattr(component, '__abstractmethods__', ())))}"
    wrong = problem_with_tags(component) or _of_parameters(component) or _of_kind(kind, name, component)
    return wrong or (_of_metrics(component, known) if kind == "measures" else "")


def _of_metrics(measure: type[Measure], known: Registries) -> str:
    """Return what is wrong with the metrics that a diagnostic declares, or ""."""
    declared = measure.metrics
    if not isinstance(declared, tuple) or not all(isinstance(each, MeasuredQuantity) for each in declared):
        said = "benchmark.evaluation.metrics.MeasuredQuantity"
        return (
            f"its `metrics` are {declared!r}: must be a tuple of {said}, such as (MeasuredQuantity('length', 'words'),)"
        )
    names = [each.name for each in declared]
    for name in names:
        if names.count(name) > 1:
            return f"it declares the metric {name!r} twice"
    for each in declared:
        there = known.quantities.get(each.name)
        if there is not None and there.unit != each.unit:
            return f"it declares {each.name!r} in {each.unit!r}: a metric of this name is there, in {there.unit!r}"
        if wrong := _taken_metric(each.name, known, share=False):
            return wrong
    return ""


def _taken_metric(name: str, known: Registries, *, share: bool) -> str:
    """Return why a metric's name is taken, or "": by a metric of predictions, or by another diagnostic's number."""
    what = {**dict.fromkeys(CLOCK, "seconds of methods"), **dict.fromkeys(OF_PAIRS, "a number of two cells")}
    what |= dict.fromkeys(known.quantities, "a number of a measure") if share else {}
    what |= {} if share else dict.fromkeys(known.metrics, "a share of predictions")
    return f"a metric named {name!r} is there already, {what[name]}: choose another name" if name in what else ""


def _of_kind(kind: str, name: str, component: Any) -> str:
    if kind == "corpora" and getattr(component, "name", None) != name:
        return f"its `name` is {getattr(component, 'name', None)!r}: must be the name that it is called by"
    if kind == "classifiers" and tags_of(component).needs_kernel:
        return "a classifier of one's own takes points; kernels have the support vector machine"
    asked = _SOLVED_BY.get(tags_of(component).solved_by, "") if kind == "kernels" else ""
    if asked and not callable(getattr(component, asked, None)):
        return f"its solved_by is {tags_of(component).solved_by!r}, and it has no {asked}"
    if (
        kind == "kernels"
        and issubclass(component, Kernel)
        and (component.link, component.transform)
        == (
            Kernel.link,
            Kernel.transform,
        )
    ):
        return "a Kernel has a `link`, its values by inner products, or else a `transform` of its own"
    return ""


def _of_parameters(component: Any) -> str:
    """Return why a configuration can't set the parameters, or "": no names, unknown types, defaults not data."""
    try:
        known = parameters(component)
        kinds = {each.kind for each in inspect.signature(component).parameters.values()}
    except (ValueError, TypeError, NameError, AttributeError) as error:
        return f"its constructor's parameters can't be read ({error})"
    if kinds - {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}:
        return "every parameter of its constructor must have a name: no *args, no **kwargs"
    for name, (_, default) in known.items():
        try:
            json.dumps(None if default is REQUIRED else default, allow_nan=False)
        except (TypeError, ValueError):
            return f"the default of {name} is {default!r}: must be what a configuration can say, a number, text, a list"
    return ""
