"""Whole reports of made-up predictions and summaries, as a person has read them.

Each file of `expected` has what one summary makes a reader see: notes, frames, the terminal, and the words of the page.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summarize import summarize
from benchmark.analysis.summary import SUMMARY_TABLES
from benchmark.report.files import charts_csv, table_markdown
from benchmark.report.html.page import page_html
from benchmark.report.terminal import RunOnTerminal
from benchmark.report.writers import frame_csv
from tests.analysis.made import CLASSES, drawn_study, predicted, table_study
from tests.builders import small_experiment
from tests.report.expected_texts import assert_expected, page_words
from tests.report.summaries import SUMMARIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment

OF_SYNTHETIC: dict[str, Any] = {"corpus": {"name": "synthetic", "classes": CLASSES}}
FACTS: dict[str, Any] = {
    "documents": 60,
    "vocabulary": 1234,
    "classes": CLASSES,
    "documents_without_words": 2,
    "letters_dropped": 1200,
    "near_duplicates": [
        {
            "split": "cornell",
            "tested": 25,
            "near": 2,
            "same": 1,
            "such_as": [["a/1", "b/2", 0.95]],
        },
        {"split": "texas", "tested": 35, "near": 0, "same": 0, "such_as": []},
    ],
}
PAPER: dict[str, Any] = {
    "paper": "made2026",
    "title": "Made-up numbers",
    "reference": "A. Author. Made-up numbers. 2026.",
    "unit": "percent",
    "values": [
        {"table": 1, "config": "judged", "cell": "tf-l1-linear", "metric": "accuracy", "value": "88.5"},
        {"table": 1, "config": "judged", "cell": "tf-l1-ngd", "metric": "accuracy", "value": "62.0"},
        {"table": 1, "config": "judged", "cell": "tfidf-l1-ngd", "metric": "accuracy", "value": "93.3"},
        {"table": 2, "config": "judged", "pair": ["tf-l1-ngd", "tf-l1-linear"], "metric": "sign-z", "value": "1.5"},
    ],
    "claims": [
        {
            "id": f"{relation}-{metric}",
            "text": f"NGD is {relation} in {metric}.",
            "relation": relation,
            "metric": metric,
            "comparisons": [
                {"config": "judged", "a": "tf-l1-ngd", "b": "tf-l1-linear"},
                {"config": "judged", "a": "tfidf-l1-ngd", "b": "tfidf-l1-linear"},
            ],
        }
        for relation, metric in (("greater", "accuracy"), ("lower", "accuracy"), ("greater", "macro-f1"))
    ],
}


def drawn() -> Experiment:
    """A curve over training sizes, with parameters that are chosen, and a clock."""
    figures: list[dict[str, Any]] = [{"name": "errors", "y": "error"}, {"name": "clock", "y": "seconds"}]
    figures += [{"name": "both", "y": ["error", "macro-f1"], "bars": "range", "title": "Errors and F1"}]
    figures += [{"name": "spread", "y": "macro-f1", "bars": "2 standard deviations"}]
    figures += [{"name": kind, "y": {kind: ["rbf", "linear"]}} for kind in ("ratio", "difference")]
    return drawn_study(title="A curve", metrics=["error", "macro-f1"], figures=figures)


def topics() -> Experiment:
    """Documents of several classes, and each class by itself."""
    return small_experiment(
        **OF_SYNTHETIC,
        name="topics",
        title="Several classes",
        protocol={"name": "random-subsets", "train_size": [50, 100], "replicates": 6, "stratified": False},
        methods=["linear", "ngd"],
        metrics=["macro-f1", "micro-f1"],
        compare=[["ngd", "linear"]],
        per_class=True,
    )


def terms() -> Experiment:
    """A curve over numbers of terms, in two variants."""
    return small_experiment(
        **OF_SYNTHETIC,
        name="terms",
        title="Numbers of terms",
        protocol={"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
        terms={"number": [20, 50], "rank": "information-gain", "aggregate": "maximum"},
        methods=["mnb", "eef", "ppt"],
        compare=[["eef", "mnb"]],
        variants={"smart": {"text": {"stoplist": "smart"}}},
    )


def judged() -> Experiment:
    """A table beside what a paper printed and claimed."""
    return table_study(name="judged", title="Printed and claimed", paper="made2026", metrics=["accuracy", "macro-f1"])


STUDIES: dict[str, Callable[[], Experiment]] = {each.__name__: each for each in (drawn, topics, terms, judged)}


def terminal(summary: Summary, width: int, *, whole: bool) -> str:
    """What a terminal shows."""
    console = Console(width=width, file=io.StringIO())
    console.print(RunOnTerminal(summary, whole=whole))
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def parts_of(summary: Summary, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield what a summary makes a reader see, each with its title."""
    for name, columns in SUMMARY_TABLES.items():
        if len(frame := getattr(summary, name)):
            yield name, frame_csv(frame.head(3), columns)
    yield "curves", "\n".join(charts_csv(summary).splitlines()[:4])
    yield "terminal", terminal(summary, 100, whole=False)
    if whole:
        yield "page", page_words(page_html(summary, "a machine"))


@pytest.mark.parametrize("name", STUDIES)
def test_of_a_study_are_as_expected(name: str, publish: Callable[[dict[str, Any]], str]) -> None:
    publish(PAPER)
    experiment = STUDIES[name]()
    predictions = predicted(experiment, multilabel=name == "topics")
    summary = summarize(RunPredictions(experiment, predictions, {}, dict.fromkeys(experiment.variants, FACTS)))
    assert_expected(name, parts_of(summary, whole=name in ("judged", "drawn")))


def test_of_a_summary_with_failures_are_as_expected() -> None:
    summary = SUMMARIES["failing"]()
    parts = {"table.md": table_markdown(summary), "narrow terminal": terminal(summary, 64, whole=True)}
    assert_expected("failing", parts.items())
