"""Configurations of centroid curves: what is refused before any work, and on which line."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.config import load_config
from benchmark.errors import ConfigError
from benchmark.evaluation.published import load_published

REPOSITORY = Path(__file__).parents[1]
pytestmark = pytest.mark.usefixtures("no_corpus_is_touched")
SMALL = {
    "kind": "kind: centroid-curves\n",
    "name": "name: small\n",
    "corpus": "corpus: {name: synthetic, classes: [faculty, course, student]}\n",
    "smoothing": "smoothing: 0.001\n",
    "sizes": "sizes: [20, 40]\n",
    "replicates": "replicates: 6\n",
}


@pytest.mark.parametrize(
    ("fragment", "message"),
    [
        ("smoothing: 0 # HERE\n", "smoothing"),
        ("smoothing: -0.1 # HERE\n", "smoothing"),
        ("smoothing: .nan # HERE\n", "smoothing"),
        ("smoothing: .inf # HERE\n", "smoothing"),
        ("centroids: [mean, skll] # HERE\n", "did you mean 'skl'"),
        ("centroids: [mean, mean] # HERE\n", "listed twice"),
        ("centroids: [] # HERE\n", "centroids"),
        ("prior: flat # HERE\n", "unknown prior 'flat'"),
        ("length: count # HERE\n", "did you mean 'counted'"),
        ("test: texass # HERE\n", "did you mean 'texas'"),
        ("sizes: [20, 9999] # HERE\n", "at most"),
        ("sizes: [1, 20] # HERE\n", "no training document"),
        ("sizes: [40, 20] # HERE\n", "ascending"),
        ("sizes: [20, 20] # HERE\n", "none twice"),
        ("sizes: [0] # HERE\n", "positive"),
        ("sizes: [] # HERE\n", "sizes"),
        ("sizes: [488] # HERE\n", "leave none to test of"),
        ("replicates: 1 # HERE\n", "replicates"),
        ("table: {centroids: [median]} # HERE\n", "unknown centroid 'median'"),
        ("table: {smoothing: [0, 1]} # HERE\n", "positive and ascending"),
        ("table: {smoothing: [1.0, 0.1]} # HERE\n", "positive and ascending"),
        ("table: {smoothing: [1.0, .inf]} # HERE\n", "positive and ascending"),
        ("table: {resamples: 1} # HERE\n", "resamples"),
        ("flow: {graphs: [paths]} # HERE\n", "did you mean 'path'"),
        ("flow: {graphs: [path, path]} # HERE\n", "listed twice"),
        ("flow: {tolerance: 0} # HERE\n", "tolerance"),
        ("compare:\n  - [mean, pooled] # HERE\n", "unknown centroid 'pooled'"),
        ("compare:\n  - [mean, mean] # HERE\n", "two different centroids"),
        ("variants: {base: {smoothing: 1.0}} # HERE\n", "a variant's name"),
        ("variants: {x: {smoothing: 0}} # HERE\n", "smoothing"),
        ("variants: {x: {prior: y}} # HERE\n", "unknown prior"),
        ("variants: {x: {length: y}} # HERE\n", "unknown length"),
        ("variants: {x: {test: y}} # HERE\n", "unknown group 'y'"),
        ("variants: {x: {corpus: {classes: [faculty, course]}}} # HERE\n", "the classes of its configuration"),
        ("variants: {x: {text: {digits: y}}} # HERE\n", "unknown digits"),
        ("variants: {x: {texts: {}}} # HERE\n", "unknown key 'texts'"),
        ("corpus: {name: reuters, classes: [coffee, sugar]} # HERE\n", "name a subset with one each"),
        ("corpus: {name: synthetic, classes: [coffee, course]} # HERE\n", "coffee"),
        ("kind: centroid-curve # HERE\n", "did you mean 'centroid-curves'"),
        ("paper: nobody1999 # HERE\n", "unknown paper"),
        ("machine: {C: 1} # HERE\n", "unknown key 'machine'"),
    ],
)
def test_is_refused_before_any_work(refusal_of, fragment, message):
    assert message in refusal_of(fragment)


def test_smoothing_must_be_given(write):
    path = write()
    path.write_text(path.read_text().replace("smoothing: 0.001\n", ""))
    with pytest.raises(ConfigError, match="the key 'smoothing' is missing"):
        load_config(path)


def test_cells_are_named_after_what_they_are(write):
    study = load_config(write("variants: {soft: {smoothing: 0.1}}\ncompare: [[skl, mean]]\n"))
    names = [cell.id for cell in study.cells]
    points, growths, tables = 4 * 2 * 2, 4 * 2, 3 * 3
    assert len(set(names)) == len(names) == 2 * (points + growths + tables)
    assert {"all-mean-20", "course-skl-40", "growth-all-skl", "table-pooled-student"} <= set(names)
    assert {"soft-faculty-skl-20", "soft-growth-course-mean", "soft-table-skl-course"} <= set(names)
    assert len(study.compare) == 2 * 4 * 2
    assert {name for pair in study.compare for name in pair} <= set(names)


class TestChen2018:
    @pytest.fixture(name="paper")
    def read(self):
        return load_published(REPOSITORY / "results" / "published" / "chen2018.yaml")

    def test_table_1_as_printed_beside_each_kind_of_centroid(self, paper):
        printed = {"coffee": "9.0348", "sugar": "8.9305", "trade": "6.2703", "ship": "9.1293", "crude": "7.3662"}
        printed |= {"interest": "7.4778", "money-fx": "6.9361"}
        expected = {f"table-{c}-{topic}": v for c in ("skl", "mean", "pooled") for topic, v in printed.items()}
        assert {value.cell: value.value for value in paper.values} == expected

    def test_all_it_speaks_of_is_in_the_configuration(self, paper):
        study = load_config(REPOSITORY / "configs" / "reuters-skl.yaml")
        ids = {cell.id for cell in study.cells}
        compared = [cell for claim in paper.claims for c in claim.comparisons for cell in (c.a, c.b)]
        assert {*compared, *(value.cell for value in paper.values)} <= ids

    def test_the_order_of_the_claims_is_the_printed_one(self, paper):
        printed = {value.cell: float(value.value) for value in paper.values}
        for claim in paper.claims:
            if claim.metric == "average-skl":
                for c in claim.comparisons:
                    above = printed[c.a] > printed[c.b]
                    assert above == (claim.relation == "greater"), (claim.id, c)
