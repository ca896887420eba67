"""Where predictions that were made elsewhere stand on a public test set: sentences, tables and a page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import BASELINE, NOT_SHOWN
from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import (
    DISPLAY_UNITS,
    is_missing,
    metric_name,
    metric_with_unit,
    number_text,
    p_text,
    printed_decimals,
)
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.public_test_sets import LABEL_SEPARATOR
from benchmark.report.environment import template_environment
from benchmark.report.html.page import render_html
from benchmark.report.html.results import bars_of
from benchmark.report.tables import INTERVAL, NOTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from benchmark.evaluation.public_test_sets import PublicTestSet

#: Columns of `Placement.ranking`. Shares are fractions; differences are the placed method's score minus the cell's.
RANKING_COLUMNS = (
    *("rank", "cell", "configuration", "value", "low", "high", "macro_f1"),
    *("difference", "difference_low", "difference_high", "differing", "p_value", "p_holm", "compared"),
)
#: Columns of `Placement.published`; `published` is the printed text, in percent.
PUBLISHED_SCORE_COLUMNS = ("metric", "method", "source", "year", "published", "transductive", "beside")
BETTER, WORSE = "better", "worse"
HIGHER, LOWER, ALIKE = "higher", "lower", "the same digits"
#: Rows of a table in the terminal: those around the placed method, after so many of the first.
TERMINAL_ROWS, FIRST_PLACES = 9, 2
_PERCENT, _SEEN = DISPLAY_UNITS["percent"], "test texts in training"


@dataclass(frozen=True, eq=False)
class Placement:
    """Where predictions stand among our methods and published scores on a public test set.

    Parameters
    ----------
    test_set : PublicTestSet
    name : str
        Name of the placed method.
    scores : DataFrame
        Columns cell, fold, metric, value, low, high, n and ties, as in `Result.scores`: the placed method alone.
    ranking : DataFrame
        A row for the placed method and for each cell, the best first, with the columns `RANKING_COLUMNS`. The
        configuration of the placed method is "". `differing` counts the documents whose labels differ. Where documents
        have one label, `p_value` is of McNemar's exact test and `p_holm` is corrected over all cells. `compared` says
        how the placed method compares: "better", "worse" or "no clear difference".
    published : DataFrame
        Published scores, the highest first, with the columns `PUBLISHED_SCORE_COLUMNS`. `beside` says how the published
        score compares, to its printed digits: "higher", "lower" or "the same digits".
    excluded : mapping of str to bool
        Whether the predictions of documents that our methods leave out are right, by id.
    """

    test_set: PublicTestSet
    name: str
    scores: pd.DataFrame
    ranking: pd.DataFrame
    published: pd.DataFrame
    excluded: Mapping[str, bool]

    @property
    def rank(self) -> int:
        """Rank of the placed method among the cells, from 1; equal scores share a rank."""
        return int(self.ranking["rank"][self.ranking["configuration"] == ""].iloc[0])

    @property
    def heads(self) -> dict[str, dict[Any, Any]]:
        """Scores over all splits by metric, the main metric first."""
        rows = self.scores[self.scores["fold"] == HEADLINE_FOLD]
        return {row["metric"]: row for row in rows.to_dict("records")}

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the numbers show, a fact a sentence."""
        return _lines("sentences", **self._facts)

    @property
    def notes(self) -> tuple[str, ...]:
        """What readers of the numbers need to know."""
        return _lines("notes", **self._facts)

    @property
    def _facts(self) -> dict[str, Any]:
        """What the sentences and notes state: how many documents, groups and tests, and cells and values by outcome."""
        compared = self.ranking[self.ranking["configuration"] != ""].groupby("compared", sort=False)["cell"]
        beside = self.published.groupby("metric", sort=False)["beside"]
        return {
            "placement": self,
            "n": int(self.scores["n"].max()),
            "groups": len(set(self.scores["fold"]) - {HEADLINE_FOLD}),
            "tests": int(self.ranking["p_holm"].notna().sum()),
            "cells": {BETTER: [], WORSE: [], NOT_SHOWN: []} | {word: list(names) for word, names in compared},
            "published": {_name(str(metric)): words.value_counts().to_dict() for metric, words in beside},
            "name_of": _name,
            "percent": _PERCENT,
        }


def _name(metric: str) -> str:
    return metric_name(metric, DIAGNOSTIC_METRICS)


def _lines(part: str, **facts: Any) -> tuple[str, ...]:
    """Return the sentences of a part of the template, one a line."""
    written = template_environment().get_template("placement.md.j2").render(part=part, **facts)
    return tuple(line for line in written.splitlines() if line)


def template_sentence(test_set: PublicTestSet, n: int) -> str:
    """Return how many documents a test set has, and what a method may be trained on."""
    return _lines("template", test_set=test_set, n=n, separator=repr(LABEL_SEPARATOR))[0]


def ranking_table_of(placement: Placement) -> Table:
    """Return the ranking with how the placed method, which has a star, compares with each other method."""
    rows = placement.ranking
    main, further = (metric_with_unit(metric, DIAGNOSTIC_METRICS) for metric in placement.test_set.metrics)
    columns: dict[Column, Iterable[Any]] = {
        Column("rank", PLAIN): rows["rank"],
        Column("method"): map(_starred, rows["cell"], rows["configuration"] == ""),
        Column(main, _PERCENT): rows["value"],
        Column(INTERVAL, _PERCENT, detail=5): zip(rows["low"], rows["high"], strict=True),
        Column(further, _PERCENT, detail=2): rows["macro_f1"],
        Column(f"{placement.name} is"): rows["compared"],
        Column("p (Holm)", PLAIN, detail=1): (None if is_missing(p) else p_text(p) for p in rows["p_holm"]),
        Column("difference", _PERCENT, "+", detail=3): rows["difference"],
        Column("interval of it", _PERCENT, "+", detail=6): zip(
            rows["difference_low"], rows["difference_high"], strict=True
        ),
        Column("other labels", PLAIN, detail=7): (None if is_missing(n) else int(n) for n in rows["differing"]),
    }
    title = f"Among our methods on {placement.test_set.title}"
    values = zip(*columns.values(), strict=True)
    return Table.of(title, columns, values, " ".join((NOTES["placed among ours"], *placement.notes))).filled()


def published_table_of(placement: Placement) -> Table:
    """Return the published scores, the highest first, with the placed score among them."""
    records = list[dict[str, Any]]()
    for metric, rows in placement.published.groupby("metric", sort=False):
        score, higher = placement.heads[str(metric)]["value"], int((rows["beside"] == HIGHER).sum())
        listed: list[dict[str, Any]] = []
        for each in rows.to_dict("records"):
            gap = number_text(100 * score - float(each["published"]), printed_decimals(each["published"]), "+")
            record = {"method": f"{each['method']} ({each['source']})" if each["source"] else each["method"]}
            record |= {"%": each["published"], "difference": gap}
            record["year"] = None if is_missing(each["year"]) else f"{each['year']:.0f}"
            listed.append(record | {_SEEN: {True: "yes", False: "no"}.get(each["transductive"], "not known")})
        listed.insert(higher, {"method": _starred(placement.name, placed=True), "%": _PERCENT.text(score)})
        records += [{"metric": _name(str(metric)), **each} for each in listed]
    columns = ("metric", "method", *(Column(name, PLAIN) for name in ("%", "year", "difference")), _SEEN)
    return Table.of("Among published scores", columns, records, NOTES["placed among published"])


def _starred(name: str, placed: bool) -> str:
    return f"★ {name}" if placed else name


def terminal_tables(placement: Placement) -> list[Table]:
    """Return the tables of one screen: the first places, and the rows around the placed method."""
    published = placement.published
    shown = replace(placement, published=published[published["metric"] == placement.test_set.metrics[0]])
    found = []
    for table in (ranking_table_of(placement), published_table_of(shown).without("metric")):
        position = next((i for i, row in enumerate(table.texts) if any(text.startswith("★") for text in row[:2])), 0)
        n, around = len(table.rows), TERMINAL_ROWS - FIRST_PLACES
        start = max(FIRST_PLACES, min(position - around // 2, n - around))
        rows = (*table.rows[:FIRST_PLACES], *table.rows[start : start + around])
        title = f"{table.title} ({len(rows)} of {n} rows)" if len(rows) < n else table.title
        found += [replace(table, title=title, rows=rows, note="")] if rows else []
    return found


def placement_page(placement: Placement) -> str:
    """Return the page of a placement: all methods with intervals as bars, then all published scores."""
    ranked, table = placement.ranking.to_dict("records"), ranking_table_of(placement)
    (placed,) = (row for row in ranked if not row["configuration"])
    numbers = [
        {end: 100 * row[end] for end in ("value", "low", "high")}
        | {f"base_{end}": None if row is placed else 100 * placed[end] for end in ("low", "high")}
        | {"published": None}
        for row in ranked
    ]
    bars = {
        name: (bar, BASELINE if row is placed else row["compared"], f"{score} {interval}")
        for (_, name, score, interval, *_), row, bar in zip(table.texts, ranked, bars_of(numbers)[0], strict=True)
    }
    return render_html(
        "place.html.j2",
        placement.sentences,
        name=placement.name,
        test_set=placement.test_set,
        ranking=table,
        published=published_table_of(placement),
        baselines=[_starred(placed["cell"], placed=True)],
        bars=bars,
    )
