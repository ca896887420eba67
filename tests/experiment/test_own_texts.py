"""Methods with a text of their own: the counts of a variant with that text, chosen among on training documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from benchmark.analysis.summarize import summarize
from benchmark.commands.plan import plan_run
from benchmark.config.model import BASE_VARIANT
from benchmark.evaluation.protocols import KFold
from benchmark.experiment import counting as reading
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.methods import matrix_cache as workbench
from benchmark.model.fitting import fit_model
from benchmark.system.errors import ConfigError
from tests.builders import inner_errors, small_experiment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Experiment

    Make = Callable[..., Experiment]

TEXT = {"skip_header": True, "skip_html": True, "stoplist": "smart", "min_occurrences": 60}
OWN = {"stoplist": "none", "min_occurrences": 120}
GROUPS = {"name": "leave-one-group-out", "held_out": ["texas", "cornell"]}
DRAWS = {"name": "random-subsets", "train_size": 100, "replicates": 2, "stratified": False}
KERNELS = [{"weighting": ["tf", "tfidf"], "kernel": "ngd"}, {"kernel": "linear"}]
ALL = [*KERNELS, {"classifier": "mnb"}, {"classifier": "ppt"}]
CHOSEN = {"by": "cross-validation", "folds": 3, "grid_keys": ["text"]}


@pytest.fixture(name="study")
def studying() -> Make:
    def make(*methods: Any, subset: str | None = None, **more: Any) -> Experiment:
        corpus = {"name": "synthetic", "subset": subset, "classes": ["course", "faculty", "student"]}
        given = {"corpus": corpus, "text": TEXT, "protocol": GROUPS, "methods": [*methods]} | more
        return small_experiment(**given)

    return make


def texts_of(methods: list[dict[str, Any]], text: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"text": text, **each} for each in methods]


def same(one: RunPredictions, other: RunPredictions, label: Callable[[str], str]) -> bool:
    """Whether the points of one run decide as those of the other, whose methods `label` names."""
    points = one.predictions.settings
    return all(
        np.array_equal(given, expected)
        for place, point in points.items()
        for given, expected in zip(
            point.by_split, other.predictions.settings[*place[:2], label(place[2]), *place[3:]].by_split, strict=True
        )
    )


@pytest.mark.parametrize(
    ("subset", "more"),
    [
        (None, {}),
        (None, {"terms": {"number": 20}}),
        (None, {"protocol": DRAWS, "tasks": [["course", "faculty"], ["faculty", "student"]]}),
        ("several", {"protocol": DRAWS}),
    ],
    ids=["single", "terms", "two classes", "several"],
)
def test_a_method_decides_as_if_its_text_were_the_configurations(
    study: Make, store: Store, tmp_path: Path, subset: str | None, more: dict[str, Any]
) -> None:
    mixed = study(*ALL, *texts_of(ALL, OWN), subset=subset, **more)
    found = run_experiment(mixed, RunContext(store))
    assert not found.failures
    words = "stoplist-none-min_occurrences120-"
    for text in (TEXT, TEXT | OWN):
        plain = study(*ALL, subset=subset, **more, text=text)
        alone = run_experiment(plain, RunContext(Store(tmp_path / str(len(text["stoplist"])), limit=10**9)))
        assert same(alone, found, lambda name, own=text is not TEXT: words + name if own else name)
        planned = plan_run(plain, RunContext(store), with_pilot=False).rows
        assert all(n == stored for _, n, stored in planned), "they are stored under other names"
    assert not same(alone, found, lambda name: name)


def test_each_text_is_counted_once_and_each_matrix_computed_once(
    study: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    for module, name in ((reading, "count_terms"), (workbench, "inner_products")):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, f=original, n=name, **k: (made.append(n), f(*a, **k))[1])
    turns = [{"kernel": "linear"}, {"text": OWN, "kernel": "linear"}, {"kernel": "ned"}, {"text": OWN, "kernel": "ned"}]
    folds = {"by": "cross-validation", "folds": 2}
    some = [each | {"normalization": "l2", "classifier": {"C": [0.1, 1]}} for each in turns]
    assert not run_experiment(study(*some, choose=folds), RunContext(Store(tmp_path / "store", limit=10**9))).failures
    assert (made.count("count_terms"), made.count("inner_products")) == (2, 2)


def test_the_text_that_errs_least_in_folds_of_the_training_documents_is_chosen(study: Make, store: Store) -> None:
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


def test_what_is_kept_of_it_reads_by_its_own_lexing_and_decides_as_the_run(study: Make, store: Store) -> None:
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


def test_the_vocabulary_that_is_expected_is_the_configurations_own(study: Make, store: Store) -> None:
    n = run_experiment(study("mnb"), RunContext(store)).facts[BASE_VARIANT]["vocabulary"]
    found = run_experiment(study({"text": OWN, "classifier": "mnb"}, expect={"vocabulary": n}), RunContext(store))
    (own,) = found.facts[BASE_VARIANT]["texts"]
    assert OWN.items() <= own.items()
    assert own["vocabulary"] != n == found.facts[BASE_VARIANT]["vocabulary"]


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ({"min_documents": 100_000}, {}, "leave no word of the method 'min_documents100000-mnb'"),
        ({"min_occurrences": 200}, {"terms": {"number": 150}}, "that the method 'min_occurrences200-mnb' has"),
    ],
)
def test_a_text_without_enough_words_is_refused_before_any_work(
    study: Make, store: Store, text: dict[str, Any], more: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        run_experiment(study("ngd", {"text": text, "classifier": "mnb"}, **more), RunContext(store))
