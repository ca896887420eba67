"""What a survey says to the person who must choose a method: sentences that are made of its numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.evaluation.intervals import ALPHA
from benchmark.evaluation.ranks import ranked
from benchmark.report.surveys import score_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from benchmark.evaluation.ranks import Ranking
    from benchmark.report.surveys import Survey

#: As far as this below the best score a quicker method is named.
NEAR = 0.01


def advice(survey: Survey, ranking: Ranking) -> Iterator[str]:
    """What to use, a case a sentence.

    The methods are picked by the very documents that they were tested on, and by these problems alone: the numbers are
    what was found, and no promise.
    """
    whole = survey.whole()
    several = {problem.name for problem in survey.problems if problem.several}
    single = whole[~whole["problem"].isin(several)]
    curves = survey.scores[survey.scores["size"].notna()]
    if len(curves):
        least = curves[curves["size"] == curves.groupby("problem")["size"].transform("min")]
        sizes = ", ".join(
            f"{size:.0f} of {name}" for name, size in least.groupby("problem", sort=False)["size"].min().items()
        )
        yield f"**Few documents** (the smallest training sets: {sizes}): {_leader(survey, least)}."
    if len(single):
        yield f"**Many documents, of one class each:** {_leader(survey, single)}."
        quick = ", ".join(f"`{method}` with {seconds} on {name}" for name, method, seconds in _quick(single))
        yield f"**Where seconds count**, the quickest to train and decide within a point of the best: {quick}."
    if len(single) < len(whole):
        yield f"**Several topics a document:** {_leader(survey, whole[whole['problem'].isin(several)])}."
    summed = whole[whole["method"].isin(survey.words_summed)]
    if len(summed):
        yield (
            "**Where a decision has to be explained**, of the methods whose decision is a sum of what each word adds: "
            f"{_leader(survey, summed)}."
        )
    if ranking.problems > 1:
        last = max((last for first, last in ranking.alike if first == 0), default=0)
        n = len(ranking.methods) - 1
        yield (
            f"Over the {ranking.problems} problems, the mean ranks tell `{ranking.methods[0]}` apart from {n - last} "
            f"of the other {n} methods (Nemenyi, 5%: {ranking.critical:.1f} ranks); within one problem, the intervals "
            "and tests below say more."
        )


def _leader(survey: Survey, rows: pd.DataFrame) -> str:
    """The method with the best mean rank, what it scored, and which comes next."""
    table = survey.table(rows)
    found = ranked(list(table.columns), table.to_numpy())
    best, size = found.methods[0], dict(zip(rows["problem"], rows["size"], strict=True))
    scores = ", ".join(f"{score_text(survey, name, best, size[name])} on {name}" for name in table.index)
    then = ""
    if len(found.methods) > 1 and found.problems > 1:
        then = f"; next is `{found.methods[1]}` ({found.ranks[1]:.1f})"
    elif len(found.methods) > 1:
        name = str(table.index[0])
        then = f"; next is `{found.methods[1]}` with {score_text(survey, name, found.methods[1], size[name])}"
    where = (
        f"the best mean rank ({found.ranks[0]:.1f} of {len(found.methods)})" if found.problems > 1 else "the best score"
    )
    return f"`{best}` has {where}, {scores}{then}"


def _quick(rows: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    """The quickest of those near the best, problem by problem, with its score and seconds."""
    for name, own in rows.groupby("problem", sort=False):
        near = own[own["value"] >= own["value"].max() - NEAR].copy()
        near["seconds"] = near["training"] + near["deciding"] * near["n"] / 1000
        first = min(near.to_dict("records"), key=lambda row: row["seconds"])
        yield str(name), first["method"], f"{100 * first['value']:.2f} in {seconds_text(first['seconds'])} s"


def steps_told(survey: Survey) -> list[str]:
    """What each comparison comes to over all problems, a sentence each."""
    found = []
    for (a, b), rows in survey.gaps.groupby(["a", "b"], sort=False):
        low, high = 100 * rows["value"].min(), 100 * rows["value"].max()
        sure = rows[rows["p_holm"] < ALPHA]
        up, down = (sure["value"] > 0).sum(), (sure["value"] < 0).sum()
        shown = [f"shown better on {up} of {len(rows)}"] if up else []
        shown += [f"shown worse on {down} of {len(rows)}"] if down else []
        range_ = f"{low:+.2f} to {high:+.2f} points" if len(rows) > 1 else f"{low:+.2f} points"
        found.append(f"`{a}` over `{b}`: {range_}, {' and '.join(shown) or 'not shown to differ on any'}.")
    return found
