"""A kept fusion: decides as the run does after loading, and is refused where its folders don't go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.methods import wrappers as held_out
from benchmark.system.errors import ConfigError
from tests.model.studies import check_against_run, study_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.config.model import Experiment
    from benchmark.experiment.store import Store
    from benchmark.model.text_model import TextClassifier

    Fit = Callable[..., TextClassifier]

WORDS = {"name": "words", "weighting": "tfidf", "normalization": "l2", "classifier": "linear-svm"}
#: Other terms, and other texts of the documents: what stands in their headers, too.
PAIRS = {
    "name": "pairs",
    "classifier": "mnb",
    "text": {"ngrams": [1, 2], "skip_header": False, "stoplist": "smart", "min_occurrences": 60},
}
ROOTS = {"name": "roots", "features": "hellinger", "normalization": "l1", "classifier": "linear-svm"}
KERNEL = {"name": "kernel", "kernel": "ngd", "classifier": {"scheme": "one-vs-rest"}}
BOTH = {"fuse": ["words", "pairs"], "name": "both"}
DRAWS = {"name": "random-subsets", "train_size": [80], "replicates": 2, "test": "texas"}
CHOSEN = {"by": "cross-validation", "folds": 2}
LISTS = {"fuse": [["words", "pairs"], ["words", "roots"], ["words", "pairs", "roots"]], "name": "both"}


def fused(*more: Any, fuse: dict[str, Any] = BOTH, **changes: Any) -> Experiment:
    return study_of(WORDS, PAIRS, *more, fuse, **changes)


@pytest.fixture(autouse=True)
def _few_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the scales, which are the same in the run and in the model."""
    monkeypatch.setattr(held_out, "INNER_FOLDS", 3)


CONFIGURATIONS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "single": ((KERNEL,), {"fuse": {"fuse": ["kernel", "words", "pairs"], "weights": [0.5, 2, 1], "name": "both"}}),
    "two classes": (
        (KERNEL,),
        {"fuse": {"fuse": ["kernel", "words"], "name": "both"}, "classes": ["student", "faculty"]},
    ),
    "several": ((), {"subset": "several"}),
    "thresholds": (
        ({"name": "high", "classifier": "mnb", "threshold": "cross-validated"},),
        {"subset": "several", "fuse": {"fuse": ["words", "high"], "name": "both"}},
    ),
    "draws": ((), {"protocol": DRAWS}),
    "terms": ((), {"terms": {"number": 40}}),
    "vocabulary": ((), {"text": {"stoplist": "none", "min_occurrences": 20, "vocabulary_from": "training"}}),
    "chosen": ((ROOTS,), {"fuse": LISTS, "choose": CHOSEN}),
    "chosen of several": ((ROOTS,), {"fuse": LISTS, "choose": CHOSEN, "subset": "several"}),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_from_the_text_on_it_decides_as_in_the_run(name: str, loaded: Fit, store: Store) -> None:
    more, changes = CONFIGURATIONS[name]
    experiment = fused(*more, **changes)
    found = run_experiment(experiment, RunContext(store))
    assert check_against_run(found, loaded, texts_of(changes.get("subset")), ["both"])


def test_what_cannot_be_kept_is_named(fitted: Fit) -> None:
    method = {"kernel": "hp-top", "classifier": {"scheme": "one-vs-rest"}, "name": "theirs"}
    message = "a model of 'hp-top' can't be saved"
    with pytest.raises(ConfigError, match=f"^both: theirs: .*{message}") as caught:
        fitted(fused(method, fuse={"fuse": ["words", "theirs"], "name": "both"}), "both")
    assert "\n" not in str(caught.value)
