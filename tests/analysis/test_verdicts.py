"""What is judged of a paper in runs of every shape: frames of verdicts, claims and ranges, and notes on them.

`BENCH_WRITE_EXPECTED=1 pytest` of this file writes the expected text again; the difference is what is to be read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summarize import summarize
from benchmark.config.model import BASE_VARIANT
from benchmark.diagnostics.base import DiagnosticNumbers, DiagnosticRow
from benchmark.papers.published import Published
from benchmark.papers.published_verdicts import value_rows
from benchmark.report.tables import cell_table, verdict_table
from tests.analysis.made import CLASSES, DRAWN, TABLE, drawn_study, predicted, table_study
from tests.builders import small_experiment
from tests.report.expected_texts import assert_expected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment
    from benchmark.evaluation.predictions import Predictions

HEAD = {"paper": "p", "title": "t", "reference": "r", "unit": "percent"}
TESTS = ("sign", "mcnemar", "wilcoxon")
FEW = {"few": {"text": {"min_occurrences": 50}}}
TWO = DRAWN | {"choose": None, "methods": ["linear", "ngd"], "compare": [], "metrics": ["macro-f1"]}
TERMS = {"terms": {"number": [20, 50]}, "methods": ["mnb", "eef"], "compare": []}
FEATURES = [{"config": "made", "cell": "tf-l1-ngd", "metric": "accuracy", "value": "90.0"}]


def value(cell: str, metric: str, digits: str, **more: Any) -> dict[str, Any]:
    return {"config": "made", "cell": cell, "metric": metric, "value": digits, **more}


def claim(name: str, a: str, b: str, **more: Any) -> dict[str, Any]:
    compared = {"comparisons": [{"config": "made", "a": a, "b": b}]}
    return {"id": name, "text": "It is so.", "relation": "greater", **compared, **more}


def paper_on(a: str, b: str, metric: str) -> dict[str, Any]:
    """Make a paper with values, another reading, metrics of the pair, ranges, and a claim by each test."""
    loop = {"figure": 1, "config": "made", "cells": "{c}", "metric": metric}
    return {
        "values": [
            value(a, metric, "90.0"),
            value(a, metric, "12.3", alternative=True),
            *({"config": "made", "pair": [a, b], "metric": m, "value": "1.0"} for m in ("sign-z", "error-ratio")),
        ],
        "ranges": [
            loop | {"for": {"c": cells}, "low": low, "high": high}
            for cells, low, high in (([a, b], "0.0", "1.0"), ([a], "0.0", "0.01"), ([a, "gone"], "0.0", "1.0"))
        ],
        "claims": [claim(f"by-{test}", a, b, metric=metric, test=test) for test in TESTS],
    }


def tuned(experiment: Experiment, made: Predictions) -> tuple[Experiment, Predictions]:
    return replace(experiment, tuned_cells={"tf-l1-ngd": "C 3, to Table 1"}), made


def mostly_wrong(experiment: Experiment, made: Predictions) -> tuple[Experiment, Predictions]:
    """Let the linear kernel be wrong on two of three documents."""
    settings = dict(made.settings)
    for key, own in made.settings.items():
        if key.method == "tf-l1-linear":
            wrong = np.arange(len(own.predicted)) % 3 > 0
            settings[key] = replace(
                own, predicted=np.where(wrong, (own.predicted + 1) % 3, own.predicted).astype(np.int16)
            )
    return experiment, replace(made, settings=settings)


def read_otherwise(experiment: Experiment, made: Predictions) -> tuple[Experiment, Predictions]:
    return replace(experiment, readings={BASE_VARIANT: "one reading", "few": "another reading"}), made


def analysed(experiment: Experiment, made: Predictions) -> tuple[Experiment, Predictions]:
    return replace(experiment, name="sweep", sensitivity_of="made"), made


def counted() -> DiagnosticNumbers:
    counts = {(f"{name}-{part}", "documents"): 7 for name in CLASSES for part in ("cornell", "texas")}
    counts |= {("all-cornell", "documents"): 21, ("all-texas", "documents"): 21, ("all", "documents"): 42}
    counts |= {("all", "classes"): 3, ("all", "words"): 12}
    return DiagnosticNumbers(tuple(DiagnosticRow.without_interval(*key, n, n) for key, n in counts.items()))


ON_TABLE = paper_on("tf-l1-ngd", "tf-l1-linear", "accuracy")
RULES = {
    "claims": [
        claim("scores", "tf-l1-ngd", "tf-l1-linear"),
        claim("lower", "tf-l1-ngd", "tf-l1-linear", relation="lower", metric="error", test="sign"),
        claim("one-sided", "tf-l1-ngd", "tf-l1-linear", rule={"test": "sign", "sides": 1, "alpha": 0.4}),
        claim("holm", "tf-l1-ngd", "tf-l1-linear", rule={"test": "mcnemar", "correction": "holm"}, test="mcnemar"),
        claim("same", "tf-l1-ngd", "tf-l1-linear", relation="equivalent", margin="0.2", because="it says so."),
        claim("narrow", "tf-l1-ngd", "tf-l1-linear", relation="equivalent", margin="0.01", because="it says so"),
        claim("again", "tf-l1-ngd", "tf-l1-linear", same_as="same", because="in other words"),
        claim("plainly-again", "tf-l1-ngd", "tf-l1-linear", same_as="same"),
        claim("aside", "tf-l1-ngd", "tf-l1-linear", aside="another reading"),
        claim("gone", "tf-l1-ngd", "gone", test="sign"),
    ]
}
FAST = claim("fast", "rbf-cv-50", "linear-cv-50", relation="lower", metric="seconds")
BOTH_WAYS = claim("both-ways", "tf-l1-ngd", "tf-l1-linear", test="sign")
BOTH_WAYS["comparisons"].append({"config": "made", "a": "tf-l1-linear", "b": "tf-l1-ngd"})
BOTH_WAYS["comparisons"].append({"config": "elsewhere", "a": "a", "b": "b"})
RATIO = {"relation": "ratio", "metric": "error", "low": "0.4", "high": "1.6", "because": "it is half"}
REFERENCES = {
    "reference_values": [
        {"method": "GCN", "source": "S", "transductive": True, "unlike": "other words"}
        | {"values": [value("tf-*", "accuracy", "10"), value("gone-*", "accuracy", "10")]},
        {"method": "MLP", "source": "T", "transductive": False, "values": [value("*-ngd", "macro-f1", "10")]},
    ]
}
#: Papers by name: the configuration's sections, the sections of the paper, and an edit or several labels.
PAPERS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "table": (TABLE, ON_TABLE, {}),
    "curves": (DRAWN, paper_on("rbf-cv-100", "linear-cv-100", "error"), {}),
    "several labels": (TWO, paper_on("linear-50", "ngd-50", "macro-f1"), {"multilabel": True}),
    "rules": (TABLE, RULES, {}),
    "a clear difference": (
        TABLE,
        {
            "claims": [
                *(claim(f"by-{test}", "tf-l1-ngd", "tf-l1-linear", test=test, rule={"test": test}) for test in TESTS),
                claim("reversed", "tf-l1-linear", "tf-l1-ngd", test="sign", rule={"test": "sign", "sides": 1}),
                RULES["claims"][5],
                BOTH_WAYS,
            ]
        },
        {"edit": mostly_wrong},
    ),
    "a ratio": (DRAWN, {"claims": [claim("half", "rbf-cv-50", "linear-cv-50", **RATIO)]}, {}),
    "reference values": (TABLE, REFERENCES, {}),
    "tuned": (TABLE, ON_TABLE, {"edit": tuned}),
    "two readings": (TABLE | {"variants": FEW}, RULES, {"edit": read_otherwise}),
    "a sensitivity analysis": (TABLE | {"variants": FEW}, RULES, {"edit": analysed}),
    "seconds": (DRAWN, {"claims": [FAST]}, {}),
    "counts of documents": (
        TABLE | {"compare": [], "methods": ["linear"], "metrics": ["macro-f1"], "diagnostics": ["document-counts"]},
        {"values": [value("course-cornell", "documents", "7"), value("linear", "macro-f1", "12.3")]},
        {"measured": (("document-counts", BASE_VARIANT, counted()),), "multilabel": True},
    ),
}  # fmt: skip


@pytest.fixture(name="judge")
def judging(publish: Callable[[dict[str, Any]], str]) -> Callable[[str], Summary]:
    def judge(name: str) -> Summary:
        changes, sections, more = PAPERS[name]
        key = f"p-{list(PAPERS).index(name)}"
        experiment = small_experiment(**{"name": "made"} | changes, paper=publish(HEAD | sections | {"paper": key}))
        made = predicted(experiment, multilabel=more.get("multilabel", False))
        if "edit" in more:
            experiment, made = more["edit"](experiment, made)
        return summarize(RunPredictions(experiment, made, {}, {}, diagnostics=more.get("measured", ())))

    return judge


def lines_of(summary: Summary) -> Iterator[str]:
    """Yield the rows of verdicts, claims and ranges, without empty values, and the notes on them."""
    for name in ("verdicts", "claims", "ranges"):
        for row in getattr(summary, name).drop(columns="text", errors="ignore").itertuples(index=False):
            shown = (f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row)
            yield f"{name}: {'; '.join(text for text in shown if text not in ('', 'nan'))}"
    for note in (*summary.caveats, *summary.notes):
        if "claim" in note.lower() or note.partition(" ")[0].rstrip(":") in (
            "half",
            *(each["id"] for each in RULES["claims"]),
        ):
            yield f"note: {note}"


def test_what_is_judged_of_each_paper_is_as_expected(judge: Callable[[str], Summary]) -> None:
    assert_expected("verdicts", ((name, "\n".join(lines_of(judge(name)))) for name in PAPERS))


def test_a_pairs_z_and_ratio_are_those_of_its_documents_and_draws() -> None:
    def judged(name: str, pair: list[str], scored: Any) -> Any:
        printed = [{"config": name, "pair": pair, "metric": m, "value": "1.0"} for m in ("sign-z", "error-ratio")]
        (found,) = value_rows(Published.model_validate(HEAD | {"values": printed}), name, scored)
        return found

    table, drawn = (RunPredictions(study, predicted(study), {}, {}).scored for study in (table_study(), drawn_study()))
    pair = ["tf-l1-ngd", "tf-l1-linear"]
    right = [table.cells[name].outcome.correct for name in pair]
    only = [np.count_nonzero(right[i] & ~right[1 - i]) for i in (0, 1)]
    assert judged("table", pair, table)["value"] == pytest.approx((only[0] - only[1]) / np.sqrt(sum(only)))
    pair = ["rbf-oracle-50", "linear-oracle-50"]
    errors = [drawn.cells[name].values["error"].mean() for name in pair]
    assert judged("drawn", pair, drawn)["value"] == pytest.approx(errors[0] / errors[1])


def test_a_fraction_is_shown_in_percent_with_its_digits(publish: Callable[[dict[str, Any]], str]) -> None:
    shown = []
    for unit, digits in (("fraction", "0.900"), ("percent", "90.0")):
        paper = publish(HEAD | {"values": [value("tf-l1-ngd", "accuracy", digits)], "unit": unit, "paper": unit})
        experiment = table_study(paper=paper, name="made")
        summary = summarize(RunPredictions(experiment, predicted(experiment), {}, {}))
        rows = [row for row in cell_table(summary).rows if row[0] == "tf-l1-ngd"]
        shown.append((rows, verdict_table(summary.verdicts)))
    assert shown[0] == shown[1]
    assert "90.0" in shown[0][0][0]
