"""Counts of a configuration as files that other tools read."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import dump_svmlight_file

from benchmark.corpora.user.counts_folder import BLOCKS_FILE, COUNTS_FILE, DOCUMENTS_FILE, VOCABULARY_FILE
from benchmark.report.writers import csv_text
from benchmark.system.atomic_files import check_folder_writable, write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.text.counts import Counts


def export_counts(counts: Counts, folder: Path) -> list[Path]:
    """Write counts.svmlight, vocabulary.txt and documents.csv, and blocks.txt if terms belong to several blocks.

    Line i of counts.svmlight is the document in line i of documents.csv (after its header). Feature j is the term in
    line j of vocabulary.txt, of the block in line j of blocks.txt. The label in counts.svmlight is the position of the
    class, from 1. A document with several classes has all of them, in documents.csv separated by spaces.

    Returns
    -------
    list of Path
        The files that were written.
    """
    check_folder_writable(folder)
    documents = counts.documents
    svmlight = io.BytesIO()
    if documents.topics is None:
        dump_svmlight_file(counts.matrix, documents.labels + 1, svmlight, zero_based=False)
    else:  # svmlight numbers the columns from 0: an empty first column makes the classes start at 1
        columns = np.column_stack([np.zeros(len(documents), dtype=int), documents.topics.astype(int)])
        dump_svmlight_file(counts.matrix, columns, svmlight, zero_based=False, multilabel=True)
    # Readers skip blank lines, which would shift later rows: a document with neither class nor term gets a zero.
    rows = [line if line.strip() else b" 1:0\n" for line in svmlight.getvalue().splitlines(keepends=True)]
    groups = (documents.part_names[group] for group in documents.parts)
    classes = [" ".join(documents.classes_of(row)) for row in range(len(documents))]
    # Names are always quoted: some in WebKB end in a carriage return.
    names = zip(documents.ids, classes, groups, strict=True)
    table = csv_text(("id", "label", "group"), names, quoted=True)
    contents = {
        COUNTS_FILE: b"".join(rows),
        VOCABULARY_FILE: "".join(f"{term}\n" for term in counts.vocabulary).encode(),
        DOCUMENTS_FILE: table.encode(),
    }
    (folder / BLOCKS_FILE).unlink(missing_ok=True)  # from an earlier export
    if counts.blocks != ("all",):
        contents[BLOCKS_FILE] = "".join(f"{counts.blocks[block]}\n" for block in counts.block_of).encode()
    for name, content in contents.items():
        write_atomically(folder / name, content)
    return [folder / name for name in contents]
