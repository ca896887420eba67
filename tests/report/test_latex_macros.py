"""Macros of numbers: LaTeX reads each, no two have one name, and they are the numbers of the tables."""

from __future__ import annotations

import re
import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.analysis.summary import DIFFERENCES, SCORE_COLUMNS, SIGNIFICANCE, CellInfo, Summary, summary_table
from benchmark.report.latex_macros import DIGIT_WORDS, macro_name, table_macros

#: Characters that LaTeX takes for something else than themselves.
SPECIAL = set("#$%&~_^\\{}")


def read(text):
    """Macros by name, as LaTeX reads the file: comments end with their line, and nothing else stands outside."""
    found = {}
    for line in text.splitlines():
        code = re.sub(r"(?<!\\)%.*", "", line).rstrip()
        if not code:
            continue
        match = re.fullmatch(r"\\newcommand\{\\([A-Za-z]+)\}\{(.*)\}", code)
        assert match, line
        name, body = match.groups()
        assert name not in found, "\\newcommand refuses a name that is defined"
        plain = re.sub(r"\\[a-z]+\{\}|\\[&%$#_{}]|\$[-+<>]\$|\$\\times\$|\{[][]\}", "", body)
        assert not SPECIAL & set(plain), line
        found[name] = body
    return found


def plain(body):
    return body.replace("$", "")


def test_each_number_has_a_macro(make):
    summary = make()
    found = read(table_macros(summary))
    assert len(found) == 3 * len(summary.scores) + 3 * len(summary.differences) + 2 * len(summary.significance)


def test_they_are_the_numbers_of_the_frames(webkb):
    found = read(table_macros(webkb))
    letters = {"tf": "Tf", "tfidf": "Tfidf", "l1": "LOne", "l2": "LTwo"}
    for row in webkb.scores.to_dict("records"):
        weighting, normalization, kernel = row["cell"].split("-")
        cell = letters[weighting] + letters[normalization] + kernel.capitalize()
        fold = "" if row["fold"] == "all" else row["fold"].capitalize()
        name = f"benchWebkb{cell}{fold}{'Accuracy' if row['metric'] == 'accuracy' else 'MacroFOne'}"
        for end in ("value", "low", "high"):
            text = found.pop(name + {"value": "", "low": "Low", "high": "High"}[end])
            assert abs(float(text) - 100 * row[end]) <= 0.005 + 1e-9
    assert all("Minus" in name for name in found)


def small(name="odd", cells=("a", "b"), **changes):
    rows = [(cell, "all", "accuracy", 0.5, 0.25, 0.75, 100, 0) for cell in cells]
    differences = summary_table(DIFFERENCES, [(cells[0], cells[1], -0.0123, -0.05, 0.02, 100)])
    tests = [
        (cells[0], cells[1], "sign", 9, 1.0, 3e-9, 6e-9, 2, ""),
        (cells[0], cells[1], "wilcoxon", 4, None, None, None, 0, "not testable (smallest p 0.125)"),
        (cells[0], cells[1], "mcnemar", 6, 2.0, 0.03125, 0.0625, 2, "not testable after Holm"),
    ]
    infos = tuple(CellInfo(cell, {"kernel": cell}) for cell in cells)
    frames = {"differences": differences, "significance": summary_table(SIGNIFICANCE, tests)}
    return Summary(name, "Odd", None, infos, summary_table(SCORE_COLUMNS, rows), **frames, **changes)


def test_signs_p_values_and_reasons():
    found = read(table_macros(small()))
    pair = "benchOddAMinusB"
    assert [plain(found[pair + end]) for end in ("", "Low", "High")] == ["-1.23", "-5.00", "+2.00"]
    assert [plain(found[pair + end]) for end in ("SignP", "SignPHolm")] == ["<0.0001", "<0.0001"]
    assert found[pair + "WilcoxonP"] == "not testable (smallest p 0.125)"
    assert (found[pair + "McnemarP"], found[pair + "McnemarPHolm"]) == ("0.0312", "not testable after Holm")


names = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=8)


@given(names, st.lists(names, min_size=2, max_size=4, unique=True))
def test_any_names_give_a_file_that_latex_reads(name, cells):
    found = read(table_macros(small(name, tuple(cells))))
    assert len(found) == 3 * len(cells) + 3 + 6


@given(st.lists(names, max_size=3))
def test_names_are_letters(texts):
    assert set(macro_name("bench", *texts)) <= set(string.ascii_letters)


@pytest.mark.parametrize("digit", range(10))
def test_cells_that_differ_in_a_digit_differ_in_name(digit):
    assert macro_name("bench", f"svm-c{digit}") == f"benchSvmC{DIGIT_WORDS[digit]}"


def test_names_that_would_be_equal_are_told_apart_in_table_order():
    found = read(table_macros(small(cells=("a-b", "aB"))))
    assert {"benchOddABAccuracy", "benchOddABAccuracyOther"} <= found.keys()


def test_the_comment_says_how_names_are_made(webkb):
    text = table_macros(webkb)
    head = text[: text.index("\\newcommand")]
    assert all(line.startswith("% ") for line in head.splitlines())
    assert "\\benchWebkbTfLOneLinearAccuracy{}" in head


def test_seconds_are_left_out(webkb):
    rows = [("tf-l1-ngd", "all", "seconds", 1.0, None, None, 1, 0)]
    scores = summary_table(SCORE_COLUMNS, [*webkb.scores.itertuples(index=False), *rows])
    assert table_macros(replace(webkb, scores=scores)) == table_macros(webkb)
