"""`tasks`, `protocol` and `terms`: what is told apart, trained on and selected."""

from __future__ import annotations

import pytest

from benchmark.config.model import BASE_VARIANT
from benchmark.system.errors import ConfigError

DRAWS = "protocol: {name: random-subsets, replicates: 2, train_size: "


class TestTasks:
    def test_without_tasks_all_classes_are_one_without_a_name(self, checked):
        (task,) = checked().variants[BASE_VARIANT].tasks
        assert (task.name, task.classes) == ("", ("course", "faculty", "project", "student"))

    def test_a_task_is_named_after_its_classes_or_its_title(self, checked):
        tasks = (
            checked("tasks: [[student, course], {title: 'The two: largest', largest: 2}]\n")
            .variants[BASE_VARIANT]
            .tasks
        )
        assert [(task.name, task.title) for task in tasks] == [
            ("student-course", "student vs course"),
            ("the-two-largest", "The two: largest"),
        ]
        assert tasks[0].classes == ("student", "course")

    def test_the_largest_classes_are_those_with_most_documents_and_equals_stay_in_order(self, checked):
        tasks = checked("tasks: [{title: two, largest: 2}, {title: three, largest: 3}]\n").variants[BASE_VARIANT].tasks
        assert [task.classes for task in tasks] == [("student", "course"), ("student", "course", "faculty")]
        reuters = "corpus: {name: reuters, subset: body-and-single-topic}\nprotocol: fixed-split\n"
        (ten,) = checked(f"{reuters}tasks: [{{title: Reuters-10, largest: 10}}]\n").variants[BASE_VARIANT].tasks
        words = "earn acq crude trade money-fx interest ship sugar coffee gold"
        assert ten.classes == tuple(words.split())


class TestProtocol:
    def test_sizes_stand_beside_the_protocol(self, checked):
        multilabel = checked(f"{DRAWS}[20, 40]}}\n").variants[BASE_VARIANT]
        assert multilabel.sizes == (20, 40)
        assert "train_size" not in multilabel.protocol.given
        assert checked(f"{DRAWS}20}}\n").variants[BASE_VARIANT].sizes == (20,)
        assert checked().variants[BASE_VARIANT].sizes == (None,)

    def test_draws_have_the_seed_of_the_configuration_unless_they_name_their_own(self, checked):
        assert checked(f"{DRAWS}20}}\nseed: 7\n").variants[BASE_VARIANT].protocol.given["seed"] == 7
        assert checked(f"{DRAWS}20, seed: 3}}\nseed: 7\n").variants[BASE_VARIANT].protocol.given["seed"] == 3

    def test_a_variant_whose_documents_can_not_be_split_is_refused(self, written, read):
        fragment = (
            "corpus: {name: webkb, classes: [student, course]}\n"
            f"{DRAWS}5}}\n"
            "variants: {rare: {corpus: {classes: [student, staff]}}}\n"
        )
        with pytest.raises(ConfigError, match=r"train_size = 5 leaves no training document for class 'staff'"):
            read(written(fragment))

    @pytest.mark.parametrize("corpus", ["20ng", "files"])
    def test_newest_is_of_each_class_where_dates_order_a_class_alone(self, checked, tmp_path, corpus):
        lines = [f"word,{label},2024-01-{day:02}\n" for day in range(1, 9) for label in "ab"]
        (tmp_path / "own.csv").write_text(f"text,label,date\n{''.join(lines)}")
        given = "corpus: {name: files, path: own.csv, date: date}\nprotocol: {name: by-date}\n"
        given = given if corpus == "files" else "corpus: {name: 20ng}\nprotocol: fixed-split\n"
        methods = "methods: [{kernel: {name: rbf, sigma: [1, 2]}}]\n"
        inner = checked(f"{given}{methods}choose: {{by: temporal-holdout, folds: 4}}\n").inner
        assert (inner.given["test_share"], inner.given["stratified"]) == (0.25, corpus == "20ng")

    @pytest.mark.parametrize(
        ("fragment", "expected"),
        [
            ("choose: {by: cross-validation}\n", {"k": 5, "seed": 0, "stratified": True, "grouped": False}),
            (
                (
                    "seed: 7\nchoose: {by: [oracle, cross-validation], folds: 3, grouped: true}\n"
                    "corpus: {name: 20ng}\nprotocol: fixed-split\n"
                ),
                {"k": 3, "seed": 7, "stratified": True, "grouped": True},
            ),
            (
                "corpus: {name: synthetic, subset: several}\nchoose: {by: cross-validation, folds: 2}\n",
                {"k": 2, "seed": 0, "stratified": False, "grouped": False},
            ),
            ("choose: {by: oracle}\n", None),
        ],
    )
    def test_candidates_are_chosen_on_folds_of_the_training_documents(self, checked, fragment, expected):
        inner = checked(f"{fragment}methods: [{{kernel: {{name: rbf, sigma: [1, 2]}}}}]\n").inner
        assert (inner and inner.given) == (expected and expected | {"keep_lone": True})


class TestTerms:
    def test_one_number_or_several_are_an_axis(self, checked):
        assert checked("terms: {number: 10}\n").variants[BASE_VARIANT].numbers == (10,)
        terms = checked("terms: {number: [10, 20], aggregate: average}\n").variants[BASE_VARIANT].terms
        assert (terms.numbers, terms.rank, terms.aggregate) == ((10, 20), "information-gain", "average")
        assert checked().variants[BASE_VARIANT].numbers == (None,)

    def test_all_terms_of_the_expected_vocabulary_may_be_selected(self, checked):
        fragment = "expect: {vocabulary: 40}\nterms: {number: [10, 40]}\n"
        assert checked(fragment).variants[BASE_VARIANT].numbers == (10, 40)
