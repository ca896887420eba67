"""What a configuration stands for is counted before it is made: too much is refused with its number, at its list."""

from __future__ import annotations

import time

import pytest

from benchmark.system.errors import ConfigError

DRAWS = "protocol:\n  name: random-subsets\n  stratified: false\n  replicates: 2\n"


def numbers(n: int, first: int = 1, end: str = "") -> str:
    """A list of different numbers; ``.5`` makes them fractions."""
    return f"[{', '.join(f'{first + index}{end}' for index in range(n))}]"


def machines(n: int, c: int) -> str:
    """An entry of n × c methods; the list of n has a line of its own."""
    kernel = f"kernel:\n      name: diffusion\n      t: {numbers(n, end='.5')} # HERE\n"
    return f"methods:\n  - {kernel}    classifier: {{C: {numbers(c, end='.5')}}}\n"


@pytest.mark.parametrize(
    ("fragment", "words"),
    [
        (machines(3000, 2999), "8,997,000 methods or candidates"),
        (machines(400, 300) + "choose: {by: [oracle]}\n", "120,000 methods or candidates"),
        (
            (
                "methods:\n  - kernel:\n      name: polynomial\n      degree: [1, 2]\n"
                f"      c: {numbers(4000, end='.5')} # HERE\n    classifier: {{C: {numbers(20, end='.5')}}}\n"
            ),
            "160,000 methods or candidates",
        ),
        (
            DRAWS.replace("replicates: 2", "replicates: 10000000 # HERE") + "  train_size: [50, 60]\n",
            "20,000,000 splits (tasks × training sizes × replicates × folds)",
        ),
        (DRAWS.replace("replicates: 2", "replicates: 100001 # HERE") + "  train_size: 50\n", "100,001 splits"),
        ("protocol:\n  name: k-fold\n  k: 100000000000000 # HERE\n", "100,000,000,000,000 splits"),
        (
            (
                f"{DRAWS}  train_size: 50\nmethods: [{{kernel: ngd, classifier: {{C: [1.0, 2.0]}}}}]\n"
                "choose:\n  by: [cross-validation]\n  folds: 100000 # HERE\n"
            ),
            "200,000 splits",
        ),
        ("corpus: {name: 20ng}\nprotocol:\n  name: k-fold\n  k: 18000 # HERE\n", "339,228,000 documents in all splits"),
    ],
)
def test_too_much_is_refused_with_its_number_at_the_list_that_makes_most_of_it(refusal, fragment, words):
    start = time.process_time()
    assert refusal(fragment).startswith(f"this comes to {words}")
    assert time.process_time() - start < 1


@pytest.mark.parametrize(("held_out", "rows"), [("", "144,000,000"), (", held_out: [g1, g2]", "")])
def test_groups_that_are_left_out_are_counted(written, read, held_out, rows):
    """Each is a split, unless fewer are named; and so it is with each task and size."""
    path = written(
        f"corpus: {{name: files, path: t.csv, group: who}}\nprotocol: {{name: leave-one-group-out{held_out}}}\n"
    )
    (path.parent / "t.csv").write_text("text,label,who\n" + "".join(f"a,{'xy'[n % 2]},g{n}\n" for n in range(12_000)))
    if not rows:
        assert read(path).cells
        return
    with pytest.raises(ConfigError, match=rf"comes to {rows} documents in all splits together \(12,000 splits\)"):
        read(path)


def test_points_are_counted_over_all_axes(refusal):
    methods = f"methods: [{{kernel: linear, classifier: {{C: {numbers(12, end='.5')}}}}}]\n"
    terms = f"terms:\n  number: {numbers(9000)} # HERE\n"
    assert refusal(methods + terms).startswith("this comes to 108,000 points (tasks × methods or candidates × ")
    sizes = f"{DRAWS}  train_size: {numbers(300, 100)} # HERE\nterms: {{number: {numbers(200)}}}\n"
    assert refusal(sizes).startswith("this comes to 120,000 points")


def test_variants_are_counted_together(refusal):
    variants = "".join(f"  v{n}: {{text: {{min_occurrences: {n}}}}}\n" for n in range(1, 60))
    fragment = f"terms:\n  number: {numbers(1000)} # HERE\nvariants:\n{variants}"
    assert "points" in refusal(fragment.replace(" # HERE", "").replace("variants:", "variants: # HERE"))


def test_cells_of_each_class_are_counted(refusal):
    corpus = "corpus: {name: reuters}\nprotocol: fixed-split\nper_class: true\n"
    assert "cells" in refusal(f"{corpus}terms:\n  number: {numbers(4000)} # HERE\n")


def test_comparisons_are_counted(refusal):
    terms = f"terms: {{number: {numbers(3000)}}}\n"
    names = ["linear", "ngd", "ned", "rbf", "diffusion", "sigmoid", "polynomial", "heat", "bhattacharyya"]
    pairs = ", ".join(f"[{a}, {b}]" for a in names for b in names if a < b)
    fragment = f"{terms}methods: [{', '.join(names)}]\ncompare: [{pairs}] # HERE\n"
    assert refusal(fragment).startswith("this comes to 108,000 comparisons")


def test_as_much_as_may_be_is_not_refused(ids):
    assert len(ids(f"terms: {{number: {numbers(2000)}}}\n")) == 4000
    assert len(ids("protocol: {name: random-subsets, train_size: 50, replicates: 100000}\n")) == 2


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


def test_files_extend_each_other_ten_deep_and_no_deeper(tmp_path, read):
    (tmp_path / "f0.yaml").write_text(
        "name: f0\ncorpus: {name: synthetic}\nprotocol: leave-one-group-out\nmethods: ngd\n"
    )
    for n in range(1, 12):
        (tmp_path / f"f{n}.yaml").write_text(f"extends: f{n - 1}\nname: f{n}\n")
    assert read(tmp_path / "f10.yaml").name == "f10"
    with pytest.raises(ConfigError, match=r"f1\.yaml:1: extends: f0 is the 11th file in a row"):
        read(tmp_path / "f11.yaml")


def test_a_pattern_of_stars_is_tried_in_no_time(refusal):
    start = time.process_time()
    pattern = "*a" * 99 + "!"
    tuned = f"tuned_to_published:\n  - cells: '{pattern}'"
    fragment = f"methods: [{{kernel: {{name: rbf, sigma: {numbers(500, end='.5')}}}}}]\n{tuned}"
    assert refusal(f"{fragment} # HERE\n    choice: x\n    to: y\n").startswith("unknown cell")
    assert time.process_time() - start < 2
