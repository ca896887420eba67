"""Published values against ours: every value is drawn once where its numbers are, and those that deviate are named."""

from itertools import pairwise

import pytest

from benchmark.analysis.summary import CLAIMS, VERDICT_TABLE_COLUMNS, summary_table
from benchmark.report.drawing.claim_signs import SIGN_COLUMNS, SIGN_MARKS, scoreboard_chart
from benchmark.report.drawing.published import DEVIATES, published_chart, published_panels, published_pictures, spread
from benchmark.report.paper_results import PaperResult
from benchmark.report.scoreboard import record_frames
from benchmark.report.verdict_signs import verdict_tone
from tests.report.summaries import claim_row, verdict_row
from tests.scenes import scene_of


@pytest.fixture
def values():
    rows = [
        verdict_row("a", "accuracy", "71.00", "percent", 70.3, 69.0, 71.6, "consistent"),
        verdict_row("b", "accuracy", "75.00", "percent", 70.4, 69.1, 71.7, "deviates"),
        verdict_row("c", "accuracy", "0.80", "one", 0.705, 0.69, 0.72, "deviates"),
        verdict_row("d", "accuracy", "70.00", "percent", 80.0, 79.0, 81.0, "tuned"),
        verdict_row("a vs b", "sign-z", "1.5", "one", 1.2, 0.3, 2.1, "consistent"),
    ]
    table = summary_table(VERDICT_TABLE_COLUMNS, rows)
    return table.assign(paper="nobody1999", config="small")


def test_each_metric_has_a_panel_with_its_values_in_one_unit(values):
    panels = published_panels(values)
    assert [panel.title for panel in panels] == ["Accuracy (%)", "Z"]
    drawn = {point["name"]: (point["published"], point["value"], point["what"]) for point in panels[0].points}
    assert drawn["small: c"] == (80.0, pytest.approx(70.5), DEVIATES)  # a fraction is drawn in percent
    assert drawn["small: a"][:2] == (71.0, 70.3)
    assert drawn["small: d"][2] == "not counted"
    assert len(panels[1].points) == 1


def test_marks_are_where_the_numbers_are_and_deviating_values_are_named_at_their_height(values):
    scene = scene_of(published_chart(values))
    points = [point for panel in published_panels(values) for point in panel.points]
    marks = [mark for mark in scene.of("symbol", 0) if mark.item.get("size") == 30]
    assert len(marks) == len(published_panels(values)[0].points)
    across = sorted(zip(marks, points, strict=False), key=lambda pair: pair[1]["published"])
    assert [mark.x for mark, _ in across] == sorted(mark.x for mark, _ in across)
    upward = sorted(zip(marks, points, strict=False), key=lambda pair: pair[1]["value"])
    assert [mark.y for mark, _ in upward] == sorted((mark.y for mark, _ in upward), reverse=True)
    named = sorted((text for text in scene.texts if text.text.startswith("small: ")), key=lambda text: -text.y)
    assert [text.text for text in named] == ["small: b", "small: c"]
    assert named[0].y - named[1].y > 10  # b and c are a tenth of a point apart


def test_a_picture_says_in_words_which_values_deviate(values):
    picture = published_pictures(values)[0]
    assert "1 equal, or inside our interval, 2 deviates, 1 not counted" in picture.alt
    assert "small: b (75.00 published, 70.40 ours)" in picture.alt
    assert "small: a" not in picture.alt


def test_names_keep_their_order_and_their_distance():
    for places in ([0.5] * 5, [0.0, 0.99, 1.0], [0.2, 0.9]):
        moved = spread(places, 0.1)
        assert all(b - a >= 0.1 - 1e-9 for a, b in pairwise(moved))
        assert max(moved) <= 1
    assert spread([0.2, 0.9], 0.1) == [0.2, 0.9]


def test_the_scoreboard_draws_two_signs_for_each_claim_that_is_counted():
    rows = [
        claim_row("a", "A holds.", (2, "holds"), (1, "holds in part (1 of 2)"), 2),
        claim_row("b", "B is against us.", (0, "fails"), (0, "contradicted"), 2),
        claim_row("c", "C repeats A.", (2, "holds"), (2, "holds"), 2, counted="same as a"),
        claim_row("d", "D is open.", (0, "not shown"), (0, "no test"), 2),
    ]
    paper = PaperResult("nobody1999", "Nothing", "", (), summary_table(CLAIMS, rows), {})
    scene = scene_of(scoreboard_chart(record_frames([paper])["claims"], {"nobody1999": "Nothing"}))
    signs, heights = scene.of("symbol"), {text.text: text.y for text in scene.texts}
    assert "C repeats A." not in heights
    left = min(mark.x for mark in signs) - min(SIGN_COLUMNS)
    for row in paper.claims[paper.claims["counted"] == ""].to_dict("records"):
        for x, name in zip(SIGN_COLUMNS, ("verdict", "strict_verdict"), strict=True):
            at = [mark for mark in signs if abs(mark.y - heights[row["text"]]) < 1 and abs(mark.x - left - x) < 1]
            found = [(mark.item["stroke"], mark.item["fill"]) for mark in at]
            assert found == [(stroke, fill) for stroke, fill, _ in SIGN_MARKS[verdict_tone(row[name])]], row
