"""`corpus` and `text`: which documents, and how they become counts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmark.config.collection import outline_documents
from benchmark.config.model import BASE_VARIANT
from benchmark.corpora import registry
from benchmark.system.errors import ConfigError, DataError


def test_little_needs_to_be_said(checked):
    collection = checked().variants[BASE_VARIANT].collection
    assert collection.classes == registry.dataset_card("synthetic").classes
    assert (collection.subset, collection.exclude) == (None, ())
    assert (collection.lexing.digits, collection.lexing.stoplist, collection.pruning.min_documents) == (
        "drop",
        "smart",
        1,
    )


def test_what_is_said_is_taken(checked):
    collection = (
        checked(
            "corpus: {name: synthetic, classes: [student, course], exclude: [a/b/c]}\n"
            "text: {digits: token, skip_html: true, min_documents: 3, vocabulary_from: misc}\n"
        )
        .variants[BASE_VARIANT]
        .collection
    )
    assert (collection.classes, collection.exclude) == (("student", "course"), ("a/b/c",))
    assert (collection.lexing.digits, collection.lexing.skip_html, collection.lexing.skip_header) == (
        "token",
        True,
        False,
    )
    assert (collection.pruning.min_documents, collection.pruning.group) == (3, "misc")


@pytest.mark.parametrize(
    ("corpus", "fields", "kind"),
    [
        ("{name: synthetic}", ["all", "title"], "html"),
        ("{name: 20ng}", ["all"], None),
        ("{name: 20ng}", ["all", "subject", "X-Face", "own"], "mail"),
        ("{name: reuters, classes: [earn, acq]}", ["body", "title"], None),
    ],
)
def test_a_corpus_has_fields_of_its_own(checked, corpus, fields, kind):
    protocol = "protocol: {name: k-fold, k: 3, stratified: false}\n"
    text = f"corpus: {corpus}\ntext: {{fields: [{', '.join([*fields, fields[0]])}], ngrams: [2, 1]}}\n{protocol}"
    lexing = checked(text).variants[BASE_VARIANT].collection.lexing
    assert (lexing.fields, lexing.ngrams, lexing.format) == (tuple(fields), (1, 2), kind)
    assert lexing.blocks[:2] == (fields[0], f"{fields[0]}-2")


@pytest.mark.parametrize(
    ("keys", "fields", "said"),
    [
        ("text: [title, body]", "[all, title, body]", ""),
        (
            "text: [title, body]",
            "[titel]",
            "unknown field of files: 'titel'; did you mean 'title'? (allowed: all, title, b",
        ),
        ("text: body", "[title]", "unknown field of files: 'title' (allowed: all)"),
        ("text: body, format: mail", "[all, subject, x-face]", ""),
        ("text: body, format: mail", "[a b]", "of mail, any header line by its name"),
        ("text: body, format: html", "[subject]", "unknown field of files: 'subject' (allowed: all, title, headings"),
        ("text: body, format: pdf", "[all]", "unknown format 'pdf' (allowed: mail, html)"),
        ("text: [title, body], format: mail", "[all]", "several columns of text are its fields already"),
        ("text: [title, all-2]", "[all, all-2]", "two blocks have the same name: all, all-2, all-2, all-2-2"),
    ],
)
def test_ones_own_files_have_columns_or_a_format(checked, tmp_path, keys, fields, said):
    rows = [{"title": "sea", "body": "ink", "all-2": "rum", "label": label} for label in "xyxyxyxy"]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = f"corpus: {{name: files, path: {tmp_path}/own.jsonl, {keys}}}\ntext: {{fields: {fields}, ngrams: [1, 2]}}\n"
    text += "protocol: {name: k-fold, k: 2}\n"
    if not said:
        assert ", ".join(checked(text).variants[BASE_VARIANT].collection.lexing.fields) == fields.strip("[]")
        return
    with pytest.raises(ConfigError) as refused:
        checked(text)
    assert said in str(refused.value)


def test_tasks_of_named_classes_name_those_of_the_corpus_too(checked):
    variant = checked("tasks: [[student, course], [student, faculty]]\n").variants[BASE_VARIANT]
    assert variant.collection.classes == ("student", "course", "faculty")


def test_documents_are_expected_as_the_card_counts_them(checked):
    collection = (
        checked("corpus: {name: webkb, classes: [student, faculty, course, project]}\n")
        .variants[BASE_VARIANT]
        .collection
    )
    documents = outline_documents(collection)
    assert len(documents) == 4199
    assert np.bincount(documents.labels).tolist() == [1641, 1124, 930, 504]
    assert not collection.reader.multilabel


def test_documents_with_several_classes_are_expected_without_them(checked):
    fragment = "corpus: {name: reuters, subset: without-brief, classes: [earn, acq]}\nprotocol: fixed-split\n"
    collection = checked(fragment).variants[BASE_VARIANT].collection
    documents = outline_documents(collection)
    assert collection.reader.multilabel
    assert (len(documents), documents.topics.shape, documents.topics.any()) == (11839, (11839, 2), False)
    single = checked(
        "corpus: {name: reuters, subset: body-and-single-topic, classes: [earn, acq]}\nprotocol: fixed-split\n"
    )
    assert not single.variants[BASE_VARIANT].collection.reader.multilabel


def test_a_tilde_is_the_users_folder(written, read, tmp_path, monkeypatch):
    """In the paths of documents, of words, of published values, of predictions and of vectors."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name, content in {
        "own.csv": "text,label\n" + "".join(f"a{n},{'xy'[n % 2]}\n" for n in range(8)),
        "stop.txt": "the",
        "mine.yaml": "values: []\n",
        "given.csv": "id,predicted\n",
        "v.parquet": "",
    }.items():
        (home / name).write_text(content)
    found = read(
        written(
            "corpus: {name: files, path: ~/own.csv}\ntext: {stoplist: ~/stop.txt}\npaper: ~/mine.yaml\n"
            "protocol: {name: k-fold, k: 2}\n"
            "methods: [{predictions: ~/given.csv, name: a}, {vectors: ~/v.parquet, classifier: logistic}]\n"
        )
    )
    assert found.variants[BASE_VARIANT].collection.lexing.stopped == ("the",)
    one, two = (entry.candidates[0] for entry in found.variants[BASE_VARIANT].entries)
    assert (one.predictions.path, two.vectors.file.path) == (home / "given.csv", home / "v.parquet")


@pytest.mark.parametrize("text", ["boddy", "[title, boddy]"])
def test_a_column_that_the_file_lacks_is_named_at_its_key(written, read, text):
    path = written(f"corpus:\n  name: files\n  path: t.csv\n  text: {text}\nprotocol: {{name: k-fold, k: 2}}\n")
    (path.parent / "t.csv").write_text("title,body,label\nx,y,a\n")
    with pytest.raises(DataError, match=rf"^{path}:\d+: text: .*has no column 'boddy'; did you mean 'body'\?"):
        read(path)


def test_what_is_said_of_the_corpus_is_kept(checked, tmp_path):
    (tmp_path / "own.csv").write_text("text,label,who\n" + "".join(f"a,{'xy'[n % 2]},{n % 3}\n" for n in range(9)))
    given = checked(
        "corpus: {name: files, path: own.csv, group: who, exclude: ['1']}\nprotocol: {name: k-fold, k: 2}\n"
    )
    collection = given.variants[BASE_VARIANT].collection
    assert collection.given == {"path": "own.csv", "group": "who"}
    assert (collection.corpus, collection.exclude, collection.classes) == ("files", ("1",), ("x", "y"))
    assert collection.reader.base == tmp_path


def test_a_stop_list_of_ones_own_is_lower_cased_and_composed(written, read):
    path = written("text: {stoplist: ./mine.txt}\n")
    (path.parent / "mine.txt").write_text("The of\n\nE\u0301te\u0301 the", encoding="utf-8")
    lexing = read(path).variants[BASE_VARIANT].collection.lexing
    assert (lexing.stopped, lexing.stoplist) == (("of", "the", "\u00e9t\u00e9"), "./mine.txt")
    for content, said in ((b" \n", "has no word; write stoplist: none"), (b"\xff", "can't be read as a list of words")):
        (path.parent / "mine.txt").write_bytes(content)
        with pytest.raises(ConfigError, match=rf"mine\.txt: {said}"):
            read(path)


@pytest.mark.parametrize(("corpus", "lexer"), [("synthetic", "rainbow"), ("curved-points", "unicode")])
def test_letters_are_those_of_the_corpus_unless_they_are_stated(checked, corpus, lexer):
    given = f"corpus: {{name: {corpus}}}\nprotocol: {{name: k-fold, k: 2}}\n"
    assert checked(given).variants[BASE_VARIANT].collection.lexing.lexer == lexer
    for stated in ("unicode", "rainbow"):
        assert checked(f"{given}text: {{lexer: {stated}}}\n").variants[BASE_VARIANT].collection.lexing.lexer == stated
