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

from benchmark.analysis.comparisons import NEVER_DIFFER, SPOKEN_TESTS, UNDECIDED, UNTESTABLE, planned_comparisons
from benchmark.analysis.formatting.labels import spoken_names
from benchmark.analysis.formatting.number_text import is_missing, p_text
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.units import display_unit, metric_name
from benchmark.analysis.prose.sentences import sentences
from benchmark.config.model import ALL_CLASSES, CHOOSE_ORACLE
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from benchmark.papers.verdict_counts import value_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.summary import CellInfo, Summary

    Pairs = Sequence[PlannedComparison]
    #: Comparisons by the methods that they are of, whose cells are their `a` and `b`.
    Duels = Mapping[tuple[str, str], Pairs]

#: With at least this many methods beside one, the finding is on all of them.
LEAST_COMPARED = 3
#: Settings that comparisons may differ in, by field of a cell, in words for several.
SETTING_NAMES = {"variant": "variants", "task": "tasks", "of_class": "classes", "size": "training sizes"}
SETTING_NAMES |= {"terms": "numbers of terms"}
#: Parts of a method, columns of a cell.
_PARTS = ("weighting", "normalization", "kernel", "classifier")


@dataclass(frozen=True)
class MainFinding:
    """What a run shows: a headline without a full stop, and sentences on its numbers."""

    headline: str
    details: tuple[str, ...] = ()


class _Writer:
    """Text of scores and differences in the unit of the main metric, for the templates."""

    def __init__(self, summary: Summary) -> None:
        self.summary, metric = summary, summary.main_metric
        self.unit, self.name = display_unit(metric, summary.quantities), metric_name(metric, summary.quantities)
        self.sign = 1 if summary.more_is_better(metric) else -1

    def gap(self, values: Sequence[float], sign: str = "") -> str:
        """Write differences with their unit: "2.8 points of accuracy", "2.1 to 5.0 points of error"."""
        return f"{self.unit.ends(values, sign)} of {self.name}"

    def interval(self, pair: PlannedComparison, sign: str = "+") -> str:
        """Write the interval of a difference, or without a sign that of its size."""
        if is_missing(pair.low) or is_missing(pair.high):
            return ""
        ends = (-pair.high, -pair.low) if not sign and pair.value < 0 else (pair.low, pair.high)
        return " (95% interval {} to {})".format(*self.unit.texts((*ends, pair.value), sign)[:2])

    def span(self, low: float, high: float) -> str:
        """Write the interval of a score, or nothing where it is missing."""
        return "" if is_missing(low) else f" (95% interval {self.unit.text(low)} to {self.unit.text(high)})"

    def score(self, cell: CellInfo) -> str:
        """Write the name of a cell with its main score."""
        return f"{cell.id} {self.unit.text(self.value(cell))}{self.unit.suffix}"

    def value(self, cell: CellInfo) -> Any:
        """Return the main score of a cell; None without one."""
        return self.summary.headlines.get((cell.id, self.summary.main_metric), {}).get("value")

    def best(self, pairs: Pairs) -> float:
        """Return the best main score of the first cells, turned so that more is better."""
        return max(self.sign * float(self.value(pair.a)) for pair in pairs)


def main_finding(summary: Summary) -> MainFinding:
    """Return the main finding of a summary."""
    write, pairs = _Writer(summary), _leading_choice(planned_comparisons(summary))
    facts: dict[str, Any] = {
        "write": write,
        "metric": write.name,
        "on": f" on {summary.corpus}" if summary.corpus else "",
        "choices": list(dict.fromkeys(pair.a.choice for pair in pairs)),
        "advice": summary.advice,
    }
    duels = _duels(pairs)
    if summary.advice:
        template = "advice"
    elif not pairs:
        template, facts = "scores", facts | _score_facts(summary)
    else:
        lead = _lead(duels, write)
        own, everything = _of(lead, duels), [pair.turned for each in _of(lead, duels).values() for pair in each]
        template = "against" if len(own) == len(duels) and len(own) >= LEAST_COMPARED else "compared"
        facts |= _against_one(everything, write) if template == "against" else _lead_facts(lead, own)
        facts |= {"single": len(duels) == 1}
    headline, *details = sentences(f"finding/{template}.j2", **facts)
    if paper := _paper_facts(duels, write):
        (of_paper,) = sentences("finding/paper.j2", **facts, **paper)
        headline, details = of_paper[:1].upper() + of_paper[1:], [f"{headline}.", *details]
    return MainFinding(headline, tuple(details))


def question_sentence(summary: Summary) -> str:
    """Write what was compared: methods, the settings in which they were, and the metric."""
    cells = [cell for cell in summary.cells if cell.columns.get("what", "point") == "point"] or list(summary.cells)
    parts = {f"{name}s": len({cell.columns.get(name, "") for cell in cells}) for name in _PARTS}
    metric, methods = metric_name(summary.main_metric, summary.quantities), len({c.method or c.id for c in cells})
    facts = {"methods": methods, "metric": metric, "where": _varying_settings(cells)}
    (text,) = sentences("finding/question.j2", parts=[f"{n} {name}" for name, n in parts.items() if n > 1], **facts)
    return text


# --- Facts of each shape of finding ---


def _test_counts(pairs: Pairs) -> dict[str, Any]:
    """Return which test decided, and how many comparisons it left open, or could not decide."""
    tested = [SPOKEN_TESTS.get(pair.test, pair.test) for pair in pairs if pair.outcome in ("a", "b", UNDECIDED)]
    notes, outcomes = [pair.note for pair in pairs if pair.outcome == UNTESTABLE], Counter(p.outcome for p in pairs)
    note = next(iter(notes), "").removeprefix("not testable ").strip("()")
    counts = {"open": outcomes[UNDECIDED], "untestable": len(notes), "of": len(pairs)}
    return {"test": next(iter(tested), ""), "note": note, **counts}


def _lead_facts(lead: str, own: Mapping[str, Pairs]) -> dict[str, Any]:
    """Return the method that the headline is on and its comparisons by outcome, and all of them together."""
    group: dict[str, Any] = {"lead": lead}
    found = {other: _outcome(pairs) for other, pairs in own.items()}
    for outcome in ("a", "b", NEVER_DIFFER, UNDECIDED):
        group[outcome] = _together({other: pairs for other, pairs in own.items() if found[other] == outcome})
    group["rest"] = _together({other: pairs for other, pairs in own.items() if found[other] not in group})
    together, p = _together(own) or {}, p_text(next(iter(own.values()))[0].p_holm)
    p = p.replace("<", "< ") if "<" in p else f"= {p}"
    return {"group": group, "all": together, "p": p, "tested": _test_counts(together["pairs"])}


def _together(duels: Mapping[str, Pairs]) -> dict[str, Any] | None:
    """Return the other methods of some comparisons, their numbers and settings; None of none."""
    pairs = [pair for own in duels.values() for pair in own]
    outcomes, where = Counter(pair.outcome for pair in pairs), _settings(pairs)
    return (
        None
        if not pairs
        else {
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
    )


def _against_one(pairs: Pairs, write: _Writer) -> dict[str, Any]:
    """Return the facts of many methods that are compared with the same one, at the largest training size."""
    largest = max((pair.a.size for pair in pairs if pair.a.size is not None), default=None)
    pairs = sorted((p for p in pairs if p.a.size in (None, largest)), key=lambda pair: (pair.a.id, pair.b.id))
    better = (pair for pair in pairs if pair.outcome == "a")
    return {
        "base": pairs[0].b,
        "pairs": pairs,
        "values": [pair.value for pair in pairs],
        "counted": Counter(pair.outcome for pair in pairs),
        "methods": len({pair.a.method for pair in pairs}),
        "best": max(better, key=lambda pair: write.sign * pair.value, default=None),
        "where": _settings(pairs),
        "tested": _test_counts(pairs),
    }


def _paper_facts(duels: Duels, write: _Writer) -> dict[str, Any]:
    """Return whether a paper's values hold: by how much its best method leads here and there, and the counts."""
    rows = write.summary.verdicts
    judged = rows[~rows["verdict"].isin(("no interval", "another setting", "tuned", REFERENCE_VALUE))]
    counts = [own for own in value_counts([judged]) if own["kind"] != "count"]
    if not counts:
        return {}
    outside = [(own["deviating"], own["of"], own["name"]) for own in counts if own["deviating"]]
    reproduced = [(own["reproduced"], own["of"], own["name"]) for own in counts]
    facts: dict[str, Any] = {"outside": outside, "reproduced": reproduced, "rival": None}
    main = judged[(judged["metric"] == write.summary.main_metric) & (judged["reading"] == "")]
    shown = map(in_shown_unit, main.to_dict("records"))
    printed = {row["cell"]: float(row["published"]) / write.unit.scale for row in shown}
    whole = {names: [p for p in pairs if {p.a.id, p.b.id} <= {*printed}] for names, pairs in duels.items()}
    whole = {names: pairs for names, pairs in whole.items() if pairs}
    if not whole:
        return facts
    lead = _lead(whole, write)
    others = _of(lead, whole)
    rival = max(others, key=lambda o: (_outcome(others[o]) == "a", write.best([p.turned for p in others[o]]), o))
    names, pairs = (lead, rival), others[rival]
    if _outcome(pairs) == "b":
        names, pairs = (rival, lead), [pair.turned for pair in pairs]
    gaps = [printed[pair.a.id] - printed[pair.b.id] for pair in pairs]
    values = {"values": [pair.value for pair in pairs], "reported": gaps}
    return facts | values | {"rival": names, "outcome": _outcome(pairs)}


def _score_facts(summary: Summary) -> dict[str, Any]:
    """Return how far scores range, and in how many settings."""
    cells = [cell for cell in summary.cells if (cell.id, summary.main_metric) in summary.headlines]
    rows = [summary.headlines[cell.id, summary.main_metric] for cell in cells]
    return {
        "values": [row["value"] for row in rows if not is_missing(row["value"])],
        "only": next(iter(rows), None),
        "methods": len({cell.method or cell.id for cell in cells}),
        "settings": len({tuple(getattr(cell, name) for name in (*SETTING_NAMES, "choice")) for cell in cells}),
        "summary": summary,
    }


# --- Comparisons ---


def _leading_choice(pairs: Pairs) -> Pairs:
    """Return the comparisons of scores, not of gains: of all classes together, and of parameters chosen honestly."""
    own = [pair for pair in pairs if pair.a.columns.get("what", "point") == "point"]
    whole = [pair for pair in own if pair.a.of_class in ("", ALL_CLASSES)]
    honest = [pair for pair in whole or own if pair.a.choice != CHOOSE_ORACLE]
    return honest or whole or own


def _duels(pairs: Pairs) -> Duels:
    """Return the comparisons by the two methods that they are of, sorted by the names of these."""
    found: dict[tuple[str, str], list[PlannedComparison]] = {}
    for pair in pairs:
        a, b = spoken_names(pair.a, pair.b)
        found.setdefault((min(a, b), max(a, b)), []).append(pair if a < b else pair.turned)
    return {names: sorted(own, key=lambda pair: (pair.a.id, pair.b.id)) for names, own in sorted(found.items())}


def _of(name: str, duels: Duels) -> dict[str, Pairs]:
    """Return the comparisons of a method by the other one's name, with its own cells as `a`."""
    found = {b: own for (a, b), own in duels.items() if a == name}
    found |= {a: [pair.turned for pair in own] for (a, b), own in duels.items() if b == name}
    return dict(sorted(found.items()))


def _outcome(pairs: Pairs) -> str:
    """Return the outcome of most comparisons: "a" or "b" where that method is better in most, or else a reason."""
    counted = Counter(pair.outcome for pair in pairs)
    for outcome in ("a", "b", NEVER_DIFFER):
        if 2 * counted[outcome] > len(pairs):
            return outcome
    return UNDECIDED if counted["a"] or counted["b"] or counted[UNDECIDED] else pairs[0].outcome


def _lead(duels: Duels, write: _Writer) -> str:
    """Return the method that all others are compared with, or else the one that is better most often."""

    def key(name: str) -> tuple[Any, ...]:
        own = _of(name, duels)
        outcomes, scores = [_outcome(pairs) for pairs in own.values()], [p for pairs in own.values() for p in pairs]
        return len(own) == len(duels), outcomes.count("a") - outcomes.count("b"), len(own), write.best(scores)

    return max(sorted({name for names in duels for name in names}), key=key)


def _settings(pairs: Pairs) -> str:
    """Write the settings that comparisons differ in."""
    return _varying_settings([pair.a for pair in pairs]) or f"{len(pairs)} comparisons"


def _varying_settings(cells: Iterable[CellInfo]) -> str:
    """Write the settings that cells differ in: "2 tasks × 5 training sizes"."""
    numbers = {words: len({getattr(cell, name) for cell in cells}) for name, words in SETTING_NAMES.items()}
    return " × ".join(f"{n} {words}" for words, n in numbers.items() if n > 1)
