"""What a component says of itself: by `tags`, of which `stored` may stand alone."""

from __future__ import annotations

from typing import Any

import pytest

from benchmark.kernels import CpdPower, Linear, NegativeGeodesicDistance
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.tags import DEFAULT_TAGS, Tags, problem_with_tags, tags_of


def test_a_class_has_the_tags_of_its_base_unless_it_states_its_own() -> None:
    derived = type("Derived", (NegativeGeodesicDistance,), {})
    assert tags_of(derived) == tags_of(derived()) == NegativeGeodesicDistance.tags
    assert tags_of(type("Stated", (derived,), {"tags": Tags(takes_features=False)})) == Tags(takes_features=False)
    assert tags_of(type("Other", (), {"tags": {"of": "another library"}})) == tags_of(None) == DEFAULT_TAGS
    for stored in (True, False):
        assert tags_of(type("Mine", (Linear,), {"stored": stored})).stored is stored
    assert tags_of(CpdPower("ngd")).normalizations == ("l1",)
    assert tags_of(CpdPower("ned")).normalizations == tags_of(Linear).normalizations


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        (Tags(solved_by="me"), "its solved_by is 'me': must be one of values, points, scores, targets"),
        (Tags(normalizations=("l1", "max")), "its normalizations are ('l1', 'max'): must be some of none"),
        (Tags(normalizations=()), "its normalizations are (): must be some of none, l1, l2"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_and_nothing_is_of_a_shipped_component(tags: Any, words: str) -> None:
    assert problem_with_tags(type("Mine", (), {"tags": tags})).startswith(words)
    shipped = (each for kind, registry in BUILTIN_REGISTRIES.each() if kind != "metrics" for each in registry.values())
    assert set(map(problem_with_tags, shipped)) == {""}
