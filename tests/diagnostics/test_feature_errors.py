"""Errors of features against closed forms: pairs worked out by hand, and documents of one word each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.diagnostics import FeatureErrors
from tests.diagnostics.computing import computed, counts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Documents of one word each, and how many pairs of different ones there are.
N, PAIRS = 400, 100_000
DISTINCT = N * (N - 1) / 2


def errors_of(counts: np.ndarray, *methods: Any, pairs: int = 100, **changes: Any) -> dict[str, Any]:
    """Return the errors of each method: root mean square, largest, and largest of a document with itself."""
    found = list[Any]()

    def once(content: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        found.append(compute())
        return found[-1]

    defaults = {"defaults": {"classifier": {"name": "linear-svm"}}, "methods": list(methods)}
    numbers = computed(FeatureErrors(pairs), counts_of(counts), once, **defaults | changes)
    labels = dict.fromkeys(row.cell for row in numbers.rows)
    return {label: arrays["errors"] for label, arrays in zip(labels, found, strict=True)}


def test_two_documents_by_hand() -> None:
    """(½, ½) and (1, 0).

    By one sample, 0.8 long, of a spectrum that is κ(0) there, features are √(0.8 κ(0) p): the χ² kernel's κ(0) is 1,
    and 0.8 √½ stands for 2 ½ / 1½ = 2/3; Jensen-Shannon's is 2 / log 4.
    """
    names = ["hellinger", {"name": "chi-squared", "samples": 1}, {"name": "jensen-shannon", "samples": 1}]
    found = errors_of(np.array([[3, 3], [5, 0]]), {"features": names})
    assert found["hellinger"] == pytest.approx([0, 0, 0], abs=1e-15)
    chi = 2 / 3 - 0.8 * math.sqrt(0.5)
    assert found["chi-squared-samples1"] == pytest.approx([chi, chi, 0.2])
    exact = (0.5 * math.log2(3) + math.log2(1.5)) / 2
    js = 1.6 / math.log(4)
    assert found["jensen-shannon-samples1"] == pytest.approx([js * math.sqrt(0.5) - exact] * 2 + [js - 1])


def test_a_document_with_itself_counts_wherever_it_stands() -> None:
    features = {"features": {"name": "arcsine", "n_components": 16}}
    counts = np.random.default_rng(0).integers(0, 5, (6, 12))
    own = [float(errors_of(counts[[row, row]], features)["arcsine-n_components16"][2]) for row in range(6)]
    assert len(set(own)) > 3
    assert errors_of(counts, features)["arcsine-n_components16"][2] == pytest.approx(max(own))


def sign(D: int) -> tuple[float, float]:
    """Second and fourth moments of the mean of D signs."""
    return 1 / D, (3 - 2 / D) / D**2


def arcsine(n: int) -> tuple[float, float]:
    """Those of ±1/6 and ±3/40, each where two words are hashed to one of n places by the sketch of its term."""
    a, b = 1 / 6, 3 / 40
    return (a**2 + b**2) / n, (a**4 + b**4) / n + 6 * a**2 * b**2 / n**2


@pytest.mark.parametrize(("name", "moments"), [("sign-projection", sign), ("arcsine", arcsine)])
def test_errors_of_random_features_fall_as_the_root_of_their_number(
    name: str, moments: Callable[[int], tuple[float, float]]
) -> None:
    """Documents without a word in common have a kernel of 0, and their pairs errors that are uncorrelated, squared too.

    So the mean square over pairs that are drawn has the relative variance (m₄ / m₂² - 1) (1 / drawn + 1 / distinct);
    it lies within four of its standard deviations.
    """
    numbers = (64, 256, 1024)
    found = errors_of(np.eye(N), {"features": {"name": name, "n_components": list(numbers)}}, pairs=PAIRS)
    for number in numbers:
        second, fourth = moments(number)
        sd = math.sqrt((fourth / second**2 - 1) * (1 / PAIRS + 1 / DISTINCT))
        root, largest, _ = found[f"{name}-n_components{number}"]
        assert abs(root**2 / second - 1) < 4 * sd < 1
        assert root <= largest


def test_what_has_a_choice_its_own_text_or_a_kernel_is_not_errors_of() -> None:
    own = {"text": {"min_occurrences": 2}, "features": "hellinger"}
    many = {"features": {"name": "chi-squared", "samples": [1, 2]}}
    found = errors_of(
        np.eye(3), "ngd", own, many, choose={"by": "cross-validation", "folds": 2, "grid_keys": ["features"]}
    )
    assert not found
