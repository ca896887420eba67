"""Numbers of which nothing can be computed are refused with their line; those at the edge of them aren't."""

from __future__ import annotations

import pytest

from benchmark.classifiers import CLASSIFIERS, PARAMETER_LIMITS
from benchmark.config.components import ComponentError, check_component
from benchmark.kernels import KERNELS
from benchmark.kernels.degenerate import degenerate_reason

REFUSED = [
    ("rbf", "sigma", 1e-200),  # its square is 0
    ("rbf", "sigma", 1e-160),  # its square divides to infinity
    ("rbf", "sigma", 1e10),
    ("rbf", "sigma", 1e200),
    ("sigmoid", "theta", 1e300),
    ("sigmoid", "kappa", 1e-300),
    ("polynomial", "degree", 10**22),
    ("polynomial", "c", 1e308),
    ("polynomial", "c", 1e20),
    ("ngd", "shift", 1e13),  # LIBSVM comes to no end on it
    ("ngd", "shift", -1e308),
    ("ngd-e", "t", 1e308),
    ("ngd-e", "t", 1e-308),
    ("diffusion", "t", 1e308),
    ("diffusion", "t", 1e-6),
    ("bhattacharyya", "ridge", 1e308),
    ("cpd-power", "beta", 1e-300),
]
ALLOWED = [
    ("rbf", "sigma", 1e-4),  # of points that sum to 1, which lie near each other
    ("rbf", "sigma", 1e7),
    ("sigmoid", "kappa", 1e300),
    ("sigmoid", "theta", -5.0),
    ("polynomial", "degree", 400),
    ("polynomial", "c", 1e8),
    ("ngd", "shift", 1e10),
    ("ngd-e", "t", 1e-3),
    ("diffusion", "t", 1e10),
    ("diffusion", "t", 1e-3),
    ("heat", "t", 1e-9),
    ("bhattacharyya", "ridge", 1e100),
    ("cpd-power", "beta", 1e-3),
]


@pytest.mark.parametrize(("name", "key", "value"), REFUSED)
def test_kernels_that_nothing_can_be_learned_from(name, key, value):
    with pytest.raises(ComponentError, match=rf"^{key} = .* makes .*: no classifier can learn from it$") as caught:
        check_component("kernel", KERNELS, {"name": name, key: value})
    assert caught.value.key == key


@pytest.mark.parametrize(("name", "key", "value"), ALLOWED)
def test_kernels_at_the_edge(name, key, value):
    assert check_component("kernel", KERNELS, {"name": name, key: value}).given == {key: value}


@pytest.mark.parametrize("name", [name for name, cls in KERNELS.items() if hasattr(cls, "from_products")])
def test_every_default_is_worth_something(name):
    assert degenerate_reason(KERNELS[name]()) == ""


def test_of_two_parameters_the_guilty_one_is_named():
    with pytest.raises(ComponentError) as caught:
        check_component("kernel", KERNELS, {"name": "polynomial", "c": 2.0, "degree": 10**22})
    assert caught.value.key == "degree"


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
        "methods:\n  - kernel:\n      name: rbf\n      sigma: 1.0e-200 # HERE\n",
        "methods:\n  - classifier:\n      name: mnb\n      smoothing: 1.0e+300 # HERE\n",
        "defaults:\n  C: 1.0e-300 # HERE\n",
        "defaults:\n  t: 1.0e+308 # HERE\nmethods: [diffusion]\n",
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
