"""Weights in single precision: half the file, and the labels of the training documents as they were."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.methods.fitted import FittedPoints
from benchmark.model.persistence import ARRAYS_FILE, read_model, write_model
from benchmark.model.precision import ROUNDED, in_single_precision
from benchmark.model.text_model import TextModel
from benchmark.system.errors import ConfigError
from tests.model.studies import TEXT, study_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.model.base import KeptModel

    Fit = Callable[..., KeptModel]

WORDS = {"name": "words", "weighting": "tfidf", "normalization": "l2", "classifier": "linear-svm"}
ROOTS = {"name": "roots", "features": "hellinger", "normalization": "l1", "classifier": "linear-svm"}
BOTH = {"fuse": ["words", "roots"], "scale": "hold-out", "name": "both"}
SEVERAL = {"subset": "several"}


@pytest.mark.parametrize("changes", [{}, SEVERAL, {"text": TEXT | {"vocabulary_from": "training"}}])
@pytest.mark.parametrize("cell", ["words", "both"])
def test_labels_stay_and_the_file_is_smaller(fitted: Fit, tmp_path: Path, cell: str, changes: dict[str, Any]) -> None:
    experiment = study_of(WORDS, ROOTS, BOTH, **changes)
    whole, single = fitted(experiment, cell), fitted(experiment, cell, single_precision=True)
    sizes = [write_model(model, tmp_path / name) for name, model in (("whole", whole), ("single", single))]
    assert sizes[1] < sizes[0]
    types = set[tuple[str, np.dtype[Any]]]()
    for kept in (tmp_path / "single").rglob(ARRAYS_FILE):
        with np.load(kept) as arrays:
            types |= {(name.rpartition(".")[2], arrays[name].dtype) for name in arrays if name.endswith(ROUNDED)}
    assert types == {("coef_", np.dtype(np.float32)), ("weighting/factors_", np.dtype(np.float32))}
    texts = list(texts_of(changes.get("subset")).values())
    read = read_model(tmp_path / "single")
    answers = [each.answer_batch(texts, 0) for each in (whole, single, read)]
    np.testing.assert_array_equal(answers[0].given, answers[1].given)
    np.testing.assert_allclose(answers[0].values, answers[1].values, rtol=1e-4, atol=1e-5)
    assert answers[1].values.tobytes() == answers[2].values.tobytes()
    assert not np.array_equal(answers[0].values, answers[1].values)


def test_where_a_label_would_change_the_weights_stay(fitted: Fit) -> None:
    model = fitted(study_of(WORDS), "words")
    assert isinstance(model, TextModel)
    assert isinstance(model.fitted, FittedPoints)
    (svm,) = model.fitted.models
    svm.coef_ = np.zeros_like(svm.coef_)
    svm.intercept_ = np.zeros_like(svm.intercept_)
    word = next(column for column, term in enumerate(model.vocabulary) if term.isalpha())
    svm.coef_[0, word], svm.coef_[1, word] = 1.0, 1.0 + 1e-9  # equal in 32 bits, where the first class wins
    counts = model.counts([b"Subject: none\n\n" + model.vocabulary[word].encode()])
    assert counts.indices.tolist() == [word]
    assert in_single_precision(model, [counts]) is model
    svm.coef_[1, word] = 1.5
    assert in_single_precision(model, [counts]).about["precision"] == "single"


def test_other_methods_have_no_weights_to_round(fitted: Fit) -> None:
    with pytest.raises(ConfigError, match="single precision is for linear methods"):
        fitted(study_of({"name": "kernel", "kernel": "ngd"}), "kernel", single_precision=True)


def test_a_description_without_it_is_of_double_precision(fitted: Fit, tmp_path: Path) -> None:
    model = fitted(study_of(WORDS), "words")
    write_model(model, tmp_path / "model")
    assert "precision" not in read_model(tmp_path / "model").about
    with np.load(tmp_path / "model" / ARRAYS_FILE) as arrays:
        assert arrays["fitted/0.coef_"].dtype == np.float64
    assert replace(model).about == model.about
