"""A user's files that mean something else than they are taken for, through the command line: file, command, answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.shapes import bench, invoke

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

#: Texts of three classes, by row.
CLASSES = "net", "mail", "game"
TEXTS = [f"{CLASSES[n % 3]} word{n % 3} of a text {n}" for n in range(48)]
NAMES = [CLASSES[n % 3] for n in range(48)]
SEVERAL = [NAMES[n : n + 1] if n % 4 else sorted({NAMES[n], NAMES[(n + 1) % 48]}) for n in range(48)]
SPLIT = ["test" if n % 4 == 3 else "train" for n in range(48)]
TABLE = pd.DataFrame({"id": range(48), "text": TEXTS, "label": NAMES, "split": SPLIT})


def rows(names: Sequence[str] = NAMES, mark: str = ",", head: str = "text,label") -> str:
    """A table of the texts and their classes."""
    lines = [head.replace(",", mark), *(f"{text}{mark}{name}" for text, name in zip(TEXTS, names, strict=True))]
    return "\n".join(lines) + "\n"


def changed(names: Sequence[str], **changes: Any) -> list[str]:
    """The names, some rows of them as another name: `Net=(0, 6)`."""
    other = {row: name for name, places in changes.items() for row in places}
    return [other.get(n, name) for n, name in enumerate(names)]


def listed(write: Callable[[list[str]], str]) -> str:
    cells = ('"' + write(names).replace('"', '""') + '"' for names in SEVERAL)
    return rows([*cells], head="text,labels")


def marks(labels: Sequence[Sequence[str]]) -> str:
    cells = (",".join(str(int(name in own)) for name in CLASSES) for own in labels)
    lines = (f"d{n},{text},{cell}\n" for n, (text, cell) in enumerate(zip(TEXTS, cells, strict=True)))
    return f"id,comment,{','.join(CLASSES)}\n{''.join(lines)}"


def answer(*words: object) -> tuple[int, str]:
    done = invoke(*words)
    return done.exit_code, " ".join(done.output.split())


QUOTE = changed(TEXTS, **{f'"{TEXTS[5]}': [5], f'{TEXTS[12]}"': [12]})
SWALLOWED = "label,text\n" + "".join(f"{name},{text}\n" for name, text in zip(NAMES, QUOTE, strict=True))
UNQUOTED = (
    rows(mark="\t").replace("word2 of a text 5\t", '"word2" of a text 5\t').replace("net word0 of a text 3\t", '"net\t')
)
ESCAPED = "text,label\n" + "".join(f'"a \\"{text}\\", too",{name}\n' for text, name in zip(TEXTS, NAMES, strict=True))
LETTERS = "".join(f'"Dear all,\n{text}, see below\nA.",{name}\n' for text, name in zip(TEXTS, NAMES, strict=True))
CASES_OF_NET = rows(changed(NAMES, Net=(0, 6), NET=(3, 9)))
EMPTY = rows(NAMES).replace("\n", ",,\n") + ",,,\n" * 4

HOT = marks([[each] for each in NAMES])
LOCAL = rows([f"{each},{1 + n % 28}/5/2024" for n, each in enumerate(NAMES)], head="text,label,day")

#: Content of a file, its extension, options of `bench init`; exit code, parts of the output and of `corpus`.
FIRST: dict[str, tuple[str, str, str, int, tuple[str, ...], dict[str, Any]]] = {
    "Python lists": (listed(repr), "csv", "", 0, (), {"labels": "labels"}),
    "JSON lists": (listed(json.dumps), "csv", "", 0, (), {"labels": "labels"}),
    "NumPy arrays": (listed(lambda own: str(np.array(own))), "csv", "", 0, (), {"labels": "labels"}),
    "a list as label": (listed(repr), "csv", "--label labels", 3, ("the class is a list", "`labels`, not `label`"), {}),
    "marks": (marks(SEVERAL), "csv", "", 2, ("net, mail, game", "hold only 0 and 1", "--labels 'net,mail,game'"), {}),
    "marks named": (marks(SEVERAL), "csv", "--labels net,mail,game", 0, (), {"labels": [*CLASSES], "text": "comment"}),
    "one-hot": (HOT, "csv", "", 2, ("--label 'net,mail,game' if each is a class",), {}),
    "one-hot named": (HOT, "csv", "--label net,mail,game", 0, (), {"label": [*CLASSES]}),
    "one column": (HOT, "csv", "--label net", 0, ("label is 'net'",), {"label": "net"}),
    "stray quotes": (SWALLOWED, "csv", "", 0, ("Lines that look like rows", "t.csv:7", "--quoting none"), {}),
    "no quotes": (SWALLOWED, "csv", "--quoting none", 0, ("label is 'label'",), {"quoting": "none"}),
    "letters": (f"text,label\n{LETTERS}", "csv", "", 0, ("label is 'label'",), {"text": "text"}),
    "unquoted": (UNQUOTED, "tsv", "", 3, ("t.tsv:5: is not a valid table", "quoting: none"), {}),
    "unquoted read": (UNQUOTED, "tsv", "--quoting none", 0, (), {"quoting": "none"}),
    "escaped": (ESCAPED, "csv", "", 3, ("t.csv:2: is not a valid table", "escape: '\\'"), {}),
    "escaped read": (ESCAPED, "csv", "--escape \\", 0, (), {"escape": "\\"}),
    "wrong word": (rows(), "csv", "--quoting no", 2, ("unknown word 'no'", "double, none"), {}),
    "case": (CASES_OF_NET, "csv", "", 0, ("'net' (12), 'NET' (2), 'Net' (2)", "rename: {NET: net, Net: net}"), {}),
    "nan": (rows(changed(NAMES, nan=(0, 9))), "csv", "", 0, ("'nan' (2)", "{nan: ''}, drop: [unlabelled]"), {}),
    "N/A": (rows(changed(NAMES, **{"N/A": (0, 9)})), "csv", "", 0, ("missing value: 'N/A' (2)",), {}),
    "NULL": (rows(changed(NAMES, NULL=(0, 9))), "csv", "", 0, ("{'NULL': ''}",), {}),
    "Excel's columns": (EMPTY, "csv", "", 0, ("2 columns have no name: left out", "4 rows have only delimiters"), {}),
    "Excel's mark": ("sep=;\n" + rows(mark=";"), "csv", "", 0, (), {"text": "text", "label": "label"}),
    "semicolons": (rows(mark=";"), "csv", "", 0, (), {"delimiter": ";"}),
    "local dates": (LOCAL, "csv",
        "--date day", 3, ("t.csv:2: day is '1/5/2024', and must be a date in ISO 8601",), {}),
    "dates stated": (LOCAL, "csv",
        "--date day --date-format %d/%m/%Y", 0, (), {"date": "day", "date_format": "%d/%m/%Y"}),
}  # fmt: skip


@pytest.mark.parametrize("case", FIRST)
def test_init_reads_asks_or_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    content, kind, options, expected, parts, corpus = FIRST[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"t.{kind}").write_text(content, encoding="utf-8")
    code, output = answer("init", f"t.{kind}", "--out", "own.yaml", *options.split())
    assert code == expected, output
    assert all(part in output for part in parts), output
    assert ("within quotes" in output) == (case == "stray quotes"), "no false alarm"
    if code == 0:
        assert corpus.items() <= yaml.safe_load((tmp_path / "own.yaml").read_text())["corpus"].items()


OWN = """
import json
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
WEIGHTS = {"net": 2, "mail": 1, "game": 1}
def weighted(): return make_pipeline(CountVectorizer(), LogisticRegression(class_weight=WEIGHTS))
def unnamed(): return make_pipeline(CountVectorizer(tokenizer=lambda text: text.split()), LogisticRegression())
"""
#: Labels of JSON in several forms.
FORMS: list[list[Any]] = [[1, 1.0, "1", "NaN"], [True, "true", "True", "true"], ["a", "a", "a", "a"]]
LINES = [{"text": text, "label": FORMS[n % 3][n // 3 % 4]} for n, text in enumerate(TEXTS)]
DATES = ["2024-01-01"] * 6 + ["2024-01-02"] * 42
NOISE = pd.DataFrame(np.random.default_rng(0).normal(size=(48, 3)), columns=[*"abc"]).assign(id=range(48))
ABSENT = pd.concat([TABLE, TABLE.head(2).assign(id=[98, 99], text="odd", label="odd", split="train")])
TESTED = TABLE[TABLE["split"] == "test"]
SCORES = TESTED[["id", "label"]].assign(
    **{f"probability {name}": (TESTED["label"] == CLASSES[n - 1]).astype(float) for n, name in enumerate(CLASSES)}
)
FIXED = {"id": "id", "split": "split"}
FOLDS = {"name": "k-fold", "k": 3}
MIXED = {**FOLDS, "stratified": False}
THEIRS = [{"name": "own", "predictions": "p.csv"}]
LOGISTIC = {"name": "own", "classifier": "logistic"}

#: Files beside t.csv, sections of a configuration, options; exit code, parts of the output, and what it must not have.
RUNS: dict[str, tuple[dict[str, Any], dict[str, Any], int, tuple[str, ...], str]] = {
    "label types": ({"t.jsonl": "\n".join(map(json.dumps, LINES))}, {"corpus": {"path": "t.jsonl"}}, 0,
        ("'1' (8), '1.0' (4); 'True' (8), 'true' (8)", "A class may stand for a missing value: 'NaN' (4)"), ""),
    "stray quotes": ({"t.csv": SWALLOWED}, {"corpus": {}}, 0, ("41 documents", "first begins at t.csv:7"), ""),
    "no quotes": ({"t.csv": SWALLOWED}, {"corpus": {"quoting": "none"}}, 0, ("48 documents",), "within quotes"),
    "dates with ties": ({"t.csv": TABLE.assign(date=DATES)}, {"corpus": {"date": "date"}, "protocol": "by-date"}, 0,
        ("42 newest documents (88%), trained on the 6 earlier ones. test_share is 25", "never separated"), ""),
    "lists": ({"t.csv": listed(repr)}, {"corpus": {"labels": "labels", "separator": ","}, "protocol": MIXED}, 0,
        ("Macro-F1 of mnb on t.csv", "48 documents"), ""),
    "a class without tests": ({"t.csv": ABSENT}, {"corpus": FIXED, "protocol": "fixed-split"}, 0,
        ("No document of odd is tested", "a class that is neither tested nor predicted is left out"), ""),
    "label among vectors": ({"e.parquet": NOISE.assign(label=TABLE["label"].map(CLASSES.index))},
        {"methods": [LOGISTIC | {"vectors": "e.parquet"}]}, 0, ("left out: label",), ""),
    "label of another name": ({"e.parquet": NOISE.assign(y=TABLE["label"].map(CLASSES.index))},
        {"methods": [LOGISTIC | {"vectors": "e.parquet"}]}, 1, ("the column 'y' has the same value",), ""),
    "ids twice": ({"v.npy": NOISE[["a"]].to_numpy(), "ids.txt": "\n".join(map(str, [*range(47), 3]))},
        {"methods": [LOGISTIC | {"vectors": {"file": "v.npy", "ids": "ids.txt"}}]}, 1,
        ("ids.txt:48: has the document '3' twice",), ""),
    "several arrays": ({"v.npz": ""}, {"methods": [LOGISTIC | {"vectors": "v.npz"}]}, 2, ("is no table",), ""),
    "predictions": ({"p.csv": TESTED[["id", "label"]]}, {"methods": THEIRS}, 0, ("100.00",), ""),
    "predictions of Excel": ({"p.csv": TESTED[["id", "label"]].to_csv(index=False, sep=";")},
        {"methods": THEIRS}, 1, ("separated by ';'",), ""),
    "predictions twice": ({"p.csv": "id,label\n3,net\n7,net\n3,net\n"},
        {"methods": THEIRS}, 1, ("p.csv:4: has the document '3' twice",), ""),
    "scores of others": ({"p.csv": SCORES}, {"methods": THEIRS, "metrics": ["accuracy", "macro-roc-auc"]},
        0, ("12 of 12 labels are not the largest score",), ""),
    "names in class_weight": ({"m.py": OWN}, {"methods": [{"name": "own", "pipeline": "m.py:weighted"}]}, 0,
        ("100.00",), ""),
    "no difference": ({}, {"protocol": {"name": "k-fold", "k": 6}, "methods": [{"name": "one", "classifier": "mnb"},
        {"name": "two", "classifier": {"name": "mnb", "smoothing": 1.0000001}}], "compare": [["one", "two"]]},
        0, ("one and two never differ",), ""),
    "all right": ({}, {"protocol": FOLDS}, 0, ("100.00% (95% interval 92.59 to 100.00)",), ""),
}  # fmt: skip


def configuration(folder: Path, files: dict[str, Any], sections: dict[str, Any]) -> Path:
    """Write files and a configuration of t.csv."""
    for name, content in {"t.csv": TABLE, **files}.items():
        if isinstance(content, np.ndarray):
            np.save(folder / name, content)
        elif isinstance(content, str):
            (folder / name).write_text(content)
        else:
            (content.to_parquet if name.endswith("parquet") else content.to_csv)(folder / name, index=False)
    vectors = "corpus" not in sections and "protocol" not in sections
    usual = {"name": "own", "protocol": "fixed-split" if vectors else FOLDS, "methods": ["mnb"]}
    corpus = {"name": "files", "path": "t.csv", **sections.get("corpus", FIXED if vectors else {"id": "id"})}
    config = folder / "own.yaml"
    config.write_text(yaml.safe_dump({**usual, **sections, "corpus": corpus}))
    return config


@pytest.mark.usefixtures("sketched", "users_code_here")
@pytest.mark.parametrize("case", RUNS)
def test_a_run_notes_or_refuses(tmp_path: Path, case: str) -> None:
    files, sections, expected, parts, absent = RUNS[case]
    code, output = answer("run", configuration(tmp_path, files, sections), "--out", tmp_path / "run")
    assert code == expected, output
    assert all(part in output for part in parts), output
    assert not absent or absent not in output.partition("All tables")[0]


def test_a_pipeline_of_a_lambda_is_not_kept(tmp_path: Path) -> None:
    config = configuration(tmp_path, {"m.py": OWN}, {"methods": [{"name": "own", "pipeline": "m.py:unnamed"}]})
    code, output = answer("fit", config, "--cell", "own", "--out", tmp_path / "model")
    assert (code, "can't be loaded again, so nothing is written" in output) == (2, True), output


def test_a_model_reads_tables_as_those_that_it_was_trained_on(tmp_path: Path) -> None:
    config = configuration(tmp_path, {"t.tsv": UNQUOTED}, {"corpus": {"path": "t.tsv", "quoting": "none"}})
    bench("fit", config, "--cell", "mnb", "--out", tmp_path / "model")
    assert len(bench("predict", tmp_path / "model", tmp_path / "t.tsv").output.splitlines()) == 49
