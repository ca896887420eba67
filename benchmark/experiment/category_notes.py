"""What a reader of category curves has to know: the documents, the draws, and every rule that a score rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.config.category_curves import HP_TOP, PLSI_FISHER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.experiment.category_curves import CategoryResults

_SCORES = (
    "Scores: macro-F1 is the mean of the categories' F1 (Figure 1; the paper doesn't say which definition it used); "
    "macro-F1 of means is the F1 of the mean precision and the mean recall; micro-F1 is of the decisions on all "
    "categories pooled. A ratio of nothing is 0: a category that no test document has and none is given has F = 0. "
    "Intervals are Student's over the draws."
)
_ABSENT = "A category that no training document of a draw has is given to no document by any method."
_DENSITIES = (
    "Such a category is no part of HP-TOP's mixture. HP-TOP fails on a draw where a category has one document, or no "
    "variance (σ² = 0): its cell then has no score."
)
_TESTS = (
    "Tests at each size: Wilcoxon's signed rank test on macro-F1 and on micro-F1, the pairs being the draws; the same "
    "on F1, the pairs being category × draw (they share test documents: p leans to small values); and the micro sign "
    "test of Yang and Liu (SIGIR 1999) over all decisions, document × category, of each draw: n and Z are the draws' "
    "medians, and p is twice the median p, which holds however the draws depend on each other (Rüger 1978). It counts "
    "right decisions, not F1. Holm's correction is over the sizes, for each pair of methods and test."
)
_TIMES = (
    "Figure 3: seconds on the clock, those of what the store had as they were measured then. As in the paper, a run is "
    "one category on one training set, its kernel matrix included: inner products whole, kernel matrices and training "
    "divided by the categories they are for. HP-TOP's feature extraction includes the linear machines. Times stand in "
    "the archive of predictions and in the picture, in no table."
)


def notes_on(results: CategoryResults) -> Iterator[str]:
    """Lines for below the table."""
    study = results.experiment
    names = [method.name for method in study.methods]
    for setting in study.settings:
        facts, lexing = results.facts[setting.name], setting.documents.lexing
        label = f"{setting.name}: " if len(study.settings) > 1 else ""
        yield (
            f"{label}{facts['documents']:,} documents, {facts['vocabulary']:,} words; digits: {lexing.digits}; "
            f"stoplist: {lexing.stoplist}; weighting: {setting.weighting}, normalized: {setting.normalization}; "
            f"C = {setting.C:g}."
        )
    facts = results.facts[study.settings[0].name]
    counted = zip(facts["documents_without_class"], facts["groups"], strict=True)
    without = ", ".join(f"{n:,} {group}" for n, group in counted)
    yield (
        f"Documents without any of the {len(results.tested.categories)} categories ({without}), those of other topics "
        "and those of none, stay as negative examples of all of them in training and in testing; HP-TOP's mixture has "
        "them as the category 'other', which is not scored."
    )
    how = (
        "a replicate's smaller sets are parts of its larger ones" if study.nested else "sets of two sizes are unrelated"
    )
    yield (
        f"Each size: {study.replicates} random training sets, not stratified; {how}; tested on the same "
        f"{len(results.tested.ids):,} documents of the group {study.test!r}. Fewest training documents of a category: "
        f"{_fewest(results)}."
    )
    yield _SCORES
    yield f"{_ABSENT} {_DENSITIES}" if HP_TOP in names else _ABSENT
    yield _TESTS
    yield _TIMES
    if PLSI_FISHER in names:
        yield (
            f"{PLSI_FISHER} sees the counts, whatever the weighting; its models are fitted to a draw's training "
            "documents alone, and its test documents are folded in."
        )


def _fewest(results: CategoryResults) -> str:
    found = []
    for size, positives in results.positives.items():
        category = int(np.argmin(positives.min(axis=0)))
        found.append(f"{positives.min()} ({results.tested.categories[category]}) of {size:,}")
    return ", ".join(found)
