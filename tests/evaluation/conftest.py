import numpy as np
import pytest

from benchmark.evaluation.outcomes import Outcome


def _judged(cell, *folds):
    """An outcome of one class against another with the given right (1) and wrong (0) answers, fold by fold."""
    correct = np.concatenate([np.asarray(fold, dtype=int) for fold in folds])
    index = np.repeat(np.arange(len(folds)), [len(fold) for fold in folds])
    return Outcome(cell, np.arange(correct.size), index, np.zeros_like(correct), 1 - correct, 2)


def _paired(both, only_a, only_b, neither):
    """Two outcomes over one fold with this outcome table."""
    a = [1] * both + [1] * only_a + [0] * only_b + [0] * neither
    b = [1] * both + [0] * only_a + [1] * only_b + [0] * neither
    return _judged("a", a), _judged("b", b)


def _random(cell, sizes, n_classes, accuracy, seed):
    """Outcomes of a classifier that knows the class with this probability and guesses otherwise."""
    n = sum(sizes)
    truth = np.random.default_rng(len(sizes)).integers(n_classes, size=n)
    rng = np.random.default_rng(seed)
    predicted = np.where(rng.random(n) < accuracy, truth, rng.integers(n_classes, size=n))
    return Outcome(cell, np.arange(n), np.repeat(np.arange(len(sizes)), sizes), truth, predicted, n_classes)


# Session scope: hypothesis calls a test many times over one fixture value, and these are plain functions.
@pytest.fixture(scope="session")
def judged():
    return _judged


@pytest.fixture(scope="session")
def paired():
    return _paired


@pytest.fixture(scope="session")
def random_outcome():
    return _random
