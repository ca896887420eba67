"""Corpora as another edition or another lexer may have had them: documents added, and texts rewritten.

No words and no counts of a corpus stand here: what is added or dropped follows from a rule and a seed.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

from benchmark.corpora.archive import read_files
from benchmark.corpora.corpus import Documents, concatenate_texts
from benchmark.corpora.reader import CorpusReader
from benchmark.corpora.registry import Newsgroups, Reuters
from benchmark.corpora.reuters import read_articles
from benchmark.system.errors import ConfigError

#: The edition of 18,941 posts has these more than that of 18,846: 0.4 of each group's posts, rounded down, are tested.
MORE_POSTS = {"train": 59, "test": 36}
_LETTERS = re.compile(rb"[A-Za-z]+")
_UUENCODED = re.compile(rb"^(?:begin [0-7]{3} .*|M[\x20-\x60]{60}|end)\r?$", re.MULTILINE)
_BASE64 = re.compile(rb"^[A-Za-z0-9+/]{60,76}={0,2}\r?$", re.MULTILINE)


def _spelled(found):
    """Return a byte that is no letter as letters, so that a lexer of letters reads it as a part of a word."""
    byte = found.group()[0]
    return b"qz" + bytes([97 + byte // 16, 97 + byte % 16])


#: Texts rewritten so that the lexer of letters finds the words of another lexer.
TOKENS = {
    "letters": lambda text: text,
    "alphanumeric": lambda text: re.sub(rb"[0-9]", _spelled, text),
    "white-space": lambda text: re.sub(rb"[^A-Za-z\s]", _spelled, text),
    "without-encoded-lines": lambda text: _BASE64.sub(b"", _UUENCODED.sub(b"", text)),
}


@dataclass(frozen=True)
class AlteredNewsgroups(CorpusReader):
    """20 Newsgroups with posts added, or with texts rewritten for another lexer.

    Parameters
    ----------
    added : {"none", "copies", "cross-posts"}
        Posts that are added, 59 to the training and 36 to the test part: copies of posts under their own newsgroup; or
        copies under another newsgroup of the same hierarchy, such as comp. The edition by date has no header lines that
        name the newsgroups of a post.
    seed : int
        Seed by which they are drawn.
    tokens : str
        One of `TOKENS`.
    """

    added: str = "none"
    seed: int = 0
    tokens: str = "letters"

    name = "20ng-altered"
    lexer = "rainbow"
    format = "mail"

    def check(self):
        """Refuse names that are none."""
        if self.added not in ("none", "copies", "cross-posts"):
            raise ConfigError(f"added may be none, copies or cross-posts, not {self.added!r}")
        if self.tokens not in TOKENS:
            raise ConfigError(f"tokens may be {', '.join(TOKENS)}, not {self.tokens!r}")

    def outline(self):
        """Return stand-ins for the posts of the distributed edition."""
        return Newsgroups().outline()

    def locate(self, *, download, notify):
        """Find the archive of the distributed edition."""
        return Newsgroups().locate(download=download, notify=notify)

    def content(self, source):
        """Return what determines the posts: the archive and the parameters."""
        return {"of": dict(Newsgroups().content(source)), "how": [self.added, self.seed, self.tokens]}

    def load(self, source):
        """Read the posts, add some, and rewrite their texts."""
        corpus = Newsgroups().load(source)
        texts, documents = list(corpus), corpus.documents
        if self.added != "none":
            rows, labels = self._added(documents)
            texts += [texts[row] for row in rows]
            ids = (f"{documents.ids[r]} again, as {documents.classes[c]}" for r, c in zip(rows, labels, strict=True))
            documents = Documents(
                (*documents.ids, *ids),
                np.concatenate([documents.labels, labels]).astype(np.int32),
                np.concatenate([documents.parts, documents.parts[rows]]),
                documents.classes,
                documents.part_names,
            )
        text, bounds = concatenate_texts([TOKENS[self.tokens](bytes(text)) for text in texts])
        return replace(corpus, documents=documents, text=text, bounds=bounds, fields={})

    def _added(self, documents):
        """Draw the rows of posts that are added, and their newsgroups."""
        candidates = [
            (row, label)
            for row in range(len(documents))
            for label in ([documents.labels[row]] if self.added == "copies" else _of_hierarchy(row, documents))
        ]
        drawn, rng = [], np.random.default_rng([self.seed, 95])
        for part, number in MORE_POSTS.items():
            of_part = [each for each in candidates if documents.part_names[documents.parts[each[0]]] == part]
            drawn += [of_part[i] for i in rng.choice(len(of_part), number, replace=False)]
        rows, labels = zip(*drawn, strict=True)
        return np.array(rows), np.array(labels)


def _of_hierarchy(row, documents):
    """Return the other newsgroups of the hierarchy of a post's."""
    own = documents.classes[documents.labels[row]]
    same = [each.split(".")[0] == own.split(".")[0] and each != own for each in documents.classes]
    return np.flatnonzero(same)


@dataclass(frozen=True)
class WithoutSharedWords(CorpusReader):
    """Single-topic stories of Reuters-21578 without the words that many of the classes share.

    Parameters
    ----------
    among : list of str
        Classes whose words are compared; the corpus has their stories alone.
    shared : int
        Number of these classes in which a word must occur to be dropped.
    """

    among: list[str]
    shared: int

    name = "reuters-without-shared"
    lexer = "rainbow"

    def outline(self):
        """Return stand-ins for the single-topic stories."""
        return self._reader.outline()

    @property
    def _reader(self):
        return Reuters("body-and-single-topic")

    def locate(self, *, download, notify):
        """Find the archive."""
        return self._reader.locate(download=download, notify=notify)

    def content(self, source):
        """Return what determines the stories: the archive and the parameters."""
        return {"of": dict(self._reader.content(source)), "how": [list(self.among), self.shared]}

    def load(self, source):
        """Read the stories, and blank the shared words."""
        corpus = self._reader.load(source)
        documents, texts, classes_of = corpus.documents, list(corpus), defaultdict(set)
        codes = {documents.classes.index(name) for name in self.among}
        for label, text in zip(documents.labels, texts, strict=True):
            if label in codes:
                for word in set(_LETTERS.findall(text.lower())):
                    classes_of[word].add(label)
        dropped = {word for word, found in classes_of.items() if len(found) >= self.shared}
        kept = [
            _LETTERS.sub(lambda word: b" " if word.group().lower() in dropped else word.group(), text) for text in texts
        ]
        text, bounds = concatenate_texts(kept)
        return replace(corpus, text=text, bounds=bounds, fields={})


#: Rules by which stories without a text body may have been deleted.
KEPT = {
    "all": lambda _: True,
    "not-brief": lambda story: story.text_type != "BRIEF",
    "normal": lambda story: story.text_type == "NORM",
    "body": lambda story: story.body is not None,
    "body-with-a-letter": lambda story: story.body is not None and bool(_LETTERS.search(story.body)),
    "body-of-two-words": lambda story: story.body is not None and len(_LETTERS.findall(story.body)) > 1,
    "body-or-text-with-a-letter": lambda story: bool(_LETTERS.search(story.body or story.text or b"")),
    "body-or-text-of-two-words": lambda story: len(_LETTERS.findall(story.body or story.text or b"")) > 1,
    "normal-with-a-title": lambda story: story.text_type == "NORM" and bool(story.title),
    "body-of-several-lines": lambda story: story.body is not None and story.body.strip().count(b"\n") > 0,
}


@dataclass(frozen=True)
class KeptStories(CorpusReader):
    """The ModApte split of Reuters-21578 after the deletion of some stories, with all topics.

    Parameters
    ----------
    keep : str
        One of `KEPT`.
    repeated : bool
        Whether to keep the second of two stories of one part with the same title and text.
    labelled : bool
        Whether to keep only stories with at least one topic.
    """

    keep: str = "not-brief"
    repeated: bool = True
    labelled: bool = False

    name = "reuters-kept"
    lexer = "rainbow"

    def outline(self):
        """Return stand-ins for the stories of the whole split."""
        return Reuters().outline()

    def locate(self, *, download, notify):
        """Find the archive."""
        return Reuters().locate(download=download, notify=notify)

    def content(self, source):
        """Return what determines the stories: the archive and the parameters."""
        return {"of": dict(Reuters().content(source)), "how": [self.keep, self.repeated, self.labelled]}

    def load(self, source):
        """Read the split, and delete stories."""
        corpus = Reuters().load(source)
        files = read_files(source, Reuters().card)
        stories = {str(s.newid): s for path in sorted(files) for s in read_articles(bytes(files[path]))}
        rows, seen = [], set()
        for row, name in enumerate(corpus.documents.ids):
            story, part = stories[name], corpus.documents.parts[row]
            same = (part, story.title, story.body, story.text)
            topic = corpus.documents.topics[row].any() or not self.labelled
            if topic and KEPT[self.keep](story) and (self.repeated or same not in seen):
                rows.append(row)
            seen.add(same)
        return corpus.take(np.array(rows))


CORPORA = {each.name: each for each in (AlteredNewsgroups, WithoutSharedWords, KeptStories)}
