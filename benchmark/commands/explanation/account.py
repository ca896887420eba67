"""Explanation of a cell's predictions: texts, nearest training documents, and the words that decided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from benchmark.analysis.hardest_documents import DocumentExplanation
from benchmark.analysis.model_selection import selected_predictions
from benchmark.config.model import method_of
from benchmark.config.tasks import protocol_at_size
from benchmark.corpora.assemble import select_documents
from benchmark.experiment.configuration import experiment_of_manifest
from benchmark.experiment.counting import read_counts, text_counts
from benchmark.experiment.run_folder import read_manifest
from benchmark.experiment.task_planning import plan_task
from benchmark.kernels import is_elementwise_kernel
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.split_data import SplitData
from benchmark.model.fitting import fit_model
from benchmark.plugins.records import changed_plugin
from benchmark.system.errors import ConfigError, DataError
from benchmark.text.strings import document_string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.analysis.document_predictions import DocumentPrediction
    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Cell, Experiment, MethodSpec
    from benchmark.corpora.corpus import Corpus
    from benchmark.evaluation.predictions import SettingPredictions, TaskDocuments, TestedSplit
    from benchmark.experiment.context import RunContext
    from benchmark.methods.problem import Problem
    from benchmark.model.base import KeptModel
    from benchmark.text.lexer import Lexing

    #: Name of the similarity, and the nearest documents of each row with their values.
    _Near = tuple[str, dict[int, list[tuple[int, float]]]]

#: Maximal number of neighbours, words and classes with decision values of each document.
N_NEIGHBOURS, N_TOP_TERMS, MAX_VALUES = 3, 8, 5


class CellAccount:
    """Explanation of one cell."""

    def __init__(self, run: RunPredictions, cell: Cell, folder: Path) -> None:
        self.run, self.cell, self.folder, self.manifest = run, cell, folder, read_manifest(folder)
        self.entry = method_of(run.experiment, cell)
        self.candidates = run.scored.chosen[cell.id]
        self.tasks: TaskDocuments = run.predictions.tasks[cell.of_task]
        self.splits: tuple[TestedSplit, ...] = run.predictions.splits[cell.of_splits]
        self.predictions: SettingPredictions = selected_predictions(run.predictions, cell, self.candidates)
        #: Retrained model of each split, or the reason why it can't be trained.
        self.models: dict[str, KeptModel | str] = {}

    def explain(
        self, wanted: Sequence[DocumentPrediction], context: RunContext, characters: int
    ) -> Iterator[tuple[DocumentPrediction, DocumentExplanation]]:
        """Yield the explanation of each prediction, with as many characters of its text."""
        if not wanted:
            return
        context.observer.now("reading the documents again")
        experiment, problems = self.again(context)
        variant, problem = experiment.variants[self.cell.variant], problems[0]
        contents = self.contents(experiment, problem, np.unique([each.row for each in wanted]))
        splits = protocol_at_size(variant.protocol, self.cell.size).splits(problem.documents)
        bench = MatrixCache(context.jobs)
        near: dict[int, _Near] = {}
        aggregate = variant.terms.aggregate if variant.terms else "sum"
        candidates = method_of(experiment, self.cell).candidates
        for each in wanted:
            context.observer.now(f"training the classifier of {each.fold} again")
            if each.split not in near:
                candidate = int(self.candidates[each.split])
                split = splits[each.split]
                seen = problems[candidate].over_terms_of(split.train)
                work = SplitData(seen, split, splits, self.cell.terms, aggregate, bench)
                asked = [other.row for other in wanted if other.split == each.split]
                near[each.split] = _nearest(work, candidates[candidate], asked)
            by, of_row = near[each.split]
            found = self._reasons(experiment, each, contents[each.row], context)
            nearest = [(problem.documents.ids[row], _labels_of(problem, row), value) for row, value in of_row[each.row]]
            spec = candidates[int(self.candidates[each.split])]
            text = shorten_text(contents[each.row], (spec.text or variant.collection.text).lexing, characters)
            yield each, replace(found, text=text, similarity=by, nearest=nearest)

    def again(self, context: RunContext) -> tuple[Experiment, tuple[Problem, ...]]:
        """Load the configuration and its corpus again, and return the documents as each candidate reads them.

        The corpus must be that of the run.
        """
        facts = self.run.facts[self.cell.variant]
        experiment = experiment_of_manifest(self.manifest, self.folder)
        if changed := changed_plugin(self.manifest.get("plugins", []), experiment.registries):
            raise ConfigError(f"{changed}: was changed since the run; run again")
        if self.cell.id not in experiment.ids:
            raise DataError(f"{self.folder}: its configuration has no cell {self.cell.id!r}; run again")
        variant = experiment.variants[self.cell.variant]
        counts, now, key = read_counts(variant.collection, context)
        if now["content_digest"] != facts["content_digest"]:
            raise DataError(f"{now['source']}: was changed since the run; its documents differ")
        task = next(task for task in variant.tasks if task.name == self.cell.task)
        part = replace(variant, entries=(method_of(experiment, self.cell),))
        texts = text_counts(experiment, part, counts, context)
        points = plan_task(experiment, part, task, counts, key, texts).points
        return experiment, tuple({point.place.candidate: point.problem for point in points}.values())

    def _reasons(
        self, experiment: Experiment, each: DocumentPrediction, content: bytes, context: RunContext
    ) -> DocumentExplanation:
        """Train the split's model again; return its decision values and the words whose removal lowers them most."""
        if each.fold not in self.models:
            try:
                self.models[each.fold] = fit_model(experiment, self.cell.id, context, split=each.fold)
            except ConfigError as error:
                self.models[each.fold] = str(error)
        model = self.models[each.fold]
        if isinstance(model, str):
            return DocumentExplanation("", self.cell.id, problem=model)
        n_words = 0 if model.n_terms is None else N_TOP_TERMS
        ((_, scores),) = model.answers([(each.document, content)], n_words=n_words)
        values = scores.values[0]
        order = np.argsort(-values, kind="stable")[:MAX_VALUES]
        written = ", ".join(f"{model.classes[code]} {values[code]:.4g}" for code in order)
        words = {model.classes[code]: tuple(words) for code, words in scores.words[0].items()} if n_words else {}
        return DocumentExplanation("", self.cell.id, written, words=words)

    def contents(self, experiment: Experiment, problem: Problem, rows: NDArray[np.intp]) -> dict[int, bytes]:
        """Return the bytes of some documents, by row of the task."""
        collection = experiment.variants[self.cell.variant].collection
        source = collection.reader.locate(download=False, notify=lambda _: None, progress=False)
        whole = cast("Corpus", collection.reader.load(source))
        corpus = select_documents(whole, list(collection.classes), collection.exclude)
        wanted = {problem.documents.ids[row]: int(row) for row in rows}
        position = {n: wanted[name] for n, name in enumerate(corpus.documents.ids) if name in wanted}
        found = {}
        for number, text in enumerate(corpus):
            if number in position:
                found[position[number]] = text
        return found


def shorten_text(content: bytes, lexing: Lexing, characters: int) -> str:
    """Return the text that the lexer reads, without its header and tags where those are skipped.

    Blank lines and a text beyond `characters` are left out.
    """
    text = document_string(content, skip_header=lexing.skip_header, skip_html=lexing.skip_html)
    lines = (" ".join(line.split()) if lexing.skip_html else line.rstrip() for line in text.splitlines())
    plain = "\n".join(line for line in lines if line)
    return plain if len(plain) <= characters else f"{plain[:characters]} …"


def classes_text(classes: Sequence[str]) -> str:
    """Write the classes of a document."""
    return ", ".join(classes) or "(none)"


def _labels_of(problem: Problem, row: int) -> str:
    return classes_text([problem.documents.classes[code] for code in np.flatnonzero(problem.members[row])])


def _nearest(work: SplitData, spec: MethodSpec, rows: Sequence[int]) -> _Near:
    """Return the similarity used and the nearest training documents: by kernel, or by cosine without one on points."""
    points, train, kernel = work.points(spec.representation), work.split.train, spec.kernel
    if kernel is not None and is_elementwise_kernel(kernel.cls) and not spec.representation.dirichlet:
        by, values = kernel.name, kernel.build().fit(points[train]).transform(points[rows])
    else:
        from sklearn.metrics.pairwise import cosine_similarity  # noqa: PLC0415 - slow import, rarely needed

        by = "cosine of counts" if spec.classifier.tags.reads_texts else "cosine"
        values = cosine_similarity(points[rows], points[train])
    neighbours = {}
    for row, similarities in zip(rows, values, strict=True):
        order = np.argsort(-similarities, kind="stable")[:N_NEIGHBOURS]
        neighbours[row] = [(int(train[position]), float(similarities[position])) for position in order]
    return by, neighbours
