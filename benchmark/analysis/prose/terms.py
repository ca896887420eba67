"""Terms of a run and their meanings: words of the page, and parts of methods' names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.analysis.formatting.units import metric_name
from benchmark.analysis.prose.sentences import sentence, template_value
from benchmark.evaluation.metrics import METRICS, function_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.config.model import Experiment

_CHOICES = {"oracle": "oracle", "cross-validation": "cv", "temporal-holdout": "temporal hold-out"}


def name_parts(methods: Iterable[str]) -> dict[str, str]:
    """Return the parts of some methods' names with their meanings."""
    names, known = [f"-{method}-" for method in methods], template_value("terms.j2", "parts")
    found = {part: text for part, text in known.items() if any(f"-{part}-" in name for name in names)}
    if "linear-svm" in found and not any("-linear-" in name.replace("-linear-svm-", "-") for name in names):
        del found["linear"]
    return found


def terms_of(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    """Return the terms of an experiment and the parts of its methods' names with what they mean."""
    replicated = next(iter(experiment.variants.values())).protocol.tags.replicated
    words = [
        *("method", "95% interval", "p (Holm)"),
        *(("sign test, McNemar's test", "Wilcoxon's test") if experiment.compare else ()),
        *("tie", *(["variant"] if len(experiment.variants) > 1 else [])),
        *(["task"] if len({cell.task for cell in experiment.cells}) > 1 else []),
        *(_CHOICES[choice] for choice in experiment.choices if choice in _CHOICES),
        "split, replicate" if replicated else "split, fold",
    ]
    found = {word: sentence("terms.j2", "meaning", word=word) for word in words}
    for name in experiment.metrics:  # of this package; plug-ins describe themselves in their own files
        if name in METRICS:
            first = (function_of(METRICS[name]).__doc__ or "").split("\n\n")[0]
            found[metric_name(name, {})] = " ".join(first.replace("`", "").split()).removeprefix("Compute ")
    return tuple((found | name_parts(cell.method or cell.id for cell in experiment.cells)).items())
