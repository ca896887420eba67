"""Explanations of scores, from the corpus to the score, with the misclassified documents."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.comparisons import main_metric
from benchmark.analysis.document_predictions import document_predictions
from benchmark.analysis.formatting.labels import candidate_label, component_label, points_label
from benchmark.analysis.formatting.number_text import setting_text
from benchmark.analysis.formatting.table import Column, Table
from benchmark.analysis.formatting.units import display_unit, metric_with_unit
from benchmark.classifiers import CLASSIFIERS
from benchmark.commands.explanation.account import CellAccount, classes_text
from benchmark.evaluation.predictions import METHOD_TIMERS
from benchmark.experiment.run_folder import read_run, report_damage
from benchmark.system.errors import ConfigError, DataError, unknown_name
from benchmark.text.lexer import MIN_WORD_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmark.analysis.document_predictions import DocumentPrediction
    from benchmark.config.model import MethodSpec, TextSettings
    from benchmark.experiment.context import RunContext

DETAIL_HEADER = ("property", "value")
#: Maximal number of shown documents, and of characters of their texts.
MAX_EXAMPLES, MAX_TEXT_CHARACTERS = 5, 600


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
    target = next((each for each in run.experiment.cells if each.id == cell), None)
    if target is None:
        raise ConfigError(unknown_name("cell", cell, run.experiment.ids))
    with report_damage(folder):
        if target.id not in run.scored.chosen:
            why = run.failures.get(target.id) or "it makes no predictions, but is computed from other cells"
            raise ConfigError(f"the cell {cell!r} has nothing to explain: {why}")
        account = _Account(run, target, folder)
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
        yield Table.of("Documents", (), [], empty=f"not shown, since their texts aren't in the folder: {reason}")


class _Account(CellAccount):
    """Tables of the explanation of one cell."""

    def made_of(self) -> list[Table]:
        """Return the cell's steps from corpus to classifier, and the command that runs only this cell again."""
        experiment, facts = self.run.experiment, self.run.facts[self.cell.variant]
        variant = experiment.variants[self.cell.variant]
        spec = self.entry.candidates[int(self.candidates[0])]
        members = {"": spec} if spec.fused is None else dict(zip(spec.fused.names, spec.fused.members, strict=True))
        chosen = [candidate_label(self.entry, int(index)) for index in self.candidates]
        rows = [
            ("corpus", f"{variant.collection.corpus}, {facts['source']}"),
            ("content", facts["content_digest"]),
            ("documents", f"{facts['documents']:,} of {len(facts['classes'])} classes"),
        ]
        for name, member in members.items():
            steps = _steps(member, member.text or variant.collection.text, facts)
            rows += [(f"{name}: {step}" if name else step, told) for step, told in steps]
        rows += [("classifier", points_label(spec))] if spec.fused else []
        rows.append(("protocol", _settings(variant.protocol.resolved)))
        rows += [("training size", f"{self.cell.size:,}")] if self.cell.size else []
        rows += [("terms", f"{self.cell.terms:,}")] if self.cell.terms else []
        if len(self.entry.candidates) > 1:
            told = dict.fromkeys(zip(chosen, (split.name for split in self.splits), strict=True))
            rows.append(("chosen", "; ".join(f"{words} ({name})" for words, name in told)))
        seconds = dict(zip(METHOD_TIMERS, self.predictions.seconds.sum(axis=0), strict=False))
        rows.append(("seconds", ", ".join(f"{part} {value:.2f}" for part, value in seconds.items() if value >= 0.005)))
        rows.append(("memory", f"{np.nanmax(self.predictions.memory) / 1e6:,.0f} MB at the peak"))
        again = f"bench run {self._config()} --only {shlex.quote(self.cell.id)}"
        return [Table.of(self.cell.id, DETAIL_HEADER, [*rows, ("command", again)])]

    def _config(self) -> str:
        """Return the configuration's file as the command named it, or its name where the file is unknown."""
        name = str(self.manifest["name"])
        words = [str(word) for word in self.manifest.get("command", [])]
        files = [word for word in words if word.endswith(".yaml")]
        return next((word for word in files if word.endswith(f"{name}.yaml")), files[0] if len(files) == 1 else name)

    def scores(self) -> list[Table]:
        """Return the table of scores of each split and of all splits."""
        metric, scored = main_metric(self.run.experiment), self.run.scored
        if not scored.has(metric, self.cell.id):
            return []
        unit, cell = display_unit(metric, self.run.experiment.quantities), scored.cells[self.cell.id]
        ties = [int(each.sum()) for each in self.predictions.tied_by_split]
        rows: list[tuple[Any, ...]] = [
            (split.name, float(value), None, len(split.test), int(split.trained.sum()), tied)
            for split, value, tied in zip(self.splits, cell.values[metric], ties, strict=True)
        ]
        estimate = scored.estimate(self.cell.id, metric)
        whole = ("all splits", estimate.value, (estimate.low, estimate.high))
        rows.append((*whole, sum(len(split.test) for split in self.splits), None, sum(ties)))
        score = metric_with_unit(metric, unit, self.run.experiment.quantities)
        head = ("split", Column(score, unit), Column("95% interval", unit), "tested", "trained", "ties")
        return [Table.of("Scores", head, rows)]

    def confusion(self, decisions: Sequence[DocumentPrediction]) -> Table:
        """Return the table of confused classes, most frequent first."""
        confused = Counter((classes_text(each.truth), classes_text(each.given)) for each in decisions if not each.right)
        ranked = sorted(confused.items(), key=lambda item: (-item[1], item[0]))[: 2 * MAX_EXAMPLES]
        rows = [(truth, given, n) for (truth, given), n in ranked]
        return Table.of(
            "Confusions", ("true", "predicted", "documents"), rows, empty="every document is classified correctly"
        )

    def wanted(
        self, decisions: Sequence[DocumentPrediction], document: str | None, shown: int
    ) -> list[DocumentPrediction]:
        """Return the predictions of one document, or wrong predictions of every confusion, most frequent first."""
        if document is not None:
            found = [each for each in decisions if each.document == document]
            if not found:
                tested = list(dict.fromkeys(each.document for each in decisions))
                raise ConfigError(unknown_name("tested document", document, tested, listed=False))
            return found
        wrong = [each for each in decisions if not each.right]
        number = Counter[tuple[tuple[str, ...], ...]]()
        order = []
        for each in wrong:
            number[each.truth, each.given] += 1
            order.append((number[each.truth, each.given], each))
        order.sort(key=lambda item: (item[0], -number[item[1].truth, item[1].given]))
        return [each for _, each in order[:shown]]

    def documents(self, wanted: Sequence[DocumentPrediction], context: RunContext, *, n_wrong: int) -> Iterator[Table]:
        """Yield each document with its text, decision values and nearest training documents."""
        explained = self.explain(wanted, context, MAX_TEXT_CHARACTERS)
        for number, (each, found) in enumerate(explained, start=1):
            given = classes_text(each.given) + (", after a tie" if each.tied else "")
            details = [("true", classes_text(each.truth)), ("predicted", given), ("split", each.fold)]
            details += [("text", found.text), ("decision values", found.values or f"not available: {found.problem}")]
            details += [
                (f"words for {label}", ", ".join(words) or "no single word") for label, words in found.words.items()
            ]
            if found.values and not found.words:
                details.append(("words", "none: it reads texts by itself"))
            details += [
                ("nearest document", f"{labels}, {found.similarity} {value:.4g}: {name}")
                for name, labels, value in found.nearest
            ]
            wrong = f" (wrong: {number} of {n_wrong:,})" if not each.right else ""
            yield Table.of(each.document + wrong, DETAIL_HEADER, details)


def _steps(spec: MethodSpec, text: TextSettings, facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the steps of a method from its text to its classifier; `facts` are those of the documents."""
    words = next((own for own in facts.get("texts", ()) if text.flat.items() <= own.items()), facts)
    fitted = getattr(CLASSIFIERS.get(spec.classifier.name), "kept", ())
    offset = ", with an intercept" if "intercept_" in fitted else ""
    least = f"; a word has at least {MIN_WORD_LENGTH} letters" if text.lexing.ngrams else ""
    return [
        ("words", f"{words['vocabulary']:,} distinct, {words['words']:,} in all{least}"),
        ("lexing", _settings(vars(text.lexing))),
        ("pruning", _settings(vars(text.pruning))),
        ("points", points_label(spec)),
        ("kernel", component_label(spec.kernel) if spec.kernel else "none"),
        ("classifier", f"{component_label(spec.classifier)}{offset}"),
    ]


def _settings(given: Mapping[str, Any]) -> str:
    """Write settings with the words of a configuration: "skip header yes; group none"."""
    return "; ".join(f"{key.replace('_', ' ')} {setting_text(value)}" for key, value in given.items())
