"""Weights of a kept linear model, and factors of its terms, in single precision, which halves its file."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.classifiers.hyperplanes import Hyperplanes
from benchmark.methods.fitted import FittedHyperplanes, FittedPoints
from benchmark.model.fusion_model import FusionModel
from benchmark.model.text_model import TextModel
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.methods.fitted import FittedMethod
    from benchmark.model.base import KeptModel

#: Arrays of a trained method, by the end of their names, that single precision rounds.
ROUNDED = (".coef_", "/weights", "/factors_")


def in_single_precision(model: KeptModel, inputs: Sequence[Any]) -> KeptModel:
    """Return a model whose weights are rounded to 32 bits, or the model itself where that changes a label.

    Parameters
    ----------
    model : KeptModel
    inputs : sequence
        Counts of the training documents over all terms of their corpus: one matrix, or one for each method of a fusion.

    Raises
    ------
    ConfigError
        If the model has no hyperplanes.
    """
    if isinstance(model, FusionModel):
        rounded: KeptModel = replace(model, members=tuple(map(_rounded, model.members)), about=_said(model))
    elif isinstance(model, TextModel):
        rounded = _rounded(model)
    else:
        raise ConfigError("single precision is for linear methods of counts, and sums of them")
    return rounded if np.array_equal(labels_of_rows(model, inputs), labels_of_rows(rounded, inputs)) else model


def labels_of_rows(model: KeptModel, inputs: Sequence[Any]) -> NDArray[Any]:
    """Return the labels that a model predicts for documents whose counts, or texts, are given; see above."""
    if isinstance(model, FusionModel):
        values = [member.fitted.values_of_rows(own) for member, own in zip(model.members, inputs, strict=True)]
        return model.rule.given(model.rule.of(values))
    assert isinstance(model, TextModel)  # noqa: S101 - for the type checker
    (rows,), terms = inputs, model.fitted.learned.terms
    return model.fitted.given(model.fitted.values(rows if terms is None else rows[:, terms]))


def _rounded(model: TextModel) -> TextModel:
    return replace(model, fitted=_with_rounded_weights(model.fitted), about=_said(model))


def _said(model: KeptModel) -> dict[str, Any]:
    return model.about | {"precision": "single"}


def _with_rounded_weights(fitted: FittedMethod) -> FittedMethod:
    weighting = copy(fitted.learned.weighting)
    if weighting.factors_ is not None:
        weighting.factors_ = _round(weighting.factors_)
    learned = replace(fitted.learned, weighting=weighting)
    if isinstance(fitted, FittedHyperplanes):
        own = fitted.hyperplanes
        return replace(fitted, learned=learned, hyperplanes=Hyperplanes(_round(own.weights), own.offsets))
    if not isinstance(fitted, FittedPoints) or not all(
        "coef_" in getattr(model, "kept", ()) for model in fitted.models
    ):
        raise ConfigError("single precision is for linear methods, which have a weight for each term and class")
    arrays = fitted.arrays()
    return type(fitted).restored(
        learned, {name: _round(each) if name.endswith(ROUNDED[0]) else each for name, each in arrays.items()}
    )


def _round(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights.astype(np.float32).astype(np.float64)
