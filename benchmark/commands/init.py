"""First configuration for a user's documents: inspect the file, propose settings and write them with comments."""

from __future__ import annotations

import csv
import os
import re
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.corpora.user.records import (
    TABLE_DELIMITERS,
    file_extension,
    iter_records,
    open_decompressed,
    read_columns,
)
from benchmark.corpora.user.text_lines import check_encoding, text_lines
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import ConfigError, DataError, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

#: Limits on inspected records, characters of a value, and characters from which a table's delimiter is guessed.
MAX_RECORDS, MAX_INIT_VALUE_LENGTH, MAX_SNIFFED = 20_000, 200, 2**16
DELIMITERS = ",;\t|"
#: Most words of a column's name; a longer first row is taken for a document.
MAX_HEADER_WORDS = 8
#: Possible separators of classes, and the smallest share of values that must have one.
SEPARATORS, MIN_SEPARATOR_SHARE = ";|,", 0.05
ROLES = ("text", "label", "labels", "id", "split", "group", "date")
#: Usual names of columns.
USUAL_COLUMN_NAMES = {
    "label": ("label", "class", "category", "queue", "topic", "target", "intent", "sentiment", "type", "y"),
    "labels": ("labels", "tags", "topics", "categories", "classes"),
    "id": ("id", "key", "uid", "number", "ticket", "document_id", "doc_id"),
    "split": ("split", "fold", "side", "set", "partition", "subset"),
    "group": ("group", "customer", "author", "user", "thread", "source", "account", "site", "university"),
    "date": ("date", "time", "created", "created_at", "timestamp", "day", "when"),
}
PART_NAMES = {"train", "test", "training", "testing", "dev", "valid", "validation", "val"}


@dataclass(frozen=True)
class FileSample:
    """Beginning of a file.

    Parameters
    ----------
    path : Path
    columns : dict of str to list
        Values of the first records by column; empty for a folder.
    delimiter : str or None
        Delimiter of a table, if it isn't the usual one of the file's extension.
    encoding : str
    header : bool
        Whether the first row of a table has the names of its columns.
    """

    path: Path
    columns: dict[str, list[Any]]
    delimiter: str | None
    encoding: str
    header: bool = True


def sample_file(path: Path, *, encoding: str = "utf-8", header: bool = True) -> FileSample:
    """Read the beginning of a file, or accept a folder of class folders; DataError if the path is neither."""
    if path.is_dir():
        return FileSample(path, {}, None, encoding)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    check_encoding(encoding)
    delimiter = _delimiter(path, encoding)
    names = read_columns(path, encoding=encoding, delimiter=delimiter, header=header)
    rows = iter_records(path, names, encoding=encoding, delimiter=delimiter, header=header)
    first = [
        [v[:MAX_INIT_VALUE_LENGTH] if isinstance(v, str) else v for v in values]
        for _, values in islice(rows, MAX_RECORDS)
    ]
    if not first:
        raise DataError(f"{path}: holds no document")
    return FileSample(
        path, {name: [row[i] for row in first] for i, name in enumerate(names)}, delimiter, encoding, header
    )


def not_a_header_reason(seen: FileSample, wanted: Collection[str] = ()) -> str | None:
    """Return the reason why the first row of a table looks like a document and not like a header; None if it doesn't.

    A row with all of the `wanted` names is a header. Otherwise, a row is no header if one of its names occurs again in
    the column. Otherwise, a row with a usual name is a header, and one with a long text, a number or a date is none.
    """
    named = bool(wanted) and set(wanted) <= set(seen.columns)
    if named or not seen.header or file_extension(seen.path) not in TABLE_DELIMITERS:
        return None
    for name, values in seen.columns.items():
        if name and any(str(value).strip() == name for value in values):
            return f"{quote_value(name)} occurs again in its column"
    if any(name.lower() in (*ROLES, *chain(*USUAL_COLUMN_NAMES.values())) for name in seen.columns):
        return None
    for name in seen.columns:
        if len(name.split()) > MAX_HEADER_WORDS:
            return f"{quote_value(name)} is a long text"
        if name and (_number(name) or _dates([name])):
            return f"{quote_value(name)} is a number or a date"
    return None


def _number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def find_separator(seen: FileSample, roles: dict[str, str]) -> tuple[str, str] | None:
    """Find a probable separator of several classes in the label column.

    Returns
    -------
    (str, str) or None
        The most frequent separator, and a value that contains it; None if no more than `MIN_SEPARATOR_SHARE` of the
        values do.
    """
    labels = [str(label).strip() for label in seen.columns.get(roles.get("label", ""), ()) if isinstance(label, str)]
    containing = {mark: [label for label in labels if mark in label.strip(mark)] for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: len(containing[mark]))
    return (best, containing[best][0]) if len(containing[best]) > MIN_SEPARATOR_SHARE * len(labels) else None


def _delimiter(path: Path, encoding: str) -> str | None:
    """Guess the delimiter of a table; None if it is the usual one or can't be guessed."""
    usual = TABLE_DELIMITERS.get(file_extension(path))
    if usual is None:
        return None
    with open_decompressed(path) as file:
        first = next(text_lines(file, path, encoding), "")
    try:
        guess = csv.Sniffer().sniff(first.rstrip("\r\n")[:MAX_SNIFFED], DELIMITERS).delimiter
    except csv.Error:
        return None
    return None if guess == usual else guess


def propose_columns(seen: FileSample, given: dict[str, str]) -> dict[str, str]:
    """Propose columns for the roles that the user didn't assign, from the columns' values and names.

    Parameters
    ----------
    seen : Look
    given : dict of str to str
        Columns that the user assigned, by role of `ROLES`.

    Returns
    -------
    dict of str to str
        All columns by role.

    Raises
    ------
    ConfigError
        If an assigned column doesn't exist.
    """
    for role, name in given.items():
        if seen.columns and name not in seen.columns:
            raise ConfigError(f"--{role}: {unknown_name('column', name, list(seen.columns))}")
    roles = dict(given)
    suited: dict[str, Callable[[list[Any]], bool]] = {
        "text": lambda values: all(isinstance(value, str | None) for value in values),
        "split": lambda values: (
            2 <= len(_distinct(values)) <= 4 and {v.lower() for v in _distinct(values)} <= PART_NAMES
        ),
        "date": _dates,
        "label": lambda values: 2 <= len(_distinct(values)) <= max(2, len(values) // 3),
        "id": lambda values: len(_distinct(values)) == len(values),
        "group": lambda values: 2 <= len(_distinct(values)) < len(values),
    }
    for role, fits in suited.items():
        if role in roles or (role == "label" and "labels" in roles):
            continue
        left = [name for name, values in seen.columns.items() if name not in roles.values() and fits(values)]
        usual = [name for name in left if name.lower() in USUAL_COLUMN_NAMES.get(role, ())]
        if role == "text" and left:
            roles[role] = max(left, key=lambda name: sum(len(str(value or "")) for value in seen.columns[name]))
        elif usual:
            roles[role] = min(usual, key=lambda name: USUAL_COLUMN_NAMES[role].index(name.lower()))
        elif left and role in ("label", "split", "date"):
            roles[role] = min(left, key=lambda name: len(_distinct(seen.columns[name])))
    return roles


def _distinct(values: Sequence[Any]) -> set[str]:
    """Return the distinct values of a column as text, without lists and missing values."""
    return {str(value).strip() for value in values if value is not None and not isinstance(value, list | dict)}


def _dates(values: Sequence[Any]) -> bool:
    """Return whether all values are dates."""
    try:
        return all(
            isinstance(value, datetime) or (len(str(value)) >= 8 and bool(datetime.fromisoformat(str(value).strip())))
            for value in values
        )
    except ValueError:
        return False


def write_configuration(
    seen: FileSample,
    roles: dict[str, str],
    out: Path | None,
    *,
    overwrite: bool,
    separator: str | None,
    drop: Sequence[str],
) -> Path:
    """Write the configuration and return its path; ConfigError if the file exists and `overwrite` is false."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", seen.path.resolve().name.partition(".")[0]).strip("-") or "mine"
    target = out or Path(f"{name}.yaml")
    if target.exists() and not overwrite:
        raise ConfigError(f"{target}: exists already; --overwrite replaces it, --out names another file")
    path = os.path.relpath(seen.path.resolve(), target.resolve().parent)
    text = configuration_text(seen, roles, target.stem, Path(path).as_posix(), separator=separator, drop=drop)
    write_atomically(target, text.encode())
    return target


def configuration_text(
    seen: FileSample,
    roles: dict[str, str],
    name: str,
    path: str,
    *,
    separator: str | None = None,
    drop: Sequence[str] = (),
) -> str:
    """Return the configuration as YAML.

    Parameters
    ----------
    seen : Look
    roles : dict of str to str
        Columns by role.
    name : str
        Name of the configuration.
    path : str
        Path of the file, relative to the configuration.
    separator : str, optional
        Separator of the classes of a document that may have several.
    drop : sequence of str
        Documents to drop, see `corpora.user.file_parameters.DROP_REASONS`.
    """
    corpus: dict[str, Any] = {"name": "files", "path": path, **roles}
    if seen.delimiter is not None:
        corpus["delimiter"] = seen.delimiter
    if not seen.header:
        corpus["header"] = False
    if seen.encoding != "utf-8":
        corpus["encoding"] = seen.encoding
    if separator is not None:
        corpus["separator"] = separator
    if drop:
        corpus["drop"] = list(drop)
    multilabel = "labels" in roles
    protocol, why = _protocol(seen, roles, multilabel=multilabel)
    counted = {"vocabulary_from": protocol["train"]} if protocol["name"] == "fixed-split" else {}
    text = {"lexer": "unicode", "stoplist": "none", "digits": "token", "min_documents": 2, **counted}
    return f"""# {name}: which classifier for {path}?  bench run {name}.yaml
name: {name}
corpus: # `bench data pin {name}.yaml` records its contents, and later runs reject any change
  {_line(corpus)}
text: # words are runs of letters, in lower case, that occur in at least two documents
  {_line(text)}
protocol: # {why}
  {_line(protocol)}
defaults: {{idf: training}} # document frequencies are those of the training documents
methods:
  - mnb # naive Bayes, a baseline
  - complement-nb
  - {{weighting: tfidf, classifier: linear-svm}} # the usual first choice
  - ngd # geodesic distance on the simplex: an exact kernel, whose cost grows with the square of the documents
compare:
  - [ngd, tfidf-linear-svm]
"""


def _line(mapping: dict[str, Any]) -> str:
    """Return a mapping as one line of YAML."""
    return yaml.safe_dump(mapping, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6).strip()


def _protocol(seen: FileSample, roles: dict[str, str], *, multilabel: bool) -> tuple[dict[str, Any], str]:
    """Return a protocol that suits the columns, and a comment on it."""
    stratified = {"stratified": False} if multilabel else {}
    if "split" in roles:
        sides = sorted(_distinct(seen.columns[roles["split"]]))
        train = next((each for each in sides if each.lower().startswith("train")), sides[0])
        test = next((each for each in sides if each.lower().startswith("test")), sides[-1])
        if train != test:
            return {"name": "fixed-split", "train": train, "test": test}, "the split that the file comes with"
    if "date" in roles:
        return {"name": "by-date", "test_share": 0.25}, "train on the old documents, test on the newest quarter"
    if "group" in roles:
        grouped = {"name": "k-fold", "k": 5, "grouped": True, **stratified}
        return grouped, "each document is tested once, by classifiers trained without its group"
    return {"name": "k-fold", "k": 5, **stratified}, "each document is tested once"
