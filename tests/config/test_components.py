"""Components: named, checked against their constructors' types and ranges, built, and given back as plain data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from benchmark.classifiers import CLASSIFIERS, PARAMETER_LIMITS
from benchmark.config.components import (
    REQUIRED_PARAMETER,
    check_component,
    component_parameters,
    lists_by_nature,
    seed_parameters,
)
from benchmark.diagnostics import DIAGNOSTICS
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.kernels import KERNELS
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.errors import ConfigError
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Sequence

REGISTRIES = {"kernel": KERNELS, "classifier": CLASSIFIERS, "protocol": PROTOCOLS, "diagnostic": DIAGNOSTICS}
EVERY = [pytest.param(what, name, id=f"{what}-{name}") for what, registry in REGISTRIES.items() for name in registry]
#: A value for each parameter that has no default.
REQUIRED_VALUES = {"k": 5, "train_size": 100, "replicates": 3}


@dataclass
class Brewer:
    """A machine of this package."""

    tags: ClassVar[Tags] = Tags(set_by_run=("jobs",))

    cups: int
    heat: float = 90.0
    strong: bool = False
    label: str = "house"
    beans: Sequence[str] | None = None
    jobs: int = 1

    def __post_init__(self):
        if self.cups < 1:
            raise ConfigError(f"cups: {self.cups} is too few")

    def check(self):
        if self.heat > 100:
            msg = f"the parameter 'heat' is {self.heat}"
            raise ValueError(msg)


Brewer.__module__ = "benchmark.config"


class Open:
    def __init__(self, water: float = 1.0, **more: Any) -> None:
        self.water, self.more = water, more


WRONG: tuple[Any, ...] = (None, 3, ["brewer"], {}, {"cups": 2})
UNKNOWN = "unknown brewer parameter 'cup'; did you mean 'cups'? (allowed: cups, heat, strong, label, beans)"
TYPES = [
    ("cups", None, "empty", "a valid integer"), ("heat", float("nan"), "nan", "a finite number"),
    ("strong", 1, "1", "a valid boolean"), ("label", 7, "7", "a valid string: put it in quotes"),
]  # fmt: skip
MACHINES = {"brewer": Brewer, "open": Open}


def refusal(given, what="machine", registry=MACHINES):
    with pytest.raises(ConfigError) as caught:
        check_component(what, registry, given)
    return str(caught.value).removeprefix(f"{what}: ")


def test_what_is_resolved_has_defaults_and_what_was_given():
    component = check_component("machine", MACHINES, {"name": "brewer", "cups": 2, "heat": 80})
    assert component.given == {"cups": 2, "heat": 80}
    resolved = {"name": "brewer", "cups": 2, "heat": 80.0, "strong": False, "label": "house", "beans": None}
    assert component.resolved == resolved
    assert component.build(jobs=3) == Brewer(2, 80, jobs=3)
    other = check_component("machine", MACHINES, {"name": "open", "lid": "shut", "water": 2.0})
    assert (other.given, other.build().more) == ({"lid": "shut", "water": 2.0}, {"lid": "shut"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *((wrong, f"must be a name, or a mapping with a name and parameters, not {wrong!r}") for wrong in WRONG),
        ({"name": ["brewer"]}, "unknown machine ['brewer']; did you mean 'brewer'? (allowed: brewer, open)"),
        ({"name": "brewer", "cup": 1}, f"{UNKNOWN}\nmachine: the brewer parameter 'cups' is missing"),
        ({"name": "brewer", "cups": 1, "cup": 2}, UNKNOWN),
        ({"name": "brewer", "cups": 0}, "cups: 0 is too few"),
        ({"name": "brewer", "cups": 1, "heat": 101}, "the parameter 'heat' is 101.0"),
        *(
            ({"name": "brewer", "cups": 1, key: value}, f"{key} is {shown}: must be {must}")
            for key, value, shown, must in TYPES
        ),
        ({"name": "brewer", "cups": 1, "beans": ["a", 3]}, "beans.1 is 3: must be a valid string: put it in quotes"),
        ({"name": "open", "watr": 2.0}, "unknown open parameter 'watr'; did you mean 'water'?"),
    ],
)
def test_what_is_no_component_is_refused(given, message):
    assert refusal(given) == message


@pytest.mark.parametrize(("what", "name"), EVERY)
def test_every_component_is_built_again_from_its_plain_data_and_refuses_all_else(what, name):
    registry = REGISTRIES[what]
    parameters = component_parameters(registry[name])
    needed = [key for key, (_, default) in parameters.items() if default is REQUIRED_PARAMETER]
    given = {"name": name, **{key: REQUIRED_VALUES[key] for key in needed}}
    component = check_component(what, registry, given)
    assert type(component.build()) is registry[name]
    assert set(component.resolved) == {"name", *parameters}
    assert json.dumps(component.resolved, allow_nan=False)
    assert check_component(what, registry, component.resolved).resolved == component.resolved
    for key in parameters:
        assert refusal({**given, key: {"a": "b"}}, what, registry).startswith(f"{key} is {{'a': 'b'}}: ")
    assert refusal({**given, "colour": 1}, what, registry).startswith(f"unknown {name} parameter 'colour'")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_have_limits(name):
    for key in PARAMETER_LIMITS.keys() & component_parameters(CLASSIFIERS[name]):
        for value, factor in zip(PARAMETER_LIMITS[key], (0.1, 10), strict=True):
            assert check_component("classifier", CLASSIFIERS, {"name": name, key: value}).given == {key: value}
            message = refusal({"name": name, key: value * factor}, "classifier", CLASSIFIERS)
            assert message.startswith(f"{key} is {value * factor!r}: must be ")


@pytest.mark.parametrize(
    ("given", "takes"),
    [
        ("sklearn.tree.DecisionTreeClassifier", True),
        ({"name": "sklearn.tree.DecisionTreeClassifier", "max_depth": 3}, True),
        ({"name": "sklearn.tree.DecisionTreeClassifier", "random_state": None}, False),
        ("sklearn.naive_bayes.BernoulliNB", False),
        ("streamed-svm", False),
    ],
)
def test_a_library_gets_the_experiments_seed_unless_the_configuration_states_one(given, takes):
    component = check_component("classifier", BUILTIN_REGISTRIES.copied().classifiers, given)
    assert seed_parameters(component) == ["random_state"] * takes


def test_parameters_that_are_lists_by_nature():
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415

    assert "ngram_range" in lists_by_nature(CountVectorizer)
    assert "max_df" not in lists_by_nature(CountVectorizer)
    assert lists_by_nature(Brewer) == set()
