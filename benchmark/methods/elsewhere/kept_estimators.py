"""Trained classifiers of libraries, and pipelines on texts, kept by skops: as data, with the types that they are of.

skops builds an object from its description, without running code that the file brings. It calls constructors of the
listed types; those that it doesn't know to be harmless are listed by `untrusted_types`, for a person to trust.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from benchmark.classifiers.placeholders import MadeElsewhere
from benchmark.config.components import Component
from benchmark.methods.fitted import FittedPoints
from benchmark.methods.plugin_outputs import CheckedClassifier
from benchmark.methods.point_classifiers import PointClassifierMethod
from benchmark.system.errors import one_line
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

#: Names of the arrays of a classifier by its number: the bytes of its file, and its classes.
_FILE, _CLASSES = "{}.skops", "{}.classes"


@dataclass(frozen=True, eq=False)
class FittedEstimators(FittedPoints):
    """Classifiers of a library or of a pipeline, as `FittedPoints`; of texts, shape (m,), where they read these."""

    def _points(self, counts: Any) -> Any:
        return counts if self.learned.spec.classifier.tags.reads_texts else super()._points(counts)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the file of each classifier, as bytes.

        Raises
        ------
        ValueError
            If skops can't describe an object.
        """
        files = {_FILE.format(number): _kept(model) for number, model in enumerate(self.models)}
        return files | {_CLASSES.format(number): model.classes_ for number, model in enumerate(self.models)}

    @classmethod
    def restored(cls, learned: Any, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the classifiers that `arrays` describes, of all types: see `untrusted_types`.

        Raises
        ------
        ValueError
            If an array isn't such a file.
        """
        io, models = _skops(), []
        for number in range(len(arrays) // 2):
            content = arrays[_FILE.format(number)].tobytes()
            try:
                found = io.loads(content, trusted=io.get_untrusted_types(data=content))
            except Exception as error:  # noqa: BLE001 - a file made by hand may raise anything
                raise ValueError(one_line(f"can't be read by skops: {error}")) from None
            models.append(CheckedClassifier.of_trained(found, arrays[_CLASSES.format(number)]))
        return cls(learned, tuple(models))


@dataclass(frozen=True)
class LibraryClassifierMethod(PointClassifierMethod):
    """Classifier of a library or a plug-in, as `PointClassifierMethod`; its trained classifiers are kept by skops."""

    fitted_kind: ClassVar[type[FittedPoints]] = FittedEstimators


def untrusted_types(arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """Return the types in kept classifiers that skops doesn't know to be harmless, sorted.

    Raises
    ------
    ValueError
        If an array isn't a file of skops.
    """
    io, found = _skops(), set[str]()
    for name, array in arrays.items():
        if not name.endswith(_FILE.format("")):
            continue
        try:
            found |= set(io.get_untrusted_types(data=array.tobytes()))
        except Exception as error:  # noqa: BLE001 - a file made by hand may raise anything
            raise ValueError(one_line(f"can't be read by skops: {error}")) from None
    return sorted(found)


def kept_component(name: str, *, reads_texts: bool) -> Component:
    """Return what stands for the classifier of a kept model: its object was built without its class's constructor."""
    tags = Tags(normalization="none", takes_features=False, reads_texts=reads_texts)
    return Component(name, {}, {}, tags, MadeElsewhere)


def estimator_arrays(n: int) -> tuple[list[str], list[str]]:
    """Return the names of the arrays with the files of n classifiers, and of those with their classes."""
    return [_FILE.format(number) for number in range(n)], [_CLASSES.format(number) for number in range(n)]


def _kept(model: CheckedClassifier) -> NDArray[np.uint8]:
    """Return the file of a trained classifier, as bytes; ValueError if it can't be built again elsewhere."""
    io = _skops()
    try:
        content = io.dumps(model.trained)
        io.get_untrusted_types(data=content)
    except (io.exceptions.UnsupportedTypeException, TypeError, ValueError, AttributeError) as error:
        raise ValueError(one_line(f"skops can't keep it: {error}")) from None
    return np.frombuffer(content, dtype=np.uint8)


def _skops() -> Any:
    """Import skops, which takes a second."""
    import skops.io.exceptions  # noqa: PLC0415 - needed for kept models alone

    return skops.io
