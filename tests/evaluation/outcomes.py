"""Outcomes made up of right and wrong answers."""

import numpy as np

from benchmark.evaluation.outcomes import CellScores, Outcome, outcome_scores


def judged(cell, *folds):
    """An outcome of one class against another with the given right (1) and wrong (0) answers, fold by fold."""
    correct = np.concatenate([np.asarray(fold, dtype=int) for fold in folds])
    index = np.repeat(np.arange(len(folds)), [len(fold) for fold in folds])
    return Outcome(cell, np.arange(correct.size), index, np.zeros_like(correct), 1 - correct, 2)


def paired(both, only_a, only_b, neither):
    """Two outcomes over one fold with this outcome table."""
    a = [1] * both + [1] * only_a + [0] * only_b + [0] * neither
    b = [1] * both + [0] * only_a + [1] * only_b + [0] * neither
    return judged("a", a), judged("b", b)


def random_outcome(cell, sizes, n_classes, accuracy, seed):
    """Outcomes of a classifier that knows the class with this probability and guesses otherwise."""
    n = sum(sizes)
    truth = np.random.default_rng(len(sizes)).integers(n_classes, size=n)
    rng = np.random.default_rng(seed)
    predicted = np.where(rng.random(n) < accuracy, truth, rng.integers(n_classes, size=n))
    return Outcome(cell, np.arange(n), np.repeat(np.arange(len(sizes)), sizes), truth, predicted, n_classes)


def scored(values, cell="a", metric="error", outcome=None):
    values = np.asarray(values, dtype=np.float64)
    folds, many = tuple(map(str, range(len(values)))), np.full(len(values), 100)
    return CellScores(cell, folds, {metric: values}, many, many * 0, outcome)


def of_outcome(outcome):
    folds, documents = tuple(map(str, range(len(outcome.rows)))), outcome.tallies.documents
    return CellScores(outcome.cell, folds, outcome_scores(outcome), documents, outcome.ties(None), outcome)


def drawn(cell, right, tested):
    """Documents of one class each, of two, right and wrong as given, draw by draw; shapes (draws, n)."""
    draws, documents = np.nonzero(tested)
    return Outcome(cell, documents, draws, draws * 0, 1 - right[draws, documents].astype(int), 2)


def multilabel(cell, truth, given):
    """Decisions of several classes, draw by draw on the same documents; shape (draws, n, k)."""
    draws = np.repeat(np.arange(len(given)), len(truth))
    documents = np.tile(np.arange(len(truth)), len(given))
    return Outcome(cell, documents, draws, np.tile(truth, (len(given), 1)), np.concatenate(given), truth.shape[1])
