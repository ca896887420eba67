"""Kept models that somebody has edited, with digests that fit: refused in a line, or they still answer with numbers."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.model.test_schema import METHODS, NEEDS_OTHER_TEXTS, VALUES, check, edits, model, predicted  # noqa: F401
from tests.strategies import damaged_trees, one
from tests.trials.limits import examples, trial
from tests.trials.test_folders import as_json

if TYPE_CHECKING:
    from collections.abc import Callable

    Arrays = dict[str, np.ndarray[Any, Any]]

#: Keys of the description that a text of the trial need not fit.
FREE = {".".join(each[:1]) for each in NEEDS_OTHER_TEXTS} | {"files"}


def change_array(draw: Any, arrays: Arrays) -> str:
    """Change one of the arrays: in one of the ways of `edits`, in some of its values, or by another of the model."""
    key, other = one(draw, sorted(arrays)), one(draw, sorted(arrays))
    array = arrays[key]
    match one(draw, ("edit", "edit", "values", "order", "another's", "swap")):
        case "edit":
            what, arrays[key] = one(draw, list(edits(array)))
            return f"{key} {what}"
        case "values" if array.size and array.dtype.kind in "iuf":
            changed = array.copy()
            for _ in range(draw(st.integers(1, 3))):
                changed.flat[draw(st.integers(0, array.size - 1))] += one(draw, (1, 3, 7))
            arrays[key] = changed
            return f"{key} with other values"
        case "order" if array.ndim and len(array) > 1:
            arrays[key] = np.roll(array, draw(st.integers(1, len(array) - 1)), axis=0)
            return f"{key} rolled"
        case "another's":
            arrays[key] = arrays[other]
            return f"{key} is {other}"
    arrays[key], arrays[other] = arrays[other], arrays[key]
    return f"{key} and {other} exchanged"


@examples(1_500, 40)
@given(name=st.sampled_from(sorted(METHODS)), data=st.data())
@trial(60)
def test_an_edited_model_is_refused_or_answers(model: Callable[[str], Any], name: str, data: Any) -> None:  # noqa: F811
    about, arrays = model(name)
    changes = [change_array(data.draw, arrays) for _ in range(data.draw(st.integers(0, 2)))]
    if not changes:
        key = one(data.draw, sorted(about.keys() - FREE))
        changed = data.draw(damaged_trees({key: about[key]}, about, VALUES))
        rest = {other: each for other, each in about.items() if other != key}
        about = json.loads(as_json(rest | (changed if isinstance(changed, dict) else {key: changed})))
        changes = [f"the key {key}"]
    with tempfile.TemporaryDirectory() as folder:
        check(predicted(about, arrays, Path(folder)), Path(folder), f"{name}: {', '.join(changes)}")
