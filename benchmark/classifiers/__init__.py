"""Gram matrices or points to predictions: every classifier by the name a configuration calls it."""

from typing import Any

from benchmark.classifiers.class_specific import EmbeddedFamily, ProjectedPdf
from benchmark.classifiers.complement_bayes import ComplementBayes
from benchmark.classifiers.divergence_bayes import DivergenceBayes
from benchmark.classifiers.linear_models import LinearSvm, LogisticClassifier, NbSvm, StreamedSvm
from benchmark.classifiers.multinomial_bayes import MultinomialBayes
from benchmark.classifiers.svm import SupportVectorClassifier

#: Those whose tags say `needs_kernel` decide by kernel values, the others by points; `kept` names what these learn.
CLASSIFIERS: dict[str, type[Any]] = {
    "svm": SupportVectorClassifier,
    "mnb": MultinomialBayes,
    "complement-nb": ComplementBayes,
    "ppt": ProjectedPdf,
    "eef": EmbeddedFamily,
    "divergence-bayes": DivergenceBayes,
    "linear-svm": LinearSvm,
    "streamed-svm": StreamedSvm,
    "logistic": LogisticClassifier,
    "nb-svm": NbSvm,
}

#: Least and greatest of parameters that a configuration may set, and what is beyond.
LIMITS = {
    "C": (1e-12, 1e12, "beyond, decision values are nothing but rounding"),
    "epsilon": (1e-10, 1.0, "below, rounding keeps solvers from ever coming so near; from 2 on, LIBSVM takes no step"),
    "smoothing": (1e-300, 1e15, "below, its logarithm is lost; above, the counts that it is added to are"),
}

__all__ = [
    "CLASSIFIERS",
    "LIMITS",
    "ComplementBayes",
    "DivergenceBayes",
    "EmbeddedFamily",
    "LinearSvm",
    "LogisticClassifier",
    "MultinomialBayes",
    "NbSvm",
    "ProjectedPdf",
    "StreamedSvm",
    "SupportVectorClassifier",
]
