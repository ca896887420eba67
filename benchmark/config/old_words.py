"""Words of configurations as they were written before all kinds became one, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.errors import together

if TYPE_CHECKING:
    from benchmark.source import YamlSource

#: By the key at the top of the file.
INSTEAD = {
    "kind": "every experiment on text is of one kind now: leave `kind` out, and name methods, protocol and terms",
    "cells": "write the list under `methods`; `variant` is no key of it, each variant has all methods",
    "idf": "write `defaults: {idf: …}`",
    "classifier": "write `defaults: {classifier: …}`",
    "sizes": "write `protocol: {name: random-subsets, train_size: […]}`, or `terms: {number: […]}` for selected terms",
    "replicates": "write `protocol: {name: random-subsets, replicates: …}`",
    "nested": "write `protocol: {name: random-subsets, nested: …}`",
    "test": "write `protocol: {name: random-subsets, test: …}`",
    "split": "write `protocol: {name: fixed-split, train: …, test: …}`",
    "kernels": "write them under `methods`: a name, or `{kernel: {name: …, t: […]}}`",
    "machine": "write `defaults: {classifier: {name: svm, …}}`; its `scale` is `unit` now",
    "selection": "write `choose: {by: […]}` for parameters, `terms: {over_classes: …}` for terms",
    "inner_folds": "write `choose: {folds: …}`",
    "panels": "write the list under `tasks`",
    "counts": "write `defaults: {weighting: binary}` for presence; tf counts",
    "smoothing": "write `defaults: {smoothing: …}`, or `{dirichlet: …}` for the points of a kernel",
    "weighting": "write `defaults: {weighting: …}`",
    "normalization": "write `defaults: {normalization: …}`",
    "centroids": "write `methods: [{classifier: {name: divergence-bayes, centroid: […]}}]`",
    "prior": "write `defaults: {classifier: {name: divergence-bayes, prior: …}}`",
    "length": "write `defaults: {classifier: {name: divergence-bayes, length: …}}`",
    "table": "write `measures: [{name: centroid-distances, …}]`",
    "flow": "write `measures: [{name: centroid-flow, …}]`",
}


def refuse_old_words(source: YamlSource) -> None:
    """Refuse keys of the old kinds, each with its line and what to write instead."""
    keys = [key for key in source.data if key in INSTEAD] if isinstance(source.data, dict) else []
    found = sorted(keys, key=lambda key: source.line((key,)))
    if found:
        raise together(source.error((key,), f"{key!r} is an old word: {INSTEAD[key]}") for key in found)
