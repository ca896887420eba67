"""Classifiers of Gram matrices and points, registered under the names that configurations use."""

from typing import Any

from benchmark.classifiers.born import BornClassifier
from benchmark.classifiers.class_specific import EmbeddedFamily, ProjectedPdf
from benchmark.classifiers.divergence_bayes import DivergenceBayes
from benchmark.classifiers.linear_models import LinearSvm, LogisticClassifier, NbSvm, SgdSvm
from benchmark.classifiers.naive_bayes import ComplementBayes, MultinomialBayes, TransformedComplementBayes
from benchmark.classifiers.svm import SupportVectorClassifier

#: Classifiers by name. Those with the tag `needs_kernel` take kernel values; the others take points.
CLASSIFIERS: dict[str, type[Any]] = {
    "svm": SupportVectorClassifier,
    "mnb": MultinomialBayes,
    "complement-nb": ComplementBayes,
    "twcnb": TransformedComplementBayes,
    "ppt": ProjectedPdf,
    "eef": EmbeddedFamily,
    "divergence-bayes": DivergenceBayes,
    "born": BornClassifier,
    "linear-svm": LinearSvm,
    "streamed-svm": SgdSvm,
    "logistic": LogisticClassifier,
    "nb-svm": NbSvm,
}

#: Smallest and largest value of parameters that a configuration may set.
PARAMETER_LIMITS = {
    "C": (1e-12, 1e12),  # outside this range, decision values are rounding errors
    "epsilon": (1e-10, 1.0),  # below, rounding keeps solvers from converging; from 2 on, LIBSVM takes no step
    "smoothing": (1e-300, 1e15),  # below, its logarithm underflows; above, the counts are lost to rounding
}

__all__ = ["CLASSIFIERS", "PARAMETER_LIMITS"]
