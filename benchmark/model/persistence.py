"""Save a model in a folder and load it; nothing in the files is executed.

``model.json`` describes the model, and has the digests of the arrays' file and of itself. A fusion has no arrays, but
a folder for each of its methods, which is an ordinary model's; its description has the digests of theirs. A model that
was damaged, changed by hand, or written by a version with another format is refused. Equal models have equal bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final
from zipfile import BadZipFile

import numpy as np

from benchmark.config.components import ComponentError, check_component
from benchmark.config.method_rules import check_method
from benchmark.config.methods import DEFAULT_THRESHOLD
from benchmark.config.model import MethodSpec, Representation
from benchmark.methods.elsewhere.kept_estimators import FittedEstimators, kept_component, untrusted_types
from benchmark.methods.fitted import FITTED_KINDS, FittedMethod, TrainedState
from benchmark.methods.wrappers.fusion import StandardizedSum
from benchmark.methods.wrappers.thresholds import FittedThresholds
from benchmark.model.fusion_model import FusionModel
from benchmark.model.kept_plugins import named_modules, read_plugins, registries_of_model, write_plugins
from benchmark.model.pipeline_model import PipelineModel
from benchmark.model.precision import ROUNDED
from benchmark.model.schema import ESTIMATOR_KINDS, check_arrays, check_kind, check_sum, parse_description, parse_fusion
from benchmark.model.text_model import TextModel
from benchmark.plugins.trust import check_trusted
from benchmark.system.atomic_files import remove_unfinished_files, write_atomically
from benchmark.system.checks import digest_without_itself, json_bytes
from benchmark.system.errors import ConfigError, DataError
from benchmark.system.string_arrays import join_names, split_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.config.registries import Registries
    from benchmark.model.base import KeptModel
    from benchmark.model.schema import ModelDescription

MODEL_FORMAT = 2
DESCRIPTION_FILE: Final = "model.json"
ARRAYS_FILE: Final = "model.npz"
#: The folders of a fusion's methods, numbered from 1.
MEMBER_FOLDER: Final = "method-{}"
_FUSION = "fusion"
_AGAIN = "fit it again"
_KINDS: dict[str, type[FittedMethod]] = {**FITTED_KINDS, "thresholds": FittedThresholds}


def check_model_folder_free(folder: Path, *, overwrite: bool) -> None:
    """Raise ConfigError if a folder is not empty and may not be overwritten."""
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        holds = "a model" if (folder / DESCRIPTION_FILE).exists() else "other files"
        raise ConfigError(f"{folder}: holds {holds} already; --overwrite writes over it, --out names another folder")


def write_model(model: KeptModel, folder: Path) -> int:
    """Write a model and return its size in bytes.

    The description is written last: if the process stops before, `read_model` refuses the folder.

    Raises
    ------
    BenchError
        If the file system refuses.
    TypeError
        If there is no format for such a model.
    """
    if isinstance(model, FusionModel):
        return _write_fusion(model, folder)
    if not isinstance(model, TextModel):
        raise TypeError(f"{type(model).__name__} has no format")
    learned = model.fitted.learned
    arrays = {"vocabulary": join_names(model.vocabulary), "columns": learned.columns, "everywhere": learned.everywhere}
    optional = {"sigmoids": model.sigmoids}
    optional |= {f"weighting/{name}": getattr(learned.weighting, name, None) for name in learned.weighting.kept}
    arrays |= {name: array for name, array in optional.items() if array is not None}
    # Row by row: the weights of one class compress better together.
    arrays |= {f"fitted/{name}": np.asarray(array, order="C") for name, array in model.fitted.arrays().items()}
    if model.about.get("precision") == "single":
        halved = {name: np.asarray(array, dtype=np.float32) for name, array in arrays.items() if name.endswith(ROUNDED)}
        arrays |= halved
    file = io.BytesIO()
    np.savez_compressed(file, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    parts = {"kernel": learned.spec.kernel, "classifier": learned.spec.classifier}
    about = _said_of_all(model) | {
        "lexing": asdict(model.lexing),
        "representation": learned.spec.representation.resolved,
        "selects_terms": learned.terms is not None,
        **{key: None if part is None else part.resolved for key, part in parts.items()},
        "threshold": DEFAULT_THRESHOLD if learned.spec.threshold is None else learned.spec.threshold.plain,
        "kind": _kind_of(model),
        "files": {ARRAYS_FILE: hashlib.sha256(file.getvalue()).hexdigest()},
    }
    remove_unfinished_files(folder, ".*.tmp")
    plugins, n_bytes = write_plugins(model.plugins, folder)
    about |= {"plugins": plugins} if plugins else {}
    write_atomically(folder / ARRAYS_FILE, file.getvalue())
    return n_bytes + len(file.getvalue()) + _write_description(about, folder)


def _kind_of(model: TextModel) -> str:
    if isinstance(model.fitted, FittedEstimators):
        return "pipeline" if isinstance(model, PipelineModel) else "estimators"
    return next(name for name, kind in _KINDS.items() if isinstance(model.fitted, kind))


def _said_of_all(model: KeptModel) -> dict[str, Any]:
    """Return what the description of every kind of model has."""
    return {
        "format": MODEL_FORMAT,
        "version": version("simplexbench"),
        "about": model.about,
        "classes": list(model.classes),
        "several": model.multilabel,
    }


def _write_description(about: dict[str, Any], folder: Path) -> int:
    """Write a description with its digest, and return its size in bytes."""
    whole = about | {"digest": digest_without_itself(about)}
    content = json_bytes(whole)
    write_atomically(folder / DESCRIPTION_FILE, content)
    return len(content)


def _write_fusion(model: FusionModel, folder: Path) -> int:
    """Write a fusion and the models of its methods; return their size in bytes."""
    n_bytes, members = 0, []
    named = zip(model.names, model.rule.weights, model.rule.scales, model.members, strict=True)
    for number, (name, weight, scale, member) in enumerate(named, start=1):
        own = folder / MEMBER_FOLDER.format(number)
        n_bytes += write_model(member, own)
        members.append({"name": name, "weight": weight, "scale": scale, "sha256": _sha256(own / DESCRIPTION_FILE)})
    sigmoids = None if model.sigmoids is None else model.sigmoids.tolist()
    about = _said_of_all(model) | {"kind": _FUSION, "members": members, "sigmoids": sigmoids}
    remove_unfinished_files(folder, ".*.tmp")
    return n_bytes + _write_description(about, folder)


def read_model(folder: Path) -> KeptModel:
    """Load a model from its folder.

    Returns
    -------
    KeptModel
        A TextModel, or a FusionModel.

    Raises
    ------
    DataError
        If the folder has no model, or the model is damaged, changed, or of another format.
    """
    described, about = _description(folder)
    if about.get("kind") == _FUSION:
        return _read_fusion(folder, described, about)
    return _read_text_model(folder, described, about)


def _description(folder: Path) -> tuple[bytes, dict[str, Any]]:
    """Return the content of ``model.json`` and what it says, once format and digest are right; or DataError."""
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
    return described, about


def _read_fusion(folder: Path, described: bytes, about: dict[str, Any]) -> FusionModel:
    """Return the fusion of a description and of the models in its folders; DataError if they don't go together."""
    path = folder / DESCRIPTION_FILE
    try:
        facts = parse_fusion(described)
    except ValueError as error:
        raise DataError(f"{path}: doesn't describe a model of this version ({error}); {_AGAIN}") from None
    members = []
    for number, each in enumerate(facts.members, start=1):
        own = folder / MEMBER_FOLDER.format(number)
        content, said = _description(own)
        if hashlib.sha256(content).hexdigest() != each.sha256:
            raise DataError(f"{own / DESCRIPTION_FILE}: is damaged, or doesn't belong to {path}; {_AGAIN}")
        members.append(_read_text_model(own, content, said))
    classes, learned = tuple(facts.classes), members[0].fitted.learned
    for number, member in enumerate(members, start=1):
        if not (member.classes == classes and member.multilabel == facts.multilabel and _same_classes(member, learned)):
            own = folder / MEMBER_FOLDER.format(number)
            raise DataError(f"{own}: has learned other classes than the fusion; {_AGAIN}")
    try:
        check_sum(facts, len(learned.columns))
    except ValueError as error:
        raise DataError(f"{path}: {error}; {_AGAIN}") from None
    weights, scales = zip(*((each.weight, each.scale) for each in facts.members), strict=True)
    rule = StandardizedSum(weights, scales, facts.multilabel, learned.columns, learned.everywhere)
    sigmoids = None if facts.sigmoids is None else np.array(facts.sigmoids, dtype=np.float64).reshape(-1, 2)
    names = tuple(each.name for each in facts.members)
    return FusionModel(classes, names, tuple(members), rule, sigmoids, about["about"])


def _same_classes(member: TextModel, learned: TrainedState) -> bool:
    own = member.fitted.learned
    return np.array_equal(own.columns, learned.columns) and np.array_equal(own.everywhere, learned.everywhere)


def _read_text_model(folder: Path, described: bytes, about: dict[str, Any]) -> TextModel:
    """Return the model of a description and of the arrays in its folder; DataError if they don't go together."""
    path = folder / DESCRIPTION_FILE
    try:
        facts = parse_description(described)
    except ValueError as error:
        raise DataError(f"{path}: doesn't describe a model of this version ({error}); {_AGAIN}") from None
    plugins = read_plugins(folder, path, facts.plugins)
    try:
        spec = _spec(facts, registries_of_model(plugins))
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
        if facts.about.precision == "single":
            arrays |= {
                name: array.astype(np.float64)
                for name, array in arrays.items()
                if name.endswith(ROUNDED) and array.dtype == np.float32
            }
    except (ValueError, EOFError, OSError, RuntimeError, LookupError, SyntaxError, BadZipFile, zlib.error) as error:
        raise DataError(
            f"{folder / ARRAYS_FILE}: doesn't describe a model of this version ({error}); {_AGAIN}"
        ) from None
    try:
        check_arrays(arrays, facts, spec)
    except ValueError as error:
        raise DataError(f"{folder / ARRAYS_FILE}: {error}; {_AGAIN}") from None
    if facts.kind in ESTIMATOR_KINDS:
        _check_types(folder / ARRAYS_FILE, arrays, [each.module for each in facts.plugins])
    try:
        with named_modules(plugins, [each.module for each in facts.plugins]):
            return replace(_model(facts, spec, about["about"], arrays), plugins=tuple(plugins))
    except ValueError as error:
        raise DataError(f"{folder / ARRAYS_FILE}: {error}; {_AGAIN}") from None


def _check_types(path: Path, arrays: dict[str, NDArray[Any]], modules: Sequence[str]) -> None:
    """Refuse a kept classifier of types that neither skops nor the user trusts; `modules` are of trusted plug-ins."""
    files = {name: array for name, array in arrays.items() if name.startswith("fitted/")}
    try:
        types = [each for each in untrusted_types(files) if each.rpartition(".")[0] not in modules]
    except ValueError as error:
        raise DataError(f"{path}: {error}; {_AGAIN}") from None
    if types:
        check_trusted(path, f"has objects of {', '.join(types)}, whose code would be run")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path.parent}: is not the folder of a model ({path.name} is missing)") from None
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from None


def _spec(facts: ModelDescription, components: Registries) -> MethodSpec:
    """Return the method that a model names; ComponentError or ValueError if there is no such method."""
    kernel = None if facts.kernel is None else check_component("kernel", components.kernels, facts.kernel)
    if facts.kind in ESTIMATOR_KINDS:
        classifier = kept_component(str(facts.classifier), reads_texts=facts.kind == "pipeline")
    else:
        classifier = check_component("classifier", components.classifiers, facts.classifier)
    own = facts.representation
    features = None if own.features is None else check_component("features", components.features, own.features)
    weighting, fields = check_component("weighting", components.weightings, own.weighting), tuple(own.fields.items())
    points = weighting, own.normalization, own.idf, own.dirichlet, features, fields
    representation = Representation(*points, learns=weighting.build().learns)
    threshold = check_component("threshold", components.thresholds, facts.threshold)
    rule = None if threshold.name == DEFAULT_THRESHOLD else threshold
    spec = MethodSpec(representation, kernel, classifier, threshold=rule)
    check_method(spec)
    return spec


def _model(
    facts: ModelDescription, spec: MethodSpec, about: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> TextModel:
    weighting = spec.representation.weighting.build()
    for name in weighting.kept:
        setattr(weighting, name, arrays.get(f"weighting/{name}"))
    trained = {name.removeprefix("fitted/"): array for name, array in arrays.items() if name.startswith("fitted/")}
    # In the order of LIBLINEAR's, by which products with sparse counts need no copy.
    trained |= {name: np.asfortranarray(array) for name, array in trained.items() if name.endswith(".coef_")}
    vocabulary = split_names(arrays["vocabulary"])
    # A model counts its own terms alone; their places in the corpus are not kept.
    terms = np.arange(len(vocabulary)) if facts.selects_terms else None
    learned = TrainedState(spec, terms, weighting, facts.multilabel, arrays["columns"], arrays["everywhere"])
    kind = FittedEstimators if facts.kind in ESTIMATOR_KINDS else _KINDS[facts.kind]
    fitted = kind.restored(learned, trained)
    made = PipelineModel if facts.kind == "pipeline" else TextModel
    return made(tuple(facts.classes), facts.lexing, vocabulary, fitted, arrays.get("sigmoids"), about)
