"""What a component says of itself: by `tags`, or by attributes of its own as plug-ins did before there were tags."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmark.kernels import CpdPower, Linear, NegativeGeodesicDistance
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.tags import DEFAULT_TAGS, SINGLE_TAGS, Tags, problem_with_tags, tags_of

KINDS = [(kind, name) for kind, registry in BUILTIN_REGISTRIES.each() if kind != "metrics" for name in registry]


class Silent:
    """Says nothing of itself."""


class Single:
    """Says it by attributes, in types that serve as well."""

    normalization = "l1"
    normalizations = ["l1"]  # noqa: RUF012
    set_by_run = "jobs"
    replicated = 3
    stored = 1


class OfKernel(NegativeGeodesicDistance):
    """Says something else than the class that it is derived from."""

    normalizations = ("none", "l1")


class Stated(OfKernel):
    """States all of its tags anew."""

    tags = Tags(stored=True)


class ByParameter:
    """Is defined for what a parameter says."""

    normalization = "l1"

    def __init__(self, of: str = "l1") -> None:
        self.of = of

    @property
    def normalizations(self) -> tuple[str, ...]:
        return (self.of,)


class Method:
    """Has a method of a tag's name."""

    def replicated(self) -> int:
        return 3


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_every_shipped_component_states_tags_alone(kind: str, name: str) -> None:
    component = getattr(BUILTIN_REGISTRIES, kind)[name]
    assert problem_with_tags(component) == ""
    stated = [key for each in component.__mro__ for key in SINGLE_TAGS if key in vars(each)]
    assert stated in ([], ["normalizations"])  # a property of kernels whose base is a parameter


def test_protocols_that_draw_say_so() -> None:
    assert {name for name, cls in BUILTIN_REGISTRIES.protocols.items() if tags_of(cls).replicated} == {
        "random-subsets",
        "hold-out",
    }


def test_attributes_are_read_as_tags() -> None:
    assert tags_of(Silent) == tags_of(Silent()) == tags_of(None) == DEFAULT_TAGS
    expected = Tags(normalization="l1", normalizations=("l1",), set_by_run=("jobs",), replicated=True, stored=True)
    assert tags_of(Single) == tags_of(Single()) == expected
    assert not problem_with_tags(Single)
    assert tags_of(Method) == DEFAULT_TAGS


def test_a_class_counts_before_its_base() -> None:
    assert tags_of(OfKernel) == replace(NegativeGeodesicDistance.tags, normalizations=("none", "l1"))
    assert tags_of(Stated) == Tags(stored=True)


def test_normalizations_may_depend_on_parameters() -> None:
    assert tags_of(ByParameter).normalizations == ("none", "l1", "l2")
    assert tags_of(ByParameter("l2")).normalizations == ("l2",)
    assert tags_of(CpdPower("ngd")).normalizations == ("l1",)
    assert tags_of(CpdPower("ned")).normalizations == tags_of(Linear).normalizations


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        (
            {"tags": {"normalization": "l1"}},
            "its `tags` are {'normalization': 'l1'}: must be a benchmark.system.tags.Tags",
        ),
        ({"tags": Tags(normalization="l3")}, "its normalization is 'l3': must be one of none, l1, l2"),
        ({"normalization": "l3"}, "its normalization is 'l3': must be one of none, l1, l2"),
        ({"normalization": ["l1"]}, "its normalization is ['l1']: must be text"),
        ({"tags": Tags(normalizations=("l1", "max"))}, "its normalizations are ('l1', 'max'): must be some of none"),
        ({"tags": Tags(normalizations=())}, "its normalizations are (): must be some of none, l1, l2"),
        ({"tags": Tags(stored="yes")}, "its stored is 'yes': must be True or False"),  # type: ignore[arg-type]
        ({"tags": Tags(set_by_run="jobs")}, "its set_by_run is 'jobs': must be a tuple of text"),  # type: ignore[arg-type]
        ({"set_by_run": (1,)}, "its set_by_run is (1,): must be a tuple of text"),
        ({"set_by_run": 5}, "its set_by_run is 5: must be a tuple of text"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(stated: dict[str, Any], words: str) -> None:
    assert problem_with_tags(type("Mine", (Silent,), stated)).startswith(words)


@pytest.mark.parametrize("labels", [{"mine": 3}, {3: "Mine"}, [("mine", "Mine")]])
def test_labels_are_text_by_text(labels: Any) -> None:
    wrong = type("Wrong", (), {"tags": Tags(labels=labels)})
    assert problem_with_tags(wrong) == f"its labels is {labels!r}: must be a dict of text, such as {{'mine': 'Mine'}}"
    assert problem_with_tags(type("Right", (), {"tags": Tags(labels={"mine": "Mine"})})) == ""
