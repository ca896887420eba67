"""A kept fusion: decides as the run does after loading, and is refused where its folders don't go together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.methods.wrappers import out_of_fold as held_out
from benchmark.model.persistence import load_model, write_model
from benchmark.system.errors import ConfigError
from tests.model.studies import check_against_run, study_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment
    from benchmark.experiment.store import Store
    from benchmark.model.text_model import TextClassifier

    Fit = Callable[..., TextClassifier]

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
    write_model(model, tmp_path / "one")
    again = load_model(tmp_path / "one")
    ((_, one),), ((_, other),) = (each.answers(texts_of(subset).items()) for each in (model, again))
    for name in ("predicted", "values", "probabilities", "known"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    assert (again.classes, again.about, again.n_terms) == (model.classes, model.about, model.n_terms)
    assert one.predicted.any()


def test_what_cannot_be_kept_is_named(fitted: Fit) -> None:
    method = {"kernel": "hp-top", "classifier": {"scheme": "one-vs-rest"}, "name": "theirs"}
    message = "a model with the kernel 'hp-top' can't be saved"
    with pytest.raises(ConfigError, match=f"^both: theirs: .*{message}") as caught:
        fitted(fused(method, fuse={"fuse": ["words", "theirs"], "name": "both"}), "both")
    assert "\n" not in str(caught.value)


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
