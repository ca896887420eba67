"""Recommendations of a survey: sentences computed from its numbers and tests, for readers who choose a method."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmark.evaluation.significance import SIGNIFICANCE_LEVEL
from benchmark.report.comparison_grids import TEST_TITLES
from benchmark.report.surveys import score_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmark.evaluation.mean_ranks import MeanRanks
    from benchmark.report.surveys import BestMethods, Survey


#: Difference to the best score, as a share, up to which a method is near it.
NEAR_BEST = 0.01


def start_sentence(survey: Survey) -> str:
    """Return which method to begin with: that within a point of the best score on the most problems.

    Of several, it is the one with the fewest training seconds over all problems. More is better in every score of a
    survey, see `survey.check_comparable`.
    """
    scores, costs = survey.table(survey.whole()), survey.costed()
    near = scores.ge(scores.max(axis="columns") - NEAR_BEST, axis="index").sum()
    seconds = costs.groupby("method")["training"].sum(min_count=1)
    ordered = sorted(near.index, key=lambda name: (-near[name], seconds.fillna(math.inf).get(name, math.inf)))
    first = ordered[0]
    own = costs.loc[costs["method"] == first, "training"].dropna()
    ends = list(dict.fromkeys(seconds_text(own.agg(end)) for end in ("min", "max"))) if len(own) else []
    trained = f"; it is trained in {' to '.join(ends)} s" if ends else ""
    return (
        f"**Start with `{first}`.** Its score is within one point of the best on {near[first]} of "
        f"{len(scores)} problem{'s' * (len(scores) > 1)}{trained}."
    )


def recommendations(survey: Survey, ranking: MeanRanks) -> Iterator[str]:
    """Yield a sentence for each problem, one for the smallest training sets, and one on the mean ranks.

    The best method is named together with all that a paired test doesn't tell from it. Which is best is known only from
    the test documents of these problems, so its score is optimistic and may not hold on other documents.
    """
    for best in survey.best:
        if best.size is None:
            rest = list(_of_these(survey, best))
            more = f" Of these, {'; '.join(rest)}." if rest else ""
            yield f"**{best.problem}:** {_leader(survey, best)}.{more}"
    least = [best for best in survey.best if best.size is not None]
    if least:
        each = (f"{best.size} of {best.problem}: {_leader(survey, best)}" for best in least)
        yield f"**Few documents** (the smallest training sets below, default parameters). {'; '.join(each)}."
    if ranking.problems > 1:
        last = max((last for first, last in ranking.alike if first == 0), default=0)
        n = len(ranking.methods) - 1
        yield (
            f"Over the {ranking.problems} corpora, the mean rank of `{ranking.methods[0]}` differs significantly from "
            f"those of {n - last} of the other {n} methods (Nemenyi, 5%: {ranking.critical:.1f} ranks)."
        )


def tests_sentence(survey: Survey) -> str:
    """Return which test tells methods from the best, and where."""
    places: dict[str, list[str]] = {}
    for best in survey.best:
        place = best.problem if best.size is None else f"{best.size} of {best.problem}"
        kind, comma, details = best.test.partition(",")
        places.setdefault(f"{TEST_TITLES.get(kind, kind)}{comma}{details}", []).append(place)
    each = "; ".join(f"{name} on {', '.join(own)}" for name, own in places.items() if name)
    return (
        "A method is told from the best if a paired test is significant at 5% after Holm's correction over all pairs "
        "of methods of the problem. Which method is best is known only from the tested documents, so its score is "
        f"slightly optimistic. The tests: {each}."
    )


def _leader(survey: Survey, best: BestMethods) -> str:
    """Return the method with the best score, its score, and those that are not told from it, as text."""
    first, *others = best.methods
    score = score_text(survey, best.problem, first, best.size)
    if not best.test:
        return f"`{first}` has the best score, {score}"
    verb = "are" if len(others) > 1 else "is"
    found = f"not told from it {verb} {_listed(others)}" if others else "all others differ from it"
    return f"`{first}` has the best score, {score}; {found}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _of_these(survey: Survey, best: BestMethods) -> Iterator[str]:
    """Yield which of the best methods is the fastest, and which have decision values that are sums over terms."""
    rows = survey.costed()
    rows = rows[(rows["problem"] == best.problem) & rows["method"].isin(best.methods) & rows["training"].notna()]
    if len(best.methods) > 1 and len(rows):
        seconds = rows["training"] + rows["deciding"] * rows["n"] / 1000
        quickest = rows["method"].iloc[int(seconds.argmin())]
        yield f"`{quickest}` is the fastest to train and predict, in {seconds_text(seconds.min())} s"
    summed = [name for name in best.methods if name in survey.words_summed]
    others = [name for name in best.methods if name not in survey.words_summed]
    if summed and others:
        which = _listed(summed) if len(summed) <= len(others) else f"all but {_listed(others)}"
        yield f"the decision value is a sum over the terms for {which}"


def comparison_sentences(survey: Survey) -> list[str]:
    """Return a sentence for each comparison that summarizes it over all problems."""
    sentences = []
    shown_gaps = survey.gaps[survey.gaps["tuned"] == survey.gaps["problem"].map(survey.is_tuned)]
    for (a, b), rows in shown_gaps.groupby(["a", "b"], sort=False):
        low, high = 100 * rows["value"].min(), 100 * rows["value"].max()
        significant = rows[rows["p_holm"] < SIGNIFICANCE_LEVEL]
        up, down = (significant["value"] > 0).sum(), (significant["value"] < 0).sum()
        shown = [f"significantly better on {up} of {len(rows)}"] if up else []
        shown += [f"significantly worse on {down} of {len(rows)}"] if down else []
        range_ = f"{low:+.2f} to {high:+.2f} points" if len(rows) > 1 else f"{low:+.2f} points"
        sentences.append(f"`{a}` over `{b}`: {range_}, {' and '.join(shown) or 'no significant difference on any'}.")
    return sentences
