"""Pictures of the documentation: which numbers they show."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.papers.load import load_published
from benchmark.papers.published import PUBLISHED_FOLDER
from benchmark.system.shipped_files import SHIPPED

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(name="pictures", scope="module")
def script() -> ModuleType:
    pytest.importorskip("altair")
    spec: Any = importlib.util.spec_from_file_location("pictures", SHIPPED / "docs" / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_overview_has_the_numbers_of_the_front_page(pictures: ModuleType) -> None:
    """Parts plain and parts with square roots: each number of a picture's row stands in the table's row."""
    table = (SHIPPED / "README.md").read_text(encoding="utf-8")
    rows = {"simplex-modapte": "ModApte-90, micro-F1", "simplex-r52": "Reuters R52", "simplex-20ng": "20NG by date"}
    for config, title in rows.items():
        line = re.search(rf"^\| {re.escape(title)} .*$", table, re.MULTILINE)
        assert line is not None
        scores = pictures.scores_of(config)
        for name in (pictures.PLAIN_PARTS, pictures.PARTS):
            assert f"{scores[name][0]:.2f}" in line[0], (config, name)


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
