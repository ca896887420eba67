"""Documents by class and group ("earn-train"), to compare with a paper's table of its collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.diagnostics.base import Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.system.string_arrays import join_names, split_names
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.diagnostics.base import Arrays, DiagnosticArrays, DiagnosticContext, DiagnosticResults


@dataclass(frozen=True)
class DocumentCounts(Diagnostic):
    """Number of documents of each class in each group of the collection as it was read."""

    metrics: ClassVar[tuple[DiagnosticMetric, ...]] = (DiagnosticMetric("documents", "documents", decimals=0),)
    tags: ClassVar[Tags] = Tags(base_only=True, only_with_published=True)

    def compute(self, context: DiagnosticContext) -> Arrays:
        """Count the documents of each class, and those without a class, by group.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        dict of str to array
            ``documents`` (n_classes, n_parts), ``without`` (n_parts,), and the names ``classes``, ``parts`` (text).
        """
        documents = context.counts.documents
        sizes = np.asarray(documents.sizes(), dtype=np.int64)
        none = np.zeros(len(documents), dtype=bool) if documents.topics is None else ~documents.topics.any(axis=1)
        return {
            "documents": sizes,
            "without": np.bincount(documents.parts[none], minlength=len(documents.part_names)),
            "classes": join_names(documents.classes),
            "parts": join_names(documents.part_names),
        }

    def numbers(self, found: DiagnosticArrays) -> DiagnosticNumbers:
        """Return a count for each class and group; its interval is the count itself.

        Parameters
        ----------
        found : DiagnosticArrays
            From `compute`.

        Returns
        -------
        DiagnosticNumbers
            Rows ``<class>-<group>``, in documents.
        """
        arrays = found.arrays
        groups, rows = (
            split_names(arrays["parts"]),
            zip(split_names(arrays["classes"]), arrays["documents"], strict=True),
        )
        return DiagnosticNumbers(
            tuple(
                DiagnosticRow(f"{name}-{group}", "documents", Estimate(float(n), float(n), float(n), int(n), "count"))
                for name, row in rows
                for group, n in zip(groups, row, strict=True)
            )
        )

    def notes(self, reading: DiagnosticResults) -> Iterable[str]:
        """Report how many documents have no class, and that these are negative examples.

        Parameters
        ----------
        reading : DiagnosticResults

        Returns
        -------
        iterable of str
            A line per variant with such documents.
        """
        for arrays in (each.arrays for each in reading.found):
            if arrays["without"].any():
                counted = zip(arrays["without"], split_names(arrays["parts"]), strict=True)
                without = ", ".join(f"{n:,} {group}" for n, group in counted)
                yield (
                    f"Documents without any of the {len(arrays['documents'])} classes ({without}), whether they have "
                    "other topics or none, are negative examples of every class in training and in testing."
                )
