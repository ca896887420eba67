"""`corpus` and `text` to a collection, checked before any text is read, by a dataset card or the user's files."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.config.components import check_component, component_parameters
from benchmark.config.model import Collection, TextSettings
from benchmark.config.schema import CorpusSection, TextSection
from benchmark.config.schema_errors import check_known, validate_section
from benchmark.corpora.user.records import UnknownColumnError
from benchmark.system.checks import as_list
from benchmark.system.errors import DataError, unknown_name
from benchmark.system.tags import tags_of
from benchmark.text.fields import FIELD_FINDERS, format_has_field
from benchmark.text.lexer import STOPLISTS, TRAINING, WHOLE_DOCUMENT, Lexing, Pruning

#: Predictions are stored as numbers of 16 bits.
MAX_CLASSES = 2**15 - 1

if TYPE_CHECKING:
    from benchmark.config.schema import ExperimentSection
    from benchmark.corpora.corpus import Documents
    from benchmark.corpora.reader import CorpusReader
    from benchmark.system.registries import Registry
    from benchmark.system.yaml_source import Node


def collection_from_config(config: ExperimentSection, node: Node, corpora: Registry) -> Collection:
    """Return the documents and lexing that a configuration names."""
    corpus, at = config.corpus, node["corpus"]
    reader = _reader(at, corpora)
    if reader.format not in (None, *FIELD_FINDERS):
        raise at["format"].error(unknown_name("format", reader.format, list(FIELD_FINDERS)))
    try:
        text, classes = text_from_config(node["text"], reader), _classes(reader, config, at["classes"])
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
    how = text.skip_header, text.skip_html, text.digits, text.stoplist, text.lexer or reader.lexer
    lengths = tuple(text.characters) and (text.characters[0], text.characters[-1])
    words = tuple(sorted(set(text.ngrams)))
    fields = _fields(reader, text.fields, node["fields"])
    stopped = _user_stop_words(text.stoplist, node["stoplist"])
    lexing = Lexing(*how, words, *fields, lengths, text.within, stopped, text.stemmer, text.min_length)
    return TextSettings(lexing, Pruning(text.min_occurrences, text.min_documents, text.vocabulary_from))


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


def _classes(reader: CorpusReader, config: ExperimentSection, node: Node) -> tuple[str, ...]:
    """Return the classes of `corpus`, or else those that `tasks` name, or else all classes of the corpus."""
    known, listed = reader.classes, config.corpus.classes
    if listed is None and config.tasks and all(isinstance(task, list) for task in config.tasks):
        named = dict.fromkeys(name for task in config.tasks if isinstance(task, list) for name in task)
        return tuple(named) if named.keys() <= set(known) else known  # list_tasks reports unknown classes
    classes = known if listed is None else tuple(listed)
    allowed = dict.fromkeys(known)
    for index, each in enumerate(classes):
        check_known(f"class of {reader.name}:", each, allowed, node[index])
    if len(classes) < 2:
        raise node.error("classes must be two or more different names")
    if len(classes) > MAX_CLASSES:
        raise node.error(f"{len(classes):,} classes: predictions have numbers for {MAX_CLASSES:,} at most")
    return classes


def outline_documents(collection: Collection) -> Documents:
    """Return the documents that a collection will have, right in number, class and group; ids may be placeholders."""
    return collection.reader.outline().of_classes(collection.classes)[1]
