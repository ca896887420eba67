"""Explanations of scores, from the corpus to the score, with the misclassified documents."""

from __future__ import annotations

import shlex
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.document_predictions import DocumentExplanation, document_predictions
from benchmark.analysis.formatting.labels import candidate_label, component_label, points_label
from benchmark.analysis.formatting.table import Table
from benchmark.commands.compare import known_cell
from benchmark.config.model import method_of
from benchmark.corpora.assemble import select_documents
from benchmark.experiment.configuration import changed_plugin, experiment_of_manifest
from benchmark.experiment.run_folder import configuration_of_run, read_manifest, read_run
from benchmark.model.fitting import fit_model
from benchmark.papers.settings import setting_text
from benchmark.system.errors import BenchError, ConfigError, DataError, unknown_name
from benchmark.text.fields import document_string
from benchmark.text.lexer import MIN_WORD_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmark.analysis.document_predictions import DocumentPrediction
    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Cell
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.run import RunResult
    from benchmark.model.text_model import TextClassifier
    from benchmark.text.lexer import Lexing

DETAIL_HEADER = ("property", "value")
#: Maximal number of shown documents, and of characters of a text here and on a page.
MAX_EXAMPLES, MAX_TEXT_CHARACTERS, PAGE_TEXT_CHARACTERS = 5, 600, 300
#: Maximal number of confusions, and of a document's words and classes with decision values.
MAX_CONFUSIONS, N_TOP_TERMS, MAX_VALUES = 10, 8, 5


def explain_cell(
    folder: Path, cell: str, context: RunContext, *, document: str | None = None, shown: int = MAX_EXAMPLES
) -> Iterator[Table]:
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
    target = known_cell(run, cell, predicted=True)
    explainer, predicted = CellExplainer(run, target, folder), list(document_predictions(run, target))
    wrong = [each for each in predicted if not each.right]
    wanted = [each for each in predicted if each.document == document] if document else wrong[:shown]
    if not document:
        yield from (explainer.steps(), confusion_table(wrong))
    elif not wanted:
        tested = list(dict.fromkeys(each.document for each in predicted))
        raise ConfigError(unknown_name("tested document", document, tested, listed=False))
    try:
        explained = explainer.explain(wanted, context, MAX_TEXT_CHARACTERS)
        for each, explanation in explained:
            title = each.document if each.right else f"{each.document} (one of {len(wrong):,} wrong)"
            yield Table.of(title, DETAIL_HEADER, _details(each, explanation))
    except (ConfigError, DataError) as error:
        if document:
            raise
        reason = str(error).partition("\n")[0]  # a second line says how to get the corpus, for those who run it
        yield Table.of("Documents", (), [], empty=f"not shown, since their texts aren't in the folder: {reason}")


def write_page_with_texts(done: RunResult, context: RunContext) -> Path:
    """Write the page of a run again, with the texts of documents where the corpus is available.

    The best of the methods that are compared is trained again, and explains its predictions.
    """
    from benchmark.report.html.page import write_page  # noqa: PLC0415 - draws pictures, which nothing else here does

    explanations, shown = dict[str, DocumentExplanation](), done.summary.disagreement
    if shown is not None:
        try:
            explainer = CellExplainer(done.results, known_cell(done.results, shown.cells[0]), done.folder)
            explained = explainer.explain([first for first, _ in shown.documents], context, PAGE_TEXT_CHARACTERS)
            explanations = {each.document: explanation for each, explanation in explained}
        except BenchError as error:
            context.observer.note(f"the page is written without texts: {error}")
    return write_page(done.summary, done.folder, read_manifest(done.folder).get("machine", {}), explanations)


def confusion_table(wrong: Sequence[DocumentPrediction]) -> Table:
    """Return the table of confused classes, most frequent first."""
    confused = Counter((_classes(each.truth), _classes(each.predicted)) for each in wrong)
    ranked = sorted(confused.items(), key=lambda item: (-item[1], item[0]))[:MAX_CONFUSIONS]
    rows, header = [(*pair, n) for pair, n in ranked], ("true", "predicted", "documents")
    return Table.of("Confusions", header, rows, empty="every document is classified correctly")


def _details(each: DocumentPrediction, explanation: DocumentExplanation) -> Iterator[tuple[str, str]]:
    """Yield the properties of a document: its text, decision values and words."""
    yield from (("true", _classes(each.truth)), ("predicted", _classes(each.predicted) + ", after a tie" * each.tied))
    yield from (("split", each.fold), ("text", explanation.text))
    yield "decision values", explanation.values or f"not available: {explanation.problem}"
    for label, words in explanation.words.items():
        yield f"words for {label}", ", ".join(words) or "no single word"


class CellExplainer:
    """Explainer of one cell, for which its documents are read and its classifiers are trained again."""

    def __init__(self, run: RunPredictions, cell: Cell, folder: Path) -> None:
        self.run, self.cell, self.folder, self.manifest = run, cell, folder, read_manifest(folder)
        self.entry, self.candidates = method_of(run.experiment, cell), run.scored.chosen[cell.id]
        self.splits = run.predictions.splits[cell.of_splits]

    def steps(self) -> Table:
        """Return the cell's steps from corpus to classifier, and the command that runs only this cell again."""
        variant, facts = self.run.experiment.variants[self.cell.variant], self.run.facts[self.cell.variant]
        spec = self.entry.candidates[int(self.candidates[0])]
        text = spec.text or variant.collection.text
        words = next((counted for counted in facts.get("texts", ()) if text.flat.items() <= counted.items()), facts)
        least = f"; a word has at least {MIN_WORD_LENGTH} letters" if text.lexing.ngrams else ""
        rows = {"corpus": f"{variant.collection.corpus}, {facts['source']}"}
        rows["documents"] = f"{facts['documents']:,} of {len(facts['classes'])} classes"
        if "vocabulary" in words and spec.fused is None:
            rows["words"] = f"{words['vocabulary']:,} distinct, {words['words']:,} in all{least}"
            rows["text"] = _settings(vars(text.lexing) | vars(text.pruning))
        rows |= {"points": points_label(spec), "classifier": component_label(spec.classifier)}
        rows["protocol"] = _settings(variant.protocol.resolved)
        if len(self.entry.candidates) > 1:
            chosen = [candidate_label(self.entry, int(index)) for index in self.candidates]
            choices = dict.fromkeys(zip(chosen, (split.name for split in self.splits), strict=True))
            rows["chosen"] = "; ".join(f"{words} ({name})" for words, name in choices)
        rows["command"] = f"bench run {configuration_of_run(self.manifest)} --only {shlex.quote(self.cell.id)}"
        return Table.of(self.cell.id, DETAIL_HEADER, rows.items())

    def explain(
        self, wanted: Sequence[DocumentPrediction], context: RunContext, characters: int
    ) -> Iterator[tuple[DocumentPrediction, DocumentExplanation]]:
        """Yield the explanation of each prediction, with as many characters of its text."""
        if not wanted:
            return
        context.observer.now("reading the documents again")
        experiment = experiment_of_manifest(self.manifest, self.folder)
        if changed := changed_plugin(self.manifest, experiment):
            raise ConfigError(f"{changed}: was changed since the run; run again")
        collection, names = experiment.variants[self.cell.variant].collection, {each.document for each in wanted}
        source = collection.reader.locate(download=False, notify=lambda _: None)
        corpus = select_documents(collection.reader.load(source), list(collection.classes), collection.exclude)
        if corpus.digest != self.run.facts[self.cell.variant]["content_digest"]:
            raise DataError(f"{source}: was changed since the run; its documents differ")
        contents = {name: text for name, text in zip(corpus.documents.ids, corpus, strict=True) if name in names}

        trained_on = cache(lambda fold: fit_model(experiment, self.cell.id, context, split=fold))
        for each in wanted:
            context.observer.now(f"training the classifier of {each.fold} again")
            content = contents[each.document]
            spec = self.entry.candidates[int(self.candidates[each.split])]
            text = shorten_text(content, (spec.text or collection.text).lexing, characters)
            try:
                yield each, explain_document(trained_on(each.fold), content, text)
            except ConfigError as error:
                yield each, DocumentExplanation(text, problem=str(error))


def explain_document(model: TextClassifier, content: bytes, text: str) -> DocumentExplanation:
    """Return a model's decision values of a document, and the words whose removal lowers them most, if it has words."""
    n_words = 0 if model.n_terms is None else N_TOP_TERMS
    ((_, scores),) = model.answers([("", content)], n_words=n_words)
    values = scores.values[0]
    largest = np.argsort(-values, kind="stable")[:MAX_VALUES]
    written = ", ".join(f"{model.classes[code]} {values[code]:.4g}" for code in largest)
    words = scores.words[0].items() if n_words else ()
    return DocumentExplanation(text, written, {model.classes[code]: tuple(most) for code, most in words})


def _settings(settings: Mapping[str, Any]) -> str:
    """Write settings with the words of a configuration: "skip header yes; group none"."""
    return "; ".join(f"{key.replace('_', ' ')} {setting_text(value)}" for key, value in settings.items())


def shorten_text(content: bytes, lexing: Lexing, characters: int) -> str:
    """Return the text that the lexer reads, without its header and tags where those are skipped.

    Blank lines and a text beyond `characters` are left out.
    """
    text = document_string(content, skip_header=lexing.skip_header, skip_html=lexing.skip_html)
    lines = (" ".join(line.split()) if lexing.skip_html else line.rstrip() for line in text.splitlines())
    plain = "\n".join(line for line in lines if line)
    return plain if len(plain) <= characters else f"{plain[:characters]} …"


def _classes(classes: Sequence[str]) -> str:
    return ", ".join(classes) or "(none)"
