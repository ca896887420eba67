"""Facts of a run that its notes state: documents, methods, splits, ties and parameter selection."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.formatting.labels import candidate_label, grid_label, method_text
from benchmark.analysis.formatting.units import metric_name
from benchmark.analysis.model_selection import selection_metric
from benchmark.analysis.prose.sentences import sentence
from benchmark.config.model import ALL_CLASSES, BASE_VARIANT, method_of
from benchmark.corpora.registry import corpus_names, dataset_card
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.intervals import LEAST_TESTED
from benchmark.evaluation.metrics import is_time_metric
from benchmark.evaluation.sampling_model import sampling_of

if TYPE_CHECKING:
    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Experiment, TextSettings, Variant
    from benchmark.evaluation.predictions import Predictions

#: What a sentence calls the corpus that the package generates.
GENERATED = "the generated corpus"
Facts = dict[str, Any]

_IDF_SOURCES = {"collection": "the whole collection", "training": "the training documents"}


def corpus_in_words(experiment: Experiment) -> str:
    """Return the name of the corpus for a sentence, or the number of corpora."""
    collections = [variant.collection for variant in experiment.variants.values()]
    (name, *others), files = dict.fromkeys(each.corpus for each in collections), collections[0].given.get("path", [])
    if others:
        return f"{1 + len(others)} corpora"
    if (card := dataset_card(name) if name in corpus_names() else None) is not None:
        return card.title.partition(",")[0] if card.addresses else GENERATED
    paths = files.values() if isinstance(files, dict) else files if isinstance(files, list) else [files]
    return " and ".join(Path(str(each)).name for each in paths) or name


def note_facts(run: RunPredictions) -> Facts:
    """Return what the templates of notes, of doubts and of documents state."""
    experiment, predictions, variants = run.experiment, run.predictions, list(run.experiment.variants.values())
    sample = sampling_of(variants[0].protocol.tags, experiment.seed)
    protocols = (
        sentence("macros.j2", "protocol", variant=variant, splits=_tested(variant, predictions)) for variant in variants
    )
    warnings: dict[str, list[str]] = {}
    for text, method in dict.fromkeys(
        (w, key.method) for key, own in predictions.settings.items() for w in own.warnings
    ):
        warnings.setdefault(text, []).append(method)
    shown = {(cell.variant, cell.diagnostic) for cell in experiment.cells}
    texts: dict[str, list[tuple[TextSettings, str, Facts]]] = {}
    for each in variants:
        others = [(text, label) for text, label in each.texts.items() if text != each.collection.text]
        words = run.facts.get(each.name, {}).get("texts", ())
        texts[each.name] = [(*other, words_of) for other, words_of in zip(others, words, strict=False)]
    silent = [
        component.name if name == BASE_VARIANT else f"{name}-{component.name}"
        for component, name in product(experiment.diagnostics, experiment.variants)
        if (name, component.name) not in shown
    ]
    return {
        "experiment": experiment,
        "first": variants[0],
        "corpora": {name: run.facts.get(name, {}) for name in experiment.variants},
        "multilabel": any(documents.multilabel for documents in predictions.tasks.values()),
        "replicated": variants[0].protocol.tags.replicated,
        "protocols": list(dict.fromkeys(protocols)),
        "sample": sample.words.format(seed=experiment.seed),
        "bars": sample.bars,
        "texts": texts,
        "doubts": list(dict.fromkeys(note for facts in run.facts.values() for note in facts.get("notes", ()))),
        **_metric_facts(run),
        **_selection_facts(run),
        **_method_facts(experiment),
        "warnings": warnings,
        "gains": any(cell.what == "gain" for cell in experiment.cells),
        "of_diagnostics": diagnostic_notes(run),
        "failed": [(name, run.failures[name]) for name in silent if name in run.failures],
    }


def diagnostic_notes(run: RunPredictions) -> tuple[str, ...]:
    """Return the diagnostics' notes on their numbers; for a finished run, the recorded notes."""
    if run.recorded is not None:
        return run.recorded.notes
    return tuple(dict.fromkeys(note for *_, numbers in run.diagnostics for note in numbers.notes))


def _metric_facts(run: RunPredictions) -> Facts:
    """Return the metrics, by names, that have no interval or leave classes out, and these classes."""
    experiment, frame, quantities = run.experiment, run.scored.frame, run.experiment.quantities
    scorers = {name: experiment.scorers[name] for name in experiment.metrics if name in experiment.scorers}
    replicated = next(iter(experiment.variants.values())).protocol.tags.replicated
    bare = set() if replicated else {*frame["metric"][(frame["fold"] == ALL_SPLITS) & frame["low"].isna()]}
    means, untested = [name for name, scorer in scorers.items() if scorer.classes_alike], dict[str, None]()
    for key, splits in run.predictions.splits.items() if means else ():
        documents = run.predictions.tasks[key.of_task]
        if not documents.multilabel:
            tested = np.unique(np.concatenate([documents.truth[split.test] for split in splits]))
            untested |= dict.fromkeys(name for code, name in enumerate(documents.classes) if code not in tested)
    return {
        "bare": [metric_name(metric, quantities) for metric in scorers if metric in bare],
        "means": [metric_name(metric, quantities) for metric in means],
        "least_tested": LEAST_TESTED,
        "untested": list(untested),
        "on_the_clock": any(is_time_metric(m, quantities) for figure in experiment.figures for m in figure.y),
    }


def _selection_facts(run: RunPredictions) -> Facts:
    """Return how parameters are selected, the grids, and the splits by candidate of each cell of a table."""
    experiment, chosen = run.experiment, dict[str, dict[str, list[str]]]()
    for cell in (cell for cell in experiment.cells if cell.what == "point" and cell.id in run.scored.chosen):
        entry, plain = method_of(experiment, cell), cell.size is None and cell.terms is None
        if plain and cell.of_class in ("", ALL_CLASSES) and len(entry.candidates) > 1:
            splits = run.predictions.splits[cell.of_splits]
            for split, index in zip(splits, run.scored.chosen[cell.id], strict=True):
                label = candidate_label(entry, int(index))
                chosen.setdefault(cell.id, {}).setdefault(label, []).append(split.name)
    multilabel = any(variant.collection.multilabel for variant in experiment.variants.values())
    entries = next(iter(experiment.variants.values())).entries
    return {
        "selected_by": metric_name(selection_metric(experiment, multilabel=multilabel), experiment.quantities),
        "grids": [(each.label, grid_label(each)) for each in entries if len(each.candidates) > 1],
        "chosen": chosen,
    }


def _method_facts(experiment: Experiment) -> Facts:
    """Return what the first variant's methods are where the table doesn't say it, and notes of all components."""
    variants = list(experiment.variants.values())
    curves = any(cell.size is not None or cell.terms is not None for cell in experiment.cells)
    entries = [entry for variant in variants for entry in variant.entries]
    specs = [entry.candidates[0] for entry in entries]
    kernels = {spec.kernel.name: spec.kernel.tags for spec in specs if spec.kernel is not None}
    classifiers = {spec.classifier.name: spec.classifier.tags for spec in specs}
    tags = [each[name] for each in (kernels, classifiers) for name in sorted(each)]
    several = any(variant.collection.multilabel for variant in variants)
    points = {each.name: [spec.representation for e in each.entries for spec in e.candidates] for each in variants}
    learned = {name: dict.fromkeys(each.idf for each in listed if each.learns) for name, listed in points.items()}
    return {
        "methods": list(map(method_text, variants[0].entries)) if curves else [],
        "idf": {name: [_IDF_SOURCES[source] for source in sources] for name, sources in learned.items()},
        "vectors": {each.label: each.candidates[0].vectors for each in entries if each.candidates[0].vectors},
        "components": [text for each in tags for text in (each.note, each.note_multilabel * several) if text],
        "scaled": any(spec.classifier.resolved.get("scale_C") == "mean-self-product" for spec in specs),
        "first_trained": [
            each.label for each in variants[0].entries if each.candidates[0].classifier.tags.first_trained_wins
        ],
    }


def _tested(variant: Variant, predictions: Predictions) -> list[tuple[str, int, int]]:
    """Return the splits of a variant's first task with their numbers of tested documents and of all documents."""
    for key, splits in predictions.splits.items():
        if key.variant == variant.name:
            n_documents = len(predictions.tasks[key.of_task].ids)
            return [(split.name, len(split.test), n_documents) for split in splits]
    return []
