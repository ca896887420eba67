"""`corpus` and `text` to a collection, checked before any text is read, by a dataset card or the user's files."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema

from benchmark.config.components import check_component, component_parameters
from benchmark.config.model import Collection, TextSettings
from benchmark.config.schema import ConfigSection, Distinct, Listed, check_known, one_of, validate_section
from benchmark.corpora.user.records import UnknownColumnError
from benchmark.system.checks import as_list
from benchmark.system.errors import DataError, unknown_name
from benchmark.system.tags import tags_of
from benchmark.text.fields import FIELD_FINDERS, format_has_field
from benchmark.text.lexer import (
    DIGIT_RULES,
    LEXERS,
    MAX_CHARACTERS,
    MAX_NGRAM_LENGTH,
    STEMMERS,
    STOPLISTS,
    TRAINING,
    WHOLE_DOCUMENT,
    WITHIN,
    WORDS,
    Lexing,
    Pruning,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.components import Registry
    from benchmark.corpora.corpus import Documents
    from benchmark.corpora.reader import CorpusReader
    from benchmark.system.yaml_source import Node


#: Predictions are stored as numbers of 16 bits.
MAX_CLASSES = 2**15 - 1


class CorpusSection(ConfigSection):
    """`corpus:` the documents and the order of classes; further keys are parameters of the corpus.

    Parameters
    ----------
    name : str
        The corpus.
    classes : list of str or None
        Classes, in the order that decides ties; by default all.
    exclude : list of str
        Ids of documents to leave out.
    """

    model_config = ConfigDict(extra="allow")

    name: Annotated[str, WithJsonSchema({"component": "corpora"})]
    classes: Annotated[Distinct[str], Field(min_length=2)] | None = None
    exclude: list[str] = Field([])


class TextSection(ConfigSection):
    """`text:` how documents become counts; see `Lexing` and `Pruning`.

    Parameters
    ----------
    lexer : str or None
        Which letters make a word: those of every script (unicode), or those of ASCII as Rainbow reads them
        (rainbow). By default rainbow for the corpora of the papers and unicode for others.
    skip_header : bool
        Whether to skip the header, up to the first blank line.
    skip_html : bool
        Whether to leave out tags and entities.
    digits : str
        How digits are read.
    stoplist : str
        Words to leave out, or a file of them: ./mine.txt.
    stemmer : str
        Whether a word is counted as its stem: "oil" and "oils" are one term. The stop list is of words and of stems,
        and all minimums are of stems.
    min_length : int
        How many letters a word, or its stem, has at least.
    fields : str or list of str
        Which parts of a document are counted, each by itself: all of it, columns of the text, or parts of its
        format: for mail header, body, quoted, own, or any header line by its name; for HTML title, headings,
        anchors, body.
    ngrams : int or list of int
        How many consecutive words make a term; [] for characters alone.
    characters : int or list of int
        Lengths of the shortest and the longest n-gram of characters that is counted, such as [3, 5]; they are a
        block of terms of their own.
    within : str
        Between which borders n-grams of characters are found.
    min_occurrences : int
        How often a word must occur to be in the vocabulary.
    min_documents : int
        In how many documents a word must occur.
    vocabulary_from : str or None
        Where both minimums are counted: in a group, such as train; or in the training documents of each split
        (training). By default in all documents.
    """

    lexer: Annotated[str, one_of(LEXERS)] | None = None
    skip_header: bool = False
    skip_html: bool = False
    digits: Annotated[str, one_of(DIGIT_RULES)] = "drop"
    stoplist: Annotated[str, one_of(STOPLISTS)] | Annotated[str, Field(pattern=r"\.txt$")] = "smart"
    stemmer: Annotated[str, one_of(STEMMERS)] = "none"
    min_length: int = Field(default=1, ge=1)
    fields: Listed[Annotated[str, Field(pattern=r"^[^:\x00-\x1f]+$", max_length=100)]] = Field(
        default=["all"], min_length=1, max_length=20
    )
    ngrams: Listed[Annotated[int, Field(ge=1, le=MAX_NGRAM_LENGTH)]] = Field(default=[1], max_length=MAX_NGRAM_LENGTH)
    characters: Listed[Annotated[int, Field(ge=1, le=MAX_CHARACTERS)]] = Field(default=[], max_length=2)
    within: Annotated[str, one_of(WITHIN)] = WORDS
    min_occurrences: int = Field(default=1, ge=1)
    min_documents: int = Field(default=1, ge=1)
    vocabulary_from: str | None = None


def collection_from_config(corpus: CorpusSection, tasks: Sequence[Any], node: Node, corpora: Registry) -> Collection:
    """Return the documents and lexing that a configuration names."""
    at = node["corpus"]
    reader = _reader(at, corpora)
    if reader.format not in (None, *FIELD_FINDERS):
        raise at["format"].error(unknown_name("format", reader.format, list(FIELD_FINDERS)))
    try:
        text, classes = text_from_config(node["text"], reader), _classes(reader, corpus.classes, tasks, at["classes"])
    except UnknownColumnError as error:
        key = next((key for key, each in at.children.items() if error.column in as_list(each.value)), "name")
        raise DataError(str(at[key].error(f"{key}: {error}"))) from None
    facts = reader.name, reader.subset, reader.multilabel, corpus.model_extra or {}
    return Collection(*facts, classes, tuple(corpus.exclude), text.lexing, text.pruning, reader)


def text_from_config(node: Node, reader: CorpusReader) -> TextSettings:
    """Return the lexing and pruning from the keys of `text`; raise ConfigError where a value isn't allowed."""
    text = validate_section(TextSection, node if node.value is not None else node.with_children({}))
    groups = (TRAINING, *reader.parts)
    if text.vocabulary_from is not None and text.vocabulary_from not in groups:
        raise node["vocabulary_from"].error(unknown_name("group", text.vocabulary_from, groups))
    lengths, words = text.characters, tuple(sorted(set(text.ngrams)))
    if not lengths and not words:
        raise node["ngrams"].error("no term would be left: ngrams may be empty where `characters` are counted")
    fields, kind = _fields(reader, text.fields, node["fields"])
    stopped = _user_stop_words(text.stoplist, node["stoplist"])
    settings = text.model_dump(exclude={"min_occurrences", "min_documents", "vocabulary_from"})
    settings |= {"lexer": text.lexer or reader.lexer, "ngrams": words, "fields": fields, "format": kind}
    settings |= {"characters": (min(lengths), max(lengths)) if lengths else (), "stopped": stopped}
    return TextSettings(Lexing(**settings), Pruning(text.min_occurrences, text.min_documents, text.vocabulary_from))


def _user_stop_words(name: str, node: Node) -> tuple[str, ...]:
    """Return the words of a file beside the configuration, lower-cased and composed; () for a list of this package."""
    if name in STOPLISTS:
        return ()
    path = node.folder / Path(name).expanduser()
    try:
        words = path.read_text(encoding="utf-8").split() or [""]  # an empty file leaves nothing out
    except (OSError, UnicodeDecodeError) as error:
        raise node.error(f"{path}: can't be read as a list of words: {error}") from None
    return tuple(sorted({unicodedata.normalize("NFC", word).lower() for word in words}))


def _reader(node: Node, corpora: Registry) -> CorpusReader:
    """Return the reader of the corpus that a configuration names."""
    name, sections = node["name"].value, list(CorpusSection.model_fields)
    for key in node.children if name in corpora else ():
        if key not in (allowed := [*sections[:1], *component_parameters(corpora[name]), *sections[1:]]):
            raise node[key].error(unknown_name("key", key, allowed))
    found = check_component("corpus", corpora, node.without("classes", "exclude"))
    more = {"base": node["path"].folder} if "base" in tags_of(found.cls).set_by_run else {}
    reader: CorpusReader = found.build(**more)
    return reader


def _fields(reader: CorpusReader, names: list[str], node: Node) -> tuple[tuple[str, ...], str | None]:
    """Return the fields to count, and the format that defines those which the reader doesn't list."""
    kind = reader.format
    known = (WHOLE_DOCUMENT, *reader.fields)
    for index, name in enumerate(names):
        if name not in known and not format_has_field(kind, name):
            allowed = [*known, *FIELD_FINDERS.get(kind or "", ())]
            raise node.at([index]).error(unknown_name(f"field of {reader.name}:", name, allowed))
    return tuple(dict.fromkeys(names)), kind if set(names) - set(known) else None


def _classes(reader: CorpusReader, listed: list[str] | None, tasks: Sequence[Any], node: Node) -> tuple[str, ...]:
    """Return the classes of `corpus`, or else those that `tasks` name, or else all classes of the corpus."""
    known = reader.classes
    if listed is None and tasks and all(isinstance(task, list) for task in tasks):
        named = dict.fromkeys(name for task in tasks for name in task)
        return tuple(named) if named.keys() <= set(known) else known  # list_tasks reports unknown classes
    classes, allowed = known if listed is None else tuple(listed), dict.fromkeys(known)
    for index, each in enumerate(classes):
        check_known(f"class of {reader.name}:", each, allowed, node[index])
    if not 2 <= len(classes) <= MAX_CLASSES:
        raise node.error(f"{len(classes):,} classes: must be two or more different names, and {MAX_CLASSES:,} at most")
    return classes


def outline_documents(collection: Collection) -> Documents:
    """Return the documents that a collection will have, right in number, class and group; ids may be placeholders."""
    return collection.reader.outline().of_classes(collection.classes)[1]
