"""Weightings, features and the weights of fields, as a method's entry says them."""

from __future__ import annotations

import pytest

SEVERAL = "corpus: {name: synthetic, subset: several}\n"
HELLINGER = "defaults: {features: hellinger, classifier: linear-svm}\n"


class TestWords:
    @pytest.mark.parametrize(
        ("method", "names"),
        [
            ("{weighting: bm25, kernel: linear}", ["bm25-linear"]),
            ("{weighting: {name: bm25, k1: [1, 2]}, kernel: linear}", ["bm25-k11-linear", "bm25-k12-linear"]),
            (
                "{features: [hellinger, arcsine], classifier: linear-svm}",
                ["hellinger-linear-svm", "arcsine-linear-svm"],
            ),
            ("{weighting: [tf, {name: aitchison, power: 0.5}], kernel: ngd}", ["tf-ngd", "aitchison-power0.5-ngd"]),
            ("{fields: [{all: 1}, {all: 0.5}], kernel: ngd}", ["all-ngd", "allx0.5-ngd"]),
            ("{kernel: ngd, classifier: {ridge: [0, 0.5]}}", ["ngd-ridge0", "ngd-ridge0.5"]),
        ],
    )
    def test_are_those_of_the_entry(self, ids, method, names):
        assert ids(f"methods: [{method}]\n") == names

    def test_a_threshold_is_one(self, ids):
        assert ids(f"{SEVERAL}methods: [{{kernel: ngd, threshold: [zero, at-least-one]}}]\n") == [
            "ngd-threshold-zero",
            "ngd-threshold-at-least-one",
        ]

    def test_what_is_chosen_from_is_none(self, specs):
        grid = "{fields: [{all: 1}, {all: 2}], weighting: {name: aitchison, idf: [1, 2]}, kernel: ngd}"
        found = specs(f"choose: {{by: oracle, grid_keys: [fields]}}\nmethods: [{grid}]\n")
        assert {name: len(each) for name, each in found.items()} == {"aitchison-ngd": 4}


def rule_of(spec):
    return "zero" if spec.threshold is None else spec.threshold.name


class TestDefaults:
    def test_a_threshold_goes_to_methods_that_take_one(self, specs):
        methods = "[ngd, mnb, hp-top, {kernel: linear, threshold: zero}]"
        found = specs(
            f"{SEVERAL}defaults: {{threshold: cross-validated, mnb: {{threshold: at-least-one}}}}\nmethods: {methods}\n"
        )
        assert [rule_of(each[0]) for each in found.values()] == ["cross-validated", "at-least-one", "zero", "zero"]

    @pytest.mark.parametrize(
        ("defaults", "rule"),
        [
            ("{threshold: at-least-one}", "at-least-one"),
            ("{threshold: at-least-one, svm: {threshold: zero}}", "zero"),
            ("{ngd: {threshold: zero}, svm: {threshold: at-least-one}}", "zero"),
            ("{ngd: {threshold: at-least-one}, svm: {threshold: zero}, threshold: cross-validated}", "at-least-one"),
        ],
    )
    def test_the_threshold_of_a_kernel_goes_before_that_of_its_classifier(self, specs, defaults, rule):
        ((spec,),) = specs(f"{SEVERAL}defaults: {defaults}\nmethods: [ngd]\n").values()
        assert rule_of(spec) == rule

    def test_thresholds_are_candidates(self, specs):
        methods = "[{kernel: ngd, threshold: [zero, at-least-one]}]"
        found = specs(f"{SEVERAL}choose: {{by: oracle, grid_keys: [threshold]}}\nmethods: {methods}\n")
        assert [rule_of(each) for each in found["ngd"]] == ["zero", "at-least-one"]

    def test_features_go_to_methods_that_take_them(self, specs):
        found = specs(f"{HELLINGER}methods: [{{weighting: tf}}, ngd, mnb, divergence-bayes, logistic]\n")
        mapped = {name: each[0].representation.features is not None for name, each in found.items()}
        assert mapped == {"tf": True, "ngd": False, "mnb": False, "divergence-bayes": False, "logistic": True}
        assert found["logistic"][0].representation.normalization == "l1"

    def test_a_weighting_goes_to_all_but_those_that_see_counts(self, specs):
        methods = "[ngd, {kernel: {name: plsi-fisher, n_classes: [2]}}]"
        found = specs(f"defaults: {{weighting: {{name: bm25, b: 0.5}}}}\nmethods: {methods}\n")
        assert found["ngd"][0].representation.weighting.resolved == {"name": "bm25", "k1": 1.2, "b": 0.5}
        assert found["plsi-fisher"][0].representation.weighting.name == "tf"

    @pytest.mark.parametrize(
        ("weighting", "idf"), [("tf", "collection"), ("bm25", "collection"), ("tf-rf", "training")]
    )
    def test_labels_are_never_those_of_tested_documents(self, specs, weighting, idf):
        found = specs(f"defaults: {{idf: collection}}\nmethods: [{{weighting: {weighting}, kernel: linear}}]\n")
        ((spec,),) = found.values()
        assert spec.representation.idf == idf

    def test_what_learns_nothing_of_labels_is_known_by_its_parameters(self, specs):
        methods = "[{weighting: {name: aitchison, concentration: [0, 1]}, kernel: linear}]"
        found = specs(f"methods: {methods}\n")
        assert [each[0].representation.learns for each in found.values()] == ["documents", "labels"]


@pytest.mark.parametrize("weight", ["1.0e-9", "1.0e+9", "1", "0.5"])
def test_weights_of_fields_are_numbers_up_to_a_milliard(checked, weight):
    for place in (f"methods: [{{fields: {{all: {weight}}}, kernel: ngd, name: x}}]\n", None):
        found = checked(place or f"defaults: {{fields: {{all: {weight}}}}}\nmethods: [{{kernel: ngd, name: x}}]\n")
        (entry,) = found.variants["base"].entries
        assert entry.candidates[0].representation.fields == (("all", float(weight)),)
