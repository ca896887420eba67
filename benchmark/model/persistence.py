"""Save a model in a folder and load it: its views and trained methods by skops, what it is in ``model.json``.

skops builds an object from its description, without running code that the file brings. It calls constructors of the
types that the file names: those of our models are listed here, others are listed for a person to trust.
``model.json`` has the digests of all files and of itself. A model that was damaged, changed by hand, or written by a
version with another format is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zipfile import ZIP_DEFLATED

import numpy as np

from benchmark.corpora.user.text_files import file_digest, read_file
from benchmark.methods.svm_method import FittedHyperplanes, FittedMachines
from benchmark.methods.wrappers import FittedFusion, FittedThresholds
from benchmark.model.text_model import TextClassifier
from benchmark.plugins.loader import load_plugin, plugin_files
from benchmark.plugins.trust import check_trusted
from benchmark.system.atomic_files import write_atomically
from benchmark.system.checks import digest_without_itself, json_bytes
from benchmark.system.errors import ConfigError, DataError, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmark.system.user_classes import Plugin

MODEL_FORMAT = 7
DESCRIPTION_FILE: Final = "model.json"
MODEL_FILE: Final = "model.skops"
#: Rooms whose classes a model consists of: to build one runs no other code.
_ROOMS = tuple(
    f"benchmark.{name}." for name in ("representation", "classifiers", "kernels", "methods", "model.text_model")
)
#: Matrices, which skops reads as plain arrays.
_MATRICES = tuple(f"scipy.sparse._{kind}.{kind}_{form}" for kind in ("csr", "csc") for form in ("array", "matrix"))
_AGAIN = "fit it again"
#: The folder of plug-ins' files, of which each has a folder of its own, numbered from 1.
_PLUGINS = "plugins"


def check_model_folder_free(folder: Path, *, overwrite: bool) -> None:
    """Raise ConfigError if a folder is not empty and may not be overwritten."""
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        raise ConfigError(f"{folder}: is not empty; --overwrite writes over its files, --out names another folder")


def write_model(model: TextClassifier, folder: Path) -> int:
    """Write a model and return its size in bytes.

    The description is written last: if the process stops before, `load_model` refuses the folder.

    Raises
    ------
    BenchError
        If the file system refuses.
    ConfigError
        If the model can't be loaded again: nothing is written.
    """
    try:
        content = described_state({"views": list(model.views), "fitted": model.fitted, "sigmoids": model.sigmoids})
        read_state(content)
    except Exception as error:  # noqa: BLE001 - a user's class may raise anything
        named = ", ".join(plugin.file.name for plugin in model.plugins if plugin.file) or "its file"
        rule = f"what a kept model names must stand at the top of {named}, by `def` or `class`"
        problem = f"{model.about['cell']}: its model can't be loaded again, so nothing is written: {error}; {rule}"
        raise ConfigError(one_line(problem)) from None
    files, plugins = {MODEL_FILE: content}, list[dict[str, str]]()
    for number, plugin in enumerate(model.plugins, start=1):
        if plugin.file is not None and plugin.module is not None:
            subfolder = f"{_PLUGINS}/{number}"
            files |= {f"{subfolder}/{name}": content for name, content in plugin_files(plugin).items()}
            plugins.append({"file": f"{subfolder}/{plugin.file.name}", "module": plugin.module.__name__})
    about = {
        "format": MODEL_FORMAT,
        "version": version("simplexbench"),
        "about": model.about,
        "classes": list(model.classes),
        "plugins": plugins,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
    shutil.rmtree(folder / _PLUGINS, ignore_errors=True)
    files[DESCRIPTION_FILE] = json_bytes(about | {"digest": digest_without_itself(about)})
    for name, content in files.items():
        write_atomically(folder / name, content)
    return sum(map(len, files.values()))


def load_model(path: str | Path, jobs: int = 1) -> TextClassifier:
    """Load the model that ``bench fit`` wrote into a folder.

    Parameters
    ----------
    path : str or Path
        Folder of the model.
    jobs : int
        Number of threads for predictions.

    Returns
    -------
    TextClassifier
        Trained classifier of texts.

    Raises
    ------
    DataError
        If the folder has no model, or the model is damaged, changed, or of another format.
    ConfigError
        If it has code or types that aren't trusted.
    """
    folder = Path(path)
    description, file = folder / DESCRIPTION_FILE, folder / MODEL_FILE
    about = _checked_description(folder, description)
    if about["plugins"]:
        names = ", ".join(Path(each["file"]).name for each in about["plugins"])
        check_trusted(description, f"has the code of {names}, which would be run")
    plugins = tuple(load_plugin(folder / each["file"], trusted=True) for each in about["plugins"])
    modules = {each["module"]: plugin for each, plugin in zip(about["plugins"], plugins, strict=True)}
    content = read_file(file)
    try:
        others = [each for each in _other_types(content) if each.rpartition(".")[0] not in modules]
        if others:
            check_trusted(file, f"has objects of {', '.join(others)}, whose code would be run")
        with _named_modules(modules):
            state = read_state(content)
        fitted = state["fitted"]
        members = fitted.members if isinstance(fitted, FittedFusion) else (fitted,)
        n_terms, k = [len(view.vocabulary or ()) for view in state["views"]], len(about["classes"])
        wrong = [part for n, each in zip(n_terms, members, strict=True) for part, fits in _fits(each, n, k) if not fits]
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - a file made by hand may raise anything
        raise DataError(one_line(f"{file}: is no model of this version ({error}); {_AGAIN}")) from None
    if wrong:
        raise DataError(f"{file}: its {wrong[0]} don't go with the rest of the model; {_AGAIN}")
    classes, views = tuple(about["classes"]), tuple(state["views"])
    return TextClassifier(classes, views, fitted, state["sigmoids"], about["about"], plugins, jobs)


def _checked_description(folder: Path, description: Path) -> dict[str, Any]:
    """Return what `model.json` says; DataError if it or a file of the model was damaged, changed, or is of no model."""
    try:
        about: dict[str, Any] = json.loads(read_file(description))
        kind, digest = about["format"], about["digest"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise DataError(f"{description}: is no model, or a damaged one ({error!r}); {_AGAIN}") from None
    if kind != MODEL_FORMAT:
        raise DataError(f"{description}: is of format {kind!r}, and this version reads format {MODEL_FORMAT}; {_AGAIN}")
    if digest != digest_without_itself(about):
        raise DataError(f"{description}: is damaged, or was changed; {_AGAIN}")
    for name, digest in about["files"].items():
        if file_digest(folder / name) != digest:
            problem = f"is damaged, was changed, or doesn't belong to {DESCRIPTION_FILE}"
            raise DataError(f"{folder / name}: {problem}; {_AGAIN}")
    return about


@contextlib.contextmanager
def _named_modules(plugins: Mapping[str, Plugin]) -> Iterator[None]:
    """Let plug-ins' modules be imported by the names that they had where the model was trained."""
    before = {name: sys.modules[name] for name in plugins if name in sys.modules}
    sys.modules.update({name: each.module for name, each in plugins.items() if each.module is not None})
    try:
        yield
    finally:
        for name in plugins:
            del sys.modules[name]
        sys.modules.update(before)


def _fits(fitted: Any, n_terms: int, n_classes: int) -> Iterator[tuple[str, bool]]:
    """Yield whether shapes and indices that compiled code reads without a check of its own go together, part by part.

    Parameters
    ----------
    fitted : FittedMethod
    n_terms, n_classes : int
    """
    member: Any = fitted.method if isinstance(fitted, FittedThresholds) else fitted
    learned, n = member.learned, n_terms
    yield "learned classes", len(learned.everywhere) == n_classes and _within(learned.columns, n_classes)
    for name in ("factors_", "block_of_"):
        array = getattr(member.view.weighting, name, None)
        yield name, array is None or len(array) == n
    if isinstance(member, FittedHyperplanes):
        yield "hyperplanes", member.hyperplanes.weights.shape == (n, len(learned.columns))
    if isinstance(member, FittedMachines):
        counts, machines = member.counts, member.machines
        counts.check_format(full_check=True)
        yield "support vectors", counts.shape[1] == n and bool(np.isfinite(counts.data).all())
        bounds = np.asarray(machines.class_bounds)
        yield "bounds of classes", bounds[0] == 0 and bounds[-1] == counts.shape[0] and not (np.diff(bounds) < 0).any()
        for each in machines.machines:
            unique = len(np.unique(each.support)) == len(each.support) == len(each.coefficients)
            finite = bool(np.isfinite(each.coefficients).all())
            yield "coefficients", unique and finite and _within(each.support, counts.shape[0])


def _within(indices: Any, n: int) -> bool:
    """Return whether an array has integers from 0 to n - 1 alone."""
    return indices.dtype.kind in "iu" and bool(((indices >= 0) & (indices < n)).all())


def described_state(state: dict[str, Any]) -> bytes:
    """Return the file of an object by skops; its errors where it can't describe the object."""
    from skops import io  # noqa: PLC0415 - takes a second, and for kept models alone

    content: bytes = io.dumps(state, compression=ZIP_DEFLATED)
    return content


def read_state(content: bytes) -> dict[str, Any]:
    """Return the object of a file, of all types that it names."""
    from skops import io  # noqa: PLC0415 - as above

    state: dict[str, Any] = io.loads(content, trusted=io.get_untrusted_types(data=content))
    return state


def _other_types(content: bytes) -> Sequence[str]:
    """Return the types of a file that are neither parts of our models nor known to skops as harmless, sorted."""
    from skops import io  # noqa: PLC0415 - as above

    return sorted(name for name in io.get_untrusted_types(data=content) if not _is_part(name))


def _is_part(name: str) -> bool:
    """Return whether a name is that of a matrix, or of a class of a room that models are made of."""
    module, _, of_class = name.rpartition(".")
    return name in _MATRICES or (
        f"{module}.".startswith(_ROOMS) and isinstance(getattr(import_module(module), of_class, None), type)
    )
