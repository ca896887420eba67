"""A model in its folder: the same to the last bit after loading, and refused where it isn't what was written."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.methods import out_of_fold as held_out
from benchmark.model.persistence import (
    ARRAYS_FILE,
    DESCRIPTION_FILE,
    MODEL_FORMAT,
    check_model_folder_free,
    read_model,
    write_model,
)
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import ConfigError, DataError
from tests.model.studies import study_of, texts_of
from tests.processes import Process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.model.base import TextPredictions
    from benchmark.model.text_model import TextModel

    Fit = Callable[..., TextModel]

METHODS: list[Any] = [
    "ngd",
    "linear",
    {"kernel": "linear", "weighting": "tfidf", "classifier": {"scheme": "one-vs-rest"}},
    {"kernel": "ngd", "dirichlet": 0.5},
    "mnb",
    "complement-nb",
    "eef",
    {"classifier": {"name": "divergence-bayes", "centroid": "skl"}},
    {"classifier": "linear-svm", "weighting": "tfidf"},
    "logistic",
    {"classifier": "nb-svm", "weighting": "binary"},
    "born",
    "twcnb",
]
THRESHOLDED: list[Any] = [
    {"kernel": "ngd", "threshold": "cross-validated"},
    {"classifier": "linear-svm", "threshold": "cross-validated"},
]


def answers(model: TextModel, texts: dict[str, bytes]) -> TextPredictions:
    ((_, found),) = model.answers(texts.items())
    return found


@pytest.mark.parametrize("subset", [None, "several"], ids=["single", "several"])
@pytest.mark.parametrize("terms", [None, {"number": 30}], ids=["all terms", "selected"])
def test_after_loading_it_says_the_same_to_the_last_bit(
    subset: str | None, terms: Any, fitted: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_out, "INNER_FOLDS", 2)  # of thresholds and probabilities, whose quality isn't asked here
    methods = [each for each in METHODS if not (subset and "scheme" in str(each))]
    methods += THRESHOLDED if subset else []
    # Every method with documents of either kind, and with all terms and with selected ones: half of the four ways.
    methods = methods[bool(subset) != bool(terms) :: 2]
    experiment = study_of(*methods, subset=subset, terms=terms)
    for cell in experiment.ids:
        model = fitted(experiment, cell, split="texas", probability=True)
        write_model(model, tmp_path / cell)
        again = read_model(tmp_path / cell)
        one, other = answers(model, texts_of(subset)), answers(again, texts_of(subset))
        for name in ("given", "values", "probabilities"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
        assert (again.classes, again.lexing, again.vocabulary) == (model.classes, model.lexing, model.vocabulary)
        assert again.about == model.about


def test_the_same_model_is_the_same_bytes(fitted: Fit, tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_model(fitted(study_of("ngd"), probability=True), tmp_path / name)
    for name in (DESCRIPTION_FILE, ARRAYS_FILE):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


@pytest.fixture
def folder(fitted: Fit, tmp_path: Path) -> Path:
    write_model(fitted(study_of("ngd"), split="texas"), tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("name", [DESCRIPTION_FILE, ARRAYS_FILE])
def test_a_flipped_byte_anywhere_is_refused(name: str, folder: Path) -> None:
    """Or makes the same model: a letter of a word that is told twice, say."""
    path, whole, before = folder / name, (folder / name).read_bytes(), read_model(folder)
    rng = np.random.default_rng(0)
    places = range(len(whole)) if name == DESCRIPTION_FILE else rng.choice(len(whole), 300, replace=False).tolist()
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            after = read_model(folder)
        except DataError as error:
            assert "\n" not in str(error)  # noqa: PT017
            continue
        assert after.about == before.about
        assert after.classes == before.classes


@pytest.mark.parametrize("name", [DESCRIPTION_FILE, ARRAYS_FILE])
def test_a_file_that_is_missing_or_cut_short_is_refused(name: str, folder: Path) -> None:
    whole = (folder / name).read_bytes()
    for length in (0, 1, len(whole) // 2, len(whole) - 2):
        (folder / name).write_bytes(whole[:length])
        with pytest.raises(DataError, match="damaged"):
            read_model(folder)
    (folder / name).unlink()
    with pytest.raises(DataError, match=f"is not the folder of a model \\({name} is missing\\)"):
        read_model(folder)


def test_the_arrays_of_another_model_are_refused(folder: Path, fitted: Fit, tmp_path: Path) -> None:
    """As a stop between the two files leaves them."""
    write_model(fitted(study_of("mnb")), tmp_path / "other")
    shutil.copy(tmp_path / "other" / ARRAYS_FILE, folder / ARRAYS_FILE)
    with pytest.raises(DataError, match=r"doesn't belong to model\.json; fit it again"):
        read_model(folder)


def rewritten(folder: Path, **changes: Any) -> None:
    about = json.loads((folder / DESCRIPTION_FILE).read_text()) | changes
    about["digest"] = digest_without_itself(about)
    (folder / DESCRIPTION_FILE).write_text(json.dumps(about))


def test_another_format_is_refused(folder: Path) -> None:
    rewritten(folder, format=MODEL_FORMAT + 1)
    with pytest.raises(
        DataError, match=f"is of format {MODEL_FORMAT + 1}, and this version reads format {MODEL_FORMAT}"
    ):
        read_model(folder)


@pytest.mark.parametrize(
    "changes", [{"kernel": {"name": "nothing"}}, {"kind": "points"}, {"lexing": {"digits": "?"}}, {"classes": None}]
)
def test_a_model_that_does_not_fit_itself_is_refused(changes: dict[str, Any], folder: Path) -> None:
    """Even with the right digests."""
    rewritten(folder, **changes)
    with pytest.raises(DataError, match=r"model\.json: doesn't describe a model"):
        read_model(folder)


LOADS = """\
import sys
from benchmark import load_model
load_model(sys.argv[1]).predict(["a text"])
print("loaded:", *(name for name in sys.modules if name.startswith(("altair", "benchmark.experiment"))))
"""


def test_to_load_a_model_takes_no_more_than_it_asks(folder: Path) -> None:
    """Neither the walk of an experiment nor what draws pictures."""
    code, output, error = Process(str(folder), code=LOADS).finish()
    assert (code, output) == (0, "loaded:\n"), error


def test_nothing_is_unpickled(folder: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return pytest.fail, ("executed",)

    np.savez(folder / ARRAYS_FILE, columns=np.array([Evil()], dtype=object))
    rewritten(folder, files={ARRAYS_FILE: hashlib.sha256((folder / ARRAYS_FILE).read_bytes()).hexdigest()})
    with pytest.raises(DataError, match="doesn't describe a model"):
        read_model(folder)


def test_a_folder_that_holds_anything_is_not_written_to(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    check_model_folder_free(tmp_path / "mine", overwrite=False)
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    for path, holds in ((folder, "a model"), (tmp_path / "mine", "other files")):
        with pytest.raises(ConfigError, match=f"holds {holds} already; --overwrite"):
            check_model_folder_free(path, overwrite=False)
        check_model_folder_free(path, overwrite=True)
    another = read_model(folder).about | {"cell": "another"}
    write_model(replace(read_model(folder), about=another), folder)
    assert read_model(folder).about == another
