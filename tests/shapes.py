"""Six small experiments of unlike shapes, each run once a session, and the command line in this process."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.experiment import run as session
from benchmark.report.drawing import render
from benchmark.system.user_classes import running_user_code_here

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click.testing import Result

PLUGIN = '''
from sklearn.naive_bayes import MultinomialNB


class Mine(MultinomialNB):
    """Naive Bayes of one's own."""


CLASSIFIERS = {"mine": Mine}
'''
COMMON = {"corpus": "corpus: {name: synthetic}\n", "text": "text: {min_occurrences: 5}\n"}
TEXTS = {
    "table": """
protocol: {name: leave-one-group-out, held_out: [cornell, texas]}
methods: [{weighting: tf, normalization: l1, kernel: [linear, ngd]}, mnb]
compare: [[tf-l1-ngd, tf-l1-linear]]
""",
    "curves": """
tasks: [[faculty, course]]
protocol: {name: random-subsets, train_size: [12, 30], replicates: 6}
defaults: {classifier: {name: svm, scale_C: mean-self-product}}
methods: [linear, {kernel: {name: diffusion, t: [0.5, 2]}}]
choose: {by: [oracle, cross-validation], folds: 3}
metrics: [error]
compare: [[diffusion, linear]]
""",
    "several": """
corpus: {name: synthetic, subset: several}
protocol: {name: random-subsets, train_size: [60, 100], replicates: 6, stratified: false, test: texas}
defaults: {weighting: tf, normalization: l2}
methods: [linear, hp-top, mnb]
metrics: [macro-f1, micro-f1]
compare: [[hp-top, linear]]
diagnostics: [document-counts]
figures: [{name: figure-1, y: [macro-f1, micro-f1]}, {name: figure-2, y: seconds, log_y: true}]
""",
    "centroids": """
corpus: {name: synthetic, classes: [faculty, course]}
text: {min_occurrences: 40}
protocol: {name: random-subsets, train_size: [12, 30], replicates: 6}
defaults: {classifier: {name: divergence-bayes, smoothing: 0.001}}
methods: [{classifier: {centroid: [mean, skl]}}]
metrics: [macro-recall]
per_class: true
gain: true
compare: [[skl, mean]]
diagnostics:
  - {name: centroid-distances, centroids: [mean, skl], smoothing: [0.001, 0.1], resamples: 4}
  - centroid-flow
figures: [{name: table-1, y: average-skl, x: smoothing, panel: class, log_x: true}]
""",
    "plugin": """
protocol: {name: leave-one-group-out, held_out: [texas]}
plugins: [mine.py]
methods: [mine, mnb]
compare: [[mine, mnb]]
""",
    "failing": """
protocol: {name: leave-one-group-out, held_out: [cornell]}
methods: [mnb, linear-svm, {kernel: {name: polynomial, degree: 400}, weighting: tf, normalization: none}]
compare: [[mnb, linear-svm]]
""",
}
SHAPES = {
    name: f"name: {name}\n" + "".join(line for key, line in COMMON.items() if f"\n{key}:" not in text) + text
    for name, text in TEXTS.items()
}
#: The cell of the shape "failing" that fails.
FAILS = "tf-none-polynomial-degree400"


@dataclass(frozen=True)
class ShapedRun:
    """A configuration, the folder of its run, and what the run printed."""

    config: Path
    folder: Path
    result: Result


def invoke(*words: object, **options: Any) -> Result:
    """Run a command in this process; an error of ours is raised."""
    done = CliRunner().invoke(app, [str(word) for word in words], **options)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def bench(*words: object, code: int = 0, **options: Any) -> Result:
    """Run a command that must end with this exit code."""
    done = invoke(*words, **options)
    assert done.exit_code == code, done.output
    return done


def refused(*words: object, code: int = 2, said: tuple[str, ...] | str = ()) -> str:
    """Run a command that must be refused in words on standard error alone, and return these."""
    done = bench(*words, code=code)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for text in (said,) if isinstance(said, str) else said:
        assert text in done.stderr
    return str(done.stderr)


def commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group with the words that call it."""
    command = command or typer.main.get_command(app)
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))


def sketch(patch: pytest.MonkeyPatch) -> None:
    """Write what is to be drawn instead of pictures, which take most of a small run and are tested in `report`."""

    def sketched(specs: dict[str, Any]) -> dict[str, dict[str, bytes]]:
        return {name: dict.fromkeys(render.IMAGE_FORMATS, json.dumps(spec).encode()) for name, spec in specs.items()}

    patch.setattr(render, "render_pictures", sketched)
    patch.setattr(session, "cached_pictures", lambda _, specs: sketched(specs))  # none is kept


def run_shapes(folder: Path) -> Any:
    """Return a function that runs a shape, the first time that it is asked for."""

    @functools.cache
    def run(shape: str) -> ShapedRun:
        home = folder / shape
        home.mkdir()
        (home / "mine.py").write_text(PLUGIN)
        (home / f"{shape}.yaml").write_text(SHAPES[shape], encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch, running_user_code_here():
            sketch(patch)
            done = bench("run", home / f"{shape}.yaml", "--out", home / "run", code=int(shape == "failing"))
        return ShapedRun(home / f"{shape}.yaml", home / "run", done)

    return run
