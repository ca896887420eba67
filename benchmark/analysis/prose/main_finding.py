"""Main finding of a run, in words: what the planned comparisons show, and no more than that.

A cell is better than another where the leading test is significant after Holm's correction and the interval of the
difference excludes zero. A method "beats" another where it is better in most of their comparisons. The order of the
configuration decides nothing: methods that are compared with each other make a group, and a sentence is on the method
of a group that all others are compared with, or else on the one that is better most often. What was found comes before
what wasn't. Where a paper is run, whether its values hold comes first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import NEVER_DIFFER, UNDECIDED, UNTESTABLE, planned_comparisons
from benchmark.analysis.formatting.labels import spoken_names
from benchmark.analysis.formatting.number_text import is_missing, number_text, p_text
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.units import display_unit, metric_name
from benchmark.analysis.prose.sentences import sentences
from benchmark.config.model import ALL_CLASSES, CHOOSE_ORACLE
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from benchmark.papers.verdict_counts import VALUE_KINDS, value_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.formatting.units import Unit
    from benchmark.analysis.summary import CellInfo, Summary

#: With at least this many methods beside one, the finding is on all of them.
LEAST_COMPARED = 3
#: Groups of methods that a headline is on.
MOST_GROUPS = 2
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
#: Verdicts on published values of settings that are not the paper's.
_OTHER_SETTINGS = ("another setting", "tuned", REFERENCE_VALUE)
#: Names of tests, for sentences.
TEST_NAMES_IN_WORDS = {"sign": "the exact sign test", "mcnemar": "McNemar's exact test"}
TEST_NAMES_IN_WORDS |= {"wilcoxon": "Wilcoxon's signed rank test"}


@dataclass(frozen=True)
class MainFinding:
    """What a run shows: a headline without a full stop, and sentences on its numbers.

    Parameters
    ----------
    headline : str
    details : tuple of str
    """

    headline: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Duel:
    """Comparisons of one method with another, in all settings.

    Parameters
    ----------
    name, other : str
        The methods in words.
    pairs : tuple of PlannedComparison
        The first method's cells are their `a`.
    """

    name: str
    other: str
    pairs: tuple[PlannedComparison, ...]

    def seen_from(self, name: str) -> _Duel:
        """Return the same with a method as the first."""
        return self if name == self.name else _Duel(self.other, self.name, tuple(map(_turned, self.pairs)))

    @property
    def better_first(self) -> _Duel:
        """The same with the method first that is better in most comparisons, if one is."""
        return self.seen_from(self.other) if self.outcome == "b" else self

    @property
    def outcome(self) -> str:
        """Outcome of most comparisons: "a" or "b" where that method is better in most, or else a reason."""
        counted = Counter(pair.outcome for pair in self.pairs)
        for outcome in ("a", "b", NEVER_DIFFER):
            if 2 * counted[outcome] > len(self.pairs):
                return outcome
        return UNDECIDED if counted["a"] or counted["b"] or counted[UNDECIDED] else self.pairs[0].outcome

    @property
    def decided(self) -> list[PlannedComparison]:
        """The comparisons with the outcome of most."""
        return [pair for pair in self.pairs if pair.outcome == self.outcome]


@dataclass(frozen=True)
class _Numbers:
    """Text of scores and differences in the unit of the main metric."""

    summary: Summary
    unit: Unit
    name: str

    def decimals(self, values: Sequence[float]) -> int:
        """Return one decimal for differences of a tenth of a point and more, else those of the tables."""
        coarse = self.unit.name == "percent" and all(abs(self.unit.scale * value) >= 0.095 for value in values)
        return 1 if coarse else self.unit.decimals

    def ends(self, values: Sequence[float], sign: str = "+") -> str:
        """Write the smallest and the largest of some differences: "−0.8 to +4.2 points"."""
        numbers = values if sign else [abs(value) for value in values]
        both = [min(numbers), max(numbers)]
        texts = dict.fromkeys(number_text(self.unit.scale * end, self.decimals(both), sign) for end in both)
        unit = "points" if self.unit.name == "percent" else self.unit.symbol
        return f"{' to '.join(texts)} {unit}".strip()

    def gap(self, values: Sequence[float], sign: str = "") -> str:
        """Write differences with their unit: "2.8 points of accuracy", "2.1 to 5.0 points of error"."""
        return f"{self.ends(values, sign)} of {self.name}"

    def interval(self, pair: PlannedComparison, sign: str = "+") -> str:
        """Write the interval of a difference, or without a sign that of its size."""
        if is_missing(pair.low) or is_missing(pair.high):
            return ""
        ends = [-pair.high, -pair.low] if not sign and pair.value < 0 else [pair.low, pair.high]
        decimals = self.decimals([pair.value, *ends])
        low, high = (number_text(self.unit.scale * end, decimals, sign) for end in ends)
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
        text = self.unit.interval(low, high)
        return text.strip("[]").replace(", ", " to ") if "[" in text else ""

    def value(self, cell: CellInfo) -> float:
        """Return the main score of a cell."""
        return float(self.summary.headlines[cell.id, self.summary.main_metric]["value"])

    def score(self, cell: CellInfo) -> str:
        """Write the name of a cell with its main score."""
        row = self.summary.headlines.get((cell.id, self.summary.main_metric), {})
        return f"{cell.id} {self.unit.text(row.get('value'))}{self.unit.suffix}"


def main_finding(summary: Summary) -> MainFinding:
    """Return the main finding of a summary."""
    metric = summary.main_metric
    name = metric_name(metric, summary.quantities)
    numbers = _Numbers(summary, display_unit(metric, summary.quantities), name)
    pairs = _leading_choice(planned_comparisons(summary))
    say = partial(
        sentences,
        write=numbers,
        metric=name,
        on=f" on {summary.corpus}" if summary.corpus else "",
        more_is_better=summary.more_is_better(metric),
        values=[pair.value for pair in pairs],
        pairs=pairs,
    )
    if summary.advice:
        span = numbers.span(summary.advice.low, summary.advice.high)
        return _finding(say("finding/advice.j2", advice=summary.advice, span=span, choices=_choices(pairs)))
    if not pairs:
        return _finding(say("finding/scores.j2", **_score_facts(numbers), choices=()))
    duels, against = _duels(pairs), _shared_by_all(pairs)
    if against and len({pair.a.method for pair in against}) >= LEAST_COMPARED:
        lines = say("finding/against.j2", **_against_one(_largest(against), numbers))
    else:
        groups = sorted((_group_facts(group, numbers) for group in _groups(duels)), key=lambda each: each["order"])
        shown = [groups[0], *(each for each in groups[1:MOST_GROUPS] if each["order"][0] == groups[0]["order"][0])]
        lines = say("finding/compared.j2", groups=shown, choices=_choices(pairs), **_duel_facts(groups[0], duels))
    found = _finding(lines)
    paper = _paper_facts(duels, numbers)
    if not paper:
        return found
    (held,) = say("finding/paper.j2", **paper)
    return MainFinding(held[:1].upper() + held[1:], (f"{found.headline}.", *found.details))


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


def published_sentences(verdicts: pd.DataFrame) -> list[str]:
    """Write how many published results and counts of data were reproduced, and how many have no verdict."""
    own = verdicts[verdicts["reading"] == ""]
    judged = own[~own["verdict"].isin(_OTHER_SETTINGS)]
    good = (
        judged["verdict"]
        .astype(str)
        .str.startswith(("equal", "consistent"))
        .groupby(judged["kind"])
        .agg(["sum", "size"])
    )
    kinds = [(kind, name, *map(int, good.loc[kind])) for kind, name in VALUE_KINDS.items() if kind in good.index]
    counted = own["verdict"].value_counts()
    other = {
        name: int(counted.get(word, 0)) for name, word in (("tuned", "tuned"), ("other_settings", "another setting"))
    }
    return sentences("finding/published.j2", kinds=kinds, **other)


# --- Facts of each shape of finding ---


def _finding(lines: Sequence[str]) -> MainFinding:
    return MainFinding(lines[0], tuple(lines[1:]))


def _test_counts(pairs: Sequence[PlannedComparison]) -> dict[str, Any]:
    """Return which test decided, and how many comparisons it left open, or could not decide."""
    tested = [pair for pair in pairs if pair.outcome in ("a", "b", UNDECIDED)]
    untestable = [pair for pair in pairs if pair.outcome == UNTESTABLE]
    return {
        "test": _test(tested[0]) if tested else "",
        "open": sum(pair.outcome == UNDECIDED for pair in pairs),
        "untestable": len(untestable),
        "of": len(pairs),
        "note": untestable[0].note.removeprefix("not testable ").strip("()") if untestable else "",
    }


def _duel_facts(group: dict[str, Any], duels: Sequence[_Duel]) -> dict[str, Any]:
    """Return the numbers of the only two methods that are compared, as the first of them is led by; else nothing."""
    if len(duels) > 1:
        return {"duel": None}
    duel = duels[0].seen_from(group["lead"])
    pair = duel.pairs[0]
    # A chosen classifier is not one but several.
    names = ("weighting",) if pair.a.choice else ("weighting", "classifier")
    shared = [pair.a.columns.get(name, "") for name in names if pair.a.columns.get(name) == pair.b.columns.get(name)]
    p = p_text(pair.p_holm)
    return {
        "duel": _together([duel]),
        "shared": list(filter(None, shared)),
        "p": "" if pair.p_holm is None or pair.note else p.replace("<", "< ") if "<" in p else f"= {p}",
        "tested": _test_counts(duel.pairs) if len(duel.pairs) > 1 else {"test": _test(pair)},
    }


def _against_one(pairs: Sequence[PlannedComparison], numbers: _Numbers) -> dict[str, Any]:
    """Return the facts of many methods that are compared with the same one, which is their `b`."""
    sign = 1 if numbers.summary.more_is_better(numbers.summary.main_metric) else -1
    return {
        "base": pairs[0].b,
        "pairs": pairs,
        "values": [pair.value for pair in pairs],
        "counted": Counter(pair.outcome for pair in pairs),
        "methods": len({pair.a.method for pair in pairs}),
        "best": max((pair for pair in pairs if pair.outcome == "a"), key=lambda pair: sign * pair.value, default=None),
        "where": _settings(pairs),
        "tested": _test_counts(pairs),
        "choices": _choices(pairs),
    }


def _group_facts(duels: Sequence[_Duel], numbers: _Numbers) -> dict[str, Any]:
    """Return the method that a clause is on, its comparisons by outcome, and a key by which groups are sorted."""
    lead = _lead(duels, numbers)
    own = sorted((duel.seen_from(lead) for duel in duels if lead in (duel.name, duel.other)), key=lambda d: d.other)
    by_outcome: dict[str, Any] = {
        outcome: _together([duel for duel in own if duel.outcome == outcome])
        for outcome in ("a", "b", NEVER_DIFFER, UNDECIDED)
    }
    by_outcome["rest"] = _together([duel for duel in own if duel.outcome not in by_outcome])
    won, lost, *others = by_outcome.values()
    rank = next(i for i, some in enumerate((won or lost, *others)) if some)
    best = _best(lead, own, numbers)
    return by_outcome | {"lead": lead, "order": (rank, -sum(len(duel.pairs) for duel in own), -best, lead)}


def _together(duels: Sequence[_Duel]) -> dict[str, Any] | None:
    """Return the other methods of some comparisons, their numbers and settings; None of none."""
    if not duels:
        return None
    pairs = [pair for duel in duels for pair in duel.pairs]
    outcomes, where = Counter(pair.outcome for pair in pairs), _settings(pairs)
    return {
        "names": [duel.other for duel in duels],
        "pairs": pairs,
        "of": len(pairs),
        "gaps": [pair.value for pair in pairs],
        "decided": [pair.value for duel in duels for pair in duel.decided],
        "won": outcomes["a"],
        "lost": outcomes["b"],
        "where": where,
        "noun": "comparisons" if len(duels) > 1 or " × " in where else where.partition(" ")[2],
    }


def _paper_facts(duels: Sequence[_Duel], numbers: _Numbers) -> dict[str, Any]:
    """Return whether a paper's values hold: by how much its best method leads here and there, and the counts."""
    counts = [own for own in value_counts([numbers.summary.verdicts]) if own.kind != "count"]
    of = {own.kind: own.of - own.verdicts["no interval"] for own in counts}
    counts = [own for own in counts if of[own.kind]]
    if not counts:
        return {}
    facts: dict[str, Any] = {
        "outside": [(own.verdicts["deviates"], of[own.kind], own.name) for own in counts if own.verdicts["deviates"]],
        "reproduced": [(own.reproduced, of[own.kind], own.name) for own in counts],
        "rival": None,
        "reported": "",
    }
    printed = _printed(numbers.summary)
    known = [
        replace(duel, pairs=own)
        for duel in duels
        if (own := tuple(pair for pair in duel.pairs if {pair.a.id, pair.b.id} <= printed.keys()))
    ]
    if not known:
        return facts
    lead = _lead(known, numbers)
    others = [duel.seen_from(lead) for duel in known if lead in (duel.name, duel.other)]
    rival = max(others, key=lambda duel: (duel.outcome == "a", _best(duel.other, [duel], numbers), duel.other))
    rival = rival.better_first
    gaps = [float(printed[pair.a.id]) - float(printed[pair.b.id]) for pair in rival.pairs]
    decimals = max(len(printed[cell.id].partition(".")[2]) for pair in rival.pairs for cell in (pair.a, pair.b))
    coarse = min(decimals, numbers.decimals([gap / numbers.unit.scale for gap in gaps]))
    sign = "" if rival.outcome == "a" else "+"
    texts = dict.fromkeys(number_text(gap, coarse, sign) for gap in (min(gaps), max(gaps)))
    return facts | {"rival": rival, "reported": " to ".join(texts)}


def _printed(summary: Summary) -> dict[str, str]:
    """Return the values of the main metric that the paper prints for our settings, by cell, in the shown unit."""
    rows = summary.verdicts
    own = (rows["metric"] == summary.main_metric) & (rows["reading"] == "") & ~rows["verdict"].isin(_OTHER_SETTINGS)
    return {row["cell"]: row["published"] for row in map(in_shown_unit, rows[own].to_dict("records"))}


def _score_facts(numbers: _Numbers) -> dict[str, Any]:
    """Return how far scores range, at the ends of a curve if cells differ in training size or terms alone."""
    summary = numbers.summary
    scores = [row for (_, metric), row in summary.headlines.items() if metric == summary.main_metric]
    values = [row["value"] for row in scores if not is_missing(row["value"])]
    cells = [cell for cell in summary.cells if (cell.id, summary.main_metric) in summary.headlines]
    settings = {tuple(getattr(cell, name) for name in (*SETTING_NAMES, "choice")) for cell in cells}
    curve, along = list[tuple[int, list[float]]](), ""
    for axis, words in (("size", "training documents"), ("terms", "terms")):
        points = sorted({getattr(cell, axis) for cell in cells if getattr(cell, axis) is not None})
        if len(points) == len(settings) > 1 and not curve:
            ends, along = (points[0], points[-1]), words
            curve = [(at, [numbers.value(cell) for cell in cells if getattr(cell, axis) == at]) for at in ends]
    return {
        "values": values,
        "only": scores[0] if scores else None,
        "span": numbers.span(scores[0]["low"], scores[0]["high"]) if scores else "",
        "curve": curve,
        "along": along,
        "methods": len({cell.method or cell.id for cell in cells}),
        "settings": len(settings),
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


def _lead(duels: Sequence[_Duel], numbers: _Numbers) -> str:
    """Return the method of a group that all others are compared with, or else the one that is better most often."""

    def key(name: str) -> tuple[Any, ...]:
        own = [duel.seen_from(name) for duel in duels if name in (duel.name, duel.other)]
        outcomes = [duel.outcome for duel in own]
        more = outcomes.count("a") - outcomes.count("b")
        return len(own) == len(duels), more, len(own), _best(name, own, numbers)

    return max(sorted({name for duel in duels for name in (duel.name, duel.other)}), key=key)


def _best(name: str, duels: Sequence[_Duel], numbers: _Numbers) -> float:
    """Return the best main score of a method, turned so that more is better."""
    sign = 1 if numbers.summary.more_is_better(numbers.summary.main_metric) else -1
    return max((sign * numbers.value(pair.a) for duel in duels for pair in duel.seen_from(name).pairs), default=0.0)


def _turned(pair: PlannedComparison) -> PlannedComparison:
    """Return a comparison with its cells in the other order."""
    outcome = {"a": "b", "b": "a"}.get(pair.outcome, pair.outcome)
    return replace(pair, a=pair.b, b=pair.a, value=0.0 - pair.value, low=-pair.high, high=-pair.low, outcome=outcome)


def _duels(pairs: Sequence[PlannedComparison]) -> list[_Duel]:
    """Return the comparisons by the two methods that they are of, sorted by the names of these."""
    found: dict[tuple[str, str], list[PlannedComparison]] = {}
    for pair in pairs:
        a, b = spoken_names(pair.a, pair.b)
        found.setdefault((min(a, b), max(a, b)), []).append(pair if a < b else _turned(pair))
    return [
        _Duel(a, b, tuple(sorted(own, key=lambda pair: (pair.a.id, pair.b.id))))
        for (a, b), own in sorted(found.items())
    ]


def _groups(duels: Sequence[_Duel]) -> list[list[_Duel]]:
    """Return the groups of methods that are compared with each other on the same variants and tasks."""
    groups: list[tuple[set[tuple[str, str, str]], list[_Duel]]] = []
    for duel in duels:
        places = {(pair.a.variant, pair.a.task) for pair in duel.pairs}
        names, own, apart = {(name, *place) for name in (duel.name, duel.other) for place in places}, [duel], []
        for group in groups:
            if names & group[0]:
                names, own = names | group[0], [*group[1], *own]
            else:
                apart.append(group)
        groups = [*apart, (names, own)]
    return [own for _, own in groups]


def _shared_by_all(pairs: Sequence[PlannedComparison]) -> list[PlannedComparison]:
    """Return the comparisons with the method that is in all of them as `b`, sorted; none if there is no such method."""
    shared = set.intersection(*({pair.a.method, pair.b.method} for pair in pairs))
    if len(shared) != 1:
        return []
    (base,) = shared
    turned = [pair if pair.b.method == base else _turned(pair) for pair in pairs]
    return sorted(turned, key=lambda pair: (pair.a.id, pair.b.id))


def _largest(pairs: Sequence[PlannedComparison]) -> list[PlannedComparison]:
    """Return the comparisons at the largest training size."""
    sizes = {pair.a.size for pair in pairs if pair.a.size is not None}
    return [pair for pair in pairs if pair.a.size is None or pair.a.size == max(sizes)]


def _settings(pairs: Sequence[PlannedComparison]) -> str:
    """Write the settings that comparisons differ in."""
    return _varying_settings([pair.a for pair in pairs]) or f"{len(pairs)} comparisons"


def _varying_settings(cells: Sequence[CellInfo]) -> str:
    """Write the settings that cells differ in: "2 tasks × 5 training sizes"."""
    numbers = {name: len({getattr(cell, name) for cell in cells}) for name in SETTING_NAMES}
    return " × ".join(f"{n} {SETTING_NAMES[name]}" for name, n in numbers.items() if n > 1)


def _test(pair: PlannedComparison) -> str:
    return TEST_NAMES_IN_WORDS.get(pair.test, pair.test)


def _choices(pairs: Sequence[PlannedComparison]) -> list[str]:
    return list(dict.fromkeys(pair.a.choice for pair in pairs))
