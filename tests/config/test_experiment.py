"""A configuration as the checked data that a run folder keeps: documents, tasks, cells, pairs, figures, variants."""

from __future__ import annotations

import json
from functools import reduce

import pytest

from benchmark.config.experiment_data import experiment_to_data
from benchmark.config.model import BASE_VARIANT
from benchmark.system.errors import ConfigError, DataError
from tests.config.conftest import FILES

DRAWS = "protocol: {name: random-subsets, train_size: [20, 40], replicates: 2}\n"
TASKS = "tasks: [[faculty, course], {title: All four, largest: 4}]\n"
SEVERAL = "corpus: {name: reuters, subset: without-brief, classes: [earn, acq]}\nprotocol: fixed-split\n"
GRID = "methods: [linear, {kernel: {name: rbf, sigma: [1, 2]}}]\n"
SOFT = "variants: {soft: {defaults: {C: 0.1}}}\n"
FOUR = ["course", "faculty", "project", "student"]
MEANS = ["macro-f1", "micro-f1", "macro-f1-of-means"]


def ids(data):
    return " ".join(cell["id"] for cell in data["cells"])


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [
        ("", {"name": "small", "title": "small", "seed": 0, "paper": None, "metrics": ["accuracy", *MEANS],
              "choices": [""], "compare": [], "figures": [], "expected_documents": None,
              "base sizes": [None], "base terms": None}),
        (("title: T\nseed: 7\nmetrics: [macro-f1]\nnotes: [one]\nexpect: {documents: 600, vocabulary: 9}\n"
         "paper: zhang2005\nsensitivity_of: webkb\n"),
         {"title": "T", "seed": 7, "metrics": ["macro-f1"], "notes": ["one"], "expected_documents": 600,
          "expected_vocabulary": 9, "paper": "zhang2005", "sensitivity_of": "webkb"}),
        (SEVERAL, {"metrics": MEANS, "base collection multilabel": True}),
        ("paper: zhang2005\nvariants: {a: {}}\nreadings: {base: b, a: c}\n", {"readings": {"base": "b", "a": "c"}}),
        (("methods: [linear, ngd, ned]\n"
         "tuned_to_published: [{cells: '*', choice: C 3, to: T 1}, {cells: 'n?d', choice: C 4, to: T 2}]\n"),
         {"tuned_cells": {"linear": "C 3, to come near T 1",
                          **dict.fromkeys(["ngd", "ned"], "C 4, to come near T 2")}}),
        # Documents, and how they become counts.
        ("", {"base collection classes": FOUR, "base collection subset": None, "base collection exclude": []}),
        ("corpus: {name: synthetic, classes: [student, course], exclude: [a/b/c]}\n",
         {"base collection classes": ["student", "course"], "base collection exclude": ["a/b/c"]}),
        ("tasks: [[student, course], [student, faculty]]\n",
         {"base collection classes": ["student", "course", "faculty"]}),
        *((f"text: {{{key}: {value}}}\n", {f"base collection {path}": expected}) for key, value, path, expected in (
            ("ngrams", "[2, 1, 2]", "lexing ngrams", [1, 2]),
            ("fields", "[title, all, title]", "lexing fields", ["title", "all"]),
            ("characters", "[2, 4]", "lexing characters", [2, 4]), ("characters", "3", "lexing characters", [3, 3]),
            ("lexer", "unicode", "lexing lexer", "unicode"), ("skip_header", "true", "lexing skip_header", True),
            ("skip_html", "true", "lexing skip_html", True), ("digits", "literal", "lexing digits", "literal"),
            ("stoplist", "none", "lexing stoplist", "none"), ("min_documents", "600", "pruning min_documents", 600),
            ("min_occurrences", "3", "pruning min_occurrences", 3),
            ("vocabulary_from", "misc", "pruning group", "misc"))),
        *((f"corpus: {{name: {corpus}}}\nprotocol: {{name: k-fold, k: 2}}\ntext: {{fields: {fields}}}\n",
           {"base collection lexing format": kind, "base collection lexing lexer": lexer})
          for corpus, fields, kind, lexer in (
            ("synthetic", "[all, title]", "html", None), ("20ng", "[subject, X-Face, own]", "mail", None),
            ("20ng", "all", None, None), ("curved-points", "all", None, "unicode"))),
        # Tasks, protocols and terms.
        ("tasks: [[student, course], {title: 'The two: largest', largest: 2}]\n", {"base tasks": [
            {"name": "student-course", "title": "student vs course", "classes": ["student", "course"]},
            {"name": "the-two-largest", "title": "The two: largest", "classes": ["student", "course"]}]}),
        (f"{DRAWS}seed: 7\n", {"base sizes": [20, 40], "base protocol given": {"replicates": 2, "seed": 7}}),
        ("expect: {vocabulary: 20}\nterms: {number: [10, 20], aggregate: average}\n",
         {"base terms": {"numbers": [10, 20], "rank": "information-gain", "aggregate": "average"}}),
        *((f"{GRID}choose: {{by: {by}}}\n{more}", {"inner given": given and given | {"keep_lone": True}})
          for by, more, given in (
            ("cross-validation", "", {"k": 5, "seed": 0, "stratified": True, "grouped": False}),
            ("[oracle, cross-validation], folds: 3, grouped: true",
             "seed: 7\ncorpus: {name: 20ng}\nprotocol: fixed-split\n",
             {"k": 3, "seed": 7, "stratified": True, "grouped": True}),
            ("cross-validation, folds: 2", "corpus: {name: synthetic, subset: several}\n",
             {"k": 2, "seed": 0, "stratified": False, "grouped": False}))),
        (f"{GRID}choose: {{by: temporal-holdout, folds: 4}}\ncorpus: {{name: 20ng}}\nprotocol: fixed-split\n",
         {"inner given": {"test_share": 0.25, "stratified": True}}),
        # Cells.
        (f"{TASKS}methods: ngd\nterms: {{number: [10, 50]}}\n",
         {"ids": "faculty-course-ngd-10 faculty-course-ngd-50 all-four-ngd-10 all-four-ngd-50"}),
        (f"choose: {{by: [oracle, cross-validation], folds: 2}}\n{GRID}",
         {"ids": "linear-oracle rbf-oracle linear-cv rbf-cv", "choices": ["oracle", "cross-validation"]}),
        (SOFT, {"ids": "linear ngd soft-linear soft-ngd", "cells 2 variant": "soft", "cells 2 method": "linear"}),
        ("per_class: true\nmethods: mnb\ntasks: [[faculty, course]]\n",
         {"ids": "faculty-course-all-mnb faculty-course-faculty-mnb faculty-course-course-mnb",
          "cells 1 of_class": "faculty"}),
        (f"{DRAWS}gain: true\n{SOFT}", {"ids": "linear-20 linear-40 ngd-20 ngd-40 gain-linear gain-ngd soft-linear-20 "
                                        "soft-linear-40 soft-ngd-20 soft-ngd-40 soft-gain-linear soft-gain-ngd"}),
        (("diagnostics: [{name: centroid-distances, centroids: [pooled, skl], resamples: 2}]\n"
         "methods: divergence-bayes\ncorpus: {name: synthetic, classes: [student, course]}\n"),
         {"cells 0 id": "divergence-bayes", "cells 1 what": "diagnostic", "cells 1 diagnostic": "centroid-distances"}),
        # Pairs.
        (f"compare: [[ngd, linear]]\n{SOFT}", {"compare": [
            {"a": "ngd", "b": "linear", "family": "base  "},
            {"a": "soft-ngd", "b": "soft-linear", "family": "soft  "}]}),
        (("compare: [[soft-mnb-9, mnb-9]]\nvariants: {soft: {defaults: {smoothing: 2}}}\nmethods: [mnb, eef]\n"
         "terms: {number: 9}\n"), {"compare": [{"a": "soft-mnb-9", "b": "mnb-9", "family": "soft  "}]}),
        *((f"compare: [[ngd, linear]]\nholm_within: {within}\n{DRAWS}{TASKS}", {"compare 3 family": family})
          for within, family in (("[variant, task]", "base all-four"), ("[size, pair]", "40 ngd linear"), ("[]", ""))),
        # Figures.
        (f"{DRAWS}{SOFT}", {"figures": [{"name": "figure", "y": ["accuracy"], "where": {"variant": "base"}},
                                        {"name": "figure-soft", "y": ["accuracy"], "where": {"variant": "soft"}}]}),
        *((f"{DRAWS}{SOFT}figures: [{{name: a, {across}}}]\n", {"figures 0 name": "a", "n_figures": 1})
          for across in ("line: variant", "panel: [variant, task]", "x: C", "where: {variant: soft}")),
        (f"{DRAWS}figures: [{{name: a, y: {{ratio: [ngd, linear]}}, panel: [task, class], where: {{class: all}}}}]\n",
         {"figures": [{"name": "a", "y": ["accuracy"], "relation": ["ratio", "ngd", "linear"],
                       "panel": ["task", "of_class"], "where": {"of_class": "all"}}]}),
        ((f"{DRAWS}figures: [{{name: a, title: T, y: [accuracy, error], x: C, line: kernel, panel: [], bars: none, "
         "log_y: true}]\n"),
         {"figures": [{"name": "a", "y": ["accuracy", "error"], "x": "C", "line": "kernel", "panel": [], "bars": "none",
                       "log_y": True, "title": "T", "where": {}}]}),
        (("corpus: {name: curved-points}\nprotocol: {name: k-fold, k: 2}\ndiagnostics: [coordinates]\n"
         "figures: [{name: a, regions: [base]}]\n"),
         {"figures": [{"name": "a", "y": [], "x": "", "regions": ["base"], "where": {}}]}),
    ],
)  # fmt: skip
def test_a_configuration_is_what_it_says(checked, fragment, expected):
    data = json.loads(json.dumps(experiment_to_data(checked(fragment))))
    data |= {"ids": ids(data), "n_figures": len(data["figures"]), "base": data["variants"].get(BASE_VARIANT)}
    for path, value in expected.items():
        keys = [int(key) if key.isdigit() else key for key in path.split()]
        found = reduce(lambda at, key: at.get(key) if isinstance(at, dict) else at[key], keys, data)
        assert found == value, path


VARIED = (
    "corpus: {name: synthetic, classes: [student, course, faculty], exclude: [a/b/c]}\n"
    "text: {digits: token, skip_html: true}\nterms: {number: 20}\n"
    "variants:\n"
    "  html: {text: {skip_html: false}}\n"
    "  order: {corpus: {classes: [faculty, course, student], exclude: []}, defaults: {idf: training}}\n"
    "  folds: {protocol: {held_out: [texas]}, terms: {aggregate: average}}\n"
)


def test_a_variant_changes_what_it_names_alone(checked):
    base, html, order, folds = checked(VARIED).variants.values()
    assert (html.collection.lexing.skip_html, html.collection.lexing.digits) == (False, "token")
    assert (html.collection.classes, html.entries, html.terms) == (base.collection.classes, base.entries, base.terms)
    assert (order.collection.classes, order.collection.exclude) == (("faculty", "course", "student"), ())
    assert order.collection.lexing == base.collection.lexing
    assert {entry.candidates[0].representation.idf for entry in order.entries} == {"training"}
    assert folds.protocol.given["held_out"] == ["texas"]
    assert (folds.terms.aggregate, folds.terms.numbers) == ("average", (20,))
    assert folds.collection == base.collection


def test_what_a_run_keeps_and_asks_for(checked):
    found = checked("metrics: [error]\ndiagnostics: [document-counts]\n")
    assert set(found.quantities) == {each.name for each in found.diagnostics[0].cls.metrics}
    assert set(found.scorers) >= {"error", "accuracy", "macro-f1"}
    both = checked(f"choose: {{by: [oracle, cross-validation], folds: 2}}\n{GRID}")
    assert both.chosen_on_test == {("small", "linear-oracle"), ("small", "rbf-oracle")}
    assert not checked("metrics: [accuracy]\nmethods: mnb\n").ranks_documents
    for two_classes in ("tasks: [[course, student]]\n", "corpus: {name: synthetic, subset: several}\n"):
        assert checked(f"metrics: [macro-average-precision]\n{two_classes}methods: [ngd]\n").ranks_documents
    assert checked(f"{DRAWS}methods: mnb\nfigures: [{{name: a, y: macro-average-precision}}]\n").ranks_documents


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("text: {fields: [titel]}", "unknown field of files: 'titel'; did you mean 'title'? (allowed: all, title"),
        ("corpus: {name: files, path: own.csv, text: [title, boddy]}",
         "text: .* has no column 'boddy'; did you mean 'body'"),
        ("corpus: {name: files, path: own.csv, text: body, label: all}\nper_class: true",
         "two cells would have the id 'all-mnb'"),
        ("text: {fields: [all, title, body]}", ""),
    ],
)  # fmt: skip
def test_files_of_ones_own_have_columns_fields_and_stop_words(written, read, tmp_path, more, message):
    rows = "".join(f"sea,ink,rum,{'xy'[n % 2]},{('all', 'b')[n % 2]}\n" for n in range(8))
    (tmp_path / "own.csv").write_text(f"title,body,all-2,label,all\n{rows}")
    corpus = "" if "corpus" in more else "corpus: {name: files, path: own.csv, text: [title, body]}\n"
    path = written(f"{corpus}{more}\n"
                   "protocol: {name: k-fold, k: 2}\nmethods: mnb\n")  # fmt: skip
    if not message:
        assert read(path).variants[BASE_VARIANT].collection.lexing.fields == ("all", "title", "body")
        return
    with pytest.raises(
        (ConfigError, DataError), match=message.replace("(", r"\(").replace(")", r"\)").replace("?", r"\?")
    ):
        read(path)


def test_a_tilde_is_the_users_folder_and_words_of_ones_own_are_composed(written, read, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    texts = {"own.csv": FILES["t.csv"], "stop.txt": "The\n\nE\u0301te\u0301 the", "mine.yaml": "paper: doe2020\n"}
    for name, content in texts.items():
        (tmp_path / "home" / name).write_text(content, encoding="utf-8")
    sections = "corpus: {name: files, path: ~/own.csv}\ntext: {stoplist: ~/stop.txt}\npaper: ~/mine.yaml\n"
    found = read(written(f"{sections}protocol: {{name: k-fold, k: 2}}\n"))
    assert found.variants[BASE_VARIANT].collection.lexing.stopped == ("the", "\u00e9t\u00e9")
    assert (found.paper, found.own_paper) == ("doe2020", {"paper": "doe2020"})
