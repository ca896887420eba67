"""Training of a model from a cell of a configuration, with the steps that a run takes up to training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.model_selection import best_by_inner_loss, losses_of_counts, select_candidates, split_losses
from benchmark.config.components import is_library_class
from benchmark.config.model import CHOOSE_ORACLE, Experiment, method_of
from benchmark.evaluation.predictions import tallies_from_rows
from benchmark.evaluation.splits import Split
from benchmark.experiment import runner
from benchmark.experiment.counting import check_expectations, read_counts, text_counts
from benchmark.experiment.settings import fold_counts
from benchmark.experiment.task_planning import plan_task
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.out_of_fold import INNER_FOLDS, inner_folds, out_of_fold_values
from benchmark.model.probabilities import fit_sigmoids
from benchmark.model.text_model import TextModel
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.plugin_errors import source_location
from benchmark.system.row_blocks import blas_threads
from benchmark.text.lexer import WHOLE_DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Cell, Collection, Experiment
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.settings import Setting
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.problem import Problem
    from benchmark.system.observer import Observer

ALL_DOCUMENTS = "all documents"


def fit_model(
    experiment: Experiment,
    name: str,
    context: RunContext,
    *,
    split: str | None = None,
    probability: bool = False,
) -> TextModel:
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

    Raises
    ------
    ConfigError
        If the cell or split is unknown, or its method can't be a model.
    DataError
        If the corpus is missing, or differs from its card or the configuration's expectations.
    """
    cell = _cell(experiment, name)
    variant = experiment.variants[cell.variant]
    if split is None and cell.size is not None:
        raise ConfigError(
            f"{name}: has {cell.size:,} training documents: choose them by --split, such as --split replicate-01"
        )
    counts, facts, key = read_counts(variant.collection, context)
    check_expectations(experiment, variant, counts)
    if counts.matrix.dtype.kind == "f":
        raise ConfigError(f"{experiment.name}: its documents are vectors, so there are no texts to predict")
    part = _part(experiment, cell)
    variant = part.variants[cell.variant]
    (task,) = variant.tasks
    texts = text_counts(part, variant, counts, context)
    work = plan_task(part, variant, task, counts, key, texts)
    axes = cell.size, cell.terms
    problem, points = work.problem, [each for each in work.points if (each.place.size, each.place.terms) == axes]
    _refuse_code(name, points[0])
    trained = Split(ALL_DOCUMENTS, np.arange(len(problem.documents)), np.empty(0, dtype=np.intp))
    if split is not None:
        named = {each.name: each for each in work.splits[cell.size]}
        if split not in named:
            raise ConfigError(f"--split: {unknown_name('split', split, list(named))}")
        trained = named[split]
    context.observer.plan(1 + probability * INNER_FOLDS)
    bench = MatrixCache(context.jobs)
    try:
        with blas_threads(context.jobs):
            index, how = 0, ""
            if len(points) > 1 and split is not None:
                run = runner.run_experiment(part, context)
                index, how = _of_run(run, cell, split), cell.choice
            elif len(points) > 1:
                index, how = (
                    _by_folds(experiment, points, inner_folds(problem, trained), bench),
                    f"cross-validation over {ALL_DOCUMENTS}",
                )
            training = _Training(points[index], bench)
            fitted = training.fitted(trained, context.observer)
            sigmoids = training.sigmoids(trained, fitted, context.observer) if probability else None
    except (ValueError, FloatingPointError) as error:
        raise ConfigError(f"{name}: {error}") from None
    finally:
        bench.release()
    terms, vocabulary = fitted.learned.terms, training.problem.counts.vocabulary
    text = points[index].method.spec.text or variant.collection.text
    about = {
        "name": experiment.name,
        "config": experiment.raw,
        "cell": name,
        "trained_on": trained.name,
        "documents": len(trained.train),
        "content_digest": facts["content_digest"],
        "chosen": {"by": how, "candidate": index, "of": len(points)} if how else None,
        "text": _columns(variant.collection),
    }
    if terms is not None:
        vocabulary = tuple(vocabulary[term] for term in terms)
    return TextModel(task.classes, text.lexing, vocabulary, fitted, sigmoids, about)


def _refuse_code(name: str, point: Setting) -> None:
    """Refuse a method with a plug-in's or a library's class: a model has numbers, but no code."""
    classifier, why = point.method.spec.classifier, "a model has numbers, but no code"
    if point.plugin_part is not None:
        raise ConfigError(f"{name}: {source_location(point.plugin_part)} is from a plug-in, and can't be saved: {why}")
    if is_library_class(classifier.cls):
        raise ConfigError(f"{name}: {classifier.name} is of a library, and can't be saved: {why}")


def _cell(experiment: Experiment, name: str) -> Cell:
    points = {cell.id: cell for cell in experiment.cells if cell.what == "point"}
    if name not in points:
        raise ConfigError(f"--cell: {unknown_name('cell', name, list(points))}")
    return points[name]


def _part(experiment: Experiment, cell: Cell) -> Experiment:
    """Return the part of an experiment that a cell needs; the oracle choice needs all training sizes."""
    variant = experiment.variants[cell.variant]
    reduced = replace(
        variant,
        tasks=tuple(task for task in variant.tasks if task.name == cell.task),
        sizes=variant.sizes if cell.choice == CHOOSE_ORACLE else (cell.size,),
        terms=variant.terms and replace(variant.terms, numbers=(cell.terms or 0,)),
        entries=(method_of(experiment, cell),),
    )
    # The expectations were checked on the whole experiment, and don't apply to a part.
    nothing: dict[str, Any] = {
        "expected_documents": None,
        "expected_vocabulary": None,
        "diagnostics": (),
        "compare": (),
    }
    return replace(experiment, variants={cell.variant: reduced}, cells=(cell,), figures=(), **nothing)


def _of_run(run: RunPredictions, cell: Cell, split: str) -> int:
    """Return the index of the candidate that the run selects on a split."""
    candidates = select_candidates(
        run.experiment, run.predictions, cell, partial(split_losses, run.experiment, run.predictions)
    )
    if candidates is None:
        raise ValueError("a candidate can't be trained, so none is selected; `bench run` prints the reason")
    names = [each.name for each in run.predictions.splits[cell.of_splits]]
    return int(candidates[names.index(split)])


def _by_folds(experiment: Experiment, points: Sequence[Setting], folds: Sequence[Split], bench: MatrixCache) -> int:
    """Return the index of the candidate with the lowest loss on the folds."""
    losses = []
    for point in points:
        problem = point.problem
        found = point.method.solve(problem, folds, point.terms, bench)
        counts = tallies_from_rows(fold_counts(found, folds, problem)[None])
        losses.append(losses_of_counts(experiment, counts, multilabel=problem.multilabel))
    return int(best_by_inner_loss(np.array(losses))[0])


@dataclass(frozen=True, eq=False)
class _Training:
    point: Setting
    bench: MatrixCache

    @property
    def problem(self) -> Problem:
        return self.point.problem

    def fitted(self, split: Split, observer: Observer) -> FittedMethod:
        fitted = self.point.method.fit(self.problem, split, self.point.terms, self.bench)
        observer.step(split.name)
        return fitted

    def sigmoids(self, split: Split, whole: FittedMethod, observer: Observer) -> NDArray[np.float64]:
        """Fit sigmoids to decision values of each fold of the training documents, from models of the other folds."""
        problem = self.problem
        values = out_of_fold_values(problem, split, partial(self.fitted, observer=observer))
        truth = problem.members if problem.multilabel else problem.documents.labels
        return fit_sigmoids(values, truth[split.train], whole.learned, problem.documents.classes)


def _columns(collection: Collection) -> list[str]:
    """Return the columns of the text in files of records: the fields, if the corpus counts fields."""
    reader = collection.reader
    fields = [name for name in reader.fields if name != WHOLE_DOCUMENT]
    counted = set(fields) & set(collection.lexing.fields)
    columns = getattr(reader, "text", fields if counted else "text")
    return [columns] if isinstance(columns, str) else list(columns)
