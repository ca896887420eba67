"""Notes on a run, and its caveats: leaks and choices that bias its scores, or that its intervals don't cover."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.formatting.labels import candidate_label, grid_label, method_text
from benchmark.analysis.formatting.units import display_unit, metric_name
from benchmark.analysis.model_selection import selection_metric
from benchmark.analysis.prose.sentences import sentence, sentences
from benchmark.config.model import ALL_CLASSES, BASE_VARIANT, method_of
from benchmark.corpora.registry import corpus_names, dataset_card
from benchmark.evaluation.intervals import LEAST_TESTED
from benchmark.evaluation.metrics import is_time_metric, more_is_better
from benchmark.evaluation.outcomes import ALL_SPLITS, fold_scores, score_over_splits
from benchmark.evaluation.predictions import NEAR_DUPLICATES, SHARED_GROUPS
from benchmark.evaluation.sampling_model import sampling_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Experiment, TextSettings, Variant
    from benchmark.evaluation.predictions import Predictions

#: What a sentence calls the corpus that the package generates.
GENERATED = "the generated corpus"
Facts = dict[str, Any]
#: Share of the tested documents above which near-duplicates are a leak.
LEAST_SHARE = 0.01
#: What documents of a group share, in corpora whose groups are not a column of a user's file.
_SHARED = {"20ng": "author"}


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
    sample, warnings = sampling_of(variants[0].protocol.tags, experiment.seed), dict[str, dict[str, None]]()
    for key, own in predictions.settings.items():
        for text in own.warnings:
            warnings.setdefault(text, {})[key.method] = None
    texts: dict[str, list[tuple[TextSettings, str, Facts]]] = {}
    for each in variants:
        others = [(text, label) for text, label in each.texts.items() if text != each.collection.text]
        words = run.facts.get(each.name, {}).get("texts", ())
        texts[each.name] = [(*other, words_of) for other, words_of in zip(others, words, strict=False)]
    shown = {(cell.variant, cell.diagnostic) for cell in experiment.cells}
    unseen = [
        each.name if variant == BASE_VARIANT else f"{variant}-{each.name}"
        for each, variant in product(experiment.diagnostics, experiment.variants)
        if (variant, each.name) not in shown
    ]
    return {
        "experiment": experiment,
        "first": variants[0],
        "corpora": {name: run.facts.get(name, {}) for name in experiment.variants},
        "multilabel": any(documents.multilabel for documents in predictions.tasks.values()),
        "replicated": variants[0].protocol.tags.replicated,
        "protocols": list(dict.fromkeys(_protocol_text(variant, predictions) for variant in variants)),
        "sample": sample.texts.words.format(seed=experiment.seed),
        "bars": sample.texts.bars,
        "texts": texts,
        "doubts": list(dict.fromkeys(note for facts in run.facts.values() for note in facts.get("notes", ()))),
        **_metric_facts(run),
        **_selection_facts(run),
        **_method_facts(experiment),
        "warnings": warnings,
        "gains": any(cell.what == "gain" for cell in experiment.cells),
        "of_diagnostics": diagnostic_notes(run),
        "failed": [(name, run.failures[name]) for name in unseen if name in run.failures],
    }


def _protocol_text(variant: Variant, predictions: Predictions) -> str:
    """Describe a variant's protocol, with the numbers of tested documents of its first task."""
    key = next((key for key in predictions.splits if key.variant == variant.name), None)
    n_documents = 0 if key is None else len(predictions.tasks[key.of_task].ids)
    splits = [] if key is None else predictions.splits[key]
    tested = [(split.name, len(split.test), n_documents) for split in splits]
    return sentence("macros.j2", "protocol", variant=variant, splits=tested)


def diagnostic_notes(run: RunPredictions) -> tuple[str, ...]:
    """Return the diagnostics' notes on their numbers."""
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
    return {
        "methods": list(map(method_text, variants[0].entries)) if curves else [],
        "idf": {name: list(dict.fromkeys(p.idf for p in listed if p.learns)) for name, listed in points.items()},
        "vectors": {each.label: each.candidates[0].vectors for each in entries if each.candidates[0].vectors},
        "components": [text for each in tags for text in (each.note, each.note_multilabel * several) if text],
        "scaled": any(spec.classifier.resolved.get("scale_C") == "mean-self-product" for spec in specs),
        "first_trained": [
            each.label for each in variants[0].entries if each.candidates[0].classifier.tags.first_trained_wins
        ],
    }


def caveats_of_choices(
    experiment: Experiment, effects: Callable[[dict[str, Any]], Iterable[str]] = lambda _: ()
) -> list[str]:
    """Return the caveats of a configuration's choices, those that can do most harm first.

    They are those of its first variant; other variants' names state their changes.

    Parameters
    ----------
    experiment : Experiment
    effects : callable
        Takes the settings of a variant that is honest in one choice, and returns clauses on how its scores differ.
    """
    first, tuned = next(iter(experiment.variants.values())), dict[str, list[str]]()
    for cell, choice in experiment.tuned_cells.items():
        tuned.setdefault(choice, []).append(cell)
    entries = [entry for variant in experiment.variants.values() for entry in variant.entries]
    elsewhere = {
        what: list(dict.fromkeys(entry.label for entry in entries if getattr(entry.candidates[0], part)))
        for what, part in (("Predictions", "predictions"), ("The vectors", "vectors"))
    }
    pruned, others = list[tuple[list[str], dict[str, Any]]](), list[str]()
    for text, label in first.texts.items():
        least = {name: 1 for name in ("min_occurrences", "min_documents") if getattr(text.pruning, name) > 1}
        if least and not text.pruning.group and text == first.collection.text:
            pruned.append(([], {"text": least}))
        elif least and not text.pruning.group:
            others.append(label)
    points = [spec.representation for entry in first.entries for spec in entry.candidates]
    return sentences(
        "caveats.j2",
        experiment=experiment,
        first=first,
        effects=effects,
        elsewhere=elsewhere,
        tuned=tuned,
        largest=any("largest" in task for task in experiment.raw.get("tasks", ()) if isinstance(task, dict)),
        pruned=[*pruned, (list(dict.fromkeys(others)), {})] if others else pruned,
        idf_of_all=any(each.learns and each.idf == "collection" for each in points),
    )


def caveats_of_leaks(run: RunPredictions, leaks: pd.DataFrame) -> list[str]:
    """Return a caveat for each leak (see `leak_rows`), with the best score and the one without what leaks."""
    experiment, metric = run.experiment, run.experiment.metrics[0]
    whole = {cell.id for cell in experiment.cells if cell.of_class in ("", ALL_CLASSES)}
    sign = 1 if more_is_better(metric, experiment.scorers) else -1
    near = [each for facts in run.facts.values() for each in facts.get("near_duplicates", ())]
    pair = next((pair[:2] for each in near for pair in each["such_as"]), ())
    collection = next(iter(experiment.variants.values())).collection
    column = collection.given.get("group")
    shared = _SHARED.get(collection.corpus, "group") if column is None else repr(column)
    found = [
        (max(rows.to_dict("records"), key=lambda row: sign * row["score"]), pair, shared, column)
        for _, rows in leaks[leaks["cell"].isin(whole)].groupby("leak")
    ]
    name, unit = metric_name(metric, experiment.quantities), display_unit(metric, experiment.quantities)
    return sentences("leaks.j2", leaks=found, metric=name, unit=unit)


def leak_rows(run: RunPredictions) -> list[list[Any]]:
    """Return a row for each leak and cell: tested documents, those that leak, the score, and the score without them."""
    experiment, scored, metric = run.experiment, run.scored, run.experiment.metrics[0]
    whole = scored.frame[(scored.frame["fold"] == ALL_SPLITS) & (scored.frame["metric"] == metric)]
    values, rows = dict(zip(whole["cell"], whole["value"], strict=True)), []
    for cell in experiment.cells:
        scores = scored.cells.get(cell.id)
        if scores is None or scores.outcome is None or cell.id not in values:
            continue
        splits = run.predictions.splits[cell.of_splits]
        for leak in (NEAR_DUPLICATES, SHARED_GROUPS):
            if any(leak not in split.leaks for split in splits):
                continue
            known = np.concatenate([np.isin(split.test, split.leaks[leak]) for split in splits])
            if known.sum() <= (LEAST_SHARE * len(known) if leak == NEAR_DUPLICATES else 0):
                continue
            without = math.nan
            if scores.can_score(metric) and not known.all():
                rest = scores.outcome.take(np.flatnonzero(~known))
                replicated = experiment.variants[cell.variant].protocol.tags.replicated
                without = float(fold_scores(rest, metric).mean()) if replicated else score_over_splits(rest, metric)
            rows.append([leak, cell.id, metric, len(known), int(known.sum()), values[cell.id], without])
    return rows
