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
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import (
    DOCUMENT_TESTS,
    NEVER_DIFFER,
    UNDECIDED,
    UNTESTABLE,
    UNTESTED,
    planned_comparisons,
)
from benchmark.analysis.formatting.labels import spoken_names
from benchmark.analysis.formatting.number_text import is_missing, number_text, p_text
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.units import capitalized, display_unit, metric_name
from benchmark.config.model import ALL_CLASSES, CHOOSE_CROSS_VALIDATION, CHOOSE_ORACLE, CHOOSE_TEMPORAL_HOLDOUT
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from benchmark.papers.verdict_counts import VALUE_KINDS, value_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.summary import Advice, CellInfo, Summary

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
_CHOSEN = {
    CHOOSE_ORACLE: "The parameters were chosen on the test documents, so the scores are optimistic.",
    CHOOSE_CROSS_VALIDATION: "The parameters were chosen by cross-validation on the training documents.",
    CHOOSE_TEMPORAL_HOLDOUT: "The parameters were chosen on the newest training documents.",
}
#: Verdicts on published values of settings that are not the paper's.
_OTHER_SETTINGS = ("another setting", "tuned", REFERENCE_VALUE)
#: Methods and groups that a sentence names; of more it gives the number.
MOST_NAMED, MOST_GROUPS = 3, 2
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


def main_finding(summary: Summary) -> MainFinding:
    """Return the main finding of a summary."""
    return _Finder(summary).find()


def question_sentence(summary: Summary) -> str:
    """Write what was compared: methods, the settings in which they were, and the metric."""
    cells = [cell for cell in summary.cells if cell.columns.get("what", "point") == "point"] or list(summary.cells)
    methods = len({cell.method or cell.id for cell in cells})
    parts = {name: len({cell.columns.get(name, "") for cell in cells}) for name in _PARTS}
    words = [f"{n} {_PARTS[name]}" for name, n in parts.items() if n > 1]
    detail = f" ({', '.join(words)})" if len(words) > 1 else ""
    where = _varying_settings(cells)
    name = metric_name(summary.main_metric, summary.quantities)
    what = f"{methods} methods{detail} were" if methods > 1 else "1 method was"
    return f"{what} scored by {name}{f', in {where}' if where else ''}."


def published_sentences(verdicts: pd.DataFrame) -> list[str]:
    """Write how many published results and counts of data were reproduced, and how many have no verdict."""
    own = verdicts[verdicts["reading"] == ""]
    found, inside = [], "equal after rounding, or inside our 95% interval"
    for kind, what in VALUE_KINDS.items():
        rule = "equal" if kind == "count" else inside
        words = [str(word) for word in own[own["kind"] == kind]["verdict"] if word not in _OTHER_SETTINGS]
        good = sum(word.startswith(("equal", "consistent")) for word in words)
        if words:
            number = f"All {good}" if good == len(words) > 1 else f"{good} of {len(words)}"
            verb = "was" if len(words) == 1 else "were"
            found.append(f"{number} published {what} {verb} reproduced ({rule}).")
    for word, text in (("tuned", "to which a setting was tuned"), ("another setting", "of another setting")):
        n = sum(own["verdict"] == word)
        found += [f"{n} published values {text} are not counted."] if n else []
    return found


class _Finder:
    def __init__(self, summary: Summary) -> None:
        self.summary, self.metric = summary, summary.main_metric
        self.unit = display_unit(self.metric, summary.quantities)
        self.name = metric_name(self.metric, summary.quantities)
        self.percent = self.unit.name == "percent"
        self.on = f" on {summary.corpus}" if summary.corpus else ""

    def find(self) -> MainFinding:
        if self.summary.advice:
            return self._of_advice(self.summary.advice)
        own = _leading_choice(planned_comparisons(self.summary))
        if not own:
            return self._of_scores()
        duels = _duels(own)
        base = _shared_by_all(own)
        if base and len({pair.a.method for pair in base}) >= LEAST_COMPARED:
            found = self._against_one(_largest(base))
        elif len(duels) > 1:
            found = self._of_groups(duels)
        elif len(own) == 1:
            found = self._of_one(duels[0])
        else:
            found = self._of_several(duels[0])
        held = self._held(duels)
        if not held:
            return found
        return MainFinding(held, (f"{found.headline}.", *found.details))

    # --- A person's own documents ---

    def _of_advice(self, advice: Advice) -> MainFinding:
        """Return the finding on a person's own documents: which method to use, and what they can't decide."""
        interval = self.unit.interval(advice.low, advice.high)
        between = f" (95% interval {_to(interval)})" if "[" in interval else ""
        headline = f"Use {advice.cell}: {self.name} {self.unit.text(advice.score)}{self.unit.suffix}{between}"
        better, baseline, n = advice.better, advice.baseline, len(advice.open)
        details = []
        if len(better) > 1:
            which = f"{len(better)} methods are better than {baseline}, with which all are compared"
            details.append(f"{which}. {advice.cell} has the best score of them; they aren't compared with each other.")
        elif better:
            details.append(f"It is better than {baseline}, with which all methods are compared.")
        else:
            counts = [f"{n} {_shows(n)} no clear difference"] if n else []
            counts += [f"{len(advice.worse)} {_are(len(advice.worse))} worse"] if advice.worse else []
            details.append(f"No method is clearly better than it: {', '.join(counts)}." if counts else "")
        if advice.possible is not None:
            which = "one of them" if n > 1 else advice.open[0]
            most = self._gap([advice.possible])
            details.append(f"{advice.documents:,} tested documents can't rule out that {which} is up to {most} better.")
        return MainFinding(headline, (*filter(None, details), *self._direction()))

    # --- A single comparison, or a single pair of methods in several settings ---

    def _of_one(self, duel: _Duel) -> MainFinding:
        """Return the finding of a single comparison."""
        (pair,) = duel.pairs
        pair, a, b = (_turned(pair), duel.other, duel.name) if pair.outcome == "b" else (pair, duel.name, duel.other)
        signed = f"{self._gap([pair.value], sign='+')}{self._interval(pair)}"
        if pair.outcome == "a":
            headline = f"{_first_word(a)} beats {b}{self.on} by {self._size(pair)}"
        elif pair.outcome == NEVER_DIFFER:
            headline = f"{_first_word(a)} and {b} never differ{self.on} ({_nothing_unequal(pair)})"
        elif pair.outcome == UNDECIDED:
            headline = f"{_first_word(a)} and {b} show no clear difference{self.on}: {signed}"
        else:
            headline = f"{_first_word(a)} and {b} differ{self.on} by {signed}, {_why_open(pair)}"
        scores = f"{self._score(pair.a)}, {self._score(pair.b)}"
        details = [f"{capitalized(self.name)}: {scores}{_shared(pair)}."]
        if pair.p_holm is not None and not pair.note and pair.outcome != NEVER_DIFFER:
            many = f", corrected over {pair.family} tests" if pair.family > 1 else ""
            p = p_text(pair.p_holm)
            p = p.replace("<", "< ") if "<" in p else f"= {p}"
            details.append(f"{capitalized(_test(pair).removeprefix('the '))}: p {p}{many}.")
        return MainFinding(headline, (*details, *self._direction(), *_chosen([pair])))

    def _of_several(self, duel: _Duel) -> MainFinding:
        """Return the finding of two methods that are compared in several settings."""
        duel = duel.seen_from(duel.other) if duel.outcome == "b" else duel
        a, b, pairs = duel.name, duel.other, duel.pairs
        won, lost = ([pair.value for pair in pairs if pair.outcome == name] for name in ("a", "b"))
        where = _settings(pairs)
        noun = "comparisons" if " × " in where else where.partition(" ")[2]
        at = f"{'at' if noun.endswith(('sizes', 'of terms')) else 'in'} {{}} of {len(pairs)} {noun}"
        gaps = self._gap([pair.value for pair in pairs], sign="+")
        if duel.outcome == "a":
            headline = f"{_first_word(a)} beats {b}{self.on} {at.format(len(won))}, by {self._gap(won)}"
            headline += f"; {b} beats {a} in {len(lost)}" if lost else ""
        elif duel.outcome == NEVER_DIFFER:
            headline = f"{_first_word(a)} and {b} never differ{self.on} {at.format(len(duel.decided))}"
        elif won or lost:
            better = [f"{name} is better in {len(own)}" for name, own in ((a, won), (b, lost)) if own]
            none = at.format(len(pairs) - len(won) - len(lost))
            headline = (
                f"{_first_word(a)} and {b} show no clear difference{self.on} {none}; {' and '.join(better)}: {gaps}"
            )
        elif duel.outcome == UNDECIDED:
            headline = f"{_first_word(a)} and {b} show no clear difference{self.on} {at.format('any')}: {gaps}"
        else:
            open_ = f"in {len(pairs)} {noun} without a valid test"
            headline = f"{_first_word(a)} and {b} differ{self.on} by {gaps}, {open_}"
        details = []
        if noun == "comparisons":
            details.append(f"The {len(pairs)} comparisons: {where}.")
        names = " minus ".join(name.removeprefix("the ") for name in (a, b))
        details.append(f"Differences, {names}, are {self._ends([pair.value for pair in pairs])}.")
        details += self._tests(pairs)
        return MainFinding(headline, (*details, *self._direction(), *_chosen(pairs)))

    # --- Several methods ---

    def _of_groups(self, duels: Sequence[_Duel]) -> MainFinding:
        """Return the finding of groups of methods, each compared among themselves: what was found leads."""
        found = [self._of_group(group) for group in _groups(duels)]
        found.sort(key=lambda each: each[0])
        pairs = [pair for duel in duels for pair in duel.pairs]
        shown = [found[0], *(each for each in found[1:MOST_GROUPS] if each[0][0] == found[0][0][0])]
        headline = "; ".join(
            [f"{_first_word(shown[0][1])}{self.on}{shown[0][2]}", *(one + two for _, one, two in shown[1:])]
        )
        return MainFinding(headline, (*self._direction(), *_chosen(pairs)))

    def _of_group(self, duels: Sequence[_Duel]) -> tuple[tuple[Any, ...], str, str]:
        """Return a key by which groups are sorted, and the clause on a group in two parts, before and after a place."""
        lead = self._lead(duels)
        own = sorted(
            (duel.seen_from(lead) for duel in duels if lead in (duel.name, duel.other)), key=lambda duel: duel.other
        )
        by_outcome = {
            outcome: [duel for duel in own if duel.outcome == outcome]
            for outcome in ("a", "b", NEVER_DIFFER, UNDECIDED)
        }
        won, lost, same, open_ = by_outcome.values()
        rest = [duel for duel in own if duel not in (*won, *lost, *same, *open_)]
        if won:
            start, end = f"{lead} beats {_named(won)}", self._by(won)
            end += f", but not {_named(open_, 'or')}" if open_ else ""
            end += f", and loses to {_named(lost)}" if lost else ""
            end += f", and never differs from {_named(same, 'or')}" if same else ""
        elif lost:
            verb = "beats" if len(lost) == 1 else "beat"
            start, end = f"{_named(lost)} {verb} {lead}", self._by(lost)
            end += f"; {lead} shows no clear difference from {_named(open_, 'or')}" if open_ else ""
            end += f"; {lead} never differs from {_named(same, 'or')}" if same else ""
        elif same:
            pair = same[0].pairs[0]
            start = f"{lead} and {_named(same)} never differ"
            end = f" ({_nothing_unequal(pair)})" if len(same) == len(same[0].pairs) == 1 else ""
            end += f"; {lead} shows no clear difference from {_named(open_, 'or')}" if open_ else ""
        elif open_:
            gaps = self._gap([pair.value for duel in open_ for pair in duel.pairs], sign="+")
            start, end = f"{lead} shows no clear difference from {_named(open_, 'or')}", f": {gaps}"
        else:
            gaps = self._gap([pair.value for duel in rest for pair in duel.pairs], sign="+")
            start, end = f"{lead} and {_named(rest)} differ", f" by {gaps}, {_why_open(rest[0].pairs[0])}"
        rank = next(i for i, some in enumerate((won or lost, same, open_, rest)) if some)
        return (rank, -sum(len(duel.pairs) for duel in own), -self._best(lead, own), lead), start, end

    def _lead(self, duels: Sequence[_Duel]) -> str:
        """Return the method of a group that all others are compared with, or else the one that is better most often."""
        names = sorted({name for duel in duels for name in (duel.name, duel.other)})

        def key(name: str) -> tuple[Any, ...]:
            own = [duel.seen_from(name) for duel in duels if name in (duel.name, duel.other)]
            outcomes = [duel.outcome for duel in own]
            more = outcomes.count("a") - outcomes.count("b")
            return len(own) == len(duels), more, len(own), self._best(name, own)

        return max(names, key=key)

    def _best(self, name: str, duels: Sequence[_Duel]) -> float:
        """Return the best main score of a method, turned so that more is better."""
        values = [self._value(pair.a) for duel in duels for pair in duel.seen_from(name).pairs]
        return max((value if self.summary.more_is_better(self.metric) else -value for value in values), default=0.0)

    def _by(self, duels: Sequence[_Duel]) -> str:
        """Write by how much one method is better than others, and in how many of the comparisons with them."""
        decided = [pair for duel in duels for pair in duel.decided]
        n = sum(len(duel.pairs) for duel in duels)
        if n == 1:
            return f" by {self._size(decided[0])}"
        where = f" in {len(decided)} of {n} comparisons" if n > len(duels) else ""
        return f"{where} by {self._gap([pair.value for pair in decided])}"

    def _against_one(self, pairs: Sequence[PlannedComparison]) -> MainFinding:
        """Return the finding of many methods that are compared with the same one, which is their `b`."""
        base = pairs[0].b
        counted = Counter(pair.outcome for pair in pairs)
        methods = len({pair.a.method for pair in pairs})
        on = self.on + (f" with {base.size:,} training documents" if base.size else "")
        if methods < len(pairs):
            headline = f"Other methods beat {base.method}{on} in {counted['a']} of {len(pairs)} comparisons"
            headline += f", and lose to it in {counted['b']}"
            details = [f"The {len(pairs)} comparisons: {methods} methods × {_settings(pairs)}."]
        else:
            verb = "beats" if counted["a"] == 1 else "beat"
            open_ = counted[UNDECIDED]
            lost = counted["b"]
            rest = [f"{lost} {'is' if lost == 1 else 'are'} worse"] if lost else []
            rest += [f"{open_} {_shows(open_)} no clear difference"] if open_ else []
            same, left = counted[NEVER_DIFFER], counted[UNTESTABLE] + counted[UNTESTED]
            rest += [f"{same} never {'differs' if same == 1 else 'differ'}"] if same else []
            rest += [f"{left} could not be tested"] if left else []
            more = f"; {', '.join(rest)}" if rest else ""
            headline = f"{counted['a']} of {methods} methods {verb} {base.method}{on}{more}"
            details = [f"{capitalized(self.name)} of {self._score(base)}."]
        if counted[UNTESTABLE] + counted[UNTESTED] == len(pairs):
            gaps = self._gap([pair.value for pair in pairs], sign="+")
            headline = f"{methods} methods differ from {base.method}{on} by {gaps}, {_why_open(pairs[0])}"
        elif not counted["a"] and not counted["b"]:
            headline = f"None of {methods} methods shows a clear difference from {base.method}{on}"
        sign = 1 if self.summary.more_is_better(self.metric) else -1
        best = max((pair for pair in pairs if pair.outcome == "a"), key=lambda pair: sign * pair.value, default=None)
        if best is not None:
            details.append(f"The largest lead is that of {best.a.id}: {self._size(best)}.")
        return MainFinding(headline, (*details, *self._tests(pairs), *self._direction(), *_chosen(pairs)))

    # --- A paper ---

    def _held(self, duels: Sequence[_Duel]) -> str:
        """Write whether a paper's values hold: by how much its best method leads here and there, and the counts."""
        counts = [own for own in value_counts([self.summary.verdicts]) if own.kind != "count"]
        of = {own.kind: own.of - own.verdicts["no interval"] for own in counts}
        counts = [own for own in counts if of[own.kind]]
        if not counts:
            return ""
        outside = [own for own in counts if own.verdicts["deviates"]]
        if outside:
            numbers = " and ".join(
                f"{own.verdicts['deviates']} of {of[own.kind]} published {own.name}" for own in outside
            )
            one = len(outside) == 1 and outside[0].verdicts["deviates"] == 1
            said = (
                f"{numbers} {'lies' if one else 'lie'} outside our {'interval' if len(outside) == 1 else 'intervals'}"
            )
        else:
            numbers = " and ".join(f"{own.reproduced} of {of[own.kind]} published {own.name}" for own in counts)
            said = f"{numbers} were reproduced"
        printed = self._printed()
        known = [
            replace(duel, pairs=own)
            for duel in duels
            if (own := tuple(pair for pair in duel.pairs if {pair.a.id, pair.b.id} <= printed.keys()))
        ]
        if not known:
            return capitalized(said)
        lead = self._lead(known)
        others = [duel.seen_from(lead) for duel in known if lead in (duel.name, duel.other)]
        rival = max(others, key=lambda duel: (duel.outcome == "a", self._best(duel.other, [duel]), duel.other))
        rival = rival.seen_from(rival.other) if rival.outcome == "b" else rival
        gaps = [float(printed[pair.a.id]) - float(printed[pair.b.id]) for pair in rival.pairs]
        decimals = max(len(printed[cell.id].partition(".")[2]) for pair in rival.pairs for cell in (pair.a, pair.b))
        values = [pair.value for pair in rival.pairs]
        if rival.outcome == "a":
            sign, start = "", f"{_first_word(rival.name)} leads {rival.other}{self.on} by {self._gap(values)}"
        else:
            differ = "never differ" if rival.outcome == NEVER_DIFFER else "show no clear difference"
            sign, start = (
                "+",
                f"{_first_word(rival.name)} and {rival.other} {differ}{self.on}: {self._gap(values, sign='+')}",
            )
        scale = 1 if self.percent else self.unit.scale
        coarse = min(decimals, self._decimals([gap / (100 if self.percent else scale) for gap in gaps]))
        texts = dict.fromkeys(number_text(gap, coarse, sign) for gap in (min(gaps), max(gaps)))
        return f"{start} where the paper reports {' to '.join(texts)}; {said}"

    # --- No comparison ---

    def _of_scores(self) -> MainFinding:
        """Return what scores without a planned comparison show: how far they range, and nothing of the best."""
        summary = self.summary
        scores = [row for (_, metric), row in summary.headlines.items() if metric == self.metric]
        values = [row["value"] for row in scores if not is_missing(row["value"])]
        n = len(summary.cells)
        if not values:
            failed = len(summary.failures)
            return MainFinding(f"No score: {failed} of {n} cells failed" if failed else summary.title)
        symbol = self.unit.suffix
        if len(values) == 1:
            ends = self.unit.interval(scores[0]["low"], scores[0]["high"])
            interval = f" (95% interval {_to(ends)})" if "[" in ends else ""
            cell = scores[0]["cell"]
            return MainFinding(
                f"{capitalized(self.name)} of {cell}{self.on}: {self.unit.text(values[0])}{symbol}{interval}"
            )
        none = "No comparison was planned, so nothing is tested." if not len(summary.differences) else ""
        return MainFinding(self._range(values), tuple(filter(None, (none, *self._direction()))))

    def _range(self, values: Sequence[float]) -> str:
        """Write how far scores range, at the ends of a curve if cells differ in training size or terms alone."""
        cells = [cell for cell in self.summary.cells if (cell.id, self.metric) in self.summary.headlines]
        settings = {_setting(cell) for cell in cells}
        methods = f"{len({cell.method or cell.id for cell in cells})} methods"
        start = f"{capitalized(self.name)} of {methods}{self.on}"
        for axis, words in (("size", "training documents"), ("terms", "terms")):
            points = sorted({getattr(cell, axis) for cell in cells if getattr(cell, axis) is not None})
            if len(points) == len(settings) > 1:
                parts = []
                for point in (points[0], points[-1]):
                    own = [self._value(cell) for cell in cells if getattr(cell, axis) == point]
                    parts.append(f"{self._spread(own)} with {point:,}")
                return f"{start}: {', '.join(parts)} {words}"
        where = f" in {len(settings)} settings" if len(settings) > 1 else ""
        return f"{start}{where}: {self._spread(values)}"

    def _value(self, cell: CellInfo) -> float:
        return float(self.summary.headlines[cell.id, self.metric]["value"])

    def _spread(self, values: Sequence[float]) -> str:
        """Write the smallest and the largest of some scores with their unit."""
        ends = dict.fromkeys(self.unit.text(end) for end in (min(values), max(values)))
        return f"{' to '.join(ends)}{self.unit.suffix}"

    def _gap(self, values: Sequence[float], sign: str = "") -> str:
        """Write differences with their unit: "2.8 points of accuracy", "2.1 to 5.0 points of error"."""
        numbers = values if sign else [abs(value) for value in values]
        ends = [min(numbers), max(numbers)]
        texts = dict.fromkeys(number_text(self.unit.scale * end, self._decimals(ends), sign) for end in ends)
        unit = "points" if self.percent else self.unit.symbol
        return f"{' to '.join(texts)} {unit} of {self.name}".replace("  ", " ")

    def _ends(self, values: Sequence[float]) -> str:
        decimals = self._decimals([min(values), max(values)])
        ends = (number_text(self.unit.scale * end, decimals, "+") for end in (min(values), max(values)))
        return f"{' to '.join(dict.fromkeys(ends))}{' points' if self.percent else ''}"

    def _interval(self, pair: PlannedComparison, *, size: bool = False) -> str:
        """Write the interval of a difference, of its size if that is what the sentence states."""
        if is_missing(pair.low) or is_missing(pair.high):
            return ""
        ends = [pair.low, pair.high]
        if size and pair.value < 0:
            ends = [-pair.high, -pair.low]
        decimals = self._decimals([pair.value, *ends])
        low, high = (number_text(self.unit.scale * end, decimals, "" if size else "+") for end in ends)
        return f" (95% interval {low} to {high})"

    def _decimals(self, values: Sequence[float]) -> int:
        """Return one decimal for differences of a tenth of a point and more, else those of the tables."""
        coarse = self.percent and all(abs(self.unit.scale * value) >= 0.095 for value in values)
        return 1 if coarse else self.unit.decimals

    def _score(self, cell: CellInfo) -> str:
        row = self.summary.headlines.get((cell.id, self.metric), {})
        return f"{cell.id} {self.unit.text(row.get('value'))}{self.unit.suffix}"

    def _size(self, pair: PlannedComparison) -> str:
        """Write the size of a difference, with the interval of it."""
        return f"{self._gap([pair.value])}{self._interval(pair, size=True)}"

    def _printed(self) -> dict[str, str]:
        """Return the values of the main metric that the paper prints for our settings, by cell, in the shown unit."""
        rows = self.summary.verdicts
        rows = rows[(rows["metric"] == self.metric) & (rows["reading"] == "") & ~rows["verdict"].isin(_OTHER_SETTINGS)]
        return {row["cell"]: row["published"] for row in map(in_shown_unit, rows.to_dict("records"))}

    def _tests(self, pairs: Sequence[PlannedComparison]) -> list[str]:
        """Write which test decided, and how many comparisons it left open."""
        tested = [pair for pair in pairs if pair.outcome in ("a", "b", UNDECIDED)]
        untestable = [pair for pair in pairs if pair.outcome == UNTESTABLE]
        n, found = sum(pair.outcome == UNDECIDED for pair in pairs), list[str]()
        if tested:
            left = "every difference is decided" if not n else f"{n} {_shows(n)} no clear difference"
            found.append(f"By {_test(tested[0])} with Holm's correction, {left}.")
        if untestable:
            which = (
                "No difference could"
                if len(untestable) == len(pairs)
                else f"{len(untestable)} of {len(pairs)} differences could not"
            )
            note = untestable[0].note.removeprefix("not testable ").strip("()")
            found.append(f"{which} be significant: {note}.")
        return found

    def _direction(self) -> list[str]:
        return [] if self.summary.more_is_better(self.metric) else [f"Less {self.name} is better."]


def _shows(n: int) -> str:
    return "shows" if n == 1 else "show"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _first_word(name: str) -> str:
    """Return a name for the beginning of a sentence; an id stays as it is."""
    return capitalized(name) if name.startswith("the ") else name


def _leading_choice(pairs: Sequence[PlannedComparison]) -> list[PlannedComparison]:
    """Return the comparisons of scores, not of gains: of all classes together, and of parameters chosen honestly."""
    own = [pair for pair in pairs if pair.a.columns.get("what", "point") == "point"]
    whole = [pair for pair in own if pair.a.of_class in ("", ALL_CLASSES)]
    honest = [pair for pair in whole or own if pair.a.choice != CHOOSE_ORACLE]
    return honest or whole or own


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


def _named(duels: Sequence[_Duel], last: str = "and") -> str:
    """Write the other methods of some comparisons: their names, or of many their number."""
    names = [duel.other for duel in duels]
    if len(names) > MOST_NAMED:
        return f"{len(names)} methods"
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _nothing_unequal(pair: PlannedComparison) -> str:
    """Write on how many documents two methods that never differ are right unlike."""
    return f"p = 1, 0 of {pair.n:,} documents" if pair.test in DOCUMENT_TESTS else "the same score on every split"


def _why_open(pair: PlannedComparison) -> str:
    """Write what lacks for a test of a comparison."""
    if pair.outcome == UNTESTED:
        return pair.note or "not tested"
    if pair.p_value is None:
        return "too few splits to test it" if pair.test.startswith("wilcoxon") else "not tested"
    what = "document decides" if pair.unequal == 1 else "documents decide"
    if pair.test.startswith("wilcoxon"):
        what = "split differs" if pair.unequal == 1 else "splits differ"
    return f"only {pair.unequal:,} {what}: no outcome could be significant"


def _setting(cell: CellInfo) -> tuple[object, ...]:
    """Return what cells have in common that are compared as methods."""
    return tuple(getattr(cell, name) for name in (*SETTING_NAMES, "choice"))


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


def _shared(pair: PlannedComparison) -> str:
    """Write the weighting and the classifier where two cells share them; a chosen classifier is not one but several."""
    names = ["weighting", *(["classifier"] if not pair.a.choice else [])]
    both = [pair.a.columns.get(name, "") for name in names if pair.a.columns.get(name) == pair.b.columns.get(name)]
    return f" (both: {', '.join(filter(None, both))})" if any(both) else ""


def _test(pair: PlannedComparison) -> str:
    return TEST_NAMES_IN_WORDS.get(pair.test, pair.test)


def _chosen(pairs: Sequence[PlannedComparison]) -> list[str]:
    choices = dict.fromkeys(pair.a.choice for pair in pairs)
    return [_CHOSEN[choice] for choice in choices if choice in _CHOSEN]


def _to(interval: str) -> str:
    return interval.strip("[]").replace(", ", " to ")
