"""Small corpora in the formats of the true ones, and the ways to pack them."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING, Any

from benchmark.corpora.archive import content_digest
from benchmark.corpora.card import DatasetCard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PAGE = b"MIME-Version: 1.0\r\n\r\n<html>%d</html>\n"
LONG = b"http:^^www.cs.wisc.edu^" + b"a" * 180
NAMES = {
    "webkb": [
        b"course/cornell/http:^^x^",
        b"course/misc/http:^^y^\r",
        b"faculty/cornell/caf\xe9",
        b"faculty/cornell/" + LONG,
        b"faculty/misc/z",
    ],
    "20ng": [
        b"20news-bydate-test/alt.atheism/53068",
        b"20news-bydate-test/sci.med/59284",
        b"20news-bydate-train/alt.atheism/49960",
        b"20news-bydate-train/alt.atheism/51060",
        b"20news-bydate-train/sci.med/57110",
    ],
}
FACTS: dict[str, dict[str, Any]] = {
    "webkb": {
        "archives": ("webkb-data.gtar.gz", "webkb-data.tar"),
        "tops": ("course", "faculty"),
        "counts": {"course": {"cornell": 1, "misc": 1}, "faculty": {"cornell": 2, "misc": 1}},
    },
    "20ng": {
        "archives": ("20news-bydate.tar.gz",),
        "tops": ("20news-bydate-train", "20news-bydate-test"),
        "counts": {"alt.atheism": {"train": 2, "test": 1}, "sci.med": {"train": 1, "test": 1}},
    },
}


def small_files(name: str) -> dict[bytes, bytes]:
    """A few documents laid out as the corpus's."""
    return {relpath: PAGE % number for number, relpath in enumerate(NAMES[name])}


def small_card(name: str, **changes: Any) -> DatasetCard:
    """The card of `small_files`."""
    facts = {"digest": content_digest(small_files(name)), "title": f"Small {name}", "licence": "Free.", "citation": "-"}
    return DatasetCard.model_validate({"name": name, **facts, **FACTS[name], **changes})


def pack_files(
    files: Mapping[bytes, bytes],
    path: Path,
    *,
    prefix: bytes = b"",
    mode: str = "w:gz",
    format_: int = tarfile.GNU_FORMAT,
    members: Iterable[tarfile.TarInfo] = (),
) -> Path:
    """Write an archive of `files`, each name after `prefix`, in the order given, then the `members` without content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, mode, format=format_, encoding="utf-8", errors="surrogateescape") as tar:  # type: ignore[call-overload]
        for relpath, content in files.items():
            member = tarfile.TarInfo((prefix + relpath).decode("utf-8", "surrogateescape"))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for member in members:
            tar.addfile(member)
    return path
