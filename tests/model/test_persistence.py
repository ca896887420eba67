"""A model in its folder: the same to the last bit after loading, and refused where it isn't what was written."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import skops.io

from benchmark.methods import wrappers as held_out
from benchmark.model.persistence import (
    DESCRIPTION_FILE,
    MODEL_FILE,
    MODEL_FORMAT,
    check_model_folder_free,
    load_model,
    write_model,
)
from benchmark.plugins.trust import asking_before_code
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import ConfigError, DataError
from tests.model.studies import study_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.model.text_model import TextClassifier

    Fit = Callable[..., TextClassifier]

METHODS: list[Any] = [
    *("ngd", "mnb", "born", {"classifier": "linear-svm", "weighting": "tfidf"}),
    {"classifier": {"name": "divergence-bayes", "centroid": "skl"}},
]
OF_ONE = [{"kernel": "linear", "weighting": "tfidf", "classifier": {"scheme": "one-vs-rest"}}]
OF_SEVERAL = [{"kernel": "ngd", "threshold": "cross-validated"}]


@pytest.mark.parametrize("subset", [None, "several"], ids=["single", "several"])
def test_it_is_loaded_without_a_question_and_says_the_same_to_the_last_bit(
    subset: str | None, fitted: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCH_TRUST")
    monkeypatch.setattr(held_out, "INNER_FOLDS", 2)  # of thresholds and probabilities, whose quality isn't asked here
    experiment = study_of(*METHODS, *(OF_SEVERAL if subset else OF_ONE), subset=subset, terms={"number": 30})
    for cell in experiment.ids:
        model = fitted(experiment, cell, split="texas", probability=True)
        write_model(model, tmp_path / cell)
        with asking_before_code(lambda _: False):
            again = load_model(tmp_path / cell)
        ((_, one),), ((_, other),) = (each.answers(texts_of(subset).items()) for each in (model, again))
        for name in ("predicted", "values", "probabilities"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
        assert (again.classes, again.about) == (model.classes, model.about)
        assert [view.vocabulary for view in model.views] == [view.vocabulary for view in again.views]


@pytest.fixture
def folder(fitted: Fit, tmp_path: Path) -> Path:
    write_model(fitted(study_of("ngd"), split="texas"), tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("name", [DESCRIPTION_FILE, MODEL_FILE])
def test_a_damaged_or_missing_file_is_refused(name: str, folder: Path) -> None:
    """A flipped byte, or it makes the same model: a letter of a word that is told twice, say."""
    path, whole, before = folder / name, (folder / name).read_bytes(), load_model(folder)
    rng = np.random.default_rng(0)
    for place in rng.choice(len(whole), 300, replace=False).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            after = load_model(folder)
        except DataError as error:
            assert "\n" not in str(error)  # noqa: PT017
            continue
        assert (after.about, after.classes) == (before.about, before.classes)
    for length in (0, 1, len(whole) // 2, len(whole) - 2):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match="damaged"):
            load_model(folder)
    path.unlink()
    with pytest.raises(DataError, match=f"{name}: can't be read: No such file"):
        load_model(folder)


def rewritten(folder: Path, **changes: Any) -> None:
    about = json.loads((folder / DESCRIPTION_FILE).read_text()) | changes
    about["digest"] = digest_without_itself(about)
    (folder / DESCRIPTION_FILE).write_text(json.dumps(about))


def test_another_format_is_refused(folder: Path) -> None:
    rewritten(folder, format=MODEL_FORMAT + 1)
    with pytest.raises(
        DataError, match=f"is of format {MODEL_FORMAT + 1}, and this version reads format {MODEL_FORMAT}"
    ):
        load_model(folder)


def repacked(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the state that skops describes, and mend the digests."""
    content = (folder / MODEL_FILE).read_bytes()
    state = skops.io.loads(content, trusted=skops.io.get_untrusted_types(data=content))
    change(state)
    skops.io.dump(state, folder / MODEL_FILE)
    rewritten(folder, files={MODEL_FILE: hashlib.sha256((folder / MODEL_FILE).read_bytes()).hexdigest()})


def machine(support: Any, *coefficients: float) -> Callable[[Any], Any]:
    """The machines, the first with these support vectors."""
    changes = {"support": np.array(support), "coefficients": np.array(coefficients)}
    return lambda machines: (replace(machines[0], **changes), *machines[1:])


#: Path of an attribute of the state, its value or a function of it, and the message.
UNFIT: dict[str, tuple[str, Any, str]] = {
    "support": ("fitted.machines.machines", machine([0, 10**6], 1.0, 1.0), "coefficients don't go"),
    "twice": ("fitted.machines.machines", machine([1, 1], 1.0, 1.0), "coefficients don't go"),
    "lengths": ("fitted.machines.machines", machine([1], 1.0, 1.0), "coefficients don't go"),
    "infinite": ("fitted.machines.machines", machine([1], np.inf), "coefficients don't go"),
    "floats": ("fitted.machines.machines", machine([1.0], 1.0), "coefficients don't go"),
    "bounds": ("fitted.machines.class_bounds", np.array([0, 9, 3, 10**6]), "bounds of classes don't go"),
    "indices": ("fitted.counts.indices", lambda indices: indices + 10**6, "is no model of this version"),
    "words": ("fitted.counts", lambda counts: counts[:, :2], "support vectors don't go"),
    "factors": ("fitted.view.weighting.factors_", np.ones(3), "factors_ don't go"),
    "classes": ("fitted.learned.columns", np.array([0, 1, 7]), "learned classes don't go"),
    "no method": ("fitted", 3, "is no model of this version"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_compiled_code_would_read_beyond_its_arrays_is_refused(name: str, folder: Path) -> None:
    """Even with the right digests."""
    attributes, value, message = UNFIT[name]

    def change(state: dict[str, Any]) -> None:
        *path, last = attributes.split(".")
        owner: Any = SimpleNamespace(**state) if path else None
        for each in path:
            owner = getattr(owner, each)
        values = state if owner is None else vars(owner)
        values[last] = value(values[last]) if callable(value) else value

    repacked(folder, change)
    with pytest.raises(DataError, match=message) as caught:
        load_model(folder)
    assert "\n" not in str(caught.value)


def test_code_that_a_file_names_is_listed_and_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of this package, too: only what models consist of is built without a question."""
    monkeypatch.delenv("BENCH_TRUST", raising=False)
    repacked(folder, lambda state: state.update(sigmoids=partial(load_model, folder)))
    with (
        asking_before_code(lambda _: False),
        pytest.raises(ConfigError, match=r"has objects of .*benchmark\.model\.persistence\.load_model"),
    ):
        load_model(folder)


def test_a_folder_that_holds_anything_is_not_written_to(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    check_model_folder_free(tmp_path / "mine", overwrite=False)
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    for path in (folder, tmp_path / "mine"):
        with pytest.raises(ConfigError, match="is not empty; --overwrite"):
            check_model_folder_free(path, overwrite=False)
        check_model_folder_free(path, overwrite=True)
    model = load_model(folder)
    model.about |= {"cell": "another"}
    n_bytes = write_model(model, folder)
    assert load_model(folder).about == model.about
    assert n_bytes == sum(path.stat().st_size for path in folder.iterdir())
