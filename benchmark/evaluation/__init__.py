"""Evaluation protocols, and the scores, confidence intervals, significance tests and verdicts of predictions."""
