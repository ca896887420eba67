"""A user's files that mean something else than they are taken for: each is read rightly, told, asked about or refused.

Everything goes through the command line: a file, `bench init` or `bench run`, and what should come.
"""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.experiment.configuration import load_checked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

#: Texts of three classes, by row.
CLASSES = "net", "mail", "game"
TEXTS = [f"{CLASSES[n % 3]} word{n % 3} of a text {n}" for n in range(48)]
NAMES = [CLASSES[n % 3] for n in range(48)]
SEVERAL = [NAMES[n : n + 1] if n % 4 else sorted({NAMES[n], NAMES[(n + 1) % 48]}) for n in range(48)]


def rows(names: Sequence[str] = NAMES, mark: str = ",", head: str = "text,label") -> str:
    """A table of the texts and their classes."""
    lines = [head.replace(",", mark), *(f"{text}{mark}{name}" for text, name in zip(TEXTS, names, strict=True))]
    return "\n".join(lines) + "\n"


def changed(names: Sequence[str], *changes: tuple[int, str]) -> list[str]:
    return [dict(changes).get(n, name) for n, name in enumerate(names)]


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def listed(write: Callable[[list[str]], str]) -> str:
    return rows([quoted(write(names)) for names in SEVERAL], head="text,labels")


def invoke(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done.exit_code, done.output


def init(path: Path, content: str, *options: str) -> tuple[int, str, dict[str, Any]]:
    """Write a file and its first configuration; return the exit code, the output, and the section `corpus`."""
    path.write_text(content, encoding="utf-8")
    target = path.with_name("own.yaml")
    code, output = invoke("init", path, "--no-pilot", "--out", target, *options)
    return code, output, yaml.safe_load(target.read_text(encoding="utf-8"))["corpus"] if code == 0 else {}


def run(folder: Path, **sections: Any) -> tuple[int, str]:
    usual = {"name": "own", "protocol": {"name": "k-fold", "k": 2}, "methods": ["mnb"]}
    corpus = {"name": "files", **sections.pop("corpus")}
    config = folder / "own.yaml"
    config.write_text(yaml.safe_dump({**usual, **sections, "corpus": corpus}))
    return invoke("run", config, "--out", folder / "run", "--overwrite")


def outline(folder: Path, name: str, **corpus: Any) -> tuple[int, str | tuple[str, ...]]:
    """Number of documents and classes of a corpus that is checked, or the exit code and the reason."""
    config = folder / "outline.yaml"
    protocol = {"name": "k-fold", "k": 2, "stratified": False}
    made = {"name": "own", "corpus": {"name": "files", "path": name, **corpus}, "protocol": protocol}
    config.write_text(yaml.safe_dump({**made, "methods": ["mnb"]}))
    code, output = invoke("validate", config)
    if code:
        return code, output
    documents = load_checked(config).variants["base"].collection.reader.outline()
    return len(documents), documents.classes


QUOTE = changed(TEXTS, (5, f'"{TEXTS[5]}'), (12, f'{TEXTS[12]}"'))
SWALLOWED = "label,text\n" + "".join(f"{name},{text}\n" for name, text in zip(NAMES, QUOTE, strict=True))
UNQUOTED = (
    rows(mark="\t").replace("word2 of a text 5\t", '"word2" of a text 5\t').replace("net word0 of a text 3\t", '"net\t')
)
ESCAPED = "text,label\n" + "".join(f'"a \\"{text}\\", too",{name}\n' for text, name in zip(TEXTS, NAMES, strict=True))
MARKS = "id,comment,net,mail,game\n" + "".join(
    f"d{n},{text},{','.join(str(int(name in own)) for name in CLASSES)}\n"
    for n, (text, own) in enumerate(zip(TEXTS, SEVERAL, strict=True))
)
ONE_EACH = (
    MARKS.split("\n", 1)[0]
    + "\n"
    + "".join(
        f"d{n},{text},{','.join(str(int(name == own)) for name in CLASSES)}\n"
        for n, (text, own) in enumerate(zip(TEXTS, NAMES, strict=True))
    )
)
CASES = changed(NAMES, (0, "Net"), (3, "NET"), (6, "Net"), (9, "NET"))
EMPTY = rows(NAMES).replace("\n", ",,\n") + ",,,\n" * 4

#: File, content, options of `bench init`; exit code, what is said, and what stands in the section `corpus`.
FIRST: list[tuple[str, str, tuple[str, ...], int, tuple[str, ...], dict[str, Any]]] = [
    ("t.csv", listed(repr), (), 0, ("lists written as text: each item is a class",), {"labels": "labels"}),
    ("t.csv", listed(json.dumps), (), 0, ("lists written as text: each item is a class",), {"labels": "labels"}),
    ("t.csv", listed(lambda own: str(np.array(own))), (), 0, ("each item is a class",), {"labels": "labels"}),
    ("t.csv", listed(repr), ("--label", "labels"), 3, ("the class is a list", "`labels`, not `label`"), {}),
    ("t.csv", MARKS, (), 2, ("net, mail, game", "hold only 0 and 1", "--labels 'net,mail,game'"), {}),
    ("t.csv", MARKS, ("--labels", "net,mail,game"), 0, (), {"labels": list(CLASSES), "text": "comment"}),
    ("t.csv", ONE_EACH, (), 2, ("--label 'net,mail,game' if each is a class, or --label net if that",), {}),
    ("t.csv", ONE_EACH, ("--label", "net,mail,game"), 0, (), {"label": list(CLASSES)}),
    ("t.csv", ONE_EACH, ("--label", "net"), 0, ("label is 'net'",), {"label": "net"}),
    ("t.csv", SWALLOWED, (), 0, ("1 record holds 7 lines that look like rows", "t.csv:7", "--quoting none"), {}),
    ("t.csv", SWALLOWED, ("--quoting", "none"), 0, (), {"quoting": "none"}),
    ("t.tsv", UNQUOTED, (), 3, ("t.tsv:5: is not a valid table", "quoting: none", "--quoting none"), {}),
    ("t.tsv", UNQUOTED, ("--quoting", "none"), 0, (), {"quoting": "none"}),
    ("t.csv", ESCAPED, (), 3, ("t.csv:2: is not a valid table", "escape: '\\'"), {}),
    ("t.csv", ESCAPED, ("--escape", "\\"), 0, (), {"escape": "\\"}),
    ("t.csv", rows(), ("--quoting", "no"), 2, ("unknown word 'no'", "double, none"), {}),
    ("t.csv", rows(), ("--escape", "ab"), 2, ("escape is 'ab': must be one character",), {}),
    ("t.csv", rows(CASES), (), 0, ("'net' (12), 'NET' (2), 'Net' (2)", "rename: {NET: net, Net: net}"), {}),
    ("t.csv", rows(changed(NAMES, (0, "nan"), (9, "nan"))), (), 0, ("'nan' (2)", "{nan: ''}, drop: [unlabelled]"), {}),
    ("t.csv", rows(changed(NAMES, (0, "N/A"), (9, "N/A"))), (), 0, ("missing value: 'N/A' (2)",), {}),
    ("t.csv", rows(changed(NAMES, (0, "NULL"), (9, "NULL"))), (), 0, ("{'NULL': ''}",), {}),
    ("t.csv", EMPTY, (), 0, ("2 columns have no name: left out", "4 rows have only delimiters"), {"label": "label"}),
    ("t.csv", "sep=;\n" + rows(mark=";"), (), 0, (), {"text": "text", "label": "label"}),
]


@pytest.mark.parametrize(("name", "content", "options", "code", "said", "corpus"), FIRST)
def test_init_reads_asks_or_tells(
    tmp_path: Path,
    name: str,
    content: str,
    options: tuple[str, ...],
    code: int,
    said: tuple[str, ...],
    corpus: dict[str, Any],
) -> None:
    found, output, written = init(tmp_path / name, content, *options)
    assert found == code, output
    for text in said:
        assert text in output
    assert corpus.items() <= written.items()
    if code == 0 and "1 record holds" not in output:
        counted = load_checked(tmp_path / "own.yaml").variants["base"].collection.reader.outline()
        assert len(counted) == 48, "no row is lost, and none too much is read"


def test_lists_written_as_text_are_the_classes_that_a_separator_gives(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(rows([";".join(own) for own in SEVERAL], head="text,labels"))
    expected = outline(tmp_path, "s.csv", labels="labels", separator=";")
    assert expected == (48, ("game", "mail", "net"))
    ways: list[Callable[[list[str]], str]] = [
        repr, json.dumps, lambda own: str(np.array(own)), lambda own: repr(tuple(own)), lambda own: repr(set(own)),
        lambda own: repr(np.array(own)), lambda own: f"[{', '.join(f'np.str_({each!r})' for each in own)}]",
    ]  # fmt: skip
    for write in ways:
        (tmp_path / "t.csv").write_text(listed(write))
        assert outline(tmp_path, "t.csv", labels="labels") == expected, write(SEVERAL[0])
        assert outline(tmp_path, "t.csv", labels="labels", separator=",") == expected, write(SEVERAL[0])
    (tmp_path / "t.csv").write_text(listed(lambda own: f"[{', '.join(own)}]"))
    code, output = outline(tmp_path, "t.csv", labels="labels", separator=",")
    assert (code, "t.csv:2: the classes are a list without quotes, '[mail, net]'" in str(output)) == (3, True)


def test_a_list_or_an_object_is_no_single_class(tmp_path: Path) -> None:
    for label, said in ((["a", "b"], "the class is a list"), ({"name": "a"}, "must be text, or a list of texts")):
        lines = (json.dumps({"text": text, "label": label}) for text in TEXTS)
        (tmp_path / "t.jsonl").write_text("\n".join(lines))
        code, output = outline(tmp_path, "t.jsonl")
        assert (code, said in str(output)) == (3, True), output


def test_a_column_for_each_class_holds_0_or_1(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(MARKS)
    assert outline(tmp_path, "t.csv", text="comment", labels=list(CLASSES)) == (48, ("game", "mail", "net"))
    code, output = outline(tmp_path, "t.csv", text="comment", label=list(CLASSES))
    assert (code, "t.csv:2: has 2 classes (net, mail): name their columns by `labels`" in str(output)) == (3, True)
    code, output = outline(tmp_path, "t.csv", text="comment", labels=["net", "id"])
    assert (code, "t.csv:2: id is 'd0', and must be 0 or 1" in str(output)) == (3, True)
    (tmp_path / "t.csv").write_text(ONE_EACH)
    assert outline(tmp_path, "t.csv", text="comment", label=list(CLASSES)) == (48, ("game", "mail", "net"))


def test_classes_are_joined_and_left_out_by_rename(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(rows(changed(CASES, (1, "nan"), (4, "nan"))))
    how: dict[str, Any] = {"rename": {"Net": "net", "NET": "net", "nan": ""}, "drop": ["unlabelled"]}
    assert outline(tmp_path, "t.csv", **how) == (46, ("game", "mail", "net"))
    code, output = outline(tmp_path, "t.csv", rename={"NET": "net", "Nett": "net"})
    assert (code, "rename: unknown class 'Nett'; did you mean 'Net'?" in str(output)) == (3, True)


def test_a_table_with_another_delimiter_or_a_mark_of_excel(tmp_path: Path) -> None:
    for mark in ";\t|":
        (tmp_path / "t.csv").write_text(rows(mark=mark))
        code, output = outline(tmp_path, "t.csv")
        assert (code, f"the columns are separated by {mark!r}: state delimiter: {mark!r}" in str(output)) == (3, True)
        assert outline(tmp_path, "t.csv", delimiter=mark)[0] == 48
        (tmp_path / "t.csv").write_text(f"sep={mark}\n{rows(mark=mark)}")
        assert outline(tmp_path, "t.csv")[0] == 48


def test_a_run_tells_what_its_files_may_mean_otherwise(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "café")
    labels: list[list[Any]] = [[1, 1.0, "1", "NaN"], [True, "true", "True", "true"], ["café", decomposed]]
    lines = [{"text": text, "label": labels[n % 3][n // 3 % len(labels[n % 3])]} for n, text in enumerate(TEXTS)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    code, output = run(tmp_path, corpus={"path": "t.jsonl"})
    assert code == 0, output
    assert "'café' is written in two forms of Unicode, composed and decomposed (8): they are one class" in output
    assert "'1' (8), '1.0' (4); 'True' (8), 'true' (8)" in output
    assert "rename: {'1.0': '1', 'true': 'True'} makes them one" in output
    assert "A class may stand for a missing value: 'NaN' (4)" in output
    (tmp_path / "t.csv").write_text(SWALLOWED)
    code, output = run(tmp_path, corpus={"path": "t.csv"})
    assert (code, "41 documents" in output, "(the first begins at t.csv:7)" in output) == (0, True, True)
    assert "(the first begins at t.csv:7)" in (tmp_path / "run" / "table.md").read_text()
    code, output = run(tmp_path, corpus={"path": "t.csv", "quoting": "none"})
    assert (code, "48 documents" in output, "within quotes" in output) == (0, True, False)


def test_a_model_reads_tables_as_those_that_it_was_trained_on(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text(UNQUOTED)
    config = tmp_path / "own.yaml"
    corpus = {"name": "files", "path": "t.tsv", "quoting": "none"}
    protocol = {"name": "k-fold", "k": 2}
    config.write_text(yaml.safe_dump({"name": "own", "corpus": corpus, "protocol": protocol, "methods": ["mnb"]}))
    assert invoke("fit", config, "--cell", "mnb", "--out", tmp_path / "model")[0] == 0
    code, output = invoke("predict", tmp_path / "model", tmp_path / "t.tsv", "--only", "label")
    assert (code, len(output.splitlines())) == (0, 49)


def test_texts_of_several_lines_are_no_rows(tmp_path: Path) -> None:
    letters = "".join(
        f'"Dear all,\n{text}, see below\nYours, A.",{name}\n' for text, name in zip(TEXTS, NAMES, strict=True)
    )
    code, output, _ = init(tmp_path / "t.csv", f"text,label\n{letters}")
    assert (code, "within quotes" in output) == (0, False)


def test_the_share_that_a_split_by_date_tests_is_told_where_it_deviates(tmp_path: Path) -> None:
    for dates, said in (
        (
            ["2024-01-01"] * 6 + ["2024-01-02"] * 42,
            "42 documents are tested (87.5%) and 6 train, where test_share is 25",
        ),
        ([f"2024-01-{1 + n // 4:02}" for n in range(48)], ""),
    ):
        table = pd.DataFrame({"text": TEXTS, "label": NAMES, "date": dates})
        table.to_csv(tmp_path / "t.csv", index=False)
        code, output = run(tmp_path, corpus={"path": "t.csv", "date": "date"}, protocol="by-date")
        assert (code, said in output, "never separated" in output) == (0, True, bool(said)), output


def test_links_are_not_followed_and_files_of_the_kernel_not_read(tmp_path: Path) -> None:
    for n, (text, name) in enumerate(zip(TEXTS, NAMES, strict=True)):
        (tmp_path / "docs" / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name / f"{n}.txt").write_text(text)
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "docs" / "net" / "pw.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "docs" / "more").symlink_to(tmp_path / "docs" / "net")
    code, output = invoke("init", tmp_path / "docs", "--no-pilot", "--out", tmp_path / "own.yaml")
    assert (code, "links aren't followed: 2 left out" in output) == (0, True), output
    assert outline(tmp_path, "docs")[0] == 48
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "net").symlink_to(tmp_path / "docs" / "net")
    refused = outline(tmp_path, "links")
    assert (refused[0], "holds only links (1), which aren't followed" in str(refused[1])) == (3, True)
    (tmp_path / "t.csv").symlink_to("/proc/self/status")
    for found in (outline(tmp_path, "t.csv"), invoke("init", tmp_path / "t.csv")):
        assert (found[0], "is a pipe or device, not a regular file" in str(found[1])) == (3, True), found


def test_lines_of_a_message_are_shortened(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",".join(f"column-{n}" for n in range(5000)) + "\n")
    code, output = outline(tmp_path, "t.csv")
    assert (code, max(map(len, str(output).splitlines())) < 1100) == (3, True)


SPLIT = ["test" if n % 4 == 3 else "train" for n in range(48)]
NOISE = np.random.default_rng(0).normal(size=(48, 3)).astype(np.float32)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A table of documents with numbers as classes, and files of vectors beside it."""
    codes = [CLASSES.index(name) for name in NAMES]
    table = pd.DataFrame({"id": range(48), "text": TEXTS, "topic": codes, "split": SPLIT})
    table.to_csv(tmp_path / "t.csv", index=False)
    vectors = pd.DataFrame(NOISE, columns=["a", "b", "c"]).assign(id=table["id"])
    vectors.assign(topic=codes, split=SPLIT, text=TEXTS).to_parquet(tmp_path / "named.parquet")
    vectors.assign(topic=codes).set_index(pd.Index(codes)).to_parquet(tmp_path / "index.parquet")
    vectors.assign(y=[7.0 - code for code in codes]).to_parquet(tmp_path / "equal.parquet")
    vectors.assign(net=[code == 0 for code in codes]).to_parquet(tmp_path / "mark.parquet")
    vectors.to_parquet(tmp_path / "clean.parquet")
    vectors.assign(many=list(NOISE)).to_parquet(tmp_path / "lists.parquet")
    vectors[["id"]].assign(text=TEXTS).to_parquet(tmp_path / "none.parquet")
    np.save(tmp_path / "v.npy", NOISE)
    np.save(tmp_path / "equal.npy", np.column_stack([NOISE, codes]))
    np.savez(tmp_path / "v.npz", NOISE)
    (tmp_path / "ids.txt").write_text("\n".join(map(str, range(48))))
    (tmp_path / "twice.txt").write_text("\n".join(map(str, [*range(47), 3])))
    return tmp_path


#: Files of vectors; exit code and what is said.
VECTORS: list[tuple[Any, int, str]] = [
    ("clean.parquet", 0, "own: 3 columns of clean.parquet are features (a … c)."),
    ("named.parquet", 0, "own: 3 columns of named.parquet are features (a … c); left out: topic, split, text."),
    ("index.parquet", 0, "are features (a … c); left out: topic, __index_level_0__."),
    ("equal.parquet", 1, "equal.parquet: the column 'y' has the same value in all documents of a class"),
    ("mark.parquet", 1, "mark.parquet: the column 'net' has the same value in all documents of a class"),
    ({"file": "equal.npy", "ids": "ids.txt"}, 1, "equal.npy: the column 3 (from 0) has the same value"),
    ({"file": "lists.parquet", "column": "many"}, 0, "features are the numbers of the column 'many' of lists.parquet"),
    ("lists.parquet", 2, "own.yaml:12: lists.parquet: 'many' is a column of lists: name it by `column`"),
    ("none.parquet", 2, "none.parquet: has no column of numbers that could be a feature"),
    ({"file": "v.npy", "ids": "ids.txt"}, 0, "own: features are all columns of v.npy."),
    ({"file": "v.npy", "ids": "twice.txt"}, 1, "twice.txt:48: has the document '3' twice"),
    ({"file": "v.npz", "ids": "ids.txt"}, 2, "a .npz file holds several arrays and is no table of vectors"),
    ("v.npz", 2, "a .npz file holds several arrays and is no table of vectors"),
    ("v.npy", 2, "a .npy file needs `ids`"),
    ({"file": "clean.parquet", "ids": "ids.txt"}, 2, "`ids` are those of a .npy file; a Parquet file has a column"),
]


@pytest.mark.parametrize(("vectors", "code", "said"), VECTORS)
def test_a_label_among_vectors_is_no_feature(documents: Path, vectors: Any, code: int, said: str) -> None:
    corpus = {"path": "t.csv", "id": "id", "label": "topic", "split": "split"}
    method = {"name": "own", "vectors": vectors, "classifier": "logistic"}
    found, output = run(documents, corpus=corpus, protocol="fixed-split", methods=[method])
    assert (found, said.replace("own.yaml:12: ", "") in output) == (code, True), output


def test_predictions_are_read_as_the_corpus_is(documents: Path) -> None:
    corpus = {"path": "t.csv", "id": "id", "label": "topic", "split": "split"}
    tested = [n for n in range(48) if SPLIT[n] == "test"]
    for content, code, said in (
        ("id,label\n" + "".join(f"{n},{n % 3}\n" for n in tested), 0, "100.00"),
        ("id;label\n" + "".join(f"{n};{n % 3}\n" for n in tested), 1, "separated by ';'"),
        ("id,label\n3,0\n7,1\n3,2\n", 1, "p.csv:4: has the document '3' twice"),
    ):
        (documents / "p.csv").write_text(content)
        methods = [{"name": "own", "predictions": "p.csv"}]
        found, output = run(documents, corpus=corpus, protocol="fixed-split", methods=methods)
        assert (found, said in output) == (code, True), output


def test_predictions_of_several_classes_may_be_lists_as_text_in_any_form_of_unicode(tmp_path: Path) -> None:
    names = [["é" + each for each in own] for own in SEVERAL]
    table = pd.DataFrame({"id": range(48), "text": TEXTS, "split": SPLIT})
    table.assign(labels=list(map(repr, names))).to_csv(tmp_path / "t.csv", index=False)
    texts = [unicodedata.normalize("NFD", repr(own)) for own in names]
    table[["id"]].assign(labels=texts).to_csv(tmp_path / "p.csv", index=False)
    corpus = {"path": "t.csv", "id": "id", "labels": "labels", "split": "split"}
    methods = [{"name": "own", "predictions": "p.csv"}]
    code, output = run(tmp_path, corpus=corpus, protocol="fixed-split", methods=methods)
    assert (code, "100.00%" in output) == (0, True), output
