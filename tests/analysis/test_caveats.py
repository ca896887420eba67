"""What a configuration does that a reader must know is said wherever it does it, and nowhere else."""

from __future__ import annotations

import pytest

from benchmark.analysis.caveats import HARM, find_caveats
from tests.analysis.made import CLASSES
from tests.builders import small_experiment

FIXED = {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]}
DRAWS = {"name": "random-subsets", "train_size": [30, 60], "replicates": 3}


@pytest.fixture(name="names")
def naming():
    def of(**changes):
        corpus = {"name": "synthetic", "classes": CLASSES}
        base = {
            "name": "x",
            "corpus": corpus,
            "protocol": {"name": "k-fold", "k": 3},
            "methods": ["linear"],
            "text": {},
        }
        return [each.name for each in find_caveats(small_experiment(**base | changes))]

    return of


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"text": {"min_documents": 2}}, "pruning"),
        ({"text": {"min_occurrences": 2}}, "pruning"),
        ({"methods": ["linear", {"text": {"min_documents": 2}, "kernel": "ngd"}]}, "pruning"),
        ({"methods": [{"text": {"min_documents": [1, 2]}, "kernel": "ngd"}]}, "pruning"),
        ({"defaults": {"weighting": "tfidf", "idf": "collection"}}, "idf"),
        ({"tasks": [{"title": "A", "largest": 2}]}, "panels"),
        ({"protocol": DRAWS | {"stratified": True}}, "strata"),
        ({"protocol": DRAWS}, "replicates"),
        ({"protocol": FIXED}, "groups"),
        ({"tuned_to_published": [{"cells": "linear", "choice": "C 1", "to": "Table 1"}]}, "tuned"),
        (
            {
                "protocol": DRAWS,
                "methods": [{"kernel": {"name": "rbf", "sigma": [0.1, 1]}}],
                "choose": {"by": ["oracle", "cross-validation"], "folds": 3},
            },
            "chosen on the test",
        ),
    ],
)
def test_each_is_named_where_it_applies(names, changes, name):
    assert name in names(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"defaults": {"weighting": "tfidf", "idf": "training"}},
        {"tasks": [["course", "faculty"]]},
        {"methods": ["mnb"]},
        {"text": {"min_documents": 2, "min_occurrences": 2, "vocabulary_from": "misc"}},
    ],
)
def test_what_does_none_of_it_has_none(names, changes):
    assert names(**changes) == []


def test_shares_of_a_pool_without_the_tested_documents_are_no_caveat(names):
    assert names(protocol=DRAWS | {"stratified": True, "test": "texas"}) == ["replicates"]


def test_they_stand_in_the_order_of_the_harm_that_they_can_do(names):
    found = names(
        text={"min_documents": 2},
        defaults={"weighting": "tfidf", "idf": "collection"},
        protocol=DRAWS | {"stratified": True},
        methods=[{"kernel": {"name": "rbf", "sigma": [0.1, 1]}}, "linear"],
        choose={"by": ["oracle", "cross-validation"], "folds": 3},
        tuned_to_published=[{"cells": "linear-cv-30", "choice": "C 1", "to": "Table 1"}],
    )
    assert found == ["chosen on the test", "tuned", "strata", "replicates", "pruning", "idf"]
    assert HARM[:2] == ("near-duplicates", "shared groups")
    assert HARM[-2:] == ("pruning", "idf")
