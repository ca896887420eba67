"""Keys and values that few configurations have: each is taken, passed on or refused like the common ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from benchmark.config import extends
from benchmark.config.components import (
    ComponentError,
    check_component,
    component_parameters,
    lists_by_nature,
    parameter_in_message,
)
from benchmark.config.extends import MAX_NAME_LENGTH
from benchmark.config.model import BASE_VARIANT
from benchmark.config.registries import declared_metrics
from benchmark.config.subset import settings_of_cell
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.experiment.configuration import select_cells
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.errors import ConfigError
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchmark.config.model import Experiment

DRAWS = "protocol: {name: random-subsets, train_size: [20, 40, 60], replicates: 2}\n"
GRID = "{kernel: {name: rbf, sigma: [1, 2]}}"


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        # Items of lists are pointed at wherever they stand.
        (
            (
                "corpus: {name: curved-points}\nprotocol: {name: k-fold, k: 2}\ndiagnostics: [coordinates]\n"
                "variants: {v: {defaults: {C: 2}}}\n"
                "figures:\n  - name: a\n    regions:\n      - base\n      - v\n      - w # HERE\n"
            ),
            "unknown variant 'w' (allowed: base, v)",
        ),
        (
            "text:\n  fields:\n    - title\n    - all\n    - anchor # HERE\n",
            (
                "unknown field of synthetic: 'anchor'; did you mean 'anchors'? "
                "(allowed: all, title, headings, anchors, body)"
            ),
        ),
        (
            "metrics:\n  - macro-f1\n  - f1 # HERE\n",
            "'f1' is of one class; macro-f1 is its mean over the classes: take that",
        ),
        (
            "metrics:\n  - accuracy\n  - precision # HERE\n",
            "'precision' is of one class; macro-precision is its mean over the classes: take that",
        ),
        ("metrics:\n  - error\n  - accuracy\n  - error # HERE\n", "the metric 'error' is listed twice"),
        (
            "tasks:\n  - [course, student]\n  - - course\n    - student\n    - facluty # HERE\n",
            "unknown class 'facluty'; did you mean 'faculty'? (allowed: course, faculty, project, student)",
        ),
        # Classes that are scored by themselves are compared across variants in their order.
        (
            (
                "corpus: {name: synthetic, classes: [student, course]}\nper_class: true\n"
                "variants:\n  v:\n    corpus:\n      classes: [course, student] # HERE\n"
            ),
            "with `per_class: true`, a variant must have the classes of its configuration",
        ),
        # Two entries are two methods, also where each has candidates.
        (
            f"choose: {{by: oracle}}\nmethods:\n  - {GRID}\n  - {GRID.replace('[1, 2]', '[3, 4]')} # HERE\n",
            "the method 'rbf' is listed twice",
        ),
        # Blocks of a weighting's parameters are those of `fields`.
        (
            "methods:\n  - {weighting: {name: aitchison, idf: {all: 1}}, kernel: ngd} # HERE\n",
            "unknown block of 'idf': 'all' (allowed: none); the method's `fields` name its blocks",
        ),
        # Of several defaults that nothing has, the first in the file is told.
        (
            "defaults:\n  smoothing: 1 # HERE\n  sigma: 1\n  degree: 2\n",
            "no method here has the parameter 'smoothing'",
        ),
        (
            "defaults:\n  sigma: 1 # HERE\n  smoothing: 1\n  classifier: {C: 2}\nmethods: [mnb, eef]\n",
            "no method here has the parameter 'sigma'",
        ),
        # Of several tasks one with three classes is enough for pairs of classes to vote.
        (
            (
                "tasks: [[course, student], [course, student, faculty]]\nmetrics: [macro-average-precision] # HERE\n"
                "methods: [ngd]\n"
            ),
            (
                "the metric 'macro-average-precision' ranks documents by decision values, and 'ngd' lets pairs of "
                "classes vote: give it `scheme: one-vs-rest`, which has a decision value for each class"
            ),
        ),
        (
            f"{DRAWS}metrics: [accuracy]\nfigures: [{{name: a, y: macro-average-precision}}]\nmethods: [mnb, ngd]\n",
            None,
        ),
        (
            "corpus:\n  name: synthetic\n  path: x # HERE\n",
            "unknown key 'path' (allowed: name, subset, classes, exclude)",
        ),
        ("text:\n  within: lines # HERE\n", "unknown within 'lines' (allowed: words, white-space)"),
        ("text:\n  lexer: unicod # HERE\n", "unknown lexer 'unicod'; did you mean 'unicode'? (allowed: "),
        (f"{DRAWS}figures:\n  - {{name: a, y: {{ratio: [nge, linear]}}}} # HERE\n", "unknown method 'nge'; did you"),
    ],
)
def test_what_is_rarely_said_is_refused_at_its_line(
    refusal: Callable[[str], str],
    written: Callable[..., Path],
    read: Callable[[Path], Experiment],
    fragment: str,
    said: str | None,
) -> None:
    if said is None:
        with pytest.raises(ConfigError, match="the metric 'macro-average-precision' ranks documents by decision value"):
            read(written(fragment))
        return
    found = refusal(fragment)
    assert found.startswith(said) if said.endswith((": ", "did you")) else found == said


def test_the_hint_on_header_lines_is_of_mail_alone(
    written: Callable[..., Path], read: Callable[[Path], Experiment]
) -> None:
    for kind, more in (("mail", "; of mail, any header line by its name"), ("html", "")):
        given = f"corpus: {{name: files, path: t.csv, text: body, format: {kind}}}\nprotocol: {{name: k-fold, k: 2}}\n"
        path = written(f"{given}text: {{fields: ['a b']}}\n")
        (path.parent / "t.csv").write_text("body,label\n" + "".join(f"a,{'xy'[n % 2]}\n" for n in range(8)))
        with pytest.raises(ConfigError) as refused:
            read(path)
        assert str(refused.value).endswith(f"){more}")


@pytest.mark.parametrize("kind", ["pdf", "''"])
def test_a_format_is_one_that_has_fields(
    written: Callable[..., Path], read: Callable[[Path], Experiment], kind: str
) -> None:
    path = written(
        f"corpus: {{name: files, path: t.csv, text: body, format: {kind}}}\nprotocol: {{name: k-fold, k: 2}}\n"
    )
    (path.parent / "t.csv").write_text("body,label\n" + "".join(f"a,{'xy'[n % 2]}\n" for n in range(8)))
    with pytest.raises(ConfigError, match=rf"unknown format '{kind.strip(chr(39))}' \(allowed: mail, html\)"):
        read(path)


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("{ngrams: [2, 1, 2]}", "ngrams", (1, 2)),
        ("{ngrams: [1, 1]}", "ngrams", (1,)),
        ("{fields: [title, all, title]}", "fields", ("title", "all")),
        ("{characters: [2, 4]}", "characters", (2, 4)),
        ("{characters: 3}", "characters", (3, 3)),
        ("{characters: [3], within: white-space}", "within", "white-space"),
        ("{lexer: unicode}", "lexer", "unicode"),
        ("{skip_header: true}", "skip_header", True),
        ("{skip_html: true}", "skip_html", True),
        ("{digits: literal}", "digits", "literal"),
        ("{stoplist: none}", "stoplist", "none"),
        ("{min_documents: 2}", "min_documents", 2),
        ("{min_occurrences: 3}", "min_occurrences", 3),
        ("{vocabulary_from: training}", "group", "training"),
    ],
)
def test_a_setting_of_the_text_changes_itself_alone(
    checked: Callable[[str], Experiment], text: str, key: str, expected: Any
) -> None:
    plain, found = (checked(each).variants[BASE_VARIANT].collection.text.flat for each in ("", f"text: {text}\n"))
    expected = list(expected) if isinstance(expected, tuple) else expected
    assert found[key] == expected
    assert {name for name in plain if plain[name] != found[name]} <= {key, "characters", "format"}


def test_the_family_of_a_comparison_is_of_its_variant_choice_and_class_unless_another_is_stated(
    checked: Callable[[str], Experiment],
) -> None:
    fragment = (
        "corpus: {name: synthetic, classes: [student, course]}\nper_class: true\ncompare: [[ngd, linear]]\n"
        "variants: {v: {defaults: {C: 2}}}\n"
    )
    assert [pair.family.split() for pair in checked(fragment).compare] == [
        [variant, name] for variant in ("base", "v") for name in ("all", "student", "course")
    ]
    ways = "choose: {by: [oracle, cross-validation]}\nmethods: [ngd, linear, {kernel: {name: rbf, sigma: [1, 2]}}]\n"
    assert [pair.family.split() for pair in checked(f"{ways}compare: [[ngd, linear]]\n").compare] == [
        ["base", "oracle"],
        ["base", "cross-validation"],
    ]


@pytest.fixture(name="of_files")
def files_of_classes(written: Callable[..., Path], read: Callable[[Path], Experiment]) -> Callable[..., Experiment]:
    """The experiment of a fragment on a file with so many documents of each class."""

    def of(fragment: str, corpus: str = "", **sizes: int) -> Experiment:
        given = f"corpus: {{name: files, path: t.csv{corpus}}}\nprotocol: {{name: k-fold, k: 2}}\nmethods: mnb\n"
        path = written(f"{given}{fragment}")
        rows = "".join(f"{name}{n},{name}\n" for name, size in sizes.items() for n in range(size))
        (path.parent / "t.csv").write_text(f"text,label\n{rows}")
        return read(path)

    return of


@pytest.mark.parametrize("order", ["abcd", "dcba", "bdac"])
def test_of_classes_of_one_size_those_that_stand_first_are_the_largest(
    of_files: Callable[..., Experiment], order: str
) -> None:
    tasks = "tasks: [{title: two, largest: 2}, {title: three, largest: 3}]\n"
    found = of_files(tasks, f", classes: [{', '.join(order)}]", a=4, b=4, c=6, d=4).variants[BASE_VARIANT].tasks
    rest = order.replace("c", "")
    assert [task.classes for task in found] == [("c", rest[0]), ("c", *rest[:2])]


def test_tasks_of_both_forms_leave_the_classes_of_the_corpus(of_files: Callable[..., Experiment]) -> None:
    tasks = "tasks: [[c, a], {title: two, largest: 2}]\n"
    variant = of_files(tasks, a=4, b=5, c=4).variants[BASE_VARIANT]
    assert variant.collection.classes == ("a", "b", "c")
    assert [task.classes for task in variant.tasks] == [("c", "a"), ("b", "a")]
    assert of_files("tasks: [[c, a]]\n", a=4, b=5, c=4).variants[BASE_VARIANT].collection.classes == ("c", "a")


@pytest.mark.parametrize("classes", ["a, all", "all, b", "a, all, b"])
def test_no_class_is_called_all_wherever_it_stands(of_files: Callable[..., Experiment], classes: str) -> None:
    sizes = {"a": 4, "all": 4, "b": 4}
    assert of_files("", f", classes: [{classes}]", **sizes).cells
    with pytest.raises(ConfigError, match="no class may be called 'all': the name stands for all classes together"):
        of_files("per_class: true\n", f", classes: [{classes}]", **sizes)


def test_problems_are_told_in_the_order_of_their_lines(refusal: Callable[[str], str]) -> None:
    """Also where there are more than nine lines, and whatever their words are."""
    lines = ["zeal: 1", "text:", "  skip_html: 3", "  abc: 2", "seed: x", "expect:", "  documents: -1", "aim: 1"]
    said = refusal("".join(f"{line}{'' if line.endswith(':') else ' # HERE'}\n" for line in lines)).splitlines()
    words = ["'zeal'", "text.skip_html", "'abc'", "seed", "expect.documents", "'aim'"]
    assert [word in line for word, line in zip(words, said, strict=True)] == [True] * 6


class TestExtends:
    def test_a_name_has_at_most_a_hundred_letters(
        self, tmp_path: Path, read: Callable[[Path], Experiment], written: Callable[..., Path]
    ) -> None:
        base = written()
        for n in (MAX_NAME_LENGTH, MAX_NAME_LENGTH + 1):
            (tmp_path / f"{'a' * n}.yaml").write_text(base.read_text())
            (tmp_path / "own.yaml").write_text(f"extends: {'a' * n}\nname: own\n")
            if n == MAX_NAME_LENGTH:
                assert read(tmp_path / "own.yaml").name == "own"
            else:
                with pytest.raises(ConfigError, match="must name a configuration in the same folder"):
                    read(tmp_path / "own.yaml")

    def test_files_are_looked_for_beside_the_file_that_names_them(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        read: Callable[[Path], Experiment],
        written: Callable[..., Path],
    ) -> None:
        """The stop list of a method, predictions, vectors and published values of a configuration of the package."""
        shipped = tmp_path / "shipped"
        shipped.mkdir()
        monkeypatch.setattr(extends, "find_shipped", lambda _folder, name: shipped / name)
        own = "methods: [{text: {stoplist: ./words.txt}, classifier: mnb}, {predictions: p.csv, name: given}]\n"
        (shipped / "theirs.yaml").write_text(written(own).read_text())
        for name, text in (("words.txt", "theirs"), ("p.csv", "id,label\n")):
            (shipped / name).write_text(text)
            (tmp_path / name).write_text("mine")
        (tmp_path / "own.yaml").write_text("extends: theirs\nname: own\n")
        stopped, given = (entry.candidates[0] for entry in read(tmp_path / "own.yaml").variants[BASE_VARIANT].entries)
        assert stopped.text is not None
        assert stopped.text.lexing.stopped == ("theirs",)
        assert given.predictions is not None
        assert given.predictions.path == shipped / "p.csv"


class TestMethods:
    def test_a_name_is_of_all_candidates(self, checked: Callable[[str], Experiment]) -> None:
        found = checked("choose: {by: oracle}\nmethods: [{kernel: {name: rbf, sigma: [1, 2, 3]}, name: best}, ngd]\n")
        assert [(entry.label, len(entry.candidates)) for entry in found.variants[BASE_VARIANT].entries] == [
            ("best", 3),
            ("ngd", 1),
        ]

    @pytest.mark.parametrize("defaults", ["{linear-svm: {features: hellinger}}", "{features: hellinger}"])
    def test_features_are_defaults_of_a_classifier_or_of_all(
        self, checked: Callable[[str], Experiment], defaults: str
    ) -> None:
        entries = checked(f"defaults: {defaults}\nmethods: [linear-svm, logistic]\n").variants[BASE_VARIANT].entries
        mapped = [entry.candidates[0].representation.features for entry in entries]
        assert [each and each.name for each in mapped] == ["hellinger", None if "linear" in defaults else "hellinger"]

    @pytest.mark.parametrize(
        ("key", "value", "other"),
        [
            ("weighting", "tfidf", "binary"),
            ("normalization", "l1", "none"),
            ("idf", "training", "collection"),
            ("dirichlet", "0.5", "0.25"),
            ("fields", "{all: 2}", "{all: 3}"),
            ("threshold", "at-least-one", "cross-validated"),
        ],
    )
    def test_a_default_of_a_method_goes_before_that_of_all_and_its_own_before_both(
        self, checked: Callable[[str], Experiment], key: str, value: str, other: str
    ) -> None:
        several = "corpus: {name: synthetic, subset: several}\n" if key == "threshold" else ""
        weighting = ", weighting: tfidf" if key == "idf" else ""
        method = "ngd" if key == "dirichlet" else "linear"

        def shown(defaults: str, own: str = "") -> str:
            entry = f"{{kernel: {method}{weighting}{own}, name: x}}"
            fragment = (
                f"{several}defaults: {{{defaults}}}\nmethods: [{entry}]\n"
                if defaults
                else (f"{several}methods: [{entry}]\n")
            )
            ((spec,),) = (each.candidates for each in checked(fragment).variants[BASE_VARIANT].entries)
            return f"{spec.representation.resolved} {spec.threshold and spec.threshold.name}"

        stated = shown("", f", {key}: {value}")
        assert stated != shown("", f", {key}: {other}")
        assert shown(f"{key}: {value}") == stated
        assert shown(f"{key}: {other}, svm: {{{key}: {value}}}") == stated
        assert shown(f"{key}: {other}, svm: {{{key}: {other}}}, {method}: {{{key}: {value}}}") == stated
        assert shown(f"{key}: {other}, {method}: {{{key}: {other}}}", f", {key}: {value}") == stated

    def test_texts_that_are_read_are_those_of_pipelines_and_of_pipelines_that_are_added(
        self, checked: Callable[[str], Experiment]
    ) -> None:
        gzip = "benchmark.classifiers.gzip_neighbours.GzipNeighbours"
        entries = (
            f"methods: [mnb, {{pipeline: {gzip}, name: zipped}}, "
            f"{{pipeline: {gzip}, text: {{digits: token}}, name: own}}, {{fuse: [mnb, zipped, own], name: sum}}]\n"
        )
        variant = checked(entries).variants[BASE_VARIANT]
        assert list(variant.read_texts.values()) == ["zipped", "own"]
        assert [text.lexing.digits for text in variant.read_texts] == ["drop", "token"]
        assert list(variant.texts.values()) == ["mnb", "own"]
        alone = replace(variant, entries=variant.entries[-1:])
        assert list(alone.read_texts.values()) == ["sum", "sum"]
        assert replace(variant, entries=variant.entries[:1]).read_texts == {}


@dataclass
class Kettle:
    """A machine that doesn't work."""

    tags: ClassVar[Tags] = Tags(set_by_run=("jobs",))

    water: float = 1.0
    steam: float = 1.0
    jobs: int = 1

    def check(self) -> None:
        if self.steam > self.water:
            raise ValueError(f"the parameter 'steam' is more than {self.water:g}")


class TestComponents:
    def test_a_message_names_its_parameter_in_quotes_or_before_a_sign(self) -> None:
        for message in ("'steam' is wet", "steam: wet", "no steam, no tea", "is 'steam'; is", "'steam': wet"):
            assert parameter_in_message(message, {"water": 1, "steam": 2}) == "steam"
        assert parameter_in_message("water and steam", {"steam": 1, "water": 2}) == "steam"
        assert parameter_in_message("steamy", {"steam": 1}) == ""
        with pytest.raises(ComponentError, match=r"^the parameter 'steam' is more than 1$") as caught:
            check_component("machine", {"kettle": Kettle}, {"name": "kettle", "steam": 2.0})
        assert caught.value.key == "steam"

    def test_what_a_plug_in_says_is_said_without_more(self) -> None:
        def refused(*_: Any, **__: Any) -> None:
            raise ValueError("steam is no number")

        given = {"name": "kettle", "water": 3.0, "steam": 2.0}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Kettle, "check", refused)
            with pytest.raises(ComponentError, match=r"^steam is no number$") as caught:
                check_component("machine", {"kettle": Kettle}, given)
        assert caught.value.key == "steam"

    def test_what_hands_on_other_arguments_takes_them_unless_they_are_misspelt(self) -> None:
        class Open(Kettle):
            def __init__(self, water: float = 1.0, **more: Any) -> None:
                super().__init__(water)
                self.more = more

        found = check_component("machine", {"open": Open}, {"name": "open", "lid": "shut", "water": 2.0})
        assert found.given == {"lid": "shut", "water": 2.0}
        assert found.build().more == {"lid": "shut"}
        with pytest.raises(ComponentError, match="unknown parameter of the machine 'open': 'watr'; did you") as caught:
            check_component("machine", {"open": Open}, {"name": "open", "watr": 2.0})
        assert caught.value.key == "watr"
        with pytest.raises(ComponentError, match="unknown parameter of the machine 'kettle': 'lid'") as caught:
            check_component("machine", {"kettle": Kettle}, {"name": "kettle", "lid": "shut"})

    def test_parameters_that_are_lists_by_nature(self) -> None:
        from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415
        from sklearn.linear_model import LogisticRegressionCV  # noqa: PLC0415

        assert "ngram_range" in lists_by_nature(CountVectorizer)
        assert "max_df" not in lists_by_nature(CountVectorizer)
        assert "Cs" in lists_by_nature(LogisticRegressionCV)
        assert "jobs" not in component_parameters(Kettle)

        class Ranged:
            def __init__(self, of: Any = (1, 2), among: Any = [1], one: Any = 1, named: Sequence[int] = ()) -> None:  # noqa: B006
                self.given = of, among, one, named

        assert lists_by_nature(Ranged) == {"of", "among", "named"}

    def test_what_is_given_goes_before_a_default(self) -> None:
        found = check_component("machine", {"kettle": Kettle}, {"name": "kettle", "water": 3.0})
        assert found.resolved == {"name": "kettle", "water": 3.0, "steam": 1.0} == found.plain


class TestRegistries:
    def test_of_two_metrics_of_one_name_the_first_is_declared(self) -> None:
        (one, other) = list(declared_metrics(BUILTIN_REGISTRIES.diagnostics.values()).values())[:2]
        again = replace(other, name=one.name)
        first, second = (type("D", (), {"metrics": (each,)}) for each in (one, again))
        assert declared_metrics([first, second]) == {one.name: one}
        assert declared_metrics([second, first]) == {one.name: again}
        assert isinstance(one, DiagnosticMetric)


class TestSubset:
    def test_of_a_part_the_ends_of_a_gain_are_not_left_out(self, checked: Callable[[str], Experiment]) -> None:
        whole = checked(f"{DRAWS}gain: true\nper_class: true\nmethods: [mnb, eef]\ntasks: [[course, student]]\n")
        part = select_cells(whole, ["gain-course-student-course-mnb"])
        ends = ["course-student-course-mnb-20", "course-student-course-mnb-60"]
        assert list(part.ids) == [*ends, "gain-course-student-course-mnb"]
        assert part.left_out == set(whole.ids) - set(part.ids)
        assert part.notes[-1].startswith("Only gain-course-student-course-mnb: 3 of 24 cells.")

    @pytest.mark.parametrize(
        ("changed", "kept"),
        [
            ("{text: {digits: token}}", ["v", "w"]),
            ("{protocol: {held_out: [texas]}}", ["base", "v", "w"]),
            ("{corpus: {classes: [student, course, faculty]}}", ["base", "v", "w"]),
            ("{corpus: {exclude: [a]}}", ["v", "w"]),
        ],
    )
    def test_all_variants_stay_where_one_of_a_part_has_other_classes_or_splits(
        self, checked: Callable[[str], Experiment], changed: str, kept: list[str]
    ) -> None:
        """Whichever of them it is."""
        for variants in (f"{{v: {changed}, w: {{text: {{}}}}}}", f"{{v: {{text: {{}}}}, w: {changed}}}"):
            part = select_cells(checked(f"variants: {variants}\n"), ["v-*", "w-*"])
            assert list(part.variants) == kept
            assert all(cell.variant in ("v", "w") for cell in part.cells)

    def test_variants_have_the_diagnostics_that_are_not_of_the_configuration_alone(
        self, checked: Callable[[str], Experiment]
    ) -> None:
        """Rows of a variant have its prefix."""
        given = "methods: [{classifier: divergence-bayes}]\nvariants: {v: {text: {digits: token}}}\n"
        seen = set[bool]()
        for diagnostic in (
            "document-counts",
            "{name: centroid-distances, centroids: [pooled, skl], resamples: 2}",
            "{name: centroid-distances, centroids: [mean], smoothing: [0.1, 1.0], resamples: 2}",
        ):
            whole = checked(f"{given}diagnostics: [{diagnostic}]\n")
            own = [cell for cell in whole.cells if cell.what == "diagnostic"]
            base_only = whole.diagnostics[0].tags.base_only
            names = [cell.id for cell in own if cell.variant == "base"]
            seen |= {base_only} if names else set()
            assert [cell.id for cell in own if cell.variant == "v"] == ([] if base_only else [f"v-{n}" for n in names])
            assert {cell.diagnostic for cell in own} <= {whole.diagnostics[0].name}
        assert seen

    def test_diagnostics_that_describe_methods_stay_in_a_part(self, checked: Callable[[str], Experiment]) -> None:
        for name in BUILTIN_REGISTRIES.diagnostics:
            needs = "corpus: {name: curved-points}\nprotocol: {name: k-fold, k: 2}\n" if name == "coordinates" else ""
            given = "{name: centroid-distances, resamples: 2}" if name == "centroid-distances" else name
            methods = "methods: [{classifier: divergence-bayes}]\n" if name.startswith("centroid") else ""
            whole = checked(f"{needs}{methods}diagnostics: [{given}]\n")
            (diagnostic,) = whole.diagnostics
            points = [cell.id for cell in whole.cells if cell.what == "point"]
            built = diagnostic.build()
            stays = not built.kinds and not built.rows and not diagnostic.tags.base_only
            part = select_cells(whole, points[:1])
            assert [each.name for each in part.diagnostics] == ([name] if stays else []), name
            assert set(part.quantities) == ({each.name for each in diagnostic.cls.metrics} if stays else set())

    def test_terms_and_choices_of_a_gain_are_its_own(self, checked: Callable[[str], Experiment]) -> None:
        grid = "methods: [linear, {kernel: {name: rbf, sigma: [1, 2]}}]\nchoose: {by: [oracle, cross-validation]}\n"
        whole = checked(f"{DRAWS}gain: true\n{grid}terms: {{number: [10, 20]}}\n")
        part = select_cells(whole, ["gain-linear-cv-20"])
        assert list(part.ids) == ["linear-cv-20-20", "linear-cv-60-20", "gain-linear-cv-20"]
        sizes = {
            cell.id: [setting.size for setting in settings_of_cell(whole, cell) if setting.candidate == 0]
            for cell in whole.cells
            if cell.terms == 20 and cell.size in (None, 40)
        }
        assert sizes == {
            "linear-oracle-40-20": [40],
            "rbf-oracle-40-20": [20, 40, 60],
            "linear-cv-40-20": [40],
            "rbf-cv-40-20": [40],
            "gain-linear-oracle-20": [20, 60],
            "gain-rbf-oracle-20": [20, 40, 60],
            "gain-linear-cv-20": [20, 60],
            "gain-rbf-cv-20": [20, 60],
        }
