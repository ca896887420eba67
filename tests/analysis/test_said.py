"""What is said of runs of every kind: each sentence whole where it first stands, and later by its first letters.

`BENCH_WRITE_EXPECTED=1 pytest` of this file writes the expected text again; the difference is what is to be read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.prose.main_finding import main_finding
from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summarize import summarize
from benchmark.analysis.summary import SUMMARY_TABLES
from benchmark.config.model import BASE_VARIANT, MethodFile, VectorFile
from benchmark.diagnostics import FeatureErrors
from benchmark.diagnostics.base import DiagnosticContext
from tests.analysis.made import CENTROIDS, CLASSES, DRAWN, TABLE, predicted
from tests.builders import small_experiment
from tests.report.expected_texts import assert_expected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment
    from benchmark.diagnostics.base import DiagnosticNumbers
    from benchmark.evaluation.predictions import Predictions, SettingPredictions

CORPUS = {"name": "synthetic", "classes": CLASSES}
FACTS: dict[str, Any] = {"documents": 1234, "vocabulary": 5678, "classes": CLASSES}
DRAWS = {"name": "random-subsets", "train_size": [50, 100], "replicates": 6}
FOLDS = {"name": "k-fold", "k": 2, "seed": 7}
PLAIN: dict[str, Any] = {"corpus": CORPUS, "protocol": FOLDS, "methods": ["ngd"], "text": {"min_occurrences": 1}}
ONE = {"methods": ["linear"], "choose": None, "compare": []}
TWO = {"methods": ["linear", "ngd"], "choose": None, "compare": [["ngd", "linear"]], "metrics": ["macro-f1"]}
FEW = {"few": {"text": {"min_occurrences": 50}}}
FUSED = {"fuse": ["mnb", "complement-nb"], "weights": [1, 0.5], "name": "both"}
NGD_MNB = PLAIN | {"methods": ["ngd", "mnb"]}
FIGURE: dict[str, Any] = {"name": "f", "x": "size", "y": "macro-f1"}
SINGLE = DRAWN | ONE | {"metrics": ["macro-f1"]}
FEATURES: dict[str, Any] = {
    "methods": ["ngd", {"features": {"name": "arcsine", "n_components": [8, 64]}}],
    "defaults": {"classifier": "linear-svm"},
    "diagnostics": ["feature-errors"],
    "figures": [
        {"name": "by-number", "x": "features", "line": "kernel"},
        {"name": "by-parameter", "x": "n_components", "line": "kernel", "y": ["accuracy", "kernel-error"]},
        {"name": "by-seconds", "x": "seconds-to-map", "line": "kernel"},
    ],
}
FILE = MethodFile("mine.csv", "d", None)


def text(**changes: Any) -> dict[str, Any]:
    return PLAIN | {"text": {"stoplist": "none"} | changes}


def settings_changed(change: Callable[[int, Any, SettingPredictions], dict[str, Any]]) -> Any:
    """Change the predictions of settings, given their number, key and predictions."""

    def edit(experiment: Experiment, made: Predictions) -> tuple[Experiment, Predictions]:
        settings = {k: replace(own, **change(i, k, own)) for i, (k, own) in enumerate(made.settings.items())}
        return experiment, replace(made, settings=settings)

    return edit


def method_changed(label: str, **changes: Any) -> Any:
    """Change what a method is made of, as a file of predictions or vectors does."""

    def edit(experiment: Experiment, made: Predictions) -> tuple[Experiment, Predictions]:
        ((name, variant),) = experiment.variants.items()
        entries = tuple(
            replace(entry, candidates=tuple(replace(spec, **changes) for spec in entry.candidates))
            if entry.label == label
            else entry
            for entry in variant.entries
        )
        return replace(experiment, variants={name: replace(variant, entries=entries)}), made

    return edit


def without_settings(test: Callable[[Any], bool]) -> Any:
    def edit(experiment: Experiment, made: Predictions) -> tuple[Experiment, Predictions]:
        return experiment, replace(made, settings={k: own for k, own in made.settings.items() if not test(k)})

    return edit


def without_predictions(experiment: Experiment, made: Predictions) -> tuple[Experiment, Predictions]:
    return experiment, replace(made, splits={}, settings={})


def features_measured(experiment: Experiment) -> DiagnosticNumbers:
    numbers = iter((116.0, 228.0))

    def once(_: Any, __: Any) -> Any:
        n = next(numbers)
        arrays = {"errors": np.array([0.5, 1.0, 0.25]) / n, "sizes": np.array([n, 80.0, 8.0])}
        return arrays | {"documents": np.array(10), "seconds": np.array(n / 1000)}

    counts: Any = None
    return FeatureErrors().compute(DiagnosticContext(counts, experiment.variants[BASE_VARIANT], 0, 1, once))


def tuned(experiment: Experiment, made: Predictions) -> tuple[Experiment, Predictions]:
    cells = {"tf-l1-ngd": "C 1, to Table 1", "tf-l1-linear": "C 1, to Table 1", "tfidf-l1-ngd": "t 2, to Table 2"}
    return replace(experiment, tuned_cells=cells), made


def twins(split: str, tested: int, near: int, same: int = 0) -> dict[str, Any]:
    pair = [[f"{split}/1", f"{split}/2", 0.95], [f"{split}/3", f"{split}/4", 0.91]] if near else []
    return {"split": split, "tested": tested, "near": near, "same": same, "such_as": pair}


TWINS = [twins("a", 100, 9), twins("b", 10, 0), twins("c", 9, 4)]
#: Runs by name: the configuration's sections, and facts, edits of the predictions, failures, and several labels.
RUNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "table": (TABLE, {}),
    "documents of three variants": (
        TABLE | {"variants": FEW | {"least": {"text": {"min_occurrences": 60}}}},
        {"facts": {BASE_VARIANT: FACTS, "few": FACTS | {"documents": 99}, "least": FACTS | {"documents": 4000}}},
    ),
    "text of a method": (
        PLAIN | {"methods": ["linear", {"text": {"min_documents": 2, "lexer": "unicode"}, "kernel": "ngd"}]},
        {
            "facts": {
                BASE_VARIANT: FACTS
                | {
                    "documents_without_words": 7,
                    "letters_dropped": 4321,
                    "texts": [{"vocabulary": 50, "documents_without_words": 1}],
                    "notes": ["the dates are days"],
                }
            }
        },
    ),
    "curves with a choice": (DRAWN | {"gain": True}, {}),
    "centroids": (CENTROIDS, {}),
    "warnings": (
        DRAWN,
        {"edit": settings_changed(lambda i, _, __: {"warnings": ("did not converge", "few") if i % 3 else ("few",)})},
    ),
    "failed diagnostics": (
        TABLE | {"diagnostics": ["covering-numbers", "feature-errors"], "variants": FEW},
        {"failures": {"covering-numbers": "a", "feature-errors": "b", "few-feature-errors": "c", "other": "d"}},
    ),
    "two tasks": (TABLE | {"tasks": [CLASSES, CLASSES[::-1]], "compare": []}, {}),
    "no predictions": (TABLE, {"edit": without_predictions}),
    "terms by their maximum": (
        TABLE | {"methods": ["mnb", "eef"], "compare": [], "terms": {"number": [20, 50], "aggregate": "maximum"}},
        {},
    ),
    "predictions made elsewhere": (NGD_MNB, {"edit": method_changed("mnb", predictions=FILE)}),
    "vectors made elsewhere": (
        NGD_MNB,
        {"edit": method_changed("ngd", vectors=VectorFile(FILE, ("e0", "e1", "e2"), ("day",)))},
    ),
    "fusion": (
        PLAIN | {"methods": ["mnb", "complement-nb", FUSED]},
        {},
    ),
    "classes in panels": (SINGLE | {"figures": [FIGURE | {"panel": ["class"]}]}, {}),
    "relations": (
        DRAWN | {"figures": [{"name": kind, "y": {kind: ["rbf", "linear"]}} for kind in ("ratio", "difference")]},
        {},
    ),
    "methods of a diagnostic": (
        TABLE | {"compare": []} | FEATURES,
        {"measured": ("feature-errors", features_measured)},
    ),
    "every harm": (
        DRAWN | {"defaults": {"weighting": "tfidf", "idf": "collection"}, "text": {"min_documents": 2, "ngrams": [2]}},
        {"edit": tuned, "facts": {BASE_VARIANT: FACTS | {"near_duplicates": TWINS}}},
    ),
    "a failed candidate": (
        DRAWN,
        {"edit": without_settings(lambda key: key[2:5] == ("rbf", 1, 50)), "failures": {"rbf-50": "too wide"}},
    ),
}  # fmt: skip


def run_of(name: str) -> RunPredictions:
    changes, more = RUNS[name]
    experiment = small_experiment(name="made", **{k: v for k, v in changes.items() if k != "name"})
    made = predicted(experiment, n=more.get("n", 60), multilabel=more.get("multilabel", False))
    if "edit" in more:
        experiment, made = more["edit"](experiment, made)
    facts = more.get("facts", dict.fromkeys(experiment.variants, FACTS))
    name, measure = more.get("measured", ("", None))
    diagnostics = ((name, BASE_VARIANT, measure(experiment)),) if measure else ()
    return RunPredictions(experiment, made, more.get("failures", {}), facts, diagnostics=diagnostics)


def said(summary: Summary) -> Iterator[tuple[str, list[str]]]:
    """Yield the sentences on a run by where they stand."""
    finding = main_finding(summary)
    yield "finding", [f"{finding.headline}.", *finding.details]
    yield "documents", [f"On {summary.corpus}.", *summary.documents]
    for part in ("caveats", "notes"):
        yield part, list(getattr(summary, part))


def points_of(line: pd.DataFrame) -> str:
    return ", ".join(
        f"{row.x:g} {row.y:.3g}{f' [{row.low:.3g}, {row.high:.3g}]' if row.low == row.low else ''}"
        for row in line.itertuples()
    )


def shown(summary: Summary) -> Iterator[tuple[str, list[str]]]:
    """Yield numbers of rows, labels of cells and charts, of a few cells and lines each."""
    yield "failures", sorted(set(summary.failures.values()))
    yield "tables", ["; ".join(f"{name} {len(own)}" for name in SUMMARY_TABLES if len(own := getattr(summary, name)))]
    yield "costs", ["; ".join(summary.costs["cell"][:4])]
    yield "leaks", [" ".join(map(str, row)).strip() for row in summary.leaks.itertuples(index=False)]
    for chart in summary.charts:
        lines = list(chart.points.groupby(["panel", "series"], sort=False))[:4]
        axes = f"{chart.name}: {chart.title}; {chart.x_label} / {chart.y_label}; {chart.bars or 'no bars'}"
        yield "chart", [axes, *(f"{panel} {label}: {points_of(line)}" for (panel, label), line in lines)]
    labels = ({**cell.columns, "points": cell.points} for cell in summary.cells)
    yield "labels", list(dict.fromkeys("; ".join(f"{k} {v}" for k, v in own.items() if v) for own in labels))[:3]


def test_what_is_said_of_each_run_is_as_expected() -> None:
    seen, parts = set[str](), list[tuple[str, str]]()
    for name in RUNS:
        summary = summarize(run_of(name))
        found = [*said(summary), *shown(summary)]
        texts = [(part, " ".join(text.split())) for part, own in found for text in own]
        again = "; ".join(f"{part} {text[:20].strip()}" for part, text in texts if text in seen)
        lines = [f"{part}: {text}" for part, text in texts if text not in seen]
        seen |= {text for _, text in texts}
        parts.append((name, "\n".join([*lines, f"as before: {again}"])))
    assert_expected("runs", parts)
