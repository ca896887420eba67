"""Pictures of the documentation: which numbers they show."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from benchmark.commands.check import PINNED
from benchmark.evaluation.outcomes import score_over_splits
from benchmark.evaluation.public_test_sets import load_shipped
from benchmark.papers.load import load_published
from benchmark.papers.published import PUBLISHED_FOLDER
from benchmark.system.shipped_files import SHIPPED
from tests.builders import shipped_scores

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(name="pictures", scope="module")
def script() -> ModuleType:
    pytest.importorskip("altair")
    spec: Any = importlib.util.spec_from_file_location("pictures", SHIPPED / "docs" / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["20ng", "r8", "r52", "modapte-90"])
def test_the_overview_has_the_scores_of_the_shipped_predictions(name: str, pictures: ModuleType) -> None:
    shipped = load_shipped(name)
    config = f"simplex-{name.removesuffix('-90')}"
    scores = pictures.scores_of(config)
    for series, cell in ((pictures.UNROOTED, "unrooted"), (pictures.ROOTED, "simplex")):
        outcome = shipped_scores(shipped, f"{cell}-{pictures.CHOICES.get(config, 'cv')}").outcome
        assert outcome is not None
        value = 100 * score_over_splits(outcome, "micro-f1" if shipped.test_set.multilabel else "accuracy")
        assert scores[series][0] == pytest.approx(value)


def test_steps_add_up_and_have_the_pinned_scores(pictures: ModuleType) -> None:
    """The three steps of the geometry are its whole, and each is the difference of two pinned scores."""
    pinned = pd.read_csv(PINNED / "anatomy.csv").query("fold == 'all'").set_index("cell")["value"] * 100
    for cells in pictures.CORPORA.values():
        whole, *parts, rest = (pictures.gap_of(claim, cells, sign)["value"] for claim, sign in pictures.STEPS.values())
        assert whole == pytest.approx(sum(parts))
        assert whole == pytest.approx(pinned[f"{cells}l1-ngd"] - pinned[f"{cells}l2-linear-c2"])
        assert rest == pytest.approx(pinned[f"{cells}l1-ngd-one-vs-rest"] - pinned[f"{cells}l1-ngd"])


def test_the_highest_published_value_is_the_highest_that_is_listed(pictures: ModuleType) -> None:
    """A method that is not known to see the tested texts is not said to."""
    known = load_published(PUBLISHED_FOLDER / "reference-values.yaml")
    seen = [each for each in known.census if each.transductive and each.metric == "accuracy" and each.corpus == "20ng"]
    (highest, *_) = pictures.printed_of("simplex-20ng", "20ng")[pictures.HIGHEST]
    without_models = [each for each in seen if "BERT" not in each.method and "RoBERTa" not in each.method]
    assert highest >= max(float(each.value) for each in without_models)
    assert {each.method: each.name for each in known.reference_values}[
        "ECCNN"
    ] == "ECCNN, not known whether transductive"
