"""Warnings of classifiers while they are trained and tested, which are reported beside their numbers."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmark.system.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import scipy.sparse as sp
    from numpy.typing import NDArray

#: Warnings of what a library will change: they say nothing of the numbers.
_OF_FUTURE = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
_LONGEST, _DOCUMENTS = 200, 200


@contextlib.contextmanager
def collect_warnings(*, library: bool) -> Iterator[list[str]]:
    """Collect the texts of warnings, each once.

    Parameters
    ----------
    library : bool
        Whether to collect all warnings of a library's code, but for those of its future. Otherwise only missing
        convergence is collected, and other warnings are warned of again afterwards.

    Yields
    ------
    list of str
        Filled when the context ends.
    """
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    for each in caught:
        if issubclass(each.category, ConvergenceWarning) or (library and not issubclass(each.category, _OF_FUTURE)):
            text = one_line(f"{each.category.__name__}: {each.message}")
            texts.append(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
        elif not library:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    texts[:] = dict.fromkeys(texts)


def changes_when_trained_again(
    train: Callable[[sp.csr_array, NDArray[Any]], Any], X: sp.csr_array, y: NDArray[Any]
) -> str:
    """Return a warning if a classifier predicts otherwise when it is trained again on the same 200 documents, or "".

    Parameters
    ----------
    train : callable
        Returns a trained classifier.
    X : CSR array, shape (n, V)
        Training points, of which at most 200 are used.
    y : array, shape (n,)
        Their classes.
    """
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(_DOCUMENTS, X.shape[0])).astype(np.intp))
    once, again = (train(X[rows], y[rows]).predict(X) for _ in range(2))
    if np.array_equal(once, again):
        return ""
    return (
        "not deterministic: trained again on the same documents, it predicts otherwise; another run has other numbers"
    )
