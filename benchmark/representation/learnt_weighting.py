"""Metric learning on the simplex from the classes of the training documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from benchmark.representation.weighting import power_transform
from benchmark.representation.weightings import FROM_LABELS, Aitchison
from benchmark.system.checks import Range

if TYPE_CHECKING:
    from benchmark.system.arrays import Array, Bools


#: Start value of the sharpness s; it is large, since affinities to the means of classes are small.
_SHARPNESS = 20.0


class LearnedAitchison(Aitchison):
    """x^α λ with one λ for each term, learned so that documents are close to the mean of their class.

    On the sphere, φ = √F(x), the affinity to the mean of class c without the document itself is a_c = <φ, φ̄_c>. λ
    maximizes the mean log-likelihood of the training documents' classes under P(c) ∝ exp(s a_c), minus ½ strength / n
    times the squared distance of log λ from that of `Aitchison`. L-BFGS, started there, learns s, too.

    Parameters
    ----------
    power : float
        α, the power of counts, from 0.001 to 10.
    idf, concentration, smoothing : float
        As in `Aitchison`, whose λ is the prior and the start.
    strength : float
        Strength of the prior on each log λ, > 0, as a number of documents.
    iterations : int
        Largest number of L-BFGS iterations.
    """

    allowed: ClassVar = {**Aitchison.allowed, "strength": Range(1e-6, 1e9), "iterations": Range(1, 100_000)}

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
        """Source of the factors: documents with labels, whatever the prior uses."""
        return FROM_LABELS

    def factors(self, presence: sp.csr_array, members: Bools | None) -> Array:
        """Compute λ, which is 0 where that of `Aitchison` is 0."""
        prior = super().factors(presence, members)
        used = np.flatnonzero(prior > 0)
        if members is None or not len(used):
            return prior
        counts = sp.csr_array(presence[:, used])
        powers = sp.csr_array((self.local(counts), counts.indices, counts.indptr), shape=counts.shape)
        problem = ClassLikelihood(power_transform(powers, 0.5), members, np.log(prior[used]), self.strength)
        start = np.append(problem.prior, np.log(_SHARPNESS))
        solution = minimize(problem.loss, start, jac=True, method="L-BFGS-B", options={"maxiter": self.iterations})
        learnt = np.zeros_like(prior)
        learnt[used] = np.exp(solution.x[:-1])
        return learnt


@dataclass(frozen=True, eq=False)
class ClassLikelihood:
    """Likelihood of the documents' classes given their affinities to the means of the other documents of each class.

    Parameters
    ----------
    roots : CSR array, shape (n, V)
        √(x^α) of the documents.
    members : bool array, shape (n, k)
        Classes of each document; several classes share it equally.
    prior : float64 array, shape (V,)
        Prior mean of log λ.
    strength : float
        Strength of the prior, as a number of documents.
    """

    roots: sp.csr_array
    members: Bools
    prior: Array
    strength: float

    def loss(self, parameters: Array) -> tuple[float, Array]:
        """Compute the negative penalized log-likelihood and its gradient, shape (V + 1,), at log λ and log s."""
        n = self.roots.shape[0]
        indicators = self.members.astype(np.float64)
        parts = indicators / np.maximum(1, indicators.sum(axis=1, keepdims=True))
        logs, sharpness = parameters[:-1], np.exp(parameters[-1])
        rows, columns = np.repeat(np.arange(n), np.diff(self.roots.indptr)), self.roots.indices

        raised = self.roots.data * np.exp(logs / 2)[columns]
        lengths = np.sqrt(np.bincount(rows, raised**2, minlength=n))
        values = raised / np.where(lengths > 0, lengths, 1.0)[rows]
        points = sp.csr_array((values, columns, self.roots.indptr), shape=self.roots.shape)

        sums = np.asarray((points.T @ indicators).T)
        others = np.maximum(indicators.sum(axis=0) - indicators, 1.0)
        affinities = (points @ sums.T - indicators * (lengths > 0)[:, None]) / others
        scores = sharpness * affinities
        scores -= scores.max(axis=1, keepdims=True)
        logged = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        off = logs - self.prior
        value = -(parts * logged).sum() / n + self.strength / (2 * n) * (off @ off)

        # Derivatives by the scores, by the inner products behind the scores, and by the points' coordinates.
        by_score = (parts - parts.sum(axis=1, keepdims=True) * np.exp(logged)) / n
        by_product = sharpness * by_score / others
        of_others = np.asarray((points.T @ by_product).T)
        by_value = np.zeros(len(values))
        for c in range(indicators.shape[1]):
            by_value += by_product[rows, c] * sums[c, columns] + indicators[rows, c] * of_others[c, columns]
        # Normalizing to the sphere removes the component along a point, and <φ, φ> in the sum of the point's class.
        along = np.bincount(rows, by_value * values, minlength=n)
        by_log = np.bincount(columns, values * (by_value - values * along[rows]) / 2, minlength=len(logs))
        sharper = sharpness * (by_score * affinities).sum()
        return float(value), -np.append(by_log - self.strength / n * off, sharper)
