"""Recommendations of a survey: sentences computed from its numbers, for readers who choose a method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.evaluation.significance import SIGNIFICANCE_LEVEL
from benchmark.report.surveys import score_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from benchmark.evaluation.mean_ranks import MeanRanks
    from benchmark.report.surveys import Survey

#: A faster method is recommended if its score is at most this far below the best.
NEAR_BEST = 0.01


def recommendations(survey: Survey, ranking: MeanRanks) -> Iterator[str]:
    """Yield the recommendations, one sentence for each case.

    Methods are chosen by their scores on the test documents of these problems, so the scores are optimistic and may not
    hold on other documents.
    """
    whole = survey.whole()
    several_classes = {problem.name for problem in survey.problems if problem.multilabel}
    single = whole[~whole["problem"].isin(several_classes)]
    curves = survey.scores[survey.scores["size"].notna()]
    if len(curves):
        least = curves[curves["size"] == curves.groupby("problem")["size"].transform("min")]
        sizes = ", ".join(
            f"{size:.0f} of {name}" for name, size in least.groupby("problem", sort=False)["size"].min().items()
        )
        yield f"**Few documents** (the smallest training sets: {sizes}): {_leader(survey, least)}."
    if len(single):
        yield f"**Many documents, one class each:** {_leader(survey, single)}."
        quick = ", ".join(f"`{method}` with {score} on {name}" for name, method, score in _quick(single))
        yield f"**Where seconds matter**, the fastest to train and predict within a point of the best score: {quick}."
    if len(single) < len(whole):
        yield f"**Several classes per document:** {_leader(survey, whole[whole['problem'].isin(several_classes)])}."
    summed = whole[whole["method"].isin(survey.words_summed)]
    if len(summed):
        yield (
            "**Where predictions have to be explained**, among the methods whose decision value is a sum over terms: "
            f"{_leader(survey, summed)}."
        )
    if ranking.problems > 1:
        last = max((last for first, last in ranking.alike if first == 0), default=0)
        n = len(ranking.methods) - 1
        yield (
            f"Over the {ranking.problems} corpora, the mean rank of `{ranking.methods[0]}` differs significantly from "
            f"those of {n - last} of the other {n} methods (Nemenyi, 5%: {ranking.critical:.1f} ranks). Within one "
            "problem, the intervals and tests below show more."
        )


def _leader(survey: Survey, rows: pd.DataFrame) -> str:
    """Return the method with the best mean rank, its scores, and the second-best method, as text."""
    table = survey.table(rows)
    ranking = survey.ranks(rows)
    best, size = ranking.methods[0], dict(zip(rows["problem"], rows["size"], strict=True))
    scores = ", ".join(f"{score_text(survey, name, best, size[name])} on {name}" for name in table.index)
    then = ""
    if len(ranking.methods) > 1 and len(table.index) > 1:
        then = f"; next is `{ranking.methods[1]}` ({ranking.ranks[1]:.1f})"
    elif len(ranking.methods) > 1:
        name = str(table.index[0])
        then = f"; next is `{ranking.methods[1]}` with {score_text(survey, name, ranking.methods[1], size[name])}"
    rank = f"the best mean rank ({ranking.ranks[0]:.1f} of {len(ranking.methods)})"
    return f"`{best}` has {rank if len(table.index) > 1 else 'the best score'}, {scores}{then}"


def _quick(rows: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    """Yield for each problem the fastest of the methods near the best score, with its score and seconds as text."""
    for name, scores in rows.groupby("problem", sort=False):
        near = scores[scores["value"] >= scores["value"].max() - NEAR_BEST].copy()
        near["seconds"] = near["training"] + near["deciding"] * near["n"] / 1000
        first = min(near.to_dict("records"), key=lambda row: row["seconds"])
        yield str(name), first["method"], f"{100 * first['value']:.2f} in {seconds_text(first['seconds'])} s"


def comparison_sentences(survey: Survey) -> list[str]:
    """Return a sentence for each comparison that summarizes it over all problems."""
    sentences = []
    for (a, b), rows in survey.gaps.groupby(["a", "b"], sort=False):
        low, high = 100 * rows["value"].min(), 100 * rows["value"].max()
        significant = rows[rows["p_holm"] < SIGNIFICANCE_LEVEL]
        up, down = (significant["value"] > 0).sum(), (significant["value"] < 0).sum()
        shown = [f"significantly better on {up} of {len(rows)}"] if up else []
        shown += [f"significantly worse on {down} of {len(rows)}"] if down else []
        range_ = f"{low:+.2f} to {high:+.2f} points" if len(rows) > 1 else f"{low:+.2f} points"
        sentences.append(f"`{a}` over `{b}`: {range_}, {' and '.join(shown) or 'no significant difference on any'}.")
    return sentences
