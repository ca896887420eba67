from __future__ import annotations

import inspect
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pytest

from benchmark.classifiers import CLASSIFIERS
from benchmark.config.components import (
    REQUIRED_PARAMETER,
    ComponentError,
    check_component,
    component_parameters,
    parameter_in_message,
    seed_parameters,
)
from benchmark.config.schema_errors import format_input
from benchmark.diagnostics import DIAGNOSTICS
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.kernels import KERNELS
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.errors import ConfigError
from benchmark.system.tags import Tags, tags_of

if TYPE_CHECKING:
    from collections.abc import Sequence

REGISTRIES = {"kernel": KERNELS, "classifier": CLASSIFIERS, "protocol": PROTOCOLS, "diagnostic": DIAGNOSTICS}
EVERY = [pytest.param(what, name, id=f"{what}-{name}") for what, registry in REGISTRIES.items() for name in registry]
#: A value for each parameter that has no default.
REQUIRED_VALUES = {"k": 5, "train_size": 100, "replicates": 3}


@dataclass
class Brewer:
    """A machine.

    Parameters
    ----------
    cups : int
    heat : float
    """

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
            msg = f"heat must not boil, at {self.heat}"
            raise ValueError(msg)


MACHINES = {"brewer": Brewer}


def refusal(given, registry=MACHINES):
    with pytest.raises(ComponentError) as caught:
        check_component("machine", registry, given)
    return caught.value.key, str(caught.value)


class TestCheck:
    def test_a_name_alone_stands_for_the_defaults(self):
        component = check_component("kernel", KERNELS, "rbf")
        assert (component.name, component.given) == ("rbf", {})
        assert component.resolved == {"name": "rbf", "sigma": 1.0}
        assert component.build().sigma == 1.0

    def test_what_is_resolved_holds_defaults_and_what_was_given(self):
        component = check_component("machine", MACHINES, {"name": "brewer", "cups": 2, "heat": 80})
        assert component.given == {"cups": 2, "heat": 80}
        assert component.resolved == {
            "name": "brewer",
            "cups": 2,
            "heat": 80.0,
            "strong": False,
            "label": "house",
            "beans": None,
        }
        assert component.build(jobs=3) == Brewer(2, 80, jobs=3)

    def test_what_the_run_sets_is_no_parameter(self):
        assert "jobs" not in component_parameters(Brewer)
        assert refusal({"name": "brewer", "cups": 1, "jobs": 2})[0] == "jobs"

    @pytest.mark.parametrize("given", [None, 3, True, ["brewer"], {}, {"cups": 2}])
    def test_it_must_be_a_name_or_a_mapping_with_one(self, given):
        key, message = refusal(given)
        assert key == ""
        assert message == f"a machine is a name, or a mapping with a name and parameters, not {given!r}"

    @pytest.mark.parametrize("name", ["brewr", ["brewer"], {"brewer": 1}])
    def test_an_unknown_name(self, name):
        key, message = refusal({"name": name})
        assert key == "name"
        assert message == f"unknown machine {name!r}; did you mean 'brewer'? (allowed: brewer)"
        assert refusal({"name": None})[1] == "unknown machine None (allowed: brewer)"

    def test_an_unknown_parameter(self):
        key, message = refusal({"name": "brewer", "cup": 1})
        assert key == "cup"
        words = "unknown parameter of the machine 'brewer': 'cup'; did you mean 'cups'?"
        assert message == f"{words} (allowed: cups, heat, strong, label, beans)"
        assert refusal({"name": "linear", "sigma": 1}, KERNELS)[1].endswith("'sigma' (allowed: no parameters)")
        assert refusal({"name": "brewer", 1: 1})[0] == 1

    def test_a_parameter_without_a_default_is_needed(self):
        assert refusal("brewer") == ("", "the machine 'brewer' needs the parameter 'cups'")
        assert refusal("k-fold", PROTOCOLS) == ("", "the machine 'k-fold' needs the parameter 'k'")

    @pytest.mark.parametrize(
        ("key", "value", "words"),
        [
            ("cups", "many", "cups is 'many': must be a whole number"),
            ("cups", True, "cups is True: must be a whole number"),
            ("cups", 2.5, "must be a whole number"),
            ("cups", None, "cups is empty: must be a whole number"),
            ("cups", [1, 2], "cups is [1, 2]: must be a whole number"),
            ("heat", "hot", "heat is 'hot': must be a number"),
            ("heat", True, "must be a number"),
            ("heat", float("nan"), "heat is nan: must be a finite number"),
            ("heat", float("inf"), "heat is inf: must be a finite number"),
            ("strong", "yes", "strong is 'yes': must be true or false"),
            ("strong", 1, "must be true or false"),
            ("label", 7, "label is 7: must be text: put it in quotes"),
            ("label", False, "must be text; YAML reads yes, no, on and off as true and false: put it in quotes"),
            ("label", ["a"], "label is ['a']: must be text"),
            ("label", None, "label is empty: must be text"),
            ("beans", "arabica", "beans is 'arabica': must be a list"),
            ("beans", 3, "beans is 3: must be a list"),
            ("beans", ["arabica", 3], "beans is ['arabica', 3]: must be text: put it in quotes"),
        ],
    )
    def test_a_wrong_type_is_told_in_words(self, key, value, words):
        where, message = refusal({"name": "brewer", "cups": 1, key: value})
        assert where == key
        assert message.endswith(words)
        assert "input" not in message
        assert "instance" not in message

    @pytest.mark.parametrize(
        ("registry", "given", "key"),
        [
            (MACHINES, {"name": "brewer", "cups": 0}, "cups"),
            (MACHINES, {"name": "brewer", "cups": 1, "heat": 101}, "heat"),
            (KERNELS, {"name": "rbf", "sigma": 0}, "sigma"),
            (KERNELS, {"name": "polynomial", "degree": 2, "c": -1}, "c"),
            (KERNELS, {"name": "diffusion", "t": 0.0}, "t"),
            (KERNELS, {"name": "probability-product", "rho": -1}, "rho"),
            (CLASSIFIERS, {"name": "svm", "C": 0}, "C"),
            (CLASSIFIERS, {"name": "svm", "C": 1, "scheme": "one-vs-two"}, "scheme"),
            (CLASSIFIERS, {"name": "svm", "C": 1, "epsilon": -1.0}, "epsilon"),
            (PROTOCOLS, {"name": "k-fold", "seed": 0, "k": 1}, "k"),
            (PROTOCOLS, {"name": "k-fold", "k": 2, "seed": -1}, "seed"),
            (PROTOCOLS, {"name": "random-subsets", "train_size": 10, "replicates": 0}, "replicates"),
            (PROTOCOLS, {"name": "leave-one-group-out", "held_out": []}, "held_out"),
        ],
    )
    def test_a_value_out_of_range_points_at_its_key(self, registry, given, key):
        where, message = refusal(given, registry)
        assert where == key
        assert str(given[key]) in message or not given[key]


def test_a_message_names_a_parameter_as_a_word():
    assert parameter_in_message("held_out: no group 'x'", {"test": 1, "held_out": ["x"]}) == "held_out"
    assert parameter_in_message("that can't be", {"t": 1, "a": 2}) == ""
    assert (format_input(None), format_input("a")) == ("empty", "'a'")


@pytest.mark.parametrize(("what", "name"), EVERY)
class TestEveryComponent:
    def given(self, what, name):
        needed = [
            key
            for key, (_, default) in component_parameters(REGISTRIES[what][name]).items()
            if default is REQUIRED_PARAMETER
        ]
        return {"name": name, **{key: REQUIRED_VALUES[key] for key in needed}}

    def test_is_built_and_resolved_to_plain_data(self, what, name):
        registry = REGISTRIES[what]
        component = check_component(what, registry, self.given(what, name))
        assert type(component.build()) is registry[name]
        assert set(component.resolved) == {"name", *component_parameters(registry[name])}
        plain = json.dumps(component.resolved, allow_nan=False)
        assert json.dumps(json.loads(plain)) == plain

    def test_is_built_again_from_what_is_resolved(self, what, name):
        component = check_component(what, REGISTRIES[what], self.given(what, name))
        again = check_component(what, REGISTRIES[what], component.resolved)
        assert again.resolved == component.resolved

    def test_documents_every_parameter(self, what, name):
        cls = REGISTRIES[what][name]
        documented = set()
        sections = (inspect.getdoc(cls) or "").split("Parameters\n----------\n")
        for line in sections[1].split("\n\n")[0].splitlines() if len(sections) > 1 else ():
            names = re.match(r"(\w+(?:, \w+)*)(?: : |$)", line)
            documented |= set(names[1].split(", ")) if names else set()
        assert documented - set(tags_of(cls).set_by_run) == set(component_parameters(cls))

    def test_parameters_are_annotated_with_types_that_are_checked(self, what, name):
        registry = REGISTRIES[what]
        for key in component_parameters(registry[name]):
            with pytest.raises(ComponentError) as caught:
                check_component(what, registry, {**self.given(what, name), key: {"a": "mapping"}})
            assert caught.value.key == key

    def test_refuses_what_it_does_not_know(self, what, name):
        with pytest.raises(ComponentError, match="unknown parameter") as caught:
            check_component(what, REGISTRIES[what], {**self.given(what, name), "colour": 1})
        assert caught.value.key == "colour"


TREE = "sklearn.tree.DecisionTreeClassifier"


@pytest.mark.parametrize(
    ("given", "takes"),
    [
        (TREE, True),
        ({"name": TREE, "max_depth": 3}, True),
        ({"name": TREE, "random_state": 0}, False),
        ({"name": TREE, "random_state": None}, False),
        ("sklearn.naive_bayes.BernoulliNB", False),
        ("linear-svm", False),
        ("streamed-svm", False),
    ],
)
def test_a_library_gets_the_experiments_seed_unless_the_configuration_states_one(given, takes):
    component = check_component("classifier", BUILTIN_REGISTRIES.copied().classifiers, given)
    assert seed_parameters(component) == ["random_state"] * takes
