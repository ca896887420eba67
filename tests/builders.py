"""A small experiment on the generated corpus, and the real corpora."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.config.check import check_experiment
from benchmark.corpora import registry, reuters, sgml
from benchmark.plugins.gathering import SHIPPED
from benchmark.source import YamlSource

if TYPE_CHECKING:
    from benchmark.config.model import Experiment
    from benchmark.corpora.corpus import Corpus
    from benchmark.corpora.sgml import Article

SMALL: dict[str, Any] = {
    "name": "small",
    "corpus": {"name": "synthetic"},
    "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 5},
    "protocol": {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
    "methods": [{"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": ["linear", "ngd"]}],
}


def small_experiment(**changes: Any) -> Experiment:
    """Make an experiment on the generated corpus; keywords replace sections of the configuration."""
    return check_experiment(YamlSource("test.yaml", SMALL | changes), SHIPPED)


def real_corpus(name: str, subset: str | None = None) -> Corpus:
    """Load a real corpus or a part of it, once; skip the test where it isn't on this machine."""
    if registry.find(name) is None:
        pytest.skip(f"the corpus {name} is not on this machine")
    return _loaded(name, registry.card(name, subset).kept)


@functools.cache
def _loaded(name: str, subset: str) -> Corpus:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reuters, "read_articles", _articles)  # which are those of every subset
        return registry.load(name, subset=subset)


@functools.cache
def _articles(content: bytes, name: str) -> list[Article]:
    return list(sgml.read_articles(content, name))
