"""Words of the six kinds of configuration that one experiment took the place of."""

from __future__ import annotations

import pytest
import yaml

from benchmark.boundaries.config import KIND
from benchmark.config.old_words import INSTEAD
from benchmark.config.schema import ExperimentSection

#: The keys of the kinds at the top of a file, as they were; those that still are have the same meaning.
OLD = {
    "table": "name kind title paper explains seed notes corpus text idf variants protocol classifier cells expect "
    "compare metrics",
    "learning-curves": "tasks sizes replicates smoothing kernels machine selection inner_folds test nested",
    "category-curves": "weighting normalization methods",
    "feature-curves": "split panels counts",
    "centroid-curves": "centroids prior length table flow",
}


def test_every_key_of_the_old_kinds_is_one_still_or_is_told_what_to_write_instead():
    keys = {key for words in OLD.values() for key in words.split()}
    assert keys - set(ExperimentSection.model_fields) == set(INSTEAD)


@pytest.mark.parametrize("key", INSTEAD)
def test_an_old_word_is_refused_with_its_line_and_what_to_write(refusal, key):
    assert refusal(f"text: {{}}\n{key}: x # HERE\n") == f"{key!r} is an old word: {INSTEAD[key]}"


def test_all_of_them_are_told_at_once_in_the_order_of_the_lines(refusal):
    message = refusal("sizes: [1] # HERE\nkind: table # HERE\ncells: [] # HERE\n")
    assert [line.split("'")[1] for line in message.splitlines()] == ["sizes", "kind", "cells"]


def test_the_one_kind_that_is_left_is_none_of_them():
    assert yaml.safe_load(f"kind: {KIND}")["kind"] == "decision-boundaries"
