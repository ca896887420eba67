"""Feature maps whose inner products equal or approximate a kernel, for linear classifiers at linear cost.

A map depends only on its parameters and the number of coordinates. Nothing is learned from documents.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.fft import fft, ifft
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from benchmark.representation.estimator import MatrixEstimator
from benchmark.representation.weighting import canonical_csr, power_transform
from benchmark.system.checks import Range
from benchmark.system.tags import Tags
from benchmark.system.user_classes import is_builtin

if TYPE_CHECKING:
    from sklearn.kernel_approximation import PolynomialCountSketch

    from benchmark.system.arrays import Array


#: Number of Gaussian directions of random projections drawn at a time: 46 MB for 44,684 coordinates.
_DIRECTIONS = 128
#: Distance between samples of a spectrum, by the number of samples: scikit-learn's, after Vedaldi & Zisserman.
_INTERVALS = {1: 0.8, 2: 0.5, 3: 0.4}


class FeatureMap(TransformerMixin, MatrixEstimator, ABC):
    """Features of points on the simplex, as a scikit-learn transformer.

    Attributes
    ----------
    n_features_in_ : int
        V, the number of coordinates.
    """

    tags: ClassVar[Tags] = Tags(normalization="l1", normalizations=("l1",))
    non_negative: ClassVar[bool] = True

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Check the parameters and store the number of coordinates.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n, V)
        y : ignored

        Returns
        -------
        FeatureMap
            This map.

        Raises
        ------
        ValueError
            If a parameter is out of range, or a coordinate is negative or not finite.
        """
        self.check()
        self.validated(X, fitting=True, dtype="numeric")
        return self

    def transform(self, X: Any) -> sp.csr_array | Array:
        """Return the features of points.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n, V)
            Points with nonnegative coordinates.

        Returns
        -------
        CSR array or float64 array, shape (n, D)
            CSR if the map preserves zeros, dense otherwise.

        Raises
        ------
        ValueError
            If X has another number of coordinates, or negative ones.
        NotFittedError
            If the map has not been fitted.
        """
        check_is_fitted(self, "n_features_in_")
        points = canonical_csr(self.validated(X, fitting=False))
        features = self.map(points)
        if not is_builtin(type(self)):
            _check_features(features, points.shape[0], type(self).__name__)
        return features

    @abstractmethod
    def map(self, points: sp.csr_array) -> sp.csr_array | Array:
        """Compute the features of validated points.

        Parameters
        ----------
        points : canonical CSR array, shape (n, V)

        Returns
        -------
        CSR array or float64 array, shape (n, D)
        """

    def exact(self, X: sp.csr_array, Y: sp.csr_array) -> Array:
        """Compute the kernel that <φ(x), φ(y)> approximates, for corresponding rows of X and Y.

        It is <φ(x), φ(y)> itself, unless a subclass defines another.

        Parameters
        ----------
        X, Y : CSR arrays, shape (n, V)

        Returns
        -------
        float64 array, shape (n,)
        """
        return rowwise_products(self.map(X), self.map(Y))


class Hellinger(FeatureMap):
    """√p: points on the unit sphere whose inner products are exactly the Bhattacharyya affinities.

    Examples
    --------
    >>> Hellinger().fit_transform(np.array([[0.25, 0.75], [1.0, 0.0]])).toarray().round(3)
    array([[0.5  , 0.866],
           [1.   , 0.   ]])
    """

    def map(self, points: sp.csr_array) -> sp.csr_array:
        """Compute √p."""
        return power_transform(points, 0.5)


class _Additive(FeatureMap):
    """Homogeneous additive kernel, approximated by samples of its spectrum (Vedaldi & Zisserman 2012).

    The kernel is a sum over coordinates. Each coordinate becomes 2m - 1 features, and zeros stay zeros.

    Parameters
    ----------
    samples : int
        Number of samples m, from 1 to 3.
    """

    allowed: ClassVar = {"samples": _INTERVALS}

    def __init__(self, samples: int = 2) -> None:
        self.samples = samples

    def exact(self, X: sp.csr_array, Y: sp.csr_array) -> Array:
        """Compute the sum of `term` over the coordinates that are nonzero in both points."""
        p, q = X.multiply(Y.sign()), Y.multiply(X.sign())
        terms = sp.csr_array((self.term(p.data, q.data), p.indices, p.indptr), shape=p.shape)
        return np.asarray(terms.sum(axis=1))

    @abstractmethod
    def term(self, p: Array, q: Array) -> Array:
        """Compute the terms that pairs of nonzero coordinates p and q add to the kernel."""


class ChiSquared(_Additive):
    """χ² kernel Σ 2pq / (p + q), whose distance is the χ² distance of distributions, by scikit-learn's map.

    Parameters
    ----------
    samples : int
        Number of samples of the spectrum, 1 to 3; each coordinate becomes 2 samples - 1 features.
    """

    def map(self, points: sp.csr_array) -> sp.csr_array:
        """Compute the features of `AdditiveChi2Sampler`."""
        from sklearn.kernel_approximation import AdditiveChi2Sampler  # noqa: PLC0415 - loads all of sklearn.metrics

        sampler = AdditiveChi2Sampler(sample_steps=self.samples, sample_interval=_INTERVALS[self.samples])
        return sp.csr_array(sampler.fit_transform(points))

    def term(self, p: Array, q: Array) -> Array:
        """Compute 2pq / (p + q)."""
        return 2 * p * q / (p + q)


class JensenShannon(_Additive):
    """1 minus the Jensen–Shannon divergence in bits: Σ ½ (p log₂ (p + q)/p + q log₂ (p + q)/q).

    Parameters
    ----------
    samples : int
        Number of samples of the spectrum, 1 to 3; each coordinate becomes 2 samples - 1 features.
    """

    def map(self, points: sp.csr_array) -> sp.csr_array:
        """Compute √(p κ(0) L), and √(2 p κ(jL) L) times cosine and sine of jL log p.

        The spectrum is κ(λ) = 2 sech(πλ) / (log 4 (1 + 4λ²)).
        """
        L, data = _INTERVALS[self.samples], points.data
        columns = [np.sqrt(data * L * _spectrum(0.0))]
        for j in range(1, self.samples):
            size, angle = np.sqrt(2 * data * L * _spectrum(j * L)), j * L * np.log(data)
            columns += [size * np.cos(angle), size * np.sin(angle)]
        parts = [sp.csr_array((values, points.indices, points.indptr), shape=points.shape) for values in columns]
        return sp.csr_array(sp.hstack(parts, format="csr"))

    def term(self, p: Array, q: Array) -> Array:
        """Compute ½ (p log₂ (p + q)/p + q log₂ (p + q)/q)."""
        return np.asarray((p * np.log2((p + q) / p) + q * np.log2((p + q) / q)) / 2)


def _spectrum(frequency: float) -> float:
    return float(2 / (np.log(4) * np.cosh(np.pi * frequency) * (1 + 4 * frequency**2)))


class _Random(FeatureMap):
    """Random features, a number of them and a seed."""

    allowed: ClassVar = {"n_components": Range(1, 1_000_000)}

    def __init__(self, n_components: int = 512, seed: int = 0) -> None:
        self.n_components = n_components
        self.seed = seed


class Arcsine(_Random):
    """√p with random features of s³/6 and 3s⁵/40, which approximate arcsin s of the affinity s by its first terms.

    NGD is 2 arcsin s - π, so arcsin s is π/2 minus half the geodesic distance. The powers of s are TensorSketches
    (Pham & Pagh 2013; scikit-learn's). The series ends early: a document's product with itself is about 1.24, not π/2.
    A machine on NGD has that larger diagonal, which acts as a ridge: `ridge: 0.33` of `linear-svm` adds it.

    Parameters
    ----------
    n_components : int
        Number of random features for each of the two powers.
    seed : int
        Seed of the sketches.
    """

    def map(self, points: sp.csr_array) -> sp.csr_array:
        """Compute √p and the two sketches, side by side."""
        from sklearn.kernel_approximation import PolynomialCountSketch  # noqa: PLC0415 - as above

        roots = power_transform(points, 0.5)
        parts = [roots]
        for degree, weight in ((3, 1 / 6), (5, 3 / 40)):
            sketch = PolynomialCountSketch(
                degree=degree, gamma=1.0, coef0=0.0, n_components=self.n_components, random_state=self.seed + degree
            )
            parts.append(sp.csr_array(np.sqrt(weight) * _sketched(roots, sketch.fit(roots))))
        return sp.csr_array(sp.hstack(parts, format="csr"))

    def exact(self, X: sp.csr_array, Y: sp.csr_array) -> Array:
        """Compute arcsin s, which is (NGD + π) / 2."""
        return _arcsines(X, Y)


def _sketched(points: sp.csr_array, sketch: PolynomialCountSketch) -> Array:
    """Return ``sketch.transform(points)``, which itself loops over terms and takes minutes for the 44,684 of 20NG."""
    n_words, transforms = points.shape[1], []
    for places, signs in zip(sketch.indexHash_, sketch.bitHash_, strict=True):
        shape = (n_words, sketch.n_components)
        hashed = sp.csr_array((signs.astype(np.float64), places, np.arange(n_words + 1)), shape=shape)
        transforms.append(fft((points @ hashed).toarray(), overwrite_x=True))
    return np.asarray(ifft(functools.reduce(np.multiply, transforms), overwrite_x=True).real)


class SignProjection(_Random):
    """Signs of random projections of √p: E[sgn·sgn] = 1 - 2θ/π, θ the angle (Goemans & Williamson 1995; Charikar 2002).

    The kernel is 1 + NGD/π, and each feature is one bit.

    Parameters
    ----------
    n_components : int
        Number of directions D; the error of a kernel value k has the variance (1 - k²) / D.
    seed : int
        Seed of the directions.
    """

    def __init__(self, n_components: int = 1024, seed: int = 0) -> None:
        super().__init__(n_components, seed)

    def map(self, points: sp.csr_array) -> Array:
        """Compute the signs, divided by √D."""
        roots, D = power_transform(points, 0.5), self.n_components
        signs = np.empty((points.shape[0], D))
        for start in range(0, D, _DIRECTIONS):
            stop = min(start + _DIRECTIONS, D)
            directions = np.random.default_rng([self.seed, start]).standard_normal((points.shape[1], stop - start))
            signs[:, start:stop] = np.where(np.asarray(roots @ directions) >= 0, 1.0, -1.0)
        return np.divide(signs, np.sqrt(D), out=signs)

    def exact(self, X: sp.csr_array, Y: sp.csr_array) -> Array:
        """Compute 1 - 2θ/π, which is 1 + NGD/π."""
        return np.asarray(_arcsines(X, Y) * 2 / np.pi)


def rowwise_products(X: Any, Y: Any) -> Array:
    """Compute <x, y> of corresponding rows of X and Y, both sparse or both dense, shape (n,)."""
    return np.asarray(X.multiply(Y).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, Y))


def _arcsines(X: sp.csr_array, Y: sp.csr_array) -> Array:
    """Compute π/2 minus half the geodesic distance of corresponding rows of X and Y."""
    return np.asarray(np.arcsin(np.clip(rowwise_products(power_transform(X, 0.5), power_transform(Y, 0.5)), 0.0, 1.0)))


def _check_features(features: Any, n: int, name: str) -> None:
    """Raise ValueError unless a plug-in's features are a matrix of n rows of finite numbers."""
    values = features.data if sp.issparse(features) else np.asarray(features)
    shape = np.shape(features)
    if len(shape) != 2 or shape[0] != n or values.dtype.kind not in "fiu" or not np.isfinite(values).all():
        problem = f"must return a row of finite numbers for each of {n} points"
        raise ValueError(f"`map` of {name} {problem}; its shape is {shape}")


FEATURE_MAPS: dict[str, type[FeatureMap]] = {
    "hellinger": Hellinger,
    "chi-squared": ChiSquared,
    "jensen-shannon": JensenShannon,
    "arcsine": Arcsine,
    "sign-projection": SignProjection,
}
