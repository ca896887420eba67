"""What the YAML of the kind "feature-curves" may look like."""

from __future__ import annotations

from pydantic import Field

from benchmark.config.schema import (
    CorpusSection,
    ExpectSection,
    OneOrMore,
    Section,
    StudySection,
    TextOverride,
    TextSection,
)


class MachineSection(Section):
    """`machine:` the support vector machine, and the points it is given."""

    C: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    epsilon: float = Field(default=1e-3, gt=0, allow_inf_nan=False)
    scheme: str = "one-vs-one"
    weighting: str = "tf"
    normalization: str = "none"


class MachineOverride(Section):
    """What a variant changes of `machine`."""

    C: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    epsilon: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    scheme: str | None = None
    weighting: str | None = None
    normalization: str | None = None


class FeatureVariantSection(Section):
    """An item of `variants`: one choice made otherwise."""

    text: TextOverride = TextOverride()
    smoothing: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    counts: str | None = None
    selection: str | None = None
    machine: MachineOverride = MachineOverride()


class PanelSection(Section):
    """An item of `panels`: a title, and either so many of the largest classes or their names."""

    title: str
    largest: int | None = Field(default=None, ge=2)
    classes: list[str] | None = None


class SplitSection(Section):
    """`split:` which of the corpus's groups are trained and tested on."""

    train: OneOrMore = Field(default=["train"])
    test: OneOrMore = Field(default=["test"])


class FeatureCurvesSection(StudySection):
    """The whole file."""

    corpus: CorpusSection
    text: TextSection = TextSection()
    split: SplitSection = SplitSection()
    panels: list[PanelSection] = Field(min_length=1)
    methods: list[str] = Field(min_length=1)
    sizes: list[int] = Field(min_length=1)
    smoothing: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    counts: str = "counts"
    selection: str = "sum"
    machine: MachineSection = MachineSection()
    compare: list[list[str]] = Field(default_factory=list)
    variants: dict[str, FeatureVariantSection] = Field(default_factory=dict)
    expect: ExpectSection = ExpectSection()

    @property
    def idf(self) -> str:
        """The machine's, if it uses one, is of the training documents; the value is `Variant`'s default."""
        return "collection"
