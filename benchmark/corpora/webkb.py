"""WebKB: pages of computer science departments, by kind of page and by university (Craven et al. 1998)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.corpora.assemble import assemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.corpora.archive import FileContents
    from benchmark.corpora.card import DatasetCard
    from benchmark.corpora.corpus import Corpus


def read_webkb(files: FileContents, card: DatasetCard, digest: str) -> Corpus:
    """Join WebKB's pages; a page is ``<class>/<university>/<address with ^ for />``, and its group the university."""
    return assemble(files, card, digest, _place_of)


def _place_of(parts: Sequence[str]) -> tuple[str, str]:
    label, university, _ = parts
    return label, university
