"""Names and numbers of a configuration are taken up to their limits."""

from __future__ import annotations

import pytest

DRAWS = "protocol:\n  name: random-subsets\n  stratified: false\n  replicates: 2\n"


@pytest.mark.parametrize("name", ["../../x", "/etc", '""', "..", '"a\\nb"', '"a/b"', "a" * 101, "-x", "~", "5", "[a]"])
def test_a_name_is_one_that_a_folder_can_have(refusal, name):
    assert refusal(f"name: {name} # HERE\n")
    assert refusal(f"protocol: k-fold\nfigures:\n  - name: {name} # HERE\n")
    assert refusal(f"extends: {name} # HERE\n")


def test_names_of_cells_have_a_hundred_letters_and_no_more(ids, refusal):
    for n, name in ((100, "a" * 100), (1, "0"), (5, "0.1-a")):
        assert len(name) == n
        assert ids(f"methods: [{{kernel: ngd, name: '{name}'}}]\nvariants: {{'{name}': {{}}}}\n") == [
            name,
            f"{name}-{name}",
        ]
    for name in ("a" * 101, "", "-a", ".a", "A", "a_b", "ä"):
        assert "a method's name is made of a-z" in refusal(f"methods:\n  - {{kernel: ngd, name: '{name}'}} # HERE\n")


@pytest.mark.parametrize(
    ("key", "good", "wrong"),
    [
        (
            "fields",
            ["{all: 1.0e-9}", "{all: 1.0e+9}", "{all: 3}"],
            ["{all: 0.9e-9}", "{all: 1.1e+9}", "{all: true}", "{all: .nan}"],
        ),
        ("dirichlet", ["0", "0.5", "1.0e+15"], ["-0.1", "1.1e+15", ".inf", "x", "false"]),
    ],
)
def test_weights_and_priors_are_taken_up_to_their_limits(ids, refusal, key, good, wrong):
    for value in good:
        assert ids(f"methods: {{kernel: ngd, {key}: {value}, name: x}}\n") == ["x"]
        assert ids(f"defaults: {{{key}: {value}}}\nmethods: ngd\n") == ["ngd"]
    for value in wrong:
        assert refusal(f"methods:\n  - kernel: ngd\n    {key}: {value} # HERE\n")
        assert refusal(f"defaults:\n  {key}: {value} # HERE\nmethods: ngd\n")


@pytest.mark.parametrize("value", ["-1", "true", ".nan", ".inf", "1.5", '"1"', "1e400", "2024-01-01"])
def test_a_number_of_documents_is_a_whole_one_that_is_not_negative(refusal, value):
    assert refusal(f"seed: {value} # HERE\n")
    assert refusal(f"text:\n  min_occurrences: {value} # HERE\n")
    assert refusal(f"expect:\n  documents: {value} # HERE\n")
    assert refusal(f"protocol:\n  name: k-fold\n  k: {value} # HERE\n")
    assert refusal(f"{DRAWS}  train_size: {value} # HERE\n")


@pytest.mark.parametrize("value", [".nan", ".inf", "-.inf", "1.0e+400", "true", "[.nan]", "[1.0, .inf]", "{a: 1}"])
def test_a_parameter_is_a_finite_number(refusal, value):
    assert refusal(f"methods:\n  - kernel: linear\n    classifier:\n      C: {value} # HERE\n")
