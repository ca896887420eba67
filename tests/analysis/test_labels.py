"""Labels of candidates: a choice at the end of its list is marked."""

import pytest

from benchmark.analysis.formatting.labels import candidate_label, grid_label
from benchmark.experiment.configuration import load_checked

MACHINES = """name: labels
corpus: {{name: synthetic}}
protocol: {{name: leave-one-group-out}}
methods: [{{name: a, {}}}]
choose: {{by: cross-validation}}
"""


@pytest.fixture
def entry(tmp_path):
    """Return a method with candidates."""

    def make(method):
        path = tmp_path / "labels.yaml"
        path.write_text(MACHINES.format(method))
        return next(iter(load_checked(path).variants.values())).entries[0]

    return make


@pytest.mark.parametrize(
    ("method", "grid", "labels"),
    [
        # Three numbers have two ends; their order in the list is of no matter.
        ("classifier: {name: mnb, smoothing: [1, 3, 0.1]}", "smoothing 1.0, 3.0, 0.1",
         ["smoothing 1.0", "smoothing 3.0 (largest)", "smoothing 0.1 (smallest)"]),
        # Of two, each would be an end.
        ("classifier: {name: mnb, smoothing: [1, 3]}", "smoothing 1.0, 3.0", ["smoothing 1.0", "smoothing 3.0"]),
        # null is all terms: nothing lies beyond.
        ("classifier: {name: eef, n_terms: [50, 100, null]}", "n_terms 50, 100, None",
         ["n_terms 50 (smallest)", "n_terms 100", "n_terms None"]),
        # Words have no ends.
        ("classifier: {name: divergence-bayes, centroid: [mean, skl, pooled]}", "centroid mean, skl, pooled",
         ["centroid mean", "centroid skl", "centroid pooled"]),
    ],
)  # fmt: skip
def test_the_ends_of_a_list_are_marked(entry, method, grid, labels):
    made = entry(method)
    assert grid_label(made) == grid
    assert [candidate_label(made, index) for index in range(len(made.candidates))] == labels


def test_several_lists_are_a_product(entry):
    machine = "classifier: {C: [1, 2, 3], scheme: [one-vs-one, one-vs-rest]}"
    made = entry(f"kernel: {{name: diffusion, t: [0.5, 2]}}, {machine}")
    assert grid_label(made) == "t 0.5, 2.0 × C 1.0, 2.0, 3.0 × scheme one-vs-one, one-vs-rest"
    assert candidate_label(made, 0) == "t 0.5, C 1.0 (smallest), scheme one-vs-one"
