"""Keys name results by all that decides them and by nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import benchmark
from benchmark.config import BASE, expected_documents
from benchmark.corpora import card as cards
from benchmark.experiment import plan
from benchmark.experiment.plan import bases, code_digest, counts_key
from benchmark.text.counts import Counts

CELL = {"weighting": "tfidf", "normalization": "l1", "kernel": "ngd"}
POLYNOMIAL = {"name": "polynomial", "degree": 3}


def planned(experiment, variant=BASE, fingerprint="source"):
    """The bases of a variant, over the documents that its corpus's card promises."""
    this = experiment.variants[variant]
    documents = expected_documents(this)
    counts = Counts(documents, sp.csr_array((len(documents), 1)), ("word",))
    splits = experiment.protocol.build().splits(documents)
    return bases(experiment, this, counts, counts_key(this, fingerprint), splits)


def keys(experiment, variant=BASE, fingerprint="source"):
    """Keys of the counts, of the matrices, and of the predictions."""
    found = planned(experiment, variant, fingerprint)
    return (
        counts_key(experiment.variants[variant], fingerprint),
        sorted(base.key for base in found),
        sorted(task.key for base in found for task in base.tasks),
    )


@pytest.fixture
def reference(configured):
    return keys(configured(cells=[CELL]))


TEXT = {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 5}
CLASSES = ["course", "faculty", "project", "student"]
DOCUMENT = "course/misc/http:^^www.misc.example^course^000.html"
#: What makes other counts, and so everything after them other.
OTHER_COUNTS = {
    "class order": {"corpus": {"name": "synthetic", "classes": CLASSES[::-1]}},
    "classes": {"corpus": {"name": "synthetic", "classes": CLASSES[1:]}},
    "excluded documents": {"corpus": {"name": "synthetic", "exclude": [DOCUMENT]}},
    "header": {"text": TEXT | {"skip_header": False}},
    "html": {"text": TEXT | {"skip_html": False}},
    "digits": {"text": TEXT | {"digits": "run-length"}},
    "stoplist": {"text": TEXT | {"stoplist": "smart"}},
    "pruning by occurrences": {"text": TEXT | {"min_occurrences": 6}},
    "pruning by documents": {"text": TEXT | {"min_documents": 2}},
}


@pytest.mark.parametrize("changes", OTHER_COUNTS.values(), ids=OTHER_COUNTS)
def test_other_counts_change_every_key(configured, reference, changes):
    other = keys(configured(cells=[CELL], **changes))
    assert other[0] != reference[0]
    assert not set(other[1]) & set(reference[1])
    assert not set(other[2]) & set(reference[2])


def test_another_source_changes_every_key(configured, reference):
    other = keys(configured(cells=[CELL]), fingerprint="another")
    assert other[0] != reference[0]
    assert not {*other[1], *other[2]} & {*reference[1], *reference[2]}


def test_other_promises_of_the_dataset_card_change_every_key(configured, reference, tmp_path, monkeypatch):
    """The corpus must then pass the gate anew."""
    folder = tmp_path / "datasets"
    shutil.copytree(cards.CARDS, folder, ignore=shutil.ignore_patterns("[!s]*"))
    text = (folder / "synthetic.yaml").read_text()
    assert "cornell: 14, misc: 72" in text
    (folder / "synthetic.yaml").write_text(text.replace("cornell: 14, misc: 72", "cornell: 15, misc: 71"))
    experiment = configured(cells=[CELL])
    monkeypatch.setattr(cards, "CARDS", folder)
    assert counts_key(experiment.variants[BASE], "source") != reference[0]
    (folder / "synthetic.yaml").write_text(text.replace("licence: ", "licence: Surely. "))
    assert counts_key(experiment.variants[BASE], "source") == reference[0]


#: What makes other inner products of the same counts.
OTHER_PRODUCTS = {
    "weighting": {"cells": [CELL | {"weighting": "tf"}]},
    "idf source": {"cells": [CELL], "idf": "training"},
    "embedding": {"cells": [CELL | {"kernel": "linear"}]},
    "training documents": {"cells": [CELL], "protocol": {"name": "fixed-split", "train": "misc", "test": "texas"}},
}


@pytest.mark.parametrize("changes", OTHER_PRODUCTS.values(), ids=OTHER_PRODUCTS)
def test_other_inner_products_keep_the_counts(configured, reference, changes):
    other = keys(configured(**changes))
    assert other[0] == reference[0]
    assert not set(other[1]) & set(reference[1])
    assert not set(other[2]) & set(reference[2])


#: Pairs of cells that share their inner products, but not their predictions.
SHARED = {
    "kernel": ({"kernel": "ngd"}, {"kernel": "bhattacharyya"}),
    "kernel parameter": ({"kernel": {"name": "ngd-e", "t": 0.5}}, {"kernel": {"name": "ngd-e", "t": 0.25}}),
    "another parameter": ({"kernel": POLYNOMIAL | {"c": 0.5}}, {"kernel": POLYNOMIAL | {"c": 0.25}}),
    "normalization": ({"kernel": "linear"}, {"kernel": "linear", "normalization": "l2"}),
    "C": ({"classifier": {"C": 1.0}}, {"classifier": {"C": 10.0}}),
    "epsilon": ({"classifier": {"epsilon": 0.001}}, {"classifier": {"epsilon": 0.01}}),
    "scheme": ({"classifier": {"scheme": "one-vs-one"}}, {"classifier": {"scheme": "one-vs-rest"}}),
}


@pytest.mark.parametrize(("one", "other"), SHARED.values(), ids=SHARED)
def test_other_predictions_share_their_inner_products(configured, one, other):
    a, b = (keys(configured(cells=[CELL | each])) for each in (one, other))
    assert a[:2] == b[:2]
    assert not set(a[2]) & set(b[2])


@pytest.mark.parametrize("protocol", [{"k": 3, "seed": 1}, {"k": 3, "stratified": False}, {"k": 4}])
def test_other_folds_are_other_predictions(configured, protocol):
    given = {"name": "k-fold", "k": 3}
    a, b = (keys(configured(cells=[CELL], protocol=each)) for each in (given, given | protocol))
    assert not set(a[2]) & set(b[2])
    assert a[1] == b[1], "all documents are trained on in either: the matrix is one"


def test_the_rows_of_a_fold_count_and_not_its_name(configured):
    grouped = {"name": "leave-one-group-out", "held_out": ["texas", "cornell"]}
    a, b = keys(configured(cells=[CELL])), keys(configured(cells=[CELL], protocol=grouped))
    assert a == b


#: What decides nothing.
INDIFFERENT = {
    "name": {"name": "other"},
    "title": {"title": "Other"},
    "notes": {"notes": ["one"]},
    "seed": {"seed": 7},
    "metrics": {"metrics": ["accuracy"]},
    "paper": {"paper": "zhang2005"},
    "expectations": {"expect": {"documents": 600}},
    "classes as the card has them": {"corpus": {"name": "synthetic", "classes": CLASSES}},
    "defaults spelt out": {
        "idf": "collection",
        "classifier": {"name": "svm", "C": 1, "epsilon": 0.001},
        "cells": [CELL | {"kernel": {"name": "ngd", "shift": 0}}],
    },
    "defaults of the text": {"text": TEXT | {"digits": "drop", "min_documents": 1}},
}


@pytest.mark.parametrize("changes", INDIFFERENT.values(), ids=INDIFFERENT)
def test_what_decides_nothing_changes_no_key(configured, reference, changes):
    assert keys(configured(**({"cells": [CELL]} | changes))) == reference


def test_the_order_of_cells_and_the_name_of_a_variant_change_no_key(configured):
    cells = [CELL, CELL | {"kernel": "linear"}, CELL | {"weighting": "tf"}]
    assert keys(configured(cells=cells)) == keys(configured(cells=cells[::-1]))
    of_variant = [{**each, "variant": "again"} for each in cells]
    assert keys(configured(cells=cells)) == keys(configured(cells=of_variant, variants={"again": {}}), "again")


@pytest.mark.parametrize("stage", ["counts", "products", "predictions"])
def test_other_code_of_a_stage_changes_its_keys_and_those_after_it(configured, reference, monkeypatch, stage):
    monkeypatch.setattr(plan, "code_digest", lambda each: "changed" if each == stage else code_digest(each))
    other = keys(configured(cells=[CELL]))
    changed = ["counts", "products", "predictions"].index(stage)
    # Predictions come from counts and code; the matrices between them are found by their own code.
    expected = {"counts": (True, True, True), "products": (False, True, False), "predictions": (False, False, True)}
    assert tuple(a != b for a, b in zip(other, reference, strict=True)) == expected[stage]
    assert other[changed] != reference[changed]


class TestCode:
    @pytest.fixture
    def digest(self, tmp_path, monkeypatch):
        """`code_digest` of a copy of the package, and the copy."""
        package = tmp_path / "benchmark"
        shutil.copytree(Path(benchmark.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.setattr(plan, "__file__", str(package / "experiment" / "plan.py"))
        return code_digest.__wrapped__, package

    @pytest.mark.parametrize(
        ("file", "stages"),
        [
            ("text/lexer.py", {"counts"}),
            ("text/smart-stoplist.txt", {"counts"}),
            ("corpora/webkb.py", {"counts"}),
            ("representation.py", {"products", "predictions", "curves", "features", "centroids", "categories"}),
            ("kernels/products.py", {"products", "predictions", "curves", "features", "categories"}),
            ("kernels/multinomial.py", {"predictions", "curves"}),
            ("heat/sphere.py", {"predictions", "curves"}),
            ("evaluation/protocols.py", {"curves", "centroids"}),
            ("classifiers/svm.py", {"predictions", "features"}),
            ("classifiers/libsvm.py", {"predictions", "curves", "features", "categories"}),
            ("classifiers/many.py", {"curves"}),
            ("classifiers/hyperplanes.py", {"categories"}),
            ("model_kernels/fisher.py", {"categories"}),
            ("experiment/category_methods.py", {"categories"}),
            ("experiment/category_summary.py", set()),
            ("evaluation/multilabel.py", set()),
            ("classifiers/class_specific.py", {"features"}),
            ("information_gain.py", {"features"}),
            ("centroids/exact.py", {"centroids"}),
            ("classifiers/divergence_bayes.py", {"centroids"}),
            ("experiment/reading.py", {"counts"}),
            ("experiment/runner.py", {"products", "predictions"}),
            ("report/tables.py", set()),
            ("evaluation/metrics.py", set()),
            ("cli.py", set()),
        ],
    )
    def test_a_change_in_a_file_is_seen_by_the_stages_it_decides(self, digest, file, stages):
        of, package = digest
        before = {stage: of(stage) for stage in plan.STAGE_CODE}
        with (package / file).open("a") as changed:
            changed.write("\n")
        assert {stage for stage in plan.STAGE_CODE if of(stage) != before[stage]} == stages

    def test_does_not_depend_on_where_the_package_stands(self, digest):
        of, _ = digest
        assert {stage: of(stage) for stage in plan.STAGE_CODE} == {s: code_digest(s) for s in plan.STAGE_CODE}

    def test_another_release_of_libsvm_is_other_code_of_predictions_only(self, monkeypatch):
        before = {stage: code_digest(stage) for stage in plan.STAGE_CODE}
        monkeypatch.setattr(plan, "version", lambda _: "99")
        after = {stage: code_digest.__wrapped__(stage) for stage in plan.STAGE_CODE}
        changed = {stage for stage in before if before[stage] != after[stage]}
        assert changed == {"predictions", "curves", "features", "categories"}


FOLDS = {"name": "k-fold", "k": 3}


def test_idf_of_the_collection_makes_one_matrix_a_weighting_and_embedding(configured):
    cells = [{"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": ["linear", "ned", "ngd", "ngd-e"]}]
    found = planned(configured(cells=cells, protocol=FOLDS))
    assert {(base.weighting, base.exponent): len(base.tasks) for base in found} == dict.fromkeys(
        [("tf", 1.0), ("tf", 0.5), ("tfidf", 1.0), ("tfidf", 0.5)], 6
    )
    assert len(found) == 4
    for base in found:
        assert np.array_equal(base.columns, np.arange(600))
        assert (base.idf_rows is None) == (base.weighting == "tf")
        assert base.idf_rows is None or np.array_equal(base.idf_rows, np.arange(600))
        assert base.n_documents == 600
        assert base.n_bytes == 600 * 600 * 8


def test_idf_of_the_training_documents_makes_a_matrix_a_fold(configured):
    cells = [{"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": ["linear", "ned"]}]
    experiment = configured(cells=cells, protocol=FOLDS, idf="training")
    splits = experiment.protocol.build().splits(expected_documents(experiment.variants[BASE]))
    found = planned(experiment)
    assert [base.weighting for base in found] == ["tf", "tfidf", "tfidf", "tfidf"]
    assert len({base.key for base in found}) == 4
    assert len(found[0].tasks) == 6
    for base, split in zip(found[1:], splits, strict=True):
        assert np.array_equal(base.idf_rows, split.train)
        assert np.array_equal(base.columns, split.train)
        assert base.n_bytes == 600 * len(split.train) * 8
        assert [(task.cell.id, task.split.name) for task in base.tasks] == [
            ("tfidf-l1-linear", split.name),
            ("tfidf-l1-ned", split.name),
        ]


def test_columns_are_the_documents_that_any_fold_trains_on(configured):
    protocol = {"name": "fixed-split", "train": "misc", "test": "texas"}
    experiment = configured(protocol=protocol)
    documents = expected_documents(experiment.variants[BASE])
    for base in planned(experiment):
        assert np.array_equal(base.columns, np.flatnonzero(documents.groups == documents.group_names.index("misc")))
        assert base.n_bytes == len(documents) * len(base.columns) * 8


def test_every_cell_and_fold_is_planned_once_with_a_key_of_its_own(configured):
    experiment = configured(protocol=FOLDS, idf="training")
    tasks = [task for base in planned(experiment) for task in base.tasks]
    expected = {(cell.id, f"fold-{fold}") for cell in experiment.cells for fold in (1, 2, 3)}
    assert {(task.cell.id, task.split.name) for task in tasks} == expected
    assert len({task.key for task in tasks}) == len(tasks) == len(expected)


def test_a_variant_plans_its_own_cells_only(configured):
    cells = [CELL | {"variant": "base"}, CELL | {"variant": "trained", "kernel": "linear"}]
    experiment = configured(cells=cells, variants={"trained": {"idf": "training"}})
    for variant, cell in (("base", "tfidf-l1-ngd"), ("trained", "trained-tfidf-l1-linear")):
        assert {task.cell.id for base in planned(experiment, variant) for task in base.tasks} == {cell}
