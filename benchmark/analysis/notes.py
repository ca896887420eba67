"""Table notes: documents, methods, splits, the sample, ties and parameter selection."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.formatting.labels import candidate_label, component_label, grid_label, points_label
from benchmark.analysis.formatting.units import capitalized, metric_name
from benchmark.analysis.model_selection import selection_metric
from benchmark.config.model import (
    ALL_CLASSES,
    BASE_VARIANT,
    CHOOSE_CROSS_VALIDATION,
    CHOOSE_ORACLE,
    CHOOSE_TEMPORAL_HOLDOUT,
    method_of,
)
from benchmark.corpora.registry import corpus_names, dataset_card
from benchmark.diagnostics.base import DiagnosticArrays, DiagnosticResults
from benchmark.evaluation.intervals import ALL_ALIKE, LEAST_TESTED, RESAMPLES_OF_RANKINGS, has_too_few_tested
from benchmark.evaluation.metrics import is_time_metric
from benchmark.evaluation.predictions import TaskKey
from benchmark.evaluation.sampling_model import sampling_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Experiment, TextSettings, Variant, VectorFile
    from benchmark.evaluation.predictions import Predictions

#: Maximal number of groups that are listed by name.
MAX_LISTED_GROUPS = 30
#: Maximal number of variants whose documents are counted in the terminal.
MAX_LISTED_VARIANTS = 3
#: Maximal number of classes without tested documents that a note names.
MAX_LISTED_CLASSES = 5
#: Largest deviation of the share of documents that a split by date tests from the one that is stated.
MAX_SHARE_DEVIATION = 0.05
_DEFINITIONS = {
    "macro-f1": "macro-F1 is the mean of the classes' F1",
    "macro-f1-mean-of-splits": "the mean of macro-F1 is that of the splits' macro-F1",
    "macro-f1-of-means": "macro-F1 of means is the F1 of the mean precision and the mean recall",
    "micro-f1": "micro-F1 is the F1 of the decisions pooled over all classes",
    "macro-recall": "macro-recall is the mean of the classes' recall, TP / (TP + FN)",
    "macro-precision": "macro-precision is the mean of the classes' precision, TP / (TP + FP)",
    "micro-break-even": "micro break-even is where precision equals recall, for one threshold on all decisions",
    "macro-break-even": "macro break-even is the mean of the classes' values at which precision equals recall",
    "micro-average-precision": "micro average precision is that of all decisions ranked together",
    "macro-average-precision": "macro average precision is the mean of the classes'",
    "micro-roc-auc": "micro ROC AUC is that of all decisions ranked together",
    "macro-roc-auc": "macro ROC AUC is the mean of the classes'",
}
_RANKED = (
    "{metrics}: computed from decision values, whatever the threshold; over several splits it is the mean of the "
    "splits' scores.{of_one}"
)
_OF_ONE_CLASS = " A document's values are centred over the classes."
_RANKED_SAMPLE = (
    f" Its interval is a bootstrap interval of {RESAMPLES_OF_RANKINGS:,} resamples, which are ranked again. The sign "
    "test and McNemar's test count right decisions: they don't test it."
)
_SEVERAL = (
    "A document may have several classes, or none: each class is a separate binary decision. A ratio 0/0 counts as 0, "
    "so a class without test documents and without predictions has F = 0. A class without training documents in a "
    "split is never predicted there."
)
_TESTS_OF_SEVERAL = (
    "Wilcoxon's signed rank test compares each metric, paired by replicate. It also compares F1, paired by "
    "category × replicate (pairs share test documents, so p tends to be too small). The micro sign test of Yang and "
    "Liu (SIGIR 1999) compares all decisions, document × class, of each replicate. Its n and Z are medians over the "
    "replicates, and its p is twice the median p, which is valid under any dependence between replicates (Rüger 1978). "
    "It counts right decisions, not F1."
)
_BY_DOCUMENT = (
    "McNemar's test counts each document once, for the cell that was right on it in more of the replicates. For all "
    "classes together, every document has the same weight."
)
#: Lexing options that are noted where a method's text differs, besides digits, stop words and pruning.
_READ = ("lexer", "skip_header", "skip_html")
_UNIT = "C is in units of the inverse mean of k(x, x), so a constant factor of a kernel makes no difference."
_ORACLE = (
    f"{CHOOSE_ORACLE}: for each method and task, the one parameter with the best score on the test documents, "
    "averaged over the sizes. It is selected on the test documents, so its scores are optimistic. A method without a "
    "free parameter needs no selection."
)
_INNER = (
    f"{CHOOSE_CROSS_VALIDATION}: for each split the parameter with the best {{metric}} in {{folds}}-fold "
    "cross-validation on its training documents. Among equals, the middle candidate in grid order is selected."
)
_NEWEST = (
    f"{CHOOSE_TEMPORAL_HOLDOUT}: for each split the parameter with the best {{metric}} on the newest {{share:.0%}} of "
    "its training documents{of_each}, after training on the older documents. Among equals, the middle candidate "
    "in grid order is selected."
)
_CLOCK = (
    "Seconds are wall-clock times to train one classifier, including its kernel matrix. Results from the store have "
    "the times of their first computation. Inner products count whole. Kernel matrices and training are divided by the "
    "number of classes that they serve, and classifiers count as if trained one by one. Times are in timings.parquet "
    "and in the figure, but in no table."
)
_TERMS = (
    "Terms are ranked by information gain on the training documents, aggregated over the classes by their "
    "{aggregate}. PPT and EEF select this number of terms for each class and pool all others into one more term. "
    "Other methods select this number of terms for all classes together and ignore all others."
)


def document_sentences(run: RunPredictions) -> tuple[str, ...]:
    """Return sentences on the documents and on how they are split."""
    experiment = run.experiment
    facts = [run.facts.get(name, {}) for name in experiment.variants]
    numbers = sorted({own.get("documents", 0) for own in facts})
    own = facts[0]
    if len(numbers) == 1:
        words = f"{own.get('vocabulary', 0):,} distinct words"
        found = [f"{numbers[0]:,} documents of {len(own.get('classes', ()))} classes, with {words}."]
    else:
        found = [f"{numbers[0]:,} to {numbers[-1]:,} documents in {len(facts)} variants."]
    protocols = dict.fromkeys(_protocol(variant, run.predictions) for variant in experiment.variants.values())
    return (*found, *(protocols if len(protocols) == 1 else ()))


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


def table_notes(run: RunPredictions, printed: Mapping[str, float]) -> list[str]:
    """Return the notes printed below the table.

    Parameters
    ----------
    run : RunPredictions
    printed : mapping of str to float
        The paper's numbers by cell.
    """
    experiment, predictions = run.experiment, run.predictions
    first = next(iter(experiment.variants.values()))
    multilabel = any(documents.multilabel for documents in predictions.tasks.values())
    compared_replicates = bool(experiment.compare) and first.protocol.tags.replicated
    notes = [*_documents(experiment, run.facts), *_doubts(experiment, run.facts, predictions)]
    notes += [*_methods(experiment), *_tasks(first, predictions)]
    notes += dict.fromkeys(_protocol(variant, predictions) for variant in experiment.variants.values())
    notes.append(sampling_of(first.protocol.tags, experiment.seed).words.format(seed=experiment.seed))
    notes += [*_untested_classes(run), *_without_interval(run), *_ranked(run, multilabel=multilabel)]
    notes += [_BY_DOCUMENT] if compared_replicates and not multilabel else []
    notes += _scores(experiment)
    notes += [_SEVERAL, *([_TESTS_OF_SEVERAL] if compared_replicates else [])] if multilabel else [_ties(first)]
    notes += [*_choices(experiment), *_chosen(run), *_components(experiment, multilabel=multilabel)]
    notes += [_TERMS.format(aggregate=first.terms.aggregate)] if first.terms else []
    if any(cell.what == "gain" for cell in experiment.cells):
        last, least = first.sizes[-1], first.sizes[0]
        notes.append(f"gain-…: the score at training size {last:,} minus that at {least:,}, replicate by replicate.")
    notes += _warnings(run)
    notes += _versions(predictions)
    notes += (
        [_CLOCK]
        if any(is_time_metric(metric, experiment.quantities) for figure in experiment.figures for metric in figure.y)
        else []
    )
    return [*notes, *diagnostic_notes(run, printed), *failed_diagnostics(run)]


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


def failed_diagnostics(run: RunPredictions) -> Iterator[str]:
    """Yield the reason of each failed diagnostic that has no table row to show it."""
    shown = {(cell.variant, cell.diagnostic) for cell in run.experiment.cells}
    for component, name in product(run.experiment.diagnostics, run.experiment.variants):
        label = component.name if name == BASE_VARIANT else f"{name}-{component.name}"
        if label in run.failures and (name, component.name) not in shown:
            yield f"The diagnostic {label} failed: {run.failures[label]}."


def _without_interval(run: RunPredictions) -> Iterator[str]:
    """Name the metrics that have no interval in some cell, since a class has too few tested documents."""
    experiment = run.experiment
    if next(iter(experiment.variants.values())).protocol.tags.replicated:
        return
    outcomes = [cell.outcome for cell in run.scored.cells.values() if cell.outcome is not None]
    metrics = [metric for metric in experiment.metrics if metric in experiment.scorers]
    if few := [metric for metric in metrics if any(has_too_few_tested(outcome, metric) for outcome in outcomes)]:
        names = " and ".join(metric_name(metric, experiment.quantities) for metric in few)
        yield (
            f"{capitalized(names)}: no interval where a class "
            f"has fewer than {LEAST_TESTED} tested documents, since each class counts alike and a bootstrap interval "
            "would be biased."
        )
    estimates = [
        (metric, run.scored.estimate(cell, metric))
        for metric in metrics
        for cell in run.scored.cells
        if run.scored.has(metric, cell)
    ]
    if alike := dict.fromkeys(metric for metric, ours in estimates if ours.method == ALL_ALIKE):
        names = " and ".join(metric_name(metric, experiment.quantities) for metric in alike)
        yield f"{capitalized(names)}: no interval where nothing varies, as where every prediction is right."


def _untested_classes(run: RunPredictions) -> Iterator[str]:
    """Name the classes without a tested document, which scores that are means over classes leave out."""
    experiment, found = run.experiment, dict[str, None]()
    means = [
        name for name in experiment.metrics if name in experiment.scorers and experiment.scorers[name].classes_alike
    ]
    for key, splits in run.predictions.splits.items() if means else ():
        documents = run.predictions.tasks[key.of_task]
        if not documents.multilabel:
            tested = np.unique(np.concatenate([documents.truth[split.test] for split in splits]))
            found |= dict.fromkeys(name for code, name in enumerate(documents.classes) if code not in tested)
    if found:
        first = list(found)[:MAX_LISTED_CLASSES]
        names = ", ".join([*first, *([f"{len(found) - len(first)} more"] if len(found) > len(first) else [])])
        scores = " and ".join(metric_name(name, experiment.quantities) for name in means)
        left = "a class that is neither tested nor predicted is left out, as by scikit-learn"
        yield f"No document of {names} is tested. {capitalized(scores)}: {left}."


def _ranked(run: RunPredictions, *, multilabel: bool) -> Iterator[str]:
    """Say of the metrics that are computed from decision values what their intervals and tests are."""
    experiment = run.experiment
    scorers = {name: experiment.scorers[name] for name in experiment.metrics if name in experiment.scorers}
    if names := [metric_name(name, experiment.quantities) for name, own in scorers.items() if own.ranking is not None]:
        replicated = next(iter(experiment.variants.values())).protocol.tags.replicated
        text = _RANKED.format(metrics=" and ".join(names), of_one="" if multilabel else _OF_ONE_CLASS)
        yield capitalized(text) + ("" if replicated else _RANKED_SAMPLE)


def _versions(predictions: Predictions) -> list[str]:
    """Describe the package versions that measured the seconds, if there are several."""
    taken = Counter(version for point in predictions.settings.values() for version in set(point.versions))
    if len(taken) < 2:
        return []
    counted = ", ".join(f"{n:,} by {version or 'an unknown version'}" for version, n in sorted(taken.items()))
    return [f"Seconds were measured by several versions of this package and can't be compared (settings: {counted})."]


def terminal_notes(run: RunPredictions) -> Iterator[str]:
    """Yield the notes for a terminal: documents, words, sample of intervals, versions."""
    yield from _versions(run.predictions)
    yield from _warnings(run)
    yield from _untested_classes(run)
    tags = next(iter(run.experiment.variants.values())).protocol.tags
    bars = sampling_of(tags, run.experiment.seed).bars
    for name in run.experiment.variants if len(run.experiment.variants) <= MAX_LISTED_VARIANTS else ():
        own = run.facts.get(name, {})
        documents = f"{own.get('documents', 0):,} documents, {own.get('vocabulary', 0):,} words"
        yield f"{_label(name, run.experiment)}{documents}; {bars}."
    yield from _doubts(run.experiment, run.facts, run.predictions)
    yield from failed_diagnostics(run)


def _doubts(experiment: Experiment, facts: Mapping[str, Mapping[str, Any]], predictions: Predictions) -> Iterator[str]:
    """Yield what the documents, vectors and dates may mean otherwise than they were taken."""
    yield from dict.fromkeys(note for own in facts.values() for note in own.get("notes", ()))
    entries = (entry for variant in experiment.variants.values() for entry in variant.entries)
    yield from dict.fromkeys(_features(e.label, e.candidates[0].vectors) for e in entries if e.candidates[0].vectors)
    for name, variant in experiment.variants.items():
        given = variant.protocol.resolved
        share = 0.0 if given.get("test_from") else given.get("test_share", 0.0)
        tested = {key: splits for key, splits in predictions.splits.items() if key.variant == name}
        for key, (split, *_) in tested.items() if variant.protocol.name == "by-date" and share else ():
            n, n_documents = len(split.test), len(predictions.tasks[key.of_task].ids)
            if abs(n / n_documents - share) > MAX_SHARE_DEVIATION:
                text = f"{n:,} documents are tested ({n / n_documents:.1%}) and {n_documents - n:,} train"
                why = "documents of the same date are never separated"
                yield f"{_label(name, experiment)}{text}, where test_share is {share:.1%}: {why}."


def _features(label: str, vectors: VectorFile) -> str:
    """Describe the features of vectors that were made elsewhere."""
    if not vectors.features:
        column = f"the numbers of the column {vectors.column!r}" if vectors.column else "all columns"
        return f"{label}: features are {column} of {vectors.file.name}."
    first, *_, last = vectors.features * 2
    names = first if len(vectors.features) == 1 else f"{first} … {last}"
    text = f"{label}: {len(vectors.features):,} columns of {vectors.file.name} are features ({names})"
    return text + (f"; left out: {', '.join(vectors.left_out)}." if vectors.left_out else ".")


def _label(name: str, experiment: Experiment) -> str:
    return f"{name}: " if len(experiment.variants) > 1 else ""


def _documents(experiment: Experiment, facts: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield notes on the documents and words of each variant."""
    for name, variant in experiment.variants.items():
        own, base = facts.get(name, {}), variant.collection.text
        text = f"{own.get('documents', 0):,} documents, {_words(base, own)}"
        points = [spec.representation for entry in variant.entries for spec in entry.candidates]
        if any(each.learns for each in points):
            sources = dict.fromkeys(each.idf for each in points if each.learns)
            whose = {"collection": "the whole collection", "training": "the training documents"}
            text += f"; idf over {' or '.join(whose[source] for source in sources)}"
        yield f"{_label(name, experiment)}{text}{_empty(own)}."
        others = [(text, label) for text, label in variant.texts.items() if text != base]
        for (each, label), words in zip(others, own.get("texts", ()), strict=False):
            rest = [f"; {key}: {str(each.flat[key]).lower()}" for key in _READ if each.flat[key] != base.flat[key]]
            yield f"{_label(name, experiment)}Text of {label}: {_words(each, words)}{''.join(rest)}{_empty(words)}."
        if dropped := own.get("letters_dropped", 0):
            problem = "non-ASCII letters were dropped; words are split where they occur"
            yield f"{_label(name, experiment)}{dropped:,} {problem}. `lexer: unicode` reads them."


def _words(text: TextSettings, own: Mapping[str, Any]) -> str:
    """Describe the number of words of a text, its lexing and its pruning."""
    pruning = text.pruning
    least = [f"occur at least {pruning.min_occurrences} times"] if pruning.min_occurrences > 1 else []
    least += [f"are in at least {pruning.min_documents} documents"] if pruning.min_documents > 1 else []
    pruned = f" that {' and '.join(least)}" if least else ""
    if pruned and pruning.by_split:
        pruned += ", of which each split keeps those that do so in its training documents"
    elif pruned and pruning.group:
        pruned += f" in the group {pruning.group!r}"
    made = f"; digits: {text.lexing.digits}; stoplist: {text.lexing.stoplist}"
    made += f"; terms: {', '.join(text.lexing.blocks)}" if len(text.lexing.blocks) > 1 else ""
    return f"{own.get('vocabulary', 0):,} words{pruned}{made}"


def _empty(own: Mapping[str, Any]) -> str:
    n = own.get("documents_without_words", 0)
    return f"; {n} document{'s' if n > 1 else ''} without words, represented by the zero vector" if n else ""


def _methods(experiment: Experiment) -> Iterator[str]:
    """Yield a definition of each method, where the table doesn't give it."""
    if all(cell.size is None and cell.terms is None for cell in experiment.cells):
        return
    first: tuple[str, ...] = ()
    for name, variant in experiment.variants.items():
        found = []
        for label, spec in ((entry.label, entry.candidates[0]) for entry in variant.entries):
            counts = not spec.kernel and spec.representation.normalization == "none"
            points = spec.representation.weighting.name if counts else points_label(spec)
            found.append(f"{label}: {component_label(spec.classifier)} on {points}")
        own = [text for text in found if text not in first]
        first = first or tuple(found)
        if own:
            yield f"{_label(name, experiment)}{'; '.join(own)}."


def _tasks(first: Variant, predictions: Predictions) -> Iterator[str]:
    """Yield the test documents and classes of each task, if there are several tasks."""
    for task in first.tasks if len(first.tasks) > 1 else ():
        documents = predictions.tasks.get(TaskKey(first.name, task.name))
        if documents is not None:
            own = (each for key, each in predictions.splits.items() if key.of_task == (first.name, task.name))
            splits = [split for each in own for split in each]
            n = f"{len(splits[0].test):,} test" if len(splits) == 1 else f"{len(documents.ids):,}"
            yield f"{task.title}: {n} documents; classes, in tie order: {', '.join(task.classes)}."


def _protocol(variant: Variant, predictions: Predictions) -> str:
    """Describe how documents are split."""
    protocol, given = variant.protocol.name, variant.protocol.resolved
    if protocol in ("random-subsets", "hold-out"):
        return _draws(variant, predictions)
    splits = next((each for key, each in predictions.splits.items() if key.variant == variant.name), ())
    if not splits:
        return "No split has predictions."
    sizes, names = [len(split.test) for split in splits], [split.name for split in splits]
    text = f"{len(sizes)} splits: {', '.join(names)}."
    if protocol == "fixed-split":
        tested = f"{sizes[0]:,} documents of the" if len(variant.tasks) == 1 else "the"
        text = f"One split, predefined by the collection: tested on {tested} group {names[0]!r}."
    elif protocol == "leave-one-group-out":
        each = ", ".join(f"{name} {n:,}" for name, n in list(zip(names, sizes, strict=True))[:MAX_LISTED_GROUPS])
        more = f", and {len(names) - MAX_LISTED_GROUPS} more groups" if len(names) > MAX_LISTED_GROUPS else ""
        text = f"Each group is tested after training on all others (test documents: {each}{more})."
    elif protocol == "k-fold":
        how = "stratified" if given["stratified"] else "random"
        whole = ", with each group in one fold" if given["grouped"] else ""
        text = f"{len(sizes)} {how} folds (seed {given['seed']}){whole}; each document is tested once."
    elif protocol == "by-date":
        newest = (
            f"{sizes[0]:,} documents, the newest of each class"
            if given["stratified"]
            else f"{sizes[0]:,} newest documents"
        )
        text = f"One split by date: tested on the {newest}, trained on earlier documents."
    return text


def _draws(variant: Variant, predictions: Predictions) -> str:
    given = variant.protocol.resolved
    how = f"{given['replicates']} {'stratified' if given['stratified'] else 'unstratified'} random replicates"
    if variant.protocol.name == "hold-out":
        whole = " of whole groups" if given["grouped"] else ""
        return f"{how}{whole}: {given['test_share']:.0%} of the documents are tested in each."
    nested = " (a replicate's smaller training sets are subsets of its larger ones)" if given.get("nested") else ""
    tested = f"the group {given['test']!r}" if given["test"] else "all other documents of the task"
    return f"Each training size: {how}{nested}, tested on {tested}." + _fewest(variant.name, predictions)


def _fewest(variant: str, predictions: Predictions) -> str:
    """Describe the smallest class's number of training documents, for documents with several classes."""
    found = []
    for key, splits in predictions.splits.items():
        documents = predictions.tasks[key.of_task]
        if key.variant == variant and documents.multilabel and key.size is not None:
            trained = np.stack([split.trained for split in splits])
            rarest = documents.classes[int(np.argmin(trained.min(axis=0)))]
            found.append(f"{int(trained.min())} ({rarest}) of {key.size:,}")
    return f" Fewest training documents of a class: {', '.join(found)}." if found else ""


def _scores(experiment: Experiment) -> list[str]:
    """Define the scores whose definitions differ in the literature."""
    known = [_DEFINITIONS[metric] for metric in experiment.metrics if metric in _DEFINITIONS]
    text = "; ".join(known)
    of_class = f"; a cell of one class has that class's score, and {ALL_CLASSES!r} the score over all classes"
    by_class = of_class if experiment.by_class else ""
    return [f"{text[:1].upper()}{text[1:]}{by_class}."] if known and (experiment.by_class or len(known) > 1) else []


def _ties(first: Variant) -> str:
    """Describe how ties are broken."""
    classes = first.tasks[0].classes
    trained = [e.label for e in first.entries if e.candidates[0].classifier.tags.first_trained_wins]
    order = ", ".join(classes) if len(first.tasks) == 1 else "the class order of each task above"
    if len(trained) == len(first.entries):
        return "A tie goes to the class that comes first among the training documents."
    text = f"A tie of one-vs-one votes or of scores goes to the class that comes first in: {order}."
    others = f" Ties of {', '.join(trained)} go to the class that comes first among the training documents."
    return text + (others if trained else "")


def _choices(experiment: Experiment) -> Iterator[str]:
    """Yield notes on how parameters are selected, and the grids of candidates."""
    inner = {} if experiment.inner is None else experiment.inner.given
    multilabel = any(variant.collection.multilabel for variant in experiment.variants.values())
    metric = metric_name(selection_metric(experiment, multilabel=multilabel), experiment.quantities)
    if CHOOSE_ORACLE in experiment.choices:
        yield _ORACLE
    if CHOOSE_CROSS_VALIDATION in experiment.choices:
        yield _INNER.format(folds=inner.get("k", 0), metric=metric)
    if CHOOSE_TEMPORAL_HOLDOUT in experiment.choices:
        of_each = " of each class" if inner.get("stratified") else ""
        yield _NEWEST.format(share=inner.get("test_share", 0.0), of_each=of_each, metric=metric)
    for entry in next(iter(experiment.variants.values())).entries:
        if len(entry.candidates) > 1:
            yield f"Candidates of {entry.label}: {grid_label(entry)}."


def _chosen(run: RunPredictions) -> Iterator[str]:
    """Yield the selected candidate of each split, for cells without a size or terms axis."""
    for cell in run.experiment.cells:
        entry = method_of(run.experiment, cell) if cell.what == "point" else None
        plain = cell.size is None and cell.terms is None and cell.of_class in ("", ALL_CLASSES)
        if entry is None or not plain or len(entry.candidates) < 2 or cell.id not in run.scored.chosen:
            continue
        names = [split.name for split in run.predictions.splits[cell.of_splits]]
        of: dict[str, list[str]] = {}
        for name, index in zip(names, run.scored.chosen[cell.id], strict=True):
            of.setdefault(candidate_label(entry, int(index)), []).append(name)
        yield f"{cell.id} selected " + "; ".join(f"{words} ({', '.join(own)})" for words, own in of.items()) + "."


def _warnings(run: RunPredictions) -> Iterator[str]:
    """Yield what the classifiers of methods warned of while they were trained."""
    methods: dict[str, list[str]] = {}
    for key, setting in run.predictions.settings.items():
        for text in setting.warnings:
            names = methods.setdefault(text, [])
            names += [] if key.method in names else [key.method]
    for text, names in methods.items():
        yield f"Warning of {', '.join(names)}: {text}"


def _components(experiment: Experiment, *, multilabel: bool) -> Iterator[str]:
    """Yield the notes of kernels, then those of classifiers, in alphabetical order."""
    specs = [entry.candidates[0] for variant in experiment.variants.values() for entry in variant.entries]
    kernels = {spec.kernel.name: spec.kernel.tags for spec in specs if spec.kernel is not None}
    classifiers = {spec.classifier.name: spec.classifier.tags for spec in specs}
    for tags in (each[name] for each in (kernels, classifiers) for name in sorted(each)):
        yield from filter(None, (tags.note, tags.note_multilabel if multilabel else ""))
    if any(spec.classifier.resolved.get("scale_C") == "mean-self-product" for spec in specs):
        yield _UNIT
