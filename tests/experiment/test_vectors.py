"""Vectors that were made elsewhere: a classifier predicts as it does when it is used on them by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store

CONFIG = """
name: vectors
corpus: {{name: synthetic{subset}}}
text: {{stoplist: none}}
protocol: {{name: leave-one-group-out, held_out: [cornell]}}
methods: [mnb, {entry}]
"""


LOGISTIC = "{name: v, vectors: FILE, classifier: {name: sklearn.linear_model.LogisticRegression, C: 10}}"


@pytest.fixture
def checked(tmp_path):
    def check(entry, subset=""):
        path = tmp_path / "vectors.yaml"
        path.write_text(CONFIG.format(entry=entry, subset=subset))
        return load_checked(path)

    return check


@pytest.fixture
def made(checked, tmp_path):
    """Ids, labels and tested rows of the corpus, and a random projection of its counts as vectors."""
    counts, *_ = read_counts(checked("ngd").variants["base"].collection, RunContext(Store(tmp_path / "counted")))
    documents, rng = counts.documents, np.random.default_rng(0)
    matrix = np.asarray(np.sqrt(counts.matrix) @ rng.normal(size=(counts.matrix.shape[1], 12)), dtype=np.float32)
    tested = documents.parts == documents.part_names.index("cornell")
    return np.array(documents.ids), documents.labels, tested, matrix


def files(folder, ids, matrix):
    """Write the vectors in each form, in another order than the documents', and return the entries that name them."""
    order = np.random.default_rng(1).permutation(len(ids))
    ids, matrix = ids[order], matrix[order]
    frame = pd.DataFrame(matrix, columns=[f"x{number}" for number in range(matrix.shape[1])])
    frame.assign(id=ids).to_parquet(folder / "columns.parquet")
    pd.DataFrame({"document": ids, "embedding": list(matrix), "text": "x"}).to_parquet(folder / "lists.parquet")
    np.save(folder / "rows.npy", matrix)
    (folder / "ids.txt").write_text("\n".join(ids))
    return {
        "columns": "columns.parquet",
        "lists": "{file: lists.parquet, id: document, column: embedding}",
        "npy": "{file: rows.npy, ids: ids.txt}",
    }


@pytest.mark.parametrize(("form", "normalization"), [("columns", "none"), ("lists", "l2"), ("npy", "none")])
def test_the_classifier_gets_the_vectors_by_their_ids_as_float32(checked, made, tmp_path, form, normalization):
    ids, labels, tested, matrix = made
    entry = LOGISTIC.replace("FILE", files(tmp_path, ids, matrix)[form])
    run = run_experiment(
        checked(entry.replace("classifier", f"normalization: {normalization}, classifier", 1)),
        RunContext(Store(tmp_path / "store")),
    )
    points = normalize(matrix) if normalization == "l2" else matrix
    assert points.dtype == np.float32
    oracle = LogisticRegression(C=10, random_state=0).fit(points[~tested], labels[~tested])
    predicted = next(each for key, each in run.predictions.settings.items() if key.method == "v").predicted
    np.testing.assert_array_equal(predicted, oracle.predict(points[tested]))
