"""A model that was trained on a split decides as the run does, from the text on; and what can't be a model says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.classifiers import CLASSIFIERS
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.kernels import KERNELS, Kernel
from benchmark.system.errors import ConfigError
from benchmark.system.tags import tags_of
from tests.model.studies import check_against_run, study_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.experiment.store import Store
    from benchmark.model.text_model import TextClassifier

    Fit = Callable[..., TextClassifier]

TEXT = {"skip_header": True, "skip_html": True, "stoplist": "smart", "min_occurrences": 20}
PARAMETERS: dict[str, dict[str, Any]] = {"polynomial": {"c": 1.0}}
NAMES = [name for name, cls in KERNELS.items() if issubclass(cls, Kernel)]
NAMES += [name for name, cls in CLASSIFIERS.items() if not tags_of(cls).needs_kernel]
METHODS = [
    {"kernel" if name in KERNELS else "classifier": {"name": name, **PARAMETERS.get(name, {})}} for name in NAMES
]
DRAWS = {"name": "random-subsets", "train_size": [80, 120], "replicates": 2, "test": "texas"}
TWO = ["student", "faculty"]
POLYNOMIAL = {"normalization": "none", "kernel": {"name": "polynomial", "c": 1.0}}
CHOSEN = {"by": ["oracle", "cross-validation"], "folds": 2}
C = [{"kernel": "ngd", "classifier": {"C": [1e-4, 0.1, 1]}}, {"classifier": {"name": "mnb", "smoothing": [0.01, 1]}}]


@pytest.fixture(scope="module", params=[None, "several"], ids=["single", "several"])
def every_method(request: pytest.FixtureRequest, store: Store) -> tuple[str | None, RunPredictions]:
    """A run of every method, under either weighting."""
    both = [{"weighting": weighting, **method} for method in METHODS for weighting in ("tf", "tfidf")]
    return request.param, run_experiment(study_of(*both, subset=request.param), RunContext(store))


@pytest.mark.parametrize("n", range(len(NAMES)), ids=NAMES)
def test_every_method_decides_as_in_the_run(
    n: int, every_method: tuple[str | None, RunPredictions], fitted: Fit
) -> None:
    subset, found = every_method
    own = [entry.label for entry in found.experiment.variants["base"].entries[2 * n : 2 * n + 2]]
    assert len(check_against_run(found, fitted, texts_of(subset), own)) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"protocol": DRAWS},
        {"protocol": DRAWS, "classes": TWO},
        {"protocol": DRAWS, "classes": TWO, "defaults": {"svm": {"C": 10, "scale_C": "mean-self-product"}}},
        {"protocol": {**DRAWS, "stratified": False}, "subset": "several"},
        {"protocol": {"name": "fixed-split", "train": "misc", "test": "texas"}, "terms": {"number": [30, 60]}},
        {"subset": "several", "terms": {"number": [30, 60]}},
        {"tasks": [["faculty", "course"], ["course", "student"]]},
        {"variants": {"other": {"text": {"min_occurrences": 50}}}},
        {"defaults": {"idf": "training", "weighting": "tfidf"}},
        {"text": TEXT | {"ngrams": [1, 2], "stemmer": "porter"}, "terms": {"number": [60]}},
        {"text": TEXT | {"min_occurrences": 4, "ngrams": [1, 2], "fields": ["title", "all"]}},
        {"text": TEXT | {"vocabulary_from": "training"}, "defaults": {"idf": "training", "weighting": "tfidf"}},
    ],
    ids=[
        "draws",
        "two classes",
        "unit",
        "several",
        "terms",
        "several terms",
        "tasks",
        "variants",
        "idf",
        "pairs of stems",
        "fields",
        "vocabulary",
    ],
)
def test_it_does_so_under_every_kind_of_configuration(changes: dict[str, Any], loaded: Fit, store: Store) -> None:
    experiment = study_of("linear", "diffusion", POLYNOMIAL, "mnb", "eef", {"classifier": "linear-svm"}, **changes)
    check_against_run(run_experiment(experiment, RunContext(store)), loaded, texts_of(changes.get("subset")))


@pytest.mark.parametrize("subset", [None, "several"], ids=["single", "several"])
def test_of_candidates_it_takes_the_one_that_the_run_does(subset: str | None, fitted: Fit, store: Store) -> None:
    protocol = {**DRAWS, "stratified": not subset}
    experiment = study_of(*C, subset=subset, choose=CHOSEN, protocol=protocol)
    check_against_run(run_experiment(experiment, RunContext(store)), fitted, texts_of(subset))
    model = fitted(experiment, experiment.ids[0], split="replicate-01")
    assert model.about["chosen"] == {"by": "oracle", "candidate": 2, "of": 3}


def test_of_candidates_for_all_documents_it_takes_that_of_cross_validation(fitted: Fit) -> None:
    experiment = study_of(*C, choose=CHOSEN)
    for cell in experiment.ids[:1]:
        model = fitted(experiment, cell)
        assert model.about["chosen"] == {"by": "cross-validation over all documents", "candidate": 2, "of": 3}


@pytest.mark.parametrize("jobs", [1, 3])
def test_threads_and_batches_decide_nothing(jobs: int, fitted: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    model, own = fitted(study_of("ngd"), split="texas"), list(texts_of(None).items())
    (names, whole), *_ = model.answers(own)
    assert names == tuple(name for name, _ in own)
    for limit, most in (("PREDICTION_BATCH", 7), ("TEXT_CHUNK_BYTES", 2000)):
        with monkeypatch.context() as patched:
            patched.setattr(f"benchmark.model.text_model.{limit}", most)
            model.jobs = jobs
            parts = list(model.answers(own))
        assert len(parts) > 50
        assert [name for names, _ in parts for name in names] == list(names)
        np.testing.assert_array_equal(np.concatenate([each.predicted for _, each in parts]), whole.predicted)
        np.testing.assert_allclose(np.concatenate([each.values for _, each in parts]), whole.values, atol=1e-12)


REFUSED = [
    ({}, "nothing", {}, "unknown cell 'nothing'"),
    ({}, "ngd", {"split": "texsa"}, "unknown split 'texsa'; did you mean 'texas'"),
    ({"protocol": DRAWS}, "ngd-80", {}, "has 80 training documents: choose them by --split"),
    ({}, "hp-top", {"split": "texas"}, "hp-top: a model with the kernel 'hp-top' can't be saved"),
]


@pytest.mark.parametrize(("changes", "cell", "options", "message"), REFUSED)
def test_what_can_not_be_a_model_says_why(
    changes: dict[str, Any], cell: str, options: dict[str, Any], message: str, fitted: Fit
) -> None:
    with pytest.raises(ConfigError, match=message):
        fitted(study_of("ngd", "hp-top", **changes), cell, **options)
