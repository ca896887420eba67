"""First configuration for a user's documents: inspect the file, propose settings and write them with comments."""

from __future__ import annotations

import csv
import os
import re
import statistics
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.commands.plan import needs_text
from benchmark.config.schema import as_list
from benchmark.corpora.user.dates import ISO, DateColumn
from benchmark.corpora.user.decompress import open_decompressed
from benchmark.corpora.user.file_parameters import DROP_REASONS
from benchmark.corpora.user.label_notes import LIST_BRACKETS, listed_labels
from benchmark.corpora.user.records import (
    DELIMITERS,
    TABLE_DELIMITERS,
    TextForm,
    file_extension,
    iter_records,
    named_delimiter,
    read_columns,
)
from benchmark.corpora.user.records_reader import class_mark
from benchmark.corpora.user.text_lines import text_lines
from benchmark.corpora.user.user_files import UserFiles
from benchmark.corpora.user.validate import DocumentsError
from benchmark.system.atomic_files import write_atomically
from benchmark.system.checks import escape_surrogates
from benchmark.system.errors import ConfigError, DataError, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from benchmark.commands.plan import Plan

#: Limits on inspected records, characters of a value, and characters from which a table's delimiter is guessed.
MAX_RECORDS, MAX_INIT_VALUE_LENGTH, MAX_SNIFFED = 20_000, 200, 2**16
#: Limits on the characters of an id and of a date, and on the columns that a message tells of.
MAX_ID_LENGTH, MIN_DATE_LENGTH, MAX_TOLD = 64, 8, 5
#: Roles whose columns are no longer proposed for a reason.
_ROLE_OF = {"repeated": "id", "nameless": "id", "split": "split", "group": "group", "date": "date"}
#: Most words of a column's name; a longer first row is taken for a document.
MAX_HEADER_WORDS = 8
#: Possible separators of classes, and the smallest share of values that must have one.
SEPARATORS, MIN_SEPARATOR_SHARE = ";|,", 0.05
#: The exact kernel that is proposed, and the linear machine of nearly the same geometry.
EXACT_KERNEL, LINEAR_ROUTE = "ngd", "tfidf-hellinger"
_KERNEL_LINE = f"  - {EXACT_KERNEL} # geodesic distance on the simplex: an exact kernel, of all pairs of documents\n"
_KERNEL_PAIR = f"  - [{EXACT_KERNEL}, tfidf-linear-svm]\n"
#: From how many classes on, and up to how many characters of the median text, n-grams of characters are proposed.
MANY_CLASSES, SHORT_TEXT = 20, 150
_CHARACTER_LINES = f"""\
  - name: characters # n-grams of 3 to 5 characters, since classes are many and texts short
    text: {{ngrams: [], characters: [3, 5], within: white-space}}
    weighting: tfidf
    features: hellinger
    classifier: {{name: linear-svm, C: 2, ridge: 0.5708}}
  - {{fuse: [{LINEAR_ROUTE}, characters], scale: hold-out, name: words-and-characters}} # their decisions, added
"""
_CHARACTER_PAIR = f"  - [words-and-characters, {LINEAR_ROUTE}]\n"
#: Longest first run that is proposed, in seconds of all processors.
MAX_FIRST_SECONDS = 3600.0
#: Folds of a proposed cross-validation; of fewer groups, one fold each.
N_FOLDS = 5
#: Ways of dividing documents that `init` may ask about, and what a score then tells.
WAYS_TO_SPLIT = {
    "date": "how well the newest documents are classified from older ones",
    "group": "how well documents of a {group} are classified that training never saw",
    "random": "how well documents like those of training are classified",
}
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
    date_format : str, optional
        Format of the dates that the user stated.
    quoting : str
    escape : str, optional
    notes : tuple of str
        What was left out of a table.
    """

    path: Path
    columns: dict[str, list[Any]]
    delimiter: str | None
    encoding: str
    header: bool = True
    date_format: str | None = None
    quoting: str = TextForm.quoting
    escape: str | None = None
    notes: tuple[str, ...] = ()


def sample_file(
    path: Path,
    *,
    encoding: str = "utf-8",
    header: bool = True,
    date_format: str | None = None,
    quoting: str = TextForm.quoting,
    escape: str | None = None,
) -> FileSample:
    """Read the beginning of a file, or accept a folder of class folders; DataError if the path is neither."""
    form: dict[str, Any] = {"encoding": encoding, "header": header, "quoting": quoting, "escape": escape}
    UserFiles(str(path), **form).check()
    if path.is_dir():
        return FileSample(path, {}, None, encoding)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    form["delimiter"], notes = _delimiter(path, encoding)
    known = read_columns(path, **form)
    names = [name for name in known if name]
    if unnamed := len(known) - len(names):
        notes.append(f"{path}: {unnamed} {'column has' if unnamed == 1 else 'columns have'} no name: left out")
    rows = iter_records(path, names, **form)
    first = [
        [v[:MAX_INIT_VALUE_LENGTH] if isinstance(v, str) and v[:1] not in LIST_BRACKETS else v for v in values]
        for _, values in islice(rows, MAX_RECORDS)
    ]
    if not first:
        raise DataError(f"{path}: holds no document")
    columns = {name: [row[i] for row in first] for i, name in enumerate(names)}
    return FileSample(path, columns, date_format=date_format, notes=tuple(notes), **form)


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


def find_separator(seen: FileSample, roles: dict[str, Any]) -> tuple[str, str] | None:
    """Find a probable separator of several classes in the label column.

    Returns
    -------
    (str, str) or None
        The most frequent separator, and a value that contains it; None if no more than `MIN_SEPARATOR_SHARE` of the
        values do.
    """
    column = seen.columns.get(str(roles.get("label", "")), ())
    labels = [label.strip() for label in column if isinstance(label, str) and listed_labels(label) is None]
    containing = {mark: [label for label in labels if mark in label.strip(mark)] for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: len(containing[mark]))
    return (best, containing[best][0]) if len(containing[best]) > MIN_SEPARATOR_SHARE * len(labels) else None


def _delimiter(path: Path, encoding: str) -> tuple[str | None, list[str]]:
    """Guess the delimiter of a table; None if it is the usual one, can't be guessed, or is named by the first line."""
    usual = TABLE_DELIMITERS.get(file_extension(path))
    if usual is None:
        return None, []
    with open_decompressed(path) as file:
        first = next(text_lines(file, path, encoding), "")
    if named_delimiter(first):
        return None, [f"{path}:1: {first.strip()!r} names the delimiter, and is no row of the table"]
    try:
        guess = csv.Sniffer().sniff(first.rstrip("\r\n")[:MAX_SNIFFED], DELIMITERS).delimiter
    except csv.Error:
        return None, []
    return None if guess == usual else guess, []


def columns_of_classes(seen: FileSample, roles: Mapping[str, Any], given: Collection[str]) -> list[str]:
    """Return the columns that hold only 0 and 1, of which each may say whether a document has a class.

    None are returned if the user named the class, or a column has a usual name of one.
    """
    label = roles.get("label", "")
    if {"label", "labels"} & set(given) or "labels" in roles or label.lower() in USUAL_COLUMN_NAMES["label"]:
        return []
    others = taken_columns({role: own for role, own in roles.items() if role != "label"})
    marks = [name for name, values in seen.columns.items() if name not in others and _marks(values)]
    return marks if len(marks) > 1 and (not label or label in marks) else []


def _marks(values: Sequence[Any]) -> bool:
    """Return whether all values are 0 or 1, and both occur."""
    return {class_mark(value) for value in values} == {True, False}


def one_class_each(seen: FileSample, columns: Sequence[str]) -> bool:
    """Return whether in each document exactly one of these columns holds 1."""
    rows = zip(*(seen.columns[name] for name in columns), strict=True)
    return all([class_mark(value) for value in row].count(True) == 1 for row in rows)


def propose_columns(seen: FileSample, given: dict[str, Any]) -> dict[str, Any]:
    """Propose columns for the roles that the user didn't assign, from the columns' values and names.

    Parameters
    ----------
    seen : FileSample
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
    for role, name in ((role, name) for role, own in given.items() for name in as_list(own)):
        if seen.columns and name not in seen.columns:
            raise ConfigError(f"--{role}: {unknown_name('column', name, list(seen.columns))}")
    roles = dict(given)
    suited: dict[str, Callable[[list[Any]], bool]] = {
        "text": lambda values: all(isinstance(value, str | None) for value in values),
        "split": lambda values: (
            2 <= len(_distinct(values)) <= 4 and {v.lower() for v in _distinct(values)} <= PART_NAMES
        ),
        "date": lambda values: _dates(values) is not None,
        "label": lambda values: 2 <= len(_distinct(values)) <= max(2, len(values) // 3),
        "id": lambda values: len(_distinct(values)) == len(values),
        "group": lambda values: 2 <= len(_distinct(values)) < len(values),
    }
    for role, fits in suited.items():
        if role in roles or (role == "label" and "labels" in roles):
            continue
        taken = taken_columns(roles)
        left = [name for name, values in seen.columns.items() if name not in taken and fits(values)]
        usual = [name for name in left if name.lower() in USUAL_COLUMN_NAMES.get(role, ())]
        several = _column_of_lists(seen, taken, usual or left) if role == "label" else None
        if several is not None:
            roles["labels"] = several
        elif role == "text" and left:
            roles[role] = max(left, key=lambda name: sum(len(str(value or "")) for value in seen.columns[name]))
        elif usual:
            roles[role] = min(usual, key=lambda name: USUAL_COLUMN_NAMES[role].index(name.lower()))
        elif role == "id" and (names := [name for name in left if _ids(seen.columns[name])]):
            roles[role] = names[0]
        elif left and role in ("label", "split", "date"):
            roles[role] = min(left, key=lambda name: len(_distinct(seen.columns[name])))
    return roles


def _column_of_lists(seen: FileSample, taken: Collection[str], others: Sequence[str]) -> str | None:
    """Return the column of lists that probably has the classes, since its name is usual or no other column may."""
    lists = [name for name, values in seen.columns.items() if name not in taken and _lists(values)]
    names = (*USUAL_COLUMN_NAMES["labels"], *USUAL_COLUMN_NAMES["label"])
    others = [name for name in others if name not in lists]
    usual = [name for name in lists if name.lower() in names]
    if not lists or any(name.lower() in names for name in others) or (others and not usual):
        return None
    return (usual or lists)[0]


def taken_columns(roles: Mapping[str, Any]) -> set[str]:
    """Return all columns that have a role."""
    return {name for own in roles.values() for name in as_list(own)}


def split_columns(seen: FileSample, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns by role, with `a,b,c` as a list for the class, unless a column has that name."""
    several = {role for role in ("label", "labels") if "," in given.get(role, "") and given[role] not in seen.columns}
    return {role: name.split(",") if role in several else name for role, name in given.items()}


def _lists(values: Sequence[Any]) -> bool:
    """Return whether the values of a column are lists, or lists that are written as text."""
    own = [value for value in values if value not in (None, "")]
    return bool(own) and all(isinstance(v, list) or (isinstance(v, str) and listed_labels(v) is not None) for v in own)


def _distinct(values: Sequence[Any]) -> set[str]:
    """Return the distinct values of a column as text, without lists and missing values."""
    return {str(value).strip() for value in values if value is not None and not isinstance(value, list | dict)}


def _ids(values: Sequence[Any]) -> bool:
    """Return whether values look like names of documents: each another one, short, without spaces and fractions."""
    texts = [str(value) for value in values if isinstance(value, str | int) and not isinstance(value, bool)]
    short = all(0 < len(text) <= MAX_ID_LENGTH and not re.search(r"\s|^[+-]?\d*[.,]\d+$", text) for text in texts)
    return short and len(set(texts)) == len(values) > 1


def _dates(values: Sequence[Any]) -> DateColumn | None:
    """Return the dates of a column; None if a value is no date, or if days can't be told from months."""
    found = _possible_dates(values)
    return None if found is None or found.ambiguity else found


def _possible_dates(values: Sequence[Any]) -> DateColumn | None:
    """Return the dates of a column, which may be ambiguous; None if a value is no date."""
    found = DateColumn("")
    try:
        for value in values:
            if len(str(value)) < MIN_DATE_LENGTH:
                return None
            found.add(value, "")
    except DataError:
        return None
    return found


def check_columns(seen: FileSample, roles: dict[str, Any]) -> None:
    """Raise ConfigError if no column is the text or the class, with what speaks against those that there are."""
    if not seen.columns:
        return
    if "text" not in roles:
        raise ConfigError(f"{seen.path}: no column looks like a text; name it by --text")
    if "label" in roles or "labels" in roles:
        return
    others = [(name, values) for name, values in seen.columns.items() if name not in roles.values()]
    facts = []
    for name, values in [*others, *((roles[r], seen.columns[roles[r]]) for r in ("id",) if r in roles)][:MAX_TOLD]:
        n = len(_distinct(values))
        facts.append(f"{quote_value(name)} has {n:,} {'values' if n != 1 else 'value'} in {len(values):,} rows")
    told = f" ({', '.join(facts)})" if facts else ""
    raise ConfigError(f"{seen.path}: no column looks like a class{told}; name it by --label")


def notes_on_columns(seen: FileSample, roles: dict[str, Any]) -> list[str]:
    """Return what was taken where a column could be taken in two ways."""
    notes, label = [*seen.notes], str(roles.get("label", ""))
    several = seen.columns.get(str(roles.get("labels", "")), ())
    if any(isinstance(value, str) for value in several) and _lists(several):
        notes.append(f"{roles['labels']!r} has lists written as text: each item is a class")
    values = [value for value in seen.columns.get(label, ()) if isinstance(value, str)]
    holding = {mark: [value for value in values if mark in value.strip().strip(mark)] for mark in SEPARATORS}
    mark = max(SEPARATORS, key=lambda each: len(holding[each]))
    if holding[mark]:
        n = f"{len(holding[mark]):,} of {len(seen.columns[label]):,} values"
        notes.append(
            f"{n} of {label!r} hold {mark!r}, such as {quote_value(holding[mark][0])}: each is taken as one class"
        )
    for name, own in seen.columns.items():
        dates = _possible_dates(own) if name not in roles.values() and "date" not in roles else None
        if dates is not None and dates.ambiguity:
            ways = " or ".join(f"--date-format {form!r}" for form in dates.formats)
            first = quote_value(str(own[0]))
            notes.append(
                f"{name!r} may be a date, such as {first}, with the day or the month first: --date {name} {ways}"
            )
    return notes


@dataclass(frozen=True)
class Settled:
    """Columns that all documents fit, and documents to leave out.

    Parameters
    ----------
    roles : dict of str to str
    drop : tuple of str
    dropped : dict of str to int
        Numbers of documents that are left out, by reason.
    documents : int
        Number of documents that are left.
    notes : tuple of str
        What the documents may mean otherwise, see `ScanResult`.
    """

    roles: dict[str, Any]
    drop: tuple[str, ...]
    dropped: dict[str, int]
    documents: int
    notes: tuple[str, ...] = ()


def settle_documents(
    seen: FileSample, roles: dict[str, Any], named: Collection[str], *, separator: str | None, drop: Sequence[str]
) -> Settled:
    """Read all documents, and find what has to be left out so that the rest can be classified.

    A column that was proposed, and that not all documents fill with what its role needs, is no longer proposed: an id
    that occurs twice, a group or part that is missing. Documents are left out for the reasons that `drop` has.

    Parameters
    ----------
    seen : FileSample
    roles : dict of str to str
        Columns by role.
    named : collection of str
        Roles whose columns the user named.
    separator : str, optional
    drop : sequence of str
        Reasons that the user named.

    Raises
    ------
    DataError
        If the documents can't be read, or too few are left.
    """
    roles, drop = dict(roles), list(drop)
    while True:
        section = _corpus_section(seen, roles, str(seen.path.resolve()), separator=separator, drop=drop)
        reader = UserFiles(**{key: value for key, value in section.items() if key != "name"})
        reader.check()
        try:
            scan = reader.scanned()
            return Settled(roles, tuple(drop), scan.dropped, len(scan.documents), scan.notes)
        except DocumentsError as error:
            proposed = {_ROLE_OF.get(why, "") for why in error.reasons} & (roles.keys() - set(named))
            needed = [why for why in error.reasons if why in DROP_REASONS and why not in drop]
            if not proposed and (not needed or not set(error.reasons) <= set(DROP_REASONS)):
                raise
            for role in proposed:
                del roles[role]
            drop += [] if proposed else needed


def drop_sentence(dropped: dict[str, int], documents: int) -> str:
    """Return which documents are left out, and how many."""
    parts = [f"{DROP_REASONS[why]} ({n:,})" for why, n in dropped.items()]
    return f"drop: [{', '.join(dropped)}] leaves out {', '.join(parts)}; {documents:,} are left"


@contextmanager
def removed_unless_it_runs(target: Path) -> Iterator[None]:
    """Put back what a file was before, or remove it, if an error occurs."""
    before = target.read_bytes() if target.exists() else None
    try:
        yield
    except BaseException:
        if before is not None:
            write_atomically(target, before)
        else:
            target.unlink(missing_ok=True)
        raise


def configuration_path(seen: FileSample, out: Path | None, *, overwrite: bool) -> Path:
    """Return the path of the configuration; ConfigError if the file exists and `overwrite` is false."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", seen.path.resolve().name.partition(".")[0]).strip("-") or "mine"
    target = out or Path(f"{name}.yaml")
    if target.exists() and not overwrite:
        raise ConfigError(f"{target}: exists already; --overwrite replaces it, --out names another file")
    for written in (target.stem, _relative_path(seen, target)):
        if escape_surrogates(written) != written:
            raise ConfigError(f"{written}: is not UTF-8, and can't stand in a configuration; rename it")
    return target


def _relative_path(seen: FileSample, target: Path) -> str:
    """Return the path of the documents, relative to their configuration."""
    return Path(os.path.relpath(seen.path.resolve(), target.resolve().parent)).as_posix()


def write_configuration(
    seen: FileSample,
    roles: dict[str, Any],
    out: Path | None,
    *,
    overwrite: bool,
    separator: str | None,
    drop: Sequence[str],
    exact_kernel: bool = True,
    split_by: str | None = None,
) -> Path:
    """Write the configuration and return its path; ConfigError if the file exists and `overwrite` is false."""
    target = configuration_path(seen, out, overwrite=overwrite)
    path = _relative_path(seen, target)
    how: dict[str, Any] = {"separator": separator, "drop": drop, "exact_kernel": exact_kernel, "split_by": split_by}
    text = configuration_text(seen, roles, target.stem, path, **how)
    write_atomically(target, text.encode())
    return target


def configuration_text(
    seen: FileSample,
    roles: dict[str, Any],
    name: str,
    path: str,
    *,
    separator: str | None = None,
    drop: Sequence[str] = (),
    exact_kernel: bool = True,
    split_by: str | None = None,
) -> str:
    """Return the configuration as YAML.

    Parameters
    ----------
    seen : FileSample
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
    exact_kernel : bool
        Whether `EXACT_KERNEL` is among the methods.
    split_by : str, optional
        One of `WAYS_TO_SPLIT`; by default the first one that the columns allow, unless the file comes with a split.
    """
    corpus = _corpus_section(seen, roles, path, separator=separator, drop=drop)
    multilabel = "labels" in roles
    protocol, why = _protocol(seen, roles, split_by, multilabel=multilabel)
    counted = {"vocabulary_from": protocol["train"]} if protocol["name"] == "fixed-split" else {}
    kernel, pair = (_KERNEL_LINE, _KERNEL_PAIR) if exact_kernel else ("", "")
    characters, character_pair = (_CHARACTER_LINES, _CHARACTER_PAIR) if _characters_suit(seen, roles) else ("", "")
    text = {"lexer": "unicode", "stoplist": "none", "digits": "token", "min_documents": 2, **counted}
    return f"""# {name}: which classifier for {path}?  bench run {name}.yaml
name: {name}
corpus: # `bench data pin {name}.yaml` records its contents, and later runs reject any change
  {_line(corpus)}
text: # words are runs of two or more letters (C and R are none), in lower case, that are in at least two documents
  {_line(text)}
protocol: # {why}
  {_line(protocol)}
defaults: {{idf: training}} # document frequencies are those of the training documents
methods:
  - mnb # naive Bayes, a baseline
  - complement-nb
  - {{weighting: tfidf, classifier: linear-svm}} # the usual first choice; with an intercept, which is regularized
  - {{weighting: log-entropy, classifier: linear-svm}} # better on most problems of docs/methods.md
  - name: {LINEAR_ROUTE} # square roots of the weights; better on most problems, too
    weighting: tfidf
    features: hellinger
    classifier: {{name: linear-svm, C: 2, ridge: 0.5708}}
{characters}{kernel}compare: # with the usual first choice
  - [mnb, tfidf-linear-svm]
  - [complement-nb, tfidf-linear-svm]
  - [log-entropy-linear-svm, tfidf-linear-svm]
  - [{LINEAR_ROUTE}, tfidf-linear-svm]
{character_pair}{pair}"""


def _characters_suit(seen: FileSample, roles: Mapping[str, str | Sequence[str]]) -> bool:
    """Return whether classes are many and texts short, by the records that were seen."""
    text = roles.get("text", "")
    rows = zip(*(seen.columns.get(name, ()) for name in ([text] if isinstance(text, str) else text)), strict=False)
    values = ([str(value) for value in row if value is not None] for row in rows)
    texts = ["\n".join(own) for own in values if own]
    column = seen.columns.get(str(roles.get("label", "")))
    return (
        bool(texts)
        and column is not None
        and len(_distinct(column)) >= MANY_CLASSES
        and statistics.median(map(len, texts)) <= SHORT_TEXT
    )


def exact_kernel_problem(found: Plan) -> str | None:
    """Return why a run with the exact kernel can't be proposed for this machine; None if it can."""
    if found.memory <= found.free_bytes and found.seconds <= MAX_FIRST_SECONDS * found.jobs:
        return None
    return (
        f"{EXACT_KERNEL}, an exact kernel, is left out: with it, a run would take about {needs_text(found)}. "
        f"{LINEAR_ROUTE} is its linear route: linear-svm on square roots, without a matrix of all pairs of documents."
    )


def _corpus_section(
    seen: FileSample, roles: dict[str, Any], path: str, *, separator: str | None, drop: Sequence[str]
) -> dict[str, Any]:
    """Return the section `corpus`."""
    corpus: dict[str, Any] = {"name": "files", "path": path, **roles}
    dates = _dates(seen.columns[roles["date"]]) if roles.get("date") in seen.columns else None
    form = seen.date_format or (dates.formats[0] if dates is not None else ISO)
    if "date" in roles and form != ISO:
        corpus["date_format"] = form
    if seen.delimiter is not None:
        corpus["delimiter"] = seen.delimiter
    if not seen.header:
        corpus["header"] = False
    if seen.quoting != TextForm.quoting:
        corpus["quoting"] = seen.quoting
    if seen.escape is not None:
        corpus["escape"] = seen.escape
    if seen.encoding != "utf-8":
        corpus["encoding"] = seen.encoding
    if separator is not None:
        corpus["separator"] = separator
    if drop:
        corpus["drop"] = list(drop)
    return corpus


def _line(mapping: dict[str, Any]) -> str:
    """Return a mapping as one line of YAML."""
    return yaml.safe_dump(mapping, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6).strip()


def ways_to_split(seen: FileSample, roles: Mapping[str, Any]) -> dict[str, str]:
    """Return those of `WAYS_TO_SPLIT` that the columns allow, the default first; none for a file with its own split."""
    if "split" in roles and _given_split(seen, roles) is not None:
        return {}
    group = repr(roles.get("group"))
    return {way: told.format(group=group) for way, told in WAYS_TO_SPLIT.items() if way in roles or way == "random"}


def check_split_by(split_by: str | None, roles: Mapping[str, Any]) -> None:
    """Raise ConfigError for a way of dividing documents that doesn't exist, or whose column is missing."""
    if split_by is None:
        return
    if split_by not in WAYS_TO_SPLIT:
        raise ConfigError(f"--split-by: {unknown_name('way', split_by, list(WAYS_TO_SPLIT))}")
    if split_by != "random" and split_by not in roles:
        raise ConfigError(f"--split-by {split_by}: no column is the {split_by}; name it by --{split_by}")


def split_sentences(seen: FileSample, roles: Mapping[str, Any], split_by: str | None) -> list[str]:
    """Return what the proposed split measures, and which options measure something else."""
    ways = ways_to_split(seen, roles)
    if len(ways) < 2:
        return []
    taken = split_by or next(iter(ways))
    others = (f"--split-by {way} measures {told}" for way, told in ways.items() if way != taken)
    notes = [f"The split is by {taken}: it measures {ways[taken]}; {'; '.join(others)}."]
    if "group" in ways and taken != "group":
        name = repr(roles["group"])
        notes.append(f"Documents of a {name} may be on both sides: the run tells the scores without those, too.")
    return notes


def _given_split(seen: FileSample, roles: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the training and the test part that the file comes with; None if it has only one part."""
    sides = sorted(_distinct(seen.columns[roles["split"]]))
    train = next((each for each in sides if each.lower().startswith("train")), sides[0])
    test = next((each for each in sides if each.lower().startswith("test")), sides[-1])
    return (train, test) if train != test else None


def _protocol(
    seen: FileSample, roles: dict[str, Any], split_by: str | None, *, multilabel: bool
) -> tuple[dict[str, Any], str]:
    """Return a protocol that suits the columns, and a comment on it."""
    stratified = {"stratified": False} if multilabel else {}
    ways = ways_to_split(seen, roles)
    if not ways and split_by is None and (sides := _given_split(seen, roles)) is not None:
        return {"name": "fixed-split", "train": sides[0], "test": sides[1]}, "the split that the file comes with"
    way = split_by or next(iter(ways))
    both = f"; documents of a {roles['group']!r} may be on both sides" if "group" in roles and way != "group" else ""
    if way == "date":
        return {"name": "by-date", "test_share": 0.25}, f"train on the old documents, test on the newest quarter{both}"
    if way == "group":
        n_groups = len(_distinct(seen.columns[roles["group"]]))
        k = n_groups if 1 < n_groups < N_FOLDS else N_FOLDS
        grouped = {"name": "k-fold", "k": k, "grouped": True, **stratified}
        return grouped, "each document is tested once, by classifiers trained without its group"
    return {"name": "k-fold", "k": N_FOLDS, **stratified}, f"each document is tested once{both}"
