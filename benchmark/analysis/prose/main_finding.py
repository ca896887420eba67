"""Main finding of a run, in words: what the planned comparisons show, and no more than that.

A cell is better than another where the leading test is significant after Holm's correction and the interval of the
difference excludes zero. A method "beats" another where it is better in most of their comparisons. The order of the
configuration decides nothing: the headline is on the method that all others are compared with, or else on the one that
is better most often. What was found comes before what wasn't. Where a paper is run, whether its values hold comes
first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import NEVER_DIFFER, UNDECIDED, UNTESTABLE, planned_comparisons
from benchmark.analysis.formatting.labels import spoken_names
from benchmark.analysis.formatting.number_text import is_missing, number_text, p_text
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.units import display_unit, metric_name
from benchmark.analysis.prose.sentences import sentences
from benchmark.config.model import ALL_CLASSES, CHOOSE_ORACLE
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from benchmark.papers.verdict_counts import value_counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.summary import CellInfo, Summary

    #: Comparisons by the methods that they are of, whose cells are their `a` and `b`.
    Duels = Mapping[tuple[str, str], Sequence[PlannedComparison]]

#: With at least this many methods beside one, the finding is on all of them.
LEAST_COMPARED = 3
#: Settings that comparisons may differ in, by field of a cell, in words for several.
SETTING_NAMES = {
    "variant": "variants",
    "task": "tasks",
    "of_class": "classes",
    "size": "training sizes",
    "terms": "numbers of terms",
}
#: Parts of a method, by column of a cell, in words for several.
_PARTS = {"weighting": "weightings", "normalization": "normalizations", "kernel": "kernels"}
_PARTS |= {"classifier": "classifiers"}
#: Names of tests, for sentences.
TEST_NAMES_IN_WORDS = {"sign": "the exact sign test", "mcnemar": "McNemar's exact test"}
TEST_NAMES_IN_WORDS |= {"wilcoxon": "Wilcoxon's signed rank test"}


@dataclass(frozen=True)
class MainFinding:
    """What a run shows: a headline without a full stop, and sentences on its numbers."""

    headline: str
    details: tuple[str, ...] = ()


class _Numbers:
    """Text of scores and differences in the unit of the main metric."""

    def __init__(self, summary: Summary) -> None:
        self.summary, metric = summary, summary.main_metric
        self.unit, self.name = display_unit(metric, summary.quantities), metric_name(metric, summary.quantities)
        self.sign = 1 if summary.more_is_better(metric) else -1

    def text(self, values: Sequence[float], sign: str = "") -> list[str]:
        """Write differences, those of a tenth of a point and more with one decimal, others as in the tables."""
        scaled = [self.unit.scale * value for value in values]
        coarse = self.unit.name == "percent" and all(abs(value) >= 0.095 for value in scaled)
        return [number_text(value, 1 if coarse else self.unit.decimals, sign) for value in scaled]

    def ends(self, values: Sequence[float], sign: str = "+") -> str:
        """Write the smallest and the largest of some differences: "−0.8 to +4.2 points"."""
        numbers = values if sign else [abs(value) for value in values]
        texts = dict.fromkeys(self.text([min(numbers), max(numbers)], sign))
        return f"{' to '.join(texts)} {'points' if self.unit.name == 'percent' else self.unit.symbol}".strip()

    def gap(self, values: Sequence[float], sign: str = "") -> str:
        """Write differences with their unit: "2.8 points of accuracy", "2.1 to 5.0 points of error"."""
        return f"{self.ends(values, sign)} of {self.name}"

    def interval(self, pair: PlannedComparison, sign: str = "+") -> str:
        """Write the interval of a difference, or without a sign that of its size."""
        if is_missing(pair.low) or is_missing(pair.high):
            return ""
        ends = [-pair.high, -pair.low] if not sign and pair.value < 0 else [pair.low, pair.high]
        low, high = self.text([*ends, pair.value], sign)[:2]
        return f" (95% interval {low} to {high})"

    def size(self, pair: PlannedComparison) -> str:
        """Write the size of a difference, with the interval of it."""
        return f"{self.gap([pair.value])}{self.interval(pair, '')}"

    def spread(self, values: Sequence[float]) -> str:
        """Write the smallest and the largest of some scores with their unit."""
        ends = dict.fromkeys(self.unit.text(end) for end in (min(values), max(values)))
        return f"{' to '.join(ends)}{self.unit.suffix}"

    def span(self, low: float, high: float) -> str:
        """Write the ends of a score's interval, or nothing where they are missing."""
        return "" if is_missing(low) or is_missing(high) else f"{self.unit.text(low)} to {self.unit.text(high)}"

    def score(self, cell: CellInfo) -> str:
        """Write the name of a cell with its main score."""
        return f"{cell.id} {self.unit.text(self.value(cell))}{self.unit.suffix}"

    def value(self, cell: CellInfo) -> Any:
        """Return the main score of a cell; None without one."""
        return self.summary.headlines.get((cell.id, self.summary.main_metric), {}).get("value")

    def best(self, duels: Mapping[str, Sequence[PlannedComparison]]) -> float:
        """Return the best main score of the first cells, turned so that more is better."""
        return max(self.sign * float(self.value(pair.a)) for pairs in duels.values() for pair in pairs)


def main_finding(summary: Summary) -> MainFinding:
    """Return the main finding of a summary."""
    numbers, pairs = _Numbers(summary), _leading_choice(planned_comparisons(summary))
    facts: dict[str, Any] = {
        "write": numbers,
        "metric": numbers.name,
        "on": f" on {summary.corpus}" if summary.corpus else "",
        "more_is_better": numbers.sign > 0,
        "choices": list(dict.fromkeys(pair.a.choice for pair in pairs)),
    }
    duels = _duels(pairs)
    against = _shared_by_all(pairs)
    if summary.advice:
        span = numbers.span(summary.advice.low, summary.advice.high)
        headline, *details = sentences("finding/advice.j2", **facts, advice=summary.advice, span=span)
    elif not pairs:
        headline, *details = sentences("finding/scores.j2", **facts, **_score_facts(summary))
    elif len({pair.a.method for pair in against}) >= LEAST_COMPARED:
        headline, *details = sentences("finding/against.j2", **facts, **_against_one(against, numbers))
    else:
        headline, *details = sentences("finding/compared.j2", **facts, **_lead_facts(duels, numbers))
    if paper := _paper_facts(duels, numbers):
        (held,) = sentences("finding/paper.j2", **facts, **paper)
        headline, details = held[:1].upper() + held[1:], [f"{headline}.", *details]
    return MainFinding(headline, tuple(details))


def question_sentence(summary: Summary) -> str:
    """Write what was compared: methods, the settings in which they were, and the metric."""
    cells = [cell for cell in summary.cells if cell.columns.get("what", "point") == "point"] or list(summary.cells)
    parts = {name: len({cell.columns.get(name, "") for cell in cells}) for name in _PARTS}
    (text,) = sentences(
        "finding/question.j2",
        methods=len({cell.method or cell.id for cell in cells}),
        parts=[f"{n} {_PARTS[name]}" for name, n in parts.items() if n > 1],
        metric=metric_name(summary.main_metric, summary.quantities),
        where=_varying_settings(cells),
    )
    return text


# --- Facts of each shape of finding ---


def _test_counts(pairs: Sequence[PlannedComparison]) -> dict[str, Any]:
    """Return which test decided, and how many comparisons it left open, or could not decide."""
    tested = [spoken_test(pair.test) for pair in pairs if pair.outcome in ("a", "b", UNDECIDED)]
    untestable = [pair.note for pair in pairs if pair.outcome == UNTESTABLE]
    note = next(iter(untestable), "").removeprefix("not testable ").strip("()")
    counts = {"open": sum(pair.outcome == UNDECIDED for pair in pairs), "untestable": len(untestable), "of": len(pairs)}
    return {"test": next(iter(tested), ""), "note": note, **counts}


def _lead_facts(duels: Duels, numbers: _Numbers) -> dict[str, Any]:
    """Return the method that the headline is on, its comparisons by outcome, and more of a single pair of methods."""
    lead = _lead(duels, numbers)
    own = _of(lead, duels)
    found = {other: _outcome(pairs) for other, pairs in own.items()}
    group: dict[str, Any] = {"lead": lead}
    for outcome in ("a", "b", NEVER_DIFFER, UNDECIDED):
        group[outcome] = _together({other: pairs for other, pairs in own.items() if found[other] == outcome})
    group["rest"] = _together({other: pairs for other, pairs in own.items() if found[other] not in group})
    if len(duels) > 1:
        return {"group": group, "duel": None}
    (pairs,) = own.values()
    pair, p = pairs[0], p_text(pairs[0].p_holm)
    # A chosen classifier is not one but several.
    names = ("weighting",) if pair.a.choice else ("weighting", "classifier")
    shared = [pair.a.columns.get(name, "") for name in names if pair.a.columns.get(name) == pair.b.columns.get(name)]
    return {
        "group": group,
        "duel": _together(own),
        "shared": list(filter(None, shared)),
        "p": "" if pair.p_holm is None or pair.note else p.replace("<", "< ") if "<" in p else f"= {p}",
        "tested": _test_counts(pairs) if len(pairs) > 1 else {"test": spoken_test(pair.test)},
    }


def _together(duels: Mapping[str, Sequence[PlannedComparison]]) -> dict[str, Any] | None:
    """Return the other methods of some comparisons, their numbers and settings; None of none."""
    pairs = [pair for own in duels.values() for pair in own]
    if not pairs:
        return None
    outcomes, where = Counter(pair.outcome for pair in pairs), _settings(pairs)
    return {
        "names": list(duels),
        "pairs": pairs,
        "of": len(pairs),
        "gaps": [pair.value for pair in pairs],
        "decided": [pair.value for own in duels.values() for pair in own if pair.outcome == _outcome(own)],
        "won": outcomes["a"],
        "lost": outcomes["b"],
        "where": where,
        "noun": "comparisons" if len(duels) > 1 or " × " in where else where.partition(" ")[2],
    }


def _against_one(pairs: Sequence[PlannedComparison], numbers: _Numbers) -> dict[str, Any]:
    """Return the facts of many methods that are compared with the same one, at the largest training size."""
    sizes = [pair.a.size for pair in pairs if pair.a.size is not None]
    pairs = [pair for pair in pairs if pair.a.size is None or pair.a.size == max(sizes)]
    better = (pair for pair in pairs if pair.outcome == "a")
    return {
        "base": pairs[0].b,
        "pairs": pairs,
        "values": [pair.value for pair in pairs],
        "counted": Counter(pair.outcome for pair in pairs),
        "methods": len({pair.a.method for pair in pairs}),
        "best": max(better, key=lambda pair: numbers.sign * pair.value, default=None),
        "where": _settings(pairs),
        "tested": _test_counts(pairs),
    }


def _paper_facts(duels: Duels, numbers: _Numbers) -> dict[str, Any]:
    """Return whether a paper's values hold: by how much its best method leads here and there, and the counts."""
    rows = numbers.summary.verdicts
    judged = rows[~rows["verdict"].isin(("no interval", "another setting", "tuned", REFERENCE_VALUE))]
    counts = [own for own in value_counts([judged]) if own.kind != "count" and own.of]
    if not counts:
        return {}
    outside = [(own.verdicts["deviates"], own.of, own.name) for own in counts if own.verdicts["deviates"]]
    reproduced = [(own.reproduced, own.of, own.name) for own in counts]
    facts: dict[str, Any] = {"outside": outside, "reproduced": reproduced, "rival": None}
    main = judged[(judged["metric"] == numbers.summary.main_metric) & (judged["reading"] == "")]
    printed = {row["cell"]: row["published"] for row in map(in_shown_unit, main.to_dict("records"))}
    whole = {
        names: own for names, pairs in duels.items() if (own := [p for p in pairs if {p.a.id, p.b.id} <= {*printed}])
    }
    if not whole:
        return facts
    lead = _lead(whole, numbers)
    others = _of(lead, whole)
    rival = max(others, key=lambda other: (_outcome(others[other]) == "a", numbers.best(_of(other, whole)), other))
    names, pairs = (lead, rival), others[rival]
    if _outcome(pairs) == "b":
        names, pairs = (rival, lead), [pair.turned for pair in pairs]
    outcome = _outcome(pairs)
    gaps = [float(printed[pair.a.id]) - float(printed[pair.b.id]) for pair in pairs]
    decimals = max(len(printed[cell.id].partition(".")[2]) for pair in pairs for cell in (pair.a, pair.b))
    coarse = all(abs(gap) >= 0.095 for gap in gaps) and numbers.unit.name == "percent"
    digits = min(decimals, 1 if coarse else numbers.unit.decimals)
    texts = dict.fromkeys(number_text(gap, digits, "" if outcome == "a" else "+") for gap in (min(gaps), max(gaps)))
    values = [pair.value for pair in pairs]
    return facts | {"rival": names, "outcome": outcome, "values": values, "reported": " to ".join(texts)}


def _score_facts(summary: Summary) -> dict[str, Any]:
    """Return how far scores range, and in how many settings."""
    cells = [cell for cell in summary.cells if (cell.id, summary.main_metric) in summary.headlines]
    rows = [summary.headlines[cell.id, summary.main_metric] for cell in cells]
    return {
        "values": [row["value"] for row in rows if not is_missing(row["value"])],
        "only": rows[0] if rows else None,
        "methods": len({cell.method or cell.id for cell in cells}),
        "settings": len({tuple(getattr(cell, name) for name in (*SETTING_NAMES, "choice")) for cell in cells}),
        "cells": len(summary.cells),
        "failed": len(summary.failures),
        "title": summary.title,
        "compared": len(summary.differences) > 0,
    }


# --- Comparisons ---


def _leading_choice(pairs: Sequence[PlannedComparison]) -> list[PlannedComparison]:
    """Return the comparisons of scores, not of gains: of all classes together, and of parameters chosen honestly."""
    own = [pair for pair in pairs if pair.a.columns.get("what", "point") == "point"]
    whole = [pair for pair in own if pair.a.of_class in ("", ALL_CLASSES)]
    honest = [pair for pair in whole or own if pair.a.choice != CHOOSE_ORACLE]
    return honest or whole or own


def _duels(pairs: Sequence[PlannedComparison]) -> Duels:
    """Return the comparisons by the two methods that they are of, sorted by the names of these."""
    found: dict[tuple[str, str], list[PlannedComparison]] = {}
    for pair in pairs:
        a, b = spoken_names(pair.a, pair.b)
        found.setdefault((min(a, b), max(a, b)), []).append(pair if a < b else pair.turned)
    return {names: sorted(own, key=lambda pair: (pair.a.id, pair.b.id)) for names, own in sorted(found.items())}


def _of(name: str, duels: Duels) -> dict[str, Sequence[PlannedComparison]]:
    """Return the comparisons of a method by the other one's name, with its own cells as `a`."""
    found = {b: own for (a, b), own in duels.items() if a == name}
    found |= {a: [pair.turned for pair in own] for (a, b), own in duels.items() if b == name}
    return dict(sorted(found.items()))


def _outcome(pairs: Sequence[PlannedComparison]) -> str:
    """Return the outcome of most comparisons: "a" or "b" where that method is better in most, or else a reason."""
    counted = Counter(pair.outcome for pair in pairs)
    for outcome in ("a", "b", NEVER_DIFFER):
        if 2 * counted[outcome] > len(pairs):
            return outcome
    return UNDECIDED if counted["a"] or counted["b"] or counted[UNDECIDED] else pairs[0].outcome


def _lead(duels: Duels, numbers: _Numbers) -> str:
    """Return the method that all others are compared with, or else the one that is better most often."""

    def key(name: str) -> tuple[Any, ...]:
        own = _of(name, duels)
        outcomes = [_outcome(pairs) for pairs in own.values()]
        return len(own) == len(duels), outcomes.count("a") - outcomes.count("b"), len(own), numbers.best(own)

    return max(sorted({name for names in duels for name in names}), key=key)


def _shared_by_all(pairs: Sequence[PlannedComparison]) -> list[PlannedComparison]:
    """Return the comparisons with the method that is in all of them as `b`, sorted; none if there is no such method."""
    shared = set.intersection(*({pair.a.method, pair.b.method} for pair in pairs)) if pairs else set()
    turned = [pair if pair.b.method in shared else pair.turned for pair in pairs]
    return sorted(turned, key=lambda pair: (pair.a.id, pair.b.id)) if len(shared) == 1 else []


def _settings(pairs: Sequence[PlannedComparison]) -> str:
    """Write the settings that comparisons differ in."""
    return _varying_settings([pair.a for pair in pairs]) or f"{len(pairs)} comparisons"


def _varying_settings(cells: Sequence[CellInfo]) -> str:
    """Write the settings that cells differ in: "2 tasks × 5 training sizes"."""
    numbers = {name: len({getattr(cell, name) for cell in cells}) for name in SETTING_NAMES}
    return " × ".join(f"{n} {SETTING_NAMES[name]}" for name, n in numbers.items() if n > 1)


def spoken_test(name: str) -> str:
    """Return the name of a test for a sentence."""
    return TEST_NAMES_IN_WORDS.get(name, name)
