"""A configuration is checked without running any code that comes with it."""

import sys

import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.plugins.outline import unchecked_names
from benchmark.system.errors import ConfigError

CONFIG = """
name: outline
plugins: [mine.py]
corpus: {{name: {corpus}}}
protocol: {{name: leave-one-group-out}}
methods: [ngd, {method}]
"""
#: Whatever runs it is stopped.
CODE = """
class Mine:
    pass

KERNELS: dict = {"own": Mine}
CLASSIFIERS = {"rule": Mine}
CORPORA = {"books": Mine}

def make():
    pass

raise SystemExit("this code was run")
"""


@pytest.fixture
def checked(tmp_path, monkeypatch):
    monkeypatch.delenv("BENCH_TRUST", raising=False)
    (tmp_path / "mine.py").write_text(CODE)

    def check(method, corpus="synthetic"):
        (tmp_path / "outline.yaml").write_text(CONFIG.format(method=method, corpus=corpus))
        return load_checked(tmp_path / "outline.yaml", run_code=False)

    return check


@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("{kernel: {name: own, degree: 3}}", ["own"]),
        ("{classifier: {name: rule, degree: [1, 2]}}", ["rule"]),
        ("{name: p, pipeline: {name: 'mine.py:make', svm__C: 1}}", ["mine.py:make"]),
        (
            "{name: l, classifier: {name: lightgbm.sklearn.LGBMClassifier, trees: 3}}",
            ["lightgbm.sklearn.LGBMClassifier"],
        ),
        ("{name: f, classifier: {name: sklearn.ensemble.RandomForestClassifier, n_estimators: 3}}", []),
        ("{name: p, pipeline: {name: lightgbm.sklearn.make, trees: 3}}", ["lightgbm.sklearn.make"]),
        ("{name: p, pipeline: sklearn.naive_bayes.MultinomialNB}", []),
    ],
)
def test_names_are_known_and_code_is_not_run(checked, monkeypatch, method, names):
    monkeypatch.delitem(sys.modules, "lightgbm.sklearn", raising=False)
    assert unchecked_names(checked(method)) == names
    assert "lightgbm.sklearn" not in sys.modules


@pytest.mark.parametrize(
    ("method", "corpus", "words"),
    [
        ("{kernel: owm}", "synthetic", "did you mean 'own'?"),
        ("{kernel: own, normalisation: l1}", "synthetic", "did you mean 'normalization'?"),
        ("{name: p, pipeline: 'mine.py:mak'}", "synthetic", "did you mean 'make'?"),
        ("{name: p, pipeline: 'nowhere.py:make'}", "synthetic", "nowhere.py: can't be read as Python"),
        ("{name: l, pipeline: nowhere.make}", "synthetic", "no package 'nowhere' is installed"),
        ("{name: l, classifier: nowhere.Classifier}", "synthetic", "no package 'nowhere' is installed"),
        ("{name: f, classifier: {name: sklearn.svm.SVC, kernal: rbf}}", "synthetic", "did you mean 'kernel'?"),
        ("mnb", "books", "'books' is of mine.py, whose code isn't run here: `bench plan` checks"),
    ],
)
def test_what_can_be_seen_to_be_wrong_is_told_in_a_line(checked, method, corpus, words):
    with pytest.raises(ConfigError) as caught:
        checked(method, corpus)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
