"""Facts of a run that its notes state: documents, methods, splits, ties and parameter selection."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.formatting.labels import candidate_label, component_label, grid_label, points_label
from benchmark.analysis.formatting.units import metric_name
from benchmark.analysis.model_selection import selection_metric
from benchmark.analysis.prose.sentences import sentence
from benchmark.config.model import ALL_CLASSES, BASE_VARIANT, method_of
from benchmark.corpora.registry import corpus_names, dataset_card
from benchmark.diagnostics.base import DiagnosticArrays, DiagnosticResults
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.intervals import LEAST_TESTED, RESAMPLES_OF_RANKINGS
from benchmark.evaluation.metrics import is_time_metric
from benchmark.evaluation.predictions import TaskKey
from benchmark.evaluation.sampling_model import sampling_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Experiment, Variant
    from benchmark.evaluation.predictions import Predictions

    #: Largest deviation of the share of documents that a split by date tests from the one that is stated.
MAX_SHARE_DEVIATION = 0.05
Facts = dict[str, Any]

_IDF_SOURCES = {"collection": "the whole collection", "training": "the training documents"}


def corpus_in_words(experiment: Experiment) -> str:
    """Return the name of the corpus for a sentence, or the number of corpora."""
    names = dict.fromkeys(variant.collection.corpus for variant in experiment.variants.values())
    if len(names) > 1:
        return f"{len(names)} corpora"
    name = next(iter(names))
    card = dataset_card(name) if name in corpus_names() else None
    if card is None:
        path = next(iter(experiment.variants.values())).collection.given.get("path")
        paths = list(path.values()) if isinstance(path, dict) else path if isinstance(path, list) else [path]
        return " and ".join(Path(str(each)).name for each in paths) if path else name
    return card.title.partition(",")[0] if card.addresses else "the generated corpus"


def near_duplicate_rows(run: RunPredictions) -> list[list[Any]]:
    """Return a row for each split that tests near-duplicates of its training documents."""
    rows: list[list[Any]] = []
    for name in run.experiment.variants:
        for each in run.facts.get(name, {}).get("near_duplicates", ()):
            if each["near"]:
                variant = name if len(run.experiment.variants) > 1 else ""
                rows.append([variant, each["split"], each["tested"], each["near"], each["same"], *each["such_as"][0]])
    return rows


def note_facts(run: RunPredictions, printed: Mapping[str, float]) -> Facts:
    """Return what the templates of notes, of the terminal and of documents state.

    Parameters
    ----------
    run : RunPredictions
    printed : mapping of str to float
        The paper's numbers by cell.
    """
    experiment, predictions = run.experiment, run.predictions
    first = next(iter(experiment.variants.values()))
    sample = sampling_of(first.protocol.tags, experiment.seed)
    protocols = (
        sentence("macros.j2", "protocol", variant=variant, splits=_tested(variant, predictions))
        for variant in experiment.variants.values()
    )
    return {
        "first": first,
        "variants": experiment.variants,
        "corpora": {name: run.facts.get(name, {}) for name in experiment.variants},
        "multilabel": any(documents.multilabel for documents in predictions.tasks.values()),
        "replicated": first.protocol.tags.replicated,
        "compared": bool(experiment.compare),
        "protocols": list(dict.fromkeys(protocols)),
        "sample": sample.words.format(seed=experiment.seed),
        "bars": sample.bars,
        **_text_facts(run),
        **_metric_facts(run),
        **_selection_facts(run),
        **_method_facts(experiment),
        **_measured_facts(predictions),
        "tasks": list(_tasks(first, predictions)),
        "gains": any(cell.what == "gain" for cell in experiment.cells),
        "of_diagnostics": diagnostic_notes(run, printed),
        "failed": _failed_diagnostics(run),
    }


def diagnostic_notes(run: RunPredictions, printed: Mapping[str, float]) -> tuple[str, ...]:
    """Return the diagnostics' notes on their numbers; for a finished run, the recorded notes."""
    if run.recorded is not None:
        return run.recorded.notes
    notes: list[str] = []
    for component in run.experiment.diagnostics:
        measured = run.predictions.diagnostics.items()
        found = [DiagnosticArrays(variant, arrays) for (name, variant), arrays in measured if name == component.name]
        notes += component.build().notes(DiagnosticResults(found, printed))
    return tuple(notes)


def _failed_diagnostics(run: RunPredictions) -> list[tuple[str, str]]:
    """Return each failed diagnostic that has no table row to show it, and why it failed."""
    shown = {(cell.variant, cell.diagnostic) for cell in run.experiment.cells}
    found = []
    for component, name in product(run.experiment.diagnostics, run.experiment.variants):
        label = component.name if name == BASE_VARIANT else f"{name}-{component.name}"
        if label in run.failures and (name, component.name) not in shown:
            found.append((label, run.failures[label]))
    return found


def _text_facts(run: RunPredictions) -> Facts:
    """Return facts of texts, vectors and dates of each variant."""
    experiment, idf, texts, dates = run.experiment, {}, {}, []
    for name, variant in experiment.variants.items():
        points = [spec.representation for entry in variant.entries for spec in entry.candidates]
        idf[name] = list(dict.fromkeys(_IDF_SOURCES[each.idf] for each in points if each.learns))
        others = [(text, label) for text, label in variant.texts.items() if text != variant.collection.text]
        counted = zip(others, run.facts.get(name, {}).get("texts", ()), strict=False)
        texts[name] = [(text, label, words) for (text, label), words in counted]
        given = variant.protocol.resolved
        share = 0.0 if given.get("test_from") else given.get("test_share", 0.0)
        tested = {key: splits for key, splits in run.predictions.splits.items() if key.variant == name}
        for key, (split, *_) in tested.items() if variant.protocol.name == "by-date" and share else ():
            n, n_documents = len(split.test), len(run.predictions.tasks[key.of_task].ids)
            if abs(n / n_documents - share) > MAX_SHARE_DEVIATION:
                dates.append((f"{name}: " if len(experiment.variants) > 1 else "", n, n_documents, share))
    entries = [entry for variant in experiment.variants.values() for entry in variant.entries]
    return {
        "idf": idf,
        "texts": texts,
        "dates": dates,
        "doubts": list(dict.fromkeys(note for own in run.facts.values() for note in own.get("notes", ()))),
        "vectors": {each.label: each.candidates[0].vectors for each in entries if each.candidates[0].vectors},
    }


def _metric_facts(run: RunPredictions) -> Facts:
    """Return the metrics, by names, that have no interval, are ranked, or leave classes out, and these classes."""
    experiment, scored = run.experiment, run.scored
    scorers = {name: experiment.scorers[name] for name in experiment.metrics if name in experiment.scorers}

    def named(metrics: Any) -> list[str]:
        return [metric_name(metric, experiment.quantities) for metric in metrics]

    frame, replicated = scored.frame, next(iter(experiment.variants.values())).protocol.tags.replicated
    bare = set() if replicated else {*frame["metric"][(frame["fold"] == ALL_SPLITS) & frame["low"].isna()]}
    means, untested = [name for name, own in scorers.items() if own.classes_alike], dict[str, None]()
    for key, splits in run.predictions.splits.items() if means else ():
        documents = run.predictions.tasks[key.of_task]
        if not documents.multilabel:
            tested = np.unique(np.concatenate([documents.truth[split.test] for split in splits]))
            untested |= dict.fromkeys(name for code, name in enumerate(documents.classes) if code not in tested)
    drawn = [metric for figure in experiment.figures for metric in figure.y]
    return {
        "metrics": experiment.metrics,
        "by_class": experiment.by_class,
        "bare": named(metric for metric in scorers if metric in bare),
        "least_tested": LEAST_TESTED,
        "ranked": named(name for name, own in scorers.items() if own.ranking is not None),
        "resamples": RESAMPLES_OF_RANKINGS,
        "means": named(means),
        "untested": list(untested),
        "on_the_clock": any(is_time_metric(metric, experiment.quantities) for metric in drawn),
    }


def _selection_facts(run: RunPredictions) -> Facts:
    """Return how parameters are selected, the grids, and the splits by candidate of each cell of a table."""
    experiment = run.experiment
    multilabel = any(variant.collection.multilabel for variant in experiment.variants.values())
    chosen: dict[str, dict[str, list[str]]] = {}
    for cell in experiment.cells:
        entry = method_of(experiment, cell) if cell.what == "point" else None
        plain = cell.size is None and cell.terms is None and cell.of_class in ("", ALL_CLASSES)
        if entry is not None and plain and len(entry.candidates) > 1 and cell.id in run.scored.chosen:
            splits = run.predictions.splits[cell.of_splits]
            for split, index in zip(splits, run.scored.chosen[cell.id], strict=True):
                label = candidate_label(entry, int(index))
                chosen.setdefault(cell.id, {}).setdefault(label, []).append(split.name)
    entries = next(iter(experiment.variants.values())).entries
    return {
        "choices": experiment.choices,
        "inner": {} if experiment.inner is None else experiment.inner.given,
        "selected_by": metric_name(selection_metric(experiment, multilabel=multilabel), experiment.quantities),
        "grids": [(each.label, grid_label(each)) for each in entries if len(each.candidates) > 1],
        "chosen": chosen,
    }


def _method_facts(experiment: Experiment) -> Facts:
    """Return what each variant's methods are where the table doesn't say it, and notes of their components."""
    curves = any(cell.size is not None or cell.terms is not None for cell in experiment.cells)
    variants = list(experiment.variants.values())
    methods: dict[str, list[str]] = {}
    for variant in variants if curves else ():
        found = []
        for label, spec in ((entry.label, entry.candidates[0]) for entry in variant.entries):
            counts = not spec.kernel and spec.representation.normalization == "none"
            points = spec.representation.weighting.name if counts else points_label(spec)
            found.append(f"{label}: {component_label(spec.classifier)} on {points}")
        known = next(iter(methods.values()), [])
        methods[variant.name] = [text for text in found if text not in known]
    specs = [entry.candidates[0] for variant in variants for entry in variant.entries]
    kernels = {spec.kernel.name: spec.kernel.tags for spec in specs if spec.kernel is not None}
    classifiers = {spec.classifier.name: spec.classifier.tags for spec in specs}
    tags = [each[name] for each in (kernels, classifiers) for name in sorted(each)]
    several = any(variant.collection.multilabel for variant in variants)
    entries = variants[0].entries
    return {
        "methods": methods,
        "components": [text for each in tags for text in (each.note, each.note_multilabel * several) if text],
        "scaled": any(spec.classifier.resolved.get("scale_C") == "mean-self-product" for spec in specs),
        "first_trained": [e.label for e in entries if e.candidates[0].classifier.tags.first_trained_wins],
    }


def _measured_facts(predictions: Predictions) -> Facts:
    """Return the methods by what their classifiers warned of, and the versions that measured seconds."""
    warnings: dict[str, dict[str, None]] = {}
    for key, setting in predictions.settings.items():
        for text in setting.warnings:
            warnings.setdefault(text, {})[key.method] = None
    taken = Counter(version for point in predictions.settings.values() for version in set(point.versions))
    return {"warnings": {text: list(own) for text, own in warnings.items()}, "versions": sorted(taken.items())}


def _tasks(first: Variant, predictions: Predictions) -> Iterator[tuple[str, int, bool, tuple[str, ...]]]:
    """Yield title, number of documents, whether these are the tested ones, and classes of each of several tasks."""
    for task in first.tasks if len(first.tasks) > 1 else ():
        documents = predictions.tasks.get(TaskKey(first.name, task.name))
        if documents is not None:
            own = (each for key, each in predictions.splits.items() if key.of_task == (first.name, task.name))
            splits = [split for each in own for split in each]
            alone = len(splits) == 1
            yield task.title, len(splits[0].test) if alone else len(documents.ids), alone, task.classes


def _tested(variant: Variant, predictions: Predictions) -> list[tuple[str, int]]:
    """Return the splits of a variant's first task with their numbers of tested documents."""
    splits = next((each for key, each in predictions.splits.items() if key.variant == variant.name), ())
    return [(split.name, len(split.test)) for split in splits]
