"""What a component says of itself beside its parameters: one `Tags` a class, which the rest of the package asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

#: What a row of weights may be divided by: nothing, its sum, its length.
NORMALIZATIONS = ("none", "l1", "l2")
#: What support vector machines on a kernel are trained and asked by.
WAYS = ("values", "points", "scores", "targets")


@dataclass(frozen=True, kw_only=True)
class Tags:
    """Describe a component: a kernel, classifier, feature map, protocol, measure or corpus.

    A class states them as one attribute, ``tags = Tags(normalization="l1")``. A subclass that states its own states all
    of them; ``dataclasses.replace(Base.tags, stored=False)`` changes one.

    Parameters
    ----------
    set_by_run : tuple of str
        Constructor parameters that the run sets, and no configuration can. Where a kernel names "block_of", the run
        sets it to the block of each term, and `weights` to those of the blocks.
    stored : bool
        Whether its results may be stored; False where they depend on something that can't be observed.
    normalization : {"none", "l1", "l2"}
        Of kernels, classifiers and feature maps: the normalization of a method that names none.
    normalizations : tuple of str
        The normalizations that it is defined for. Where they depend on parameters, a property of this name says them.
    sees_counts : bool
        Of kernels: takes term counts, without weighting and normalization.
    needs_kernel : bool
        Of classifiers: takes kernel values, not points. Only classifiers of this package can.
    takes_features : bool
        Of classifiers: takes any points, such as the features that a map makes of them.
    solved_by : {"values", "points", "scores", "targets"}
        Of kernels: what support vector machines are trained on, by default kernel values. "points": the kernel is
        <x, x'>, so that a machine is a hyperplane of the points. "scores": it is the inner product of `scores_`, which
        `fit` makes of counts, and of `scores(X)`; the run sets its `seed`, see `PLSIFisher`. "targets": it is another
        for each class, and trains the machines itself by `solve_targets`, see `HyperplaneTop`.
    selects_terms : bool
        Of classifiers: selects `n_terms` of its own for each class, of the `rankings` that its `fit` is given.
    first_trained_wins : bool
        Of classifiers: a tie goes to the class that comes first among the training documents, not in the task.
    sums_words : bool
        A decision value is a sum of what each word of the document adds. Of feature maps: each feature is one word's.
    labels : mapping of str to str
        What figures call methods of these names: of classifiers, of their own name; of measures, of their `kinds`.
    note, note_of_several : str
        Of kernels and classifiers: a line below the tables, in every run and where documents may have several classes.
    draws : bool
        Of protocols: draws training documents again and again, so that a document may be tested repeatedly.
    leaves_groups_out : bool
        Of protocols: each split tests one group of documents, which trains in all others.
    base_only : bool
        Of measures: computed of the configuration itself alone, not of its variants.
    only_beside_prints : bool
        Of measures: its numbers are shown only beside those that a paper prints, by whose names it calls its cells.
    """

    set_by_run: tuple[str, ...] = ()
    stored: bool = True
    normalization: str = "l2"
    normalizations: tuple[str, ...] = NORMALIZATIONS
    sees_counts: bool = False
    needs_kernel: bool = False
    takes_features: bool = True
    solved_by: str = "values"
    selects_terms: bool = False
    first_trained_wins: bool = False
    sums_words: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    note_of_several: str = ""
    draws: bool = False
    leaves_groups_out: bool = False
    base_only: bool = False
    only_beside_prints: bool = False


DEFAULT = Tags()
#: Tags that a class may also state as an attribute of this name, which was the only way before there were `Tags`.
SINGLE = (
    *("set_by_run", "stored", "normalization", "normalizations", "sees_counts", "needs_kernel", "takes_features"),
    *("draws", "base_only", "only_beside_prints"),
)


def tags_of(component: Any) -> Tags:
    """Return what a component says of itself: its `tags`, or attributes of its class named as one of the `SINGLE` tags.

    What a class says counts before what its bases say. The property `normalizations` is asked of instances alone.

    Parameters
    ----------
    component : object
        A class, or an instance of one.
    """
    kind = component if isinstance(component, type) else type(component)
    found = DEFAULT
    for each in reversed(kind.__mro__):
        own = vars(each)
        found = own["tags"] if isinstance(own.get("tags"), Tags) else found
        if stated := {name: own[name] for name in SINGLE if name in own and not hasattr(own[name], "__get__")}:
            found = replace(found, **{name: _plain(name, value) for name, value in stated.items()})
        if kind is not component and isinstance(own.get("normalizations"), property):
            found = replace(found, normalizations=tuple(component.normalizations))
    return found


def _plain(name: str, value: Any) -> Any:
    """Return a tag's value in its own type, where a class states it in another that serves: a list, 1 for True."""
    kind = type(getattr(DEFAULT, name))
    if kind is bool:
        return bool(value)
    if kind is tuple:
        return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else value
    return value


_MUST_BE = {
    bool: "True or False",
    str: "text",
    tuple: "a tuple of text, such as ('l1',)",
    dict: "a dict of text, such as {'mine': 'Mine'}",
}


def problem_with_tags(component: type[Any]) -> str:
    """Return what is wrong with the tags that a class states, in a line; "" if nothing is."""
    stated = getattr(component, "tags", DEFAULT)
    if not isinstance(stated, Tags):
        return f"its `tags` are {stated!r}: must be a {Tags.__module__}.Tags, such as Tags(normalization='l1')"
    tags = tags_of(component)
    for name, value in vars(tags).items():
        kind = type(getattr(DEFAULT, name))
        texts = (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, tuple) else ()
        if not isinstance(value, kind) or not all(isinstance(each, str) for each in texts):
            return f"its {name} is {value!r}: must be {_MUST_BE[kind]}"
    if tags.normalization not in NORMALIZATIONS:
        return f"its normalization is {tags.normalization!r}: must be one of {', '.join(NORMALIZATIONS)}"
    if tags.solved_by not in WAYS:
        return f"its solved_by is {tags.solved_by!r}: must be one of {', '.join(WAYS)}"
    if not tags.normalizations or set(tags.normalizations) - set(NORMALIZATIONS):
        return f"its normalizations are {tags.normalizations!r}: must be some of {', '.join(NORMALIZATIONS)}"
    return ""
