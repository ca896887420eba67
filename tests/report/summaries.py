"""Summaries shaped like the published experiments, with numbers made up near the printed ones."""

import numpy as np

from benchmark.analysis.formatting.labels import CellInfo
from benchmark.analysis.summary import (
    HEADLINE_FOLD,
    Summary,
    summary_table,
)

KERNELS = [("l1", "linear"), ("l1", "ned"), ("l1", "ngd"), ("l2", "linear"), ("l2", "ned")]
OURS = {"tf": [70.3, 84.9, 92.3, 89.52, 90.0], "tfidf": [56.3, 81.7, 92.0, 88.6, 88.3]}
PRINTED = {
    "tf": ["72.57", "84.39", "91.88", "89.52", "90.08"],
    "tfidf": ["55.84", "81.04", "91.42", "88.23", "87.96"],
}
FOLDS = ("cornell", "texas", "washington", "wisconsin")


def cell_info(weighting, normalization, kernel, **more):
    name = "-".join([weighting, normalization, kernel, *more.values()])
    columns = {"weighting": weighting, "normalization": normalization, "kernel": kernel, **more}
    return CellInfo(name, "base", "", name, columns=columns, points=f"{weighting} {normalization} {kernel}")


def scores_of(cell, value, folds=FOLDS, ties=3):
    rows = [(cell, HEADLINE_FOLD, "accuracy", value, value - 0.014, value + 0.013, 4199, ties)]
    rows.append((cell, HEADLINE_FOLD, "macro-f1", value - 0.021, value - 0.04, value, 4199, ties))
    shifts = np.linspace(-0.02, 0.02, len(folds))
    rows += [
        (cell, fold, "accuracy", value + shift, value + shift - 0.05, value + shift + 0.05, 250, 1)
        for fold, shift in zip(folds, shifts, strict=True)
    ]
    return rows


def verdict_of(cell, value, printed):
    low, high = value - 1.4, value + 1.3
    rounds = abs(value - float(printed)) <= 0.005
    verdict = "equal" if rounds else "consistent" if low <= float(printed) <= high else "deviates"
    return verdict_row(cell, "accuracy", printed, "percent", value, low, high, verdict)


def verdict_row(cell, metric, printed, unit, value, low, high, verdict, reading="", kind=""):
    """A row of verdicts; over 4,199 documents, and over groups half as sure."""
    documents = (value - float(printed)) / 100 * 4199 if metric == "accuracy" else float("nan")
    over = ("4,199 documents in 4 groups", low - 1, high + 1, documents, max(value - low, high - value))
    grade = grade_of(abs(value - float(printed)), low <= float(printed) <= high, metric, unit)
    kind = kind or {"sign-z": "z", "documents": "count"}.get(metric, "result")
    return (cell, metric, kind, reading, printed, unit, value, low, high, *over, verdict, grade, "")


def grade_of(gap, inside, metric, unit):
    """The grade of a number over many documents, of which five are less than 0.3 points."""
    if metric == "sign-z":
        return "no information"
    points = 100 * gap if unit == "one" else gap
    return "same" if points <= 0.3 else "near" if points <= 1 else "inside the interval" if inside else "outside"


def claim_row(claim, text, paper, strict, of, variant="", whole=0, counted=""):
    """A row of claims; `paper` and `strict` are how many comparisons hold, and the verdict."""
    return (claim, variant, text, "the scores", paper[0], of, paper[1], "95% interval", *strict, whole or of, counted)


def webkb_summary(failures=None, **changes):
    failures = failures or {}
    cells, scores, verdicts = [], [], []
    for weighting, values in OURS.items():
        for (normalization, kernel), value, printed in zip(KERNELS, values, PRINTED[weighting], strict=True):
            cell = cell_info(weighting, normalization, kernel)
            cells.append(cell)
            if cell.id not in failures:
                scores += scores_of(cell.id, value / 100)
                verdicts.append(verdict_of(cell.id, value, printed))
    verdicts.append(verdict_row("tf-l1-ngd vs tf-l2-linear", "sign-z", "3.4744", "one", 3.9, 2.0, 5.9, "consistent"))
    pair = ("tf-l1-ngd", "tf-l2-linear")
    content = {
        "name": "webkb",
        "title": "WebKB-top4, accuracy of five kernels",
        "paper": "zhang2005",
        "cells": tuple(cells),
        "scores": summary_table("scores", scores),
        "significance": summary_table(
            "significance",
            [
                (*pair, "sign", 351, 3.9, 3e-9, 6e-9, 2, ""),
                (*pair, "mcnemar", 351, 15.2, 0.00012345, 0.0002469, 2, ""),
                (*pair, "wilcoxon", 4, float("nan"), None, None, 0, "not testable (smallest p 0.125)"),
            ],
        ),
        "differences": summary_table("differences", [(*pair, 0.0278, 0.013, 0.042, 4199)]),
        "verdicts": summary_table("verdicts", verdicts),
        "claims": summary_table(
            "claims",
            [
                claim_row("ngd-best", "NGD under L1 beats LIN and NED under L2.", (4, "holds"), (4, "holds"), 4),
                claim_row("ned-like-lin", "NED works comparably.", (2, "holds"), (1, "holds in part (1 of 2)"), 2),
            ],
        ),
        "failures": failures,
        "notes": ("12 documents have no words left and are kept as the zero vector", "ties go to the first class"),
    }
    return Summary(**(content | changes))


def many_cells_summary(n_c=3):
    """As the sweep over C: 10 kernels at each C, nothing published, one split, one cell without ties or interval."""
    costs = [f"c{10.0**k:g}" for k in range(-3, n_c - 3)]
    cells = [cell_info(w, norm, kernel, C=c) for w in OURS for norm, kernel in KERNELS for c in costs]
    rows = [row for i, cell in enumerate(cells) for row in scores_of(cell.id, 0.5 + 0.4 * np.sin(i) ** 2, folds=())]
    rows[0] = (*rows[0][:4], None, None, *rows[0][6:7], None)
    return Summary(
        "webkb-c", "WebKB-top4 & the C_SVC's C: 100% of it", None, tuple(cells), summary_table("scores", rows)
    )


def failing_summary():
    return webkb_summary(failures={"tf-l2-ned": "no space left", "tfidf-l1-ngd": "LIBSVM did not converge"})


def all_failed_summary():
    cells = (cell_info("tf", "l1", "ngd"),)
    return Summary("one", "One cell", None, cells, summary_table("scores"), failures={cells[0].id: "out of memory"})


SUMMARIES = {
    "webkb": webkb_summary,
    "many": many_cells_summary,
    "failing": failing_summary,
    "all failed": all_failed_summary,
}
