"""Numbers with which no classifier can be trained are refused with their line; those at the edge of them aren't."""

from __future__ import annotations

import pytest

from benchmark.classifiers import CLASSIFIERS, PARAMETER_LIMITS
from benchmark.config.components import ComponentError, check_component


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_have_limits(name):
    for key, (low, high, why) in PARAMETER_LIMITS.items():
        for value in (low, high):
            if hasattr(CLASSIFIERS[name](), key):
                assert check_component("classifier", CLASSIFIERS, {"name": name, key: value}).given == {key: value}
        for value in (low / 10, high * 10):
            if hasattr(CLASSIFIERS[name](), key):
                with pytest.raises(ComponentError, match=f"^{key} must lie between .*: {why}$"):
                    check_component("classifier", CLASSIFIERS, {"name": name, key: value})


@pytest.mark.parametrize(
    "fragment",
    [
        "methods:\n  - classifier:\n      name: mnb\n      smoothing: 1.0e+300 # HERE\n",
        "defaults:\n  C: 1.0e-300 # HERE\n",
        "methods:\n  - {kernel: linear, classifier: {epsilon: 1.0e-300}} # HERE\n",
    ],
)
def test_the_line_is_named(refusal, fragment):
    assert refusal(fragment)


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ("[svm, {classifier: {name: svm, C: 1}}]", "the methods 'svm' and 'svm-c1' are the same"),
        ("[svm, {kernel: linear}]", "the methods 'svm' and 'linear' are the same"),
        (
            "[diffusion, {kernel: {name: diffusion, t: [0.1, 0.5]}}]",
            "the methods 'diffusion' and 'diffusion-t0.5' are the same",
        ),
        ("[{normalization: l2, kernel: linear}, linear]", "the methods 'l2-linear' and 'linear' are the same"),
        ("[{classifier: {C: [1, 1.0]}, kernel: linear}]", "the methods 'linear-c1' and 'linear-c1.0' are the same"),
    ],
)
def test_what_says_the_default_is_what_leaves_it_out(refusal, methods, said):
    told = refusal(f"methods: {methods} # HERE\n")
    assert said in told
    assert told.endswith("are the same: they differ only in keys that are set to their defaults")


def test_under_another_default_they_are_two(ids):
    assert ids("defaults: {classifier: {C: 10}}\nmethods: [svm, {classifier: {name: svm, C: 1}}]\n") == [
        "svm",
        "svm-c1",
    ]
