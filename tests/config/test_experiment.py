"""The whole of a configuration: what it says where it says little, its variants, metrics and diagnostics."""

from __future__ import annotations

import pytest
import yaml

from benchmark.config.experiment import check_experiment
from benchmark.config.model import BASE_VARIANT
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.errors import ConfigError
from benchmark.system.yaml_source import Node

DRAWS = "protocol: {name: random-subsets, train_size: [20, 40], replicates: 2}\n"
SEVERAL = "corpus: {name: reuters, subset: without-brief, classes: [earn, acq]}\nprotocol: fixed-split\n"
TWO_CLASSES = "corpus: {name: synthetic, classes: [student, course]}\nper_class: true\n"


class TestDefaults:
    def test_little_needs_to_be_said(self, checked):
        experiment = checked()
        assert (experiment.name, experiment.title, experiment.seed) == ("small", "small", 0)
        assert (experiment.paper, experiment.sensitivity_of, experiment.compare, experiment.notes) == (
            None,
            None,
            (),
            (),
        )
        assert (experiment.expected_documents, experiment.expected_vocabulary) == (None, None)
        assert (experiment.choices, experiment.by_class, experiment.diagnostics, experiment.figures) == (
            ("",),
            False,
            (),
            (),
        )
        assert list(experiment.variants) == [BASE_VARIANT]

    def test_all_can_be_said(self, checked):
        experiment = checked(
            "title: A title\nseed: 7\nmetrics: [macro-f1]\nnotes: [one]\nexpect: {documents: 600, vocabulary: 9}\n"
            "paper: zhang2005\nsensitivity_of: webkb\n"
        )
        assert (experiment.title, experiment.seed, experiment.metrics) == ("A title", 7, ("macro-f1",))
        assert (experiment.expected_documents, experiment.expected_vocabulary) == (600, 9)
        assert (experiment.notes, experiment.paper, experiment.sensitivity_of) == (("one",), "zhang2005", "webkb")

    def test_the_metrics_are_those_that_are_defined_for_the_documents(self, checked):
        assert checked().metrics == ("accuracy", "macro-f1", "micro-f1", "macro-f1-of-means")
        assert checked(SEVERAL).metrics == ("macro-f1", "micro-f1", "macro-f1-of-means")


class TestVariants:
    def test_a_variant_changes_what_it_names_alone(self, checked):
        experiment = checked(
            "corpus: {name: synthetic, classes: [student, course, faculty], exclude: [a/b/c]}\n"
            "text: {digits: token, skip_html: true}\nterms: {number: 20}\n"
            "variants:\n"
            "  html: {text: {skip_html: false}}\n"
            "  order: {corpus: {classes: [faculty, course, student]}}\n"
            "  whole: {corpus: {exclude: []}, defaults: {idf: training}}\n"
            "  folds: {protocol: {held_out: [texas]}, terms: {aggregate: average}}\n"
        )
        base, html, order, whole, folds = experiment.variants.values()
        assert (html.collection.lexing.skip_html, html.collection.lexing.digits) == (False, "token")
        assert (html.collection.classes, html.entries, html.terms) == (
            base.collection.classes,
            base.entries,
            base.terms,
        )
        assert order.collection.classes == ("faculty", "course", "student")
        assert (order.collection.lexing, order.collection.exclude) == (base.collection.lexing, ("a/b/c",))
        assert whole.collection.exclude == ()
        assert {entry.candidates[0].representation.idf for entry in whole.entries} == {"training"}
        assert (folds.protocol.given["held_out"], folds.terms.aggregate, folds.terms.numbers) == (
            ["texas"],
            "average",
            (20,),
        )
        assert folds.collection == base.collection

    def test_without_the_configuration_itself_the_variants_are_left(self, ids):
        assert ids("run_base: false\nvariants: {soft: {defaults: {C: 0.1}}}\n") == ["soft-linear", "soft-ngd"]


def test_a_configuration_out_of_a_manifest_is_refused_by_name(written):
    raw = yaml.safe_load(written().read_text())
    assert check_experiment(Node.of_data(raw, "run/manifest.json"), BUILTIN_REGISTRIES).name == "small"
    with pytest.raises(ConfigError, match=r"^run/manifest\.json: unknown corpus 'synth'"):
        check_experiment(Node.of_data({**raw, "corpus": {"name": "synth"}}, "run/manifest.json"), BUILTIN_REGISTRIES)


def test_a_paper_of_ones_own_is_called_as_it_says_or_as_its_file(written, read):
    path = written("paper: ./mine.yaml\n")
    for content, name in (("paper: doe2020\nvalues: []\n", "doe2020"), ("values: []\n", "mine")):
        (path.parent / "mine.yaml").write_text(content)
        found = read(path)
        assert (found.paper, found.own_paper) == (name, yaml.safe_load(content))
    assert read(written("paper: zhang2005\n")).own_paper is None


def test_tuned_cells_are_those_of_the_pattern_and_a_later_item_goes_before(checked):
    items = "[{cells: '*', choice: C 3, to: Table 1}, {cells: 'n?d', choice: C 4, to: Table 2}]"
    found = checked(f"methods: [linear, ngd, ned]\ntuned_to_published: {items}\n").tuned_cells
    both = "C 4, to come near Table 2"
    assert found == {"linear": "C 3, to come near Table 1", "ngd": both, "ned": both}


def test_readings_are_of_a_paper(checked):
    fragment = (
        "variants: {a: {text: {digits: token}}}\npaper: zhang2005\nreadings: {base: as printed, a: with digits}\n"
    )
    assert checked(fragment).readings == {"base": "as printed", "a": "with digits"}


def test_a_class_that_is_called_all_is_refused_where_each_is_scored(written, read):
    path = written(
        "corpus: {name: files, path: t.csv}\nprotocol: {name: k-fold, k: 2}\nper_class: true\nmethods: mnb\n"
    )
    rows = "".join(f"a{n},{label}\n" for n in range(4) for label in ("all", "b"))
    (path.parent / "t.csv").write_text(f"text,label\n{rows}")
    with pytest.raises(ConfigError, match="no class may be called 'all': the name stands for all classes together"):
        read(path)
    assert read(written(path.read_text().replace("per_class: true", "per_class: false"))).cells


def test_documents_are_ranked_where_a_metric_or_a_figure_asks_for_it(checked):
    assert not checked("metrics: [accuracy]\nmethods: mnb\n").ranks_documents
    assert checked("metrics: [accuracy, macro-roc-auc]\nmethods: mnb\n").ranks_documents
    figures = f"{DRAWS}metrics: [accuracy]\nmethods: mnb\nfigures: [{{name: a, y: macro-average-precision}}]\n"
    assert checked(figures).ranks_documents


def test_other_processes_are_no_part_of_what_a_run_keeps(checked):
    found = checked("parallel: {n_jobs: 2}\n")
    assert "parallel" not in found.raw
    assert (found.parallel.n_jobs, found.parallel.backend) == (2, "dask")


def test_metrics_are_those_that_are_asked_for(checked):
    found = checked("metrics: [error]\ndiagnostics: [document-counts]\n")
    assert set(found.quantities) == {each.name for each in found.diagnostics[0].cls.metrics}
    assert set(found.quantities) < set(found.declared)
    assert set(found.scorers) >= {"error", "accuracy", "macro-f1"}


def test_only_what_an_oracle_chooses_is_chosen_on_tested_documents(checked):
    grid = "methods: [linear, {kernel: {name: rbf, sigma: [1, 2]}}]\n"
    found = checked(f"choose: {{by: [oracle, cross-validation], folds: 2}}\n{grid}")
    assert found.chosen_on_test == {("small", "linear-oracle"), ("small", "rbf-oracle")}
    assert checked().chosen_on_test == frozenset()
