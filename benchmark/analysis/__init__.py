"""Analysis of predictions: scores, tests, verdicts, notes, costs and their summary."""
