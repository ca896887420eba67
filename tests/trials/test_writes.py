"""Commands beside `run` that write, on a disk that is full or fails from any write on: their work, or a reason."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tests.experiment.test_resilience import OF_THE_MOMENT
from tests.trials.faults import ERRORS, Fault, counts_of
from tests.trials.limits import chance, numbers, trial
from tests.trials.processes import Done, Running, Undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Each writes below "{out}" alone, beside its store; "{run}" is a finished run, "{config}" its configuration.
COMMANDS = {
    "fit": ("fit", "{config}", "--cell", "tf-l1-ngd", "--out", "{out}/model"),
    "fit of probabilities": ("fit", "{config}", "--cell", "tf-l2-linear", "--probability", "--out", "{out}/model"),
    "report": ("report", "{out}/run"),
    "page": ("report", "{out}/run", "--html"),
    "run again": ("run", "{run}", "--out", "{out}/again"),
    "counts": ("data", "export", "{config}", "--out", "{out}/counts"),
}
WRITES = ("create", "write", "close", "replace", "mkdir", "unlink")


def command(name: str, experiment: Undisturbed, top: Path, fault: Fault) -> Done:
    """Run a command with a fault, on copies of a finished run and its store."""
    for each in ("run", "store"):
        shutil.copytree(experiment.folder / each, top / ("out" if each == "run" else "") / each)
    filled = {"config": experiment.configuration, "run": experiment.run, "out": top / "out"}
    words = [word.format(**filled) for word in COMMANDS[name]]
    python = (sys.executable, "-m", "tests.trials.faults")
    with Running(*words, command=python, BENCH_CACHE=str(top / "store"), **fault.variables()) as running:
        return running.end()


def files(folder: Path) -> dict[str, bytes]:
    """Read the files below a folder, but for temporary ones of a process that could not remove them."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


@pytest.mark.parametrize("number", numbers(40, 1))
@trial(300)
def test_what_is_written_is_whole(number: int, undisturbed: Callable[[str], Undisturbed], tmp_path: Path) -> None:
    """Let a write fail, or it and all later ones; a file with its final name is whole."""
    random, name = chance("writes", number), [*COMMANDS][number % len(COMMANDS)]
    experiment, right, wrong = undisturbed("quickstart"), tmp_path / "right", tmp_path / "wrong"
    counting = Fault(str(right / "out"), WRITES, counts=str(tmp_path / "counts"))
    assert not command(name, experiment, right, counting).code
    made, expected = counts_of(tmp_path / "counts").get("all", 0), files(right / "out")
    first = random.randint(1, max(made, 1))
    fault = Fault(str(wrong / "out"), WRITES, first, random.choice(ERRORS), lasts=random.random() < 0.7)
    done = command(name, experiment, wrong, fault)
    done.assert_clear()
    found, before = files(wrong / "out"), {f"run/{path}": each for path, each in files(experiment.run).items()}
    assert done.code or found.keys() == expected.keys()
    for path, content in found.items():
        assert path.rpartition("/")[2] in OF_THE_MOMENT or content in (expected[path], before.get(path)), path
