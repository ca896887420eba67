"""First configuration for a user's documents: inspect the file, propose settings and write them with comments."""

from __future__ import annotations

import csv
import os
import re
import statistics
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.commands.plan import needs_text
from benchmark.config.schema import as_list
from benchmark.corpora.user.dates import parse_date
from benchmark.corpora.user.documents import DocumentsError
from benchmark.corpora.user.file_parameters import DROP_REASONS
from benchmark.corpora.user.labels import LIST_BRACKETS, class_mark, listed_labels
from benchmark.corpora.user.records import (
    DELIMITERS,
    TABLE_DELIMITERS,
    TextForm,
    file_extension,
    iter_records,
    named_delimiter,
    read_columns,
)
from benchmark.corpora.user.text_files import open_text
from benchmark.corpora.user.user_files import UserFiles
from benchmark.report.environment import template_environment
from benchmark.system.errors import ConfigError, DataError, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from benchmark.commands.plan import Plan
    from benchmark.corpora.user.documents import ScanResult

#: Limits on inspected records, characters of a value, and characters from which a table's delimiter is guessed.
MAX_RECORDS, MAX_INIT_VALUE_LENGTH, MAX_SNIFFED = 20_000, 200, 2**16
#: Limits on the characters of an id and of a date, and on the columns that a message lists.
MAX_ID_LENGTH, MIN_DATE_LENGTH, MAX_COLUMNS_LISTED = 64, 8, 5
#: Roles whose proposed columns are given up for a reason.
_ROLE_OF = {"repeated": "id", "nameless": "id", "split": "split", "group": "group", "date": "date"}
#: Most words of a column's name; a longer first row is taken for a document.
MAX_HEADER_WORDS = 8
#: Possible separators of classes, and the smallest share of values that must have one.
SEPARATORS, MIN_SEPARATOR_SHARE = ";|,", 0.05
#: From how many classes on, and up to how many characters of the median text, n-grams of characters are proposed.
MANY_CLASSES, SHORT_TEXT = 20, 150
#: Longest first run that is proposed, in seconds of all processors.
MAX_FIRST_SECONDS = 3600.0
#: Folds of a proposed cross-validation; of fewer groups, one fold each.
N_FOLDS = 5
#: Ways of dividing documents, and what a score then measures.
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
    form : dict of str to Any
        Parameters of the corpus that say how the file is written, where they are not the usual ones.
    notes : tuple of str
        What was left out of a table.
    """

    path: Path
    columns: dict[str, list[Any]]
    form: dict[str, Any]
    notes: tuple[str, ...] = ()


def sample_file(path: Path, *, date_format: str | None = None, **form: Any) -> FileSample:
    """Read the beginning of a file, or accept a folder of class folders; `form` has parameters of `TextForm`."""
    form = {key: value for key, value in form.items() if value != getattr(TextForm, key)}
    dated = {"date_format": date_format} if date_format else {}
    UserFiles(str(path), **form).check()
    if path.is_dir():
        return FileSample(path, {}, form)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    delimiter, notes = _delimiter(path, form.get("encoding", TextForm.encoding))
    form |= {"delimiter": delimiter} if delimiter else {}
    known = read_columns(path, **form)
    names = [name for name in known if name]
    if unnamed := len(known) - len(names):
        notes.append(f"{path}: {unnamed} {'column has' if unnamed == 1 else 'columns have'} no name: left out")
    first = [
        [v[:MAX_INIT_VALUE_LENGTH] if isinstance(v, str) and v[:1] not in LIST_BRACKETS else v for v in values]
        for _, values in islice(iter_records(path, names, **form), MAX_RECORDS)
    ]
    if not first:
        raise DataError(f"{path}: holds no document")
    columns = {name: [row[i] for row in first] for i, name in enumerate(names)}
    return FileSample(path, columns, dated | form, tuple(notes))


def _delimiter(path: Path, encoding: str) -> tuple[str | None, list[str]]:
    """Guess the delimiter of a table; None if it is the usual one, can't be guessed, or is named by the first line."""
    usual = TABLE_DELIMITERS.get(file_extension(path))
    if usual is None:
        return None, []
    with open_text(path, encoding) as file:
        first = file.readline()
    if named_delimiter(first):
        return None, [f"{path}:1: {first.strip()!r} names the delimiter, and is no row of the table"]
    with suppress(csv.Error):
        guess = csv.Sniffer().sniff(first.rstrip("\r\n")[:MAX_SNIFFED], DELIMITERS).delimiter
        return None if guess == usual else guess, []
    return None, []


def not_a_header_reason(seen: FileSample, wanted: Collection[str] = ()) -> str | None:
    """Return the reason why the first row of a table looks like a document and not like a header; None if it doesn't.

    A row with all of the `wanted` names is a header. Otherwise, a row is no header if one of its names occurs again in
    the column. Otherwise, a row with a usual name is a header, and one with a long text, a number or a date is none.
    """
    named = bool(wanted) and set(wanted) <= set(seen.columns)
    if named or not seen.form.get("header", True) or file_extension(seen.path) not in TABLE_DELIMITERS:
        return None
    for name, values in seen.columns.items():
        if name and any(str(value).strip() == name for value in values):
            return f"{quote_value(name)} occurs again in its column"
    if any(name.lower() in (*ROLES, *chain(*USUAL_COLUMN_NAMES.values())) for name in seen.columns):
        return None
    for name in filter(None, seen.columns):
        if len(name.split()) > MAX_HEADER_WORDS:
            return f"{quote_value(name)} is a long text"
        if _is_number(name) or _are_dates([name]):
            return f"{quote_value(name)} is a number or a date"
    return None


def _is_number(text: str) -> bool:
    with suppress(ValueError):
        float(text)
        return True
    return False


# --- Columns ---


def propose_columns(seen: FileSample, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns by role: those that the user assigned, and others proposed by their values and names.

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
        "date": lambda values: _are_dates(values, seen.form.get("date_format")),
        "label": lambda values: not _lists(values) and 2 <= len(_distinct(values)) <= max(2, len(values) // 3),
        "id": lambda values: len(_distinct(values)) == len(values),
        "group": lambda values: 2 <= len(_distinct(values)) < len(values),
    }
    for role, fits in suited.items():
        if role in roles or (role == "label" and "labels" in roles):
            continue
        free = {name: values for name, values in seen.columns.items() if name not in taken_columns(roles)}
        left = {name: values for name, values in free.items() if fits(values)}
        usual = [name for known in USUAL_COLUMN_NAMES.get(role, ()) for name in left if name.lower() == known]
        if role == "label" and (several := _column_of_lists(free, left)):
            roles["labels"] = several
        elif role == "text" and left:
            roles[role] = max(left, key=lambda name: sum(len(str(value or "")) for value in seen.columns[name]))
        elif usual:
            roles[role] = usual[0]
        elif role == "id" and (names := [name for name, values in left.items() if _ids(values)]):
            roles[role] = names[0]
        elif left and role in ("label", "split", "date"):
            roles[role] = min(left, key=lambda name: len(_distinct(seen.columns[name])))
    return roles


def _column_of_lists(free: Mapping[str, list[Any]], others: Collection[str]) -> str | None:
    """Return the column of lists that probably has the classes, since its name is usual or no other column may."""
    names = {*USUAL_COLUMN_NAMES["labels"], *USUAL_COLUMN_NAMES["label"]}
    lists = [name for name, values in free.items() if _lists(values)]
    usual = [name for name in lists if name.lower() in names]
    if not lists or names & {name.lower() for name in others} or (others and not usual):
        return None
    return (usual or lists)[0]


def taken_columns(roles: Mapping[str, Any]) -> set[str]:
    """Return all columns that have a role."""
    return {name for own in roles.values() for name in as_list(own)}


def split_columns(seen: FileSample, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns by role, with `a,b,c` as a list for the class, unless a column has that name."""
    several = {role for role in ("label", "labels") if "," in given.get(role, "") and given[role] not in seen.columns}
    return {role: name.split(",") if role in several else name for role, name in given.items()}


def columns_of_classes(seen: FileSample, roles: Mapping[str, Any], given: Collection[str]) -> tuple[list[str], bool]:
    """Return the columns of 0 and 1, each of which may be a class, and whether each document has exactly one 1.

    There are none if the user named the class, or a column has a usual name of one.
    """
    label = roles.get("label", "")
    if {"label", "labels"} & set(given) or "labels" in roles or label.lower() in USUAL_COLUMN_NAMES["label"]:
        return [], False
    others = taken_columns({role: own for role, own in roles.items() if role != "label"})
    marks = {name: [*map(class_mark, values)] for name, values in seen.columns.items() if name not in others}
    marks = {name: values for name, values in marks.items() if {*values} == {True, False}}
    if len(marks) < 2 or (label and label not in marks):
        return [], False
    return list(marks), all(row.count(True) == 1 for row in zip(*marks.values(), strict=True))


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


def _are_dates(values: Sequence[Any], form: str | None = None) -> bool:
    """Return whether all values of a column are dates."""
    with suppress(ValueError):
        return all(len(str(value)) >= MIN_DATE_LENGTH and parse_date(value, "", form) for value in values)
    return False


def check_columns(seen: FileSample, roles: Mapping[str, Any]) -> None:
    """Raise ConfigError if no column is the text or the class, with the values of the columns that there are."""
    if not seen.columns:
        return
    if "text" not in roles:
        raise ConfigError(f"{seen.path}: no column looks like a text; name it by --text")
    if "label" in roles or "labels" in roles:
        return
    others = [name for name in seen.columns if name not in roles.values()] + [roles[r] for r in ("id",) if r in roles]
    facts = []
    for name in others[:MAX_COLUMNS_LISTED]:
        n = len(_distinct(seen.columns[name]))
        facts.append(f"{quote_value(name)} has {n:,} value{'s' * (n != 1)} in {len(seen.columns[name]):,} rows")
    listed = f" ({', '.join(facts)})" if facts else ""
    raise ConfigError(f"{seen.path}: no column looks like a class{listed}; name it by --label")


def find_separator(seen: FileSample, roles: Mapping[str, Any], least: float = MIN_SEPARATOR_SHARE) -> tuple[str, ...]:
    """Return the most frequent separator in the class column and the values that contain it.

    Nothing is returned unless more than a share of the values have it.
    """
    column = seen.columns.get(str(roles.get("label", "")), ())
    labels = [label.strip() for label in column if isinstance(label, str) and listed_labels(label) is None]
    holding = {mark: [label for label in labels if mark in label.strip(mark)] for mark in SEPARATORS}
    mark = max(SEPARATORS, key=lambda each: len(holding[each]))
    return (mark, *holding[mark]) if len(holding[mark]) > least * len(labels) else ()


def notes_on_columns(seen: FileSample, roles: Mapping[str, Any]) -> list[str]:
    """Return what was taken where a column could be taken in two ways."""
    notes, label = [*seen.notes], str(roles.get("label", ""))
    several = seen.columns.get(str(roles.get("labels", "")), ())
    if any(isinstance(value, str) for value in several) and _lists(several):
        notes.append(f"{roles['labels']!r} has lists written as text: each item is a class")
    if found := find_separator(seen, roles, 0):
        mark, *values = found
        n = f"{len(values):,} of {len(seen.columns[label]):,} values"
        notes.append(f"{n} of {label!r} hold {mark!r}, such as {quote_value(values[0])}: each is taken as one class")
    return notes


# --- Documents ---


def settle_documents(
    seen: FileSample, roles: Mapping[str, Any], named: Collection[str], *, separator: str | None, drop: Sequence[str]
) -> tuple[dict[str, Any], list[str], ScanResult]:
    """Read all documents, and return columns by role, reasons to drop documents, and what is left.

    A column that was proposed, and that not all documents fill with what its role needs, is no longer proposed: an id
    that occurs twice, a group or part that is missing. Documents are left out for the reasons that `drop` has, and for
    others where the rest can't be classified without.

    Parameters
    ----------
    seen : FileSample
    roles : mapping of str to Any
        Columns by role.
    named : collection of str
        Roles whose columns the user named.
    separator : str, optional
        Separator of several classes in a value.
    drop : sequence of str
        Reasons that the user named.

    Raises
    ------
    DataError
        If the documents can't be read, or too few are left.
    """
    roles, drop = dict(roles), list(drop)
    while True:
        section = _corpus_section(seen, roles, str(seen.path.resolve()), separator, drop)
        reader = UserFiles(**{key: value for key, value in section.items() if key != "name"})
        reader.check()
        try:
            return roles, drop, reader.scanned()
        except DocumentsError as error:
            proposed = {_ROLE_OF.get(why, "") for why in error.reasons} & (roles.keys() - set(named))
            needed = [why for why in error.reasons if why in DROP_REASONS and why not in drop]
            if not proposed and (not needed or not set(error.reasons) <= set(DROP_REASONS)):
                raise
            for role in proposed:
                del roles[role]
            drop += [] if proposed else needed


def drop_sentence(dropped: Mapping[str, int], documents: int) -> str:
    """Return which documents are left out, and how many."""
    parts = [f"{DROP_REASONS[why]} ({n:,})" for why, n in dropped.items()]
    return f"drop: [{', '.join(dropped)}] leaves out {', '.join(parts)}; {documents:,} are left"


def protocols_by_way(seen: FileSample, roles: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the protocols that the columns allow: by the file's own split, by date, by group, or at random."""
    ways, stratified = dict[str, dict[str, Any]](), {"stratified": False} if "labels" in roles else {}
    if "split" in roles:
        parts = sorted(_distinct(seen.columns[roles["split"]]))
        train = next((each for each in parts if each.lower().startswith("train")), parts[0])
        test = next((each for each in parts if each.lower().startswith("test")), parts[-1])
        ways |= {"split": {"name": "fixed-split", "train": train, "test": test}} if train != test else {}
    if "date" in roles:
        ways["date"] = {"name": "by-date", "test_share": 0.25}
    if "group" in roles:
        n_groups = len(_distinct(seen.columns[roles["group"]]))
        k = n_groups if 1 < n_groups < N_FOLDS else N_FOLDS
        ways["group"] = {"name": "k-fold", "k": k, "grouped": True, **stratified}
    return ways | {"random": {"name": "k-fold", "k": N_FOLDS, **stratified}}


def ways_to_split(seen: FileSample, roles: Mapping[str, Any], split_by: str | None = None) -> dict[str, str]:
    """Return what each way to split measures, the default first; nothing for a file with its own split.

    Raises
    ------
    ConfigError
        If there is no such way as `split_by`, or its column is missing.
    """
    ways = protocols_by_way(seen, roles)
    if split_by is not None and split_by not in WAYS_TO_SPLIT:
        raise ConfigError(f"--split-by: {unknown_name('way', split_by, list(WAYS_TO_SPLIT))}")
    if split_by is not None and split_by not in ways:
        raise ConfigError(f"--split-by {split_by}: no column is the {split_by}; name it by --{split_by}")
    group = repr(roles.get("group"))
    return {} if "split" in ways else {way: WAYS_TO_SPLIT[way].format(group=group) for way in ways}


def split_sentences(ways: Mapping[str, str], split_by: str | None, group: str | None) -> list[str]:
    """Return what the proposed split measures, and which options measure something else."""
    if len(ways) < 2:
        return []
    taken = split_by or next(iter(ways))
    others = (f"--split-by {way} measures {measured}" for way, measured in ways.items() if way != taken)
    notes = [f"The split is by {taken}: it measures {ways[taken]}; {'; '.join(others)}."]
    if group and taken != "group":
        notes.append(f"Documents of a {group!r} may be on both sides: the run tells the scores without those, too.")
    return notes


# --- The configuration ---


def configuration_path(seen: FileSample, out: Path | None, *, overwrite: bool) -> Path:
    """Return the path of the configuration; ConfigError if the file exists and `overwrite` is false."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", seen.path.resolve().name.partition(".")[0]).strip("-") or "mine"
    target = out or Path(f"{name}.yaml")
    if target.exists() and not overwrite:
        raise ConfigError(f"{target}: exists already; --overwrite replaces it, --out names another file")
    return target


def configuration_text(
    seen: FileSample,
    roles: Mapping[str, Any],
    target: Path,
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
    roles : mapping of str to Any
        Columns by role.
    target : Path
        File of the configuration, which names the experiment, and to which the path of the documents is relative.
    separator : str, optional
        Separator of the classes of a document that may have several.
    drop : sequence of str
        Documents to drop, see `corpora.user.file_parameters.DROP_REASONS`.
    exact_kernel : bool
        Whether an exact kernel is among the methods.
    split_by : str, optional
        A way of `protocols_by_way`; by default the first one.
    """
    ways = protocols_by_way(seen, roles)
    way = split_by or next(iter(ways))
    counted = {"vocabulary_from": ways[way]["train"]} if way == "split" else {}
    flow = partial(yaml.safe_dump, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6)
    environment = template_environment(flow=lambda mapping: str(flow(mapping)).strip())
    path = Path(os.path.relpath(seen.path.resolve(), target.resolve().parent)).as_posix()
    written = environment.get_template("configuration.yaml.j2").render(
        name=target.stem,
        corpus=_corpus_section(seen, roles, path, separator, drop),
        text={"lexer": "unicode", "stoplist": "none", "digits": "token", "min_documents": 2, **counted},
        way=way,
        protocol=ways[way],
        group=repr(roles["group"]) if "group" in roles else "",
        characters=_characters_suit(seen, roles),
        exact_kernel=exact_kernel,
    )
    return written.strip() + "\n"


def _corpus_section(
    seen: FileSample, roles: Mapping[str, Any], path: str, separator: str | None, drop: Sequence[str]
) -> dict[str, Any]:
    """Return the section `corpus`."""
    form = {key: value for key, value in seen.form.items() if key != "date_format" or "date" in roles}
    more = {"separator": separator, "drop": list(drop)}
    return {"name": "files", "path": path, **roles, **form, **{key: value for key, value in more.items() if value}}


def _characters_suit(seen: FileSample, roles: Mapping[str, Any]) -> bool:
    """Return whether classes are many and texts short, by the records that were seen."""
    rows = zip(*(seen.columns.get(name, ()) for name in as_list(roles.get("text", ""))), strict=False)
    texts = ["\n".join(own) for row in rows if (own := [str(value) for value in row if value is not None])]
    classes = _distinct(seen.columns.get(str(roles.get("label", "")), ()))
    return bool(texts) and len(classes) >= MANY_CLASSES and statistics.median(map(len, texts)) <= SHORT_TEXT


def exact_kernel_problem(found: Plan) -> str | None:
    """Return why a run with the exact kernel can't be proposed for this machine; None if it can."""
    if found.memory <= found.free_bytes and found.seconds <= MAX_FIRST_SECONDS * found.jobs:
        return None
    return (
        f"ngd, an exact kernel, is left out: with it, a run would take about {needs_text(found)}. tfidf-hellinger is "
        "its linear route: linear-svm on square roots, without a matrix of all pairs of documents."
    )
