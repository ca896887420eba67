"""Small experiments on the generated corpus, and its documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.corpora import registry
from tests.builders import small_experiment

if TYPE_CHECKING:
    from benchmark.config.model import Experiment

TEXT = {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 100}


def texts_of(subset: str | None = None) -> dict[str, bytes]:
    """Read the documents of the generated corpus by their names."""
    corpus = registry.load_corpus("synthetic", subset=subset)
    return dict(zip(corpus.documents.ids, corpus, strict=True))


def study_of(*methods: Any, subset: str | None = None, classes: Any = None, **more: Any) -> Experiment:
    """Make an experiment on three classes; keywords replace sections of the configuration."""
    corpus = {"name": "synthetic", "subset": subset, "classes": classes or ["student", "course", "faculty"]}
    protocol = {"name": "leave-one-group-out", "held_out": ["texas"]}
    return small_experiment(**{"corpus": corpus, "text": TEXT, "protocol": protocol, "methods": list(methods)} | more)
