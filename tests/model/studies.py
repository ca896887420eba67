"""Small experiments on the generated corpus, and its documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.corpora import registry
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Experiment
    from benchmark.model.text_model import TextClassifier

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


def check_against_run(
    found: RunPredictions, fit: Callable[..., TextClassifier], texts: dict[str, bytes], methods: Collection[str] = ()
) -> set[str]:
    """Check what models decide from the tested documents' text: every cell on every split, or those of some methods."""
    experiment, done = found.experiment, set()
    assert not found.failures
    for cell in (each for each in experiment.cells if not methods or each.method in methods):
        documents = found.predictions.tasks[cell.variant, cell.task]
        splits = found.predictions.splits[cell.variant, cell.task, cell.size]
        for number, split in enumerate(splits):
            index = int(found.scored.chosen[cell.id][number])
            place = (cell.variant, cell.task, cell.method, index, cell.size, cell.terms)
            expected = found.predictions.settings[place].by_split[number]
            model = fit(experiment, cell.id, split=split.name)
            assert model.classes == documents.classes
            names = [documents.ids[row] for row in split.test]
            answers = [each for _, each in model.answers([(name, texts[name]) for name in names])]
            np.testing.assert_array_equal(np.concatenate([each.predicted for each in answers]), expected)
            done.add(cell.id)
    return done


def words_of(model: TextClassifier) -> tuple[str, ...]:
    """Return the vocabulary of a model with one part."""
    (view,) = model.views
    return view.vocabulary or ()
