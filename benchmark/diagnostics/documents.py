"""Documents by class and group ("earn-train"), to compare with what a paper prints; and coordinates of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.diagnostics.base import Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.system.arrays import join_names
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from benchmark.diagnostics.base import DiagnosticContext

#: The largest number of coordinates that a figure shows.
_MOST = 3


@dataclass(frozen=True)
class DocumentCounts(Diagnostic):
    """Documents of each class in each group of the collection as it was read, all documents, classes and words."""

    metrics: ClassVar[tuple[DiagnosticMetric, ...]] = tuple(
        DiagnosticMetric(unit, unit, decimals=0) for unit in ("documents", "classes", "words")
    )
    tags: ClassVar[Tags] = Tags(base_only=True, only_with_published=True)

    def compute(self, context: DiagnosticContext) -> DiagnosticNumbers:
        """Count documents by class and group, all of them, and the corpus's classes and words.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        DiagnosticNumbers
            Rows ``<class>-<group>``, ``all-<group>`` and ``all``, in documents; ``all``, in classes (of the corpus
            before some are selected) and in words. A note tells how many documents have no class, if there are some.
        """
        documents, corpus = context.counts.documents, context.variant.collection.reader
        parts, n_parts, rows = documents.part_names, len(documents.part_names), list[DiagnosticRow]()
        everything = "all", np.bincount(documents.parts, minlength=n_parts)
        for name, row in [*zip(documents.classes, documents.sizes(), strict=True), everything]:
            for part, n in zip(parts, row.tolist(), strict=True):
                rows.append(DiagnosticRow.without_interval(f"{name}-{part}", "documents", n, n))
        classes = documents.classes if corpus is None else corpus.classes
        totals = len(documents), len(classes), len(context.counts.vocabulary)
        rows += [DiagnosticRow.without_interval("all", m.name, n, n) for m, n in zip(self.metrics, totals, strict=True)]
        if documents.topics is None or (some := documents.topics.any(axis=1)).all():
            return DiagnosticNumbers(tuple(rows))
        negative = zip(np.bincount(documents.parts[~some], minlength=n_parts), parts, strict=True)
        without = ", ".join(f"{n:,} {part}" for n, part in negative)
        note = (
            f"Documents without any of the {len(documents.classes)} classes ({without}), whether they have other "
            "topics or none, are negative examples of every class in training and in testing."
        )
        return DiagnosticNumbers(tuple(rows), notes=(note,))


@dataclass(frozen=True)
class Coordinates(Diagnostic):
    """Coordinates of all points, from which figures of decision regions are drawn."""

    def compute(self, context: DiagnosticContext) -> DiagnosticNumbers:
        """Return the points, the names of their coordinates, and their parts.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        DiagnosticNumbers
            Arrays alone: ``points`` (n, d), ``names`` of the coordinates (text), ``parts`` (n,), and ``part_names``
            (text).

        Raises
        ------
        ValueError
            If the documents are not points with two or three coordinates.
        """
        counts = context.counts
        if counts.matrix.dtype.kind != "f" or not 2 <= counts.matrix.shape[1] <= _MOST:
            raise ValueError(f"a figure shows points with 2 or {_MOST} coordinates, not counts of terms")
        documents = counts.documents
        arrays = {"points": counts.matrix.toarray(), "parts": documents.parts}
        arrays |= {"names": join_names(counts.vocabulary), "part_names": join_names(documents.part_names)}
        return DiagnosticNumbers(arrays=arrays)
