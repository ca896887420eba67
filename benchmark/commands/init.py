"""First configuration for a user's documents: propose columns, protocol and methods, and write them with comments."""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.corpora.user.frames import FRAME_ROLES
from benchmark.corpora.user.labels import class_mark, listed_labels
from benchmark.corpora.user.records import TABLE_DELIMITERS, TextForm, file_extension, iter_records, read_columns
from benchmark.corpora.user.user_files import DROP_REASONS, PROBLEMS, DocumentsError, UserFiles, parse_date
from benchmark.experiment.configuration import experiment_from_mapping
from benchmark.report.environment import template_environment
from benchmark.system.atomic_files import write_atomically
from benchmark.system.checks import as_list
from benchmark.system.errors import ConfigError, DataError, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

#: Limit on inspected records.
MAX_RECORDS = 20_000
#: Fewest characters of a date, and most words of a column's name; a longer first row is taken for a document.
MIN_DATE_LENGTH, MAX_HEADER_WORDS = 8, 8
#: A date that may have the day or the month first.
DAY_OR_MONTH_FIRST = re.compile(r"\s*\d{1,2}([./-])\d{1,2}\1\d{2,4}\b")
#: Roles whose proposed columns are given up for a reason.
_ROLE_OF = {"repeated": "id", "nameless": "id", "split": "split", "group": "group", "date": "date"}
#: Possible separators of classes, and the smallest share of values that must have one.
SEPARATORS, MIN_SEPARATOR_SHARE = ";|,", 0.05
#: Most documents for which an exact kernel is proposed: its time grows with their square.
MAX_KERNEL_DOCUMENTS = 20_000
#: Folds of a proposed cross-validation; of fewer groups, one fold each.
N_FOLDS = 5
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
class Proposal:
    """Beginning of a file, and what a first configuration says of a user's documents.

    Parameters
    ----------
    path : Path
    columns : dict of str to list
        Values of the first records by column; empty for a folder.
    form : dict of str to Any
        Parameters of the corpus that say how the file is written, where they are not the usual ones.
    roles : dict of str to Any
        Columns by role.
    drop : tuple of str
        Documents to drop, see `corpora.user.user_files.DROP_REASONS`.
    notes : tuple of str
        What a person should know of the documents and of what was taken for what.
    n_documents : int
        Number of the documents that are left.
    """

    path: Path
    columns: dict[str, list[Any]]
    form: dict[str, Any]
    roles: dict[str, Any] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    n_documents: int = 0


def propose(
    path: Path,
    named: Mapping[str, str | None],
    *,
    header: bool | None = None,
    separator: str | None = None,
    single_label: bool = False,
    **form: Any,
) -> Proposal:
    """Read a user's documents, and return what a configuration says of them.

    Parameters
    ----------
    path : Path
    named : mapping of str to str or None
        Columns that the user named, by role; `a,b,c` names several for the classes.
    header, separator, single_label
        As the options of ``bench init``.
    form
        Other parameters of the corpus: encoding, date_format, quoting and escape.

    Raises
    ------
    ConfigError
        If the documents can be read in several ways; the message names the options that decide.
    DataError
        If the documents can't be read, or too few are left.
    """
    seen = sample_file(path, header=header is not False, **form)
    chosen: dict[str, Any] = {
        role: name.split(",") if role in ("label", "labels") and name not in seen.columns and "," in name else name
        for role, name in named.items()
        if name is not None
    }
    if header is None and (why := not_a_header_reason(seen, _taken(chosen))):
        looks = f"{path}:1: looks like a document and not like the names of columns ({why})"
        raise ConfigError(f"{looks}: add --header or --no-header")
    roles = propose_columns(seen, chosen)
    check_columns(seen, roles, chosen)
    if not single_label and (mixed := find_separator(seen, roles)):
        label, options = roles["label"], f"--labels {roles['label']} --separator '{mixed[0]}'"
        values = f"{path}: the column {quote_value(label)} has values such as {quote_value(mixed[1])}"
        raise ConfigError(f"{values}: add {options}, or --single-label if each is one class")
    form = seen.form | ({"separator": separator} if separator else {})
    proposal = replace(seen, form=form, roles=roles)
    while True:
        reader = UserFiles(**{key: value for key, value in corpus_section(proposal).items() if key != "name"})
        reader.check()
        try:
            scan = reader.scanned()
            break
        except DocumentsError as error:
            proposal = _without(proposal, error, set(chosen))
    notes = [*proposal.notes]
    if scan.dropped:
        left_out = ", ".join(f"documents {PROBLEMS[why][0]} ({n:,})" for why, n in scan.dropped.items())
        n = len(scan.corpus.documents)
        notes.append(f"drop: [{', '.join(scan.dropped)}] leaves out {left_out}; {n:,} are left")
    dated = [
        name
        for name, values in seen.columns.items()
        if values and all(DAY_OR_MONTH_FIRST.match(str(value)) for value in values)
    ]
    if dated and "date" not in proposal.roles:
        stated = f"if it is, add --date {dated[0]} --date-format '%d.%m.%Y', or as the dates are written"
        notes.append(f"{quote_value(dated[0])} looks like a date with the day or the month first: {stated}")
    if "group" in proposal.roles and proposed_protocol(proposal)[0] != "group":
        both = f"documents of a {quote_value(proposal.roles['group'])} may be on both sides of the split"
        notes.append(f"{both}; protocol: {{name: k-fold, k: 5, grouped: true}} keeps them on one")
    return replace(proposal, notes=(*notes, *scan.notes), n_documents=len(scan.corpus.documents))


def _without(proposal: Proposal, error: DocumentsError, chosen: Collection[str]) -> Proposal:
    """Return the proposal without columns that not all documents fill, or without the documents that can't be used.

    Only proposed columns are given up; raises the error where neither helps.
    """
    withdrawn = {_ROLE_OF.get(why, "") for why in error.reasons} & (proposal.roles.keys() - chosen)
    if withdrawn:
        return replace(proposal, roles={role: each for role, each in proposal.roles.items() if role not in withdrawn})
    needed = [why for why in error.reasons if why in DROP_REASONS and why not in proposal.drop]
    if not needed or not set(error.reasons) <= set(DROP_REASONS):
        raise error
    return replace(proposal, drop=(*proposal.drop, *needed))


def write_configuration(proposal: Proposal, target: Path) -> list[str]:
    """Write the configuration of a proposal if it is valid, and return lines on it."""
    written = configuration_text(proposal, target)
    experiment = experiment_from_mapping(yaml.safe_load(written), str(target))
    write_atomically(target, written.encode())
    taken = ", ".join(f"{role} is {name!r}" for role, name in proposal.roles.items())
    lines = [f"Written to {target}: {taken or 'the names of the folders are the classes'}", *proposal.notes]
    return [*lines, f"The configuration is valid: {len(experiment.ids)} cells. Next: bench run {target}"]


def sample_file(path: Path, **form: Any) -> Proposal:
    """Read the beginning of a file, or accept a folder of class folders; `form` has parameters of the corpus."""
    form = {key: value for key, value in form.items() if value != getattr(TextForm, key, None)}
    how = {key: value for key, value in form.items() if key != "date_format"}
    UserFiles(str(path), **how).check()
    if path.is_dir():
        return Proposal(path, {}, form)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    known = read_columns(path, **how)
    if file_extension(path) in TABLE_DELIMITERS and len(known) == 1:
        delimiter = max(";\t|,", key=known[0].count)
        if delimiter in known[0]:
            how["delimiter"] = delimiter
            known = read_columns(path, **how)
    names = [name for name in known if name]
    first = [values for _, values in islice(iter_records(path, names, **how), MAX_RECORDS)]
    if not first:
        raise DataError(f"{path}: holds no document")
    columns, unnamed = {name: [row[i] for row in first] for i, name in enumerate(names)}, len(known) - len(names)
    notes = (f"{path}: {unnamed} {'column has' if unnamed == 1 else 'columns have'} no name: left out",)
    return Proposal(path, columns, form | how, notes=notes if unnamed else ())


# --- Columns ---


def not_a_header_reason(seen: Proposal, wanted: Collection[str] = ()) -> str | None:
    """Return the reason why the first row of a table looks like a document and not like a header; None if it doesn't.

    A row with all of the `wanted` names is a header. Otherwise, a row is no header if one of its names occurs again in
    the column. Otherwise, a row with a usual name is a header, and one with a long text, a number or a date is none.
    """
    named = bool(wanted) and set(wanted) <= set(seen.columns)
    if named or not seen.form.get("header", True) or file_extension(seen.path) not in TABLE_DELIMITERS:
        return None
    for name, values in seen.columns.items():
        if any(str(value).strip() == name for value in values):
            return f"{quote_value(name)} occurs again in its column"
    if any(name.lower() in (*FRAME_ROLES, *chain(*USUAL_COLUMN_NAMES.values())) for name in seen.columns):
        return None
    for name in seen.columns:
        if len(name.split()) > MAX_HEADER_WORDS:
            return f"{quote_value(name)} is a long text"
        if re.fullmatch(r"[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)?", name.strip()) or _are_dates([name]):
            return f"{quote_value(name)} is a number or a date"
    return None


def propose_columns(seen: Proposal, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns by role: those that the user named, and others proposed by their values and names.

    Raises
    ------
    ConfigError
        If a named column doesn't exist.
    """
    for role, name in ((role, name) for role, names in chosen.items() for name in as_list(names)):
        if seen.columns and name not in seen.columns:
            raise ConfigError(f"--{role}: {unknown_name('column', name, list(seen.columns))}")
    roles = dict(chosen)
    suited: dict[str, Callable[[list[Any]], bool]] = {
        "text": lambda values: all(isinstance(value, str | None) for value in values),
        "split": lambda values: (
            2 <= len(_distinct(values)) <= 4 and {v.lower() for v in _distinct(values)} <= PART_NAMES
        ),
        "date": _are_dates,
        "label": lambda values: not _lists(values) and 2 <= len(_distinct(values)) <= max(2, len(values) // 3),
        "id": lambda values: len(_distinct(values)) == len(values),
        "group": lambda values: 2 <= len(_distinct(values)) < len(values),
    }
    for role, fits in suited.items():
        if role in roles or (role == "label" and "labels" in roles):
            continue
        free = [name for name in seen.columns if name not in _taken(roles)]
        left = [name for name in free if fits(seen.columns[name])]
        usual = [name for known in USUAL_COLUMN_NAMES.get(role, ()) for name in left if name.lower() == known]
        lists = [name for name in free if role == "label" and _lists(seen.columns[name])]
        lists = [name for name in lists if name.lower() in USUAL_COLUMN_NAMES["labels"] or not left]
        if role == "text" and left:
            roles[role] = max(left, key=lambda name: sum(len(str(value or "")) for value in seen.columns[name]))
        elif lists and not usual:
            roles["labels"] = lists[0]
        elif usual or (left and role in ("label", "split", "date")):
            roles[role] = usual[0] if usual else min(left, key=lambda name: len(_distinct(seen.columns[name])))
    return roles


def check_columns(seen: Proposal, roles: Mapping[str, Any], chosen: Collection[str]) -> None:
    """Raise ConfigError if no column is the text or the class, or several may be classes."""
    if not seen.columns:
        return
    if "text" not in roles:
        raise ConfigError(f"{seen.path}: no column looks like a text; name it by --text")
    if not {"label", "labels"} & set(chosen) and "labels" not in roles:
        _check_marks(seen, roles)
    if "label" in roles or "labels" in roles:
        return
    names = quote_value(", ".join(seen.columns))
    raise ConfigError(f"{seen.path}: no column looks like a class (columns: {names}); name it by --label")


def _check_marks(seen: Proposal, roles: Mapping[str, Any]) -> None:
    """Raise ConfigError if several columns hold only 0 and 1, and no column has a usual name of the class."""
    label = roles.get("label", "")
    others = _taken({role: name for role, name in roles.items() if role != "label"})
    marks = {name: [*map(class_mark, values)] for name, values in seen.columns.items() if name not in others}
    marks = {name: values for name, values in marks.items() if {*values} == {True, False}}
    if len(marks) < 2 or label.lower() in USUAL_COLUMN_NAMES["label"] or (label and label not in marks):
        return
    role = "label" if all(row.count(True) == 1 for row in zip(*marks.values(), strict=True)) else "labels"
    problem = f"{seen.path}: the columns {quote_value(', '.join(marks))} hold only 0 and 1"
    options = f"--{role} {quote_value(','.join(marks))} if each is a class, or --label {next(iter(marks))}"
    raise ConfigError(f"{problem}: add {options} if that column alone has it")


def find_separator(seen: Proposal, roles: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return a separator that a share of the values of the class column contain, and the first of these values."""
    column = seen.columns.get(str(roles.get("label", "")), ())
    labels = [label.strip() for label in column if isinstance(label, str) and listed_labels(label) is None]
    holding = {mark: [label for label in labels if mark in label.strip(mark)] for mark in SEPARATORS}
    mark = max(SEPARATORS, key=lambda each: len(holding[each]))
    return (mark, holding[mark][0]) if len(holding[mark]) > MIN_SEPARATOR_SHARE * len(labels) else None


def _taken(roles: Mapping[str, Any]) -> set[str]:
    """Return all columns that have a role."""
    return {name for names in roles.values() for name in as_list(names)}


def _lists(values: Sequence[Any]) -> bool:
    """Return whether the values of a column are lists, or lists that are written as text."""
    full = [value for value in values if value not in (None, "")]
    return bool(full) and all(
        isinstance(v, list) or (isinstance(v, str) and listed_labels(v) is not None) for v in full
    )


def _distinct(values: Sequence[Any]) -> set[str]:
    """Return the distinct values of a column as text, without lists and missing values."""
    return {str(value).strip() for value in values if value is not None and not isinstance(value, list | dict)}


def _are_dates(values: Sequence[Any]) -> bool:
    """Return whether all values of a column are dates of one meaning."""
    with suppress(ValueError):
        return all(len(str(value)) >= MIN_DATE_LENGTH and parse_date(value) for value in values)
    return False


# --- Splits ---


def proposed_protocol(proposal: Proposal) -> tuple[str, dict[str, Any]]:
    """Return the way of splitting that the columns allow, and its protocol: of the file, by date, group, or chance."""
    roles, columns = proposal.roles, proposal.columns
    stratified = {"stratified": False} if "labels" in roles else {}
    if "split" in roles:
        parts = sorted(_distinct(columns[roles["split"]]))
        train = next((each for each in parts if each.lower().startswith("train")), parts[0])
        test = next((each for each in parts if each.lower().startswith("test")), parts[-1])
        if train != test:
            return "split", {"name": "fixed-split", "train": train, "test": test}
    if "date" in roles:
        return "date", {"name": "by-date", "test_share": 0.25}
    if "group" in roles:
        largest = Counter(map(str, columns[roles["label"]])).most_common(1)[0][1] if "label" in roles else N_FOLDS
        k = min(N_FOLDS, max(2, min(largest, len(_distinct(columns[roles["group"]])))))
        return "group", {"name": "k-fold", "k": k, "grouped": True, **stratified}
    return "random", {"name": "k-fold", "k": N_FOLDS, **stratified}


# --- The configuration ---


def configuration_path(path: Path, out: Path | None, *, overwrite: bool) -> Path:
    """Return the path of the configuration of a file; ConfigError if it exists and `overwrite` is false."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", path.resolve().name.partition(".")[0]).strip("-") or "mine"
    target = out or Path(f"{name}.yaml")
    if target.exists() and not overwrite:
        raise ConfigError(f"{target}: exists already; --overwrite replaces it, --out names another file")
    return target


def configuration_text(proposal: Proposal, target: Path) -> str:
    """Return the configuration as YAML.

    Parameters
    ----------
    proposal : Proposal
    target : Path
        File of the configuration, which names the experiment, and to which the path of the documents is relative.
    """
    roles, (way, protocol) = proposal.roles, proposed_protocol(proposal)
    counted = {"vocabulary_from": protocol["train"]} if way == "split" else {}
    flow = partial(yaml.safe_dump, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6)
    environment = template_environment(flow=lambda mapping: str(flow(mapping)).strip())
    path = Path(os.path.relpath(proposal.path.resolve(), target.resolve().parent)).as_posix()
    written = environment.get_template("configuration.yaml.j2").render(
        name=target.stem,
        corpus=corpus_section(proposal) | {"path": path},
        text={"lexer": "unicode", "stoplist": "none", "digits": "token", "min_documents": 2, **counted},
        way=way,
        protocol=protocol,
        group=repr(roles["group"]) if "group" in roles else "",
        exact_kernel=proposal.n_documents <= MAX_KERNEL_DOCUMENTS,
    )
    return written.strip() + "\n"


def corpus_section(proposal: Proposal) -> dict[str, Any]:
    """Return the section `corpus`, with the path of the documents as it is."""
    form = {key: value for key, value in proposal.form.items() if key != "date_format" or "date" in proposal.roles}
    drop = {"drop": list(proposal.drop)} if proposal.drop else {}
    return {"name": "files", "path": str(proposal.path.resolve()), **proposal.roles, **form, **drop}
