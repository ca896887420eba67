"""Explanations of predictions from documents that are read, and classifiers that are trained, again."""
