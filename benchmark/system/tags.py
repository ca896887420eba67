"""Tags of components: facts about a kernel, classifier or other component besides its parameters."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from benchmark.system.checks import check_value

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Divisors of a row of weights: none, its sum, its Euclidean norm.
NORMALIZATIONS = ("none", "l1", "l2")
#: Inputs that support vector machines on a kernel are trained and evaluated on.
SVM_INPUTS = ("values", "points", "scores", "targets")


@dataclass(frozen=True, kw_only=True)
class Tags:
    """Facts about a component: a kernel, classifier, feature map, protocol, diagnostic or corpus.

    A class declares them in one attribute, ``tags = Tags(normalization="l1")``. A subclass that declares `tags`
    replaces all tags of its base; ``dataclasses.replace(Base.tags, stored=True)`` changes one.

    Parameters
    ----------
    set_by_run : tuple of str
        Constructor parameters that the run sets and a configuration can't.
    stored : bool
        Of a user's class: whether results are stored, under the Python files of its folder, the files that it names in
        `reads`, its parameters, and the versions of the packages that these files import. Results of this package and
        of installed ones always are.
    normalization : {"none", "l1", "l2"}
        Kernels, classifiers and feature maps: the default normalization of a method.
    normalizations : tuple of str
        Normalizations that the component is defined for.
    sees_counts : bool
        Kernels: takes term counts, without weighting and normalization.
    needs_kernel : bool
        Classifiers: takes kernel values, not points. Only classifiers of this package can.
    reads_texts : bool
        Classifiers: takes documents as strings, not points.
    takes_features : bool
        Classifiers: takes any points, such as the output of a feature map.
    solved_by : {"values", "points", "scores", "targets"}
        Kernels: input that support vector machines are trained on, by default "values", the kernel values. "points":
        the kernel is <x, x'>, so that a machine is a hyperplane of the points. "scores": the kernel is the inner
        product of `scores_`, which `fit` computes from counts, and of `scores(X)`; the run sets its `seed`, see
        `PLSIFisher`. "targets": the kernel differs for each class, and trains the machines itself by `solve_targets`,
        see `HyperplaneTop`.
    selects_terms : bool
        Classifiers: selects `n_terms` terms for each class, from the `rankings` passed to its `fit`.
    first_trained_wins : bool
        Classifiers: a tie goes to the class that comes first among the training documents, not in the task.
    labels : mapping of str to str
        Labels of methods in figures: classifiers by their own name; diagnostics by their `kinds`.
    note, note_multilabel : str
        Kernels and classifiers: a line below the tables, in every run, and where documents may have several classes.
    replicated : bool
        Protocols: training documents are drawn repeatedly, so that a document may be tested more than once.
    leaves_groups_out : bool
        Protocols: each split tests one group of documents, which trains in all others.
    base_only : bool
        Measures: computed for the configuration itself, not for its variants.
    only_with_published : bool
        Measures: its numbers are shown only beside the published values of a paper, whose names its cells have.
    """

    set_by_run: tuple[str, ...] = ()
    stored: bool = False
    normalization: str = "l2"
    normalizations: tuple[str, ...] = NORMALIZATIONS
    sees_counts: bool = False
    needs_kernel: bool = False
    reads_texts: bool = False
    takes_features: bool = True
    solved_by: str = "values"
    selects_terms: bool = False
    first_trained_wins: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    note_multilabel: str = ""
    replicated: bool = False
    leaves_groups_out: bool = False
    base_only: bool = False
    only_with_published: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown normalization or input."""
        for value in (self.normalization, *self.normalizations):
            check_value("normalization", value, NORMALIZATIONS)
        check_value("solved_by", self.solved_by, SVM_INPUTS)


DEFAULT_TAGS = Tags()


def tags_of(component: Any) -> Tags:
    """Return a component's tags; its class may say `stored` by itself.

    Parameters
    ----------
    component : object
        A class, or an instance of one.

    Returns
    -------
    Tags
    """
    kind = component if isinstance(component, type) else type(component)
    tags = getattr(kind, "tags", DEFAULT_TAGS)
    tags = tags if isinstance(tags, Tags) else DEFAULT_TAGS
    if isinstance(stored := getattr(kind, "stored", None), bool):
        tags = replace(tags, stored=stored)
    return tags
