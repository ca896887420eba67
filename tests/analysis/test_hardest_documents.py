"""The documents that most cells get wrong are those of the decisions, counted."""

from collections import Counter, defaultdict

import pytest

from benchmark.analysis import hardest_documents as mistakes
from benchmark.analysis.document_predictions import document_predictions
from benchmark.commands.explain import document_texts, write_page_with_texts
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import load_checked, run_and_write
from benchmark.experiment.store import Store
from benchmark.system.errors import DataError


@pytest.fixture(scope="module")
def wrong(finished):
    run = finished.results
    return Counter(
        each.document for cell in run.experiment.cells for each in document_predictions(run, cell) if not each.right
    )


def test_each_is_counted_over_the_cells_and_the_worst_are_first(finished, wrong):
    rows = finished.summary.mistakes.to_dict("records")
    assert {row["document"]: row["wrong"] for row in rows} == dict(wrong)
    assert [row["wrong"] for row in rows] == sorted(wrong.values(), reverse=True)
    assert all(row["of"] == len(finished.results.experiment.cells) for row in rows)


def test_what_was_predicted_is_told_with_the_number_of_cells(finished):
    run = finished.results
    given = defaultdict(Counter)
    for cell in run.experiment.cells:
        for each in document_predictions(run, cell):
            given[each.document][each.given[0]] += 1
    for row in finished.summary.mistakes.to_dict("records"):
        told = [part.removesuffix(")").partition(" (") for part in row["given"].split("; ")]
        assert {label: int(n) for label, _, n in told} == given[row["document"]]
        assert row["truth"] == row["document"].split("/")[0]


def test_no_more_are_told_than_a_page_has_room_for(finished, wrong, monkeypatch):
    monkeypatch.setattr(mistakes, "MAX_DOCUMENTS_PER_TASK", 2)
    run = finished.results
    rows = mistakes.hardest_document_rows(run.experiment, run.predictions, run.scored)
    assert [row[3] for row in rows] == sorted(wrong.values(), reverse=True)[:2]


@pytest.mark.usefixtures("sketched")
def test_documents_of_tasks_are_told_apart(tmp_path):
    path = tmp_path / "tasks.yaml"
    path.write_text(
        "name: tasks\ncorpus: {name: synthetic}\nprotocol: leave-one-group-out\nmethods: [linear, ned]\n"
        "tasks: [[student, project], [faculty, course], [student, course]]\n"
    )
    done = run_and_write(load_checked(path), RunContext(Store(tmp_path / "store")), folder=tmp_path / "tasks")
    run, rows = done.results, done.summary.mistakes.to_dict("records")
    wrong = Counter(
        (cell.task, each.document)
        for cell in run.experiment.cells
        for each in document_predictions(run, cell)
        if not each.right
    )
    assert {(row["task"], row["document"]): row["wrong"] for row in rows} == dict(wrong)
    assert all(row["truth"] == row["document"].split("/")[0] for row in rows)
    assert len({row["task"] for row in rows}) == 3


def test_texts_are_those_of_the_corpus(finished, tmp_path):
    names = list(finished.summary.mistakes["document"])[:3]
    found = document_texts(finished.folder, names, RunContext(Store(tmp_path)))
    assert found.keys() == set(names)
    assert all("<html>" in text for text in found.values())


def test_a_page_has_the_texts_where_the_corpus_is_here(finished, tmp_path, monkeypatch):
    page = write_page_with_texts(finished, RunContext(Store(tmp_path))).read_text()
    assert "&lt;html&gt;" in page
    monkeypatch.setattr("benchmark.commands.explain._Account.again", _gone)
    assert "&lt;html&gt;" not in write_page_with_texts(finished, RunContext(Store(tmp_path))).read_text()


def _gone(*_):
    raise DataError("the corpus is not here")
