"""Terms of a run and their meanings: kernels, classifiers, weightings, normalizations, and words of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.units import metric_name
from benchmark.evaluation.metrics import METRICS, function_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
#: Abbreviations of kernels in full.
_IN_FULL = {"ngd": "negative geodesic distance", "ned": "negative Euclidean distance", "linear": "inner product"}
_IN_FULL |= {"rbf": "Gaussian kernel, radial basis function"}
#: Parts of cell names, in full.
NAME_PARTS = {
    "tf": "counts",
    "tfidf": "counts times idf",
    "l1": "scaled to sum 1",
    "l2": "scaled to length 1",
    **_IN_FULL,
    "mnb": "multinomial naive Bayes",
    "ppt": "PDF projection theorem",
    "eef": "exponentially embedded family",
    "linear-svm": "linear support vector machine",
    "hellinger": "square roots of the weights",
}
_NORMALIZATIONS = {"l1": "scaled to sum 1: a point of the simplex", "l2": "scaled to length 1", "none": "as it is"}


def terms_of(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    """Return the terms of an experiment with what they mean; plug-ins describe themselves in their own files."""
    words = _WORDS | (_WORDS_OF_TESTS if experiment.compare else {})
    words["tie"] = "equal votes or scores, which a stated rule breaks"
    words |= {"variant": "the same experiment with other settings"} if len(experiment.variants) > 1 else {}
    words |= {"task": "a choice of classes"} if len({cell.task for cell in experiment.cells}) > 1 else {}
    words |= dict(_CHOICES[choice] for choice in experiment.choices if choice in _CHOICES)
    words |= _SPLITS[next(iter(experiment.variants.values())).protocol.tags.replicated]
    metrics = (each for name in experiment.metrics for each in _of_metric(name))
    return tuple(dict([*words.items(), *metrics, *_components(experiment)]).items())


def _of_metric(name: str) -> Iterator[tuple[str, str]]:
    """Yield the name of a metric of this package as tables write it, and its meaning."""
    if name in METRICS:
        meaning = {name: function_of(METRICS[name])}
        yield from ((metric_name(name, {}), text.removeprefix("Compute ")) for _, text in _described(meaning, name))


def _components(experiment: Experiment) -> Iterator[tuple[str, str]]:
    # The run folder alone decides what a page says: components of this package are described, and no others.
    from benchmark.classifiers import CLASSIFIERS  # noqa: PLC0415 - slow to import
    from benchmark.diagnostics import DIAGNOSTICS  # noqa: PLC0415
    from benchmark.kernels import KERNELS  # noqa: PLC0415
    from benchmark.representation import WEIGHTINGS  # noqa: PLC0415

    specs = [spec for each in experiment.variants.values() for entry in each.entries for spec in entry.candidates]
    for spec in specs:
        representation = spec.representation
        yield from _described(WEIGHTINGS, representation.weighting.name)
        if representation.normalization in _NORMALIZATIONS:
            yield f"{representation.normalization} normalization", _NORMALIZATIONS[representation.normalization]
        if spec.kernel is not None:
            yield from _described(KERNELS, spec.kernel.name)
        yield from _described(CLASSIFIERS, spec.classifier.name)
    for diagnostic in experiment.diagnostics:
        yield from _described(DIAGNOSTICS, diagnostic.name)


def _described(known: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the first paragraph of the docstring of a component of this package, abbreviations in full."""
    if name in known:
        means = " ".join((known[name].__doc__ or "").strip().split("\n\n")[0].split()).replace("`", "")
        yield name, f"{_IN_FULL[name]}; {means}" if name in _IN_FULL else means
