"""The documents on which the two best cells disagree, with what speaks for the predictions."""

import pytest

from benchmark.commands.explain import PAGE_TEXT_CHARACTERS, CellExplainer, write_page_with_texts
from benchmark.experiment.context import RunContext
from benchmark.experiment.store import Store
from benchmark.system.errors import DataError


@pytest.fixture(scope="module")
def explained(finished, tmp_path_factory):
    run, shown = finished.results, finished.summary.disagreement
    (cell,) = (each for each in run.experiment.cells if each.id == shown.cells[0])
    wanted = [first for first, _ in shown.documents]
    context = RunContext(Store(tmp_path_factory.mktemp("store")))
    found = CellExplainer(run, cell, finished.folder).explain(wanted, context, PAGE_TEXT_CHARACTERS)
    return {each.document: explanation for each, explanation in found}


def test_a_page_has_the_texts_only_where_they_are_asked_for_and_the_corpus_is_here(
    finished, explained, tmp_path, monkeypatch
):
    text = next(iter(explained.values())).text.splitlines()[0][:40]
    page = finished.folder / "report.html"
    assert text not in page.read_text()  # that of `bench run`
    assert text in write_page_with_texts(finished, RunContext(Store(tmp_path))).read_text()
    monkeypatch.setattr("benchmark.commands.explain.experiment_of_manifest", _gone)
    assert text not in write_page_with_texts(finished, RunContext(Store(tmp_path))).read_text()


def _gone(*_):
    raise DataError("the corpus is not here")
