"""Notes on a run, from facts and predictions made by hand: each counts what it says, and names what it is of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.analysis.notes import (
    MAX_LISTED_GROUPS,
    corpus_in_words,
    document_sentences,
    near_duplicate_rows,
    table_notes,
    terminal_notes,
)
from benchmark.analysis.scoring import RunPredictions
from benchmark.config.model import BASE_VARIANT
from benchmark.evaluation.predictions import Predictions, SplitKey, TestedSplit
from tests.analysis.made import CLASSES, drawn_study, predicted, table_study
from tests.builders import setting_of, small_experiment

if TYPE_CHECKING:
    from pathlib import Path

FEW = {"few": {"text": {"min_occurrences": 50}}}
FACTS: dict[str, Any] = {"documents": 1234, "vocabulary": 5678, "classes": CLASSES}
CORPUS = {"name": "synthetic", "classes": CLASSES}


def run_of(experiment: Any, facts: Any = None, **changes: Any) -> RunPredictions:
    known = dict.fromkeys(experiment.variants, FACTS) if facts is None else facts
    predictions = changes.pop("predictions", None) or predicted(experiment)
    return RunPredictions(experiment, predictions, changes.pop("failures", {}), known, **changes)


def notes_with(run: RunPredictions, words: str) -> list[str]:
    return [note for note in table_notes(run, {}) if words in note]


def twins(split: str, tested: int, near: int, same: int = 0) -> dict[str, Any]:
    pair = [[f"{split}/1", f"{split}/2", 0.95], [f"{split}/3", f"{split}/4", 0.91]] if near else []
    return {"split": split, "tested": tested, "near": near, "same": same, "such_as": pair}


class TestDocuments:
    def test_of_one_variant_have_their_words_and_classes(self) -> None:
        first, protocol = document_sentences(run_of(table_study()))
        assert first == "1,234 documents of 3 classes, with 5,678 distinct words."
        assert protocol.startswith("Each group is tested")

    def test_of_several_variants_have_a_range(self) -> None:
        experiment = table_study(variants=FEW | {"least": {"text": {"min_occurrences": 60}}})
        facts = {BASE_VARIANT: FACTS, "few": FACTS | {"documents": 99}, "least": FACTS | {"documents": 4000}}
        assert document_sentences(run_of(experiment, facts))[0] == "99 to 4,000 documents in 3 variants."
        facts["least"] = facts["few"]
        assert document_sentences(run_of(experiment, facts))[0] == "99 to 1,234 documents in 3 variants."
        assert "classes" in document_sentences(run_of(experiment))[0]

    def test_protocols_that_differ_are_left_to_the_notes(self) -> None:
        variants = {"fewer": {"protocol": {"name": "leave-one-group-out", "held_out": ["cornell"]}}}
        run = run_of(table_study(variants=variants))
        one = {key: splits[:1] if key.variant == "fewer" else splits for key, splits in run.predictions.splits.items()}
        other = replace(run, predictions=replace(run.predictions, splits=one, settings={}))
        assert len(document_sentences(run)) == 2
        assert len(document_sentences(other)) == 1

    @pytest.mark.parametrize("extra", [-1, 0, 1, 2])
    def test_at_most_thirty_groups_are_listed(self, extra: int) -> None:
        experiment, n = table_study(), MAX_LISTED_GROUPS + extra
        made = predicted(experiment)
        splits = tuple(TestedSplit(f"g{i}", np.arange(i + 1), np.full(3, 5)) for i in range(n))
        own = Predictions(made.tasks, {SplitKey(BASE_VARIANT, "", None): splits}, {})
        _, said = document_sentences(run_of(experiment, predictions=own))
        listed = ", ".join(f"g{i} {i + 1}" for i in range(min(n, MAX_LISTED_GROUPS)))
        more = f", and {extra} more groups" if extra > 0 else ""
        assert said == f"Each group is tested after training on all others (test documents: {listed}{more})."

    def test_a_generated_corpus_is_called_so_and_several_are_counted(self) -> None:
        assert corpus_in_words(table_study()) == "the generated corpus"
        experiment = table_study(variants={"other": {"corpus": {"name": "synthetic", "classes": CLASSES[:2]}}})
        assert corpus_in_words(experiment) == "the generated corpus"
        assert corpus_in_words(table_study(variants={"other": {"corpus": {"name": "webkb"}}})) == "2 corpora"


class TestNearDuplicates:
    facts = FACTS | {"near_duplicates": [twins("a", 100, 9), twins("b", 10, 0), twins("c", 20, 4, 1)]}

    def test_each_split_that_has_some_is_a_row(self) -> None:
        rows = near_duplicate_rows(run_of(table_study(), {BASE_VARIANT: self.facts}))
        assert rows == [["", "a", 100, 9, 0, "a/1", "a/2", 0.95], ["", "c", 20, 4, 1, "c/1", "c/2", 0.95]]

    def test_of_several_variants_each_is_named(self) -> None:
        facts = {BASE_VARIANT: FACTS, "few": self.facts}
        assert [row[:2] for row in near_duplicate_rows(run_of(table_study(variants=FEW), facts))] == [
            ["few", "a"],
            ["few", "c"],
        ]

    @pytest.mark.parametrize("n", [2, 3, 4])
    def test_the_terminal_counts_the_documents_of_at_most_three_variants(self, n: int) -> None:
        variants = {f"v{i}": {"text": {"min_occurrences": 50 + i}} for i in range(n - 1)}
        said = list(terminal_notes(run_of(table_study(variants=variants))))
        names = [BASE_VARIANT, *variants] if n <= 3 else []
        assert [text.partition(":")[0] for text in said] == names
        assert all(": 1,234 documents, 5,678 words; " in text for text in said)


class TestVariants:
    def test_texts_of_methods_have_their_own_words_and_empty_documents(self) -> None:
        own = {"text": {"min_documents": 2, "lexer": "unicode"}, "kernel": "ngd"}
        experiment = small_experiment(corpus=CORPUS, methods=["linear", own], name="texts")
        words = {"vocabulary": 50, "documents_without_words": 1}
        facts = FACTS | {"documents_without_words": 7, "letters_dropped": 4321, "texts": [words]}
        notes = table_notes(run_of(experiment, {BASE_VARIANT: facts}), {})
        assert notes[0].endswith("; 7 documents without words, represented by the zero vector.")
        assert notes[1].startswith("Text of min_documents2-lexer-unicode-ngd: ")
        assert ": 50 words that occur at least 5 times and are in at least 2 documents; digits: " in notes[1]
        assert notes[1].endswith("; lexer: unicode; 1 document without words, represented by the zero vector.")
        assert notes[2] == (
            "4,321 non-ASCII letters were dropped; words are split where they occur. `lexer: unicode` reads them."
        )

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ({"min_occurrences": 1}, "5,678 words; digits"),
            ({"min_occurrences": 2}, "5,678 words that occur at least 2 times; digits"),
            ({"min_occurrences": 1, "min_documents": 3}, "5,678 words that are in at least 3 documents; digits"),
            (
                {"min_occurrences": 2, "min_documents": 3},
                "5,678 words that occur at least 2 times and are in at least 3 documents; digits",
            ),
            ({"min_occurrences": 1, "digits": "drop", "stoplist": "smart"}, "; digits: drop; stoplist: smart."),
            ({"min_occurrences": 1, "digits": "literal", "stoplist": "none"}, "; digits: literal; stoplist: none."),
            ({"min_occurrences": 1, "characters": [2, 3]}, "; stoplist: none; terms: all, characters."),
            (
                {"min_occurrences": 2, "vocabulary_from": "misc"},
                "5,678 words that occur at least 2 times in the group 'misc'; digits",
            ),
        ],
    )
    def test_pruning_is_said_as_it_is(self, text: dict[str, Any], words: str) -> None:
        run = run_of(small_experiment(corpus=CORPUS, methods=["linear"], text={"stoplist": "none"} | text))
        assert words in table_notes(run, {})[0]

    def test_the_fewest_training_documents_are_those_of_the_variant(self) -> None:
        experiment = drawn_study(variants=FEW, metrics=["macro-f1"])
        made = predicted(experiment, multilabel=True)
        trained = {
            (BASE_VARIANT, 50): ([9, 4, 5], [3, 8, 5], 3, CLASSES[0]),
            (BASE_VARIANT, 100): ([9, 9, 9], [9, 9, 8], 8, CLASSES[2]),
            ("few", 50): ([9, 2, 9], [9, 9, 9], 2, CLASSES[1]),
            ("few", 100): ([7, 7, 6], [5, 7, 9], 5, CLASSES[0]),
        }
        splits = {
            key: tuple(
                replace(split, trained=np.array(trained[key.variant, key.size or 0][i % 2]))
                for i, split in enumerate(own)
            )
            for key, own in made.splits.items()
        }
        run = run_of(experiment, predictions=replace(made, splits=splits))
        said = [text.partition("of a class: ")[2] for text in notes_with(run, "Fewest training documents")]
        expected = []
        for name in experiment.variants:
            parts = [(trained[name, size], size) for size in (50, 100)]
            expected.append(", ".join(f"{own[2]} ({own[3]}) of {size}" for own, size in parts) + ".")
        assert said == expected

    @pytest.mark.parametrize(
        ("methods", "own", "others"),
        [
            (["mnb"], [], ["class that comes first in: course, faculty, student."]),
            (["divergence-bayes"], ["A tie goes to the class that comes first among the training documents."], []),
            (
                ["mnb", "divergence-bayes"],
                ["Ties of divergence-bayes go to the class that comes first among the training documents."],
                ["class that comes first in: course, faculty, student."],
            ),
        ],
    )
    def test_ties_of_methods_are_broken_by_their_rule(
        self, methods: list[str], own: list[str], others: list[str]
    ) -> None:
        experiment = small_experiment(corpus=CORPUS, methods=methods)
        notes = " ".join(table_notes(run_of(experiment), {}))
        assert all(text in notes for text in (*own, *others))
        assert ("among the training documents" in notes) == bool(own)
        assert ("comes first in:" in notes) == bool(others)


class TestSettings:
    experiment = drawn_study(gain=True)

    def changed(self, **of_setting: Any) -> RunPredictions:
        """Return a run whose settings of the first and of the last have these, and the others nothing."""
        made = predicted(self.experiment)
        keys = list(made.settings)
        settings = dict(made.settings)
        for key in (keys[0], keys[-1]):
            settings[key] = replace(settings[key], **of_setting)
        return run_of(self.experiment, predictions=replace(made, settings=settings))

    def test_the_gain_is_of_the_largest_size_over_the_smallest(self) -> None:
        assert notes_with(run_of(self.experiment), "gain-…") == [
            "gain-…: the score at training size 100 minus that at 50, replicate by replicate."
        ]
        assert notes_with(run_of(drawn_study()), "gain-…") == []

    def test_cells_of_curves_and_gains_report_no_selection(self) -> None:
        assert notes_with(run_of(self.experiment), " selected sigma") == []

    def test_a_warning_names_each_method_once(self) -> None:
        made = predicted(self.experiment)
        settings = {
            key: replace(each, warnings=("did not converge", "too few") if key.method == "rbf" else ("too few",))
            for key, each in made.settings.items()
        }
        run = run_of(self.experiment, predictions=replace(made, settings=settings))
        assert notes_with(run, "Warning of") == [
            "Warning of linear, rbf: too few",
            "Warning of rbf: did not converge",
        ]

    def test_settings_are_counted_by_the_version_that_measured_them(self) -> None:
        n = len(predicted(self.experiment).settings)
        versions = ("0.1",) * 5 + ("0.3",)
        (said,) = notes_with(self.changed(versions=versions), "several versions")
        assert said.endswith(f"(settings: {n - 2} by an unknown version, 2 by 0.1, 2 by 0.3).")
        assert notes_with(run_of(self.experiment), "several versions") == []
        (two,) = notes_with(self.changed(versions=("0.1",) * 6), "several versions")
        assert two.endswith(f"(settings: {n - 2} by an unknown version, 2 by 0.1).")

    def test_methods_of_curves_are_defined_and_those_of_other_variants_where_they_differ(self) -> None:
        ned = {"methods": ["linear", "ned"], "choose": None}
        variants = {"same": FEW["few"], "less": {"defaults": {"classifier": {"C": 7}}}}
        experiment = drawn_study(**ned, compare=[], variants=variants)
        said = notes_with(run_of(experiment), "linear: svm")
        assert said == [
            "base: linear: svm on TF, l2, linear; ned: svm on TF, l2, ned.",
            "less: linear: svm (C 7.0) on TF, l2, linear; ned: svm (C 7.0) on TF, l2, ned.",
        ]
        counts = drawn_study(methods=["mnb", "linear"], choose=None, compare=[])
        assert notes_with(run_of(counts), "mnb: ") == ["mnb: mnb on tf; linear: svm on TF, l2, linear."]
        assert notes_with(run_of(table_study()), ": svm on") == []

    def test_a_failed_diagnostic_is_told_where_no_row_shows_it(self) -> None:
        experiment = table_study(diagnostics=["covering-numbers", "feature-errors"], variants=FEW)
        failures = {"covering-numbers": "a", "feature-errors": "b", "few-feature-errors": "c", "other": "d"}
        run = run_of(experiment, failures=failures)
        expected = ["The diagnostic feature-errors failed: b.", "The diagnostic few-feature-errors failed: c."]
        assert notes_with(run, "failed:") == expected
        assert [text for text in terminal_notes(run) if "failed:" in text] == expected


def test_each_candidate_is_listed_with_the_splits_that_selected_it() -> None:
    experiment = table_study(
        methods=[{"kernel": {"name": "rbf", "sigma": [0.1, 0.2]}}, "linear"],
        choose={"by": ["oracle", "cross-validation"], "folds": 4},
        compare=[],
    )
    run = run_of(experiment)
    said = notes_with(run, " selected sigma")
    names = ["sigma 0.1", "sigma 0.2"]
    for cell in (cell for cell in experiment.cells if cell.method == "rbf"):
        own = [names[index] for index in run.scored.chosen[cell.id]]
        splits = {
            label: [s for s, each in zip(("cornell", "texas"), own, strict=True) if each == label] for label in own
        }
        expected = "; ".join(f"{label} ({', '.join(each)})" for label, each in splits.items())
        assert f"{cell.id} selected {expected}." in said
    assert len(said) == 2
    assert len(notes_with(run, "in 4-fold cross-validation")) == 1
    assert notes_with(run, "Candidates of") == ["Candidates of rbf: sigma 0.1, 0.2."]


@pytest.mark.parametrize(
    ("corpus", "folds", "words"),
    [
        ("20ng", 10, "10% of its training documents of each class, after"),
        ("files", 4, "25% of its training documents, after"),
    ],
)
def test_a_temporal_hold_out_says_of_what_it_is_a_share(corpus: str, folds: int, words: str, tmp_path: Path) -> None:
    lines = [f"word,{label},2024-01-{day:02}\n" for day in range(1, 9) for label in "ab"]
    (tmp_path / "own.csv").write_text(f"text,label,date\n{''.join(lines)}")
    own = {"name": "files", "path": str(tmp_path / "own.csv"), "date": "date"}
    experiment = small_experiment(
        corpus=own if corpus == "files" else {"name": "20ng"},
        protocol={"name": "by-date"} if corpus == "files" else "fixed-split",
        methods=[{"kernel": {"name": "rbf", "sigma": [1, 2]}}],
        choose={"by": "temporal-holdout", "folds": folds},
    )
    notes = table_notes(run_of(experiment, predictions=Predictions({}, {}, {})), {})
    assert any(words in note for note in notes)
    assert corpus_in_words(experiment) == ("own.csv" if corpus == "files" else "20 Newsgroups")


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        ({"name": "k-fold", "k": 2, "stratified": True, "seed": 7}, "2 stratified folds (seed 7); each document"),
        ({"name": "k-fold", "k": 2, "stratified": False, "seed": 7}, "2 random folds (seed 7); each document"),
        (
            {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
            "Each group is tested after training on all",
        ),
        (
            {"name": "random-subsets", "train_size": [50, 100], "replicates": 6, "stratified": True, "test": "texas"},
            "Each training size: 6 stratified random replicates",
        ),
        (
            {"name": "random-subsets", "train_size": [50, 100], "replicates": 6, "stratified": False},
            "tested on all other documents of the task.",
        ),
        (
            {"name": "random-subsets", "train_size": [50, 100], "replicates": 6, "test": "texas"},
            "tested on the group 'texas'.",
        ),
        ({"name": "hold-out", "test_share": 0.25, "replicates": 6}, "25% of the documents are tested in each."),
    ],
)
def test_a_protocol_is_a_sentence(protocol: dict[str, Any], said: str) -> None:
    experiment = small_experiment(corpus=CORPUS, methods=["linear"], protocol=protocol, name="x")
    (sentence,) = [text for text in document_sentences(run_of(experiment)) if said in text]
    if "replicates" in protocol:
        assert f"6 {'' if protocol.get('stratified', True) else 'un'}stratified random replicates" in sentence


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        (["collection"], "; idf over the whole collection."),
        (["training"], "; idf over the training documents."),
        (["training", "collection"], "; idf over the training documents or the whole collection."),
    ],
)
def test_each_source_of_an_idf_is_named(sources: list[str], words: str) -> None:
    methods = [{"weighting": "tfidf", "idf": source, "kernel": "linear", "name": source} for source in sources]
    notes = table_notes(run_of(small_experiment(corpus=CORPUS, methods=methods, name="x")), {})
    assert notes[0].endswith(words)


@pytest.mark.parametrize(("held", "n"), [(["cornell"], "25 test"), (["cornell", "texas"], "60")])
def test_tasks_are_counted_by_their_tested_documents(held: list[str], n: str) -> None:
    protocol = {"name": "leave-one-group-out", "held_out": held}
    experiment = table_study(tasks=[CLASSES, CLASSES[::-1]], protocol=protocol)
    made = predicted(experiment)
    splits = {key: own[: len(held)] for key, own in made.splits.items()}
    settings = {key: replace(own, sizes=own.sizes) for key, own in made.settings.items()}
    if len(held) == 1:
        settings = {
            key: setting_of(own.by_split[:1], own.tied_by_split[:1], seconds=own.seconds[:1])
            for key, own in made.settings.items()
        }
    run = run_of(experiment, predictions=replace(made, splits=splits, settings=settings))
    said = notes_with(run, "classes, in tie order")
    assert [text.partition(": ")[2] for text in said] == [
        f"{n} documents; classes, in tie order: {', '.join(classes)}." for classes in (CLASSES, CLASSES[::-1])
    ]
    assert notes_with(run_of(table_study()), "classes, in tie order") == []
