"""Schema of a model's files, checked before the model is used, since a shared file may contain anything."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, ValidationError

from benchmark.classifiers import PARAMETER_LIMITS
from benchmark.classifiers.thresholds import gives_a_class
from benchmark.config.methods import DEFAULT_THRESHOLD
from benchmark.config.other_methods import MAX_WEIGHT
from benchmark.config.schema_errors import ConfigSection, format_input, type_requirement
from benchmark.corpora.user.text_lines import check_encoding
from benchmark.kernels import is_elementwise_kernel
from benchmark.methods.elsewhere.kept_estimators import estimator_arrays
from benchmark.methods.wrappers.fusion import SMALLEST_SCALE
from benchmark.representation import NORMALIZATIONS
from benchmark.system.errors import ConfigError
from benchmark.system.registries import is_builtin
from benchmark.system.string_arrays import split_names
from benchmark.system.tags import tags_of
from benchmark.text.fields import FIELD_FINDERS
from benchmark.text.lexer import Lexing  # noqa: TC001 - pydantic reads the annotation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec

    Arrays = Mapping[str, NDArray[Any]]

#: Kinds of models whose classifiers skops keeps: of counts, and of texts.
ESTIMATOR_KINDS = ("estimators", "pipeline")
#: The largest absolute value in a model: a sum over a text of products of two such values is still finite.
MAX_ABS_VALUE = 1e100

Names = Annotated[list[str], Field(min_length=1)]
_Coefficient = Annotated[float, Field(ge=-MAX_ABS_VALUE, le=MAX_ABS_VALUE)]


class _Section(ConfigSection):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class SelectedCandidate(_Section):
    """Candidate that was selected and trained."""

    by: str
    candidate: int = Field(ge=0)
    of: int = Field(ge=1)


def _known_encoding(name: str) -> str:
    """Return the name of an encoding; ValueError if there is no such encoding."""
    try:
        check_encoding(name)
    except ConfigError as error:
        raise ValueError(str(error)) from None
    return name


class ReadingDescription(_Section):
    """How the files of the training documents were read: other texts are probably written in the same way."""

    encoding: Annotated[str, AfterValidator(_known_encoding)]
    delimiter: Annotated[str, Field(pattern=r'^[^"\r\n]$')] | None
    header: bool
    id: str | None
    quoting: Literal["double", "none"] = "double"
    escape: Annotated[str, Field(pattern=r'^[^"\r\n]$')] | None = None


class TrainingDescription(_Section):
    """Description of the training: configuration, cell, documents."""

    name: str
    config: dict[str, Any]
    cell: str
    trained_on: str
    documents: int = Field(ge=0)
    content_digest: str
    chosen: SelectedCandidate | None
    text: Names
    precision: Literal["double", "single"] = "double"
    reading: ReadingDescription | None = None  # models of earlier versions and of published corpora have none


class RepresentationDescription(_Section):
    """Representation of counts as points; weighting and features are checked like those of a configuration."""

    weighting: Any
    normalization: Literal["none", "l1", "l2"]
    idf: Literal["collection", "training"]
    dirichlet: float = Field(ge=0, le=PARAMETER_LIMITS["smoothing"][1])
    features: Any
    fields: dict[str, Annotated[float, Field(ge=0, le=1e12)]]


class _Description(_Section):
    """What ``model.json`` says of every kind of model."""

    format: int
    version: str
    about: TrainingDescription
    classes: Names
    multilabel: bool = Field(alias="several")
    digest: str


class PluginDescription(_Section):
    """Plug-in of a model: its file, the name of its module where it was trained, and the sha256 of all its files."""

    file: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*\.py$")]
    module: str
    files: Annotated[dict[str, str], Field(min_length=1)]


class ModelDescription(_Description):
    """Contents of ``model.json`` where a model has one method."""

    lexing: Lexing
    representation: RepresentationDescription
    selects_terms: bool
    kernel: Any
    classifier: Any
    threshold: Any = DEFAULT_THRESHOLD  # models of earlier versions have none
    kind: Literal["machines", "hyperplanes", "points", "thresholds", "estimators", "pipeline"]
    files: Annotated[dict[Literal["model.npz"], str], Field(min_length=1)]
    plugins: list[PluginDescription] = Field(default_factory=list)  # models without plug-ins have none


class MemberDescription(_Section):
    """Method of a fusion: its name, how its values are added, and the sha256 of the ``model.json`` of its folder."""

    name: str
    weight: float = Field(gt=0, le=MAX_WEIGHT)
    scale: float = Field(ge=SMALLEST_SCALE)
    sha256: str


class FusionDescription(_Description):
    """Contents of ``model.json`` of a fusion."""

    kind: Literal["fusion"]
    members: Annotated[list[MemberDescription], Field(min_length=2)]
    sigmoids: list[tuple[_Coefficient, _Coefficient]] | None


_Parsed = TypeVar("_Parsed", bound=_Description)


def parse_description(content: bytes) -> ModelDescription:
    """Parse the content of ``model.json``; ValueError with the first error."""
    facts = _parsed(content, ModelDescription)
    lexing = facts.lexing
    if not lexing.fields or len(set(lexing.blocks)) < len(lexing.blocks):
        raise ValueError("lexing.fields and lexing.ngrams must not be empty, and name nothing twice")
    if lexing.format is not None and lexing.format not in FIELD_FINDERS:
        raise ValueError(f"lexing.format is {format_input(lexing.format)}: must be one of {', '.join(FIELD_FINDERS)}")
    return facts


def parse_fusion(content: bytes) -> FusionDescription:
    """Parse the content of ``model.json`` of a fusion; ValueError with the first error."""
    return _parsed(content, FusionDescription)


def check_sum(facts: FusionDescription, n_learned: int) -> None:
    """Raise ValueError if a fusion hasn't the sigmoids of its classes, of which `n_learned` were learned."""
    expected = n_learned if facts.multilabel else _unless_two(len(facts.classes), len(facts.classes))
    if facts.sigmoids is not None and len(facts.sigmoids) != expected:
        raise ValueError(f"sigmoids has {len(facts.sigmoids)} rows: must have {expected}")


def _parsed(content: bytes, schema: type[_Parsed]) -> _Parsed:
    try:
        facts = schema.model_validate_json(content)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"])) or "the file"
        if problem["type"] == "missing":
            raise ValueError(f"the key {where} is missing") from None
        if problem["type"] == "extra_forbidden":
            raise ValueError(f"the key {where} is unknown") from None
        must = type_requirement(problem).partition(";")[0]  # the rest is advice on YAML
        raise ValueError(f"{where} is {format_input(problem['input'])}: {must}") from None
    except ConfigError as error:  # of a Lexing, which refuses unknown names itself
        raise ValueError(str(error)) from None
    if len(set(facts.classes)) < len(facts.classes):
        raise ValueError("classes has a name twice")
    if len(facts.classes) < 2 and not facts.multilabel:
        raise ValueError("classes has one name: a document that has one class needs two to choose from")
    return facts


def check_kind(facts: ModelDescription, spec: MethodSpec) -> None:
    """Raise ValueError if the kind doesn't fit the method."""
    if (facts.kind == "thresholds") != (spec.threshold is not None):
        raise ValueError(f"kind is {facts.kind!r}, and threshold {facts.threshold!r}")
    if spec.threshold is not None and not facts.multilabel:
        raise ValueError(
            f"threshold is {facts.threshold!r}, but several is false: only several classes have thresholds"
        )
    if facts.kind != "thresholds":
        check_classifier_kind(facts.kind, spec, multilabel=facts.multilabel)
    if spec.kernel is not None and not is_elementwise_kernel(spec.kernel.cls):
        raise ValueError(f"kernel is {spec.kernel.name!r}, which saved models don't support")
    features = spec.representation.features
    if features is not None and not tags_of(spec.classifier.cls).takes_features:
        raise ValueError(f"representation.features: the classifier {spec.classifier.name!r} takes none")
    allowed = NORMALIZATIONS if features is None else tags_of(features.cls).normalizations
    if features is not None and facts.representation.normalization not in allowed:
        raise ValueError(f"representation.normalization: {features.name!r} takes {', '.join(allowed)}")


def check_classifier_kind(kind: str, spec: MethodSpec, *, multilabel: bool) -> None:
    """Raise ValueError if the kind of trained classifiers doesn't fit the kernel or the classes."""
    if (kind in ("points", *ESTIMATOR_KINDS)) != (spec.kernel is None):
        raise ValueError(f"kind is {kind!r}, and kernel {spec.kernel and spec.kernel.name!r}")
    if kind == "hyperplanes" and not multilabel:
        raise ValueError("kind is 'hyperplanes', but several is false")


@dataclass(frozen=True)
class ArraySpec:
    """Requirements on an array.

    Parameters
    ----------
    types : str
        One of `ARRAY_TYPES`.
    shape : tuple of str
        Names of the lengths; the first array with an unknown name sets its length.
    least, most : float
        Bounds of the values.
    of : str
        Name of the length that the values index; "" if the values are no indices.
    optional : bool
        The array may be missing.
    """

    types: str
    shape: tuple[str, ...] = ()
    least: float = -MAX_ABS_VALUE
    most: float = MAX_ABS_VALUE
    of: str = ""
    optional: bool = False


ARRAY_TYPES = {
    "numbers": (np.dtype(np.float64),),
    "whole numbers": (np.dtype(np.int32), np.dtype(np.int64)),
    "truth values": (np.dtype(np.bool_),),
    "bytes": (np.dtype(np.uint8),),
}
_NUMBERS, _WHOLE, _TRUE, _WORD = "numbers", "whole numbers", "truth values", "a word"

COMMON_ARRAYS = {
    "vocabulary": ArraySpec("bytes", ("bytes",), 0),
    "columns": ArraySpec(_WHOLE, ("learned",), of="classes"),
    "everywhere": ArraySpec(_TRUE, ("classes",)),
    "sigmoids": ArraySpec(_NUMBERS, ("sigmoids", "2"), optional=True),
}
WEIGHTING_ARRAYS = {
    "factors_": ArraySpec(_NUMBERS, ("words",), 0),
    "mean_length_": ArraySpec(_NUMBERS, (), 0),
    "n_features_in_": ArraySpec(_WHOLE),
    "block_of_": ArraySpec(_WHOLE, ("words",), of="blocks"),
    "block_weights_": ArraySpec(_NUMBERS, ("blocks",), 0),
    "block_norm_": ArraySpec(_WORD),
}
SVM_ARRAYS = {
    "bounds": ArraySpec(_WHOLE, ("bounds",), 0),
    "n_support": ArraySpec(_WHOLE, ("machines",), 0),
    "rho": ArraySpec(_NUMBERS, ("machines",)),
    "support": ArraySpec(_WHOLE, ("supports",), of="support vectors"),
    "coefficients": ArraySpec(_NUMBERS, ("supports",)),
    "counts.shape": ArraySpec(_WHOLE, ("2",), 0),
    "counts.indptr": ArraySpec(_WHOLE, ("rows",), 0),
    "counts.data": ArraySpec(_WHOLE, ("counts",), 1),
    "counts.indices": ArraySpec(_WHOLE, ("counts",), of="words"),
}
HYPERPLANE_ARRAYS = {
    "weights": ArraySpec(_NUMBERS, ("words", "learned")),
    "offsets": ArraySpec(_NUMBERS, ("learned",)),
}
#: By attribute names of classifiers; the length "own classes" is 2 where each class has a binary classifier.
POINT_CLASSIFIER_ARRAYS = {
    "classes_": ArraySpec(_WHOLE, ("own classes",), of="own classes"),
    "coef_": ArraySpec(_NUMBERS, ("hyperplanes", "coordinates")),
    "intercept_": ArraySpec(_NUMBERS, ("hyperplanes",)),
    "class_log_prior_": ArraySpec(_NUMBERS, ("own classes",)),
    "feature_log_prob_": ArraySpec(_NUMBERS, ("own classes", "coordinates")),
    "log_prior_": ArraySpec(_NUMBERS, ("own classes",)),
    "centroids_": ArraySpec(_NUMBERS, ("own classes", "coordinates"), np.finfo(float).smallest_subnormal),
    "weights_": ArraySpec(_NUMBERS, ("own classes", "coordinates"), 0.0),
    "n_features_in_": ArraySpec(_WHOLE),
}
THRESHOLD_ARRAYS = {
    "thresholds": ArraySpec(_NUMBERS, ("learned",)),
    "at_least_one": ArraySpec(_TRUE),
    "kind": ArraySpec(_WORD),
}


def check_arrays(arrays: Arrays, facts: ModelDescription, spec: MethodSpec) -> None:
    """Check all arrays of a model against its description; ValueError with the first error."""
    kind, prefix, table = str(facts.kind), "fitted/", dict(COMMON_ARRAYS)
    if kind == "thresholds":
        table |= {f"fitted/{name}": each for name, each in THRESHOLD_ARRAYS.items()}
        kind, prefix = _trained_kind(arrays, facts, spec), "fitted/method."
    sizes = _sizes(arrays, facts, spec)
    table |= _of_weighting(facts, spec)
    table |= {f"{prefix}{name}": each for name, each in _of_kind(kind, facts, spec, sizes["learned"]).items()}
    unknown = next((name for name in arrays if name not in table), None)
    if unknown is not None:
        raise ValueError(f"{unknown} is no array of such a model")
    for name, each in table.items():
        _check_type(name, arrays, each, sizes)
    sizes["support vectors"] = sizes.get("rows", 1) - 1
    for name, array in arrays.items():
        _check_values(name, array, table[name], sizes)
    _check_classes(arrays, facts)
    _check_single_values(arrays, sizes)
    if kind == "machines":
        _check_machines({name: arrays[f"{prefix}{name}"] for name in SVM_ARRAYS}, prefix, sizes)


def _sizes(arrays: Arrays, facts: ModelDescription, spec: MethodSpec) -> dict[str, int]:
    """Return the lengths that follow from `facts`, the vocabulary and which classes were learned."""
    k, multilabel = len(facts.classes), facts.multilabel
    sizes = {"2": 2, "classes": k, "blocks": len(facts.lexing.blocks), "bounds": 2 if multilabel else k + 1}
    for name in ("vocabulary", "columns"):
        _check_type(name, arrays, COMMON_ARRAYS[name], sizes)
    n_words, n_learned = _words(arrays["vocabulary"]), len(arrays["columns"])
    scheme = "" if facts.kind in ESTIMATOR_KINDS else getattr(spec.classifier.build(), "scheme", "")
    features = spec.representation.features
    n_classes = 2 if multilabel else k
    pairs = n_classes * (n_classes - 1) // 2
    return sizes | {
        "words": n_words,
        "learned": n_learned,
        "coordinates": n_words if features is None else features.build().width(n_words),
        "own classes": n_classes,
        "sigmoids": n_learned if multilabel else _unless_two(k, k),
        "hyperplanes": _unless_two(n_classes, pairs if scheme == "one-vs-one" else n_classes),
        "machines": n_learned if multilabel else (k if scheme == "one-vs-rest" else pairs),
    }


def _unless_two(n: int, otherwise: int) -> int:
    return 1 if n == 2 else otherwise


def _trained_kind(arrays: Arrays, facts: ModelDescription, spec: MethodSpec) -> str:
    """Return the kind of classifiers that thresholds were learned for."""
    for name, each in THRESHOLD_ARRAYS.items():
        _check_type(f"fitted/{name}", arrays, each, {"learned": len(np.atleast_1d(arrays.get("columns", ())))})
    kind = str(arrays["fitted/kind"])
    if kind not in ("machines", "hyperplanes", "points"):
        raise ValueError(f"fitted/kind is {format_input(kind)}: must be machines, hyperplanes or points")
    try:
        check_classifier_kind(kind, spec, multilabel=facts.multilabel)
    except ValueError as error:
        raise ValueError(f"fitted/{error}") from None
    if bool(arrays["fitted/at_least_one"]) != (spec.threshold is not None and gives_a_class(spec.threshold.cls)):
        raise ValueError(f"fitted/at_least_one doesn't belong to the threshold {facts.threshold!r}")
    return kind


def _words(vocabulary: NDArray[np.uint8]) -> int:
    try:
        words = split_names(vocabulary)
    except UnicodeDecodeError:
        raise ValueError("vocabulary isn't UTF-8") from None
    if len(set(words)) < len(words):
        raise ValueError("vocabulary has a word twice")
    return len(words)


def _of_weighting(facts: ModelDescription, spec: MethodSpec) -> dict[str, ArraySpec]:
    if facts.kind == "pipeline":
        return {}
    weighting = spec.representation.weighting.build()
    names = ["mean_length_", "n_features_in_", *(["factors_"] if weighting.learns else [])]
    if facts.representation.fields:
        names += ["block_of_", "block_weights_", "block_norm_"]
    return {f"weighting/{name}": WEIGHTING_ARRAYS[name] for name in names}


def _of_kind(kind: str, facts: ModelDescription, spec: MethodSpec, n_learned: int) -> dict[str, ArraySpec]:
    n_models = n_learned if facts.multilabel else 1
    if kind in ESTIMATOR_KINDS:
        files, classes = estimator_arrays(n_models)
        found = {name: ArraySpec("bytes", (f"bytes of {name}",), 0) for name in files}
        return found | {name: ArraySpec(_WHOLE, (f"classes of {name}",), of="own classes") for name in classes}
    if kind != "points":
        return SVM_ARRAYS if kind == "machines" else HYPERPLANE_ARRAYS
    classifier = spec.classifier.cls
    if not is_builtin(classifier):
        raise ValueError(f"the classifier {spec.classifier.name!r} is from a plug-in, which saved models don't support")
    names = [(name, POINT_CLASSIFIER_ARRAYS[name.rpartition(".")[2]]) for name in classifier.kept]
    return {f"{i}.{name}": each for i in range(n_models) for name, each in names}


def _check_type(name: str, arrays: Arrays, expected: ArraySpec, sizes: dict[str, int]) -> None:
    """Check that an array exists and has the right type and shape."""
    if name not in arrays:
        if expected.optional:
            return
        raise ValueError(f"{name} is missing")
    array = arrays[name]
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} is no array")  # noqa: TRY004
    type_fits = array.dtype.kind == "U" if expected.types == _WORD else array.dtype in ARRAY_TYPES[expected.types]
    if not type_fits:
        raise ValueError(f"{name} is of type {array.dtype}: must be {expected.types}")
    if array.ndim == len(expected.shape):
        shape = tuple(sizes.setdefault(each, n) for each, n in zip(expected.shape, array.shape, strict=True))
        if array.shape == shape:
            return
        raise ValueError(f"{name} is of shape {array.shape}: must be {shape}")
    raise ValueError(f"{name} has {array.ndim} dimensions: must have {len(expected.shape)}")


def _check_values(name: str, array: NDArray[Any], expected: ArraySpec, sizes: Mapping[str, int]) -> None:
    """Check the range of an array's values."""
    if expected.types not in (_NUMBERS, _WHOLE) or not array.size:
        return
    if expected.of:
        wrong = array[(array < 0) | (array >= sizes[expected.of])]
        if wrong.size:
            raise ValueError(f"{name} has the index {wrong[0]}, but there are {sizes[expected.of]} {expected.of}")
        return
    wrong = array[~((array >= expected.least) & (array <= expected.most))]  # true of NaN
    if wrong.size:
        raise ValueError(f"{name} holds {wrong[0]}: must lie between {expected.least:g} and {expected.most:g}")


def _check_classes(arrays: Arrays, facts: ModelDescription) -> None:
    """Check that learned classes ascend, and that no class occurs twice."""
    columns, everywhere = arrays["columns"], arrays["everywhere"]
    if (np.diff(columns) <= 0).any():
        raise ValueError("columns must ascend")
    if not facts.multilabel and len(columns) < len(facts.classes):
        raise ValueError(f"columns has {len(columns)} of {len(facts.classes)} classes")
    if everywhere[columns].any() or (everywhere.any() and not facts.multilabel):
        raise ValueError("everywhere is true for a class that was learned")
    for name, array in arrays.items():
        if name.endswith("classes_") and len(np.unique(array)) < len(array):
            raise ValueError(f"{name} has a class twice")


def _check_single_values(arrays: Arrays, sizes: Mapping[str, int]) -> None:
    """Check the number of coordinates of weighting and classifiers, and the norm of blocks."""
    for name, array in arrays.items():
        n = sizes["words" if name.startswith("weighting/") else "coordinates"]
        if name.endswith("n_features_in_") and array != n:
            raise ValueError(f"{name} is {array}, but the vocabulary has {n} words")
    norm = str(arrays.get("weighting/block_norm_", "none"))
    if norm not in NORMALIZATIONS:
        raise ValueError(f"weighting/block_norm_ is {format_input(norm)}: must be one of {', '.join(NORMALIZATIONS)}")


def _check_machines(arrays: Arrays, prefix: str, sizes: Mapping[str, int]) -> None:
    """Check the rows of support vectors, and the support vectors of each support vector machine."""
    rows = sizes["support vectors"]
    if arrays["counts.shape"].tolist() != [rows, sizes["words"]]:
        raise ValueError(f"{prefix}counts.shape is {arrays['counts.shape'].tolist()}: must be {[rows, sizes['words']]}")
    for name, end, what in (("counts.indptr", sizes["counts"], "counts"), ("bounds", rows, "support vectors")):
        starts = arrays[name]
        if not len(starts) or starts[0] != 0 or starts[-1] != end or (np.diff(starts) < 0).any():
            raise ValueError(f"{prefix}{name} must ascend from 0 to {end}, the number of {what}")
    total = sum(arrays["n_support"].tolist())
    if total != sizes["supports"]:
        raise ValueError(f"{prefix}n_support sums to {total}, but {prefix}support has {sizes['supports']} entries")
    ends = np.concatenate([[0], np.cumsum(arrays["n_support"])])
    for start, stop in pairwise(ends.tolist()):
        if len(np.unique(arrays["support"][start:stop])) < stop - start:
            raise ValueError(f"{prefix}support has a support vector twice for one machine")
