"""`corpus` and `text` to a collection, checked before any text is read, by a dataset card or the user's files."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.config.components import ComponentError, check_component, component_parameters
from benchmark.config.model import Collection, TextSettings
from benchmark.config.schema import TextSection, as_list
from benchmark.config.schema_errors import validate_section
from benchmark.corpora.user.records import UnknownColumnError
from benchmark.corpora.user.text_files import check_regular
from benchmark.system.errors import DataError, unknown_name
from benchmark.system.tags import tags_of
from benchmark.system.yaml_source import YamlSource
from benchmark.text.fields import FIELD_FINDERS, format_has_field
from benchmark.text.lexer import DIGIT_RULES, LEXERS, WHOLE_DOCUMENT, WITHIN, Lexing
from benchmark.text.pruning import TRAINING, Pruning
from benchmark.text.stoplist import STOPLISTS

#: End of the name of a user's stop list.
STOPLIST_SUFFIX = ".txt"
#: Predictions are stored as numbers of 16 bits.
MAX_CLASSES = 2**15 - 1

if TYPE_CHECKING:
    from benchmark.config.schema import ExperimentSection
    from benchmark.corpora.corpus import Documents
    from benchmark.corpora.reader import CorpusReader
    from benchmark.system.registries import Registry


def collection_from_config(config: ExperimentSection, source: YamlSource, corpora: Registry) -> Collection:
    """Return the documents and lexing that a configuration names."""
    corpus, reader = config.corpus, _reader(config, source, corpora)
    if reader.format not in (None, *FIELD_FINDERS):
        raise source.error(("corpus", "format"), unknown_name("format", reader.format, list(FIELD_FINDERS)))
    try:
        text, classes = text_from_config(text_section(source), reader), _classes(reader, config, source)
    except UnknownColumnError as error:
        key = next((key for key, given in source.data["corpus"].items() if error.column in as_list(given)), "name")
        raise DataError(str(source.error(("corpus", key), f"{key}: {error}"))) from None
    found = Collection.of(reader, classes, tuple(corpus.exclude), text, corpus.model_extra or {})
    n, least = len(outline_documents(found)), text.pruning.min_documents
    if least > n:
        problem = f"min_documents is {least:,}, and there are {n:,} documents: no word would be left"
        raise source.error(("text", "min_documents"), problem)
    return found


def text_section(source: YamlSource) -> YamlSource:
    """Return the section `text` of a configuration."""
    return source.part(("text",)) if "text" in source.data else YamlSource(source.name, {})


def text_from_config(source: YamlSource, reader: CorpusReader) -> TextSettings:
    """Return the lexing and pruning from the keys of `text`; raise ConfigError where a value isn't allowed."""
    text = validate_section(TextSection, source)
    stopped = _own_stop_words(text.stoplist, source)
    named = ("lexer", LEXERS), ("digits rule", DIGIT_RULES), ("stoplist rule", STOPLISTS), ("within", WITHIN)
    for what, allowed in named:
        key = what.partition(" ")[0]
        if key == "stoplist" and stopped:
            continue
        given = getattr(text, key)
        if given not in allowed and not (key == "lexer" and given is None):
            raise source.error((key,), unknown_name(what, given, list(allowed)))
    groups = (TRAINING, *reader.parts)
    if text.vocabulary_from is not None and text.vocabulary_from not in groups:
        raise source.error(("vocabulary_from",), unknown_name("group", text.vocabulary_from, groups))
    how = text.skip_header, text.skip_html, text.digits, text.stoplist, text.lexer or reader.lexer
    characters = _lengths(text, source)
    fields = _fields(reader, text.fields, source)
    words = tuple(sorted(set(text.ngrams)))
    lexing = Lexing(*how, words, *fields, characters, text.within, stopped)
    if len(set(lexing.blocks)) < len(lexing.blocks):
        raise source.error(("fields",), f"two blocks have the same name: {', '.join(lexing.blocks)}")
    return TextSettings(lexing, Pruning(text.min_occurrences, text.min_documents, text.vocabulary_from))


def _lengths(text: TextSection, source: YamlSource) -> tuple[int, ...]:
    """Return the lengths of the shortest and the longest n-gram of characters; () for none."""
    lengths = tuple(text.characters)
    if not lengths and not text.ngrams:
        raise source.error(("ngrams",), "no term would be left: ngrams may be empty where `characters` are counted")
    if lengths and lengths[0] > lengths[-1]:
        problem = f"characters is {list(lengths)}: the length of the shortest n-gram, then that of the longest"
        raise source.error(("characters",), problem)
    return lengths and (lengths[0], lengths[-1])


def _own_stop_words(name: str, source: YamlSource) -> tuple[str, ...]:
    """Return the words of a file beside the configuration, lower-cased and composed; () for a list of this package."""
    if not name.endswith(STOPLIST_SUFFIX):
        return ()
    path = source.folder(("stoplist",)) / Path(name).expanduser()
    try:
        check_regular(path)
        words = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError, DataError) as error:
        raise source.error(("stoplist",), f"{path}: can't be read as a list of words: {error}") from None
    if not words:
        raise source.error(("stoplist",), f"{path}: has no word; write stoplist: none")
    return tuple(sorted({unicodedata.normalize("NFC", word).lower() for word in words}))


def _reader(config: ExperimentSection, source: YamlSource, corpora: Registry) -> CorpusReader:
    """Return the reader of the corpus that a configuration names."""
    given = {"name": config.corpus.name, **(config.corpus.model_extra or {})}
    allowed = [*type(config.corpus).model_fields]
    allowed[1:1] = component_parameters(corpora[config.corpus.name]) if config.corpus.name in corpora else []
    for key in given if len(allowed) > len(type(config.corpus).model_fields) else ():
        if key not in allowed:
            raise source.error(("corpus", key), unknown_name("key", key, allowed))
    try:
        found = check_component("corpus", corpora, given)
    except ComponentError as error:
        raise source.error(("corpus", error.key), str(error)) from None
    more = {"base": source.folder(("corpus", "path"))} if "base" in tags_of(found.cls).set_by_run else {}
    reader: CorpusReader = found.build(**more)
    return reader


def _fields(reader: CorpusReader, given: list[str], source: YamlSource) -> tuple[tuple[str, ...], str | None]:
    """Return the fields to count, and the format that defines those which the reader doesn't list."""
    kind = reader.format
    known = (WHOLE_DOCUMENT, *reader.fields)
    for index, name in enumerate(given):
        if name not in known and not format_has_field(kind, name):
            more = "; of mail, any header line by its name" if kind == "mail" else ""
            named = unknown_name(f"field of {reader.name}:", name, [*known, *FIELD_FINDERS.get(kind or "", ())])
            raise source.error(("fields", index), named + more)
    return tuple(dict.fromkeys(given)), kind if set(given) - set(known) else None


def _classes(reader: CorpusReader, config: ExperimentSection, source: YamlSource) -> tuple[str, ...]:
    """Return the classes of `corpus`, or else those that `tasks` name, or else all classes of the corpus."""
    place, known = ("corpus", "classes"), reader.classes
    given = config.corpus.classes
    if given is None and config.tasks and all(isinstance(task, list) for task in config.tasks):
        named = dict.fromkeys(name for task in config.tasks if isinstance(task, list) for name in task)
        return tuple(named) if named.keys() <= set(known) else known  # tasks_of reports unknown classes
    classes = known if given is None else tuple(given)
    allowed = set(known)
    for index, each in enumerate(classes):
        if each not in allowed:
            raise source.error((*place, index), unknown_name(f"class of {reader.name}:", each, known))
    if len(set(classes)) != len(classes) or len(classes) < 2:
        raise source.error(place, "classes must be two or more different names")
    if len(classes) > MAX_CLASSES:
        raise source.error(place, f"{len(classes):,} classes: predictions have numbers for {MAX_CLASSES:,} at most")
    return classes


def outline_documents(collection: Collection) -> Documents:
    """Return the documents that a collection will have, right in number, class and group; ids may be placeholders."""
    return collection.reader.outline().of_classes(collection.classes)[1]
