"""Score against seconds: every method is a mark at its numbers, the front is named, and no name hides another."""

import math
from itertools import combinations

import pytest

from benchmark.analysis.summary import summary_table
from benchmark.report.drawing.theme import OURS, PUBLISHED
from benchmark.report.drawing.trade_off import trade_off_chart
from benchmark.report.surveys import SURVEY_SCORE_COLUMNS, Survey, SurveyProblem, pareto_front
from tests.scenes import assert_vega_lite, overlap, panels_of, rows_of, scene_of

#: Score and seconds of training, near those of 20 Newsgroups; three at the front within a point of print.
METHODS = {
    "aitchison-hellinger": (0.8632, 0.55),
    "log-entropy-linear-svm": (0.8630, 0.54),
    "tfidf-hellinger": (0.8629, 0.53),
    "tfidf-streamed-svm": (0.8484, 0.45),
    "tfidf-linear-svm": (0.8481, 1.7),
    "tfidf-logistic": (0.8363, 5.8),
    "divergence-bayes-mean": (0.8267, 0.022),
    "complement-nb": (0.8234, 0.018),
    "ngd": (0.8152, 1.5),
    "mnb": (0.8066, 0.0),
}
FRONT = ("mnb", "complement-nb", "divergence-bayes-mean", "tfidf-streamed-svm", "tfidf-hellinger")
FRONT = (*FRONT, "log-entropy-linear-svm", "aitchison-hellinger")


@pytest.fixture(scope="module")
def survey():
    problems = tuple(SurveyProblem(name, name, "accuracy", False) for name in ("20ng", "webkb", "topics"))
    rows = [
        (problem.name, False, name, math.nan, score, score - 0.01, score + 0.01, 7532, seconds, 0.0, 1e8, "")
        for problem in problems
        for name, (score, seconds) in METHODS.items()
    ]
    return Survey(problems, dict.fromkeys(METHODS, ""), frozenset(), summary_table(SURVEY_SCORE_COLUMNS, rows))


@pytest.fixture(scope="module")
def spec(survey):
    return trade_off_chart(survey, ("tfidf-linear-svm", "ngd"))


@pytest.fixture(scope="module")
def scene(spec):
    return scene_of(spec)


def test_every_method_is_a_mark_at_its_numbers(survey, spec, scene):
    assert len(panels_of(spec)) == len(scene.panels) == 3
    for part in panels_of(spec):
        rows = [
            row for layer in part["layer"] if layer["mark"]["type"] == "point" for row in rows_of(spec, layer, part)
        ]
        shown = {row["method"]: (row["score"], row["seconds"]) for row in rows}
        assert set(shown) == set(METHODS)
        for name, (score, seconds) in METHODS.items():
            assert shown[name] == pytest.approx((100 * score, max(seconds, 0.001)))


def test_the_front_is_a_line_through_what_none_beats_at_a_cost_as_low(spec):
    (step,) = [layer for layer in panels_of(spec)[0]["layer"] if layer["mark"]["type"] == "line"]
    own = rows_of(spec, step, panels_of(spec)[0])
    assert {row["method"] for row in own} == set(FRONT)
    names, scores = list(METHODS), [score for score, _ in METHODS.values()]
    assert {names[i] for i in pareto_front([seconds for _, seconds in METHODS.values()], scores)} == set(FRONT)
    assert step["mark"]["interpolate"] == "step-after"


def test_the_front_and_what_is_asked_for_are_named_in_colours_and_shapes_of_their_own(scene):
    for i in range(3):
        names = {mark.text: mark.item["fill"] for mark in scene.of("text", i)}
        assert names == dict.fromkeys(FRONT, OURS) | dict.fromkeys(("tfidf-linear-svm", "ngd"), PUBLISHED)
        shapes = {(mark.item.get("fill"), mark.item["shape"]) for mark in scene.of("symbol", i)}
        assert {(OURS, "circle"), (PUBLISHED, "diamond")} <= shapes


def test_names_hide_no_other_and_lie_right_of_the_axis(scene):
    for i, (left, _, _, _) in enumerate(scene.panels):
        names = scene.of("text", i)
        assert all(name.box[0] >= left for name in names)
        for one, other in combinations(names, 2):
            assert overlap(one.box, other.box) <= 1, (one.text, other.text)
        marks = [mark for mark in scene.of("symbol", i) if mark.item.get("fill") == OURS]
        for name in names:
            inside = [mark for mark in marks if _holds(name.box, mark.x, mark.y)]
            assert not inside, name.text


def test_names_hide_no_mark_where_methods_are_near_each_other():
    """A diamond left of the front, where its names stand; and two that are a third of a point apart."""
    methods = METHODS | {"one": (0.8630, 0.25), "two": (0.8612, 0.25), "three": (0.8625, 1.1), "four": (0.8622, 1.2)}
    rows = [
        ("20ng", False, name, math.nan, score, score - 0.01, score + 0.01, 7532, seconds, 0.0, 1e8, "")
        for name, (score, seconds) in methods.items()
    ]
    problems = (SurveyProblem("20ng", "20ng", "accuracy", False),)
    table = summary_table(SURVEY_SCORE_COLUMNS, rows)
    survey = Survey(problems, dict.fromkeys(methods, ""), frozenset(), table)
    scene = scene_of(trade_off_chart(survey, ("two", "three", "four", "tfidf-linear-svm")))
    names = scene.of("text", 0)
    marks = [mark for mark in scene.of("symbol", 0) if mark.item.get("fill") in (OURS, PUBLISHED)]
    assert {name.text for name in names} >= {"two", "three", "four", "tfidf-linear-svm"}
    for one, other in combinations(names, 2):
        assert overlap(one.box, other.box) <= 1, (one.text, other.text)
    assert [name.text for name in names for mark in marks if _holds(name.box, mark.x, mark.y)] == []


def _holds(box, x, y):
    return box[0] < x < box[2] and box[1] < y < box[3]


def test_it_fits_the_page_and_names_its_axes(scene):
    assert scene.width <= 504
    words = [text.text for text in scene.texts]
    assert words.count("Seconds to train and to predict the test documents") == 1
    assert words.count("Accuracy (%)") == 3
    assert all(text.item["fontSize"] >= 8 for text in scene.texts)


def test_same_specification_each_time(survey, spec):
    assert trade_off_chart(survey, ("tfidf-linear-svm", "ngd")) == spec
    assert_vega_lite(spec)
