"""A first configuration for one's own documents: what a look at the file proposes, written out with comments."""

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

from benchmark.corpora.records import TABLES, check_encoding, columns_of, decoded, kind_of, opened, records
from benchmark.environment import write_whole
from benchmark.errors import ConfigError, DataError, quoted, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

#: Records that are looked at, characters of a value, and bytes that a table's delimiter is told by.
LOOKED_AT, LONGEST, SNIFFED = 20_000, 200, 2**16
DELIMITERS = ",;\t|"
#: Words of a column's name; a longer one is taken for a document.
MOST_WORDS = 8
#: What may separate classes, and the share of the values in which it is noticed.
SEPARATORS, SHARE = ";|,", 0.05
ROLES = ("text", "label", "labels", "id", "split", "group", "date")
#: What columns are often called.
USUAL = {
    "label": ("label", "class", "category", "queue", "topic", "target", "intent", "sentiment", "type", "y"),
    "labels": ("labels", "tags", "topics", "categories", "classes"),
    "id": ("id", "key", "uid", "number", "ticket", "document_id", "doc_id"),
    "split": ("split", "fold", "side", "set", "partition", "subset"),
    "group": ("group", "customer", "author", "user", "thread", "source", "account", "site", "university"),
    "date": ("date", "time", "created", "created_at", "timestamp", "day", "when"),
}
SIDES = {"train", "test", "training", "testing", "dev", "valid", "validation", "val"}


@dataclass(frozen=True)
class Look:
    """What the beginning of a file says.

    Parameters
    ----------
    path : Path
    columns : dict of str to list
        Values of the first records by column; empty for a folder.
    delimiter : str or None
        Of a table whose columns aren't parted as its name's ending says.
    encoding : str
    header : bool
        Whether the first row of a table was taken for the names of its columns.
    """

    path: Path
    columns: dict[str, list[Any]]
    delimiter: str | None
    encoding: str
    header: bool = True


def look(path: Path, *, encoding: str = "utf-8", header: bool = True) -> Look:
    """Look at a file or a folder of class folders; DataError if it is neither."""
    if path.is_dir():
        return Look(path, {}, None, encoding)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    check_encoding(encoding)
    delimiter = _delimiter(path, encoding)
    names = columns_of(path, encoding=encoding, delimiter=delimiter, header=header)
    given = records(path, names, encoding=encoding, delimiter=delimiter, header=header)
    first = [[v[:LONGEST] if isinstance(v, str) else v for v in values] for _, values in islice(given, LOOKED_AT)]
    if not first:
        raise DataError(f"{path}: holds no document")
    return Look(path, {name: [row[i] for row in first] for i, name in enumerate(names)}, delimiter, encoding, header)


def why_no_header(seen: Look, wanted: Collection[str] = ()) -> str | None:
    """Say why the first row of a table looks like a document and not like the names of columns; None if it doesn't.

    A row with all of the `wanted` names is a header. Otherwise, a name that occurs again in its column is a value; of
    the rows that are left, one with a usual name is a header, and one with a long text, a number or a date is none.
    """
    named = bool(wanted) and set(wanted) <= set(seen.columns)
    if named or not seen.header or kind_of(seen.path) not in TABLES:
        return None
    for name, values in seen.columns.items():
        if name and any(str(each).strip() == name for each in values):
            return f"{quoted(name)} occurs again in its column"
    if any(name.lower() in (*ROLES, *chain(*USUAL.values())) for name in seen.columns):
        return None
    for name in seen.columns:
        if len(name.split()) > MOST_WORDS:
            return f"{quoted(name)} is a long text"
        if name and (_number(name) or _dates([name])):
            return f"{quoted(name)} is a number or a date"
    return None


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def separator_in(seen: Look, roles: dict[str, str]) -> tuple[str, str] | None:
    """Find what seems to separate several classes in the column of the class, with a value that holds it.

    Returns
    -------
    (str, str) or None
        The separator that most values hold; None if fewer than `SHARE` of them do.
    """
    values = [str(each).strip() for each in seen.columns.get(roles.get("label", ""), ()) if isinstance(each, str)]
    holding = {mark: [each for each in values if mark in each.strip(mark)] for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: len(holding[mark]))
    return (best, holding[best][0]) if len(holding[best]) > SHARE * len(values) else None


def _delimiter(path: Path, encoding: str) -> str | None:
    usual = TABLES.get(kind_of(path))
    if usual is None:
        return None
    with opened(path) as file:
        lines = file.read(SNIFFED).splitlines(keepends=True)
    sample = decoded(b"".join(lines[: max(1, len(lines) - 1)]), encoding, path, 1, 0)
    try:
        found = csv.Sniffer().sniff(sample.splitlines()[0] if sample else "", DELIMITERS).delimiter
    except csv.Error:
        return None
    return None if found == usual else found


def propose(seen: Look, given: dict[str, str]) -> dict[str, str]:
    """Which column is what: as given, and for the rest as values and names suggest.

    Parameters
    ----------
    seen : Look
    given : dict of str to str
        Columns by role, of `ROLES`.

    Raises
    ------
    ConfigError
        A given column isn't there.
    """
    for role, name in given.items():
        if seen.columns and name not in seen.columns:
            raise ConfigError(f"--{role}: {unknown('column', name, list(seen.columns))}")
    found = dict(given)
    suited: dict[str, Callable[[list[Any]], bool]] = {
        "text": lambda values: all(isinstance(each, str | None) for each in values),
        "split": lambda values: 2 <= len(_distinct(values)) <= 4 and {v.lower() for v in _distinct(values)} <= SIDES,
        "date": _dates,
        "label": lambda values: 2 <= len(_distinct(values)) <= max(2, len(values) // 3),
        "id": lambda values: len(_distinct(values)) == len(values),
        "group": lambda values: 2 <= len(_distinct(values)) < len(values),
    }
    for role, fits in suited.items():
        if role in found or (role == "label" and "labels" in found):
            continue
        left = [name for name, values in seen.columns.items() if name not in found.values() and fits(values)]
        usual = [name for name in left if name.lower() in USUAL.get(role, ())]
        if role == "text" and left:
            found[role] = max(left, key=lambda name: sum(len(str(each or "")) for each in seen.columns[name]))
        elif usual:
            found[role] = min(usual, key=lambda name: USUAL[role].index(name.lower()))
        elif left and role in ("label", "split", "date"):
            found[role] = min(left, key=lambda name: len(_distinct(seen.columns[name])))
    return found


def _distinct(values: Sequence[Any]) -> set[str]:
    return {str(each).strip() for each in values if each is not None and not isinstance(each, list | dict)}


def _dates(values: Sequence[Any]) -> bool:
    try:
        return all(
            isinstance(each, datetime) or (len(str(each)) >= 8 and bool(datetime.fromisoformat(str(each).strip())))
            for each in values
        )
    except ValueError:
        return False


def start(
    seen: Look, roles: dict[str, str], out: Path | None, *, overwrite: bool, separator: str | None, drop: Sequence[str]
) -> Path:
    """Write the configuration; ConfigError where there is one already, unless it may be overwritten."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", seen.path.resolve().name.partition(".")[0]).strip("-") or "mine"
    target = out or Path(f"{name}.yaml")
    if target.exists() and not overwrite:
        raise ConfigError(f"{target}: is there already; --overwrite replaces it, --out names another file")
    path = os.path.relpath(seen.path.resolve(), target.resolve().parent)
    text = written(seen, roles, target.stem, Path(path).as_posix(), separator=separator, drop=drop)
    write_whole(target, text.encode())
    return target


def written(
    seen: Look, roles: dict[str, str], name: str, path: str, *, separator: str | None = None, drop: Sequence[str] = ()
) -> str:
    """The configuration as YAML.

    Parameters
    ----------
    seen : Look
    roles : dict of str to str
        Columns by role.
    name : str
    path : str
        Of the file, relative to the configuration.
    separator : str, optional
        Between the classes of a document that may have several.
    drop : sequence of str
        What is left out, see `corpora.files.DROPPED`.
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
    several = "labels" in roles
    protocol, why = _protocol(seen, roles, several=several)
    counted = {"counted_in": protocol["train"]} if protocol["name"] == "fixed-split" else {}
    text = {"lexer": "unicode", "stoplist": "none", "digits": "token", "min_documents": 2, **counted}
    return f"""# {name}: which classifier for {path}?  bench run {name}.yaml
name: {name}
corpus: # `bench data card {name}.yaml` notes what is in it, and later runs refuse another
  {_line(corpus)}
text: # words are runs of letters, in lower case; those of one document alone are left out
  {_line(text)}
protocol: # {why}
  {_line(protocol)}
defaults: {{idf: training}} # no weight is taken from a document that is tested
methods:
  - mnb # naive Bayes, the least that a method should beat
  - complement-nb
  - {{weighting: tfidf, classifier: linear-svm}} # what one would try first
  - ngd # the geodesic distance on the simplex: exact, and its cost grows with the square of the documents
compare:
  - [ngd, tfidf-linear-svm]
"""


def _line(mapping: dict[str, Any]) -> str:
    return yaml.safe_dump(mapping, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6).strip()


def _protocol(seen: Look, roles: dict[str, str], *, several: bool) -> tuple[dict[str, Any], str]:
    stratified = {"stratified": False} if several else {}
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
        return grouped, "each document is tested once, by machines that have seen none of its group"
    return {"name": "k-fold", "k": 5, **stratified}, "each document is tested once"
