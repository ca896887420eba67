"""Terms of a run and their meanings: words of the page, and parts of methods' names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.analysis.formatting.units import metric_name
from benchmark.evaluation.metrics import METRICS, function_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.config.model import Experiment

#: Words of every page.
_WORDS = {
    "method": "weighting, normalization and kernel or classifier, with parameters: a row of the table of results",
    "95% interval": "of 100 intervals from samples like this one, about 95 contain the true value",
    "p (Holm)": "p-value after Holm's correction for the number of tests",
}
#: Words of pages with planned comparisons.
_WORDS_OF_TESTS = {
    "sign test, McNemar's test": "whether one of two methods is right more often, on documents on which exactly one "
    "of them is; both exact tests have the same p-values",
    "Wilcoxon's test": "whether one of two methods scores higher over the splits; needs at least six of them",
}
#: Words of pages whose experiment has them.
_SPLITS = {
    True: {"split, replicate": "one division into training and test documents; one of repeated random divisions"},
    False: {"split, fold": "one division into training and test documents; one of those that test each document once"},
}
_CHOICES = {
    "oracle": ("oracle", "parameters chosen on the test documents themselves: optimistic, and unattainable in use"),
    "cross-validation": ("cv", "parameters chosen by cross-validation on the training documents"),
    "temporal-holdout": ("temporal hold-out", "parameters chosen on the newest training documents"),
}
#: Parts of method names, in full.
NAME_PARTS = {
    "tf": "counts",
    "tfidf": "counts times idf",
    "l1": "scaled to sum 1",
    "l2": "scaled to length 1",
    "ngd": "negative geodesic distance",
    "ned": "negative Euclidean distance",
    "linear": "inner product",
    "rbf": "Gaussian kernel, radial basis function",
    "mnb": "multinomial naive Bayes",
    "ppt": "PDF projection theorem",
    "eef": "exponentially embedded family",
    "linear-svm": "linear support vector machine",
    "hellinger": "square roots of the weights",
}


def name_parts(methods: Iterable[str]) -> dict[str, str]:
    """Return the parts of some methods' names with their meanings."""
    names = [f"-{method}-" for method in methods]
    found = {part: text for part, text in NAME_PARTS.items() if any(f"-{part}-" in name for name in names)}
    if "linear-svm" in found and not any("-linear-" in name.replace("-linear-svm-", "-") for name in names):
        del found["linear"]
    return found


def terms_of(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    """Return the terms of an experiment and the parts of its methods' names with what they mean."""
    words = _WORDS | (_WORDS_OF_TESTS if experiment.compare else {})
    words["tie"] = "equal votes or scores, which a stated rule breaks"
    words |= {"variant": "the same experiment with other settings"} if len(experiment.variants) > 1 else {}
    words |= {"task": "a choice of classes"} if len({cell.task for cell in experiment.cells}) > 1 else {}
    words |= dict(_CHOICES[choice] for choice in experiment.choices if choice in _CHOICES)
    words |= _SPLITS[next(iter(experiment.variants.values())).protocol.tags.replicated]
    for name in experiment.metrics:  # of this package; plug-ins describe themselves in their own files
        if name in METRICS:
            first = (function_of(METRICS[name]).__doc__ or "").split("\n\n")[0]
            words[metric_name(name, {})] = " ".join(first.replace("`", "").split()).removeprefix("Compute ")
    return tuple((words | name_parts(cell.method or cell.id for cell in experiment.cells)).items())
