"""Methods with a text of their own: the counts of a variant with that text, chosen among on training documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from benchmark.analysis.summarize import summarize
from benchmark.config.model import BASE_VARIANT
from benchmark.evaluation.protocols import KFold
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.runner import run_experiment
from benchmark.model.fitting import fit_model
from benchmark.system.errors import ConfigError
from tests.builders import inner_errors, small_experiment

if TYPE_CHECKING:
    from benchmark.config.model import Experiment
    from benchmark.experiment.store import Store


TEXT = {"skip_header": True, "skip_html": True, "stoplist": "smart", "min_occurrences": 60}
OWN = {"stoplist": "none", "min_occurrences": 120}
GROUPS = {"name": "leave-one-group-out", "held_out": ["texas", "cornell"]}
CHOSEN = {"by": "cross-validation", "folds": 3, "grid_keys": ["text"]}


def study(*methods: Any, **more: Any) -> Experiment:
    corpus = {"name": "synthetic", "classes": ["course", "faculty", "student"]}
    return small_experiment(**{"corpus": corpus, "text": TEXT, "protocol": GROUPS, "methods": [*methods]} | more)


def test_the_text_that_errs_least_in_folds_of_the_training_documents_is_chosen(store: Store) -> None:
    wanted = [{"stoplist": s, "min_occurrences": n} for s in ("none", "smart") for n in (150, 300, 600)]
    lists = {"stoplist": ["none", "smart"], "min_occurrences": [150, 300, 600]}
    experiment = study({"text": lists, "classifier": "mnb"}, choose=CHOSEN)
    found = run_experiment(experiment, RunContext(store))
    (entry,) = experiment.variants[BASE_VARIANT].entries
    for index, text in enumerate(wanted):
        own = entry.candidates[index].text
        assert own is not None
        assert text.items() <= own.flat.items()
        plain = study("mnb", text=TEXT | text).variants[BASE_VARIANT].collection
        counts, _, _ = read_counts(plain, RunContext(store))
        labels, groups = counts.documents.labels, counts.documents.parts
        expected = []
        for group in GROUPS["held_out"]:
            train = np.flatnonzero(groups != counts.documents.part_names.index(group))
            wrong = 0
            for fold in KFold(3, 0, stratified=True).splits(counts.documents.take(train)):
                rows = train[fold.train]
                oracle = MultinomialNB().fit(counts.matrix[rows], labels[rows])
                wrong += int((oracle.predict(counts.matrix[train[fold.test]]) != labels[train[fold.test]]).sum())
            expected.append(wrong / len(train))
        np.testing.assert_allclose(
            inner_errors(found.predictions.settings[BASE_VARIANT, "", "mnb", index, None, None]), expected
        )
    inner = np.stack(
        [inner_errors(found.predictions.settings[BASE_VARIANT, "", "mnb", i, None, None]) for i in range(len(wanted))]
    )
    chosen = found.scored.chosen["mnb-cv"]
    assert (inner[chosen, [0, 1]] == inner.min(axis=0)).all()
    assert len(set(inner.ravel())) > 4
    notes = " ".join(summarize(found).notes)
    assert "selected stoplist {stoplist}, min_occurrences {min_occurrences}".format(**wanted[chosen[0]]) in notes
    assert "Candidates of mnb: stoplist none, smart × min_occurrences 150, 300, 600." in notes


def test_what_is_kept_of_it_reads_by_its_own_lexing_and_decides_as_the_run(store: Store) -> None:
    text = {"skip_header": [True, False], "digits": "token"}
    experiment = study({"text": text, "kernel": "ngd"}, {"text": OWN, "classifier": "mnb"}, choose=CHOSEN)
    found = run_experiment(experiment, RunContext(store))
    corpus = experiment.variants[BASE_VARIANT].collection.reader
    whole = corpus.load(corpus.locate(download=False, notify=str))
    contents = dict(zip(whole.documents.ids, whole, strict=True))
    for cell in experiment.cells:
        documents, splits = found.predictions.tasks[BASE_VARIANT, ""], found.predictions.splits[BASE_VARIANT, "", None]
        for number, split in enumerate(splits):
            index = int(found.scored.chosen[cell.id][number])
            model = fit_model(experiment, cell.id, RunContext(store), split=split.name)
            own = experiment.variants[BASE_VARIANT].entries[experiment.cells.index(cell)].candidates[index].text
            assert own is not None
            assert model.parts[0].view.lexing == own.lexing
            asked = [(documents.ids[row], contents[documents.ids[row]]) for row in split.test]
            given = np.concatenate([each.predicted for _, each in model.answers(asked)])
            expected = found.predictions.settings[BASE_VARIANT, "", cell.method, index, None, None].by_split[number]
            np.testing.assert_array_equal(given, expected)
    of_all = fit_model(experiment, experiment.cells[0].id, RunContext(store)).about["chosen"]
    assert (of_all["by"], of_all["of"]) == ("cross-validation over all documents", 2)


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ({"min_documents": 100_000}, {}, "leave no word of the method 'min_documents100000-mnb'"),
        ({"min_occurrences": 200}, {"terms": {"number": 150}}, "that the method 'min_occurrences200-mnb' has"),
    ],
)
def test_a_text_without_enough_words_is_refused_before_any_work(
    store: Store, text: dict[str, Any], more: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        run_experiment(study("ngd", {"text": text, "classifier": "mnb"}, **more), RunContext(store))
