"""Save a model in a folder of two files and load it; nothing in the files is executed.

``model.json`` describes the model, and has the digests of the arrays' file and of itself. A model that was damaged,
changed by hand, or written by a version with another format is refused. Equal models have equal bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final
from zipfile import BadZipFile

import numpy as np

from benchmark.classifiers import CLASSIFIERS
from benchmark.config.components import ComponentError, check_component
from benchmark.config.method_rules import check_method
from benchmark.config.model import MethodSpec, Representation
from benchmark.config.renamed_keys import with_current_parameters
from benchmark.kernels import KERNELS
from benchmark.methods.fitted import FITTED_KINDS, FittedMethod, TrainedState
from benchmark.methods.wrappers.thresholds import FittedThresholds
from benchmark.model.schema import check_arrays, check_kind, parse_description
from benchmark.model.text_model import TextModel
from benchmark.representation import WEIGHTINGS
from benchmark.representation.features import FEATURE_MAPS
from benchmark.system.atomic_files import remove_unfinished_files, write_atomically
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import ConfigError, DataError
from benchmark.system.string_arrays import join_names, split_names

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.model.schema import ModelDescription

MODEL_FORMAT = 2
DESCRIPTION_FILE: Final = "model.json"
ARRAYS_FILE: Final = "model.npz"
_AGAIN = "fit it again"
_KINDS: dict[str, type[FittedMethod]] = {**FITTED_KINDS, "thresholds": FittedThresholds}


def check_model_folder_free(folder: Path, *, overwrite: bool) -> None:
    """Raise ConfigError if a folder is not empty and may not be overwritten."""
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        holds = "a model" if (folder / DESCRIPTION_FILE).exists() else "other files"
        raise ConfigError(f"{folder}: holds {holds} already; --overwrite writes over it, --out names another folder")


def write_model(model: TextModel, folder: Path) -> int:
    """Write a model and return its size in bytes; BenchError if the file system refuses.

    The arrays are written first: if the process stops between the two files, `read_model` refuses the folder.
    """
    learned = model.fitted.learned
    arrays = {"vocabulary": join_names(model.vocabulary), "columns": learned.columns, "everywhere": learned.everywhere}
    optional = {"terms": learned.terms, "sigmoids": model.sigmoids}
    optional |= {f"weighting/{name}": getattr(learned.weighting, name) for name in learned.weighting.kept}
    arrays |= {name: array for name, array in optional.items() if array is not None}
    arrays |= {f"fitted/{name}": array for name, array in model.fitted.arrays().items()}
    file = io.BytesIO()
    np.savez_compressed(file, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    parts = {"kernel": learned.spec.kernel, "classifier": learned.spec.classifier}
    about = {
        "format": MODEL_FORMAT,
        "version": version("simplexbench"),
        "about": model.about,
        "classes": list(model.classes),
        "several": model.multilabel,
        "lexing": asdict(model.lexing),
        "representation": learned.spec.representation.resolved,
        **{key: None if part is None else part.resolved for key, part in parts.items()},
        "threshold": learned.spec.threshold,
        "kind": next(name for name, kind in _KINDS.items() if isinstance(model.fitted, kind)),
        "files": {ARRAYS_FILE: hashlib.sha256(file.getvalue()).hexdigest()},
    }
    about["digest"] = digest_without_itself(about)
    contents = {
        ARRAYS_FILE: file.getvalue(),
        DESCRIPTION_FILE: (json.dumps(about, indent=2, ensure_ascii=False) + "\n").encode(),
    }
    remove_unfinished_files(folder, ".*.tmp")
    for name, content in contents.items():
        write_atomically(folder / name, content)
    return sum(map(len, contents.values()))


def read_model(folder: Path) -> TextModel:
    """Load a model from its folder.

    Raises
    ------
    DataError
        If the folder has no model, or the model is damaged, changed, or of another format.
    """
    path = folder / DESCRIPTION_FILE
    try:
        described = _content(path)
        about = json.loads(described)
        kind, digest = about["format"], about["digest"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise DataError(f"{path}: is no model, or a damaged one ({error!r}); {_AGAIN}") from None
    if kind != MODEL_FORMAT:
        raise DataError(f"{path}: is of format {kind!r}, and this version reads format {MODEL_FORMAT}; {_AGAIN}")
    if digest != digest_without_itself(about):
        raise DataError(f"{path}: is damaged, or was changed; {_AGAIN}")
    try:
        facts = parse_description(described)
        spec = _spec(facts)
        check_kind(facts, spec)
    except (ComponentError, ConfigError, ValueError) as error:
        # The digests match: the file was made by hand, or by a version with other names in the same format.
        raise DataError(f"{path}: doesn't describe a model of this version ({error}); {_AGAIN}") from None
    content = _content(folder / ARRAYS_FILE)
    if hashlib.sha256(content).hexdigest() != facts.files[ARRAYS_FILE]:
        raise DataError(f"{folder / ARRAYS_FILE}: is damaged, or doesn't belong to {DESCRIPTION_FILE}; {_AGAIN}")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = dict(archive)
    except (ValueError, EOFError, OSError, RuntimeError, LookupError, SyntaxError, BadZipFile, zlib.error) as error:
        raise DataError(
            f"{folder / ARRAYS_FILE}: doesn't describe a model of this version ({error}); {_AGAIN}"
        ) from None
    try:
        check_arrays(arrays, facts, spec)
    except ValueError as error:
        raise DataError(f"{folder / ARRAYS_FILE}: {error}; {_AGAIN}") from None
    return _model(facts, spec, about["about"], arrays)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path.parent}: is not the folder of a model ({path.name} is missing)") from None
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from None


def _spec(facts: ModelDescription) -> MethodSpec:
    """Return the method that a model names; ComponentError or ValueError if there is no such method."""
    kernel = None if facts.kernel is None else check_component("kernel", KERNELS, facts.kernel)
    classifier = check_component("classifier", CLASSIFIERS, with_current_parameters("classifier", facts.classifier))
    own = facts.representation
    features = None if own.features is None else check_component("features", FEATURE_MAPS, own.features)
    weighting, fields = check_component("weighting", WEIGHTINGS, own.weighting), tuple(own.fields.items())
    points = weighting, own.normalization, own.idf, own.dirichlet, features, fields
    representation = Representation(*points, learns=weighting.build().learns)
    spec = MethodSpec(representation, kernel, classifier, threshold=facts.threshold)
    check_method(spec)
    return spec


def _model(
    facts: ModelDescription, spec: MethodSpec, about: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> TextModel:
    weighting = spec.representation.weighting.build()
    for name in weighting.kept:
        setattr(weighting, name, arrays.get(f"weighting/{name}"))
    trained = {name.removeprefix("fitted/"): array for name, array in arrays.items() if name.startswith("fitted/")}
    learned = TrainedState(
        spec, arrays.get("terms"), weighting, facts.multilabel, arrays["columns"], arrays["everywhere"]
    )
    fitted = _KINDS[facts.kind].restored(learned, trained)
    vocabulary = split_names(arrays["vocabulary"])
    return TextModel(tuple(facts.classes), facts.lexing, vocabulary, fitted, arrays.get("sigmoids"), about)
