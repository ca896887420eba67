"""A small experiment on the generated corpus, the real corpora, and an observer."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.config.experiment import check_experiment
from benchmark.corpora import registry, reuters
from benchmark.corpora.reuters import read_articles
from benchmark.evaluation.metrics import METRICS
from benchmark.evaluation.predictions import NO_INNER_FOLDS, TIMERS, SettingPredictions, tallies_from_rows
from benchmark.papers.load import published_papers
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.observer import Observer
from benchmark.system.yaml_source import Node

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import Experiment
    from benchmark.corpora.corpus import Corpus
    from benchmark.corpora.reuters import Article

SMALL: dict[str, Any] = {
    "name": "small",
    "corpus": {"name": "synthetic"},
    "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 5},
    "protocol": {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
    "methods": [{"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": ["linear", "ngd"]}],
}


class Notebook(Observer):
    """Observer that writes everything down; `at_step` is called with the number of each step."""

    def __init__(self) -> None:
        self.planned = 0
        self.steps, self.notes, self.details = list[str](), list[str](), list[str]()
        self.at_step: Callable[[int], Any] = lambda _: None

    def plan(self, steps: int, later: int = 0) -> None:
        self.planned += steps

    def step(self, done: str, *, stored: bool = False) -> None:
        self.steps.append(done)
        self.at_step(len(self.steps))

    def note(self, message: str) -> None:
        self.notes.append(message)

    def detail(self, text: str) -> None:
        self.details.append(text)


def small_experiment(**changes: Any) -> Experiment:
    """Make an experiment on the generated corpus; keywords replace sections of the configuration."""
    return check_experiment(Node.of_data(SMALL | changes, "test.yaml"), BUILTIN_REGISTRIES, published_papers())


def inner_counts(wrong: Sequence[int], k: int = 2, n: int = 10) -> NDArray[np.int64]:
    """Counts of inner folds by split: of n documents of the first class, so many were taken for the second."""
    rest = [0] * (k - 2)
    rows = [[n - each, 0, *rest, n - each, each, *rest, n, 0, *rest, n] for each in wrong]
    return np.array(rows, dtype=np.int64)


def inner_errors(setting: SettingPredictions) -> NDArray[np.float64]:
    """Errors on the inner folds of each split."""
    return METRICS["error"].of(tallies_from_rows(setting.inner))


def setting_of(
    predicted: Sequence[Any],
    tied: Sequence[Any] | None = None,
    *,
    seconds: Any = None,
    memory: Any = None,
    inner: Any = (),
) -> SettingPredictions:
    """Make the predictions of a setting from those of its splits; by default nothing ties, nor took any time."""
    labels, n = [np.asarray(each) for each in predicted], len(predicted)
    return SettingPredictions(
        np.concatenate([each if each.dtype == bool else each.astype(np.int16) for each in labels]),
        np.concatenate([np.zeros(each.shape, dtype=bool) for each in labels] if tied is None else list(tied)),
        tuple(map(len, labels)),
        np.zeros((n, len(TIMERS))) if seconds is None else np.asarray(seconds),
        np.full(n, np.nan) if memory is None else np.asarray(memory),
        np.asarray(inner, dtype=np.int64) if len(inner) else NO_INNER_FOLDS,
    )


def real_corpus(name: str, subset: str | None = None) -> Corpus:
    """Load a real corpus or a part of it, once; skip the test where it isn't on this machine."""
    if registry.find_corpus(name) is None:
        pytest.skip(f"the corpus {name} is not on this machine")
    return _loaded(name, registry.dataset_card(name, subset).kept)


@functools.cache
def _loaded(name: str, subset: str) -> Corpus:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reuters, "read_articles", _articles)  # which are those of every subset
        return registry.load_corpus(name, subset=subset)


@functools.cache
def _articles(content: bytes) -> list[Article]:
    return list(read_articles(content))
