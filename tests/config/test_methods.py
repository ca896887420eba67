"""`methods` and `defaults`: what each method is called, and every parameter that it has."""

from __future__ import annotations

import pytest

from benchmark.config.model import BASE_VARIANT


@pytest.fixture(name="spec")
def spec_of(specs):
    """The one candidate of the one method."""

    def only(fragment):
        (candidates,) = specs(fragment).values()
        (found,) = candidates
        return found

    return only


class TestWords:
    @pytest.mark.parametrize(
        ("method", "names"),
        [
            ("ngd", ["ngd"]),
            ("mnb", ["mnb"]),
            ("{kernel: ngd}", ["ngd"]),
            ("{classifier: mnb}", ["mnb"]),
            ("{normalization: l1, kernel: ngd}", ["l1-ngd"]),
            ("{kernel: ned, normalization: l2, weighting: tfidf}", ["tfidf-l2-ned"]),
            ("{weighting: tfidf, idf: training, kernel: linear}", ["tfidf-idf-training-linear"]),
            ("{dirichlet: 0.5, weighting: tf, kernel: ngd}", ["tf-dirichlet0.5-ngd"]),
            (
                "{weighting: [tf, tfidf], normalization: [l1, l2], kernel: linear}",
                ["tf-l1-linear", "tf-l2-linear", "tfidf-l1-linear", "tfidf-l2-linear"],
            ),
            ("{kernel: [linear, ned], normalization: [l1, l2]}", ["l1-linear", "l2-linear", "l1-ned", "l2-ned"]),
            ("{normalization: none, kernel: {name: rbf, sigma: [0.5, 1]}}", ["none-rbf-sigma0.5", "none-rbf-sigma1"]),
            (
                "{kernel: [linear, {name: hyperbolic, geometry: [fisher], t: [0.5, 0.7]}]}",
                ["linear", "hyperbolic-fisher-t0.5", "hyperbolic-fisher-t0.7"],
            ),
            ("{kernel: ngd, classifier: {C: [0.1, 10]}}", ["ngd-c0.1", "ngd-c10"]),
            ("{kernel: ngd, classifier: [{}, {scheme: one-vs-rest}]}", ["ngd", "ngd-one-vs-rest"]),
            (
                "{kernel: ngd, classifier: {C: [1, 2], scheme: [one-vs-one, one-vs-rest]}}",
                ["ngd-c1-one-vs-one", "ngd-c1-one-vs-rest", "ngd-c2-one-vs-one", "ngd-c2-one-vs-rest"],
            ),
            ("{kernel: ngd, classifier: svm}", ["ngd-svm"]),
            ("{name: the-papers, kernel: ngd, classifier: {name: svm, C: 3}}", ["the-papers"]),
            ("{kernel: ngd, classifier: {name: svm, C: 3}}", ["ngd-svm-c3"]),
            (
                "{classifier: {name: divergence-bayes, centroid: [mean, skl]}}",
                ["divergence-bayes-mean", "divergence-bayes-skl"],
            ),
            ("{kernel: {name: plsi-fisher, n_classes: [2, 3]}}", ["plsi-fisher"]),
            (
                "{kernel: {name: plsi-fisher, n_classes: [[2, 3], [4]]}}",
                ["plsi-fisher-n_classes2-3", "plsi-fisher-n_classes4"],
            ),
            ("{weighting: [tf, binary], dirichlet: 1, kernel: ngd}", ["tf-dirichlet1-ngd", "binary-dirichlet1-ngd"]),
            ("{idf: [collection, training], kernel: ngd}", ["idf-collection-ngd", "idf-training-ngd"]),
        ],
    )
    def test_lists_multiply_and_what_the_entry_says_are_its_words(self, ids, method, names):
        assert ids(f"methods: [{method}]\n") == names

    def test_one_method_needs_no_list_and_several_follow_each_other(self, ids):
        assert ids("methods: ngd\n") == ["ngd"]
        assert ids("methods: {kernel: [ned, ngd]}\n") == ["ned", "ngd"]
        assert ids("methods: [{weighting: tfidf, kernel: ned}, mnb, ngd]\n") == ["tfidf-ned", "mnb", "ngd"]

    def test_defaults_are_no_words(self, ids):
        defaults = "defaults: {weighting: tfidf, idf: training, C: 3, svm: {scheme: one-vs-rest}, diffusion: {t: 2}}\n"
        assert ids(f"{defaults}methods: [linear, diffusion]\n") == ["linear", "diffusion"]

    def test_the_classifier_that_defaults_name_is_no_word_and_its_parameters_are(self, ids):
        fragment = "defaults: {classifier: divergence-bayes}\nmethods: [{classifier: {centroid: [mean, skl]}}]\n"
        assert ids(fragment) == ["mean", "skl"]

    def test_a_parameter_that_is_a_list_by_nature_is_one_value(self, specs):
        found = specs("methods: [{kernel: {name: plsi-fisher, n_classes: [2, 3]}}]\n")
        assert found["plsi-fisher"][0].kernel.resolved["n_classes"] == [2, 3]


class TestSpec:
    def test_a_method_is_what_its_words_say(self, spec):
        method = "{weighting: tfidf, kernel: {name: diffusion, t: 0.1}, classifier: {C: 10}}"
        found = spec(f"defaults: {{classifier: {{name: svm, scheme: one-vs-rest}}}}\nmethods: [{method}]\n")
        assert (found.representation.weighting.name, found.representation.normalization) == ("tfidf", "l1")
        assert found.kernel.resolved == {"name": "diffusion", "t": 0.1}
        svm = found.classifier.resolved
        assert (svm["name"], svm["C"], svm["scheme"]) == ("svm", 10, "one-vs-rest")

    @pytest.mark.parametrize(
        ("method", "classifier", "normalization"),
        [
            ("linear", "svm", "l2"),
            ("ngd", "svm", "l1"),
            ("mnb", "mnb", "none"),
            ("hp-top", "svm", "l2"),
            ("plsi-fisher", "svm", "none"),
            ("linear-svm", "linear-svm", "l2"),
        ],
    )
    def test_a_bare_name_is_that_component_with_its_defaults(self, spec, method, classifier, normalization):
        found = spec(f"methods: {method}\n")
        assert found.classifier.name == classifier
        assert (found.kernel is None) == (classifier == method)
        representation = found.representation
        assert (representation.weighting.name, representation.normalization) == ("tf", normalization)
        assert (representation.idf, representation.dirichlet) == ("collection", 0)

    def test_a_default_goes_to_the_methods_that_have_it(self, specs):
        found = specs("defaults: {smoothing: 2, C: 5, t: 3}\nmethods: [mnb, eef, linear, diffusion]\n")
        assert found["mnb"][0].classifier.given == found["eef"][0].classifier.given == {"smoothing": 2}
        assert found["linear"][0].classifier.given == found["diffusion"][0].classifier.given == {"C": 5}
        assert found["diffusion"][0].kernel.given == {"t": 3}

    @pytest.mark.parametrize(
        ("defaults", "method", "c"),
        [
            ("{classifier: {C: 2}}", "ngd", 2),
            ("{classifier: {C: 2}, C: 3}", "ngd", 3),
            ("{classifier: {C: 2}, C: 3, svm: {C: 4}}", "ngd", 4),
            ("{classifier: {C: 2}, C: 3, svm: {C: 4}}", "{kernel: ngd, classifier: {C: 5}}", 5),
        ],
    )
    def test_the_entry_goes_before_its_name_and_that_before_all(self, spec, defaults, method, c):
        assert spec(f"defaults: {defaults}\nmethods: [{method}]\n").classifier.given["C"] == c

    @pytest.mark.parametrize(
        ("defaults", "method", "normalization"),
        [
            ("{normalization: none}", "linear", "none"),
            ("{normalization: none, svm: {normalization: l1}}", "linear", "l1"),
            ("{svm: {normalization: l1}, linear: {normalization: none}}", "linear", "none"),
            ("{linear: {normalization: none}}", "{kernel: linear, normalization: l2}", "l2"),
        ],
    )
    def test_so_it_is_with_the_representation_and_the_kernel_goes_before_the_classifier(
        self, spec, defaults, method, normalization
    ):
        found = spec(f"defaults: {defaults}\nmethods: [{method}]\n")
        assert found.representation.normalization == normalization

    def test_a_kernel_by_default_is_that_of_methods_that_name_none(self, specs):
        found = specs("defaults: {kernel: {name: rbf, sigma: 2}}\nmethods: [{weighting: tfidf}, linear, mnb]\n")
        assert found["tfidf"][0].kernel.resolved == {"name": "rbf", "sigma": 2}
        assert found["linear"][0].kernel.name == "linear"
        assert found["mnb"][0].kernel is None

    def test_a_dirichlet_prior_by_default_goes_to_kernels_on_the_simplex_alone(self, specs):
        found = specs("defaults: {dirichlet: 0.5}\nmethods: [ngd, linear, mnb, plsi-fisher]\n")
        assert {label: candidates[0].representation.dirichlet for label, candidates in found.items()} == {
            "ngd": 0.5,
            "linear": 0,
            "mnb": 0,
            "plsi-fisher": 0,
        }

    def test_what_sees_the_counts_takes_no_weighting_from_defaults(self, specs):
        found = specs("defaults: {weighting: tfidf, normalization: l2}\nmethods: [plsi-fisher, linear]\n")
        plsi, linear = (found[label][0].representation for label in ("plsi-fisher", "linear"))
        assert (plsi.weighting.name, plsi.normalization) == ("tf", "none")
        assert (linear.weighting.name, linear.normalization) == ("tfidf", "l2")


class TestText:
    @pytest.mark.parametrize(
        ("text", "label"),
        [
            ("{ngrams: [1, 2]}", "ngrams1-2-mnb"),
            ("{ngrams: 2}", "ngrams2-mnb"),
            ("{fields: [all, title]}", "fields-all-title-mnb"),
            ("{characters: [3, 5], within: white-space}", "characters3-5-within-white-space-mnb"),
            ("{skip_header: false, min_documents: 2}", "skip_header-false-min_documents2-mnb"),
            ("{digits: null, min_occurrences: 3}", "digits-default-min_occurrences3-mnb"),
        ],
    )
    def test_its_settings_are_words(self, ids, text, label):
        given = "text: {skip_header: true, digits: token}\n"
        assert ids(f"{given}methods: [{{text: {text}, classifier: mnb}}]\n") == [label]

    def test_a_setting_of_a_method_is_a_list_of_lists_where_it_is_one_by_nature(self, specs):
        found = specs("methods: [{text: {ngrams: [[1], [1, 2]]}, classifier: mnb}]\n")
        assert {name: each[0].text.lexing.ngrams for name, each in found.items()} == {
            "ngrams1-mnb": (1,),
            "ngrams1-2-mnb": (1, 2),
        }

    def test_lists_multiply_first_and_their_words_stand_first(self, ids):
        text = "{stoplist: [none, smart], min_documents: [2, 3]}"
        assert ids(f"methods: [{{text: {text}, weighting: [tf, tfidf], kernel: ngd}}]\n") == [
            f"stoplist-{stop}-min_documents{n}-{weighting}-ngd"
            for stop in ("none", "smart")
            for n in (2, 3)
            for weighting in ("tf", "tfidf")
        ]
        assert ids("methods: [{text: [{skip_html: true}, {digits: token}], classifier: mnb}]\n") == [
            "skip_html-true-mnb",
            "digits-token-mnb",
        ]

    def test_it_says_otherwise_what_the_configurations_or_its_variants_says(self, checked):
        text = "text: {min_documents: 3, stoplist: none}\nvariants: {x: {text: {digits: token}}}\n"
        found = checked(f"{text}methods: [ngd, {{text: {{min_documents: null, skip_html: true}}, kernel: ngd}}]\n")
        for name, digits in ((BASE_VARIANT, "drop"), ("x", "token")):
            variant = found.variants[name]
            plain, own = (entry.candidates[0].text for entry in variant.entries)
            assert plain is None
            assert own.flat == variant.collection.text.flat | {"min_documents": 1, "skip_html": True, "digits": digits}
            assert [*variant.texts.values()] == ["ngd", "min_documents-default-skip_html-true-ngd"]

    def test_its_lists_are_candidates_where_it_is_chosen_over(self, specs):
        method = "methods: [{text: {stoplist: [none, smart], digits: token}, kernel: ngd}]\n"
        assert list(specs(method)) == ["stoplist-none-digits-token-ngd", "stoplist-smart-digits-token-ngd"]
        found = specs(f"choose: {{by: cross-validation, grid_keys: [text]}}\n{method}")
        ((label, candidates),) = found.items()
        assert label == "digits-token-ngd"
        assert [spec.text.lexing.stoplist for spec in candidates] == ["none", "smart"]
        whole = "methods: [{text: [{stoplist: none}, {digits: token}], kernel: ngd}]\n"
        assert {k: len(v) for k, v in specs(f"choose: {{by: oracle, grid_keys: [text]}}\n{whole}").items()} == {
            "ngd": 2
        }


class TestChoose:
    GRID = "methods: [linear, {kernel: {name: diffusion, t: [0.5, 1]}}]\n"

    def test_lists_inside_a_kernel_or_classifier_are_candidates_and_no_words(self, specs):
        found = specs(f"choose: {{by: oracle}}\n{self.GRID}")
        assert list(found) == ["linear", "diffusion"]
        assert [spec.kernel.given["t"] for spec in found["diffusion"]] == [0.5, 1]
        both = specs("choose: {by: oracle}\nmethods: [{kernel: {name: rbf, sigma: [1, 2]}, classifier: {C: [1, 3]}}]\n")
        assert [(spec.kernel.given["sigma"], spec.classifier.given["C"]) for spec in both["rbf"]] == [
            (1, 1),
            (1, 3),
            (2, 1),
            (2, 3),
        ]

    def test_lists_of_kernels_and_weightings_are_cells_still(self, specs):
        grid = "methods: [{weighting: [tf, tfidf], kernel: {name: diffusion, t: [0.5, 1]}}]\n"
        assert list(specs(f"choose: {{by: oracle}}\n{grid}")) == ["tf-diffusion", "tfidf-diffusion"]

    def test_without_it_they_are_cells(self, ids):
        assert ids(self.GRID) == ["linear", "diffusion-t0.5", "diffusion-t1"]


#: What a method that isn't trained on counts says, its keys that are no keys of it, and why.
UNCOUNTED = {
    "predictions: a.csv": (
        ("classifier", "text", "vectors", "weighting"),
        "predictions of a file have no {}: noth",
    ),
    "pipeline: a.py:make": (
        ("classifier", "weighting", "normalization", "vectors"),
        "a pipeline has no {}: it re",
    ),
    "vectors: a.npy": (
        ("kernel", "text", "weighting", "idf", "fields", "features", "dirichlet"),
        "vectors have no {}: a classifier of points takes them as they are",
    ),
}


GZIP = "benchmark.classifiers.gzip_neighbours.GzipNeighbours"
SEVERAL = "corpus: {name: synthetic, subset: several}\nmetrics: [macro-f1]\n"


@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("ngd", ["tf", "ngd", "svm"]),
        ("{kernel: ngd, threshold: at-least-one, name: x}", ["tf", "at-least-one", "ngd", "svm"]),
        (
            "{weighting: tfidf, features: hellinger, threshold: cross-validated, classifier: linear-svm, name: x}",
            ["tfidf", "hellinger", "cross-validated", "linear-svm"],
        ),
        (
            f"{{pipeline: {GZIP}, threshold: at-least-one, name: x, text: {{stoplist: none}}}}",
            ["tf", "at-least-one", GZIP],
        ),
        ("mnb, {weighting: tfidf, classifier: linear-svm, name: y}, {fuse: [y, mnb], name: x}", None),
    ],
)
def test_the_components_of_a_method_are_all_that_it_names_and_the_classifier_is_the_last(specs, method, names):
    found = specs(f"{SEVERAL}methods: [{method}]\n")
    (spec,) = list(found.values())[-1]
    assert [part.name for part in spec.components] == (names or ["tfidf", "linear-svm", "tf", "mnb", "tf", "fusion"])
