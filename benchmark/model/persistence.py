"""Save a model in a folder and load it: its views and trained methods by skops, what it is in ``model.json``.

skops builds an object from its description, without running code that the file brings. It calls constructors of the
types that the file names: those of this package are listed here, others are listed for a person to trust.
``model.json`` has the digests of all files and of itself. A model that was damaged, changed by hand, or written by a
version with another format is refused. Equal models have equal bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.hyperplanes import Hyperplanes
from benchmark.classifiers.libsvm import BinarySvm
from benchmark.classifiers.svm import MulticlassSvm
from benchmark.kernels import KERNELS
from benchmark.methods.checked_classifiers import CheckedClassifier
from benchmark.methods.fitted import FittedHyperplanes, FittedMachines, FittedPoints
from benchmark.methods.learned_classes import LearnedClasses
from benchmark.methods.views import FittedView
from benchmark.methods.wrappers.fusion import StandardizedSum
from benchmark.methods.wrappers.thresholds import FittedThresholds
from benchmark.model.kept_plugins import named_modules, read_plugins, write_plugins
from benchmark.model.text_model import ModelPart, TextModel, TextView
from benchmark.plugins.trust import check_trusted
from benchmark.representation import WEIGHTINGS
from benchmark.representation.features import FEATURE_MAPS
from benchmark.system.atomic_files import remove_unfinished_files, write_atomically
from benchmark.system.checks import digest_without_itself, json_bytes
from benchmark.system.errors import ConfigError, DataError, one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

MODEL_FORMAT = 3
DESCRIPTION_FILE: Final = "model.json"
MODEL_FILE: Final = "model.skops"
#: Types of this package that a model consists of, beside its components: to build one runs no other code.
_PARTS = (
    *(ModelPart, TextView, FittedView, LearnedClasses, FittedMachines, FittedHyperplanes, FittedPoints),
    *(FittedThresholds, StandardizedSum, CheckedClassifier, Hyperplanes, MulticlassSvm, BinarySvm),
)
_AGAIN = "fit it again"
_DATE = (1980, 1, 1, 0, 0, 0)


def check_model_folder_free(folder: Path, *, overwrite: bool) -> None:
    """Raise ConfigError if a folder is not empty and may not be overwritten."""
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        holds = "a model" if (folder / DESCRIPTION_FILE).exists() else "other files"
        raise ConfigError(f"{folder}: holds {holds} already; --overwrite writes over it, --out names another folder")


def write_model(model: TextModel, folder: Path) -> int:
    """Write a model and return its size in bytes.

    The description is written last: if the process stops before, `read_model` refuses the folder.

    Raises
    ------
    BenchError
        If the file system refuses.
    ValueError
        If skops can't describe an object.
    """
    content = described_state({"parts": list(model.parts), "rule": model.rule, "sigmoids": model.sigmoids})
    remove_unfinished_files(folder, ".*.tmp")
    plugins, n_bytes = write_plugins(model.plugins, {each.rpartition(".")[0] for each in _other_types(content)}, folder)
    about = {
        "format": MODEL_FORMAT,
        "version": version("simplexbench"),
        "about": model.about,
        "classes": list(model.classes),
        "plugins": plugins,
        "files": {MODEL_FILE: hashlib.sha256(content).hexdigest()},
    }
    description = json_bytes(about | {"digest": digest_without_itself(about)})
    write_atomically(folder / MODEL_FILE, content)
    write_atomically(folder / DESCRIPTION_FILE, description)
    return n_bytes + len(content) + len(description)


def read_model(folder: Path) -> TextModel:
    """Load a model from its folder.

    Raises
    ------
    DataError
        If the folder has no model, or the model is damaged, changed, or of another format.
    ConfigError
        If it has code or types that aren't trusted.
    """
    path, file = folder / DESCRIPTION_FILE, folder / MODEL_FILE
    try:
        about = json.loads(_content(path))
        kind, digest = about["format"], about["digest"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise DataError(f"{path}: is no model, or a damaged one ({error!r}); {_AGAIN}") from None
    if kind != MODEL_FORMAT:
        raise DataError(f"{path}: is of format {kind!r}, and this version reads format {MODEL_FORMAT}; {_AGAIN}")
    if digest != digest_without_itself(about):
        raise DataError(f"{path}: is damaged, or was changed; {_AGAIN}")
    content = _content(file)
    if hashlib.sha256(content).hexdigest() != about["files"][MODEL_FILE]:
        raise DataError(f"{file}: is damaged, or doesn't belong to {DESCRIPTION_FILE}; {_AGAIN}")
    plugins = read_plugins(folder, path, about["plugins"])
    modules = [each["module"] for each in about["plugins"]]
    try:
        others = [each for each in _other_types(content) if each.rpartition(".")[0] not in modules]
        if others:
            check_trusted(file, f"has objects of {', '.join(others)}, whose code would be run")
        with named_modules(plugins, modules):
            state = read_state(content)
        model = TextModel(
            tuple(about["classes"]), tuple(state["parts"]), state["rule"], state["sigmoids"], about["about"], plugins
        )
        for part in model.parts:
            check_part(part, len(model.classes))
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - a file made by hand may raise anything
        raise DataError(one_line(f"{file}: is no model of this version ({error}); {_AGAIN}")) from None
    return model


def check_part(part: ModelPart, n_classes: int) -> None:
    """Check what compiled code reads without a check of its own: shapes and indices.

    Raises
    ------
    ValueError
        If an index is out of range, a value isn't finite, or lengths don't go together.
    """
    fitted = part.fitted.method if isinstance(part.fitted, FittedThresholds) else part.fitted
    view, learned, n_terms = fitted.view, fitted.learned, len(part.view.vocabulary or ())
    if len(learned.everywhere) != n_classes or not _within(learned.columns, n_classes):
        raise ValueError(f"learned classes are not among {n_classes}")
    for name, array in {} if view.weighting is None else vars(view.weighting).items():
        if name in ("factors_", "block_of_") and array is not None and len(array) != n_terms:
            raise ValueError(f"{name} has {len(array)} values for {n_terms} terms")
    if isinstance(fitted, FittedHyperplanes) and fitted.hyperplanes.weights.shape != (n_terms, len(learned.columns)):
        raise ValueError(f"hyperplanes have the shape {fitted.hyperplanes.weights.shape}")
    if not isinstance(fitted, FittedMachines):
        return
    counts, machines = fitted.counts, fitted.machines
    counts.check_format(full_check=True)
    if counts.shape[1] != n_terms or not np.isfinite(counts.data).all():
        raise ValueError(f"support vectors have the shape {counts.shape} for {n_terms} terms")
    bounds = np.asarray(machines.class_bounds)
    if bounds[0] != 0 or bounds[-1] != counts.shape[0] or (np.diff(bounds) < 0).any():
        raise ValueError(f"classes don't divide {counts.shape[0]} support vectors")
    for machine in machines.machines:
        unique = len(np.unique(machine.support)) == len(machine.support) == len(machine.coefficients)
        if not unique or not _within(machine.support, counts.shape[0]) or not np.isfinite(machine.coefficients).all():
            raise ValueError("support vectors don't go with their coefficients")


def _within(indices: Any, n: int) -> bool:
    """Return whether an array has integers from 0 to n - 1 alone."""
    return indices.dtype.kind in "iu" and bool(((indices >= 0) & (indices < n)).all())


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path.parent}: is not the folder of a model ({path.name} is missing)") from None
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from None


def described_state(state: dict[str, Any]) -> bytes:
    """Return the file of an object by skops, with its addresses in memory and its date replaced.

    Raises
    ------
    ValueError
        If skops can't describe an object.
    """
    skops = _skops()
    try:
        with ZipFile(io.BytesIO(skops.dumps(state))) as written:
            files = {name: written.read(name) for name in written.namelist()}
        described = files.pop("schema.json").decode()
    except (skops.exceptions.UnsupportedTypeException, TypeError, ValueError, AttributeError) as error:
        raise ValueError(one_line(f"skops can't keep it: {error}")) from None
    order = dict.fromkeys(re.findall(r'(?:"__id__": |"file": ")(\d+)', described))
    numbers = {address: str(number) for number, address in enumerate(order)}
    described = re.sub(r'("__id__": |"file": ")(\d+)', lambda found: found[1] + numbers[found[2]], described)
    renamed = {f"{numbers[name.partition('.')[0]]}.{name.partition('.')[2]}": files[name] for name in files}
    renamed["schema.json"] = json.dumps(json.loads(described)).encode()
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name in sorted(renamed):
            archive.writestr(ZipInfo(name, _DATE), renamed[name], ZIP_DEFLATED)
    return buffer.getvalue()


def read_state(content: bytes) -> dict[str, Any]:
    """Return the object of a file, of all types that it names."""
    skops = _skops()
    state: dict[str, Any] = skops.loads(content, trusted=skops.get_untrusted_types(data=content))
    return state


def _other_types(content: bytes) -> Sequence[str]:
    """Return the types of a file that are neither of this package nor known to skops as harmless, sorted."""
    components: Collection[type] = (
        *KERNELS.values(),
        *CLASSIFIERS.values(),
        *WEIGHTINGS.values(),
        *FEATURE_MAPS.values(),
    )
    own = {f"{each.__module__}.{each.__qualname__}" for each in (*_PARTS, *components)}
    return sorted(set(_skops().get_untrusted_types(data=content)) - own)


def _skops() -> Any:
    """Import skops, which takes a second."""
    import skops.io.exceptions  # noqa: PLC0415 - needed for kept models alone

    return skops.io
