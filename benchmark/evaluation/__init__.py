"""Predictions to scores, intervals, tests and verdicts; and the splits that predictions are made on."""
