"""The whole of a configuration: what it says where it says little, its variants, metrics and diagnostics."""

from __future__ import annotations

import pytest
import yaml

from benchmark.config.experiment import check_experiment
from benchmark.config.model import BASE_VARIANT
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.errors import ConfigError
from benchmark.system.yaml_source import YamlSource

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

    @pytest.mark.parametrize(
        ("fragment", "said"),
        [
            ("variants:\n  base: {text: {}} # HERE\n", "'base' is the configuration itself"),
            (
                "variants:\n  No Html: {text: {}} # HERE\n",
                "'No Html': a variant's name is made of a-z, 0-9, '.' and '-'",
            ),
            (
                "variants:\n  a:\n    txt: {} # HERE\n",
                "unknown key of a variant 'txt'; did you mean 'text'? (allowed: corpus, t",
            ),
            ("variants:\n  a:\n    diagnostics: [coordinates] # HERE\n", "unknown key of a variant 'diagnostics'"),
            ("variants:\n  a: {text: {}}\n  b:\n    text:\n      digit: drop # HERE\n", "did you mean 'digits'?"),
            ("variants:\n  a:\n    corpus:\n      classes: [student] # HERE\n", "two or more different names"),
            ("variants:\n  a:\n    text:\n      digits: tokn # HERE\n", "did you mean 'token'?"),
            ("variants:\n  a:\n    text:\n      min_occurrences: -2 # HERE\n", "min_occurrences is -2"),
            ("variants:\n  a:\n    defaults:\n      idf: test # HERE\n", "unknown idf 'test'"),
            ("variants:\n  a:\n    defaults:\n      C: -1 # HERE\n", "C must be a positive number"),
            (
                "variants:\n  a:\n    defaults:\n      smoothing: 1 # HERE\n",
                "no method here has the parameter 'smoothing'",
            ),
            ("variants:\n  a:\n    protocol:\n      held_out: [texsa] # HERE\n", "did you mean 'texas'?"),
            ("variants:\n  a:\n    terms:\n      number: [2, 1] # HERE\n", "ascending"),
            ("variants:\n  a:\n    protocol: {1: 2} # HERE\n", "unknown parameter of the protocol"),
            ("run_base: false # HERE\n", "run_base: false leaves nothing to run: add variants"),
            (
                "run_base: false\nvariants: {a: {}}\nexpect: {documents: 600} # HERE\n",
                "which run_base: false doesn't run",
            ),
        ],
    )
    def test_what_is_no_variant_is_refused_at_its_line(self, refusal, fragment, said):
        assert said in refusal(fragment)


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        (
            "metrics:\n  - accuracy\n  - macro-f2 # HERE\n",
            "unknown metric 'macro-f2'; did you mean 'macro-f1'? (nearest of ",
        ),
        ("metrics:\n  - accuracy\n  - accuracy # HERE\n", "the metric 'accuracy' is listed twice"),
        (
            f"{SEVERAL}metrics: [accuracy] # HERE\n",
            "metric of documents with several classes 'accuracy' (nearest of ",
        ),
        ("per_class: true\nmetrics: [accuracy] # HERE\n", "unknown metric 'accuracy'"),
        (
            "per_class: true\nvariants:\n  a:\n    corpus:\n      classes: [student, course] # HERE\n",
            "a variant must have the classes of its configuration",
        ),
        (
            f"{TWO_CLASSES}variants:\n  a:\n    corpus:\n      classes: [student, faculty] # HERE\n",
            "a variant must have the classes of its configuration",
        ),
        ("readings: {base: as printed, other: b} # HERE\n", "unknown variant 'other' (allowed: base)"),
        ("readings: {base: as printed} # HERE\n", "name 'base', the configuration itself, and a variant or more"),
        (
            "variants: {a: {}}\nreadings: {base: as printed, a: b} # HERE\n",
            "readings are of a configuration with a `paper`",
        ),
        (
            "variants: {a: {}, b: {}}\npaper: zhang2005\nreadings: {a: x, b: y} # HERE\n",
            "name 'base', the configuration itself, and a variant or more",
        ),
        (
            "variants: {a: {}}\npaper: zhang2005\nsensitivity_of: webkb\nreadings: {base: x, a: y} # HERE\n",
            "which is no sensitivity analysis",
        ),
        (
            "choose:\n  by: [cross-validation, temporal-holdout] # HERE\n",
            "cross-validation and temporal-holdout can't be combined: name one",
        ),
        (
            "choose:\n  by: [cross-validation, oracle, temporal-holdout] # HERE\n",
            "cross-validation and temporal-holdout can't be combined: name one",
        ),
        ("paper: ./mine.yaml # HERE\n", "mine.yaml: can't be read: No such file or directory"),
        ("paper: nobody1999 # HERE\n", "a file of your own ends with .yaml: paper: ./mine.yaml"),
        ("tuned_to_published:\n  - {cells: 'ndg*', choice: C, to: Table 1} # HERE\n", "unknown cell 'ndg*'"),
        ("gain: true # HERE\n", "list two or more"),
        (f"{DRAWS.replace('[20, 40]', '20')}gain: true # HERE\n", "list two or more"),
        (f"{DRAWS}gain: true # HERE\nvariants: {{a: {{protocol: {{train_size: 20}}}}}}\n", "list two or more"),
        (
            "choose:\n  by:\n    - oracle\n    - oracel # HERE\n",
            "unknown way to choose 'oracel'; did you mean 'oracle'?",
        ),
        ("choose:\n  by:\n    - oracle\n    - oracle # HERE\n", "'oracle' is listed twice"),
        (
            "diagnostics:\n  - centroid-flows # HERE\n",
            "unknown diagnostic 'centroid-flows'; did you mean 'centroid-flow'?",
        ),
        ("diagnostics:\n  - 5 # HERE\n", "a diagnostic is a name, or a mapping with a name and parameters, not 5"),
        ("diagnostics:\n  - name: centroid-flow\n    tolerance: 0 # HERE\n", "tolerance"),
        ("diagnostics:\n  - name: centroid-distances\n    centroids: [median] # HERE\n", "'median'"),
        ("diagnostics:\n  - name: centroid-distances\n    smoothing: [0, 1] # HERE\n", "smoothing"),
        ("diagnostics:\n  - name: centroid-distances\n    smoothing: [1.0, 0.1] # HERE\n", "smoothing"),
        ("diagnostics:\n  - name: centroid-distances\n    smoothing: [1.0, .inf] # HERE\n", "smoothing"),
        ("diagnostics:\n  - name: centroid-distances\n    resamples: 1 # HERE\n", "resamples"),
        ("paper: nobody1999 # HERE\n", "unknown paper 'nobody1999' (allowed: chen2018, lafferty2002, "),
    ],
)
def test_what_can_not_be_scored_or_measured_is_refused(refusal, fragment, said):
    assert said in refusal(fragment)


def test_a_configuration_out_of_a_manifest_is_refused_by_name(written):
    raw = yaml.safe_load(written().read_text())
    assert check_experiment(YamlSource("run/manifest.json", raw), BUILTIN_REGISTRIES).name == "small"
    with pytest.raises(ConfigError, match=r"^run/manifest\.json: unknown corpus 'synth'"):
        check_experiment(YamlSource("run/manifest.json", {**raw, "corpus": {"name": "synth"}}), BUILTIN_REGISTRIES)


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
