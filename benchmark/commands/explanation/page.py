"""Page of a run with the texts of its hardest documents, and what speaks for their predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.analysis.document_predictions import document_predictions
from benchmark.commands.explanation.account import CellAccount
from benchmark.experiment.run_folder import read_manifest, read_run, report_damage
from benchmark.system.errors import BenchError, ConfigError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmark.analysis.hardest_documents import DocumentExplanation
    from benchmark.analysis.summary import Summary
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.run import RunResult

#: Characters of a text in a page.
PAGE_TEXT_CHARACTERS = 300


def write_page_with_texts(done: RunResult, context: RunContext, cell: str = "") -> Path:
    """Write the page of a run again, with explanations of its hardest documents where the corpus is available.

    Parameters
    ----------
    done : RunResult
    context : RunContext
    cell : str
        Cell that is trained again. By default, the cell of each task with the best score.
    """
    from benchmark.report.html.page import write_page  # noqa: PLC0415 - draws pictures, which nothing else here does

    cells = [cell] if cell else best_predicting_cells(done.summary)
    if cell and cell not in done.results.scored.chosen:
        raise ConfigError(unknown_name("cell", cell, list(done.results.scored.chosen)))
    found: dict[tuple[str, str], DocumentExplanation] = {}
    try:
        found = explain_hardest(done.folder, done.summary, cells, context)
    except BenchError as error:
        context.observer.note(f"the page is written without texts: {error}")
    return write_page(done.summary, done.folder, read_manifest(done.folder).get("machine", {}), found)


def best_predicting_cells(summary: Summary) -> list[str]:
    """Return, for each task with hard documents, the cell with the best main score of those that predict them."""
    sign = 1 if summary.more_is_better(summary.main_metric) else -1
    found: dict[str, str] = {}
    for document in summary.hardest:
        scores = {cell: summary.headlines.get((cell, summary.main_metric), {}) for cell in document.predicted}
        found.setdefault(document.task, max(scores, key=lambda cell: sign * scores[cell].get("value", -sign)))
    return list(found.values())


def explain_hardest(
    folder: Path, summary: Summary, cells: Sequence[str], context: RunContext
) -> dict[tuple[str, str], DocumentExplanation]:
    """Explain the predictions that some cells make of the hardest documents; return them by task and document.

    Raises
    ------
    DataError
        If the corpus is missing or differs from the corpus of the run.
    """
    run, found = read_run(folder), dict[tuple[str, str], "DocumentExplanation"]()
    with report_damage(folder):
        accounts = [CellAccount(run, cell, folder) for cell in run.experiment.cells if cell.id in cells]
    for account in accounts:
        task = account.cell.task
        names = {document.name for document in summary.hardest if document.task == task}
        wanted = [each for each in document_predictions(run, account.cell) if each.document in names]
        for each, explanation in account.explain(wanted, context, PAGE_TEXT_CHARACTERS):
            found[task, each.document] = explanation
    return found
