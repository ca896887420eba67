"""A checked experiment to plain data and back, so that a run folder is read without the rules of configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from benchmark.config.components import Component, Registries
from benchmark.config.model import Experiment
from benchmark.corpora.reader import CorpusReader
from benchmark.evaluation.metrics import METRICS, DiagnosticMetric, Metric
from benchmark.system.errors import ConfigError
from benchmark.text.lexer import Lexing, Pruning

_TYPES = (Component, CorpusReader, Lexing, Mapping, DiagnosticMetric, Metric, Pruning, Registries)


def experiment_to_data(value: Any) -> Any:
    """Return an experiment, or a part of it, as JSON has it: without classes, and fields that have their default."""
    if is_dataclass(value):
        kept = ((each, getattr(value, each.name)) for each in fields(value) if each.metadata.get("data", True))
        return {each.name: experiment_to_data(item) for each, item in kept if item != each.default}
    if isinstance(value, Mapping):
        return {str(key): experiment_to_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple | frozenset):
        items = sorted(value) if isinstance(value, frozenset) else value
        return [experiment_to_data(item) for item in items]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def experiment_from_data(data: dict[str, Any], config: dict[str, Any]) -> Experiment:
    """Return the experiment that a manifest holds.

    Parameters
    ----------
    data : dict
        From `experiment_to_data`.
    config : dict
        The configuration, as it was merged.

    Raises
    ------
    ValueError
        If the data don't describe an experiment of this version.
    """
    try:
        found: Experiment = _adapter().validate_python({**data, "raw": config})
    except (ValidationError, ConfigError) as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    return replace(found, scorers={name: METRICS.get(name, metric) for name, metric in found.scorers.items()})


@cache
def _adapter() -> TypeAdapter[Any]:
    """Return the adapter that reads and writes experiments by the annotations of their fields.

    The modules of these types are imported here and not in `config.model`, on which results depend: an edit of a
    corpus's reader, say, is no reason to compute everything again.
    """
    adapter: TypeAdapter[Any] = TypeAdapter(Experiment)
    adapter.rebuild(_types_namespace={each.__name__: each for each in _TYPES})
    return adapter
