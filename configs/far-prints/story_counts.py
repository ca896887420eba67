"""Stories by topic and part, and topics by the part in which they occur, of documents with any number of topics."""

from dataclasses import dataclass

import numpy as np

from benchmark.diagnostics.base import Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.system.arrays import join_names, split_names

LARGEST = ("earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn")
PARTS = ("train", "test")


@dataclass(frozen=True)
class StoryCounts(Diagnostic):
    """Number of stories in each part, in all and with each of the ten largest topics; and topics with stories."""

    metrics = (DiagnosticMetric("stories", "stories", decimals=0), DiagnosticMetric("topics", "topics", decimals=0))

    @property
    def rows(self):
        """Names of the numbers."""
        of_stories = [f"{name}-{part}" for name in ("all", *LARGEST) for part in PARTS]
        return (*of_stories, "in-train", "in-test", "in-either", "in-both")

    def compute(self, context):
        """Count the stories of each topic in each part, shape (topics, 2), and all stories."""
        documents = context.counts.documents
        of_part = [documents.parts == documents.part_names.index(part) for part in PARTS]
        return {
            "classes": join_names(documents.classes),
            "stories": np.stack([documents.topics[rows].sum(axis=0) for rows in of_part], axis=1).astype(np.int64),
            "all": np.array([rows.sum() for rows in of_part], dtype=np.int64),
        }

    def numbers(self, found):
        """Return the numbers; the interval of a count is the count itself."""
        stories, classes = found.arrays["stories"], list(split_names(found.arrays["classes"]))
        of_topic = {"all": found.arrays["all"]} | {name: stories[classes.index(name)] for name in LARGEST}
        rows = {
            (f"{t}-{part}", "stories"): n for t, row in of_topic.items() for part, n in zip(PARTS, row, strict=True)
        }
        train, test = (stories > 0).T
        masks = {"in-train": train, "in-test": test, "in-either": train | test, "in-both": train & test}
        rows |= {(name, "topics"): mask.sum() for name, mask in masks.items()}
        return DiagnosticNumbers(tuple(DiagnosticRow.without_interval(*key, n, int(n)) for key, n in rows.items()))


DIAGNOSTICS = {"story-counts": StoryCounts}
