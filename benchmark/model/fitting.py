"""Training of a model from a cell of a configuration, with the steps that a run takes up to training."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmark.analysis.model_selection import best_by_inner_loss, losses_of_counts, select_candidates, split_losses
from benchmark.config.subset import subset_experiment
from benchmark.corpora.user.user_files import UserFiles
from benchmark.evaluation.predictions import tallies_from_rows
from benchmark.evaluation.splits import Split
from benchmark.experiment import runner
from benchmark.experiment.counting import CorpusCache, load_variant
from benchmark.experiment.plan import fold_counts, plan_task
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.wrappers import INNER_FOLDS, FusedMethod, inner_folds, out_of_fold_values
from benchmark.model.probabilities import fit_sigmoids
from benchmark.model.text_model import ModelPart, TextClassifier, TextView
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.row_blocks import blas_threads
from benchmark.system.user_classes import guarded, plugin_of
from benchmark.text.lexer import WHOLE_DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import Cell, Collection, Experiment, MethodSpec
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.plan import Setting
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.split_data import SplitData
    from benchmark.system.arrays import Array

ALL_DOCUMENTS = "all documents"


def fit_model(
    experiment: Experiment, name: str, context: RunContext, *, split: str | None = None, probability: bool = False
) -> TextClassifier:
    """Train a cell's method on all documents of its task, or on the training documents of one of its splits.

    Parameters
    ----------
    experiment : Experiment
    name : str
        Name of a cell of predictions.
    context : RunContext
    split : str, optional
        Split to train on; the model then predicts the split's test documents as the run does.
    probability : bool
        Also fit class probabilities.

    Returns
    -------
    TextClassifier

    Raises
    ------
    ConfigError
        If the cell or split is unknown, or its method can't be a model.
    DataError
        If the corpus is missing, or differs from its card or the configuration's expectations.
    """
    cells = {cell.id: cell for cell in experiment.cells if cell.what == "point"}
    if name not in cells:
        raise ConfigError(f"--cell: {unknown_name('cell', name, list(cells))}")
    cell = cells[name]
    if split is None and cell.size is not None:
        raise ConfigError(
            f"{name}: has {cell.size:,} training documents: choose them by --split, such as --split replicate-01"
        )
    part = replace(subset_experiment(experiment, [name], [name]), diagnostics=())
    variant = part.variants[cell.variant]
    collection, reader = variant.collection, variant.collection.reader
    loaded = load_variant(part, variant, CorpusCache(context))
    if loaded.counts.matrix.dtype.kind == "f":
        raise ConfigError(f"{experiment.name}: its documents are vectors, so there are no texts to predict")
    task = next(each for each in variant.tasks if each.name == cell.task)
    planned = plan_task(part, variant, task, loaded)
    everything = Split(ALL_DOCUMENTS, np.arange(len(planned.problem.documents)), np.empty(0, dtype=np.intp))
    splits = {each.name: each for each in planned.splits[cell.size]}
    if split is not None and split not in splits:
        raise ConfigError(f"--split: {unknown_name('split', split, list(splits))}")
    trained, matrices = splits.get(split or "", everything), MatrixCache(context.jobs)
    wanted = cell.method, cell.size, cell.terms
    settings = [each for each in planned.settings if (each.key.method, each.key.size, each.key.terms) == wanted]
    try:
        with blas_threads(context.jobs):
            index, how = 0, ""
            if len(settings) > 1 and split is not None:
                index, how = _of_run(part, context, cell, split), cell.choice
            elif len(settings) > 1:
                index = _by_folds(experiment, settings, inner_folds(planned.problem, trained), matrices)
                how = f"cross-validation over {ALL_DOCUMENTS}"
            with guarded(settings[index].user_classes, ValueError, short=True):
                model = _trained(settings[index], trained, collection, matrices, context, probability=probability)
    except (ValueError, FloatingPointError) as error:
        raise ConfigError(f"{name}: {error}") from None
    model.about = {
        "name": experiment.name,
        "config": experiment.raw,
        "cell": name,
        "trained_on": trained.name,
        "documents": len(trained.train),
        "content_digest": loaded.facts["content_digest"],
        "chosen": {"by": how, "candidate": index, "of": len(settings)} if how else None,
        "text": _columns(collection),
        # How a user's files are read, for files that are predicted.
        "reading": {**reader.form, "id": reader.id} if isinstance(reader, UserFiles) else None,
    }
    return model


def _of_run(part: Experiment, context: RunContext, cell: Cell, split: str) -> int:
    """Return the index of the candidate that a run selects on a split."""
    run = runner.run_experiment(part, context)
    losses = partial(split_losses, run.experiment, run.predictions)
    candidates = select_candidates(run.experiment, run.predictions, cell, losses)
    if candidates is None:
        raise ValueError("a candidate can't be trained, so none is selected; `bench run` prints the reason")
    names = [each.name for each in run.predictions.splits[cell.of_splits]]
    return int(candidates[names.index(split)])


def _by_folds(
    experiment: Experiment, settings: Sequence[Setting], folds: Sequence[Split], matrices: MatrixCache
) -> int:
    """Return the index of the candidate with the lowest loss on the folds."""
    losses = []
    for each in settings:
        predictions = each.method.solve(each.problem, folds, each.key.terms, matrices)
        counts = tallies_from_rows(fold_counts(predictions, folds, each.problem)[None])
        losses.append(losses_of_counts(experiment, counts, multilabel=each.problem.multilabel))
    return int(best_by_inner_loss(np.array(losses))[0])


def _trained(
    setting: Setting,
    split: Split,
    collection: Collection,
    matrices: MatrixCache,
    context: RunContext,
    *,
    probability: bool,
) -> TextClassifier:
    """Train on a split, and for probabilities on folds of its training documents."""
    method, problem, rule, outside = setting.method, setting.problem, None, None
    for spec in (method.spec, *(() if method.spec.fused is None else method.spec.fused.members)):
        if spec.vectors is not None:
            raise ValueError(f"{spec.vectors.file.name}: a kept model can't make the vectors of new documents")

    def data_of(split: Split) -> SplitData:
        return method.data_of(problem, split, setting.key.terms, matrices)

    def score(fold: Split) -> Array:
        context.observer.step(fold.name)
        return method.score(data_of(fold))

    data = data_of(split)
    if isinstance(method, FusedMethod):
        fusion = method.train(data)
        rule, outside = fusion.rule, fusion.outside
        pairs = zip(method.methods, fusion.members, strict=True)
        parts = [_model_part(own.spec, collection, *member[:2]) for own, member in pairs]
    else:
        context.observer.plan(1 + probability * INNER_FOLDS)
        parts = [_model_part(method.spec, collection, data, method.fit(data))]
        context.observer.step(split.name)
        if probability:
            outside = out_of_fold_values(problem, split, score)
    classes, sigmoids = problem.documents.classes, None
    if probability and outside is not None:
        truth = problem.members if problem.multilabel else problem.documents.labels
        sigmoids = fit_sigmoids(outside, truth[split.train], parts[0].fitted.learned, classes)
    plugins = dict.fromkeys(plugin for part in method.spec.components if (plugin := plugin_of(part.cls)))
    return TextClassifier(classes, tuple(parts), rule, sigmoids, {}, tuple(plugins), context.jobs)


def _model_part(spec: MethodSpec, collection: Collection, data: SplitData, fitted: FittedMethod) -> ModelPart:
    """Return a trained method with the view of texts that it takes."""
    terms = None if spec.classifier.tags.reads_texts else data.problem_of(spec).counts.vocabulary
    return ModelPart(TextView((spec.text or collection.text).lexing, terms), fitted)


def _columns(collection: Collection) -> list[str]:
    """Return the columns of the text in files of records: the fields, if the corpus counts fields."""
    reader = collection.reader
    fields = [name for name in reader.fields if name != WHOLE_DOCUMENT]
    counted = set(fields) & set(collection.lexing.fields)
    columns = getattr(reader, "text", fields if counted else "text")
    return [columns] if isinstance(columns, str) else list(columns)
