"""Surveys: what stands on the page is what the runs found, and the advice names the largest of it."""

import copy
import itertools
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from benchmark.commands import recommend
from benchmark.commands.recommend import comparison_sentences, recommendations, start_sentence
from benchmark.commands.survey import (
    _choices,
    _gap_rows,
    _machine,
    _score_rows,
    _short,
    _tested_documents,
    build_survey,
    check_comparable,
    survey_configurations,
    survey_mean_ranks,
    write_survey,
)
from benchmark.evaluation.mean_ranks import rank_methods
from benchmark.evaluation.metrics import METRICS
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.store import Store
from benchmark.report.comparison_grids import TEST_TITLES
from benchmark.report.files import missing_figures_message
from benchmark.report.surveys import BestMethods, pareto_front, score_text, seconds_text
from benchmark.system.errors import ConfigError

COMMON = """
corpus: {{name: synthetic, subset: {subset}}}
text: {{stoplist: none}}
protocol: {{name: {protocol}}}
methods: [linear, ngd, mnb, {{weighting: tfidf, classifier: linear-svm}}]
metrics: [{metric}]
compare: [[ngd, tfidf-linear-svm], [mnb, tfidf-linear-svm]]
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two tables and a curve of the same methods, and one of the tables with chosen parameters."""
    folder, store = tmp_path_factory.mktemp("survey"), Store(tmp_path_factory.mktemp("store"))
    texts = {
        "every-one": COMMON.format(subset="all", protocol="leave-one-group-out", metric="accuracy"),
        "every-several": COMMON.format(subset="several", protocol="k-fold, k: 2, stratified: false", metric="micro-f1"),
        "curve": COMMON.format(
            subset="all", protocol="random-subsets, train_size: [40, 80], replicates: 3", metric="accuracy"
        ),
    }
    texts["tuned-one"] = texts["every-one"].replace(
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


def test_scores_and_gaps_are_those_of_the_runs(runs):
    survey = build_survey(runs)
    assert [problem.name for problem in survey.problems] == ["one", "several"]
    assert [problem.metric for problem in survey.problems] == ["accuracy", "micro-f1"]
    assert [problem.multilabel for problem in survey.problems] == [False, True]
    for done, problem in zip(runs, survey.problems, strict=False):
        written = pd.read_csv(done.folder / "scores.csv")
        whole = written[(written["fold"] == "all") & (written["metric"] == problem.metric)].set_index("cell")
        own = survey.whole(tuned=False)
        own = own[own["problem"] == problem.name].set_index("method")
        for end in ("value", "low", "high", "n"):
            np.testing.assert_allclose(own[end].astype(float), whole[end].astype(float), rtol=1e-11)
        costs = pd.read_csv(done.folder / "costs.csv").set_index("cell")
        np.testing.assert_allclose(own["training"], costs["training_seconds"], atol=1e-6)
        np.testing.assert_allclose(own["deciding"] * own["n"] / 1000, costs["testing_seconds"], atol=1e-6)
        differences = pd.read_csv(done.folder / "differences.csv")
        gaps = survey.gaps[(survey.gaps["problem"] == problem.name) & ~survey.gaps["tuned"]]
        np.testing.assert_allclose(gaps["value"], differences["value"], rtol=1e-11)
    sizes = survey.scores[survey.scores["size"].notna()]
    assert sorted(set(sizes["size"])) == [40, 80]
    assert len(survey.curves) == 1


def test_a_cell_that_failed_has_no_score_and_the_others_have_theirs(runs):
    for done, problem in zip(runs, build_survey(runs).problems, strict=False):
        cells = [*done.summary.cells]
        rows = list(_score_rows(done, problem, cells))
        failed = [cells[0], replace(cells[0], id="gone"), *cells[1:]]
        assert [repr(row) for row in _score_rows(done, problem, failed)] == [repr(row) for row in rows]
        assert len(rows) >= 4


def test_the_page_holds_them_and_its_pictures(runs, tmp_path):
    said = write_survey(runs, "methods", tmp_path / "methods.md")
    assert said.endswith("methods.md: 4 methods on 2 problems")
    page = (tmp_path / "methods.md").read_text()
    for done in runs[1:2]:
        for row in pd.read_csv(done.folder / "table.csv").to_dict("records"):
            score = row.get("accuracy", row.get("micro-f1"))
            assert re.search(rf"\| {row['cell']} +\| +{100 * score:.2f} ", page)
    images = re.findall(r"\]\((img/.+?)\)", page)
    assert len(images) == 2
    assert "Friedman" not in page  # both problems are of one corpus
    assert all((tmp_path / image).read_bytes().startswith(b"<svg") for image in images)


@pytest.mark.usefixtures("sketched")
def test_the_page_of_steps(runs, tmp_path):
    with pytest.raises(ConfigError, match=r"no run compares a step of this page \(\[root, words\], "):
        write_survey(runs[:2], "ablation", tmp_path / "ablation.md")
    path = tmp_path / "steps.yaml"
    steps = "methods: [{name: words, kernel: linear}, {name: root, kernel: bhattacharyya}]\ncompare: [[root, words]]\n"
    path.write_text(f"name: steps\ncorpus: {{name: synthetic}}\nprotocol: {{name: k-fold, k: 2}}\n{steps}")
    done = run_and_write(load_checked(path), RunContext(Store(tmp_path / "store")), folder=tmp_path / "run")
    write_survey([done], "ablation", tmp_path / "ablation.md")
    page, gap = (tmp_path / "ablation.md").read_text(), pd.read_csv(done.folder / "differences.csv").iloc[0]
    low, value, high = (f"{100 * gap[end]:+.2f}" for end in ("low", "value", "high"))
    assert re.search(rf"\| root − words +\| {re.escape(f'{value} [{low}, {high}], p ')}", page)
    assert "ridge − root" not in page  # a step that no run compares
    assert f"`root` over `words`: {value} points" in page
    assert comparison_sentences(build_survey([done]))[0] in page
    assert not list(tmp_path.glob("img/*"))  # it shows no picture


def test_tuned_scores_stand_beside_those_of_the_defaults_of_the_same_problem(runs, tmp_path):
    survey = build_survey(runs)
    assert [problem.name for problem in survey.problems] == ["one", "several"]
    for done, tuned in ((runs[0], False), (runs[3], True)):
        written = pd.read_csv(done.folder / "scores.csv")
        whole = written[(written["fold"] == "all") & (written["metric"] == "accuracy")]
        own = survey.whole(tuned=tuned)
        np.testing.assert_allclose(own[own["problem"] == "one"]["value"], whole["value"], rtol=1e-11)
    assert set(survey.whole().query("problem == 'one'")["tuned"]) == {True}
    assert set(survey.whole().query("problem == 'several'")["tuned"]) == {False}
    write_survey(runs, "methods", tmp_path / "methods.md")
    page = (tmp_path / "methods.md").read_text()
    default, tuned = (
        pd.read_csv(runs[i].folder / "scores.csv").query("fold == 'all' and metric == 'accuracy'")["value"].iloc[1]
        for i in (0, 3)
    )
    assert f" {100 * tuned:.2f} ({100 * default:.2f}) |" in page
    assert "candidates: C 0.1, 1.0, 10.0 × scheme one-vs-one, one-vs-rest" in page
    assert "tuned-one: 2-fold cross-validation" in page


def test_problems_have_the_names_of_the_default_parameters_in_whatever_order_the_runs_come(runs):
    whole = build_survey(runs)
    for order in ((3, 2, 1, 0), (3, 0, 1, 2), (2, 3, 0, 1)):
        survey = build_survey([runs[i] for i in order])
        assert {problem.name for problem in survey.problems} == {"one", "several"}
        assert {problem.title for problem in survey.problems} == {problem.title for problem in whole.problems}
        columns = ["problem", "tuned", "method", "size"]
        one, two = (each.scores.sort_values(columns).reset_index(drop=True) for each in (survey, whole))
        pd.testing.assert_frame_equal(one, two)
        columns = [*columns[:2], "a", "b"]
        one, two = (each.gaps.sort_values(columns).reset_index(drop=True) for each in (survey, whole))
        pd.testing.assert_frame_equal(one, two)
        assert set(survey.best) == set(whole.best)


def test_the_best_are_of_all_pairs_and_of_the_smallest_training_set(runs):
    best = build_survey(runs).best
    assert [(each.problem, each.size, each.pairs) for each in best] == [
        ("one", None, 6),
        ("several", None, 6),
        ("curve", 40, 6),
    ]


@pytest.mark.parametrize("which", [0, 3])
def test_the_same_documents_have_one_metric(runs, which):
    summary = copy.copy(runs[which].summary)
    vars(summary)["headline_metrics"] = ("macro-f1",)  # it is computed once
    other = replace(runs[which], summary=summary)
    done = [other if i == which else run for i, run in enumerate(runs)]
    said = f"tuned-one: the same documents have the metric {'accuracy' if which else 'macro-f1'} elsewhere"
    with pytest.raises(ConfigError, match=f"^{said}$"):
        build_survey(done)


def test_comparisons_are_of_two_cells_of_the_problem_with_the_sign_test():
    cells = [SimpleNamespace(id=f"x-{name}", method=name) for name in "ab"]
    pairs = [("x-a", "x-b"), ("x-b", "x-a"), ("x-a", "y-b"), ("y-a", "x-b"), ("y-a", "y-b")]
    differences = [
        {"a": a, "b": b, "value": n + 0.1, "low": n + 0.0, "high": n + 0.2} for n, (a, b) in enumerate(pairs)
    ]
    tests = [
        {"a": a, "b": b, "test": test, "p_holm": n + shift, "family": f"{test} {n}"}
        for n, (a, b) in enumerate(pairs[1:])
        for test, shift in (("mcnemar", 0.5), ("sign", 0.25))
    ]
    done = SimpleNamespace(
        summary=SimpleNamespace(differences=pd.DataFrame(differences), significance=pd.DataFrame(tests)),
        results=SimpleNamespace(experiment=SimpleNamespace(cells=[SimpleNamespace(choice="cross-validation")])),
    )
    assert list(_gap_rows(done, SimpleNamespace(name="p"), cells)) == [
        ["p", True, "a", "b", 0.1, 0.0, 0.2, None, None],
        ["p", True, "b", "a", 1.1, 1.0, 1.2, 0.25, "sign 0"],
    ]


def test_how_parameters_were_chosen_is_told_of_each_run_that_did():
    def run(name, given, choice="cross-validation"):
        inner = None if given is None else SimpleNamespace(given=given)
        cells = [SimpleNamespace(choice=""), SimpleNamespace(choice=choice)]
        experiment = SimpleNamespace(inner=inner, cells=cells)
        return SimpleNamespace(results=SimpleNamespace(experiment=experiment), summary=SimpleNamespace(name=name))

    done = [
        run("a", {"k": 5}),
        run("b", {"test_share": 0.2}),
        run("c", {"test_share": 1 / 3}),
        run("d", {"k": 5, "seed": 1}),
        run("e", None, "oracle"),
        run("f", {"k": 3}, ""),
    ]
    assert _choices(done) == {"5-fold cross-validation": ["a", "d"], "the newest 20%": ["b"], "the newest 33%": ["c"]}


def test_only_methods_whose_parameters_are_chosen_have_candidates(runs):
    assert build_survey(runs[:2]).grids == {}
    grids = build_survey(runs).grids
    assert grids.keys() == {"linear", "ngd", "mnb", "tfidf-linear-svm"}
    assert grids["mnb"] == "smoothing 0.1, 1.0, 100.0"


def test_the_same_documents_are_those_of_all_splits_in_order_with_their_classes():
    def digest(tested, classes="ab", size=None):
        documents = SimpleNamespace(ids="uvwxyz", classes=tuple(classes))
        splits = [SimpleNamespace(test=rows) for rows in tested]
        place = SimpleNamespace(of_task="T")
        cells = [
            SimpleNamespace(id=name, size=size, of_splits=name, setting=lambda _, own: place if own == size else None)
            for name in ("other", "mine", "more")
        ]
        predictions = SimpleNamespace(tasks={"T": documents}, splits={"mine": splits, "other": [], "more": []})
        results = SimpleNamespace(predictions=predictions, experiment=SimpleNamespace(cells=cells))
        asked = [SimpleNamespace(id="mine"), SimpleNamespace(id="more")]
        return _tested_documents(SimpleNamespace(results=results), asked)

    found = [
        *(digest([[0, 1], [2]]), digest([[0, 1], [3]]), digest([[1, 0], [2]]), digest([[0], [1, 2]])),
        *(digest([[0, 1], [2]], "ba"), digest([[0, 1], [2]], "abc"), digest([[2], [0, 1]])),
    ]
    assert len(set(found)) == len(found)
    assert digest([[0, 1], [2]], size=40) == found[0]


@pytest.mark.parametrize("drawn", [True, False])
def test_pictures_of_the_page_that_could_not_be_drawn_are_told_and_others_are_not(runs, tmp_path, monkeypatch, drawn):
    """The page shows no mean ranks of one corpus, and another page shows no picture."""
    asked = []

    def draw(specs):
        asked.append(list(specs))
        return {name: {"svg": b"<svg/>", "png": b""} for name in specs if drawn}

    monkeypatch.setattr("benchmark.commands.survey.render.render_pictures", draw)
    line = write_survey(runs, "methods", tmp_path / "methods.md")
    assert asked == [["seconds", "learning"]]
    head = f"{tmp_path / 'methods.md'}: 4 methods on 2 problems"
    assert line == (head if drawn else f"{head}; {missing_figures_message(['seconds', 'learning'])}")
    names = {path.name for path in tmp_path.glob("img/*")}
    assert names == ({"methods-seconds.svg", "methods-learning.svg"} if drawn else set())
    assert write_survey(runs[:1], "methods", tmp_path / "one.md").partition(";")[0].endswith("4 methods on 1 problem")


NOT_COMPARABLE = {
    "variants": "a survey needs experiments without variants, and at most one choice, on training documents",
    "curves": "the learning curves of a survey can't have `choose`",
    "terms": "a survey can't have curves over terms, or scores of single classes",
    "metric": "a survey ranks by a share where more is better, not by error; put one first in `metrics`",
}


@pytest.mark.parametrize(
    ("cells", "changes", "refused"),
    [
        ([{}, {}], {}, None),
        ([{}, {"choice": "cross-validation"}], {}, None),
        ([{"size": 40}, {"size": 80}], {}, None),
        ([{}], {"variants": "ab"}, "variants"),
        ([{"choice": "oracle"}], {}, "variants"),
        ([{"choice": "cross-validation"}, {"choice": "temporal-holdout"}], {}, "variants"),
        ([{"choice": "cross-validation"}, {"size": 40}], {}, "curves"),
        ([{"size": 40}, {"size": 40, "choice": "cross-validation"}, {}], {}, "curves"),
        ([{}, {"terms": 100}], {}, "terms"),
        ([{"terms": 0}, {}], {}, "terms"),
        ([{}, {"of_class": "a"}], {}, "terms"),
        ([{}], {"metric": "error"}, "metric"),
    ],
)
def test_what_a_survey_can_not_compare_is_refused_wherever_it_stands(monkeypatch, cells, changes, refused):
    plain = {"choice": "", "size": None, "terms": None, "of_class": ""}
    made = [SimpleNamespace(**plain | cell) for cell in cells]
    monkeypatch.setattr("benchmark.commands.survey.tested_metric", lambda each: each.metric)
    good = SimpleNamespace(cells=[SimpleNamespace(**plain)], variants="a", name="good", metric="accuracy")
    good.quantities, good.scorers = {}, METRICS
    bad = SimpleNamespace(**vars(good) | {"cells": made, "name": "bad"} | changes)
    if refused is None:
        check_comparable([good, bad, good])
        return
    with pytest.raises(ConfigError) as caught:
        check_comparable([good, bad, good])
    assert str(caught.value) == f"bad: {NOT_COMPARABLE[refused]}"


def test_the_page_names_each_kind_of_machine_once(monkeypatch):
    machines = {"a": (2, 8), "b": (8, 8), "c": (2, 8)}

    def manifest(folder):
        threads, processors = machines[folder]
        return {"machine": {"threads": threads, "processors": processors}}

    monkeypatch.setattr("benchmark.commands.survey.read_manifest", manifest)
    said = [_machine(SimpleNamespace(folder=name)) for name in machines]
    assert said == ["2 of 8 processors", "8 of 8 processors", "2 of 8 processors"]


def test_the_whole_of_a_page_is_made_of_its_runs(runs, tmp_path, monkeypatch):
    """What the template gets: names, titles and sentences of all runs, in their order, each kind of machine once."""
    taken = {}

    def render_markdown(page, **given):
        taken.update(page=page, **given)
        return "text"

    monkeypatch.setattr("benchmark.commands.survey.render_markdown", render_markdown)
    assert write_survey(runs, "methods", tmp_path / "x.md").endswith("x.md: 4 methods on 2 problems")
    assert (tmp_path / "x.md").read_text() == "text"
    survey = build_survey(runs)
    ranking = survey_mean_ranks(survey)
    assert taken["page"] == "methods"
    assert taken["runs"] == ["every-one", "every-several", "curve", "tuned-one"]
    assert taken["choices"] == ["tuned-one: 2-fold cross-validation"]
    assert taken["images"] == {name: f"img/x-{name}.svg" for name in ("seconds", "ranks", "learning")}
    assert taken["machines"] == [_machine(runs[0])]
    assert taken["start"] == start_sentence(survey)
    assert taken["advice"] == list(recommendations(survey, ranking))
    assert taken["comparisons"] == comparison_sentences(survey)
    assert taken["tests"] == recommend.tests_sentence(survey)
    assert len(taken["tables"]) == 2
    write_survey(runs[:1], "methods", tmp_path / "y.md")
    assert list(taken["images"]) == ["seconds", "ranks"], "no run has a curve"
    with pytest.raises(ConfigError, match="no run compares a step of this page"):
        taken["steps"]([("ngd", "mnb", "why")])
    (row,) = taken["steps"]([("ngd", "tfidf-linear-svm", "why"), ("ngd", "mnb", "never")]).rows
    assert list(row[:2]) == ["why", "ngd − tfidf-linear-svm"]


def test_runs_of_other_documents_are_other_problems(runs):
    """A tuned run of one problem has nothing to do with the default parameters on another."""
    survey = build_survey([runs[1], runs[3]])
    assert len(survey.problems) == 2
    assert not survey.whole().duplicated(["problem", "method"]).any()


def test_the_best_method_is_named_with_all_that_no_test_tells_from_it(runs):
    survey = build_survey(runs)
    one, several, few = recommendations(survey, survey_mean_ranks(survey))
    for text, run, problem, metric in ((one, runs[3], "one", "accuracy"), (several, runs[1], "several", "micro-f1")):
        scored, cells = run.results.scored, {cell.id: cell.method for cell in run.summary.cells}
        value = {cell: scored.estimate(cell, metric).value for cell in cells}
        best = max(value, key=value.get)
        assert text.startswith(f"**{problem}:** `{cells[best]}` has the best score, ")
        assert score_text(survey, problem, cells[best]) in text
        # By statsmodels' correction of the same tests, and the tests themselves have oracles of their own.
        pairs = list(itertools.combinations(cells, 2))
        p_values = [scored.tests(a, b, [metric])[0].p_value for a, b in pairs]
        told = multipletests(p_values, method="holm")[0]
        apart = {
            a if b == best else b for (a, b), differs in zip(pairs, told, strict=True) if differs and best in (a, b)
        }
        named = re.findall(r"`(.+?)`", text.partition("; ")[2].partition(".")[0])
        assert set(named) == {cells[cell] for cell in cells if cell not in apart | {best}}
    assert "40 of curve: `" in few
    apart = replace(survey, corpora={"one": "one", "several": "another"})
    assert "Over the 2 corpora" in list(recommendations(apart, survey_mean_ranks(apart)))[-1]


def test_the_method_to_start_with_is_near_the_best_most_often_and_then_the_fastest(runs):
    survey = build_survey(runs[:2])
    rows = survey.scores.reset_index(drop=True)
    rows["value"] = [0.9, 0.891, 0.895, 0.88, 0.7, 0.692, 0.695, 0.6]  # linear, ngd, mnb, SVM; on two problems
    rows["training"] = [0.5, 0.2, 0.3, 0.01, 0.5, 0.25, 0.5, 0.01]
    assert list(rows["method"])[:4] == ["linear", "ngd", "mnb", "tfidf-linear-svm"]
    sentence = start_sentence(replace(survey, scores=rows))
    assert sentence.startswith("**Start with `ngd`.** Its score is within one point of the best on 2 of 2 problems")
    assert sentence.endswith("trained in 0.20 to 0.25 s.")
    unmeasured = rows.assign(training=rows["training"].where(rows["method"] != "linear"))
    assert "`ngd`" in start_sentence(replace(survey, scores=unmeasured))  # no seconds are not none
    rows.loc[1, "value"] = 0.8899  # just further than a point
    assert "`mnb`" in start_sentence(replace(survey, scores=rows))


def test_comparisons_are_summed_up_over_the_problems_with_their_tests():
    rows = [("a", "b", 0.0123, 0.01), ("a", "b", -0.02, 0.049), ("a", "b", 0.03, 0.05), ("c", "b", -0.005, 0.5)]
    gaps = pd.DataFrame(rows, columns=["a", "b", "value", "p_holm"]).assign(problem=["x", "y", "z", "x"], tuned=False)
    left = gaps[:1].assign(value=0.9, tuned=True)  # chosen parameters, where the page shows those of the defaults
    survey = SimpleNamespace(gaps=pd.concat([gaps, left]), is_tuned=lambda _: False)
    assert comparison_sentences(survey) == [
        "`a` over `b`: -2.00 to +3.00 points, significantly better on 1 of 3 and significantly worse on 1 of 3.",
        "`c` over `b`: -0.50 points, no significant difference on any.",
    ]


@pytest.mark.parametrize(
    ("methods", "test", "said"),
    [
        (("ngd", "linear"), "", "`ngd` has the best score, S"),
        (("ngd",), "sign", "`ngd` has the best score, S; all others differ from it"),
        (("ngd", "mnb"), "sign", "`ngd` has the best score, S; not told from it is `mnb`"),
        (("ngd", "mnb", "svm"), "sign", "`ngd` has the best score, S; not told from it are `mnb`, `svm`"),
    ],
)
def test_what_no_test_tells_from_the_best_is_said_in_words(monkeypatch, methods, test, said):
    monkeypatch.setattr(recommend, "score_text", lambda *_: "S")
    costs = pd.DataFrame(columns=["problem", "method", "training", "deciding", "n"])
    bests = BestMethods("x", None, methods, test, 6), BestMethods("y", 40, methods, test, 6)
    survey = SimpleNamespace(best=bests, costed=lambda: costs, words_summed=frozenset())
    ranking = SimpleNamespace(problems=1)
    whole, few = recommendations(survey, ranking)
    assert whole == f"**x:** {said}."
    assert few.endswith(f"default parameters). 40 of y: {said}.")
    ranking = SimpleNamespace(problems=3, methods=list("abcde"), alike=[(0, 1), (1, 3)], critical=2.345)
    assert list(recommendations(survey, ranking))[-1] == (
        "Over the 3 corpora, the mean rank of `a` differs significantly from those of 3 of the other 4 methods "
        "(Nemenyi, 5%: 2.3 ranks)."
    )
    ranking.alike = [(1, 3)]
    assert "from those of 4 of the other 4 methods" in list(recommendations(survey, ranking))[-1]


def test_each_test_is_named_with_its_problems():
    bests = [
        BestMethods(name, size, ("a",), test, 1)
        for name, size, test in (
            ("x", None, "mcnemar"),
            ("y", 40, "unknown, one-sided"),
            ("z", None, "mcnemar"),
            ("w", None, ""),
        )
    ]
    said = recommend.tests_sentence(SimpleNamespace(best=bests))
    assert said.endswith(f"The tests: {TEST_TITLES['mcnemar']} on x, z; unknown, one-sided on 40 of y.")


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["all-methods-a", "all-methods-b"], ["a", "b"]),
        (["all-methods-a", "all-topics-b"], ["methods-a", "topics-b"]),
        (["all-methods-a"], ["all-methods-a"]),
        (["all", "all-methods"], ["all", "methods"]),
        (["all-a", "all-a"], ["all-a", "all-a"]),
        (["all-a", "all-a", "all-b"], ["a", "a", "b"]),
    ],
)
def test_names_are_told_without_what_all_begin_with(names, short):
    assert [_short(name, names) for name in names] == short


def test_the_fastest_and_the_sums_over_terms_are_named_among_the_best(runs):
    survey = build_survey(runs[:1])
    survey.scores.loc[:, "training"] = [0.5, 9.0, 0.1, 0.3]
    survey.scores.loc[:, "deciding"] = [2.0, 0.0, 0.0, 0.1]  # milliseconds a document
    survey.scores.loc[:, "n"] = 1000

    def said(*methods):
        best = BestMethods("every-one", None, methods, "sign", 6)
        (text,) = recommendations(replace(survey, best=(best,)), survey_mean_ranks(survey))
        return text.partition(" Of these, ")[2]

    fastest = "`tfidf-linear-svm` is the fastest to train and predict, in 0.40 s"
    summed = "the decision value is a sum over the terms for"
    assert said("ngd", "linear", "tfidf-linear-svm") == f"{fastest}; {summed} all but `ngd`."
    assert said("ngd", "tfidf-linear-svm") == f"{fastest}; {summed} `tfidf-linear-svm`."
    assert said("linear", "tfidf-linear-svm") == f"{fastest}."
    assert said("ngd", "linear") == f"`linear` is the fastest to train and predict, in 2.5 s; {summed} `linear`."
    survey.scores.loc[:, "deciding"] = [2.0, 0.0, 0.0, 9.0]
    assert said("linear", "tfidf-linear-svm") == "`linear` is the fastest to train and predict, in 2.5 s."
    assert said("ngd") == ""


@pytest.mark.usefixtures("sketched")
def test_what_was_written_is_read_back_alike(runs, tmp_path):
    write_survey(runs, "methods", tmp_path / "a.md")
    write_survey([report_again(done.folder) for done in runs], "methods", tmp_path / "b.md")
    assert (tmp_path / "a.md").read_text() == (tmp_path / "b.md").read_text().replace("img/b-", "img/a-")


def test_the_front_is_what_nothing_beats():
    rng = np.random.default_rng(1)
    costs, scores = rng.integers(0, 9, 40).astype(float), rng.integers(0, 9, 40).astype(float)
    front = pareto_front(costs, scores)
    points = list(zip(costs, scores, strict=True))
    beaten = {
        i
        for i, (cost, score) in enumerate(points)
        if any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in points)
    }
    assert not beaten & set(front)
    assert {points[i] for i in front} == set(points) - {points[i] for i in beaten}


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "<0.001"), (0.001, "0.0010"), (1.0, "1.0"), (9.96, "10.0"), (123.4, "123")]
)
def test_seconds(seconds, text):
    assert seconds_text(seconds) == text


def test_choices_and_variants_have_no_place(tmp_path):
    text = COMMON.format(subset="all", protocol="leave-one-group-out", metric="accuracy")
    path = tmp_path / "v.yaml"
    path.write_text(f"name: v\nvariants: {{other: {{text: {{stoplist: smart}}}}}}\n{text}")
    with pytest.raises(ConfigError, match="v: a survey needs experiments without variants, and at most one choice"):
        check_comparable([load_checked(path)])
    listed = text.replace("methods: [linear,", "methods: [{kernel: linear, classifier: {C: [1, 2]}},")
    for choose in ("oracle", "[oracle, cross-validation]"):
        path.write_text(f"name: v\nchoose: {{by: {choose}}}\n{listed}")
        with pytest.raises(ConfigError, match="and at most one choice, on training documents"):
            check_comparable([load_checked(path)])
    curve = listed.replace("leave-one-group-out", "random-subsets, train_size: [40, 80], replicates: 3")
    path.write_text(f"name: v\nchoose: {{by: cross-validation}}\n{curve}")
    with pytest.raises(ConfigError, match="v: the learning curves of a survey can't have `choose`"):
        check_comparable([load_checked(path)])


def test_pages_and_configurations_that_there_are_not(tmp_path):
    with pytest.raises(ConfigError, match="did you mean 'methods'"):
        survey_configurations("methds", tmp_path)
    with pytest.raises(ConfigError, match="has no configuration"):
        survey_configurations("methods", tmp_path)


def test_the_package_has_configurations_for_each_page():
    folder = Path(__file__).parents[2] / "configs"
    assert all(survey_configurations(page, folder) for page in ("methods", "ablation"))


def test_the_curves_are_of_the_four_best_methods_the_baseline_and_ngd():
    """By their mean rank over the corpora in what is pinned of them."""
    pinned = Path(__file__).parents[2] / "results" / "pinned"
    tables, corpora = [], []
    for name in ("webkb", "20ng", "topics", "reuters"):
        rows = pd.read_csv(pinned / f"all-methods-{name}.csv")
        rows = rows[(rows["fold"] == "all") & rows["metric"].isin(["accuracy", "micro-f1"])]
        tasks = rows["cell"].str.extract(r"^(reuters-\d+)-", expand=False).fillna(name)
        methods = rows["cell"].str.replace(r"^reuters-\d+-", "", regex=True)
        tables += [own.set_axis(methods[own.index]) for _, own in rows["value"].groupby(tasks)]
        corpora += ["reuters" if name == "topics" else name] * tasks.nunique()
    found = rank_methods(list(tables[0].index), np.array([table[tables[0].index] for table in tables]), corpora)
    experiment = load_checked(Path(__file__).parents[2] / "configs" / "learning-20ng.yaml")
    drawn = [entry.label for entry in experiment.variants["base"].entries]
    assert sorted(drawn) == sorted([*found.methods[:4], "tfidf-linear-svm", "ngd"])


@pytest.mark.parametrize("metrics", ["[error]", "[error, accuracy]"])
def test_what_is_better_when_less_is_not_ranked(tmp_path, metrics):
    path = tmp_path / "e.yaml"
    text = COMMON.format(subset="all", protocol="leave-one-group-out", metric="accuracy")
    path.write_text(f"name: e\n{text}".replace("metrics: [accuracy]", f"metrics: {metrics}"))
    with pytest.raises(ConfigError, match="e: a survey ranks by a share where more is better, not by error"):
        check_comparable([load_checked(path)])
