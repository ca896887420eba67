"""Training of a model from a cell of a configuration, with the steps that a run takes up to training."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchmark.analysis.model_selection import best_by_inner_loss, losses_of_counts
from benchmark.config.cells import subset_experiment
from benchmark.corpora.user.user_files import UserFiles
from benchmark.evaluation.predictions import tallies_from_rows
from benchmark.evaluation.splits import Split
from benchmark.experiment import runner
from benchmark.experiment.counting import CorpusCache, load_variant
from benchmark.experiment.plan import Setting, fold_counts, plan_task
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.wrappers import inner_folds, out_of_fold_values
from benchmark.model.text_model import TextClassifier, TextView, sigmoid_inputs
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.row_blocks import blas_threads
from benchmark.system.user_classes import guarded, plugin_of
from benchmark.text.lexer import WHOLE_DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import Cell, Collection, Experiment, MethodSpec
    from benchmark.experiment.context import RunContext
    from benchmark.methods.problem import LearnedClasses
    from benchmark.methods.split_data import SplitData
    from benchmark.system.arrays import Array, Bools

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
        raise ConfigError(f"{name}: has {cell.size:,} training documents: choose them by --split replicate-01")
    part = replace(subset_experiment(experiment, [name], [name]), diagnostics=())
    variant = part.variants[cell.variant]
    collection, reader = variant.collection, variant.collection.reader
    loaded = load_variant(part, variant, CorpusCache(context))
    if loaded.counts.matrix.dtype.kind == "f":
        raise ConfigError(f"{experiment.name}: its documents are vectors, so there are no texts to predict")
    task = next(each for each in variant.tasks if each.name == cell.task)
    planned = plan_task(part, variant, task, loaded)
    trained = Split(ALL_DOCUMENTS, np.arange(len(planned.problem.documents)), np.empty(0, dtype=np.intp))
    if split is not None:
        splits = {each.name: each for each in planned.splits[cell.size]}
        if split not in splits:
            raise ConfigError(f"--split: {unknown_name('split', split, list(splits))}")
        trained = splits[split]
    context.observer.plan(1)
    matrices = MatrixCache(context.jobs)
    wanted = cell.method, cell.size, cell.terms
    settings = [each for each in planned.settings if (each.key.method, each.key.size, each.key.terms) == wanted]
    try:
        with blas_threads(context.jobs):
            index = 0
            if len(settings) > 1 and split is not None:
                index = _of_run(part, context, cell, split)
            elif len(settings) > 1:
                index = _by_folds(experiment, settings, inner_folds(planned.problem, trained), matrices)
            with guarded(settings[index].user_classes, ValueError, short=True):
                model = _trained(settings[index], trained, collection, matrices, probability=probability)
    except (ValueError, FloatingPointError) as error:
        raise ConfigError(f"{name}: {error}") from None
    context.observer.step(trained.name)
    model.about = {
        "config": experiment.raw,
        "cell": name,
        "trained_on": trained.name,
        "documents": len(trained.train),
        "content_digest": loaded.facts["content_digest"],
        "candidate": index if len(settings) > 1 else None,
        "text": _columns(collection),
        # How a user's files are read, for files that are predicted.
        "reading": {**reader.form, "id": reader.id} if isinstance(reader, UserFiles) else None,
    }
    return model


def _of_run(part: Experiment, context: RunContext, cell: Cell, split: str) -> int:
    """Return the index of the candidate that a run selects on a split."""
    run = runner.run_experiment(part, context)
    if cell.id not in run.scored.chosen:
        raise ValueError("a candidate can't be trained, so none is selected; `bench run` prints the reason")
    names = [each.name for each in run.predictions.splits[cell.of_splits]]
    return int(run.scored.chosen[cell.id][names.index(split)])


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
    *,
    probability: bool,
) -> TextClassifier:
    """Train on a split, and for probabilities on folds of its training documents."""
    method, problem, sigmoids = setting.method, setting.problem, None
    if method.spec.vectors is not None:
        raise ValueError(f"{method.spec.vectors.file.name}: a kept model can't make the vectors of new documents")

    def data_of(split: Split) -> SplitData:
        return method.data_of(problem, split, setting.key.terms, matrices)

    data = data_of(split)
    fitted = method.fit(data)
    views = tuple(_view(each.spec, collection, own) for each, own in method.members(data))
    if probability:
        values = out_of_fold_values(problem, split, lambda fold: method.score(data_of(fold)))
        sigmoids = fit_sigmoids(values, data.members, fitted.learned)
    plugins = dict.fromkeys(plugin for part in method.spec.components if (plugin := plugin_of(part.cls)))
    return TextClassifier(problem.documents.classes, views, fitted, sigmoids, {}, tuple(plugins), matrices.jobs)


def fit_sigmoids(values: Array, members: Bools, learned: LearnedClasses) -> Array:
    """Fit slope a and offset b of each sigmoid p = 1 / (1 + exp(a f + b)), see `class_probabilities`, shape (n, 2).

    Of documents that all have a class, or none of which has it, the sigmoid is constant, as in Platt (1999):
    (m + 1) / (m + 2) or 1 / (m + 2) of m documents.

    Parameters
    ----------
    values : float64 array, shape (m, k)
        Decision values of documents that the classifiers were not trained on; NaN for documents without any.
    members : bool array, shape (m, k)
        Class indicators of the documents.
    learned : LearnedClasses
    """
    from sklearn.calibration import _SigmoidCalibration  # noqa: PLC0415 - slow, and for fitting alone

    inputs, sigmoids = sigmoid_inputs(values, learned), []
    codes = learned.columns if learned.multilabel else range(values.shape[1])[-inputs.shape[1] :]
    for f, code in zip(inputs.T, codes, strict=True):
        known = np.isfinite(f)
        inside = members[known, code]
        if inside.all() or not inside.any():
            sigmoids.append((0.0, np.log(len(inside) + 1.0) * (-1 if inside.any() else 1)))
        else:
            fitted = _SigmoidCalibration().fit(f[known], inside)
            sigmoids.append((fitted.a_, fitted.b_))
    return np.array(sigmoids).reshape(-1, 2)


def _view(spec: MethodSpec, collection: Collection, data: SplitData) -> TextView:
    """Return the view of texts that a method takes."""
    terms = None if spec.classifier.tags.reads_texts else data.problem_of(spec).counts.vocabulary
    return TextView((spec.text or collection.text).lexing, terms)


def _columns(collection: Collection) -> list[str]:
    """Return the columns of the text in files of records: the fields, if the corpus counts fields."""
    reader = collection.reader
    fields = [name for name in reader.fields if name != WHOLE_DOCUMENT]
    counted = set(fields) & set(collection.lexing.fields)
    columns = getattr(reader, "text", fields if counted else "text")
    return [columns] if isinstance(columns, str) else list(columns)
