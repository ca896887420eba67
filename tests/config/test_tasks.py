"""`tasks`, `protocol` and `terms`: what is told apart, trained on and selected."""

from __future__ import annotations

import pytest

from benchmark.config.model import BASE_VARIANT
from benchmark.system.errors import ConfigError

DRAWS = "protocol: {name: random-subsets, replicates: 2, train_size: "


class TestTasks:
    @pytest.mark.parametrize(
        ("fragment", "said"),
        [
            ("tasks:\n  - [faculty, curse] # HERE\n", "unknown class 'curse'; did you mean 'course'?"),
            ("tasks:\n  - - faculty\n    - curse # HERE\n", "did you mean 'course'?"),
            ("tasks:\n  - [faculty, faculty] # HERE\n", "two or more different classes, not ['faculty', 'faculty']"),
            ("tasks:\n  - [faculty] # HERE\n", "two or more different classes"),
            ("tasks:\n  - [faculty, course]\n  - [faculty, course] # HERE\n", "'faculty-course' is listed twice"),
            (
                "tasks:\n  - {title: A, largest: 2}\n  - {title: a!, largest: 3} # HERE\n",
                "the task 'a' is listed twice",
            ),
            ("tasks:\n  - {title: '?!', largest: 2} # HERE\n", "needs a letter or digit"),
            ("tasks:\n  - {title: Five, largest: 5} # HERE\n", "largest is 5, but there are 4 classes"),
            ("tasks:\n  - {title: None} # HERE\n", "either `largest`"),
            ("tasks:\n  - {title: Both, largest: 2, classes: [course, student]} # HERE\n", "either `largest`"),
            ("tasks:\n  - {title: Two, classes: [course, studnet]} # HERE\n", "did you mean 'student'"),
            (
                "tasks:\n  - title: Two\n    classes:\n      - course\n      - studnet # HERE\n",
                "unknown class 'studnet'; did you mean 'student'? (allowed: course, ",
            ),
            (
                "corpus: {name: synthetic, classes: [course, student]}\ntasks:\n  - [faculty, course] # HERE\n",
                "unknown class 'faculty' (allowed: course, student)",
            ),
        ],
    )
    def test_what_is_no_task_is_refused(self, refusal, fragment, said):
        assert said in refusal(fragment)

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

    @pytest.mark.parametrize("task", ["classes: [grain, rice]", "largest: 65"])
    def test_a_class_without_training_documents_is_refused(self, refusal, task):
        said = refusal(
            "corpus: {name: reuters, subset: body-and-single-topic}\nprotocol: fixed-split # HERE\n"
            f"tasks: [{{title: x, {task}}}]\n"
        )
        assert said.startswith("x: the split ")
        assert "no training document of class" in said


class TestProtocol:
    @pytest.mark.parametrize(
        ("fragment", "said"),
        [
            ("protocol: # HERE\n", "a protocol is a name, or a mapping with a name and parameters, not None"),
            ("protocol:\n  name: k-folds # HERE\n  k: 5\n", "'k-folds'; did you mean 'k-fold'? (allowed: leave"),
            ("protocol:\n  name: [k-fold] # HERE\n  k: 2\n", "unknown protocol ['k-fold']; did you mean 'k-fold'?"),
            ("protocol: k-fold # HERE\n", "the protocol 'k-fold' needs the parameter 'k'"),
            ("protocol:\n  name: k-fold\n  k: 5\n  sed: 1 # HERE\n", "'seed'? (allowed: k, seed, stratified, grouped)"),
            ("protocol:\n  name: k-fold\n  k: '5' # HERE\n", "k is '5': must be a whole number"),
            ("protocol:\n  name: k-fold\n  k: 1 # HERE\n", "k = 1 is too small: it must be at least 2"),
            ("protocol:\n  name: k-fold\n  k: 601 # HERE\n", "k = 601 folds cannot be made of 600 documents"),
            ("protocol: # HERE\n  name: fixed-split\n  test: train\n", "trains and tests on the same group 'train'"),
            (
                "protocol:\n  name: fixed-split\n  train: misc\n  test: texsa # HERE\n",
                "test: no group 'texsa'; did you",
            ),
            (
                "protocol:\n  name: leave-one-group-out\n  held_out:\n    - texas\n    - cornel # HERE\n",
                "no group 'cornel'; did you mean 'cornell'? (groups: cornell, misc, texas, washington, wisconsin)",
            ),
            (
                "protocol:\n  name: leave-one-group-out\n  held_out:\n    - cornel # HERE\n    - cornell\n",
                "no group 'cornel'; did you mean 'cornell'?",
            ),
            (
                "protocol:\n  name: leave-one-group-out\n  held_out: # HERE\n    - texas\n    - texas\n",
                "held_out names 'texas' more than once",
            ),
            (f"{DRAWS}[20, 9999]}} # HERE\n", "train_size = 9999 is more than this collection allows: at most 599"),
            (f"{DRAWS}[1, 20]}} # HERE\n", "train_size = 1 leaves no training document for class"),
            (f"{DRAWS}3}} # HERE\n", "train_size = 3 leaves no training document for class"),
            (f"{DRAWS}[40, 20]}} # HERE\n", "train_size must be positive whole numbers, ascending, none twice"),
            (f"{DRAWS}[20, 20]}} # HERE\n", "none twice, not [20, 20]"),
            (f"{DRAWS}[0]}} # HERE\n", "positive"),
            (f"{DRAWS}[]}} # HERE\n", "positive"),
            (f"{DRAWS}[20.5]}} # HERE\n", "whole numbers"),
            (f"{DRAWS}[true]}} # HERE\n", "whole numbers"),
            (f"{DRAWS}20, test: tset}} # HERE\n", "no group 'tset'"),
        ],
    )
    def test_what_can_not_split_the_documents_is_refused(self, refusal, fragment, said):
        assert said in refusal(fragment)

    def test_a_size_that_is_listed_is_pointed_at(self, refusal):
        fragment = "protocol:\n  name: random-subsets\n  replicates: 2\n  train_size:\n    - 20\n    - 9999 # HERE\n"
        assert "train_size = 9999" in refusal(fragment)

    def test_what_the_inner_folds_can_not_split_is_refused_with_its_task(self, refusal):
        choose = "choose: {by: cross-validation, folds: 30} # HERE\nmethods: [{kernel: {name: rbf, sigma: [1, 2]}}]\n"
        said = refusal(f"tasks: [[course, student]]\n{choose}{DRAWS}[20, 40]}}\n")
        assert said == "course-student: k = 30 folds cannot be made of 20 documents"

    def test_documents_with_several_classes_are_not_stratified(self, refusal, checked):
        corpus = "corpus: {name: reuters, subset: without-brief, classes: [earn, acq]}\n"
        assert "stratified must be false" in refusal(f"{corpus}protocol: {{name: k-fold, k: 2}} # HERE\n")
        assert checked(f"{corpus}protocol: {{name: k-fold, k: 2, stratified: false}}\n").cells

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

    def test_posts_that_have_an_order_within_their_newsgroup_alone_are_split_by_it_class_by_class(
        self, checked, refusal
    ):
        posts = "corpus: {name: 20ng}\nprotocol: {name: by-date, stratified: "
        assert "only within a class; set stratified: true" in refusal(f"{posts}false}} # HERE\n")
        (variant,) = checked(f"{posts}true}}\n").variants.values()
        assert variant.protocol.given["stratified"]

    def test_without_dates_no_document_is_the_newest(self, refusal):
        methods = "methods: [{kernel: {name: rbf, sigma: [1, 2]}}]\n"
        assert "date" in refusal(f"{methods}choose: {{by: temporal-holdout}} # HERE\n")

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
    @pytest.mark.parametrize(
        ("fragment", "said"),
        [
            ("terms: {number: [50, 10]} # HERE\n", "number must be positive whole numbers, ascending"),
            ("terms: {number: [10, 10]} # HERE\n", "none twice"),
            ("terms: {number: [0, 10]} # HERE\n", "positive"),
            ("terms:\n  number: 10\n  rank: gain # HERE\n", "unknown rank 'gain' (allowed: information-gain)"),
            ("terms:\n  number: 10\n  aggregate: mean # HERE\n", "unknown aggregate 'mean' (allowed: sum, "),
            (
                "expect: {vocabulary: 40}\nterms:\n  number:\n    - 10\n    - 50 # HERE\n",
                "50 terms can't be selected from the 40 that `expect` states",
            ),
        ],
    )
    def test_what_can_not_be_selected_is_refused(self, refusal, fragment, said):
        assert said in refusal(fragment)

    def test_one_number_or_several_are_an_axis(self, checked):
        assert checked("terms: {number: 10}\n").variants[BASE_VARIANT].numbers == (10,)
        terms = checked("terms: {number: [10, 20], aggregate: average}\n").variants[BASE_VARIANT].terms
        assert (terms.numbers, terms.rank, terms.aggregate) == ((10, 20), "information-gain", "average")
        assert checked().variants[BASE_VARIANT].numbers == (None,)

    def test_all_terms_of_the_expected_vocabulary_may_be_selected(self, checked):
        fragment = "expect: {vocabulary: 40}\nterms: {number: [10, 40]}\n"
        assert checked(fragment).variants[BASE_VARIANT].numbers == (10, 40)
