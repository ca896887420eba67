"""What can be shown without training: plans, comparisons of finished runs, registries, statistics of a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.classifiers import CLASSIFIERS
from benchmark.config.components import REQUIRED, parameters
from benchmark.corpora import registry as corpora
from benchmark.errors import ConfigError, unknown
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.experiment import kinds
from benchmark.experiment.folder import computed_from, read_manifest, read_results
from benchmark.experiment.manifest import differing
from benchmark.kernels import KERNELS
from benchmark.measures import MEASURES
from benchmark.report.grids import Part

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.corpora.card import DatasetCard
    from benchmark.corpora.corpus import Documents
    from benchmark.text.counts import Counts

REGISTRIES: dict[str, Mapping[str, type[Any]]] = {
    "kernels": KERNELS,
    "classifiers": CLASSIFIERS,
    "protocols": PROTOCOLS,
    "measures": MEASURES,
}
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
        return kinds.compare_cells(results, a, b)


def compare_runs(folder: Path, other: Path) -> list[Part]:
    """Two runs: where their manifests differ, then the scores of the cells that both have."""
    manifest = read_manifest(folder)
    if str(other) in manifest.get("cells", {}):
        raise ConfigError(f"{str(other)!r} is a cell of {folder}; name another one to compare it with")
    differences = [(key, _short(a), _short(b)) for key, a, b in differing(manifest, read_manifest(other))]
    part = Part("Where the manifests differ", ("key", folder.name, other.name), differences, "nowhere")
    one, two = read_results(folder), read_results(other)
    with computed_from(other):
        shared = kinds.compare_runs(one, two, (folder.name, other.name))
    if shared is None:
        shared = [Part("Scores", (), [], "the runs are of different kinds: nothing to compare")]
    return [part, *shared]


def registered(what: str) -> list[Part]:
    """What configurations can name: all of it, or one kind."""
    if what and what not in ("datasets", *REGISTRIES):
        raise ConfigError(unknown("list", what, ["datasets", *REGISTRIES]))
    cards = [corpora.card(name) for name in corpora.registered()]
    rows: dict[str, list[tuple[Any, ...]]] = {"datasets": [(card.name, _subsets(card), card.title) for card in cards]}
    for kind, registry in REGISTRIES.items():
        rows[kind] = [(name, _signature(cls), _first_sentence(cls)) for name, cls in registry.items()]
    return [Part(kind, ("name", "parameters", "what it is"), each) for kind, each in rows.items() if what in ("", kind)]


def dataset_rows() -> list[tuple[Any, ...]]:
    """Each corpus with its size and where it was found."""
    rows = []
    for name in corpora.registered():
        card, where = corpora.card(name), corpora.find(name) or f"not here: bench data fetch {name}"
        rows.append((name, card.total, len(card.classes), ", ".join(card.groups), str(where)))
    return rows


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
    return [
        Part("Documents", ("class", *documents.group_names, "total"), rows),
        Part("Sizes", ("", "least", "quartile", "median", "quartile", "most"), sizes),
        Part("Totals", ("", "number"), totals),
    ]


def _by_group(documents: Documents, which: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.bincount(documents.groups[which], minlength=len(documents.group_names))


def _subsets(card: DatasetCard) -> str:
    return f"subset: {', '.join(card.subset_names)}" if card.subsets else ""


def _signature(cls: type[Any]) -> str:
    found = []
    for name, (annotation, default) in parameters(cls).items():
        text = annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("collections.abc.", "")
        found.append(f"{name}: {text}" if default is REQUIRED else f"{name}={default!r}")
    return ", ".join(found)


def _first_sentence(cls: type[Any]) -> str:
    return (cls.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ").strip()


def _short(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
