"""A checked experiment comes back from plain data as it was, without its components' classes and its corpus."""

from __future__ import annotations

import json

import pytest

from benchmark.config.experiment_data import experiment_from_data, experiment_to_data
from benchmark.experiment.configuration import select_cells

FRAGMENTS = [
    "",
    (
        "protocol: {name: random-subsets, train_size: [20, 40], replicates: 2}\ngain: true\nper_class: true\nseed: 7\n"
        "terms: {number: [10, 20], aggregate: average}\nfigures: [{name: a, where: {task: x}, log_x: true}]\n"
    ),
    (
        "choose: {by: [oracle, cross-validation], folds: 2}\nmethods: [mnb, {kernel: {name: rbf, sigma: [1, 2]}}]\n"
        "tasks: [[course, student]]\nexpect: {documents: 600, vocabulary: 9}\nnotes: [one, two]\nmetrics: [error]\n"
    ),
    (
        "corpus: {name: synthetic, subset: several, exclude: [a]}\nmetrics: [macro-roc-auc]\n"
        "methods: [mnb, {kernel: ngd, threshold: at-least-one}, linear-svm, {fuse: [mnb, linear-svm], name: sum}]\n"
    ),
    (
        "methods: [{text: {characters: [3, 5]}, weighting: {name: aitchison, idf: 2}, kernel: ngd}]\n"
        "variants: {x: {text: {digits: token, ngrams: [1, 2]}}}\npaper: zhang2005\nreadings: {base: a, x: b}\n"
        "tuned_to_published: [{cells: '*', choice: a, to: b}]\ndiagnostics: [document-counts]\n"
    ),
    "methods: [ngd, linear, {fields: {all: 2}, kernel: ngd, name: x}]\ncompare: [[ngd, linear]]\nholm_within: [task]\n",
]


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_what_a_manifest_holds_is_the_experiment(checked, fragment):
    whole = checked(fragment)
    data = json.loads(json.dumps(experiment_to_data(whole)))
    assert not {"raw", "registries"} & data.keys()
    found = experiment_from_data(data, whole.raw)
    assert found == whole
    assert json.loads(json.dumps(experiment_to_data(found))) == data
    assert found.raw == whole.raw
    assert found.scorers == whole.scorers


def test_sets_are_lists_in_alphabetical_order_whatever_the_seed_of_hashes(checked):
    whole = checked("methods: [mnb, ngd, ned, linear, eef, rbf, polynomial, diffusion]\n")
    part = select_cells(whole, ["linear"])
    assert experiment_to_data(part)["left_out"] == sorted({*whole.ids} - {"linear"})
    assert experiment_from_data(experiment_to_data(part), part.raw).left_out == part.left_out


def test_what_is_no_experiment_of_this_version_is_refused_in_a_line(checked):
    data = json.loads(json.dumps(experiment_to_data(checked(""))))
    assert experiment_from_data(data | {"unknown": 1}, {}).name == "small"
    for wrong in ({}, data | {"seed": "x"}, {k: v for k, v in data.items() if k != "cells"}):
        with pytest.raises(ValueError, match=r"validation errors? for") as raised:
            experiment_from_data(wrong, {})
        assert "\n" not in str(raised.value)
