"""Gram matrices or points to predictions: every classifier by the name a configuration calls it."""

from benchmark.classifiers.svm import SupportVectorClassifier

CLASSIFIERS: dict[str, type[SupportVectorClassifier]] = {"svm": SupportVectorClassifier}

__all__ = ["CLASSIFIERS", "SupportVectorClassifier"]
