"""Errors of features against closed forms: pairs worked out by hand, and documents of one word each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.config.experiment import check_experiment
from benchmark.config.model import BASE_VARIANT
from benchmark.diagnostics import FeatureErrors
from benchmark.diagnostics.base import DiagnosticContext
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.store import Store
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.yaml_source import Node
from benchmark.text.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmark.config.model import Variant

    Arrays = Mapping[str, np.ndarray]

CONFIG: dict[str, Any] = {
    "name": "features",
    "corpus": {"name": "synthetic"},
    "protocol": {"name": "leave-one-group-out", "held_out": ["cornell"]},
    "defaults": {"classifier": {"name": "linear-svm"}},
}
#: Documents of one word each, and how many pairs of different ones there are.
N, PAIRS = 400, 100_000
DISTINCT = N * (N - 1) / 2


def variant_of(*methods: Any, **changes: Any) -> Variant:
    data = CONFIG | {"methods": list(methods)} | changes
    return check_experiment(Node.of_data(data, "test.yaml"), BUILTIN_REGISTRIES).variants[BASE_VARIANT]


@pytest.fixture(scope="module", name="synthetic")
def fixture_synthetic(tmp_path_factory: pytest.TempPathFactory) -> Counts:
    store = Store(tmp_path_factory.mktemp("store"), limit=10**9)
    return read_counts(variant_of("ngd").collection, RunContext(store))[0]


@pytest.fixture(scope="module", name="measured")
def fixture_measured(synthetic: Counts) -> Callable[..., Arrays]:
    """Make what is measured of methods on documents with these counts."""

    def make(counts: np.ndarray, *methods: Any, pairs: int = 100, **changes: Any) -> Arrays:
        documents = synthetic.documents.take(np.arange(len(counts)))
        words = tuple(f"w{i}" for i in range(counts.shape[1]))
        own = Counts(documents, sp.csr_array(counts.astype(np.int32)), words)
        context = DiagnosticContext(own, variant_of(*methods, **changes), 0, 1, lambda _, compute: compute())
        return FeatureErrors(pairs).compute(context)

    return make


def test_two_documents_by_hand(measured: Callable[..., Arrays]) -> None:
    """(½, ½) and (1, 0).

    By one sample, 0.8 long, of a spectrum that is κ(0) there, features are √(0.8 κ(0) p): the χ² kernel's κ(0) is 1,
    and 0.8 √½ stands for 2 ½ / 1½ = 2/3; Jensen-Shannon's is 2 / log 4.
    """
    names = ["hellinger", {"name": "chi-squared", "samples": 1}, {"name": "jensen-shannon", "samples": 1}]
    found = measured(np.array([[3, 3], [5, 0]]), {"features": names})
    assert found["hellinger/errors"] == pytest.approx([0, 0, 0], abs=1e-15)
    chi = 2 / 3 - 0.8 * math.sqrt(0.5)
    assert found["chi-squared-samples1/errors"] == pytest.approx([chi, chi, 0.2])
    exact = (0.5 * math.log2(3) + math.log2(1.5)) / 2
    js = 1.6 / math.log(4)
    assert found["jensen-shannon-samples1/errors"] == pytest.approx([js * math.sqrt(0.5) - exact] * 2 + [js - 1])


def test_a_document_with_itself_counts_wherever_it_stands(measured: Callable[..., Arrays]) -> None:
    features = {"features": {"name": "arcsine", "n_components": 16}}
    counts = np.random.default_rng(0).integers(0, 5, (6, 12))
    own = [float(measured(counts[[row, row]], features)["arcsine-n_components16/errors"][2]) for row in range(6)]
    assert len(set(own)) > 3
    assert measured(counts, features)["arcsine-n_components16/errors"][2] == pytest.approx(max(own))


def sign(D: int) -> tuple[float, float]:
    """Second and fourth moments of the mean of D signs."""
    return 1 / D, (3 - 2 / D) / D**2


def arcsine(n: int) -> tuple[float, float]:
    """Those of ±1/6 and ±3/40, each where two words are hashed to one of n places by the sketch of its term."""
    a, b = 1 / 6, 3 / 40
    return (a**2 + b**2) / n, (a**4 + b**4) / n + 6 * a**2 * b**2 / n**2


@pytest.mark.parametrize(("name", "moments"), [("sign-projection", sign), ("arcsine", arcsine)])
def test_errors_of_random_features_fall_as_the_root_of_their_number(
    name: str, moments: Callable[[int], tuple[float, float]], measured: Callable[..., Arrays]
) -> None:
    """Documents without a word in common have a kernel of 0, and their pairs errors that are uncorrelated, squared too.

    So the mean square over pairs that are drawn has the relative variance (m₄ / m₂² - 1) (1 / drawn + 1 / distinct);
    it lies within four of its standard deviations.
    """
    numbers = (64, 256, 1024)
    found = measured(np.eye(N), {"features": {"name": name, "n_components": list(numbers)}}, pairs=PAIRS)
    for number in numbers:
        second, fourth = moments(number)
        sd = math.sqrt((fourth / second**2 - 1) * (1 / PAIRS + 1 / DISTINCT))
        root, largest, _ = found[f"{name}-n_components{number}/errors"]
        assert abs(root**2 / second - 1) < 4 * sd < 1
        assert root <= largest


def test_what_has_a_choice_its_own_text_or_a_kernel_is_not_measured(measured: Callable[..., Arrays]) -> None:
    own = {"text": {"min_occurrences": 2}, "features": "hellinger"}
    many = {"features": {"name": "chi-squared", "samples": [1, 2]}}
    found = measured(
        np.eye(3), "ngd", own, many, choose={"by": "cross-validation", "folds": 2, "grid_keys": ["features"]}
    )
    assert not found


def test_the_same_map_for_several_machines_is_measured_once(synthetic: Counts) -> None:
    variant = variant_of({"features": "hellinger", "classifier": {"C": [1, 2]}})
    asked: list[str] = []
    kept: dict[str, Any] = {}

    def once(content: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        asked.append(str(content))
        if asked[-1] not in kept:
            kept[asked[-1]] = compute()
        return kept[asked[-1]]

    found = FeatureErrors(10).compute(DiagnosticContext(synthetic, variant, 0, 1, once))
    assert len(asked) == 2
    assert len(kept) == 1
    assert {name.partition("/")[0] for name in found} == {"hellinger-c1", "hellinger-c2"}
