"""A metric of the simplex that is learned from the classes of the training documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from benchmark.checks import check_within
from benchmark.representation.weighting import embed
from benchmark.representation.weightings.base import LABELS
from benchmark.representation.weightings.supervised import Aitchison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Where the search for the sharpness of the classes' likelihoods begins: affinities to the means of classes are small.
_SHARPNESS = 20.0


class LearntAitchison(Aitchison):
    """x^α λ, with a λ of its own for every term: the one under which documents are nearest to their own class's mean.

    On the sphere, φ = √F(x), the affinity to the mean of class c without the document itself is a_c = <φ, φ̄_c>. λ
    maximizes the mean log-likelihood of the training documents' classes under P(c) ∝ exp(s a_c), less ½ strength / n
    times the squared distance of log λ from that of `Aitchison`; s is learned, too, by L-BFGS from there.

    Parameters
    ----------
    power : float
        α, > 0: what a count is raised to.
    idf, concentration, smoothing : float
        As of `Aitchison`: what is known of λ before.
    strength : float
        Of that, > 0: of how many documents the prior on each log λ is worth.
    iterations : int
        At most so many steps.
    """

    def __init__(
        self,
        power: float = 1.0,
        idf: float = 1.0,
        concentration: float = 0.0,
        smoothing: float = 1.0,
        strength: float = 10.0,
        iterations: int = 30,
    ) -> None:
        super().__init__(power, idf, concentration, smoothing)
        self.strength = strength
        self.iterations = iterations

    @property
    def learns(self) -> str:
        """From labels, whatever it begins with."""
        return LABELS

    def check(self) -> None:
        """Refuse what `Aitchison` does, and a prior that is none."""
        super().check()
        check_within("strength", np.array([self.strength]), 1e-6, 1e9)
        check_within("iterations", np.array([self.iterations]), 1, 100_000)

    def factors(self, presence: sp.csr_array, members: NDArray[np.bool_] | None) -> Array:
        """λ; 0 where `Aitchison` has 0."""
        prior = super().factors(presence, members)
        used = np.flatnonzero(prior > 0)
        if members is None or not len(used):
            return prior
        counts = sp.csr_array(presence[:, used])
        powers = sp.csr_array((self.local(counts), counts.indices, counts.indptr), shape=counts.shape)
        problem = Likelihood(embed(powers, 0.5), members, np.log(prior[used]), self.strength)
        start = np.append(problem.prior, np.log(_SHARPNESS))
        found = minimize(problem.loss, start, jac=True, method="L-BFGS-B", options={"maxiter": self.iterations})
        learnt = np.zeros_like(prior)
        learnt[used] = np.exp(found.x[:-1])
        return learnt


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Of the classes of documents by their affinities to the means of the others.

    Parameters
    ----------
    roots : CSR array, shape (n, V)
        √(x^α) of the documents.
    members : bool array, shape (n, k)
        Which classes each has; of several, each has the same part of it.
    prior : float64 array, shape (V,)
        What log λ is near to.
    strength : float
    """

    roots: sp.csr_array
    members: NDArray[np.bool_]
    prior: Array
    strength: float

    def loss(self, parameters: Array) -> tuple[float, Array]:
        """The negative of what is maximized, at log λ and then log s, and its gradient, shape (V + 1,)."""
        n = self.roots.shape[0]
        own = self.members.astype(np.float64)
        parts = own / np.maximum(1, own.sum(axis=1, keepdims=True))
        logs, sharpness = parameters[:-1], np.exp(parameters[-1])
        rows, columns = np.repeat(np.arange(n), np.diff(self.roots.indptr)), self.roots.indices

        raised = self.roots.data * np.exp(logs / 2)[columns]
        lengths = np.sqrt(np.bincount(rows, raised**2, minlength=n))
        values = raised / np.where(lengths > 0, lengths, 1.0)[rows]
        points = sp.csr_array((values, columns, self.roots.indptr), shape=self.roots.shape)

        sums = np.asarray((points.T @ own).T)
        others = np.maximum(own.sum(axis=0) - own, 1.0)
        affinities = (points @ sums.T - own * (lengths > 0)[:, None]) / others
        scores = sharpness * affinities
        scores -= scores.max(axis=1, keepdims=True)
        logged = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        off = logs - self.prior
        value = -(parts * logged).sum() / n + self.strength / (2 * n) * (off @ off)

        # By the scores, the products that they are made of, and the coordinates of the points in these.
        by_score = (parts - parts.sum(axis=1, keepdims=True) * np.exp(logged)) / n
        by_product = sharpness * by_score / others
        of_others = np.asarray((points.T @ by_product).T)
        by_value = np.zeros(len(values))
        for c in range(own.shape[1]):
            by_value += by_product[rows, c] * sums[c, columns] + own[rows, c] * of_others[c, columns]
        # What is along a point is lost when it is brought back to the sphere, and so is <φ, φ> in its own class's sum.
        along = np.bincount(rows, by_value * values, minlength=n)
        by_log = np.bincount(columns, values * (by_value - values * along[rows]) / 2, minlength=len(logs))
        sharper = sharpness * (by_score * affinities).sum()
        return float(value), -np.append(by_log - self.strength / n * off, sharper)
