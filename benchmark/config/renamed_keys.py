"""Keys and values of configurations that 0.2 renamed: the old ones are accepted until 0.3, with a warning."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmark.system.errors import RenamedWarning, quote_value

if TYPE_CHECKING:
    from benchmark.system.yaml_source import Location, YamlSource

#: New keys by old ones. The part before the dot is the key whose mapping holds the renamed key; lists are skipped.
RENAMED_KEYS = {
    "base": "run_base",
    "classes": "per_class",
    "derive": "gain",
    "explains": "sensitivity_of",
    "family": "holm_within",
    "fitted": "tuned_to_published",
    "measures": "diagnostics",
    "choose.over": "grid_keys",
    "classifier.unit": "scale_C",
    "defaults.unit": "scale_C",
    "methods.call": "name",
    "svm.unit": "scale_C",
    "terms.over_classes": "aggregate",
    "text.counted_in": "vocabulary_from",
}
#: New values by old ones, by their new key.
RENAMED_VALUES: dict[str, dict[str, Any]] = {
    "choose.by": {"newest": "temporal-holdout"},
    "gain": {"growth": True},
    "paper": {"landmarks": "reference-values"},
    "per_class": {"each": True},
}


def with_current_keys(source: YamlSource) -> YamlSource:
    """Return a document with new keys and values in place of old ones; warn once for each of them.

    Raises
    ------
    ConfigError
        If a mapping has an old key beside its new one.
    """
    found: dict[str, Location] = {}
    data = _renamed(source.data, "", (), found, source)
    if not found:
        return source
    for message, place in found.items():
        warnings.warn(str(source.error(place, f"{message}; 0.3 will refuse the old one")), RenamedWarning, 2)
    lines = {_current_place(place): line for place, line in source.lines.items()}
    files = {_current_place(place): name for place, name in source.files.items()}
    return replace(source, data=data, lines=lines, files=files)


def with_current_parameters(section: str, parameters: Any) -> Any:
    """Return the parameters of a component, such as a "classifier", with new keys in place of old ones."""
    return _renamed(parameters, section, (), {}, None)


def _renamed(value: Any, section: str, place: Location, found: dict[str, Location], source: YamlSource | None) -> Any:
    """Return `value`, which the key `section` holds, with new keys and values; note messages with their locations."""
    if isinstance(value, list):
        return [_renamed(item, section, (*place, i), found, source) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    renamed: dict[Any, Any] = {}
    for old, item in value.items():
        key, here = _current_key(section, old), (*place, old)
        if key != old:
            found.setdefault(f"the key `{old}` is now `{key}`", here)
            if key in value and source is not None:
                raise source.error(here, f"`{old}` is the old name of `{key}`, which is there, too: keep `{key}`")
        new_values = RENAMED_VALUES.get(_name(section, key), {})
        renamed[key] = _renamed(_current_value(item, new_values, here, found), str(key), here, found, source)
    return renamed


def _current_value(value: Any, new_values: dict[str, Any], place: Location, found: dict[str, Location]) -> Any:
    """Return the new value of an old one, also within a list; a list of old values that are now true is true."""
    if not new_values:
        return value
    if isinstance(value, list):
        items = [_current_value(item, new_values, place, found) for item in value]
        return any(items) if all(isinstance(item, bool) for item in items) else items
    if not isinstance(value, str) or value not in new_values:
        return value
    new = new_values[value]
    if not isinstance(new, bool):  # the message on the key says enough of a value that became true
        found.setdefault(f"the value {quote_value(value)} is now {quote_value(new)}", place)
    return new


def _current_place(place: Location) -> Location:
    current, section = list[str | int](), ""
    for key in place:
        current.append(_current_key(section, key))
        section = section if isinstance(key, int) else str(current[-1])
    return tuple(current)


def _current_key(section: str, key: Any) -> Any:
    return RENAMED_KEYS.get(_name(section, key), key) if isinstance(key, str) else key


def _name(section: str, key: Any) -> str:
    return f"{section}.{key}" if section else str(key)
