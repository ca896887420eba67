"""Pipelines on raw texts: they predict as they do when they are used on the texts by hand."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmark.classifiers.gzip_neighbours import GzipNeighbours
from benchmark.commands.explain import explain_cell
from benchmark.corpora.reader import LastCorpus
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.payload import make_payload
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.runner import plan_tasks, read_variants, run_experiment
from benchmark.experiment.store import Store
from benchmark.model.fitting import fit_model
from benchmark.model.persistence import read_model, write_model
from benchmark.plugins.trust import asking_before_code
from benchmark.system.errors import ConfigError
from benchmark.workers.worker import compute_group

CONFIG = """
name: pipelines
corpus: {{name: synthetic{subset}}}
text: {{stoplist: {stoplist}{rules}}}
protocol: {{name: leave-one-group-out, held_out: [cornell]}}
methods: [mnb, {entry}]
{more}
"""
MODELS = """
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC


def make():
    return make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4)), LinearSVC(random_state=0))


def forest(trees=5):
    return make_pipeline(CountVectorizer(), RandomForestClassifier(trees))


def broken():
    raise RuntimeError("no such weights")


def lazy():
    return CountVectorizer()


class First:
    def fit(self, texts, labels):
        assert isinstance(texts, list) and all(isinstance(each, str) for each in texts)
        self.first = labels[0]
        return self

    def predict(self, texts):
        return [self.first] * len(texts)


class Failing(First):
    def predict(self, texts):
        return texts[len(texts)]


def words():
    return make_pipeline(TfidfVectorizer(), LinearSVC(random_state=0))


make.stored = First.stored = True
"""


@pytest.fixture
def checked(tmp_path):
    (tmp_path / "models.py").write_text(MODELS)

    def check(entry, subset="", stoplist="none", rules="", more=""):
        path = tmp_path / "pipelines.yaml"
        path.write_text(CONFIG.format(entry=entry, subset=subset, stoplist=stoplist, rules=rules, more=more))
        return load_checked(path)

    return check


def strings_of(corpus):
    """Documents as strings: those that aren't valid UTF-8 are latin-1."""

    def string(document):
        try:
            return document.decode()
        except UnicodeDecodeError:
            return document.decode("latin-1")

    return np.array([string(each) for each in corpus], dtype=object)


@pytest.fixture
def by_hand(checked):
    """Train and test rows, labels, and the documents as strings."""
    reader = checked("ngd").variants["base"].collection.reader
    corpus = LastCorpus().load(reader, reader.locate(download=False, notify=print))
    texts = strings_of(corpus)
    tested = corpus.documents.parts == corpus.documents.part_names.index("cornell")
    return texts[~tested], corpus.documents.labels[~tested], texts[tested]


def predictions_of(run, method):
    return next(each for key, each in run.predictions.settings.items() if key.method == method).predicted


@pytest.mark.parametrize(
    ("entry", "estimator"),
    [
        (
            "'models.py:make'",
            make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4)), LinearSVC(random_state=0)),
        ),
        (
            "{name: 'models.py:make', linearsvc__C: 0.1, tfidfvectorizer__ngram_range: [2, 3]}",
            make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)), LinearSVC(C=0.1, random_state=0)),
        ),
        (
            "{name: 'models.py:forest', trees: 3, randomforestclassifier__max_depth: 5}",
            make_pipeline(CountVectorizer(), RandomForestClassifier(3, max_depth=5, random_state=0)),
        ),
        ("{name: benchmark.classifiers.gzip_neighbours.GzipNeighbours, ties: printed}", GzipNeighbours(ties="printed")),
    ],
)
def test_it_predicts_as_by_hand(checked, by_hand, tmp_path, entry, estimator):
    experiment = checked(f"{{name: p, pipeline: {entry}}}")
    run = run_experiment(experiment, RunContext(Store(tmp_path / "store")))
    train, labels, test = by_hand
    assert not run.failures
    np.testing.assert_array_equal(predictions_of(run, "p"), estimator.fit(list(train), labels).predict(list(test)))


@pytest.mark.usefixtures("sketched")
def test_candidates_are_chosen_by_parameters_of_steps(checked, by_hand, tmp_path):
    entry = "{name: p, pipeline: {name: 'models.py:words', linearsvc__C: [1.0e-5, 1]}}"
    experiment = checked(entry, more="choose: {by: cross-validation, folds: 3}")
    done = run_and_write(experiment, RunContext(Store(tmp_path / "store")), folder=tmp_path / "run")
    assert "p-cv selected linearsvc__C 1 (cornell)." in done.summary.notes
    again = report_again(tmp_path / "run")
    assert again.summary.notes == done.summary.notes


def test_lists_make_cells_that_are_named_by_the_last_word(checked):
    experiment = checked("{pipeline: {name: 'models.py:make', linearsvc__C: [0.1, 1]}}")
    assert [cell.method for cell in experiment.cells] == ["mnb", "make-c0.1", "make-c1"]


def test_documents_may_have_several_labels(checked, tmp_path):
    context = RunContext(Store(tmp_path / "store"))
    run = run_experiment(checked("{name: p, pipeline: 'models.py:words'}", ", subset: several"), context)
    (key, tested), *_ = run.predictions.splits.items()
    truth = run.predictions.tasks[key[:2]].truth
    rows = tested[0].test
    reader = checked("ngd", ", subset: several").variants["base"].collection.reader
    texts = strings_of(LastCorpus().load(reader, reader.locate(download=False, notify=print)))
    train = np.setdiff1d(np.arange(len(texts)), rows)
    vectors = TfidfVectorizer().fit(texts[train])
    found = predictions_of(run, "p")
    for column in range(truth.shape[1]):
        machine = LinearSVC(random_state=0).fit(vectors.transform(texts[train]), truth[train, column])
        np.testing.assert_array_equal(found[:, column], machine.predict(vectors.transform(texts[rows])))


def test_thresholds_are_learned_from_texts(checked, tmp_path, monkeypatch):
    """Each class has the documents above one of its values, and others than those above 0."""
    monkeypatch.setattr("benchmark.methods.wrappers.out_of_fold.INNER_FOLDS", 2)
    entry = "{name: p, pipeline: 'models.py:words', threshold: cross-validated}"
    run = run_experiment(checked(entry, ", subset: several"), RunContext(Store(tmp_path / "store")))
    assert not run.failures
    (_, tested), *_ = run.predictions.splits.items()
    rows, found = tested[0].test, predictions_of(run, "p")
    reader = checked("ngd", ", subset: several").variants["base"].collection.reader
    corpus = LastCorpus().load(reader, reader.locate(download=False, notify=print))
    texts = strings_of(corpus)
    train = np.setdiff1d(np.arange(len(texts)), rows)
    vectors, moved = TfidfVectorizer().fit(texts[train]), False
    for column, inside in enumerate(corpus.documents.topics[train].T):
        machine = LinearSVC(random_state=0).fit(vectors.transform(texts[train]), inside)
        values = machine.decision_function(vectors.transform(texts[rows]))
        given = values[found[:, column]]
        assert given.size
        assert given.min() > values[~found[:, column]].max()
        moved = moved or not np.array_equal(found[:, column], values > 0)
    assert moved


def test_only_the_rules_for_header_and_html_decide_its_results(checked, tmp_path):
    context = RunContext(Store(tmp_path / "store"))
    for stoplist, rules, stored in (("none", "", 0), ("smart", "", 1), ("smart", ", skip_html: true", 0)):
        experiment = checked("{name: p, pipeline: 'models.py:First'}", stoplist=stoplist, rules=rules)
        run = run_experiment(experiment, context)
        assert sum(key.method == "p" for key in run.stored) == stored


def test_another_text_is_another_method(checked):
    entry = "{pipeline: 'models.py:First', text: {skip_html: [true, false]}}"
    assert [cell.method for cell in checked(entry).cells][1:] == ["skip_html-true-First", "skip_html-false-First"]


@pytest.mark.parametrize("name", ["models.py:make", "benchmark.classifiers.gzip_neighbours.GzipNeighbours"])
def test_it_runs_on_workers(checked, tmp_path, name):
    store = Store(tmp_path / "store")
    experiment = checked(f"{{name: p, pipeline: '{name}'}}")
    read = read_variants(experiment, RunContext(store))
    (work,) = plan_tasks(experiment, read)
    keys = frozenset(job.key for point in work.points for job in point.jobs)
    answer = compute_group(pickle.dumps(make_payload(experiment, read, store, 1)), work.variant, work.task, keys)
    found = dict(each for kind, each in answer if kind == "solved")
    assert found.keys() == keys
    assert not any(isinstance(each, str) for each in found.values())
    assert len(run_experiment(experiment, RunContext(store)).stored) == 2


def test_an_error_fails_its_cell_with_file_and_line(checked, tmp_path):
    run = run_experiment(checked("{name: p, pipeline: 'models.py:Failing'}"), RunContext(Store(tmp_path / "store")))
    (problem,) = run.failures.values()
    assert "models.py:36" in problem
    assert "list index out of range" in problem


def test_code_runs_only_when_it_is_trusted(checked, monkeypatch):
    monkeypatch.delenv("BENCH_TRUST")
    with asking_before_code(lambda _: False), pytest.raises(ConfigError, match="if you trust it, add --trust once"):
        checked("{name: p, pipeline: 'models.py:make'}")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("'models.py:mak'", "did you mean 'make'?"),
        ("'nowhere.py:make'", "no such file"),
        ("'models.py:broken'", "no such weights"),
        ("'models.py:lazy'", "has no predict: a pipeline has both"),
        ("sklearn.svm.LinearSVCC", "did you mean 'LinearSVC'?"),
        ("[[1]]", "a pipeline is a name, or a mapping"),
        ("{name: 'models.py:make', linearsvc__c: 1}", "did you mean 'linearsvc__C'?"),
        ("{name: 'models.py:make', linearsvc__C: -1}", "'C' parameter of LinearSVC must be"),
        ("'models.py:make', weighting: tfidf", "a pipeline has no weighting"),
        ("'models.py:make', normalization: l2", "a pipeline has no normalization"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_before_the_run(checked, entry, words):
    with pytest.raises(ConfigError) as caught:
        checked(f"{{name: p, pipeline: {entry}}}")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "pipelines.yaml:6" in str(caught.value)


@pytest.mark.usefixtures("sketched")
def test_its_documents_are_explained_but_no_words(checked, tmp_path):
    context = RunContext(Store(tmp_path / "store"))
    run_and_write(checked("{name: p, pipeline: 'models.py:words'}"), context, folder=tmp_path / "run")
    told = [row for table in explain_cell(tmp_path / "run", "p", context, shown=1) for row in table.rows]
    rows = {str(row[0]): str(row[1]) for row in told if len(row) == 2}
    assert rows["words"] == "none: it reads texts by itself"
    assert not any(name.startswith("words for ") for name in rows)
    assert rows["nearest document"].startswith(("student", "course", "faculty", "project"))
    assert rows["decision values"].count(",") == 3


def test_a_fusion_adds_its_values_to_those_of_counts(checked, by_hand, tmp_path):
    methods = (
        "{name: p, pipeline: 'models.py:words'}, {name: w, weighting: tfidf, classifier: linear-svm}, "
        "{fuse: [p, w], name: both}"
    )
    experiment, context = checked(methods), RunContext(Store(tmp_path / "store"))
    run = run_experiment(experiment, context)
    assert not run.failures
    write_model(fit_model(experiment, "both", context, split="cornell"), tmp_path / "model")
    ((_, answers),) = read_model(tmp_path / "model").answers([("", text.encode("utf-8")) for text in by_hand[2]])
    np.testing.assert_array_equal(answers.predicted, predictions_of(run, "both"))
