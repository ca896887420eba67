"""The commands in the environments of environments.py: their work, or a line that says why not."""

from __future__ import annotations

import functools
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.trials.environments import COMMANDS, ENVIRONMENTS, Environment
from tests.trials.limits import TRACEBACK, assert_clear, chance, some, trial
from tests.trials.processes import BENCH, Done, Running, Undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[[Environment, str], tuple[Done, str]]

#: Where nothing can be said: standard error is closed, or a file that may not grow.
NO_STREAM = ">&-|ulimit -f"
#: Of each environment so many commands are tried, others from one environment to the next.
TRIED = 2


def pairs() -> list[tuple[Environment, str]]:
    """Pair every environment with some of its commands."""
    found = []
    for number, environment in enumerate(ENVIRONMENTS):
        n = len(environment.commands)
        chosen = {(number * TRIED + position) % n for position in range(min(TRIED, n))}
        found += [(environment, environment.commands[each]) for each in sorted(chosen)]
    chance("environments", 0).shuffle(found)  # a slice has some of every kind
    return found


PAIRS = pairs()


@pytest.fixture(scope="module")
def command(undisturbed: Callable[[str], Undisturbed]) -> Command:
    """Run a command in an environment, and return its standard output, too, in which its folder is TOP.

    Measured seconds and bytes are left out, which no two runs share; a plan has hardly any other numbers.
    """

    def run(environment: Environment, command: str) -> tuple[Done, str]:
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            empty = top / "empty"
            empty.mkdir()
            for each in ("run", "store"):
                shutil.copytree(undisturbed("quickstart").folder / each, top / each)
            words = [word.format(run=top / "run", out=top / "out") for word in COMMANDS[command]]
            changes = {"BENCH_CACHE": str(top / "store"), **environment.variables}
            kept = {key: value.replace("{tmp}", str(empty)) for key, value in changes.items() if value is not None}
            without = " ".join(f"unset {key};" for key in changes if key not in kept)
            # The trials' own limit of memory is no part of an environment: vl-convert can't draw under one.
            shell = f"ulimit -S -v unlimited; {without} {environment.shell.replace('{tmp}', str(empty))}"
            with Running(*BENCH, *words, command=("sh", "-c", shell, "sh"), **kept) as running:
                done = running.end()
        out = re.sub(r"[\d.,]+ (s|MB|GB)\b", r"# \1", done.out.replace(folder, "TOP"))
        return done, re.sub(r"\s*\d[\d.,]*", " #", out) if command == "plan" else out

    return run


@pytest.fixture(scope="module")
def expected(command: Command) -> Callable[[str], str]:
    """Return a command's standard output in a common environment."""
    return functools.cache(lambda name: command(Environment("a common one"), name)[1])


@pytest.mark.parametrize(("environment", "name"), some(PAIRS, 3), ids=str)
@trial(120)
def test_a_command_does_its_work_or_says_why_not(
    environment: Environment, name: str, command: Command, expected: Callable[[str], str]
) -> None:
    done, out = command(environment, name)
    assert TRACEBACK not in done.out + done.error, done.error[-1_500:]
    assert done.code in environment.codes, done.error[-500:]
    assert re.fullmatch(environment.says, done.error, re.DOTALL), done.error[:500]
    if done.code and not re.search(NO_STREAM, environment.shell):
        assert_clear(done.error)
    if environment.same and not done.code:
        assert out == expected(name)
