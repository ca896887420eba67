"""A first configuration: what is proposed fits the file, what is written runs, and nothing is overwritten."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.cli.prompts import confirm_columns
from benchmark.commands import plan as planning
from benchmark.commands.init import (
    FileSample,
    check_columns,
    configuration_path,
    configuration_text,
    drop_sentence,
    exact_kernel_problem,
    find_separator,
    not_a_header_reason,
    notes_on_columns,
    propose_columns,
    sample_file,
    write_configuration,
)
from benchmark.commands.plan import Plan, plan_run
from benchmark.corpora.user.file_parameters import DROP_REASONS
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.store import Store
from benchmark.system.errors import ConfigError, DataError
from tests.trials.limits import mostly_slow

if TYPE_CHECKING:
    from click.testing import Result

REPOSITORY = Path(__file__).parents[2]
ROWS = [
    {
        "ticket": f"T{n}",
        "subject": f"about {n}",
        "body": f"{queue} {queue} and much more of the {n}th text",
        "queue": queue,
        "tags": f"{queue};urgent",
        "customer": f"C{n % 7}",
        "created": f"2024-{1 + n % 12:02}-{1 + n % 28:02}",
        "side": "train" if n % 4 else "test",
    }
    for n, queue in enumerate(["billing", "login", "shipping"] * 20)
]


def table(path: Path, columns: list[str] | None = None, delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns or list(ROWS[0]), delimiter=delimiter, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(ROWS)
    return path


def written(path: Path, given: dict[str, str] | None = None, **how: Any) -> tuple[dict[str, Any], Path]:
    seen = sample_file(path)
    roles = propose_columns(seen, given or {})
    target = path.with_name("first.yaml")
    write_configuration(seen, roles, target, **{"overwrite": False, "separator": None, "drop": [], **how})
    return yaml.safe_load(target.read_text(encoding="utf-8")), target


def test_columns_are_proposed_by_their_values_and_names(tmp_path: Path) -> None:
    roles = propose_columns(sample_file(table(tmp_path / "a.csv")), {})
    assert roles == {
        "text": "body", "label": "queue", "id": "ticket", "split": "side", "group": "customer", "date": "created"
    }  # fmt: skip


@pytest.mark.parametrize("order", [("what", "shelf"), ("shelf", "what")])
def test_of_columns_without_a_usual_name_the_class_is_the_one_of_the_fewest_values(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    values = {"what": ["rum", "tea", "salt"], "shelf": [f"shelf {n}" for n in range(12)]}
    rows = [
        {"body": f"cask {n} of it", **{name: values[name][n % len(values[name])] for name in order}} for n in range(60)
    ]
    path = tmp_path / "stock.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert propose_columns(sample_file(path), {})["label"] == "what"


def test_what_is_given_is_taken(tmp_path: Path) -> None:
    roles = propose_columns(sample_file(table(tmp_path / "a.csv")), {"text": "subject", "labels": "tags"})
    assert (roles["text"], roles["labels"]) == ("subject", "tags")
    assert "label" not in roles
    with pytest.raises(ConfigError, match="did you mean 'queue'"):
        propose_columns(sample_file(tmp_path / "a.csv"), {"label": "queu"})


PROTOCOLS = [
    (["body", "queue", "side"], {"name": "fixed-split", "train": "train", "test": "test"}),
    (["body", "queue", "created"], {"name": "by-date", "test_share": 0.25}),
    (["body", "queue", "customer"], {"name": "k-fold", "k": 5, "grouped": True}),
    (["body", "queue"], {"name": "k-fold", "k": 5}),
]


@pytest.mark.parametrize(("columns", "protocol"), PROTOCOLS)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_the_protocol_goes_by_what_there_is_and_the_configuration_is_good(
    tmp_path: Path, columns: list[str], protocol: dict[str, Any], delimiter: str
) -> None:
    config, target = written(table(tmp_path / "a.csv", columns, delimiter))
    assert config["protocol"] == protocol
    assert len(load_checked(target).ids) == 6


@pytest.mark.parametrize(
    ("split_by", "protocol"),
    [
        ((), {"name": "by-date", "test_share": 0.25}),
        (("--split-by", "date"), {"name": "by-date", "test_share": 0.25}),
        (("--split-by", "group"), {"name": "k-fold", "k": 5, "grouped": True}),
        (("--split-by", "random"), {"name": "k-fold", "k": 5}),
    ],
)
def test_the_other_ways_to_split_are_told_and_the_group_stays_a_column(
    tmp_path: Path, split_by: tuple[str, ...], protocol: dict[str, Any]
) -> None:
    path, target = table(tmp_path / "a.csv", ["body", "queue", "customer", "created"]), tmp_path / "a.yaml"
    done = CliRunner().invoke(app, ["init", str(path), "--out", str(target), "--no-pilot", *split_by])
    assert done.exit_code == 0, done.output
    config = yaml.safe_load(target.read_text(encoding="utf-8"))
    assert (config["protocol"], config["corpus"]["group"]) == (protocol, "customer")
    taken, *others = sorted(("date", "group", "random"), key=lambda way: way != (split_by or ("", "date"))[1])
    (line,) = (line for line in done.output.splitlines() if line.startswith("The split is by"))
    assert line.startswith(f"The split is by {taken}: it measures")
    assert all(f"--split-by {way} measures" in line for way in others)
    both = "Documents of a 'customer' may be on both sides: the run tells the scores without those, too."
    assert (both in done.output) == (taken != "group")
    assert ("documents of a 'customer' may be on both sides" in target.read_text(encoding="utf-8")) == (
        taken != "group"
    )
    load_checked(target)


@pytest.mark.parametrize(
    ("columns", "way", "why"),
    [
        (["body", "queue", "created"], "group", "no column is the group; name it by --group"),
        (["body", "queue", "created"], "dat", "did you mean 'date'"),
    ],
)
def test_a_way_to_split_that_there_is_not_is_refused(tmp_path: Path, columns: list[str], way: str, why: str) -> None:
    done = CliRunner().invoke(app, ["init", str(table(tmp_path / "a.csv", columns)), "--split-by", way])
    assert done.exit_code == 2
    assert why in done.output


def test_a_file_with_its_own_split_has_no_other_way_but_by_an_option(tmp_path: Path) -> None:
    path, target = table(tmp_path / "a.csv", ["body", "queue", "customer", "side"]), tmp_path / "a.yaml"
    done = CliRunner().invoke(app, ["init", str(path), "--out", str(target), "--no-pilot"])
    assert "--split-by" not in done.output
    done = CliRunner().invoke(
        app, ["init", str(path), "--out", str(target), "--no-pilot", "--overwrite", "--split-by", "group"]
    )
    assert done.exit_code == 0, done.output
    assert yaml.safe_load(target.read_text(encoding="utf-8"))["protocol"]["grouped"] is True


@pytest.mark.parametrize(("n_groups", "k"), [(2, 2), (4, 4), (5, 5), (7, 5)])
def test_each_fold_has_a_group_where_groups_are_few(tmp_path: Path, n_groups: int, k: int) -> None:
    frame = pd.DataFrame([
        {"text": f"w{n % 7} v{n % 5} {n}", "label": "ab"[n // 8 % 2], "group": f"g{n % n_groups}"} for n in range(56)
    ])  # fmt: skip
    frame.to_csv(tmp_path / "few.csv", index=False)
    config, target = written(tmp_path / "few.csv")
    assert config["protocol"] == {"name": "k-fold", "k": k, "grouped": True}
    plan_run(load_checked(target), RunContext(Store(tmp_path / "store")), with_pilot=False)


@pytest.mark.parametrize(("classes", "length", "proposed"), [(24, 40, True), (24, 200, False), (8, 40, False)])
def test_characters_are_proposed_where_classes_are_many_and_texts_short(
    tmp_path: Path, classes: int, length: int, proposed: bool
) -> None:
    rows = [
        {"body": f"{n % classes} " + "word " * (length // 5) + str(n), "queue": f"q{n % classes}"} for n in range(96)
    ]
    path = tmp_path / "short.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    config, target = written(path)
    named = [method["name"] for method in config["methods"] if isinstance(method, dict) and "name" in method]
    assert ("characters" in named, "words-and-characters" in named) == (proposed, proposed)
    assert (["words-and-characters", "tfidf-hellinger"] in config["compare"]) == proposed
    assert len(load_checked(target).ids) == 6 + 2 * proposed


def test_several_classes_and_folders(tmp_path: Path) -> None:
    config, target = written(table(tmp_path / "a.csv"), {"labels": "tags"}, separator=";")
    assert config["corpus"]["separator"] == ";"
    assert load_checked(target).variants["base"].collection.reader.multilabel
    for row in ROWS:
        (tmp_path / "essays" / row["queue"]).mkdir(parents=True, exist_ok=True)
        (tmp_path / "essays" / row["queue"] / row["ticket"]).write_text(row["body"])
    target = write_configuration(
        sample_file(tmp_path / "essays"), {}, tmp_path / "e.yaml", overwrite=False, separator=None, drop=[]
    )
    assert load_checked(target).variants["base"].collection.classes == ("billing", "login", "shipping")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    _, target = written(table(tmp_path / "a.csv"))
    before = target.read_bytes()
    with pytest.raises(ConfigError, match="exists already"):
        written(tmp_path / "a.csv", {"text": "subject"})
    assert target.read_bytes() == before
    written(tmp_path / "a.csv", {"text": "subject"}, overwrite=True)
    assert target.read_bytes() != before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.csv", "no such file or folder"),
        ("empty.csv", "holds no document"),
        ("a.zip", "unknown kind of file '.zip'"),
        ("plain", "unknown kind of file 'plain'"),
    ],
)
def test_what_can_not_be_looked_at_is_said(tmp_path: Path, name: str, said: str) -> None:
    for each in ("empty.csv", "a.zip", "plain"):
        (tmp_path / each).write_bytes(b"" if each == "empty.csv" else b"PK\x03\x04\xd9")
    with pytest.raises(DataError, match=said):
        sample_file(tmp_path / name)


def test_an_encoding_that_there_is_none_of_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown encoding 'utf8x'"):
        sample_file(table(tmp_path / "a.csv"), encoding="utf8x")


def test_nobody_is_asked_where_standard_input_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert confirm_columns(sample_file(table(tmp_path / "a.csv")).columns, {"text": "body"}, set()) == {"text": "body"}


def invoke_init(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["init", *arguments, "--no-pilot"])


def test_the_command_writes_it_says_what_it_took_and_checks_it(tmp_path: Path) -> None:
    path, target = table(tmp_path / "a.csv"), tmp_path / "own.yaml"
    done = CliRunner().invoke(app, ["init", str(path), "--text", "body", "--label", "queue", "--out", str(target)])
    assert done.exit_code == 0
    assert "text is 'body'" in done.stdout
    assert "6 cells" in done.stdout
    assert yaml.safe_load(target.read_text())["name"] == "own"


@pytest.mark.parametrize(
    ("cpu", "peak", "said"),
    [
        (9400.0, 8.9e10, "2.6 h of processor time and 89 GB, of which 20 GB are free"),
        (60.0, 3e10, "60 s of processor time and 30 GB, of which 20 GB are free"),
        (9400.0, 2e9, "2.6 h of processor time and 2.0 GB"),
        (7100.0, 2e9, None),
    ],
)
def test_an_exact_kernel_is_proposed_only_where_it_can_run(cpu: float, peak: float, said: str | None) -> None:
    problem = exact_kernel_problem(Plan([], [("ngd", 1, cpu)], peak, free_bytes=2e10, jobs=2))
    if said is None:
        assert problem is None
        return
    assert problem is not None
    assert problem.startswith(f"ngd, an exact kernel, is left out: with it, a run would take about {said}. ")
    assert "tfidf-hellinger is its linear route: linear-svm on square roots" in problem


def test_where_memory_is_short_the_linear_route_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a machine that has less memory than the run takes, the proposal has no kernel, and isn't called for to run."""
    monkeypatch.setattr(planning, "free_memory", lambda: -1e12)
    path, target = table(tmp_path / "a.csv"), tmp_path / "own.yaml"
    done = CliRunner().invoke(app, ["init", str(path), "--text", "body", "--label", "queue", "--out", str(target)])
    assert done.exit_code == 0
    assert "ngd, an exact kernel, is left out" in done.stdout
    assert "Next: bench run" not in done.stdout
    methods = yaml.safe_load(target.read_text())["methods"]
    assert "ngd" not in methods
    assert "tfidf-hellinger" in [each.get("name") for each in methods if isinstance(each, dict)]
    load_checked(target)


DOCUMENTS = [(f"some words {n % 7} of {n}", "ab"[n % 2]) for n in range(60)]


def rows_to(path: Path, *header: str, rows: Any = DOCUMENTS) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([*([header] if header else []), *rows])
    return path


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ((), "'a' occurs again in its column"),
        (("text", "a"), "'a' occurs again in its column"),
        (("one two three four five six seven eight nine", "queue name"), "is a long text"),
        (("remark", "2024-05-31"), "'2024-05-31' is a number or a date"),
        (("remark", "1.5"), "'1.5' is a number or a date"),
        (("Bemerkung", "Kategorie"), None),
        (("2023", "Label"), None),
        (("text", ""), None),
    ],
)
def test_a_first_row_that_looks_like_a_document_is_noticed(
    tmp_path: Path, header: tuple[str, ...], said: str | None
) -> None:
    found = not_a_header_reason(sample_file(rows_to(tmp_path / "t.csv", *header)))
    assert found is None if said is None else said in (found or "")


def test_a_first_row_that_looks_like_a_document_is_refused_without_a_terminal(tmp_path: Path) -> None:
    path, target = rows_to(tmp_path / "t.csv"), tmp_path / "own.yaml"
    done = invoke_init(str(path), "--out", str(target))
    assert (done.exit_code, target.exists()) == (2, False)
    assert re.search(r"t\.csv:1: looks like a document .*'a' occurs again.*: add --header or --no-header", done.output)
    named = ["--text", DOCUMENTS[0][0], "--label", "a"]
    for how in (["--header"], named):
        assert invoke_init(str(path), "--out", str(target), "--overwrite", *how).exit_code == 0


def test_a_table_without_a_header_is_run_by_the_numbers_of_its_columns(tmp_path: Path) -> None:
    path, target = rows_to(tmp_path / "t.csv"), tmp_path / "own.yaml"
    done = invoke_init(str(path), "--no-header", "--out", str(target))
    assert done.exit_code == 0
    corpus = yaml.safe_load(target.read_text())["corpus"]
    assert (corpus["text"], corpus["label"], corpus["header"]) == ("1", "2", False)
    assert len(load_checked(target).variants["base"].collection.reader.outline()) == len(DOCUMENTS)


@pytest.mark.parametrize("mark", mostly_slow(";|,", 1))
def test_classes_that_hold_a_separator_are_asked_about(tmp_path: Path, mark: str) -> None:
    rows = [(text, label if n % 10 else f"a{mark}b") for n, (text, label) in enumerate(DOCUMENTS)]
    path, target = rows_to(tmp_path / "t.csv", "text", "queue", rows=rows), tmp_path / "own.yaml"
    how = [str(path), "--out", str(target)]
    done = invoke_init(*how)
    assert (done.exit_code, target.exists()) == (2, False)
    assert f"t.csv: the column 'queue' has values such as 'a{mark}b'" in done.output
    assert f"--labels queue --separator '{mark}', or --single-label" in done.output
    assert invoke_init(*how, "--single-label").exit_code == 0
    assert yaml.safe_load(target.read_text())["corpus"]["label"] == "queue"
    multilabel = ["--labels", "queue", "--separator", mark, "--overwrite"]
    assert invoke_init(*how, *multilabel).exit_code == 0
    assert load_checked(target).variants["base"].collection.classes == ("a", "b")


def test_a_few_classes_that_hold_a_separator_are_classes(tmp_path: Path) -> None:
    rows = [(text, label if n > 1 else "a;b") for n, (text, label) in enumerate(DOCUMENTS)]
    path = rows_to(tmp_path / "t.csv", "text", "label", rows=rows)
    assert invoke_init(str(path), "--out", str(tmp_path / "own.yaml")).exit_code == 0


@pytest.mark.parametrize("answer", [True, False])
def test_at_a_terminal_the_person_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bool) -> None:
    asked = list[str]()
    monkeypatch.setattr("benchmark.cli.prompts.ask_yes_no", lambda *said: asked.append(said[0]) or answer)
    rows = [(text, f"{label};c") for text, label in DOCUMENTS]
    target = tmp_path / "own.yaml"
    done = invoke_init(str(rows_to(tmp_path / "t.csv", rows=rows)), "--out", str(target))
    assert done.exit_code == 0
    corpus = yaml.safe_load(target.read_text())["corpus"]
    assert len(asked) == 2
    assert ("header" in corpus, "labels" in corpus, corpus.get("separator")) == (
        not answer,
        answer,
        ";" if answer else None,
    )


def sample(suffix: str = "csv", **columns: Any) -> FileSample:
    return FileSample(Path(f"mine.{suffix}"), columns, None, "utf-8")


WORDS = [f"a longer text of document {n} with words of its own" for n in range(12)]


@pytest.mark.parametrize(
    ("columns", "proposed"),
    [
        ({"x": ["a", "b", "c", "d"] * 3}, {"label": "x"}),  # a third as many values as rows
        ({"x": ["a", "b", "c", "d", "e", *"aaaaaaa"]}, {}),
        ({"x": ["a"] * 12}, {}),
        ({"x": ["a", "b"] * 6, "labels": ["a", "b", "c"] * 4}, {"label": "x"}),
        ({"x": ["a", "b"] * 6, "category": ["a", "b", "c"] * 4, "class": ["c", "b", "a", "d"] * 3}, {"label": "class"}),
        ({"x": ["train", "test"] * 6}, {"split": "x"}),
        ({"x": ["Train", "test", "dev", "val"] * 3}, {"split": "x"}),
        ({"x": ["train", "test", "dev", "val", "valid", "test"] * 2}, {}),  # five parts are none of the usual
        ({"x": ["train"] * 12}, {}),
        ({"x": ["train", "tests"] * 6}, {"label": "x"}),
        ({"key": [*"abcdefghijkl"]}, {"id": "key"}),
        ({"x": [f"{n}" for n in range(12)]}, {"id": "x"}),
        ({"x": [n + 0.5 for n in range(12)]}, {}),
        ({"x": [f"a b{n}" for n in range(12)]}, {}),
        ({"x": [f"{'y' * 62}{n:02}" for n in range(12)]}, {"id": "x"}),
        ({"x": [f"{'y' * 63}{n:02}" for n in range(12)]}, {}),
        ({"user": [*"abcdefghijjj"]}, {"group": "user"}),
        ({"user": ["a"] * 12}, {}),
        ({"x": [f"2024-01-{n + 10}" for n in range(12)]}, {"date": "x"}),
    ],
)
def test_a_role_is_proposed_by_how_many_values_there_are(columns: dict[str, Any], proposed: dict[str, str]) -> None:
    found = propose_columns(sample(body=WORDS, **columns), {"text": "body"})
    assert found == {"text": "body"} | proposed


def test_the_longest_column_is_the_text_and_a_wrong_name_is_refused() -> None:
    seen = sample(short=[f"s{n}" for n in range(12)], body=WORDS, numbers=[10.0**n for n in range(12)])
    assert propose_columns(seen, {})["text"] == "body"
    with pytest.raises(ConfigError, match=r"^--label: unknown column 'bodi'; did you mean 'body'"):
        propose_columns(seen, {"label": "bodi"})
    assert propose_columns(sample(body=WORDS, x=["a", "b"] * 6), {"labels": "x"}) == {"labels": "x", "text": "body"}


@pytest.mark.parametrize(("holding", "found"), [(5, False), (6, True)])
def test_a_separator_is_in_more_than_a_twentieth_of_the_classes(holding: int, *, found: bool) -> None:
    values = ["a;b"] * (holding - 1) + [" c;d "] + [";a", "b|", " a "] + ["a"] * (97 - holding)
    assert len(values) == 100
    seen = sample(label=[*values, None])
    assert find_separator(seen, {"label": "label"}) == ((";", "a;b") if found else None)
    (note,) = notes_on_columns(seen, {"label": "label"})
    assert note.startswith(f"{holding} of 101 values of 'label' hold ';', such as 'a;b': each is taken as one class")
    assert not notes_on_columns(sample(label=[";a", "b|", "c"]), {"label": "label"})


@pytest.mark.parametrize(
    ("classes", "length", "proposed"), [(20, 150, True), (19, 150, False), (20, 151, False), (21, 149, True)]
)
def test_twenty_classes_are_many_and_150_characters_short(classes: int, length: int, *, proposed: bool) -> None:
    seen = sample(text=["x" * length] * 42, label=[f"c{n % classes}" for n in range(42)])
    text = configuration_text(seen, {"text": "text", "label": "label"}, "mine", "mine.csv")
    assert ("words-and-characters" in text) is proposed


@pytest.mark.parametrize(
    ("name", "suffix", "reason"),
    [
        ("one two three four five six seven eight", "csv", None),
        (
            "one two three four five six seven eight nine",
            "csv",
            "'one two three four five six seven eight nine' is a lo",
        ),
        ("one two three four five six seven eight nine", "jsonl", None),
        ("12.5", "csv", "'12.5' is a number or a date"),
        ("2024-01-02", "csv", "'2024-01-02' is a number or a date"),
        ("a", "csv", "'a' occurs again in its column"),
    ],
)
def test_a_header_has_short_names_and_none_that_occurs_again(name: str, suffix: str, reason: str | None) -> None:
    seen = sample(suffix, **{name: [" a ", "b"], "other": ["c", "d"]})
    found = not_a_header_reason(seen)
    assert found is None if reason is None else (found or "").startswith(reason)
    assert not_a_header_reason(seen, [name, "other"]) is None
    assert (not_a_header_reason(seen, [name, "missing"]) is None) is (reason is None)
    assert not_a_header_reason(replace(seen, header=False)) is None
    usual = sample(suffix, **{name: ["b", "b"], "Label": ["c", "d"]})
    assert not_a_header_reason(usual) is None


def test_a_column_without_a_name_has_none_that_occurs_again() -> None:
    assert not_a_header_reason(sample(**{"": ["", "x"], "remark": ["c", "d"]})) is None


@pytest.mark.parametrize(
    ("sides", "train", "test"),
    [
        (["test", "train"], "train", "test"),
        (["dev", "testing", "training"], "training", "testing"),
        (["dev", "val"], "dev", "val"),
        (["Test", "val"], "Test", "Test"),
    ],
)
def test_the_split_trains_on_what_its_name_says(sides: list[str], train: str, test: str) -> None:
    seen = sample(text=WORDS, label=["a", "b"] * 6, part=(sides * 6)[:12])
    text = configuration_text(seen, {"text": "text", "label": "label", "split": "part"}, "mine", "mine.csv")
    protocol = yaml.safe_load(text)["protocol"]
    if train == test:
        assert protocol == {"name": "k-fold", "k": 5}
    else:
        assert protocol == {"name": "fixed-split", "train": train, "test": test}
        assert yaml.safe_load(text)["text"]["vocabulary_from"] == train


@pytest.mark.parametrize(
    ("name", "stem"),
    [("My tickets (2).csv.gz", "My-tickets-2"), ("-x_y-.csv", "x-y"), ("äöü.csv", "mine"), ("a.b.csv", "a")],
)
def test_a_configuration_has_the_name_of_its_file(tmp_path: Path, monkeypatch: Any, name: str, stem: str) -> None:
    monkeypatch.chdir(tmp_path)
    seen = replace(sample(text=WORDS), path=tmp_path / name)
    assert configuration_path(seen, None, overwrite=False) == Path(f"{stem}.yaml")
    Path(f"{stem}.yaml").touch()
    with pytest.raises(ConfigError, match=rf"^{stem}\.yaml: exists already; --overwrite replaces it, --out names"):
        configuration_path(seen, None, overwrite=False)
    assert configuration_path(seen, None, overwrite=True) == Path(f"{stem}.yaml")
    assert configuration_path(seen, tmp_path / "b" / "c.yaml", overwrite=False) == tmp_path / "b" / "c.yaml"


@pytest.mark.parametrize(
    ("seconds", "peak", "fits"), [(7200, 8e9, True), (7201, 8e9, False), (7200, 8.1e9, False), (100, 1e9, True)]
)
def test_an_hour_of_all_processors_and_the_free_memory_are_enough(seconds: float, peak: float, *, fits: bool) -> None:
    found = Plan([], [("ngd", 1, seconds)], peak, free_bytes=8e9, jobs=2)
    assert (exact_kernel_problem(found) is None) is fits
    assert exact_kernel_problem(Plan([])) is None


def test_columns_that_are_no_class_are_told_with_their_numbers_of_values() -> None:
    columns = {f"x{n}": [f"v{n}{row}" for row in range(9)] for n in range(7)} | {"one": ["a"] * 9}
    with pytest.raises(ConfigError) as refused:
        check_columns(
            sample(text=WORDS[:9], one=columns["one"], **{k: v for k, v in columns.items() if k != "one"}),
            {"text": "text", "id": "x0"},
        )
    told = ", ".join(["'one' has 1 value in 9 rows", *(f"'x{n}' has 9 values in 9 rows" for n in (1, 2, 3, 4))])
    assert str(refused.value) == f"mine.csv: no column looks like a class ({told}); name it by --label"
    with pytest.raises(ConfigError, match=r"^mine\.csv: no column looks like a text; name it by --text$"):
        check_columns(sample(x=["a"]), {})
    check_columns(sample(), {})
    check_columns(sample(text=WORDS), {"text": "text", "labels": "x"})


def test_what_is_left_out_is_told_by_reason() -> None:
    reasons = list(DROP_REASONS)[:2]
    said = drop_sentence({reasons[0]: 1200, reasons[1]: 3}, 45_000)
    assert said == (
        f"drop: [{reasons[0]}, {reasons[1]}] leaves out {DROP_REASONS[reasons[0]]} (1,200), "
        f"{DROP_REASONS[reasons[1]]} (3); 45,000 are left"
    )
