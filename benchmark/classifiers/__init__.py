"""Gram matrices or points to predictions: every classifier by the name a configuration calls it."""

from typing import Any

from benchmark.classifiers.class_specific import EmbeddedFamily, ProjectedPdf
from benchmark.classifiers.complement_bayes import ComplementBayes
from benchmark.classifiers.divergence_bayes import DivergenceBayes
from benchmark.classifiers.linear_models import LinearSvm, LogisticClassifier
from benchmark.classifiers.multinomial_bayes import MultinomialBayes
from benchmark.classifiers.svm import SupportVectorClassifier

#: Those with `needs_kernel` decide by kernel values, the others by points.
CLASSIFIERS: dict[str, type[Any]] = {
    "svm": SupportVectorClassifier,
    "mnb": MultinomialBayes,
    "complement-nb": ComplementBayes,
    "ppt": ProjectedPdf,
    "eef": EmbeddedFamily,
    "divergence-bayes": DivergenceBayes,
    "linear-svm": LinearSvm,
    "logistic": LogisticClassifier,
}

__all__ = [
    "CLASSIFIERS",
    "ComplementBayes",
    "DivergenceBayes",
    "EmbeddedFamily",
    "LinearSvm",
    "LogisticClassifier",
    "MultinomialBayes",
    "ProjectedPdf",
    "SupportVectorClassifier",
]
