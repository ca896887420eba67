"""Documents by class and group ("earn-train"), classes and words, to compare with what a paper prints of its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.diagnostics.base import Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.system.string_arrays import join_names, split_names
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmark.diagnostics.base import Arrays, DiagnosticArrays, DiagnosticContext


@dataclass(frozen=True)
class DocumentCounts(Diagnostic):
    """Documents of each class in each group of the collection as it was read, all documents, classes and words."""

    metrics: ClassVar[tuple[DiagnosticMetric, ...]] = tuple(
        DiagnosticMetric(unit, unit, decimals=0) for unit in ("documents", "classes", "words")
    )
    tags: ClassVar[Tags] = Tags(base_only=True, only_with_published=True)

    def compute(self, context: DiagnosticContext) -> Arrays:
        """Count documents by class and group, all of them, those without a class, and the corpus's classes and words.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        dict of str to array
            ``documents`` (n_classes, n_parts), ``all`` and ``without`` (n_parts,), ``totals`` (classes of the corpus
            before some are selected, words), and the names ``classes``, ``parts`` (text).
        """
        documents, corpus = context.counts.documents, context.variant.collection.reader
        classes = documents.classes if corpus is None else corpus.classes
        sizes = np.asarray(documents.sizes(), dtype=np.int64)
        none = np.zeros(len(documents), dtype=bool) if documents.topics is None else ~documents.topics.any(axis=1)
        return {
            "documents": sizes,
            "all": np.bincount(documents.parts, minlength=len(documents.part_names)),
            "totals": np.array([len(classes), len(context.counts.vocabulary)]),
            "without": np.bincount(documents.parts[none], minlength=len(documents.part_names)),
            "classes": join_names(documents.classes),
            "parts": join_names(documents.part_names),
        }

    def numbers(self, found: DiagnosticArrays) -> DiagnosticNumbers:
        """Return a count for each class and group, and those of all; the interval of a count is the count itself.

        Parameters
        ----------
        found : DiagnosticArrays
            From `compute`.

        Returns
        -------
        DiagnosticNumbers
            Rows ``<class>-<group>``, ``all-<group>`` and ``all``, in documents; ``all``, in classes and in words.
        """
        arrays, groups = found.arrays, split_names(found.arrays["parts"])
        rows = dict(zip(split_names(arrays["classes"]), arrays["documents"], strict=True)) | {"all": arrays["all"]}
        counts = {
            (f"{name}-{group}", "documents"): n
            for name, row in rows.items()
            for group, n in zip(groups, row, strict=True)
        }
        totals = zip(self.metrics, (arrays["all"].sum(), *arrays["totals"]), strict=True)
        counts |= {("all", metric.name): n for metric, n in totals}
        return DiagnosticNumbers(tuple(DiagnosticRow.without_interval(*key, n, int(n)) for key, n in counts.items()))

    def notes(self, found: Sequence[DiagnosticArrays]) -> Iterable[str]:
        """Report how many documents have no class, and that these are negative examples.

        Parameters
        ----------
        found : sequence of DiagnosticArrays

        Returns
        -------
        iterable of str
            A line per variant with such documents.
        """
        for arrays in (each.arrays for each in found):
            if arrays["without"].any():
                counted = zip(arrays["without"], split_names(arrays["parts"]), strict=True)
                without = ", ".join(f"{n:,} {group}" for n, group in counted)
                yield (
                    f"Documents without any of the {len(arrays['documents'])} classes ({without}), whether they have "
                    "other topics or none, are negative examples of every class in training and in testing."
                )
