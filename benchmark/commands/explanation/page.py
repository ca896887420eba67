"""Page of a run with the texts of documents on which two methods disagree, and what speaks for their predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.analysis.document_predictions import document_predictions
from benchmark.commands.explanation.account import CellAccount
from benchmark.experiment.run_folder import read_manifest, read_run, report_damage
from benchmark.system.errors import BenchError, ConfigError, unknown_name

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.analysis.hardest_documents import DocumentExplanation
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.run import RunResult

#: Characters of a text in a page.
PAGE_TEXT_CHARACTERS = 300


def write_page_with_texts(done: RunResult, context: RunContext, cell: str = "") -> Path:
    """Write the page of a run again, with the texts of documents where the corpus is available.

    Parameters
    ----------
    done : RunResult
    context : RunContext
    cell : str
        Cell that is trained again. By default, the best of those that are compared.
    """
    from benchmark.report.html.page import write_page  # noqa: PLC0415 - draws pictures, which nothing else here does

    if cell and cell not in done.results.scored.chosen:
        raise ConfigError(unknown_name("cell", cell, list(done.results.scored.chosen)))
    found: dict[tuple[str, str], DocumentExplanation] = {}
    try:
        found = _explanations(done, cell, context)
    except BenchError as error:
        context.observer.note(f"the page is written without texts: {error}")
    return write_page(done.summary, done.folder, read_manifest(done.folder).get("machine", {}), found)


def _explanations(done: RunResult, cell: str, context: RunContext) -> dict[tuple[str, str], DocumentExplanation]:
    """Explain what one cell predicts for the documents of the page; return that by task and document.

    Raises
    ------
    DataError
        If the corpus is missing or differs from the corpus of the run.
    """
    shown = done.summary.disagreement
    if shown is None:
        return {}
    run, names = read_run(done.folder), {document.name for document in shown.documents}
    (target,) = (each for each in run.experiment.cells if each.id == (cell or shown.cells[0]))
    with report_damage(done.folder):
        account = CellAccount(run, target, done.folder)
    wanted = [each for each in document_predictions(run, target) if each.document in names]
    explained = account.explain(wanted, context, PAGE_TEXT_CHARACTERS)
    return {(target.task, each.document): explanation for each, explanation in explained}
