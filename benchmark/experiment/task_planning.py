"""From a task to its settings, each with the keys of its results in the store."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from benchmark.config.subset import settings_of_cell
from benchmark.config.tasks import protocol_at_size
from benchmark.evaluation.predictions import SettingKey
from benchmark.experiment.batches import Batch
from benchmark.experiment.code_digest import code_digest
from benchmark.experiment.settings import PlannedTask, Setting, StoreUnit, component_classes, setting_name
from benchmark.experiment.store import array_digest, store_key
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.problem import Problem
from benchmark.methods.registry import build_method
from benchmark.methods.split_data import training_rows_of
from benchmark.methods.wrappers.fusion import FusedMethod
from benchmark.system.registries import is_builtin
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from benchmark.config.model import Experiment, MethodSpec, Task, TermSelection, TextSettings, Variant
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.protocols import EvaluationProtocol
    from benchmark.evaluation.splits import Split
    from benchmark.methods.base import Method
    from benchmark.text.counts import Counts
    from benchmark.text.pruning import Pruning
    from benchmark.text.strings import Texts


def plan_task(
    experiment: Experiment,
    variant: Variant,
    task: Task,
    counts: Counts,
    counts_id: str,
    texts: Mapping[TextSettings, tuple[Counts, str]] | None = None,
    strings: Mapping[TextSettings, Texts] | None = None,
) -> PlannedTask:
    """Return all settings of one task and variant.

    `texts` holds the counts of methods with their own text, `strings` the documents for methods that read them.
    """
    wanted = (
        {place for cell in experiment.cells for place in settings_of_cell(experiment, cell)}
        if experiment.only
        else None
    )
    documents = counts.documents.of_classes(task.classes)[1]
    splits = {size: tuple(protocol_at_size(variant.protocol, size).splits(documents)) for size in variant.sizes}
    trained = training_rows_of([split for each in splits.values() for split in each])
    problem = _problem(task, counts, counts_id, experiment.seed, trained, variant.collection.pruning)
    own: dict[TextSettings | None, Problem] = {
        text: _problem(task, *read, experiment.seed, trained, text.pruning) for text, read in (texts or {}).items()
    }
    read = {text: _with_texts(problem, task, counts, each) for text, each in (strings or {}).items()}

    def problem_of(spec: MethodSpec) -> Problem:
        seen = own.get(spec.text, problem)
        return read.get(spec.text or variant.collection.text, seen) if spec.classifier.tags.reads_texts else seen

    digest = cache(_rows_digest)
    # A user's protocol counts by the splits that it returns, which are part of each key.
    protocol_code = [variant.protocol.cls] if is_builtin(variant.protocol.cls) else []
    protocol = None if experiment.inner is None else experiment.inner.build()
    inner_of = {size: [_inner(split, problem, protocol) for split in splits[size]] for size in splits}
    points = []
    for entry in variant.entries:
        several = len(entry.candidates) > 1
        for index, spec in enumerate(entry.candidates):
            code = code_digest(*protocol_code, *component_classes(spec), plan_task, Batch, MatrixCache)
            method, seen = _method(spec, problem_of, variant), problem_of(spec)
            for size, number in product(variant.sizes, variant.numbers):
                place = SettingKey(variant.name, task.name, entry.label, index, size, number)
                if wanted is not None and place not in wanted:
                    continue
                label = f"{setting_name(place)}{f' {index}' if several else ''}"
                inner = inner_of[size] if several and experiment.inner else [()] * len(splits[size])
                folds = list(zip(splits[size], inner, strict=True))
                values = experiment.ranks_documents
                jobs = _jobs(label, method, spec, seen, folds, variant.terms, number, digest, code, values=values)
                aggregate = variant.terms.aggregate if variant.terms else "sum"
                points.append(Setting(place, method, seen, number, jobs, not several, aggregate))
    return PlannedTask(variant.name, task.name, problem, splits, tuple(points))


def _method(spec: MethodSpec, problem_of: Callable[[MethodSpec], Problem], variant: Variant) -> Method:
    """Return the method of a specification; a fusion has those of its members, each on its own counts or texts."""
    replicated = tags_of(variant.protocol.cls).replicated
    if spec.fused is None:
        return build_method(spec, problem_of(spec), variant.terms, replicated=replicated)
    members = [(each, problem_of(each)) for each in spec.fused.members]
    return FusedMethod(
        spec,
        tuple(build_method(each, seen, variant.terms, replicated=replicated) for each, seen in members),
        tuple(seen for _, seen in members),
        batched=replicated,
    )


def _problem(
    task: Task, counts: Counts, counts_id: str, seed: int, trained: NDArray[np.intp], pruning: Pruning
) -> Problem:
    rows, documents = counts.documents.of_classes(task.classes)
    whole = len(rows) == len(counts.documents)
    own = replace(counts, documents=documents, matrix=counts.matrix if whole else counts.matrix[rows])
    key = store_key(counts=counts_id, rows=_labels_digest(rows, documents), classes=list(task.classes))
    return Problem(own, key, seed, trained, pruning if pruning.by_split else None)


def _with_texts(problem: Problem, task: Task, counts: Counts, texts: Texts) -> Problem:
    """Return the problem with its documents as strings; methods that read them depend on no count."""
    rows, documents = counts.documents.of_classes(task.classes)
    key = store_key(texts=texts.key, rows=_labels_digest(rows, documents), classes=list(task.classes))
    return replace(problem, key=key, pruning=None, texts=texts.take(rows))


def _labels_digest(rows: NDArray[np.intp], documents: Documents) -> str:
    truth = documents.labels if documents.topics is None else np.packbits(documents.topics, axis=1)
    return array_digest(rows.astype(np.int64), truth)


def _inner(split: Split, problem: Problem, protocol: EvaluationProtocol | None) -> tuple[Split, ...]:
    """Return the folds of a split's training documents, as rows of the task."""
    if protocol is None:
        return ()
    train = problem.documents.take(split.train)
    made = protocol.splits(train)
    return tuple(type(split)(f.name, split.train[f.train], split.train[f.test], f.number) for f in made)


def _jobs(
    label: str,
    method: Method,
    spec: MethodSpec,
    problem: Problem,
    splits: list[tuple[Split, tuple[Split, ...]]],
    terms: TermSelection | None,
    number: int | None,
    digest: Callable[[Split], str],
    code: str,
    *,
    values: bool,
) -> tuple[StoreUnit, ...]:
    """Return the jobs of a setting; `splits` pairs each split with the folds of its training documents.

    Decision values are kept where `values` is true.
    """
    content = {
        "stage": "decisions",
        "code": code,
        "problem": problem.key,
        "representation": spec.representation.resolved,
        "kernel": spec.kernel.resolved if spec.kernel else None,
        "classifier": spec.classifier.resolved,
        "terms": [number, terms.rank, terms.aggregate] if terms else None,
        **({"threshold": spec.threshold.plain} if spec.threshold else {}),
        **({"predictions": spec.predictions.digest} if spec.predictions else {}),
        **({"vectors": spec.vectors.resolved} if spec.vectors else {}),
        **({"fused": method.content} if isinstance(method, FusedMethod) else {}),
        **({"values": True} if values else {}),
    }

    def job(name: str, own: list[tuple[Split, tuple[Split, ...]]]) -> StoreUnit:
        rows = [[digest(split), [digest(fold) for fold in folds]] for split, folds in own]
        seeds = [problem.seed, [split.number for split, _ in own]] if method.uses_seed else None
        key = store_key(rows=rows, seeds=seeds, **content)
        return StoreUnit(key, name, tuple(split for split, _ in own), tuple(folds for _, folds in own), values)

    if method.batched:
        return (job(label, splits),)
    return tuple(job(f"{label} · {each[0].name}", [each]) for each in splits)


def _rows_digest(split: Split) -> str:
    return array_digest(split.train.astype(np.int64), split.test.astype(np.int64))
