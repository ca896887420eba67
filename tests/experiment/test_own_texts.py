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
from benchmark.system.errors import ConfigError
from tests.builders import inner_errors, small_experiment

if TYPE_CHECKING:
    from benchmark.config.model import Experiment
    from benchmark.experiment.store import Store


TEXT = {"skip_header": True, "skip_html": True, "stoplist": "smart", "min_occurrences": 60}


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
    errors = []
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
        errors.append(inner_errors(found.predictions.settings[BASE_VARIANT, "", "mnb", index, None, None]))
        np.testing.assert_allclose(errors[-1], expected)
    inner = np.stack(errors)
    chosen = found.scored.chosen["mnb-cv"]
    assert (inner[chosen, [0, 1]] == inner.min(axis=0)).all()
    assert len(set(inner.ravel())) > 4
    notes = " ".join(summarize(found).notes)
    assert "selected stoplist {stoplist}, min_occurrences {min_occurrences}".format(**wanted[chosen[0]]) in notes
    assert "Candidates of mnb: stoplist none, smart × min_occurrences 150, 300, 600." in notes


def test_a_text_without_words_is_refused_before_any_work(store: Store) -> None:
    entry = {"text": {"min_documents": 100_000}, "classifier": "mnb"}
    with pytest.raises(ConfigError, match="leave no word of the method 'min_documents100000-mnb'"):
        run_experiment(study("ngd", entry), RunContext(store))
