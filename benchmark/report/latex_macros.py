"""LaTeX macros of a summary's numbers, so that a paper copies no digit."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from benchmark.analysis.formatting.number_text import MISSING_TEXT, is_missing, p_text
from benchmark.analysis.formatting.units import display_unit
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.evaluation.metrics import is_time_metric
from benchmark.report.escapes import escape_controls, latex_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmark.analysis.summary import Summary

    #: Words that name a number, the number as text, and what it is.
    _Number = tuple[tuple[str, ...], str, str]

DIGIT_WORDS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_HEAD = r"""
% The numbers of the run {name}, one macro each.
% Write \input{{table-macros}} into the preamble, and \{example}{{}} in the text.
% A name is bench, the run, the cell, the split (none: all splits) and the metric.
% Low and High at the end are the ends of the 95% interval.
% The difference of two cells is CellMinusCell, in the metric {metric}; its p-values are named by the test, P and PHolm.
% Digits in names are words: tf-l1 is TfLOne. If two numbers have the same name, the second one ends in Other.
% Shares are in percent, rounded as in the tables. What stands in place of a missing number is a dash or a reason.
"""


def table_macros(summary: Summary) -> str:
    """Return a LaTeX file with a macro for each score, difference and p-value.

    Scores of single splits are left out where the cells are points of curves, as in the tables. Seconds are left out:
    they differ from run to run.
    """
    named: dict[str, tuple[str, str]] = {}
    for words, text, comment in (*_scores(summary), *_differences(summary), *_p_values(summary)):
        name = macro_name("bench", summary.name, *words)
        while name in named:
            name += "Other"
        named[name] = text, comment
    head = _HEAD.lstrip().format(
        name=_one_line(summary.name),
        example=next(iter(named), "benchWebkbTfLOneNgdAccuracy"),
        metric=_one_line(summary.main_metric),
    )
    lines = [
        rf"\newcommand{{\{name}}}{{{latex_text(text)}}} % {_one_line(comment)}"
        for name, (text, comment) in named.items()
    ]
    return head + "".join(f"{line}\n" for line in lines)


def macro_name(first: str, *texts: str) -> str:
    """Return a name of ASCII letters, each word after the first capitalized; digits and other letters are spelled.

    Examples
    --------
    >>> macro_name("bench", "20ng", "tf-l1-ngd", "macro-f1")
    'benchTwoZeroNgTfLOneNgdMacroFOne'
    """
    return first + "".join(word[:1].upper() + word[1:] for text in texts for word in _words(text))


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text in ASCII letters."""
    for run in re.findall(r"[A-Za-z]+|[^\W_]", unicodedata.normalize("NFKD", text)):
        if run.isascii() and run.isalpha():
            yield run
        elif run.isdecimal():
            yield DIGIT_WORDS[unicodedata.decimal(run)]
        else:  # a letter of another script: its code point
            yield "U" + "".join(DIGIT_WORDS[int(each)] if each.isdigit() else each for each in f"{ord(run):X}")


def _one_line(text: str) -> str:
    """Return a text that ends no comment of LaTeX."""
    return escape_controls(" ".join(text.split()))


def _interval(words: Iterable[str], texts: Iterable[str], comment: str) -> Iterator[_Number]:
    """Yield a number and the ends of its interval."""
    for end, text in zip(("", "Low", "High"), texts, strict=True):
        yield (*words, end), text, comment + (f", {end.lower()} end of the 95% interval" if end else "")


def _scores(summary: Summary) -> Iterator[_Number]:
    for row in summary.scores.to_dict("records"):
        cell, fold, metric = str(row["cell"]), str(row["fold"]), str(row["metric"])
        whole = fold == HEADLINE_FOLD
        if is_time_metric(metric, summary.quantities) or (summary.of_points and not whole):
            continue
        unit = display_unit(metric, summary.quantities)
        words = (cell, metric) if whole else (cell, fold, metric)
        texts = [unit.text(row[end]) for end in ("value", "low", "high")]
        yield from _interval(words, texts, ", ".join((cell, *(() if whole else (fold,)), metric)))


def _differences(summary: Summary) -> Iterator[_Number]:
    unit = display_unit(summary.main_metric, summary.quantities)
    for row in summary.differences.to_dict("records"):
        a, b = str(row["a"]), str(row["b"])
        texts = [unit.text(row[end], "+") for end in ("value", "low", "high")]
        yield from _interval((a, "minus", b), texts, f"{a} minus {b}")


def _p_values(summary: Summary) -> Iterator[_Number]:
    for row in summary.significance.to_dict("records"):
        a, b, test = str(row["a"]), str(row["b"]), str(row["test"])
        words, comment = (a, "minus", b, test), f"{a} and {b}, p of the {test} test"
        yield (*words, "p"), p_text(row["p_value"], row["note"]), comment
        # As in the tables: where no outcome could have been significant, the reason stands in place of the number.
        holm = row["note"] or (MISSING_TEXT if is_missing(row["p_holm"]) else p_text(row["p_holm"]))
        yield (*words, "p-holm"), holm, f"{comment} after Holm's correction"
