"""Croissant 1.1 metadata of a dataset card, the JSON-LD that dataset indexes and libraries read.

Where the card has them, the fields of Croissant's extension for responsible AI (RAI 1.0) are there, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmark.corpora.card import DatasetCard, SubsetCounts

VERSION = "http://mlcommons.org/croissant/1.1"
RAI_VERSION = "http://mlcommons.org/croissant/RAI/1.0"
_OWN: tuple[str, ...] = (
    "arrayShape",
    "column",
    "containedIn",
    "data",
    "dataType",
    "extract",
    "field",
    "fileObject",
    "fileProperty",
    "fileSet",
    "format",
    "includes",
    "isArray",
)
_OWN += ("jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated", "replace")
_OWN += ("samplingRate", "separator", "source", "subField", "transform", "isLiveDataset", "citeAs", "examples")
_TYPED = {"data": "@json", "dataType": "@vocab", "examples": "@json"}
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "description": {"@container": "@language"},
    "name": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    **{name: {"@id": f"cr:{name}", "@type": _TYPED[name]} if name in _TYPED else f"cr:{name}" for name in _OWN},
}
_FIELDS = {"class": "sc:Text", "group": "sc:Text", "documents": "sc:Integer"}


def croissant(card: DatasetCard) -> dict[str, Any]:
    """Return the metadata of a corpus: addresses, licence, and the number of documents by class and group.

    The archive is included only if the card has its sha256, which Croissant requires. The documents themselves are in
    formats that Croissant can't describe, so that no record set contains them. `identifier` is the digest of the
    content.
    """
    counted: dict[str, DatasetCard | SubsetCounts] = {"documents": card, **card.subsets}
    metadata = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [VERSION, RAI_VERSION] if (rai := _responsible(card)) else VERSION,
        "name": card.name,
        "description": " ".join([card.title + ".", *card.notes.split()]),
        "identifier": f"sha256:{card.digest}",
        "license": card.licence,
        "citeAs": card.citation,
        "url": next(iter(card.addresses), None),
        "distribution": _distribution(card),
        **rai,
        "recordSet": [_record_set(name, part) for name, part in counted.items()],
    }
    return {key: value for key, value in metadata.items() if value}


def _responsible(card: DatasetCard) -> dict[str, Any]:
    """Return the fields of responsible AI that the card has facts for."""
    fields = {
        "rai:dataCollection": " ".join(card.collection.split()),
        "rai:dataUseCases": list(card.uses),
        "rai:dataLimitations": list(card.limitations),
        "rai:dataBiases": list(card.biases),
        "rai:personalSensitiveInformation": list(card.personal),
    }
    return {name: facts for name, facts in fields.items() if facts}


def _distribution(card: DatasetCard) -> list[dict[str, Any]]:
    """Return the archive as a Croissant file object; nothing without a sha256 or an address."""
    if card.archive_sha256 is None or not card.addresses:
        return []
    file = {"@type": "cr:FileObject", "@id": card.archives[0], "name": card.archives[0], "sha256": card.archive_sha256}
    return [file | {"contentUrl": card.addresses[0], "encodingFormat": "application/gzip"}]


def _record_set(name: str, part: DatasetCard | SubsetCounts) -> dict[str, Any]:
    """Return a record for each class and group; ids include the record set's name, because they must be unique."""
    rows = [(of, group, n) for of, groups in part.counts.items() for group, n in groups.items()]
    fields = [
        {"@type": "cr:Field", "@id": f"{name}/{field}", "name": f"{name}/{field}", "dataType": kind}
        for field, kind in _FIELDS.items()
    ]
    data = [dict(zip((field["@id"] for field in fields), row, strict=True)) for row in rows]
    text = "Number of documents by class and group. A document with several classes counts for each of them."
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": text, "field": fields, "data": data}
