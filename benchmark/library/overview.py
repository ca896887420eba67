"""What can be shown without training: comparisons of finished runs, statistics of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.errors import ConfigError, unknown
from benchmark.experiment.folder import computed_from, read_manifest, read_results
from benchmark.experiment.manifest import differing
from benchmark.findings import comparing
from benchmark.report.part import Part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.corpora.corpus import Documents
    from benchmark.text.counts import Counts

_LONGEST_SHOWN = 60


def compare_cells(folder: Path, a: str, b: str) -> list[Part]:
    """Two cells of a run: their scores, and every test of one against the other."""
    results = read_results(folder)
    if a == b:
        raise ConfigError(f"a comparison names two different cells, not {a!r} twice")
    ids = results.study.ids
    for name in (a, b):
        if name not in ids:
            raise ConfigError(unknown("cell", name, ids))
    with computed_from(folder):
        return comparing.compare_cells(results, a, b)


def other_run(folder: Path, name: str) -> Path:
    """The run that is named beside another one; ConfigError where it is a cell of that."""
    if name in read_manifest(folder).get("cells", {}):
        raise ConfigError(f"{name!r} is a cell of {folder}; name another one to compare it with")
    return Path(name)


def compare_runs(folder: Path, other: Path) -> list[Part]:
    """Two runs: where their manifests differ, then the scores of the cells that both have."""
    manifest = read_manifest(folder)
    differences = [(key, _short(a), _short(b)) for key, a, b in differing(manifest, read_manifest(other))]
    part = Part("Where the manifests differ", ("key", folder.name, other.name), differences, "nowhere")
    one, two = read_results(folder), read_results(other)
    if one.tested.isdisjoint(two.tested):
        raise ConfigError(f"{folder} and {other} share no documents: there is nothing to compare")
    with computed_from(other):
        return [part, *comparing.compare_runs(one, two, (folder.name, other.name))]


def statistics(counts: Counts) -> list[Part]:
    """Documents by class and group, and the sizes of documents and vocabulary."""
    documents = counts.documents
    sizes_of = dict(zip(documents.classes, documents.sizes(), strict=True))
    if documents.topics is not None:  # the classes overlap, and leave documents out
        sizes_of["(no class)"] = _by_group(documents, documents.topics.sum(axis=1) == 0)
        sizes_of["(all documents)"] = _by_group(documents, np.ones(len(documents), dtype=np.bool_))
    rows = [(name, *map(int, row), int(row.sum())) for name, row in sizes_of.items()]
    lengths, distinct = counts.matrix.sum(axis=1), np.diff(counts.matrix.indptr)
    sizes = [
        (name, *(f"{value:,.0f}" for value in np.percentile(values, [0, 25, 50, 75, 100])))
        for name, values in (("words in a document", lengths), ("different words in a document", distinct))
    ]
    totals = [("documents", len(documents)), ("documents without words", int((lengths == 0).sum()))]
    totals += [("vocabulary", len(counts.vocabulary)), ("words", int(lengths.sum()))]
    if len(counts.blocks) > 1:
        sizes_of_blocks = np.bincount(counts.block_of, minlength=len(counts.blocks))
        totals += [(f"vocabulary of {name}", int(n)) for name, n in zip(counts.blocks, sizes_of_blocks, strict=True)]
    return [
        Part("Documents", ("class", *documents.group_names, "total"), rows),
        Part("Sizes", ("", "least", "quartile", "median", "quartile", "most"), sizes),
        Part("Totals", ("", "number"), totals),
    ]


def _by_group(documents: Documents, which: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.bincount(documents.groups[which], minlength=len(documents.group_names))


def _short(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
