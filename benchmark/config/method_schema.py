"""Schema of `methods` and `defaults`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from benchmark.config.schema_errors import ConfigSection
from benchmark.config.value_types import (
    AnyClassifier,
    AnyFeatures,
    AnyKernel,
    AnyPipeline,
    AnyThreshold,
    AnyWeighting,
    CellName,
    FusedNames,
    IdfSource,
    MethodName,
    MethodText,
    Normalization,
    OneOrMore,
    Prior,
    TitleName,
    Weights,
    mapping_or_other,
)


def _fused_form(value: Any) -> str:
    return "lists" if isinstance(value, list) and any(isinstance(each, list) for each in value) else "names"


class FusionSection(ConfigSection):
    """An item of `methods` that adds the standardized decision values of others.

    Parameters
    ----------
    fuse : list of str or list of list of str
        Methods of this configuration; with `choose`, a list of such lists is chosen from.
    weights : list of float or None
        One for each method; by default all 1.
    scale : str
        On which training documents standard deviations are measured.
    name : str
        Name of its cells.
    """

    fuse: Annotated[
        Annotated[FusedNames, Tag("names")] | Annotated[list[FusedNames], Field(min_length=1), Tag("lists")],
        Discriminator(_fused_form),
    ]
    weights: list[Annotated[float, Field(gt=0, le=1e12)]] | None = None
    scale: Literal["out-of-fold", "hold-out"] = "out-of-fold"
    name: CellName


class PredictionsSection(ConfigSection):
    """An item of `methods` that was run elsewhere: nothing is trained.

    Parameters
    ----------
    predictions : str
        A file with a prediction for each document.
    name : str
        The method's name.
    """

    predictions: str = Field(min_length=1)
    name: TitleName


class VectorsFileSection(ConfigSection):
    """`vectors:` a file with a vector for each document.

    Parameters
    ----------
    file : str
        Parquet with a row for each document, or .npy.
    ids : str or None
        A file with the id of each row of a .npy file, one a line.
    id : str
        Parquet's column of ids.
    column : str
        Parquet's column of lists of numbers; by default each number has one.
    """

    file: str
    ids: str | None = None
    id: str = "id"
    column: str = ""


class VectorsSection(ConfigSection):
    """An item of `methods` that classifies vectors which were made elsewhere.

    Parameters
    ----------
    vectors : str or VectorsFileSection
        A file with a vector for each document.
    classifier : Classifier or list of Classifier or None
        A classifier of points.
    normalization : str or list of str
        How vectors are scaled.
    threshold : ThresholdRule or list of ThresholdRule or None
        The rule for the decision value above which a document gets a class, where it may have several.
    name : str or None
        Name of its cells, instead of a name made from its settings.
    """

    vectors: Annotated[
        Annotated[str, Tag("other")] | Annotated[VectorsFileSection, Tag("mapping")], Discriminator(mapping_or_other)
    ]
    classifier: OneOrMore[AnyClassifier] | None = None
    normalization: OneOrMore[Normalization] = Field(["none"])
    threshold: OneOrMore[AnyThreshold] | None = None
    name: CellName | None = None


class PipelineSection(ConfigSection):
    """An item of `methods` that reads the texts themselves.

    Parameters
    ----------
    pipeline : Pipeline or list of Pipeline
        A function or class of a file, mymodels.py:make, or an import path; with any parameters.
    text : dict or list of dict or None
        Settings of `text` that this method changes.
    threshold : ThresholdRule or list of ThresholdRule or None
        The rule for the decision value above which a document gets a class, where it may have several.
    name : str or None
        Name of its cells, instead of a name made from its settings.
    """

    pipeline: OneOrMore[AnyPipeline]
    text: OneOrMore[MethodText] | None = None
    threshold: OneOrMore[AnyThreshold] | None = None
    name: CellName | None = None


class MethodSection(ConfigSection):
    """An item of `methods`: a kernel or classifier of counts, and their representation.

    Parameters
    ----------
    text : dict or list of dict or None
        Settings of `text` that this method changes.
    fields : dict or list of dict or None
        Weights of blocks of terms, by name; each is normalized by itself.
    weighting : Weighting or list of Weighting or None
        How counts become weights.
    idf : str or list of str or None
        The documents that a weighting learns from.
    dirichlet : float or list of float or None
        α of a Dirichlet prior on documents, for kernels.
    kernel : Kernel or list of Kernel or None
        The kernel of a support vector machine.
    normalization : str or list of str or None
        How a document's weights are scaled.
    features : FeatureMap or list of FeatureMap or None
        The feature map of a classifier of points.
    classifier : Classifier or list of Classifier or None
        The classifier.
    threshold : ThresholdRule or list of ThresholdRule or None
        The rule for the decision value above which a document gets a class, where it may have several.
    name : str or None
        Name of its cells, instead of a name made from its settings.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    text: OneOrMore[MethodText] | None = None
    fields: OneOrMore[Weights] | None = None
    weighting: OneOrMore[AnyWeighting] | None = None
    idf: OneOrMore[IdfSource] | None = None
    dirichlet: OneOrMore[Prior] | None = None
    kernel: OneOrMore[AnyKernel] | None = None
    normalization: OneOrMore[Normalization] | None = None
    features: OneOrMore[AnyFeatures] | None = None
    classifier: OneOrMore[AnyClassifier] | None = None
    threshold: OneOrMore[AnyThreshold] | None = None
    name: CellName | None = None


#: The keys that decide which form an item of `methods` has.
_FORMS = {
    "fuse": "FusionSection",
    "predictions": "PredictionsSection",
    "vectors": "VectorsSection",
    "pipeline": "PipelineSection",
}


def _method_form(value: Any) -> str:
    """Return which form a method has, so that only errors of that form are reported."""
    if isinstance(value, str):
        return "a name"
    named = (form for key, form in _FORMS.items() if isinstance(value, dict) and key in value)
    return next(named, "MethodSection")


AnyMethod = Annotated[
    Annotated[MethodName, Tag("a name")]
    | Annotated[FusionSection, Tag("FusionSection")]
    | Annotated[PredictionsSection, Tag("PredictionsSection")]
    | Annotated[VectorsSection, Tag("VectorsSection")]
    | Annotated[PipelineSection, Tag("PipelineSection")]
    | Annotated[MethodSection, Tag("MethodSection")],
    Discriminator(_method_form),
]


class NamedDefaultsSection(ConfigSection):
    """Defaults of one kernel or classifier; further keys are its parameters.

    Parameters
    ----------
    fields : dict or None
        Weights of blocks of terms, by name; each is normalized by itself.
    weighting : Weighting or None
        How counts become weights.
    normalization : str or None
        How a document's weights are scaled.
    idf : str or None
        The documents that a weighting learns from.
    dirichlet : float or None
        α of a Dirichlet prior on documents, for kernels.
    features : FeatureMap or None
        The feature map of a classifier of points.
    threshold : ThresholdRule or None
        The rule for the decision value above which a document gets a class, where it may have several.
    """

    model_config = ConfigDict(extra="allow")

    fields: Weights | None = None
    weighting: AnyWeighting | None = None
    normalization: Normalization | None = None
    idf: IdfSource | None = None
    dirichlet: Prior | None = None
    features: AnyFeatures | None = None
    threshold: AnyThreshold | None = None


class DefaultsSection(NamedDefaultsSection):
    """`defaults:` further keys are parameters of methods, or kernels and classifiers by name with their own.

    Parameters
    ----------
    kernel : Kernel or None
        The kernel of methods that name none.
    classifier : Classifier or None
        The classifier of methods that name none.
    """

    kernel: AnyKernel | None = None
    classifier: AnyClassifier | None = None
