"""What the kernels see, as files for anyone's own tools."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from sklearn.datasets import dump_svmlight_file

from benchmark.experiment.session import ensure_writable
from benchmark.report.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.text.counts import Counts


def export_counts(counts: Counts, folder: Path) -> list[Path]:
    """Write counts.svmlight, vocabulary.txt and documents.csv.

    Rows of the three agree: line i of counts.svmlight is line i of documents.csv (after its header), and feature j
    is line j of vocabulary.txt. The label of counts.svmlight is the class's position among the classes, from 1.
    """
    ensure_writable(folder)
    documents = counts.documents
    svmlight = io.BytesIO()
    dump_svmlight_file(counts.matrix, documents.labels + 1, svmlight, zero_based=False)
    table = io.StringIO()
    # Names are quoted always: WebKB has some that end in a carriage return.
    writer = csv.writer(table, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["id", "label", "group"])
    for name, label, group in zip(documents.ids, documents.labels, documents.groups, strict=True):
        writer.writerow([name, documents.classes[label], documents.group_names[group]])
    contents = {
        "counts.svmlight": svmlight.getvalue(),
        "vocabulary.txt": "".join(f"{term}\n" for term in counts.vocabulary).encode(),
        "documents.csv": table.getvalue().encode(),
    }
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in contents]
