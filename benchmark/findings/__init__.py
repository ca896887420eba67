"""Predictions to findings: scores, tests, verdicts, notes and costs, and all of it as one summary."""
