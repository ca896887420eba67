"""Files of shipped predictions: what is written is read again, and nothing else is."""

import numpy as np
import pandas as pd
import pytest

from benchmark.evaluation import public_test_sets
from benchmark.evaluation.public_test_sets import (
    TEST_SETS,
    encode_labels,
    label_codes,
    load_shipped,
    read_labels,
    split_labels,
)
from benchmark.system.errors import BenchError, DataError

FRAME = pd.DataFrame(
    {
        "id": ["d/3", "d/1", "d/2", "é 4"],
        "group": ["texas", "cornell", "texas", "cornell"],
        "label": ["x;y", "", "y", "z"],
        "mnb": ["x", "x", "y;z", "z"],
    }
)


def test_labels_of_configurations_are_read_again_as_one_frame(tmp_path, monkeypatch):
    of_webkb = TEST_SETS["webkb"].configurations
    for number, configuration in enumerate(of_webkb):
        content = encode_labels(FRAME.assign(**{f"c{number}": ""}).iloc[:: 1 - 2 * number], "xyz", "0123", "0.1")
        (tmp_path / f"{configuration}.parquet").write_bytes(content)
        if number == 1:
            break
    pd.testing.assert_frame_equal(read_labels(of_webkb[0], tmp_path), FRAME.assign(c0=""), check_dtype=False)
    (tmp_path / f"{of_webkb[2]}.parquet").write_bytes(encode_labels(FRAME.drop(columns="mnb"), "xyz", "0123", "0.1"))
    monkeypatch.setattr(public_test_sets, "PREDICTIONS_FOLDER", tmp_path)
    found = load_shipped("webkb")
    columns = ["id", "group", "label", "mnb", "c0", f"{of_webkb[1]}-mnb", "c1"]
    assert (list(found.frame), list(found.cells)) == (columns, columns[3:])
    assert found.frame["mnb"].equals(found.frame[f"{of_webkb[1]}-mnb"])
    assert (found.classes, found.digest, found.groups) == (("x", "y", "z"), "0123", ("texas", "cornell"))


@pytest.mark.parametrize("name", TEST_SETS)
def test_configurations_of_a_test_set_have_the_same_documents_and_classes(name):
    first, *others = (read_labels(each) for each in TEST_SETS[name].configurations)
    for other in others:
        pd.testing.assert_frame_equal(first[["id", "group", "label"]], other[["id", "group", "label"]])
        assert (first.attrs["classes"], first.attrs["corpus_digest"]) == (
            other.attrs["classes"],
            other.attrs["corpus_digest"],
        )


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


def test_what_can_not_be_read_is_said(tmp_path):
    path = tmp_path / "simplex-r8.parquet"
    with pytest.raises(BenchError) as missing:
        read_labels("simplex-r8", tmp_path)
    assert str(missing.value) == f"{path}: is missing; `bench check --update simplex-r8` makes it"
    FRAME.to_parquet(path)
    with pytest.raises(DataError, match=r"simplex-r8\.parquet: is not of format 3, which this version reads"):
        read_labels("simplex-r8", tmp_path)
    path.write_bytes(encode_labels(FRAME, "xyz", "0123", "0.1")[:-100])
    with pytest.raises(DataError, match=r"simplex-r8\.parquet: can't be read \("):
        read_labels("simplex-r8", tmp_path)
