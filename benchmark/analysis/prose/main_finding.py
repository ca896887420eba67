"""Main finding of a run, in words: what the planned comparisons show, and no more than that.

Only planned comparisons are named, the first of the configuration first. A cell "beats" another where the leading test
is significant after Holm's correction and the interval of the difference excludes zero.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmark.analysis.comparisons import UNDECIDED, UNTESTABLE, UNTESTED, planned_comparisons
from benchmark.analysis.formatting.labels import spoken_names
from benchmark.analysis.formatting.number_text import is_missing, number_text, p_text
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.units import capitalized, display_unit, metric_name
from benchmark.config.model import ALL_CLASSES, CHOOSE_CROSS_VALIDATION, CHOOSE_ORACLE, CHOOSE_TEMPORAL_HOLDOUT
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from benchmark.papers.verdict_counts import VALUE_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.summary import CellInfo, Summary

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
    baseline : str
        Id of the cell that others are compared with, or "".
    """

    headline: str
    details: tuple[str, ...] = ()
    baseline: str = ""


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
        own = _leading_choice(planned_comparisons(self.summary))
        if not own:
            return self._of_scores()
        against = {pair.b.method for pair in own}
        if len(against) == 1 and len({pair.a.method for pair in own}) >= LEAST_COMPARED:
            return self._against_one(_largest(own))
        first = own[0]
        same = [pair for pair in own if (pair.a.method, pair.b.method) == (first.a.method, first.b.method)]
        return self._of_one(first) if len(same) == 1 else self._of_several(same)

    def _of_one(self, pair: PlannedComparison) -> MainFinding:
        """Return the finding of a single comparison."""
        a, b = spoken_names(pair.a, pair.b)
        if pair.better is not None:
            better, worse = (a, b) if pair.outcome == "a" else (b, a)
            gap = self._gap([pair.value])
            headline = f"{_first_word(better)} beats {worse}{self.on} by {gap}{self._interval(pair, size=True)}"
        elif pair.outcome == UNDECIDED:
            signed = self._gap([pair.value], sign="+")
            headline = f"{_first_word(a)} and {b} are not shown to differ{self.on}: {signed}{self._interval(pair)}"
        else:
            signed = self._gap([pair.value], sign="+")
            untested = "too few splits to test it" if pair.outcome == UNTESTABLE else "not tested"
            headline = f"{_first_word(a)} and {b} differ{self.on} by {signed}{self._interval(pair)}, {untested}"
        scores = f"{self._score(pair.a)}, {self._score(pair.b)}"
        details = [f"{capitalized(self.name)}: {scores}{_shared(pair)}."]
        if pair.p_holm is not None and not pair.note:
            many = f", corrected over {pair.family} tests" if pair.family > 1 else ""
            p = p_text(pair.p_holm)
            p = p.replace("<", "< ") if "<" in p else f"= {p}"
            details.append(f"{capitalized(_test(pair).removeprefix('the '))}: p {p}{many}.")
        details += [*self._published(pair), *self._direction(), *_chosen([pair])]
        return MainFinding(headline, tuple(details), pair.b.id)

    def _of_several(self, pairs: Sequence[PlannedComparison]) -> MainFinding:
        """Return the finding of two methods that are compared in several settings."""
        a, b = spoken_names(pairs[0].a, pairs[0].b)
        won = [[pair.value for pair in pairs if pair.outcome == name] for name in ("a", "b")]
        (more, first), (less, second) = sorted(zip(won, (a, b), strict=True), key=lambda each: -len(each[0]))
        where = _settings(pairs)
        noun = "comparisons" if " × " in where else where.partition(" ")[2]
        at = f"{'at' if noun.endswith(('sizes', 'of terms')) else 'in'} {{}} of {len(pairs)} {noun}"
        gaps = self._gap([pair.value for pair in pairs], sign="+")
        if more:
            headline = f"{_first_word(first)} beats {second}{self.on} {at.format(len(more))}, by {self._gap(more)}"
            headline += f"; {second} beats {first} in {len(less)}" if less else ""
        elif any(pair.outcome == UNDECIDED for pair in pairs):
            headline = f"{_first_word(a)} and {b} are not shown to differ{self.on} {at.format('any')}: {gaps}"
        else:
            headline = (
                f"{_first_word(a)} and {b} differ{self.on} by {gaps}, in {len(pairs)} {noun} without a valid test"
            )
        details = []
        if noun == "comparisons":
            details.append(f"The {len(pairs)} comparisons: {where}.")
        names = " minus ".join(name.removeprefix("the ") for name in (a, b))
        details.append(f"Differences, {names}, are {self._ends([pair.value for pair in pairs])}.")
        details += self._tests(pairs)
        return MainFinding(headline, (*details, *self._direction(), *_chosen(pairs)), pairs[0].b.id)

    def _against_one(self, pairs: Sequence[PlannedComparison]) -> MainFinding:
        """Return the finding of many methods that are compared with the same one."""
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
            left = len(pairs) - counted["a"] - counted["b"]
            others = {"worse": counted["b"], "not shown to differ": left}
            rest = ", ".join(f"{n} {'is' if n == 1 else 'are'} {word}" for word, n in others.items() if n)
            headline = f"{counted['a']} of {methods} methods {verb} {base.method}{on}{f'; {rest}' if rest else ''}"
            details = [f"{capitalized(self.name)} of {self._score(base)}."]
        if not counted["a"] and not counted["b"]:
            headline = f"None of {methods} methods is shown to differ from {base.method}{on}"
        sign = 1 if self.summary.more_is_better(self.metric) else -1
        best = max((pair for pair in pairs if pair.outcome == "a"), key=lambda pair: sign * pair.value, default=None)
        if best is not None:
            gap = f"{self._gap([best.value])}{self._interval(best, size=True)}"
            details.append(f"The largest lead is that of {best.a.id}: {gap}.")
        return MainFinding(headline, (*details, *self._tests(pairs), *self._direction(), *_chosen(pairs)), base.id)

    def _of_scores(self) -> MainFinding:
        """Return what scores without a planned comparison show: how far they range, and nothing of the best."""
        summary = self.summary
        scores = [row for (_, metric), row in summary.headlines.items() if metric == self.metric]
        values = [row["value"] for row in scores if not is_missing(row["value"])]
        n = len(summary.cells)
        if not values:
            failed = len(summary.failures)
            return MainFinding(f"No score: {failed} of {n} cells failed" if failed else summary.title)
        symbol = f" {self.unit.symbol}".rstrip()
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
        return f"{' to '.join(ends)} {self.unit.symbol}".rstrip()

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
        return f"{cell.id} {self.unit.text(row.get('value'))} {self.unit.symbol}".rstrip()

    def _published(self, pair: PlannedComparison) -> list[str]:
        """Write the paper's difference, where it prints both values and our settings are the paper's."""
        rows = self.summary.verdicts
        rows = rows[(rows["metric"] == self.metric) & (rows["reading"] == "") & ~rows["verdict"].isin(_OTHER_SETTINGS)]
        values = {row["cell"]: row["published"] for row in map(in_shown_unit, rows.to_dict("records"))}
        if not {pair.a.id, pair.b.id} <= values.keys():
            return []
        decimals = max(len(values[cell.id].partition(".")[2]) for cell in (pair.a, pair.b))
        gap = float(values[pair.a.id]) - float(values[pair.b.id])
        both = f"{values[pair.a.id]} − {values[pair.b.id]}"
        return [f"The paper reported {number_text(gap, decimals, '+')} ({both})."]

    def _tests(self, pairs: Sequence[PlannedComparison]) -> list[str]:
        """Write which test decided, and how many comparisons it left open."""
        tested = [pair for pair in pairs if pair.outcome not in (UNTESTABLE, UNTESTED)]
        untestable = [pair for pair in pairs if pair.outcome == UNTESTABLE]
        found = []
        if tested:
            n = sum(pair.outcome == UNDECIDED for pair in tested)
            left = "every difference is decided" if not n else f"{n} {'is' if n == 1 else 'are'} undecided"
            found.append(f"By {_test(tested[0])} with Holm's correction, {left}.")
        if untestable:
            which = "No difference could" if not tested else f"{len(untestable)} of {len(pairs)} differences could not"
            note = untestable[0].note.removeprefix("not testable ").strip("()")
            found.append(f"{which} be significant: {note}.")
        return found

    def _direction(self) -> list[str]:
        return [] if self.summary.more_is_better(self.metric) else [f"Less {self.name} is better."]


def _first_word(name: str) -> str:
    """Return a name for the beginning of a sentence; an id stays as it is."""
    return capitalized(name) if name.startswith("the ") else name


def _leading_choice(pairs: Sequence[PlannedComparison]) -> list[PlannedComparison]:
    """Return the comparisons of scores, not of gains: of all classes together, and of parameters chosen honestly."""
    own = [pair for pair in pairs if pair.a.columns.get("what", "point") == "point"]
    whole = [pair for pair in own if pair.a.of_class in ("", ALL_CLASSES)]
    honest = [pair for pair in whole or own if pair.a.choice != CHOOSE_ORACLE]
    return honest or whole or own


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
