"""What can't be split, in full, and the promises of every split."""

from dataclasses import replace

import numpy as np
import pytest

from benchmark.corpora.corpus import Documents
from benchmark.evaluation.protocols import (
    ByDate,
    FixedSplit,
    HoldOut,
    KFold,
    LeaveOneGroupOut,
    RandomSubsets,
)
from benchmark.evaluation.splits import Split, check_split_promises
from benchmark.system.errors import ConfigError
from tests.evaluation.test_protocols import DOCUMENTS, SEVERAL

NUMBERED = replace(DOCUMENTS, dates=np.arange(len(DOCUMENTS)))
ONE_PROJECT = np.minimum(DOCUMENTS.labels, 1)
ONE_PROJECT[0] = 2


NO_TWO = "stratified must be false where documents may have several classes, or none"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: ByDate().splits(replace(DOCUMENTS, dates=None)),
            "by-date: the documents have no dates; name the column of the corpus that holds them",
        ),
        (
            lambda: KFold(3, grouped=True).splits(replace(DOCUMENTS, groups=None)),
            "grouped: the documents have no groups; name the column of the corpus that holds them",
        ),
        (
            lambda: KFold(21, grouped=True).splits(DOCUMENTS),
            "k = 21 grouped folds: Cannot have number of splits n_splits=21 greater than the number of groups: 20.",
        ),
        (
            lambda: KFold(7, grouped=True).splits(DOCUMENTS.take(np.arange(12))),
            "k = 7 grouped folds: n_splits=7 cannot be greater than the number of members in each class.",
        ),
        (lambda: KFold(121).splits(DOCUMENTS), "k = 121 folds cannot be made of 120 documents"),
        (lambda: KFold(1), "k must be a number of at least 2, not 1"),
        (lambda: KFold(2, -1), "seed must be a number of at least 0, not -1"),
        (lambda: RandomSubsets(0, 1), "train_size must be a number of at least 1, not 0"),
        *(
            (lambda make=make, share=share: make(share), f"test_share must be a number between 0 and 1, not {share}")
            for make in (HoldOut, ByDate)
            for share in (1.0, 0.0, -0.5, 1.5)
        ),
        (lambda: RandomSubsets(9, 0), "replicates must be a number of at least 1, not 0"),
        (lambda: RandomSubsets(9, 1, -1), "seed must be a number of at least 0, not -1"),
        (
            lambda: FixedSplit("train", "tst").splits(DOCUMENTS),
            "test: unknown group 'tst'; did you mean 'test'? (allowed: cornell, texas, misc, train, test)",
        ),
        (
            lambda: FixedSplit().splits(replace(SEVERAL, parts=SEVERAL.parts % 3)),
            "the split 'test' has no document to test",
        ),
        (
            lambda: FixedSplit().splits(replace(SEVERAL, parts=np.where(SEVERAL.parts == 3, 0, SEVERAL.parts))),
            "the split 'test' has no document to train on",
        ),
        (
            lambda: HoldOut(grouped=True),
            "stratified must be false where grouped is true: a group has documents of any class",
        ),
        (
            lambda: ByDate().splits(NUMBERED),
            "by-date: these dates are comparable only within a class; set stratified: true",
        ),
        (lambda: ByDate(stratified=True).splits(SEVERAL), NO_TWO),
        (lambda: KFold(2).splits(SEVERAL), NO_TWO),
        (lambda: KFold(2, grouped=True).splits(SEVERAL), NO_TWO),
        (lambda: RandomSubsets(9, 1).splits(SEVERAL), NO_TWO),
        (lambda: HoldOut().splits(SEVERAL), NO_TWO),
        (
            lambda: ByDate(stratified=True).splits(replace(DOCUMENTS, labels=ONE_PROJECT)),
            "the split 'newest' has no training document of class 'project'",
        ),
        (
            lambda: RandomSubsets(100, 1, test="test").splits(DOCUMENTS),
            f"train_size = 100 is more than this collection allows: at most {(DOCUMENTS.parts != 4).sum()}",
        ),
        (
            lambda: RandomSubsets(1, 1).splits(DOCUMENTS),
            "train_size = 1 leaves no training document for classes 'course', 'project'",
        ),
        (lambda: FixedSplit("all", "all"), "fixed-split trains and tests on the same group 'all'"),
        (
            lambda: LeaveOneGroupOut([]),
            "held_out names no group: list at least one, or leave it out to test every group in turn",
        ),
        (
            lambda: LeaveOneGroupOut(["texas", "misc", "cornell", "texas", "cornell"]),
            "held_out names 'cornell', 'texas' more than once",
        ),
    ],
)
def test_what_can_not_be_split_so_is_refused(make, said):
    with pytest.raises((ConfigError, ValueError)) as refused:
        make()
    assert str(refused.value) == said


def test_what_is_just_possible_is_allowed():
    assert len(KFold(20, stratified=False, grouped=True).splits(DOCUMENTS)) == 20
    assert len(KFold(120, stratified=False).splits(DOCUMENTS)) == 120
    (split,) = RandomSubsets(119, 1).splits(DOCUMENTS)
    assert len(split.test) == 1
    pool = int((DOCUMENTS.parts != 4).sum())
    (split,) = RandomSubsets(pool, 1, test="test").splits(DOCUMENTS)
    assert len(split.train) == pool


ONE, OTHER, BOTH = (
    [Split("a", np.array([0, 1]), np.array([2, 3]))],
    [Split("b", np.array([2, 3]), np.array([0, 1]))],
    [Split("a", np.array([0, 1]), np.array([2, 3])), Split("b", np.array([0, 1, 2]), np.array([3]))],
)
NO_ROWS = "the split 'a' has no rows, or rows that don't ascend or don't exist"


@pytest.mark.parametrize(
    ("splits", "said"),
    [
        ([], "the protocol returns no split, or two splits of the same name"),
        ([*ONE, *ONE], "the protocol returns no split, or two splits of the same name"),
        (BOTH, "documents are tested by several splits: the protocol needs `tags = Tags(replicated=True)`"),
        ([Split("a", np.array([0, 1]), np.array([1, 2]))], "the split 'a' tests a document that it trains on"),
        ([Split("a", np.array([0, 2]), np.array([1]))], "the split 'a' has no training document of class 'y'"),
        ([Split("a", np.array([0, 1, 3]), np.array([2, 3]))], "the split 'a' tests a document that it trains on"),
        ([*ONE, Split("b", np.array([1, 2]), np.array([1, 3]))], "the split 'b' tests a document that it trains on"),
        *(
            ([Split("a", np.array(train, dtype=int), np.array(test, dtype=int))], NO_ROWS)
            for train, test in [([], [2]), ([0, 1], []), ([1, 0], [2]), ([0, 0, 1], [2]), ([0, 1], [4]), ([-1, 1], [2])]
        ),
    ],
)
def test_a_plugins_splits_keep_the_promises(splits, said):
    documents = Documents(
        tuple("abcd"), np.array([0, 1, 0, 1], dtype=np.int32), np.zeros(4, dtype=np.int32), ("x", "y"), ("all",)
    )
    assert ONE[0].number == 1
    check_split_promises(ONE, documents, repeated=False)
    check_split_promises([*ONE, *OTHER], documents, repeated=False)
    check_split_promises(BOTH, documents, repeated=True)
    with pytest.raises(ConfigError) as refused:
        check_split_promises(splits, documents, repeated=False)
    assert str(refused.value) == said
