"""Every weighting against its formula, term by term, where documents, terms and classes are few or missing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.representation import WEIGHTINGS
from benchmark.representation.learnt_weighting import ClassLikelihood
from benchmark.representation.weighting import row_norms
from benchmark.representation.weightings import Aitchison
from benchmark.system.tags import NORMALIZATIONS
from tests.points import points_pipeline

if TYPE_CHECKING:
    from collections.abc import Callable


class Collection:
    """Counts of training documents and their classes, with the numbers that formulas are written in."""

    def __init__(self, counts: np.ndarray, members: np.ndarray) -> None:
        self.counts, self.members = counts, members
        self.n, self.k = counts.shape[0], members.shape[1]
        self.sizes = members.sum(axis=0)

    def df(self, term: int) -> int:
        return sum(count > 0 for count in self.counts[:, term])

    def df_of(self, term: int, kind: int) -> int:
        return sum(count > 0 for count in self.counts[self.members[:, kind], term])

    def idf(self, term: int) -> float:
        return math.log(self.n / self.df(term))

    def mean_length(self) -> float:
        return float(self.counts.sum()) / self.n

    def concentration(self, term: int, smoothing: float) -> float:
        total, divergence = self.sizes.sum(), 0.0
        kinds = [kind for kind in range(self.k) if self.sizes[kind]]
        seen = sum(self.df_of(term, kind) for kind in kinds) + smoothing
        for kind in kinds:
            prior = self.sizes[kind] / total
            share = (self.df_of(term, kind) + smoothing * prior) / seen
            divergence += share * math.log(share / prior)
        return max(0.0, divergence)


def log_entropy(these: Collection, term: int) -> float:
    total = these.counts[:, term].sum()
    shares = [count / total for count in these.counts[:, term] if count]
    return 1 + sum(p * math.log(p) for p in shares) / math.log(these.n) if these.n > 1 else 1.0


def relevance(these: Collection, term: int) -> float:
    found = [(these.df_of(term, kind), these.df(term)) for kind in range(these.k)]
    return max(math.log2(2 + a / max(1, df - a)) for a, df in found)


def class_frequency(these: Collection, term: int) -> float:
    return 1 + math.log(these.k / max(1, sum(these.df_of(term, kind) > 0 for kind in range(these.k))))


def space_density(these: Collection, term: int) -> float:
    density = sum(these.df_of(term, kind) / max(1, these.sizes[kind]) for kind in range(these.k))
    return (1 + these.idf(term)) * (1 + (math.log(these.k / density) if density else 0))


def saturated(these: Collection, document: np.ndarray, term: int) -> float:
    length = document.sum() / (these.mean_length() or 1)
    return document[term] * 2.2 / (document[term] + 1.2 * (0.25 + 0.75 * length))


def one_plus_log(_: Collection, document: np.ndarray, term: int) -> float:
    return 1 + math.log(document[term])


def count(_: Collection, document: np.ndarray, term: int) -> float:
    return float(document[term])


#: Weight of a term in a document, and its factor, which is 1 where there is none.
FORMULAS: dict[
    str, tuple[Callable[[Collection, np.ndarray, int], float], Callable[[Collection, int], float] | None]
] = {
    "tf": (count, None),
    "tfidf": (count, Collection.idf),
    "binary": (lambda *_: 1.0, None),
    "log-tf": (one_plus_log, None),
    "log-tfidf": (one_plus_log, Collection.idf),
    "log-entropy": (lambda _, document, term: math.log(1 + document[term]), log_entropy),
    "bm25": (saturated, lambda these, term: math.log(1 + (these.n - these.df(term) + 0.5) / (these.df(term) + 0.5))),
    "tf-rf": (count, relevance),
    "tf-icf": (count, class_frequency),
    "tf-idf-icsdf": (count, space_density),
    "aitchison": (count, Collection.idf),
}


def drawn(seed: int, n: int, size: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([67, seed])
    return rng.poisson(0.8, (n, size)), rng.random((n, k)) < 0.4


def one_class_each(n: int, k: int) -> np.ndarray:
    return np.arange(n)[:, None] % k == np.arange(k)


#: Training documents and their classes.
COLLECTIONS: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "more terms than documents": (drawn(0, 7, 12, 3)[0], one_class_each(7, 3)),
    "more documents than terms": (drawn(1, 25, 6, 2)[0], one_class_each(25, 2)),
    "several classes or none": drawn(2, 20, 8, 4),
    "a class without documents": (drawn(3, 9, 5, 3)[0], one_class_each(9, 4) & (np.arange(4) != 2)),
    "one document": (np.array([[2, 0, 1]]), np.array([[True, False]])),
    "one document that has a class": (np.array([[2, 0, 1], [1, 1, 0]]), np.array([[False, False], [False, True]])),
    "documents without terms": (np.vstack([drawn(4, 4, 5, 2)[0], np.zeros((3, 5), int)]), one_class_each(7, 2)),
    "no term at all": (np.zeros((3, 4), dtype=int), one_class_each(3, 2)),
}
NEW = np.array([[3, 1, 2, 1, 1, 0, 4, 1, 1, 1, 1, 1], [0] * 12, [0, 0, 1] + [0] * 9])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("collection", COLLECTIONS)
@pytest.mark.parametrize("name", FORMULAS)
def test_a_weight_is_its_formula(name: str, collection: str) -> None:
    counts, members = COLLECTIONS[collection]
    these, (local, factor) = Collection(counts, members), FORMULAS[name]
    documents = np.vstack([counts, NEW[:, : counts.shape[1]]])
    expected = np.zeros(documents.shape)
    for row, term in np.argwhere(documents):
        known = factor is None or these.df(term) > 0
        expected[row, term] = local(these, documents[row], term) * (factor(these, term) if factor and known else known)
    fitted = WEIGHTINGS[name]().fit(sp.csr_array(counts), members)
    found = fitted.transform(sp.csr_array(documents))
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12, atol=1e-15)
    assert found.data.all(), "no zero is stored"
    for normalization in NORMALIZATIONS:
        points = points_pipeline(name, normalization).fit(counts, members).transform(documents)
        norms = {"none": 1.0, "l1": expected.sum(axis=1), "l2": np.sqrt((expected**2).sum(axis=1))}[normalization]
        divided = expected / np.where(np.broadcast_to(norms, len(expected)) > 0, norms, 1.0)[:, None]
        np.testing.assert_allclose(points.toarray(), divided, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(
            row_norms(sp.csr_array(expected), normalization)[expected.any(axis=1)],
            np.broadcast_to(norms, len(expected))[expected.any(axis=1)],
            rtol=1e-12,
        )


@pytest.mark.parametrize("collection", [name for name in COLLECTIONS if name != "no term at all"])
@pytest.mark.parametrize("smoothing", [0.25, 2.0])
def test_a_concentration_is_its_formula(collection: str, smoothing: float) -> None:
    counts, members = COLLECTIONS[collection]
    these, how = Collection(counts, members), {"power": 0.5, "idf": 1.5, "concentration": 0.5, "smoothing": smoothing}
    expected = [
        these.idf(term) ** 1.5 * these.concentration(term, smoothing) ** 0.5 if these.df(term) else 0.0
        for term in range(counts.shape[1])
    ]
    fitted = Aitchison(**how).fit(counts, members)
    assert fitted.factors_ is not None
    # A concentration of 0 may be off by 1e-15, and its root by 3e-8.
    np.testing.assert_allclose(fitted.factors_, expected, rtol=1e-12, atol=1e-7)
    np.testing.assert_allclose(fitted.transform(counts).toarray(), np.sqrt(counts) * expected, rtol=1e-12, atol=1e-7)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", WEIGHTINGS)
def test_a_stored_zero_is_no_term(name: str) -> None:
    counts, members = COLLECTIONS["more terms than documents"]
    rows, columns = np.nonzero(np.ones_like(counts))
    stored = sp.csr_array((counts.ravel(), (rows, columns)), shape=counts.shape)
    expected, found = (WEIGHTINGS[name]().fit(each, members).transform(each) for each in (counts, stored))
    assert (found.nnz, stored.nnz) == (expected.nnz, counts.size)
    np.testing.assert_array_equal(found.toarray(), expected.toarray())


def written_out(counts: np.ndarray, members: np.ndarray, prior: np.ndarray, strength: float, at: np.ndarray) -> float:
    """The loss of `ClassLikelihood`, document by document."""
    n, logs, sharpness = len(counts), at[:-1], math.exp(at[-1])
    points = [np.sqrt(row * np.exp(logs)) for row in counts]
    points = [point / (np.linalg.norm(point) or 1) for point in points]
    total = 0.0
    for i in range(n):
        affinities = []
        for kind in range(members.shape[1]):
            others = [j for j in range(n) if members[j, kind] and j != i]
            affinities.append(sum(points[i] @ points[j] for j in others) / max(1, len(others)))
        logged = sharpness * np.array(affinities)
        logged -= math.log(sum(math.exp(score) for score in logged))
        total += sum(logged[members[i]]) / max(1, sum(members[i]))
    return -total / n + strength / (2 * n) * sum((logs - prior) ** 2)


@pytest.mark.parametrize("strength", [0.01, 3.0])
@pytest.mark.parametrize("collection", [name for name in COLLECTIONS if name != "no term at all"])
def test_the_likelihood_of_classes_is_its_formula_and_its_gradient_that_of_differences(
    collection: str, strength: float
) -> None:
    counts, members = COLLECTIONS[collection]
    size, rng = counts.shape[1], np.random.default_rng(5)
    prior, at = rng.normal(size=size), np.append(rng.normal(size=size), 1.2)
    problem = ClassLikelihood(sp.csr_array(np.sqrt(counts)), members, prior, strength)
    value, gradient = problem.loss(at)
    assert value == pytest.approx(written_out(counts, members, prior, strength, at), rel=1e-12)
    steps = 1e-6 * np.eye(size + 1)
    slopes = [(problem.loss(at + step)[0] - problem.loss(at - step)[0]) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, slopes, atol=1e-8)
