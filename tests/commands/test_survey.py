"""Surveys: what stands on the page is what the runs found."""

import re

import pandas as pd
import pytest

from benchmark.analysis.formatting.units import two_digits_text
from benchmark.commands.survey import check_comparable, write_survey
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.system.errors import ConfigError

pytestmark = pytest.mark.usefixtures("sketched")
COMMON = """
corpus: {{name: synthetic, subset: {subset}}}
text: {{stoplist: none}}
protocol: {{name: {protocol}}}
methods: [linear, ngd, mnb, {{weighting: tfidf, classifier: linear-svm}}]
metrics: [{metric}]
compare: [[ngd, tfidf-linear-svm], [mnb, tfidf-linear-svm]]
"""


TWO_GROUPS = "leave-one-group-out, held_out: [cornell, texas]"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two tables and a curve of the same methods, and one of the tables with chosen parameters."""
    folder, store = tmp_path_factory.mktemp("survey"), Store(tmp_path_factory.mktemp("store"))
    texts = {
        "all-methods-one": COMMON.format(subset="all", protocol=TWO_GROUPS, metric="accuracy"),
        "every-several": COMMON.format(subset="several", protocol="k-fold, k: 2, stratified: false", metric="micro-f1"),
        "curve": COMMON.format(
            subset="all", protocol="random-subsets, train_size: [40, 80], replicates: 3", metric="accuracy"
        ),
    }
    texts["tuned-one"] = texts["all-methods-one"].replace(
        "methods: [linear, ngd, mnb, {weighting: tfidf, classifier: linear-svm}]",
        """methods:
  - {name: linear, kernel: linear, classifier: {C: [0.1, 1, 10], scheme: [one-vs-one, one-vs-rest]}}
  - {name: ngd, kernel: ngd, classifier: {C: [0.001, 1, 10]}}
  - {name: mnb, classifier: {name: mnb, smoothing: [0.1, 1, 100]}}
  - {name: tfidf-linear-svm, weighting: tfidf, classifier: {name: linear-svm, C: [0.1, 1, 10]}}
choose: {by: cross-validation, folds: 2}""",
    )
    done = []
    for name, text in texts.items():
        path = folder / f"{name}.yaml"
        path.write_text(f"name: {name}\n{text}")
        done.append(run_and_write(load_checked(path), RunContext(store), folder=folder / "runs" / name))
    return done


def written(done, metric="accuracy"):
    """Read a run's scores over all splits, by cell."""
    scores = pd.read_csv(done.folder / "scores.csv")
    return scores[(scores["fold"] == "all") & (scores["metric"] == metric)].set_index("cell")


def test_the_page_has_the_numbers_that_the_runs_wrote(runs, tmp_path):
    line = write_survey(runs, "methods", tmp_path / "methods.md")
    assert line.endswith("methods.md: 4 methods on 2 problems")
    page = (tmp_path / "methods.md").read_text()
    one, several, curve, tuned = runs
    for cell, row in written(several, "micro-f1").iterrows():
        value, low, high = (f"{100 * row[end]:.2f}" for end in ("value", "low", "high"))
        assert re.search(rf"\| {cell} +\| +{value} \| \[{low}, {high}\] \|", page)
    for cell, row in written(tuned).iterrows():
        method = cell.removesuffix("-cross-validation").removesuffix("-cv")
        default = written(one).loc[method, "value"]
        assert re.search(rf"\| {method} +\|.* {100 * row['value']:.2f} \|.* {100 * default:.2f} \|", page), cell
    for gap in several.summary.differences.to_dict("records"):
        value, low, high = (f"{100 * gap[end]:+.2f}" for end in ("value", "low", "high"))
        assert re.search(rf"\| {gap['a']} +\|.*\| +{re.escape(value)} \| +{re.escape(f'[{low}, {high}]')} \|", page)
    costs = one.summary.costs.set_index("cell")
    assert re.search(rf"\| ngd +\|.*\| +{two_digits_text(costs.loc['ngd', 'training_seconds'])} \|", page)
    value = pd.read_csv(curve.folder / "scores.csv").query("fold == 'all' and cell == 'ngd-40'")["value"].iloc[0]
    assert re.search(rf"\| ngd +\| {100 * value:.2f} \[", page)
    assert "candidates: C 0.1, 1.0, 10.0 × scheme one-vs-one, one-vs-rest" in page
    assert "tuned-one: 2-fold cross-validation" in page
    assert "Friedman" not in page  # both problems are of one corpus
    assert page.count("**Start with `") == 1
    assert page.count("has the best score") == 2
    assert [path.name for path in tmp_path.iterdir()] == ["methods.md"]


def test_the_page_of_steps(runs, tmp_path):
    with pytest.raises(ConfigError, match=r"no run compares a step of this page, such as \['root', 'words'\]"):
        write_survey(runs[:2], "ablation", tmp_path / "ablation.md")
    path = tmp_path / "steps.yaml"
    steps = "methods: [{name: words, kernel: linear}, {name: root, kernel: bhattacharyya}]\ncompare: [[root, words]]\n"
    path.write_text(f"name: steps\ncorpus: {{name: synthetic}}\nprotocol: {{name: k-fold, k: 2}}\n{steps}")
    done = run_and_write(load_checked(path), RunContext(Store(tmp_path / "store")), folder=tmp_path / "run")
    write_survey([done], "ablation", tmp_path / "ablation.md")
    page, gap = (tmp_path / "ablation.md").read_text(), done.summary.differences.iloc[0]
    low, value, high = (f"{100 * gap[end]:+.2f}" for end in ("low", "value", "high"))
    assert re.search(rf"\| root − words +\| {re.escape(f'{value} [{low}, {high}], p ')}", page)
    assert "ridge − root" not in page  # a step that no run compares


def test_choices_and_variants_have_no_place(tmp_path):
    text = COMMON.format(subset="all", protocol="leave-one-group-out", metric="accuracy")
    path = tmp_path / "v.yaml"
    path.write_text(f"name: v\nvariants: {{other: {{text: {{stoplist: smart}}}}}}\n{text}")
    refused = "v: a survey needs a table or learning curves, without variants, and at most one choice"
    with pytest.raises(ConfigError, match=refused):
        check_comparable([load_checked(path)])
    listed = text.replace("methods: [linear,", "methods: [{kernel: linear, classifier: {C: [1, 2]}},")
    path.write_text(f"name: v\nchoose: {{by: [oracle, cross-validation]}}\n{listed}")
    with pytest.raises(ConfigError, match=refused):
        check_comparable([load_checked(path)])
