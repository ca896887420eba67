"""Inverse document frequencies that differ from log(m / df) by a constant: under L1 they rescale a linear kernel."""

import numpy as np

from benchmark.representation import Weighting, inverse_document_frequency


class IdfPlusOne(Weighting):
    """Term frequency times 1 + log(m / df), as several programs compute it."""

    stored = True

    def factors(self, presence, members):  # noqa: ARG002 - the signature of all weightings
        """Compute 1 + log(m / df)."""
        return 1 + inverse_document_frequency(presence)


class IdfOfOnePlus(Weighting):
    """Term frequency times log(1 + m / df)."""

    stored = True

    def factors(self, presence, members):  # noqa: ARG002 - the signature of all weightings
        """Compute log(1 + m / df)."""
        return np.log1p(np.exp(inverse_document_frequency(presence)))


WEIGHTINGS = {"tfidf-plus-one": IdfPlusOne, "tfidf-of-one-plus": IdfOfOnePlus}
