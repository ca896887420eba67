"""Values of label columns to the names of classes, and notes on those that may mean something else."""

from __future__ import annotations

import ast
import json
import math
import re
import unicodedata
from collections import defaultdict
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.system.checks import as_list
from benchmark.system.errors import MAX_PROBLEMS, quote_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmark.corpora.corpus import Documents

#: Values of a column that says whether a document has a class, in lower case.
CLASS_MARKS = {"1": True, "true": True, "0": False, "false": False, "": False}
#: Names by which programs write that a value is missing, in lower case.
MISSING = {"nan", "none", "null", "nil", "n/a", "na", "<na>", "nat", "#n/a", "''", '""'}
#: White space between the quoted items of a list that NumPy writes.
_NUMPY_SPACE = re.compile(r"(?<=['\"])\s+(?=['\"])")


class ClassNames:
    """Names of the classes of documents, in composed Unicode and renamed.

    Parameters
    ----------
    columns : str or list of str
        Column of the labels, or a column for each class.
    rename : mapping of str to str
    separator : str or None
    multilabel : bool
    """

    def __init__(
        self, columns: str | list[str], rename: Mapping[str, str], separator: str | None, *, multilabel: bool
    ) -> None:
        self.columns, self.separator, self.multilabel = columns, separator, multilabel
        self.rename = {_composed(old): _composed(new) for old, new in rename.items()}
        #: Classes to rename that no document has yet.
        self.unused = dict.fromkeys(self.rename)
        self._of_text = cache(self._names)

    def of(self, values: Sequence[Any]) -> tuple[str, ...]:
        """Return the classes of a document by its values in the columns of the labels.

        Raises
        ------
        ValueError
            The values are no classes.
        """
        if not isinstance(self.columns, str):
            return self._names(self._marked(dict(zip(self.columns, values, strict=True))))
        return self._of_text(values[0]) if isinstance(values[0], str) else self._names(values[0])

    def _names(self, value: Any) -> tuple[str, ...]:
        names = [_composed(name_of(each)) for each in self._listed(value)]
        for name in names:
            self.unused.pop(name, None)
        return tuple(dict.fromkeys(filter(None, (self.rename.get(name, name) for name in names))))

    def _marked(self, values: dict[str, Any]) -> Any:
        """Return the columns that hold 1 and not 0; the only one, unless there may be several."""
        for name, value in values.items():
            if class_mark(value) is None:
                raise ValueError(f"{name} is {quote_value(value)}, and must be 0 or 1")
        classes = [name for name, value in values.items() if class_mark(value)]
        if self.multilabel or not classes:
            return classes or None
        if len(classes) > 1:
            listed = ", ".join(classes)
            raise ValueError(f"has {len(classes)} classes ({listed}): name their columns by `labels`, not `label`")
        return classes[0]

    def _listed(self, value: Any) -> list[Any]:
        """Return the classes of a value: one, or where there may be several those of a list or between separators."""
        listed = listed_labels(value) if isinstance(value, str) else value
        if isinstance(value, str) and listed is None:
            if not self.multilabel or not value.strip():
                return [value]
            if not self.separator:
                raise ValueError(f"the classes are text, {quote_value(value)}; name their separator, such as ';'")
            return value.split(self.separator)
        if isinstance(listed, list) and not self.multilabel:
            hint = "name its column by `labels`, not `label`, since a document may have several"
            raise ValueError(f"the class is a list, {quote_value(value)}: {hint}")
        parts: list[Any] = as_list(listed)
        if any(isinstance(each, list | dict) for each in parts):
            raise ValueError(f"the class is {quote_value(value)}, and must be text, or a list of texts")
        return parts


def name_of(value: Any) -> str:
    """Return a class, id, part or group as text that UTF-8 can encode; a number as Python prints it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).encode("utf-8", "backslashreplace").decode().strip().replace("\0", "")


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip())


def class_mark(value: Any) -> bool | None:
    """Return whether a value says that a document has a class, 1 or 0; None for any other value."""
    return CLASS_MARKS.get(name_of(value).lower().removesuffix(".0"))


def listed_labels(text: str) -> list[Any] | None:
    """Return the items of a list that Python, NumPy or JSON wrote as text, such as ``['a', 'b']``; else None."""
    text = text.strip()
    if text[:1] not in tuple("[({"):
        return None
    for parse in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError):
            values = parse(_NUMPY_SPACE.sub(", ", text))
            return list(values) if isinstance(values, list | tuple | set) else None
    return None


def label_notes(documents: Documents) -> Iterator[str]:
    """Yield notes on classes that differ in form alone, and on those that stand for a missing value."""
    sizes = {name: int(n) for name, n in zip(documents.classes, documents.sizes().sum(axis=1), strict=True)}
    alike = defaultdict[str, list[str]](list)
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        alike[" ".join(name.casefold().split()).removesuffix(".0")].append(name)
    if groups := [names for names in alike.values() if len(names) > 1][:MAX_PROBLEMS]:
        counted = "; ".join(", ".join(f"{quote_value(name)} ({sizes[name]:,})" for name in names) for names in groups)
        joined = _flow({name: names[0] for names in groups for name in names[1:]})
        text = f"Classes differ only in case, spaces or the form of a number: {counted}"
        yield f"{text}. Under `corpus`, rename: {joined} makes them one."
    if missing := [name for name in sizes if name.casefold() in MISSING]:
        counted = ", ".join(f"{name!r} ({sizes[name]:,})" for name in missing)
        drop = "" if documents.topics is not None else ", drop: [unlabelled]"
        rename = _flow(dict.fromkeys(missing, ""))
        yield f"A class may stand for a missing value: {counted}. Under `corpus`, rename: {rename}{drop} leaves it out."


def _flow(mapping: dict[str, str]) -> str:
    text: str = yaml.safe_dump(mapping, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10**6)
    return text.strip()
