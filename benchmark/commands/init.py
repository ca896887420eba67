"""First configuration for a user's documents: propose columns, protocol and methods, and write them with comments."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.corpora.user.labels import class_mark, listed_labels
from benchmark.corpora.user.records import TABLE_DELIMITERS, TextForm, file_extension, iter_records, read_columns
from benchmark.corpora.user.user_files import DROP_REASONS, PROBLEMS, UserFiles, parse_date
from benchmark.experiment.configuration import experiment_from_mapping
from benchmark.report.environment import template_environment
from benchmark.system.atomic_files import write_atomically
from benchmark.system.checks import as_list
from benchmark.system.errors import ConfigError, DataError, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

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
    """Records of a file, and what a first configuration says of a user's documents.

    Parameters
    ----------
    path : Path
    columns : dict of str to list
        Values by column; empty for a folder.
    form : dict of str to Any
        Parameters of the corpus that are no columns: how the file is written, and which documents to drop.
    roles : dict of str to Any
        Columns by role.
    notes : tuple of str
        What a person should know of the documents and of what was taken for what.
    n_documents : int
        Number of the documents that are left.
    """

    path: Path
    columns: dict[str, list[Any]]
    form: dict[str, Any]
    roles: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    n_documents: int = 0


def propose(
    path: Path,
    named: Mapping[str, str | None],
    *,
    header: bool | None = None,
    single_label: bool = False,
    separator: str | None = None,
    date_format: str | None = None,
    **form: Any,
) -> Proposal:
    """Read a user's documents, and return what a configuration says of them.

    Parameters
    ----------
    path : Path
    named : mapping of str to str or None
        Columns that the user named, by role; `a,b,c` names several for the classes.
    header, single_label, separator, date_format
        As the options of ``bench init``.
    form
        Other parameters of the corpus: encoding, quoting and escape.

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
    if header is None and (name := repeated_name(seen, _taken(chosen))):
        why = f"{quote_value(name)} occurs again in its column"
        raise ConfigError(f"{path}:1: looks like a document, since {why}: add --header or --no-header")
    roles = propose_columns(seen, chosen)
    check_columns(seen, roles, chosen)
    if not single_label and (mixed := find_separator(seen, roles)):
        label, options = roles["label"], f"--labels {roles['label']} --separator '{mixed[0]}'"
        values = f"{path}: the column {quote_value(label)} has values such as {quote_value(mixed[1])}"
        raise ConfigError(f"{values}: add {options}, or --single-label if each is one class")
    stated = {"separator": separator, "date_format": date_format}
    form = seen.form | {key: value for key, value in stated.items() if value}
    reader = UserFiles(str(path.resolve()), **roles, **form, drop=DROP_REASONS)
    reader.check()
    scan = reader.scanned()
    notes, n_documents = seen.notes, len(scan.corpus.documents)
    if scan.dropped:
        form["drop"] = [*scan.dropped]
        left_out = ", ".join(f"documents {PROBLEMS[why][0]} ({n:,})" for why, n in scan.dropped.items())
        notes += (f"drop: [{', '.join(scan.dropped)}] leaves out {left_out}; {n_documents:,} are left",)
    return replace(seen, form=form, roles=roles, notes=(*notes, *scan.notes), n_documents=n_documents)


def write_configuration(proposal: Proposal, target: Path) -> list[str]:
    """Write the configuration of a proposal if it is valid, and return lines on it."""
    written = configuration_text(proposal, target)
    experiment = experiment_from_mapping(yaml.safe_load(written), str(target))
    write_atomically(target, written.encode())
    taken = ", ".join(f"{role} is {name!r}" for role, name in proposal.roles.items())
    lines = [f"Written to {target}: {taken or 'the names of the folders are the classes'}", *proposal.notes]
    return [*lines, f"The configuration is valid: {len(experiment.ids)} cells. Next: bench run {target}"]


def sample_file(path: Path, **form: Any) -> Proposal:
    """Read a file of records, or accept a folder of class folders; `form` has parameters of the corpus."""
    form = {key: value for key, value in form.items() if value != getattr(TextForm, key)}
    UserFiles(str(path), **form).check()
    if path.is_dir():
        return Proposal(path, {}, form)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    known = read_columns(path, **form)
    if file_extension(path) in TABLE_DELIMITERS and len(known) == 1:
        delimiter = max(";\t|,", key=known[0].count)
        if delimiter in known[0]:
            form["delimiter"] = delimiter
            known = read_columns(path, **form)
    names = [name for name in known if name]
    rows = [values for _, values in iter_records(path, names, **form)]
    if not rows:
        raise DataError(f"{path}: holds no document")
    columns, unnamed = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), len(known) - len(names)
    notes = (f"{path}: {unnamed} {'column has' if unnamed == 1 else 'columns have'} no name: left out",)
    return Proposal(path, columns, form, notes=notes if unnamed else ())


# --- Columns ---


def repeated_name(seen: Proposal, named: set[str]) -> str | None:
    """Return a name of a table's column that is also a value of it: the first row may be a document and no header.

    A row with all columns that the user named is a header.
    """
    if file_extension(seen.path) not in TABLE_DELIMITERS or (named and named <= seen.columns.keys()):
        return None
    return next((name for name, values in seen.columns.items() if name in map(str.strip, map(str, values))), None)


def propose_columns(seen: Proposal, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns by role: those that the user named, and others proposed by their values and names."""
    for role, name in ((role, name) for role, names in chosen.items() for name in as_list(names)):
        if seen.columns and name not in seen.columns:
            raise ConfigError(f"--{role}: {unknown_name('column', name, list(seen.columns))}")
    roles = dict(chosen)
    for role, fits in _SUITED.items():
        if role in roles or (role == "label" and "labels" in roles):
            continue
        free = {name: values for name, values in seen.columns.items() if name not in _taken(roles)}
        left = [name for name, values in free.items() if fits(values)]
        usual = [name for known in USUAL_COLUMN_NAMES.get(role, ()) for name in left if name.lower() == known]
        lists = [name for name, values in free.items() if role == "label" and _are_lists(values)]
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
    if not {"label", "labels"} & set(chosen) and "labels" not in roles:
        _check_marks(seen, roles)
    missing = "text" if "text" not in roles else "label" if not {"label", "labels"} & roles.keys() else ""
    if missing:
        names = quote_value(", ".join(seen.columns))
        raise ConfigError(f"{seen.path}: no column looks like a {missing} (columns: {names}); name it by --{missing}")


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


def _are_lists(values: Sequence[Any]) -> bool:
    """Return whether the values of a column are lists, or lists that are written as text."""
    full = [value for value in values if value not in (None, "")]
    return bool(full) and all(
        isinstance(v, list) or (isinstance(v, str) and listed_labels(v) is not None) for v in full
    )


def _distinct(values: Sequence[Any]) -> set[str]:
    """Return the distinct values of a column as text, without lists and missing values."""
    return {str(value).strip() for value in values if value not in (None, "") and not isinstance(value, list | dict)}


def _are_dates(values: Sequence[Any]) -> bool:
    """Return whether all values of a column are dates."""
    with suppress(ValueError):
        return all(len(str(value)) >= len("20240531") and parse_date(value) for value in values)
    return False


def _are_full(values: Sequence[Any]) -> bool:
    return not any(value in (None, "") for value in values)


#: Whether values suit a role, in the order in which columns get them.
_SUITED: dict[str, Callable[[list[Any]], bool]] = {
    "text": lambda values: all(isinstance(value, str | None) for value in values),
    "split": lambda values: (
        _are_full(values) and 2 <= len(found := {v.lower() for v in _distinct(values)}) <= 4 and found <= PART_NAMES
    ),
    "date": _are_dates,
    "label": lambda values: not _are_lists(values) and 2 <= len(_distinct(values)) <= max(2, len(values) // 3),
    "id": lambda values: len(_distinct(values)) == len(values),
    "group": lambda values: _are_full(values) and 2 <= len(_distinct(values)) < len(values),
}


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
        k = min(N_FOLDS, len(_distinct(columns[roles["group"]])))
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
        corpus={"name": "files", "path": path, **roles, **proposal.form},
        text={"lexer": "unicode", "stoplist": "none", "digits": "token", "min_documents": 2, **counted},
        way=way,
        protocol=protocol,
        group=repr(roles["group"]) if "group" in roles else "",
        exact_kernel=proposal.n_documents <= MAX_KERNEL_DOCUMENTS,
    )
    return written.strip() + "\n"
