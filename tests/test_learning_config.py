"""Configurations of learning curves: what is refused before any work, and on which line."""

from __future__ import annotations

import pytest

from benchmark.config import load_config

pytestmark = pytest.mark.usefixtures("no_corpus_is_touched")
SMALL = {
    "kind": "kind: learning-curves\n",
    "name": "name: small\n",
    "corpus": "corpus: {name: synthetic}\n",
    "tasks": "tasks:\n  - [faculty, course]\n",
    "sizes": "sizes: [20, 40]\n",
    "replicates": "replicates: 6\n",
    "kernels": "kernels: [linear, {name: diffusion, t: [0.5, 1]}]\n",
}


@pytest.mark.parametrize(
    ("fragment", "message"),
    [
        ("kernels: [{name: diffusion, t: [1, 0]}] # HERE\n", "t must be positive"),
        ("kernels: [{name: diffusion, t: -1}] # HERE\n", "t must be positive"),
        ("kernels:\n  - linear\n  - {name: rbf, sigma: [1, 0]} # HERE\n", "sigma"),
        ("kernels: [diffusoin] # HERE\n", "did you mean 'diffusion'"),
        ("kernels: [{name: diffusion, t: [1, 1]}] # HERE\n", "the same parameters twice"),
        ("kernels: [linear, linear] # HERE\n", "stands here twice"),
        ("kernels: [{name: diffusion, t: []}] # HERE\n", "empty list"),
        ("sizes: [20, 9999] # HERE\n", "at most"),
        ("sizes: [1, 20] # HERE\n", "no training document"),
        ("sizes: [3, 20] # HERE\n", "fold"),
        ("sizes: [40, 20] # HERE\n", "ascending"),
        ("sizes: [20, 20] # HERE\n", "none twice"),
        ("sizes: [0] # HERE\n", "positive"),
        ("sizes: [] # HERE\n", "sizes"),
        ("sizes: [20.5] # HERE\n", "sizes"),
        ("tasks:\n  - [faculty, curse] # HERE\n", "did you mean 'course'"),
        ("tasks:\n  - [faculty, faculty] # HERE\n", "two different classes"),
        ("tasks:\n  - [faculty, course]\n  - [faculty, course] # HERE\n", "given twice"),
        ("tasks:\n  - [faculty, course, student] # HERE\n", "two different classes"),
        ("corpus: {name: synthetic, classes: [course, student]}\ntasks:\n  - [faculty, course] # HERE\n", "faculty"),
        ("corpus: {name: nosuch} # HERE\n", "unknown corpus"),
        ("replicates: 1 # HERE\n", "replicates"),
        ("inner_folds: 1 # HERE\n", "inner_folds"),
        ("smoothing: -0.1 # HERE\n", "smoothing"),
        ("smoothing: .nan # HERE\n", "smoothing"),
        ("machine: {C: 0} # HERE\n", "C"),
        ("machine: {scale: mean} # HERE\n", "unknown scale 'mean'"),
        ("machine: {c: 1} # HERE\n", "unknown key 'c'"),
        ("selection: [oracel] # HERE\n", "did you mean 'oracle'"),
        ("selection: [oracle, oracle] # HERE\n", "twice"),
        ("compare:\n  - [linear, rbf] # HERE\n", "unknown kernel 'rbf'"),
        ("compare:\n  - [linear, linear] # HERE\n", "two different kernels"),
        ("variants: {base: {smoothing: 1}} # HERE\n", "a variant's name"),
        ("variants: {x: {smoothing: -1}} # HERE\n", "smoothing"),
        ("variants: {x: {machine: {scale: y}}} # HERE\n", "unknown scale"),
        ("variants: {x: {texts: {}}} # HERE\n", "unknown key 'texts'"),
        ("kind: learning-curve # HERE\n", "did you mean 'learning-curves'"),
        ("kind: [table] # HERE\n", "unknown kind"),
        ("protocol: k-fold # HERE\n", "unknown key 'protocol'"),
        ("paper: nobody1999 # HERE\n", "unknown paper"),
    ],
)
def test_is_refused_before_any_work(refusal_of, fragment, message):
    assert message in refusal_of(fragment)


def test_cells_are_named_after_what_they_are(write):
    study = load_config(write("variants: {soft: {machine: {C: 0.1}}}\ncompare: [[diffusion, linear]]\n"))
    names = [cell.id for cell in study.cells]
    assert len(set(names)) == len(names) == 2 * 2 * 2 * 2
    assert names[0] == "faculty-course-linear-oracle-20"
    assert "faculty-course-diffusion-cv-40" in names
    assert "soft-faculty-course-diffusion-cv-40" in names
    assert len(study.compare) == 2 * 2 * 2
    assert {name for pair in study.compare for name in pair} <= set(names)


def test_without_classes_the_tasks_say_which_are_read(write):
    study = load_config(write("tasks:\n  - [student, course]\n  - [student, project]\n"))
    assert study.variants["base"].classes == ("student", "course", "project")
