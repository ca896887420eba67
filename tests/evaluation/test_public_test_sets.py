"""Files of shipped predictions: what is written is read again, and nothing else is."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmark.evaluation.public_test_sets import (
    TEST_SETS,
    ShippedPredictions,
    decode_shipped,
    encode_shipped,
    label_codes,
    load_shipped,
    split_labels,
)
from benchmark.system.errors import BenchError, DataError

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


@pytest.mark.parametrize("shipped", [SHIPPED, SEVERAL])
def test_what_is_written_is_read_again(shipped):
    again = decode_shipped(encode_shipped(shipped))
    pd.testing.assert_frame_equal(again.frame, shipped.frame, check_dtype=False)
    assert (again.test_set, again.classes, again.digest) == (shipped.test_set, ("x", "y", "z"), "0123")
    assert (again.cells, again.versions) == ({"mnb": "one", "ngd": "two"}, {"one": "0.1", "two": "0.2"})


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
    path = tmp_path / "webkb.parquet"
    with pytest.raises(BenchError) as missing:
        load_shipped("webkb", tmp_path)
    assert str(missing.value) == (
        f"{path}: there are no predictions on 'webkb'; "
        "`bench check --update all-methods-webkb simplex-webkb tuned-webkb` makes it"
    )
    frame = pd.read_parquet(io.BytesIO(encode_shipped(SHIPPED)))
    frame.attrs["format"] = 3
    frame.to_parquet(path)
    with pytest.raises(DataError) as other:
        load_shipped("webkb", tmp_path)
    assert str(other.value) == f"{path}: can't be read (format 3; this version reads 2)"
    path.write_bytes(encode_shipped(SHIPPED)[:-100])
    with pytest.raises(DataError, match=r"webkb\.parquet: can't be read \("):
        load_shipped("webkb", tmp_path)
    path.write_bytes(encode_shipped(SHIPPED))
    assert load_shipped("webkb", tmp_path).digest == "0123"
