"""The documents on which the two best cells disagree, with what speaks for the predictions."""

import pytest

from benchmark.analysis.document_predictions import document_predictions
from benchmark.commands.explain import PAGE_TEXT_CHARACTERS, CellExplainer, write_page_with_texts
from benchmark.experiment.context import RunContext
from benchmark.experiment.store import Store
from benchmark.system.errors import DataError


def test_the_predictions_of_the_two_best_are_those_of_the_run(finished):
    run, shown = finished.results, finished.summary.disagreement
    told = {
        (cell.id, each.document): (each.fold, each.label, each.truth[0])
        for cell in run.experiment.cells
        for each in document_predictions(run, cell)
    }
    found = [(document, cell, label) for document in shown.documents for cell, label in document.predicted.items()]
    assert found
    assert all(told[cell, each.name] == (each.fold, label, each.truth) for each, cell, label in found)


@pytest.fixture(scope="module")
def explained(finished, tmp_path_factory):
    run, names = finished.results, {document.name for document in finished.summary.disagreement.documents}
    (cell,) = (each for each in run.experiment.cells if each.id == "tf-l1-ngd")
    wanted = [each for each in document_predictions(run, cell) if each.document in names]
    context = RunContext(Store(tmp_path_factory.mktemp("store")))
    found = CellExplainer(run, cell, finished.folder).explain(wanted, context, PAGE_TEXT_CHARACTERS)
    return {("", each.document): explanation for each, explanation in found}


def test_a_page_has_the_texts_only_where_they_are_asked_for_and_the_corpus_is_here(
    finished, explained, tmp_path, monkeypatch
):
    text = next(iter(explained.values())).text.splitlines()[0][:40]
    page = finished.folder / "report.html"
    assert text not in page.read_text()  # that of `bench run`
    assert text in write_page_with_texts(finished, RunContext(Store(tmp_path))).read_text()
    monkeypatch.setattr("benchmark.commands.explain.CellExplainer._again", _gone)
    assert text not in write_page_with_texts(finished, RunContext(Store(tmp_path))).read_text()


def _gone(*_):
    raise DataError("the corpus is not here")
