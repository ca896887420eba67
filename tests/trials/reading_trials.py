"""Mutants of SGML, HTML, mail, tables and JSON lines, through the readers of corpora and the lexer."""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zstandard
from mutations import mutated_bytes
from trial import Family, borrowed, chance, in_turn, unclear

from benchmark.corpora import file_digest, newsgroups, records, reuters, synthetic, webkb
from benchmark.corpora.archive import Source
from benchmark.corpora.assemble import gate
from benchmark.corpora.corpus import Corpus, Documents, join
from benchmark.corpora.files import DROPPED, OwnFiles
from benchmark.corpora.sgml import read_articles
from benchmark.errors import DataError
from benchmark.experiment.store import Store
from benchmark.text.lexer import DIGIT_RULES, LEXERS, Lexing
from benchmark.text.vocabulary import Pruning, count

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.text.counts import Counts

SGML_TOKENS = [
    b"<REUTERS", b"</REUTERS>", b"<REUTERS>", b"<TOPICS>", b"</TOPICS>", b"<D>", b"</D>", b"<DATE>", b"<TEXT>",
    b'<TEXT TYPE="UNPROC">', b"</TEXT>", b"<TITLE>", b"</TITLE>", b"<BODY>", b"</BODY>", b'NEWID="1"', b"NEWID='",
    b'TOPICS="YES"', b'LEWISSPLIT="TEST"', b'TYPE="BRIEF"', b"<!", b"-->", b"<![CDATA[", b"<", b">", b'"', b"'", b"=",
    b"&", b"&#", b"&#3;", b"&#999;", b"&lt;", b"&amp;lt;", b";", b"\0", b"\x1a", b"\xff", b"\xe9", b"\n", b"\r\n",
    b" ", b"9" * 5_000, b"A" * 300,
]  # fmt: skip
PAGE_TOKENS = [
    b"<", b">", b"<a href='x", b"</", b"<!--", b"-->", b"<script>", b"&", b"&#", b"&#233", b"&#233;", b"&lt;",
    b"&gt;", b"&nbsp;", b"&foo;", b"&yuml;", b"&#x41;", b";", b"\n\n", b"\r\n\r\n", b"\r", b"\n", b"\0", b"\xff",
    b"\xc3\xa9", b"0", b"123", b"a" * 98, b"b" * 99, b"c" * 100, b"9" * 120, b"A1b2", b"Subject: x\n", b"From ",
    b"\x7f", b"\t", b"#", b"<digits>",
]  # fmt: skip
PACKED: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
MAIL = (
    b"From: a.b@example.org (A B)\nSubject: Re: 2 questions\nOrganization: None\nLines: 12\n\n"
    b"In article <1993Apr5.1@x.org>, c@d.edu writes:\r\n>> 1 < 2 & 3 > 2; AT&T, caf\xe9 R2D2\r\n"
    b"--\n   A. B.  0x1F  1,000,000\n"
)


@functools.cache
def _pages() -> list[bytes]:
    return [MAIL, *(bytes(page) for page in list(synthetic.generate().values())[:6])]


def _twice(read: Callable[[], Any]) -> str | None:
    """Read twice: the same data or the same refusal, of kind DataError."""
    found = []
    for _ in range(2):
        try:
            found.append(read())
        except DataError as error:
            found.append(str(error))
    if found[0] != found[1]:
        return "read twice, and not alike"
    return unclear(found[0]) if isinstance(found[0], str) else None


def _comparable(corpus: Corpus) -> tuple[Any, ...]:
    documents = corpus.documents
    topics = None if documents.topics is None else documents.topics.tobytes()
    return documents.ids, documents.labels.tobytes(), documents.groups.tobytes(), topics, corpus.text.tobytes()


def sgml(number: int) -> str | None:
    """A small Reuters, some of it changed: the articles of its files, and the corpus that they are joined to."""
    random = chance("sgml", number)
    stories, written = borrowed("corpora/test_reuters"), borrowed("corpora/test_sgml")
    files = {
        **stories["FILES"],
        b"reut2-001.sgm": written["DOCTYPE"] + written["GOOD"] + stories["FILES"][b"reut2-001.sgm"],
    }
    name = random.choice(list(files))
    files[name] = mutated_bytes(random, files[name], SGML_TOKENS)
    card = stories["CARD"].subset(random.choice(stories["CARD"].subset_names))

    def joined() -> tuple[Any, ...]:
        corpus = reuters.read(files, card, card.digest)
        gate(corpus, card)
        return _comparable(corpus)

    return _twice(lambda: list(read_articles(files[name], "x.sgm"))) or _twice(joined)


def counted(texts: list[bytes], lexing: Lexing) -> Counts:
    n = len(texts)
    zeros = np.zeros(n, dtype=np.int32)
    documents = Documents(tuple(map(str, range(n))), zeros, zeros, ("class",), ("group",))
    return count(Corpus("trial", documents, *join(texts), "0" * 64), lexing, Pruning())


def pages(number: int) -> str | None:
    """Pages and posts, some changed, as a corpus with odd names, and each document by itself."""
    random = chance("pages", number)
    corpora = borrowed("corpora/conftest")
    reader, name = random.choice([(webkb, "webkb"), (newsgroups, "20ng")])
    card, files = corpora["small_card"](name), corpora["small_files"](name)
    files = {relpath: mutated_bytes(random, random.choice(_pages()), PAGE_TOKENS) for relpath in files}
    if random.random() < 0.3:
        relpath = random.choice(list(files))
        files[mutated_bytes(random, relpath, [b"/", b"\0", b"..", b"\xff", b"\n", b"x"])] = files.pop(relpath)
    skipped, digits = (random.random() < 0.5, random.random() < 0.7), random.choice(list(DIGIT_RULES))
    lexing = Lexing(*skipped, digits, random.choice(("smart", "none")), random.choice(list(LEXERS)))
    texts = list(files.values())
    together = counted(texts, lexing)
    for row, text in enumerate(texts):
        alone = counted([text], lexing)
        mine = together.matrix[[row]].tocoo()
        found = {together.vocabulary[column]: int(n) for column, n in zip(mine.coords[1], mine.data, strict=True)}
        expected = dict(zip(alone.vocabulary, map(int, alone.matrix.toarray()[0]), strict=True))
        if found != expected:
            return f"a document's words depend on its neighbours, lexed with {lexing}"
    if (counted(texts, lexing).matrix != together.matrix).nnz:
        return f"counted twice, and not alike, lexed with {lexing}"
    return _twice(lambda: _comparable(reader.read(files, card, card.digest)))


RECORDS = [
    {
        "id": f"d{n}",
        "text": text,
        "label": "xy"[n % 2],
        "tags": ["p", "q"][: n % 3],
        "who": n % 3,
        "day": f"2024-05-{n + 1:02}",
    }
    for n, text in enumerate(
        ("Gebühr, höher", 'a "quoted" word', "two\nlines", "проблема; 1,5", "x" * 50, "caf\u0301 \x00")
    )
]
RECORD_TOKENS = [
    b",", b";", b"\t", b'"', b'""', b"'", b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xc3", b"\xe2\x80\xa8",
    b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b":", b"null",
    b"true", b"NaN", b"Infinity", b"1e999", b"\\ud800", b"\\u0000", b'"text"',
    b'"label": ', b'"id": "d1"', b"text", b"label", b"9" * 5_000, b"[" * 2_000, b'{"a":' * 500, b"2024-13-45", b"-1",
    b"x" * 200_000, b"=1+1", b"\x1b[31m",
]  # fmt: skip


@functools.cache
def _tables() -> dict[str, bytes]:
    lines = "".join(json.dumps(row, ensure_ascii=bool(n % 2)) + "\n" for n, row in enumerate(RECORDS)).encode()
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, list(RECORDS[0]))
    writer.writeheader()
    writer.writerows({**row, "tags": ";".join(row["tags"])} for row in RECORDS)
    return {".csv": table.getvalue().encode(), ".tsv": table.getvalue().replace(",", "\t").encode(), ".jsonl": lines}


def tables(number: int) -> str | None:
    """A small corpus of one's own, some of it changed, plain or packed: its documents and words, or a reason."""
    random = chance("tables", number)
    kind = random.choice(list(_tables()))
    content = mutated_bytes(random, _tables()[kind], RECORD_TOKENS)
    end, pack = random.choice(list(PACKED.items()))
    content = mutated_bytes(random, pack(content), [b"\0", b"\xff"]) if random.random() < 0.2 else pack(content)
    columns = {"id": "id", "group": "who", "date": "day"}
    how: dict[str, Any] = {key: name for key, name in columns.items() if random.random() < 0.5}
    how |= {"labels": "tags", "separator": ";"} if random.random() < 0.3 else {}
    how["drop"] = random.sample(list(DROPPED), random.randint(0, len(DROPPED)))
    how["encoding"] = random.choice(("utf-8", "utf-8", "latin-1"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"own{kind}{end}"
        path.write_bytes(content)
        reader = OwnFiles(path.name, **how, base=Path(folder))

        def read() -> tuple[Any, ...]:
            documents, corpus = reader.outline(), reader.load(Source(None))
            counts = count(corpus, Lexing(lexer="unicode", stoplist="none"), Pruning())
            reader.facts()
            assert len(documents) == counts.matrix.shape[0] == len(corpus.rows)
            arrays = documents.labels, documents.groups, documents.units, documents.dates, documents.topics
            return documents.ids, counts.vocabulary, *(None if each is None else each.tobytes() for each in arrays)

        return _twice(read)


def ragged(number: int) -> str | None:
    """A table with one row that has cells too many or too few: refused with the line that it begins on."""
    random = chance("ragged", number)
    kind, delimiter, name = random.choice(
        [(".csv", ",", "commas"), (".csv", ";", "semicolons"), (".tsv", "\t", "tabs")]
    )
    width, end = random.randint(2, 6), random.choice(("\n", "\r\n"))
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(["text", "label", *(f"more{n}" for n in range(width - 2))])
    wrong, n_rows = random.randrange(30), 30
    for row in range(n_rows):
        out.write(end * random.choice((0, 0, 0, 1, 3)))
        text = random.choice(
            ("a few words", f"two{end}lines", f'"a{delimiter} b"', f"one{delimiter}two{end}{end}three")
        )
        cells = [text, "xy"[row % 2], *("" for _ in range(width - 2))]
        if row == wrong:
            line, n = out.getvalue().count("\n") + 1, random.choice([n for n in range(1, width + 4) if n != width])
            cells = (cells + ["more"] * n)[:n]
        writer.writerow(cells)
    content = random.choice(("", "\ufeff")) + out.getvalue()
    end, pack = random.choice(list(PACKED.items()))
    said = f":{line}: has {n} column{'s' if n > 1 else ''}, and the header has {width}"
    said += f"; quote the text if it holds {name}" if n > width else ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"own{kind}{end}"
        path.write_bytes(pack(content.encode()))
        try:
            OwnFiles(path.name, delimiter=delimiter, base=Path(folder)).outline()
        except DataError as error:
            return None if str(error) == f"{path}{said}" else f"not {said!r}: {error}"
    return "a row of another length was read"


def edited(number: int) -> str | None:
    """Files that are edited at a random stage: the counts of one content or a refusal, and what it was comes back."""
    random = chance("edited", number)
    tests = borrowed("experiment/test_edited_corpus")
    name, stage = random.choice(list(tests["FORMATS"])), random.choice(list(tests["STAGES"]))
    first, second = random.sample(range(2, 9), 2)
    old, new, forged = tests["FORMATS"][name](first), tests["FORMATS"][name](second), random.random() < 0.5
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        top, store = Path(folder), Store(Path(folder) / "store")
        patch.setattr(file_digest, "BLOCK", random.choice((100, 512, 4096, 2**20)))
        patch.setattr(records, "PIECE", random.choice((16, 64, 1024)))
        patch.setattr(records, "BATCH", random.choice((5, 20, 200)))
        tests["write"](top, new, forged=False)
        of_new = tests["counts_of"](top, name, Store(top / "fresh"))
        tests["write"](top, old, forged=False)
        of_old = tests["counts_of"](top, name, Store(top / "fresh"))
        tests["write"](top, old, forged=False)
        with pytest.MonkeyPatch.context() as stages:
            tests["STAGES"][stage](stages, lambda: tests["write"](top, new, forged=forged))
            found = tests["found_or_refused"](lambda: tests["counts_of"](top, name, store))
        if found not in (tests["REFUSAL"], of_old, of_new):
            return f"{name} edited while {stage}: neither the one's counts nor the other's: {str(found)[:300]}"
        tests["write"](top, old, forged=forged)
        if tests["counts_of"](top, name, store) != of_old:
            return f"{name} edited while {stage}: the store has other counts for what it was"
    return None


FAMILIES = [
    Family(
        "ragged", "tables with a row of another length: refused with the line that it begins on", ragged, 3_000, 300
    ),
    Family("edits", "files edited while a run reads them: counts of one content, or refused", edited, 1_500, 100),
    Family("tables", "mutants of CSV, TSV, JSON lines: refused with a reason, or the same words", tables, 6_000, 700),
    Family(
        "documents",
        "mutants of SGML, HTML, mail: refused with a reason, or the same words each time",
        in_turn(sgml, pages),
        12_000,
        2_000,
    ),
]
