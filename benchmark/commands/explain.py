"""Explanations of scores, from the corpus to the score, with the misclassified documents."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from benchmark.analysis.comparisons import main_metric
from benchmark.analysis.document_predictions import document_predictions
from benchmark.analysis.formatting.labels import candidate_label, component_label, points_label
from benchmark.analysis.formatting.number_text import MISSING_TEXT, setting_text
from benchmark.analysis.formatting.terminal_table import TerminalTable
from benchmark.analysis.formatting.units import display_unit, metric_with_unit
from benchmark.analysis.model_selection import selected_predictions
from benchmark.analysis.scoring import RunPredictions
from benchmark.config.model import method_of
from benchmark.config.tasks import protocol_at_size
from benchmark.corpora.assemble import select_documents
from benchmark.evaluation.predictions import METHOD_TIMERS
from benchmark.experiment.configuration import experiment_of_manifest
from benchmark.experiment.counting import read_counts, text_counts
from benchmark.experiment.run_folder import read_manifest, read_run, report_damage
from benchmark.experiment.task_planning import plan_task
from benchmark.kernels import is_elementwise_kernel
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.split_data import SplitData
from benchmark.model.fitting import fit_model
from benchmark.plugins.records import changed_plugin
from benchmark.system.errors import BenchError, ConfigError, DataError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.analysis.document_predictions import DocumentPrediction
    from benchmark.config.model import Cell, Experiment, MethodSpec
    from benchmark.corpora.corpus import Corpus
    from benchmark.evaluation.predictions import SettingPredictions, TaskDocuments, TestedSplit
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.run import RunResult
    from benchmark.methods.problem import Problem
    from benchmark.model.base import KeptModel

    #: Name of the similarity, and the nearest documents of each row with their values.
    _Near = tuple[str, dict[int, list[tuple[int, float]]]]

DETAIL_HEADER = ("property", "value")
#: Maximal number of shown documents, and of neighbours, words and text characters of each.
MAX_EXAMPLES, N_NEIGHBOURS, N_TOP_TERMS, MAX_TEXT_CHARACTERS = 5, 3, 8, 600


def explain_cell(
    folder: Path, cell: str, context: RunContext, *, document: str | None = None, shown: int = MAX_EXAMPLES
) -> Iterator[TerminalTable]:
    """Explain a cell's score, or the prediction of one document.

    Parts are computed as they are consumed, those that need no documents first. If the corpus or a plug-in is no longer
    available, a line replaces the documents.

    Parameters
    ----------
    folder : Path
        Folder of a finished run.
    cell : str
        Id of the cell.
    context : RunContext
    document : str, optional
        Id of a tested document; by default, some misclassified documents are shown.
    shown : int
        Maximal number of misclassified documents.

    Raises
    ------
    ConfigError
        If the cell doesn't exist or has no predictions, or no tested document has this id.
    DataError
        If a document was requested and the corpus is missing or differs from the corpus of the run.
    """
    run = read_run(folder)
    target = next((each for each in run.experiment.cells if each.id == cell), None)
    if target is None:
        raise ConfigError(unknown_name("cell", cell, run.experiment.ids))
    with report_damage(folder):
        if target.id not in run.scored.chosen:
            why = run.failures.get(target.id) or "it makes no predictions, but is computed from other cells"
            raise ConfigError(f"the cell {cell!r} has nothing to explain: {why}")
        account = _Account(run, target, read_manifest(folder))
        predicted = list(document_predictions(run, target))
        summary = [] if document else [*account.made_of(), *account.scores(), account.confusion(predicted)]
    wanted = account.wanted(predicted, document, shown)
    yield from summary
    try:
        yield from account.documents(wanted, context, n_wrong=sum(not each.right for each in predicted))
    except (ConfigError, DataError) as error:
        if document:
            raise
        reason = str(error).partition("\n")[0]  # a second line says how to get the corpus, for those who run it
        yield TerminalTable("Documents", (), [], f"not shown, since their texts aren't in the folder: {reason}")


def write_page_with_texts(done: RunResult, context: RunContext) -> Path:
    """Write the page of a run again, with the texts of its hardest documents where the corpus is available."""
    from benchmark.report.html.page import write_page  # noqa: PLC0415 - draws pictures, which nothing else here does

    texts: dict[str, str] = {}
    try:
        texts = document_texts(done.folder, list(done.summary.mistakes["document"]), context)
    except BenchError as error:
        context.observer.note(f"the page is written without texts: {error}")
    return write_page(done.summary, done.folder, read_manifest(done.folder).get("machine", {}), texts)


def document_texts(folder: Path, documents: Sequence[str], context: RunContext) -> dict[str, str]:
    """Return the texts of some tested documents of a finished run by id, long texts truncated.

    Raises
    ------
    DataError
        If the corpus is missing or differs from the corpus of the run.
    """
    run = read_run(folder)
    if not isinstance(run, RunPredictions) or not documents:
        return {}
    own = next(cell for cell in run.experiment.cells if cell.id in run.scored.chosen)
    account = _Account(run, own, read_manifest(folder))
    experiment, (problem, *_) = account.again(context)
    rows = np.flatnonzero(np.isin(problem.documents.ids, list(documents)))
    contents = account.contents(experiment, problem, rows)
    return {problem.documents.ids[row]: _shown(content) for row, content in contents.items()}


class _Account:
    """Explanation of one cell."""

    def __init__(self, run: RunPredictions, cell: Cell, manifest: Mapping[str, Any]) -> None:
        self.run, self.cell, self.manifest = run, cell, manifest
        self.entry = method_of(run.experiment, cell)
        self.candidates = run.scored.chosen[cell.id]
        self.tasks: TaskDocuments = run.predictions.tasks[cell.of_task]
        self.splits: tuple[TestedSplit, ...] = run.predictions.splits[cell.of_splits]
        self.predictions: SettingPredictions = selected_predictions(run.predictions, cell, self.candidates)
        #: Retrained model of each split, or the reason why it can't be trained.
        self.models: dict[str, KeptModel | str] = {}

    def made_of(self) -> list[TerminalTable]:
        """Return the cell's steps from corpus to classifier, and the command that runs only this cell again."""
        experiment, facts = self.run.experiment, self.run.facts[self.cell.variant]
        variant = experiment.variants[self.cell.variant]
        spec = self.entry.candidates[int(self.candidates[0])]
        text = spec.text or variant.collection.text
        words = next((own for own in facts.get("texts", ()) if text.flat.items() <= own.items()), facts)
        chosen = [candidate_label(self.entry, int(index)) for index in self.candidates]
        rows = [
            ("corpus", f"{variant.collection.corpus}, {facts['source']}"),
            ("content", facts["content_digest"]),
            ("documents", f"{facts['documents']:,} of {len(facts['classes'])} classes"),
            ("words", f"{words['vocabulary']:,} distinct, {words['words']:,} in all"),
            ("lexing", _settings(vars(text.lexing))),
            ("pruning", _settings(vars(text.pruning))),
            ("points", points_label(spec)),
            ("kernel", component_label(spec.kernel) if spec.kernel else "none"),
            ("classifier", component_label(spec.classifier)),
            ("protocol", _settings(variant.protocol.resolved)),
        ]
        rows += [("training size", f"{self.cell.size:,}")] if self.cell.size else []
        rows += [("terms", f"{self.cell.terms:,}")] if self.cell.terms else []
        if len(self.entry.candidates) > 1:
            told = dict.fromkeys(zip(chosen, (split.name for split in self.splits), strict=True))
            rows.append(("chosen", "; ".join(f"{words} ({name})" for words, name in told)))
        seconds = dict(zip(METHOD_TIMERS, self.predictions.seconds.sum(axis=0), strict=False))
        rows.append(("seconds", ", ".join(f"{part} {value:.2f}" for part, value in seconds.items() if value >= 0.005)))
        rows.append(("memory", f"{np.nanmax(self.predictions.memory) / 1e6:,.0f} MB at the peak"))
        again = f"bench run {self._config()} --only {shlex.quote(self.cell.id)}"
        return [TerminalTable(self.cell.id, DETAIL_HEADER, [*rows, ("command", again)])]

    def _config(self) -> str:
        """Return the configuration's file as the command named it, or its name where the file is unknown."""
        name = str(self.manifest["name"])
        words = [str(word) for word in self.manifest.get("command", [])]
        files = [word for word in words if word.endswith(".yaml")]
        return next((word for word in files if word.endswith(f"{name}.yaml")), files[0] if len(files) == 1 else name)

    def scores(self) -> list[TerminalTable]:
        """Return the table of scores of each split and of all splits."""
        metric, scored = main_metric(self.run.experiment), self.run.scored
        if not scored.has(metric, self.cell.id):
            return []
        unit, cell = display_unit(metric, self.run.experiment.quantities), scored.cells[self.cell.id]
        ties = [int(each.sum()) for each in self.predictions.tied_by_split]
        rows: list[tuple[Any, ...]] = [
            (split.name, unit.text(float(value)), len(split.test), int(split.trained.sum()), tied)
            for split, value, tied in zip(self.splits, cell.values[metric], ties, strict=True)
        ]
        estimate = scored.estimate(self.cell.id, metric)
        rows = [(*row[:2], MISSING_TEXT, *row[2:]) for row in rows]
        whole = ("all splits", unit.text(estimate.value), unit.interval(estimate.low, estimate.high))
        rows.append((*whole, sum(len(split.test) for split in self.splits), "", sum(ties)))
        score = metric_with_unit(metric, unit, self.run.experiment.quantities)
        head = ("split", score, "95% interval", "tested", "trained", "ties")
        return [TerminalTable("Scores", head, rows)]

    def confusion(self, decisions: Sequence[DocumentPrediction]) -> TerminalTable:
        """Return the table of confused classes, most frequent first."""
        confused = Counter((_named(each.truth), _named(each.given)) for each in decisions if not each.right)
        ranked = sorted(confused.items(), key=lambda item: (-item[1], item[0]))[: 2 * MAX_EXAMPLES]
        rows = [(truth, given, n) for (truth, given), n in ranked]
        return TerminalTable(
            "Confusions", ("true", "predicted", "documents"), rows, "every document is classified correctly"
        )

    def wanted(
        self, decisions: Sequence[DocumentPrediction], document: str | None, shown: int
    ) -> list[DocumentPrediction]:
        """Return the predictions of one document, or wrong predictions of every confusion, most frequent first."""
        if document is not None:
            found = [each for each in decisions if each.document == document]
            if not found:
                tested = list(dict.fromkeys(each.document for each in decisions))
                raise ConfigError(unknown_name("tested document", document, tested).partition(" (allowed")[0])
            return found
        wrong = [each for each in decisions if not each.right]
        number = Counter[tuple[tuple[str, ...], ...]]()
        order = []
        for each in wrong:
            number[each.truth, each.given] += 1
            order.append((number[each.truth, each.given], each))
        order.sort(key=lambda item: (item[0], -number[item[1].truth, item[1].given]))
        return [each for _, each in order[:shown]]

    def documents(
        self, wanted: Sequence[DocumentPrediction], context: RunContext, *, n_wrong: int
    ) -> Iterator[TerminalTable]:
        """Yield each document with its text, decision values and nearest training documents."""
        if not wanted:
            return
        context.observer.now("reading the documents again")
        experiment, problems = self.again(context)
        variant, problem = experiment.variants[self.cell.variant], problems[0]
        rows = np.unique([each.row for each in wanted])
        contents = self.contents(experiment, problem, rows)
        splits = protocol_at_size(variant.protocol, self.cell.size).splits(problem.documents)
        ids, bench = problem.documents.ids, MatrixCache(context.jobs)
        near: dict[int, _Near] = {}
        aggregate = variant.terms.aggregate if variant.terms else "sum"
        candidates = method_of(experiment, self.cell).candidates
        for number, each in enumerate(wanted, start=1):
            context.observer.now(f"training the classifier of {each.fold} again")
            if each.split not in near:
                candidate = int(self.candidates[each.split])
                split = splits[each.split]
                seen = problems[candidate].over_terms_of(split.train)
                work = SplitData(seen, split, splits, self.cell.terms, aggregate, bench)
                asked = [other.row for other in wanted if other.split == each.split]
                near[each.split] = _nearest(work, candidates[candidate], asked)
            by, of_row = near[each.split]
            given = _named(each.given) + (", after a tie" if each.tied else "")
            details = [("true", _named(each.truth)), ("predicted", given), ("split", each.fold)]
            details.append(("text", _shown(contents[each.row])))
            details += self._reasons(experiment, each.fold, each.document, contents[each.row], context)
            nearest = of_row[each.row]
            details += [
                ("nearest document", f"{_at(problem, row)}, {by} {value:.4g}: {ids[row]}") for row, value in nearest
            ]
            wrong = f" (wrong: {number} of {n_wrong:,})" if not each.right else ""
            yield TerminalTable(each.document + wrong, DETAIL_HEADER, details)

    def again(self, context: RunContext) -> tuple[Experiment, tuple[Problem, ...]]:
        """Load the configuration and its corpus again, and return the documents as each candidate reads them.

        The corpus must be that of the run.
        """
        facts = self.run.facts[self.cell.variant]
        experiment = experiment_of_manifest(dict(self.manifest))
        if changed := changed_plugin(self.manifest.get("plugins", []), experiment.registries):
            raise ConfigError(f"{changed}: was changed since the run; run again")
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
        self, experiment: Experiment, split: str, name: str, content: bytes, context: RunContext
    ) -> list[tuple[str, str]]:
        """Train the split's model again; return its decision values and the words whose removal lowers them most."""
        if split not in self.models:
            try:
                self.models[split] = fit_model(experiment, self.cell.id, context, split=split)
            except ConfigError as error:
                self.models[split] = str(error)
        model = self.models[split]
        if isinstance(model, str):
            return [("decision values", f"not available: {model}")]
        n_words = 0 if model.n_terms is None else N_TOP_TERMS
        ((_, scores),) = model.answers([(name, content)], n_words=n_words)
        values = scores.values[0]
        order = np.argsort(-values, kind="stable")[:MAX_EXAMPLES]
        reasons = [("decision values", ", ".join(f"{model.classes[code]} {values[code]:.4g}" for code in order))]
        if not n_words:
            return [*reasons, ("words", "none: it reads texts by itself")]
        return reasons + [
            (f"words for {model.classes[code]}", ", ".join(words) or "no single word")
            for code, words in scores.words[0].items()
        ]

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


def _settings(given: Mapping[str, Any]) -> str:
    """Write settings with the words of a configuration: "skip header yes; group none"."""
    return "; ".join(f"{key.replace('_', ' ')} {setting_text(value)}" for key, value in given.items())


def _shown(content: bytes) -> str:
    """Return a text, truncated if it is long."""
    plain = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return plain if len(plain) <= MAX_TEXT_CHARACTERS else f"{plain[:MAX_TEXT_CHARACTERS]} …"


def _named(classes: Sequence[str]) -> str:
    return ", ".join(classes) or "(none)"


def _at(problem: Problem, row: int) -> str:
    """Return the classes of a document."""
    return _named([problem.documents.classes[code] for code in np.flatnonzero(problem.members[row])])


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
