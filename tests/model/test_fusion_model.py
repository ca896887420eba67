"""A kept fusion: decides as the run does after loading, and is refused where its folders don't go together."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmark import load_model
from benchmark.cli import app
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.methods import out_of_fold as held_out
from benchmark.model.fusion_model import FusionModel
from benchmark.model.persistence import DESCRIPTION_FILE, read_model, write_model
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import ConfigError, DataError
from tests.model.studies import check_against_run, study_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment
    from benchmark.experiment.store import Store
    from benchmark.model.base import KeptModel

    Fit = Callable[..., KeptModel]

WORDS = {"name": "words", "weighting": "tfidf", "normalization": "l2", "classifier": "linear-svm"}
#: Other terms, and other texts of the documents: what stands in their headers, too.
PAIRS = {
    "name": "pairs",
    "classifier": "mnb",
    "text": {"ngrams": [1, 2], "skip_header": False, "stoplist": "smart", "min_occurrences": 60},
}
ROOTS = {"name": "roots", "features": "hellinger", "normalization": "l1", "classifier": "linear-svm"}
KERNEL = {"name": "kernel", "kernel": "ngd", "classifier": {"scheme": "one-vs-rest"}}
BOTH = {"fuse": ["words", "pairs"], "name": "both"}
DRAWS = {"name": "random-subsets", "train_size": [80], "replicates": 2, "test": "texas"}
CHOSEN = {"by": "cross-validation", "folds": 2}
LISTS = {"fuse": [["words", "pairs"], ["words", "roots"], ["words", "pairs", "roots"]], "name": "both"}


def fused(*more: Any, fuse: dict[str, Any] = BOTH, **changes: Any) -> Experiment:
    return study_of(WORDS, PAIRS, *more, fuse, **changes)


@pytest.fixture(autouse=True)
def _few_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the scales, which are the same in the run and in the model."""
    monkeypatch.setattr(held_out, "INNER_FOLDS", 3)


@pytest.fixture
def loaded(fitted: Fit, tmp_path: Path) -> Fit:
    """Fit, write and read again."""

    def fit(experiment: Experiment, cell: str = "both", **options: Any) -> KeptModel:
        folder = tmp_path / f"model-{len(list(tmp_path.iterdir()))}"
        write_model(fitted(experiment, cell, **options), folder)
        return read_model(folder)

    return fit


CONFIGURATIONS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "single": ((KERNEL,), {"fuse": {"fuse": ["kernel", "words", "pairs"], "weights": [0.5, 2, 1], "name": "both"}}),
    "two classes": (
        (KERNEL,),
        {"fuse": {"fuse": ["kernel", "words"], "name": "both"}, "classes": ["student", "faculty"]},
    ),
    "several": ((), {"subset": "several"}),
    "thresholds": (
        ({"name": "high", "classifier": "mnb", "threshold": "cross-validated"},),
        {"subset": "several", "fuse": {"fuse": ["words", "high"], "name": "both"}},
    ),
    "draws": ((), {"protocol": DRAWS}),
    "terms": ((), {"terms": {"number": 40}}),
    "vocabulary": ((), {"text": {"stoplist": "none", "min_occurrences": 20, "vocabulary_from": "training"}}),
    "chosen": ((ROOTS,), {"fuse": LISTS, "choose": CHOSEN}),
    "chosen of several": ((ROOTS,), {"fuse": LISTS, "choose": CHOSEN, "subset": "several"}),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_from_the_text_on_it_decides_as_in_the_run(name: str, loaded: Fit, store: Store) -> None:
    more, changes = CONFIGURATIONS[name]
    experiment = fused(*more, **changes)
    found = run_experiment(experiment, RunContext(store))
    assert check_against_run(found, loaded, texts_of(changes.get("subset")), ["both"])


@pytest.mark.parametrize("subset", [None, "several"], ids=["single", "several"])
def test_after_loading_it_says_the_same_to_the_last_bit(subset: str | None, fitted: Fit, tmp_path: Path) -> None:
    model = fitted(fused(subset=subset), "both", split="texas", probability=True)
    for name in ("one", "other"):
        assert write_model(model, tmp_path / name) == sum(
            path.stat().st_size for path in (tmp_path / name).rglob("*") if path.is_file()
        )
    again = read_model(tmp_path / "one")
    files = sorted(str(path.relative_to(tmp_path / "one")) for path in (tmp_path / "one").rglob("*.*"))
    assert files == [
        "method-1/model.json",
        "method-1/model.npz",
        "method-2/model.json",
        "method-2/model.npz",
        "model.json",
    ]
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()
    ((_, one),), ((_, other),) = (each.answers(texts_of(subset).items()) for each in (model, again))
    for name in ("given", "values", "probabilities", "known"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    assert (again.classes, again.about, again.n_terms) == (model.classes, model.about, model.n_terms)
    assert one.given.any()


def test_a_method_of_it_is_a_model_by_itself(fitted: Fit, tmp_path: Path) -> None:
    experiment, texts = fused(), texts_of(None)
    write_model(fitted(experiment, "both"), tmp_path / "model")
    known: list[Any] = []
    for number, cell in enumerate(("words", "pairs"), start=1):
        part, alone = read_model(tmp_path / "model" / f"method-{number}"), fitted(experiment, cell)
        ((_, one),), ((_, other),) = (each.answers(texts.items()) for each in (part, alone))
        np.testing.assert_array_equal(one.values, other.values)
        assert part.about["cell"] == cell
        known.append(one.known)
    ((_, whole),) = read_model(tmp_path / "model").answers(texts.items())
    np.testing.assert_array_equal(whole.known, sum(known))  # the distinct terms that either of them knows
    assert (known[1] > 0).any()


def test_of_candidates_for_all_documents_it_takes_that_of_cross_validation(fitted: Fit) -> None:
    model = fitted(fused(ROOTS, fuse=LISTS, choose=CHOSEN), "both-cv")
    assert isinstance(model, FusionModel)
    chosen = model.about["chosen"]
    assert (chosen["by"], chosen["of"]) == ("cross-validation over all documents", 3)
    assert list(model.names) == LISTS["fuse"][chosen["candidate"]]


@pytest.mark.parametrize("subset", [None, "several"], ids=["two classes", "several"])
def test_of_almost_one_method_alone_probabilities_are_that_methods(subset: str | None, fitted: Fit) -> None:
    """A positive factor of the values changes no sigmoid, where they aren't centred, or two are subtracted."""
    classes = None if subset else ["student", "faculty"]
    fuse = BOTH | {"weights": [1e6, 1e-6]}
    experiment, texts = fused(fuse=fuse, subset=subset, classes=classes), texts_of(subset)
    ((_, one),), ((_, other),) = (
        fitted(experiment, cell, probability=True).answers(texts.items()) for cell in ("both", "words")
    )
    assert one.probabilities is not None
    assert one.probabilities.std() > 0.1
    np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-3)


@pytest.mark.parametrize("subset", [None, "several"], ids=["single", "several"])
def test_the_words_that_speak_most_are_those_that_are_missed_most_in_all_its_methods(
    subset: str | None, fitted: Fit
) -> None:
    """Written without them one by one; of single words alone, so that nothing else changes."""
    twin = PAIRS | {"text": {"ngrams": [1], "min_occurrences": 60}}
    model = fitted(study_of(WORDS, twin, BOTH, subset=subset), "both")
    assert isinstance(model, FusionModel)
    fewer, more = (set(member.vocabulary) for member in model.members)
    assert fewer < more
    words = [*sorted(fewer)[:60:4], *sorted(more - fewer)[:9]]
    head = b"Header: x\n\n"
    ((_, answers),) = model.answers([("whole", head + " ".join(words).encode())], n_words=4)
    without = {word: " ".join(each for each in words if each != word) for word in words}
    ((_, others),) = model.answers((word, head + text.encode()) for word, text in without.items())
    for code, told in answers.words[0].items():
        own, rest = answers.values[:, code], others.values[:, code]
        if not subset:
            own = own - np.delete(answers.values, code, axis=1).max(axis=1)
            rest = rest - np.delete(others.values, code, axis=1).max(axis=1)
        cost = dict(zip(without, own[0] - rest, strict=True))
        expected = sorted((word for word in cost if cost[word] > 1e-9), key=lambda word: -cost[word])[:4]
        assert [round(cost[word], 9) for word in told] == [round(cost[word], 9) for word in expected]
        assert told
    assert sorted(answers.words[0]) == answers.classes_of(0)


def test_a_text_without_a_known_word_is_answered_and_counted(loaded: Fit) -> None:
    ((_, answers),) = loaded(fused()).answers([("nothing", b"Header: x\n\n")], n_words=2)
    assert answers.known is not None
    assert answers.known.tolist() == [0]
    assert list(answers.words[0].values()) == [[]]


@pytest.fixture
def folder(fitted: Fit, tmp_path: Path) -> Path:
    write_model(fitted(fused(), "both", split="texas", probability=True), tmp_path / "model")
    return tmp_path / "model"


def rewritten(folder: Path, change: Callable[[dict[str, Any]], object]) -> str:
    """Change a description, mend its digest, and return that of the file."""
    path = folder / DESCRIPTION_FILE
    about = json.loads(path.read_text())
    change(about)
    about["digest"] = digest_without_itself(about)
    path.write_text(json.dumps(about))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_flipped_byte_anywhere_is_refused(folder: Path) -> None:
    rng, before = np.random.default_rng(0), read_model(folder)
    for path in (path for path in folder.rglob("*") if path.is_file()):
        whole = path.read_bytes()
        for place in rng.choice(len(whole), 60, replace=False).tolist():
            damaged = bytearray(whole)
            damaged[place] ^= 1 << rng.integers(8)
            path.write_bytes(damaged)
            try:
                after = read_model(folder)
            except DataError as error:
                assert "\n" not in str(error)  # noqa: PT017
                continue
            assert path == folder / DESCRIPTION_FILE, "a letter of a word that is told twice, say"
            assert after.about == before.about
        path.write_bytes(whole)


def test_methods_that_are_missing_exchanged_or_of_another_model_are_refused(
    folder: Path, fitted: Fit, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "kept")
    (folder / "method-1").rename(tmp_path / "one")
    with pytest.raises(DataError, match=r"method-1: is not the folder of a model"):
        read_model(folder)
    (folder / "method-2").rename(folder / "method-1")
    (tmp_path / "one").rename(folder / "method-2")
    with pytest.raises(DataError, match=r"method-1/model\.json: is damaged, or doesn't belong to .*model/model\.json"):
        read_model(folder)
    write_model(fitted(fused(), "words", split="texas"), tmp_path / "kept" / "method-1")
    changed = read_model(tmp_path / "kept" / "method-1")
    write_model(replace(changed, about=changed.about | {"cell": "another"}), tmp_path / "kept" / "method-1")  # type: ignore[type-var]
    with pytest.raises(DataError, match=r"method-1/model\.json: is damaged, or doesn't belong to"):
        read_model(tmp_path / "kept")


def of_member(name: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda about: about["members"][1].update({name: value})


UNFIT: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda about: about["members"].pop(), "members"),
    (lambda about: about["members"][1].pop("weight"), r"members\.1\.weight is missing"),
    (lambda about: about["members"][1].pop("scale"), r"members\.1\.scale is missing"),
    (of_member("folder", "../elsewhere"), r"members\.1\.folder is unknown"),
    (of_member("weight", 0), r"members\.1\.weight is 0"),
    (of_member("weight", True), r"members\.1\.weight is True|true"),
    (of_member("scale", 0.0), r"members\.1\.scale is 0"),
    (of_member("scale", 1e-200), r"members\.1\.scale is 1e-200"),
    (of_member("scale", float("inf")), r"members\.1\.scale"),
    (lambda about: about["members"].append(about["members"][0]), "method-3: is not the folder of a model"),
    (lambda about: about["classes"].reverse(), "method-1: has learned other classes than the fusion"),
    (lambda about: about.update(several=True), "method-1: has learned other classes than the fusion"),
    (lambda about: about.update(classes=["one"]), "classes has one name"),
    (lambda about: about["sigmoids"].pop(), "sigmoids has 2 rows: must have 3"),
    (lambda about: about["sigmoids"][0].pop(), "sigmoids"),
    (lambda about: about.update(kind="machines"), "doesn't describe a model of this version"),
    (lambda about: about.update(lexing={}), "the key lexing is unknown"),
]


@pytest.mark.parametrize(("change", "message"), UNFIT, ids=[message for _, message in UNFIT])
def test_a_fusion_that_does_not_fit_itself_is_refused(
    change: Callable[[dict[str, Any]], object], message: str, folder: Path
) -> None:
    """Even with the right digests."""
    rewritten(folder, change)
    with pytest.raises(DataError, match=message) as caught:
        read_model(folder)
    assert "\n" not in str(caught.value)


def test_a_fusion_of_fusions_or_of_models_of_other_classes_is_refused(
    folder: Path, fitted: Fit, tmp_path: Path
) -> None:
    write_model(fitted(fused(), "both"), tmp_path / "inner")
    others = fused(classes=["student", "project", "course"])
    write_model(fitted(others, "pairs"), tmp_path / "others")
    for name, message in (("inner", "doesn't describe a model"), ("others", "method-2: has learned other classes")):
        shutil.rmtree(folder / "method-2")
        shutil.copytree(tmp_path / name, folder / "method-2")
        digest = hashlib.sha256((folder / "method-2" / DESCRIPTION_FILE).read_bytes()).hexdigest()
        rewritten(folder, of_member("sha256", digest))
        with pytest.raises(DataError, match=message):
            read_model(folder)


def test_what_cannot_be_kept_is_named(fitted: Fit) -> None:
    method = {"kernel": "hp-top", "classifier": {"scheme": "one-vs-rest"}, "name": "theirs"}
    message = "a model with the kernel 'hp-top' can't be saved"
    with pytest.raises(ConfigError, match=f"^both: theirs: .*{message}") as caught:
        fitted(fused(method, fuse={"fuse": ["words", "theirs"], "name": "both"}), "both")
    assert "\n" not in str(caught.value)


def test_a_method_of_a_library_is_kept_among_others(fitted: Fit, tmp_path: Path) -> None:
    method = {"classifier": {"name": "sklearn.naive_bayes.ComplementNB"}, "name": "theirs"}
    model = fitted(fused(method, fuse={"fuse": ["words", "theirs"], "name": "both"}), "both")
    write_model(model, tmp_path / "model")
    texts = [("a", b"veti duka duka"), ("b", b"")]
    ((_, before),), ((_, after),) = model.answers(texts), read_model(tmp_path / "model").answers(texts)
    np.testing.assert_array_equal(after.values, before.values)


def bench(*arguments: object, **options: Any) -> Any:
    return CliRunner().invoke(app, [str(each) for each in arguments], **options)


def test_commands_take_it_as_any_model(tmp_path: Path) -> None:
    methods = [
        {"name": "words", "classifier": "linear-svm"},
        {"name": "pairs", "classifier": "mnb", "text": {"ngrams": [1, 2]}},
    ]
    lines = [
        f"text,label\n{''}",
        *(f"{text},{label}\n" for text, label in [("leaf cup", "tea"), ("cane ship", "rum")] * 9),
    ]
    (tmp_path / "mine.csv").write_text("".join(lines))
    corpus = {"name": "files", "path": "mine.csv", "text": "text", "label": "label"}
    config = {"name": "mine", "corpus": corpus, "text": {"stoplist": "none"}, "protocol": {"name": "k-fold", "k": 3}}
    (tmp_path / "mine.yaml").write_text(json.dumps(config | {"methods": [*methods, BOTH]}))
    done = bench("fit", tmp_path / "mine.yaml", "--cell", "both", "--out", tmp_path / "model", "--probability")
    assert done.exit_code == 0, done.output
    assert "18 documents, 6 words, 2 classes" in done.stderr + done.stdout
    told = bench("predict", tmp_path / "model", "-", "--top-terms", 3, input="leaf cup\nship\nnothing\n")
    assert told.exit_code == 0, told.output
    rows = [line.split(",") for line in told.stdout.splitlines()]
    assert rows[0] == [
        "id",
        "label",
        *(f"{what} {name}" for what in ("decision", "probability") for name in ("rum", "tea")),
        "words",
    ]
    assert [row[1] for row in rows[1:3]] == ["tea", "rum"]
    assert told.stderr == "1 of 3 documents have no word that the model knows\n"
    assert load_model(tmp_path / "model").predict(["leaf cup", "cane"]).tolist() == ["tea", "rum"]
