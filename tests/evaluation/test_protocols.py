from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from benchmark.corpora.corpus import Documents
from benchmark.evaluation.protocols import (
    PROTOCOLS,
    ByDate,
    FixedSplit,
    HoldOut,
    KFold,
    LeaveOneGroupOut,
    RandomSubsets,
)
from benchmark.system.errors import ConfigError


def make_documents(n=120, seed=0, groups=("cornell", "texas", "misc", "train", "test")):
    rng = np.random.default_rng(seed)
    return Documents(
        ids=tuple(f"doc-{i}" for i in range(n)),
        labels=rng.choice(3, size=n, p=[0.6, 0.3, 0.1]).astype(np.int32),
        parts=rng.integers(len(groups), size=n).astype(np.int32),
        classes=("student", "course", "project"),
        part_names=groups,
        groups=rng.integers(20, size=n).astype(np.int32),
        dates=np.datetime64("2024-01-01", "s") + 86_400 * rng.integers(60, size=n),
    )


DOCUMENTS = make_documents()
EXAMPLES = {
    "leave-one-group-out": LeaveOneGroupOut(held_out=["cornell", "texas"]),
    "fixed-split": FixedSplit(),
    "k-fold": KFold(k=5, seed=3),
    "random-subsets": RandomSubsets(train_size=30, replicates=12, seed=3),
    "hold-out": HoldOut(test_share=0.3, replicates=12, seed=3),
    "by-date": ByDate(test_share=0.3),
}
NAMES = {
    "leave-one-group-out": ["cornell", "texas"],
    "fixed-split": ["test"],
    "k-fold": [f"fold-{number}" for number in range(1, 6)],
    "random-subsets": [f"replicate-{number:02}" for number in range(1, 13)],
    "hold-out": [f"replicate-{number:02}" for number in range(1, 13)],
    "by-date": ["newest"],
}


def rows(splits):
    return [(split.name, split.train.tolist(), split.test.tolist()) for split in splits]


@pytest.mark.parametrize("name", PROTOCOLS)
class TestEveryProtocol:
    def test_rows_ascend_and_never_both_train_and_test(self, name):
        for split in EXAMPLES[name].splits(DOCUMENTS):
            for part in (split.train, split.test):
                assert part.dtype == np.intp
                assert (np.diff(part) > 0).all()
            assert split.test.size > 0
            assert not np.intersect1d(split.train, split.test).size

    def test_splits_are_named_and_numbered_in_order(self, name):
        splits = EXAMPLES[name].splits(DOCUMENTS)
        assert [split.name for split in splits] == NAMES[name]
        assert [split.number for split in splits] == list(range(1, len(splits) + 1))

    def test_refuses_a_collection_with_a_class_of_one(self, name):
        labels = np.zeros(len(DOCUMENTS), dtype=np.int32)
        newest = np.argsort(DOCUMENTS.dates)[-1]
        labels[np.flatnonzero(DOCUMENTS.parts == 0)[0]], labels[newest] = 1, 2  # the first group is held out
        lonely = replace(DOCUMENTS, labels=labels)
        others = {"fixed-split": FixedSplit("misc", "test"), "hold-out": HoldOut(0.6, 12, 3)}
        with pytest.raises(ConfigError, match=r"no training document (of|for) class"):
            others.get(name, EXAMPLES[name]).splits(lonely)


class TestLeaveOneGroupOut:
    def test_all_other_groups_train(self):
        names = ["texas", "cornell"]
        for split, name in zip(LeaveOneGroupOut(names).splits(DOCUMENTS), names, strict=True):
            tested = DOCUMENTS.parts == DOCUMENTS.part_names.index(name)
            assert split.name == name
            np.testing.assert_array_equal(split.test, np.flatnonzero(tested))
            np.testing.assert_array_equal(split.train, np.flatnonzero(~tested))

    def test_holds_out_every_group_by_default(self):
        splits = LeaveOneGroupOut().splits(DOCUMENTS)
        assert [split.name for split in splits] == list(DOCUMENTS.part_names)
        np.testing.assert_array_equal(np.sort(np.concatenate([s.test for s in splits])), np.arange(len(DOCUMENTS)))

    def test_refuses_an_empty_group(self):
        documents = make_documents(groups=("cornell", "texas"))
        emptied = Documents(
            documents.ids, documents.labels, np.zeros_like(documents.parts), documents.classes, documents.part_names
        )
        with pytest.raises(ConfigError, match="'texas' has no document to test"):
            LeaveOneGroupOut(["texas"]).splits(emptied)


class TestFixedSplit:
    def test_is_the_given_one_and_leaves_other_groups_out(self):
        (split,) = FixedSplit().splits(DOCUMENTS)
        assert split.name == "test"
        np.testing.assert_array_equal(split.train, np.flatnonzero(DOCUMENTS.parts == 3))
        np.testing.assert_array_equal(split.test, np.flatnonzero(DOCUMENTS.parts == 4))


class TestKFold:
    @given(k=st.integers(2, 8), seed=st.integers(0, 99), stratified=st.booleans())
    def test_tests_every_document_once_in_balanced_folds(self, k, seed, stratified):
        splits = KFold(k, seed, stratified).splits(DOCUMENTS)
        np.testing.assert_array_equal(np.sort(np.concatenate([s.test for s in splits])), np.arange(len(DOCUMENTS)))
        assert np.ptp([split.test.size for split in splits]) <= 1
        for split in splits:
            assert split.train.size + split.test.size == len(DOCUMENTS)
        if stratified:
            counts = np.stack([np.bincount(DOCUMENTS.labels[split.test], minlength=3) for split in splits])
            assert (np.ptp(counts, axis=0) <= 1).all()


class TestRandomSubsets:
    @given(size=st.integers(20, 119), seed=st.integers(0, 99), stratified=st.booleans())
    def test_tests_on_the_rest(self, size, seed, stratified):
        if not stratified:  # a smaller draw may have none of the smallest class, and is refused
            size = max(size, len(DOCUMENTS) - np.bincount(DOCUMENTS.labels).min() + 1)
        (split,) = RandomSubsets(size, 1, seed, stratified).splits(DOCUMENTS)
        assert split.train.size == size
        np.testing.assert_array_equal(np.union1d(split.train, split.test), np.arange(len(DOCUMENTS)))

    @pytest.mark.parametrize(
        ("size", "quotas"),
        [(4, [2, 1, 1]), (5, [2, 2, 1]), (7, [3, 2, 2]), (8, [3, 3, 2])],
    )
    def test_of_equal_remainders_the_first_classes_are_rounded_up(self, size, quotas):
        """Three classes of four documents each: the remainders are always equal."""
        labels = np.repeat(np.arange(3, dtype=np.int32), 4)
        ids = tuple(map(str, range(12)))
        documents = Documents(ids, labels, np.zeros(12, dtype=np.int32), ("a", "b", "c"), ("all",))
        for split in RandomSubsets(size, 5).splits(documents):
            assert np.bincount(labels[split.train]).tolist() == quotas

    def test_shares_are_those_of_the_pool_whatever_the_test_group_holds(self):
        labels = np.repeat(np.array([0, 1, 1], dtype=np.int32), [20, 10, 30])
        groups = np.repeat(np.array([0, 1], dtype=np.int32), 30)
        documents = Documents(tuple(map(str, range(60))), labels, groups, ("a", "b"), ("train", "test"))
        for split in RandomSubsets(15, 3, test="test").splits(documents):
            assert np.bincount(labels[split.train]).tolist() == [10, 5]

    def test_a_test_group_is_never_drawn_from(self):
        for split in RandomSubsets(30, 4, test="test").splits(DOCUMENTS):
            np.testing.assert_array_equal(split.test, np.flatnonzero(DOCUMENTS.parts == 4))
            assert (DOCUMENTS.parts[split.train] != 4).all()


GROUPED = [KFold(5, grouped=True), KFold(4, stratified=False, grouped=True), HoldOut(0.3, 12, 0, False, True)]


@pytest.mark.parametrize("protocol", GROUPED)
def test_documents_of_a_group_stay_together(protocol):
    splits = protocol.splits(DOCUMENTS)
    for split in splits:
        assert not np.intersect1d(DOCUMENTS.groups[split.train], DOCUMENTS.groups[split.test]).size
        assert len(split.train) + len(split.test) == len(DOCUMENTS)
    assert len({split.test.tobytes() for split in splits}) > 1
    assert rows(splits) == rows(protocol.splits(DOCUMENTS))


@given(st.floats(0.02, 0.9))
def test_what_is_tested_is_newer_than_all_that_trains(share):
    (split,) = ByDate(share).splits(DOCUMENTS)
    assert DOCUMENTS.dates[split.train].max() < DOCUMENTS.dates[split.test].min()
    least = max(1, round(share * len(DOCUMENTS)))
    day = np.bincount((DOCUMENTS.dates - DOCUMENTS.dates.min()).astype(int) // 86_400).max()
    assert least <= len(split.test) < least + day


@pytest.mark.parametrize("by_class", [False, True], ids=["absolute", "by-class"])
@given(share=st.floats(0.02, 0.5))
def test_stratified_it_tests_the_newest_of_each_class_and_all_of_one_moment(by_class, share):
    dates = (DOCUMENTS.dates - DOCUMENTS.dates.min()).astype(int) // 86_400 if by_class else DOCUMENTS.dates
    (split,) = ByDate(share, stratified=True).splits(replace(DOCUMENTS, dates=dates))
    for label in range(3):
        train, test = (rows[DOCUMENTS.labels[rows] == label] for rows in (split.train, split.test))
        assert dates[train].max() < dates[test].min()
        least = max(1, round(share * (len(train) + len(test))))
        assert (dates[test] > dates[test].min()).sum() < least <= len(test)


def test_a_shift_of_the_dates_of_one_class_changes_nothing_where_they_order_classes_alone():
    """Nor does any other change that keeps the order within each class."""
    numbers = np.random.default_rng(1).permutation(len(DOCUMENTS)).astype(np.int64)
    shifted = numbers**2 + 1_000_000 * DOCUMENTS.labels
    before, after = (ByDate(stratified=True).splits(replace(DOCUMENTS, dates=each)) for each in (numbers, shifted))
    assert rows(before) == rows(after)


def test_a_date_is_tested_from_its_first_second_on():
    """Documents of the first tested date are tested, those of the second before are trained on."""
    day = np.datetime64("2024-02-01T00:00:00", "s")
    dates = np.where(np.arange(len(DOCUMENTS)) % 2 == 0, day, day - 1)
    (split,) = ByDate(0.3, stratified=True).splits(replace(DOCUMENTS, dates=dates))
    assert split.test.tolist() == list(range(0, len(DOCUMENTS), 2))
    assert (split.name, split.number) == ("newest", 1)


class TestDraws:
    """Splits of a seed never change: each is drawn again here, document by document, as its protocol says."""

    @pytest.mark.parametrize(("k", "seed", "stratified"), [(5, 0, True), (4, 7, True), (5, 0, False), (7, 3, False)])
    def test_folds_take_the_shuffled_documents_in_rotation_class_after_class(self, k, seed, stratified):
        order = np.random.default_rng([seed, k]).permutation(len(DOCUMENTS)).tolist()
        if stratified:
            order.sort(key=DOCUMENTS.labels.tolist().__getitem__)
        for number, split in enumerate(KFold(k, seed, stratified).splits(DOCUMENTS)):
            assert split.test.tolist() == sorted(order[number::k])
            assert split.train.tolist() == sorted(set(order) - set(order[number::k]))

    @pytest.mark.parametrize("stratified", [False, True])
    @pytest.mark.parametrize("test", [None, "test"])
    def test_subsets_are_the_beginning_of_a_shuffled_pool(self, stratified, test):
        pool = np.flatnonzero(DOCUMENTS.parts != (4 if test else -1))
        share = 37 * np.bincount(DOCUMENTS.labels[pool]) / len(pool)
        quotas = np.floor(share)
        quotas[np.argsort(np.floor(share) - share)[: int(37 - quotas.sum())]] += 1
        for number, split in enumerate(RandomSubsets(37, 3, 7, stratified, test).splits(DOCUMENTS), start=1):
            order = np.random.default_rng([7, 37, number]).permutation(pool)
            labels = DOCUMENTS.labels[order]
            drawn = (
                [row for c in range(3) for row in order[labels == c][: int(quotas[c])]] if stratified else order[:37]
            )
            assert split.train.tolist() == sorted(drawn)
            assert set(split.test) == (set(np.flatnonzero(DOCUMENTS.parts == 4)) if test else set(pool) - set(drawn))

    @pytest.mark.parametrize("stratified", [False, True])
    def test_a_held_out_share_is_what_a_random_subset_leaves(self, stratified):
        subsets = RandomSubsets(120 - 36, 4, 5, stratified).splits(DOCUMENTS)
        assert rows(HoldOut(0.3, 4, 5, stratified).splits(DOCUMENTS)) == rows(subsets)

    def test_groups_are_drawn_as_long_as_they_fit(self):
        groups = DOCUMENTS.groups * 2  # every other number has no document
        for number, split in enumerate(
            HoldOut(0.3, 6, 5, False, True).splits(replace(DOCUMENTS, groups=groups)), start=1
        ):
            drawn = []
            for group in np.random.default_rng([5, number]).permutation(np.unique(groups)):
                if np.isin(groups, [*drawn, group]).sum() > 36:
                    break
                drawn.append(group)
            assert split.test.tolist() == np.flatnonzero(np.isin(groups, drawn)).tolist()

    @pytest.mark.parametrize("stratified", [False, True])
    def test_grouped_folds_are_scikit_learns(self, stratified):
        kind = StratifiedGroupKFold if stratified else GroupKFold
        expected = kind(4, shuffle=True, random_state=3).split(DOCUMENTS.labels, DOCUMENTS.labels, DOCUMENTS.groups)
        splits = KFold(4, 3, stratified, grouped=True).splits(DOCUMENTS)
        assert [split.test.tolist() for split in splits] == [test.tolist() for _, test in expected]

    def test_a_lone_document_trains_in_every_fold_where_it_may(self):
        labels = np.minimum(DOCUMENTS.labels, 1)
        labels[7] = 2
        lonely = replace(DOCUMENTS, labels=labels)
        splits = KFold(5, keep_lone=True).splits(lonely)
        assert all(7 in split.train for split in splits)
        assert sorted(row for split in splits for row in split.test) == [row for row in range(120) if row != 7]
        with pytest.raises(ConfigError, match="no training document of class 'project'"):
            KFold(5).splits(lonely)
        several = KFold(5, stratified=False, keep_lone=True).splits(SEVERAL)
        assert sorted(row for split in several for row in split.test) == list(range(120))


SEVERAL = replace(DOCUMENTS, labels=np.full_like(DOCUMENTS.labels, -1), topics=np.ones((len(DOCUMENTS), 3), dtype=bool))
