"""Files of shipped predictions: what is written is read again, and nothing else is."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score

from benchmark.evaluation.public_test_sets import (
    TEST_SETS,
    ShippedPredictions,
    encode_shipped,
    label_codes,
    load_shipped,
    split_labels,
)
from benchmark.system.errors import BenchError

FRAME = pd.DataFrame(
    {
        "id": ["d/3", "d/1", "d/2", "é 4"],
        "group": ["texas", "cornell", "texas", "cornell"],
        "label": ["x", "y", "y", "z"],
        "mnb": ["x", "x", "y", "z"],
        "ngd": ["z", "y", "y", "x"],
    }
)
SHIPPED = ShippedPredictions(
    TEST_SETS["webkb"], FRAME, ("x", "y", "z"), "0123", {"mnb": "one", "ngd": "two"}, {"one": "0.1", "two": "0.2"}
)
SEVERAL = replace(
    SHIPPED,
    test_set=TEST_SETS["modapte-90"],
    frame=FRAME.assign(group="test", label=["x;y", "", "z", "y"], mnb=["x", "", "z;x", "y"]),
)


def test_what_is_written_is_read_again(tmp_path):
    with pytest.raises(BenchError) as missing:
        load_shipped("webkb", tmp_path)
    assert str(missing.value) == (
        f"{tmp_path / 'webkb.parquet'}: there are no predictions on 'webkb'; "
        "`bench check --update all-methods-webkb simplex-webkb tuned-webkb` makes it"
    )
    (tmp_path / "webkb.parquet").write_bytes(encode_shipped(SHIPPED))
    again = load_shipped("webkb", tmp_path)
    pd.testing.assert_frame_equal(again.frame, SHIPPED.frame, check_dtype=False)
    assert (again.test_set, again.classes, again.digest) == (SHIPPED.test_set, ("x", "y", "z"), "0123")
    assert (again.cells, again.versions) == ({"mnb": "one", "ngd": "two"}, {"one": "0.1", "two": "0.2"})


def test_scores_are_those_of_each_group():
    found = SHIPPED.scores("mine", FRAME["ngd"].tolist())
    assert (found.cell, found.folds, SHIPPED.groups) == ("mine", ("texas", "cornell"), ("texas", "cornell"))
    assert found.n.tolist() == [2, 2]
    assert found.ties.tolist() == [0, 0]
    scores = dict(found.values.items())  # noqa: PD011 - no frame
    for number, group in enumerate(found.folds):
        own = FRAME[FRAME["group"] == group]
        assert scores["accuracy"][number] == accuracy_score(own["label"], own["ngd"])
        expected = f1_score(own["label"], own["ngd"], labels=["x", "y", "z"], average="macro", zero_division=0)
        assert scores["macro-f1"][number] == pytest.approx(expected)
    assert found.outcome.documents.tolist() == [0, 1, 2, 3]
    several = dict(SEVERAL.scores("mine", ["x;y", "", "z", "x"]).values.items())  # noqa: PD011 - no frame
    assert "accuracy" not in several
    assert several["micro-f1"].tolist() == [pytest.approx(6 / 8)]


def test_labels_are_separated_by_semicolons():
    assert split_labels(" x ;y;; ") == ["x", "y"]
    assert split_labels("") == []
    assert label_codes(["y;x", "", "z"], "xyz", multilabel=True).tolist() == [
        [True, True, False],
        [False] * 3,
        [False, False, True],
    ]
    single = label_codes(["z", "x"], "xyz", multilabel=False)
    assert (single.tolist(), single.dtype) == ([2, 0], np.int16)
    with pytest.raises(KeyError):
        label_codes(["w"], "xyz", multilabel=False)
