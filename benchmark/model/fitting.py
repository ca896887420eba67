"""Training of a model from a cell of a configuration, with the steps that a run takes up to training."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.model_selection import best_by_inner_loss, losses_of_counts, select_candidates, split_losses
from benchmark.config.collection import outline_documents
from benchmark.config.model import CHOOSE_ORACLE, Experiment, method_of
from benchmark.config.tasks import protocol_at_size
from benchmark.corpora.user.user_files import UserFiles
from benchmark.evaluation.predictions import tallies_from_rows
from benchmark.evaluation.splits import Split
from benchmark.experiment import runner
from benchmark.experiment.counting import check_expectations, document_strings, read_counts, text_counts
from benchmark.experiment.settings import fold_counts
from benchmark.experiment.task_planning import plan_task
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.wrappers.fusion import FusedMethod
from benchmark.methods.wrappers.out_of_fold import INNER_FOLDS, inner_folds, out_of_fold_values
from benchmark.model.persistence import read_model, write_model
from benchmark.model.probabilities import fit_sigmoids
from benchmark.model.text_model import ModelPart, TextModel, TextView
from benchmark.plugins.trust import loading_own_code
from benchmark.system.errors import ConfigError, one_line, unknown_name
from benchmark.system.row_blocks import blas_threads
from benchmark.system.user_classes import guarded, plugin_of
from benchmark.text.lexer import WHOLE_DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Cell, Collection, Experiment, MethodSpec, Task, Variant
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.settings import Setting
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.learned_classes import LearnedClasses
    from benchmark.methods.problem import Problem
    from benchmark.system.observer import Observer

ALL_DOCUMENTS = "all documents"
#: Training documents that a model predicts once it was written and loaded again.
TRIED_DOCUMENTS = 100


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

    Returns
    -------
    TextModel

    Raises
    ------
    ConfigError
        If the cell or split is unknown, or its method can't be a model.
    DataError
        If the corpus is missing, or differs from its card or the configuration's expectations.
    """
    return _fitted_model(experiment, name, context, split=split, probability=probability)[0]


def fit_and_write(
    experiment: Experiment, name: str, context: RunContext, folder: Path, **how: Any
) -> tuple[TextModel, int]:
    """Train as `fit_model` does and write the model, once it was loaded again and predicted training documents.

    Returns
    -------
    TextModel, int
        The model, and its size in bytes.

    Raises
    ------
    ConfigError
        As by `fit_model`, and if the model can't be loaded again, or then predicts other labels: nothing is written.
    """
    model, inputs = _fitted_model(experiment, name, context, **how)
    problem = ""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent.resolve()) as made:
        try:
            write_model(model, Path(made))
            with loading_own_code():
                again = read_model(Path(made))
            if not np.array_equal(model.decide(inputs)[0], again.decide(inputs)[0]):
                problem = "it predicts other labels for training documents"
        except Exception as error:  # noqa: BLE001 - a user's class may raise anything
            problem = one_line(str(error).replace(f"{Path(made).resolve()}{os.sep}", "").removesuffix("; fit it again"))
    if problem:
        with contextlib.suppress(OSError):
            folder.rmdir()  # the empty folder that was made to see whether it can be written
        files = ", ".join(plugin.file.name for plugin in model.plugins if plugin.file) or "its file"
        rule = f"what a kept model names must stand at the top of {files}, by `def` or `class`, and keep all it learns"
        raise ConfigError(f"{name}: its model can't be loaded again, so nothing is written: {problem}; {rule}")
    return model, write_model(model, folder)


def _fitted_model(
    experiment: Experiment,
    name: str,
    context: RunContext,
    *,
    split: str | None,
    probability: bool,
) -> tuple[TextModel, list[Any]]:
    """Return the model of `fit_model`, and what each of its parts takes for the first training documents."""
    cell = _cell(experiment, name)
    variant = experiment.variants[cell.variant]
    if split is None and cell.size is not None:
        raise ConfigError(
            f"{name}: has {cell.size:,} training documents: choose them by --split, such as --split replicate-01"
        )
    part = _part(experiment, cell)
    (task,) = part.variants[cell.variant].tasks
    if split is not None:
        _check_split(split, part.variants[cell.variant], task, cell.size)
    counts, facts, key = read_counts(variant.collection, context)
    check_expectations(experiment, variant, counts)
    if counts.matrix.dtype.kind == "f":
        raise ConfigError(f"{experiment.name}: its documents are vectors, so there are no texts to predict")
    variant = part.variants[cell.variant]
    texts = text_counts(part, variant, counts, context)
    strings = document_strings(part, variant, context)
    work = plan_task(part, variant, task, counts, key, texts, strings)
    axes = cell.size, cell.terms
    problem, points = work.problem, [each for each in work.points if (each.place.size, each.place.terms) == axes]
    refusals = [_why_not_kept(each.method.spec) for each in points]
    if all(refusals):
        raise ConfigError(f"{name}: {refusals[0]}")
    trained = Split(ALL_DOCUMENTS, np.arange(len(problem.documents)), np.empty(0, dtype=np.intp))
    if split is not None:
        trained = next(each for each in work.splits[cell.size] if each.name == split)
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
            if refusals[index]:
                raise ConfigError(f"{name}: {refusals[index]}")
            about = {
                "name": experiment.name,
                "config": experiment.raw,
                "cell": name,
                "trained_on": trained.name,
                "documents": len(trained.train),
                "content_digest": facts["content_digest"],
                "chosen": {"by": how, "candidate": index, "of": len(points)} if how else None,
                "text": _columns(variant.collection),
                "reading": _reading(variant.collection),
            }
            training = _Training(points[index], variant.collection, about, bench, context.observer)
            return training.model(trained, probability=probability)
    except (ValueError, FloatingPointError) as error:
        raise ConfigError(f"{name}: {error}") from None
    finally:
        bench.release()


def _why_not_kept(spec: MethodSpec) -> str:
    """Return why a method can't be kept, or ""."""
    if spec.fused is not None:
        reasons = zip(spec.fused.names, map(_why_not_kept, spec.fused.members), strict=True)
        return next((f"{name}: {reason}" for name, reason in reasons if reason), "")
    if spec.vectors is not None:
        return f"{spec.vectors.file.name}: a kept model can't make the vectors of new documents"
    return ""


def _cell(experiment: Experiment, name: str) -> Cell:
    points = {cell.id: cell for cell in experiment.cells if cell.what == "point"}
    if name not in points:
        raise ConfigError(f"--cell: {unknown_name('cell', name, list(points))}")
    return points[name]


def _check_split(name: str, variant: Variant, task: Task, size: int | None) -> None:
    """Raise ConfigError for a name that is no split's, before the documents are counted."""
    _, documents = outline_documents(variant.collection).of_classes(task.classes)
    names = [split.name for split in protocol_at_size(variant.protocol, size).splits(documents)]
    if name not in names:
        raise ConfigError(f"--split: {unknown_name('split', name, names)}")


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
    """Setting, collection and metadata that one model is trained from."""

    point: Setting
    collection: Collection
    about: dict[str, Any]
    bench: MatrixCache
    observer: Observer

    def model(self, split: Split, *, probability: bool) -> tuple[TextModel, list[Any]]:
        """Train on a split; return the model, and what its parts take for the first training documents."""
        method, problem, rule = self.point.method, self.point.problem, None
        outside: NDArray[np.float64] | None = None
        if isinstance(method, FusedMethod):
            self.observer.plan(1)
            with guarded(self.point.user_classes, ValueError, short=True):
                sum_of = method.train(problem, split, self.point.terms, self.bench)
            self.observer.step(split.name)
            methods, problems = method.methods, method.problems
            fitted, rule, outside = sum_of.members, sum_of.rule, sum_of.outside
        else:
            self.observer.plan(1 + probability * INNER_FOLDS)
            methods, problems, fitted = (method,), (problem,), (self._fitted(split),)
            if probability:
                with guarded(self.point.user_classes, ValueError, short=True):
                    outside = out_of_fold_values(problem, split, method.inputs(problem), self._fitted)
        first = split.train[:TRIED_DOCUMENTS]
        each = [*zip(methods, problems, fitted, strict=True)]
        rows = [trained.view.own_terms(own.inputs(documents)[first]) for own, documents, trained in each]
        parts = tuple(self._part(own.spec, documents, trained) for own, documents, trained in each)
        sigmoids = self._sigmoids(outside, split, fitted[0].learned) if probability and outside is not None else None
        plugins = dict.fromkeys(found for part in method.spec.components if (found := plugin_of(part.cls)))
        model = TextModel(problem.documents.classes, parts, rule, sigmoids, self.about, tuple(plugins))
        return model, rows

    def _fitted(self, split: Split) -> FittedMethod:
        with guarded(self.point.user_classes, ValueError, short=True):
            fitted = self.point.method.fit(self.point.problem, split, self.point.terms, self.bench)
        self.observer.step(split.name)
        return fitted

    def _part(self, spec: MethodSpec, problem: Problem, fitted: FittedMethod) -> ModelPart:
        """Return a trained method with its own terms alone: their places in the corpus are not kept."""
        lexing, terms = (spec.text or self.collection.text).lexing, fitted.view.terms
        if spec.classifier.tags.reads_texts:
            return ModelPart(TextView(lexing, None), fitted)
        words = problem.counts.vocabulary
        view = TextView(lexing, words if terms is None else tuple(words[x] for x in terms))
        return ModelPart(view, fitted.over_own_terms())

    def _sigmoids(self, values: NDArray[np.float64], split: Split, learned: LearnedClasses) -> NDArray[np.float64]:
        """Fit sigmoids to decision values of each fold of the training documents, from models of the other folds."""
        problem = self.point.problem
        truth = problem.members if problem.multilabel else problem.documents.labels
        return fit_sigmoids(values, truth[split.train], learned, problem.documents.classes)


def _columns(collection: Collection) -> list[str]:
    """Return the columns of the text in files of records: the fields, if the corpus counts fields."""
    reader = collection.reader
    fields = [name for name in reader.fields if name != WHOLE_DOCUMENT]
    counted = set(fields) & set(collection.lexing.fields)
    columns = getattr(reader, "text", fields if counted else "text")
    return [columns] if isinstance(columns, str) else list(columns)


def _reading(collection: Collection) -> dict[str, Any] | None:
    """Return how a user's files are read, for files that are predicted; None for other corpora."""
    reader = collection.reader
    if not isinstance(reader, UserFiles):
        return None
    return {**reader.form, "id": reader.id}
