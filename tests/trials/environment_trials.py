"""The commands in the environments of environments.py: their work, or a line that says why not."""

from __future__ import annotations

import functools
import re
import shutil
import tempfile
from pathlib import Path

from environments import COMMANDS, ENVIRONMENTS, Environment
from processes import BENCH, Done, Running, bench
from trial import REPOSITORY, Family, chance, once, unclear

#: Where nothing can be said: standard error is closed, or a file that may not grow.
NO_STREAM = ">&-|ulimit -f"
#: Of each environment so many commands are tried, others from one environment to the next.
TRIED = 2


@functools.cache
def _prepared() -> Path:
    """A finished quickstart, run/, and the store that it filled."""

    def make(folder: Path) -> None:
        words = "run", "configs/quickstart.yaml", "--out", folder / "run"
        done = bench(*words, variables={"BENCH_CACHE": str(folder / "store")})
        if done.code:
            raise RuntimeError(f"the quickstart doesn't run: {done.error}")

    return once("finished-quickstart", make)


def _done(environment: Environment, command: str) -> tuple[Done, str]:
    """A command in an environment: what came of it, and its standard output without the names of its folders."""
    top = Path(tempfile.mkdtemp())
    (top / "tmp").mkdir()
    shutil.copytree(_prepared() / "run", top / "run")
    shutil.copytree(_prepared() / "store", top / "store")
    tmp = str(top / "tmp")
    words = [word.format(run=top / "run", out=top / "out") for word in COMMANDS[command]]
    changes = {"BENCH_CACHE": str(top / "store"), "PYTHONPATH": str(REPOSITORY), **environment.variables}
    gone = [name for name, value in changes.items() if value is None]
    kept = {name: value.replace("{tmp}", tmp) for name, value in changes.items() if value is not None}
    without = " ".join(f"unset {name};" for name in gone)
    shell = f"{without} {environment.shell.replace('{tmp}', tmp)}"
    done = Running("sh", "-c", shell, "sh", *BENCH, *words, variables=kept).end()
    out = done.out.replace(str(top), "TOP")
    shutil.rmtree(top)
    return done, out


def _unmeasured(command: str, out: str) -> str:
    """Without seconds and bytes, which no two runs share; a plan has hardly any other numbers."""
    out = re.sub(r"[\d.,]+ (s|MB|GB)\b", r"# \1", out)
    return re.sub(r"\s*\d[\d.,]*", " #", out) if command == "plan" else out


@functools.cache
def _expected(command: str) -> str:
    """Standard output in a common environment."""
    return _unmeasured(command, _done(Environment("a common one"), command)[1])


def pairs() -> list[tuple[Environment, str]]:
    """Every environment with some of its commands."""
    found = []
    for number, environment in enumerate(ENVIRONMENTS):
        n = len(environment.commands)
        chosen = {(number * TRIED + position) % n for position in range(min(TRIED, n))}
        found += [(environment, environment.commands[each]) for each in sorted(chosen)]
    chance("environments", 0).shuffle(found)  # a slice has some of every kind
    return found


PAIRS = pairs()


def tried(number: int) -> str | None:
    """One command in one environment."""
    environment, command = PAIRS[number]
    done, out = _done(environment, command)
    problem = None
    if "Traceback (most recent call last)" in done.out + done.error:
        problem = f"a traceback, exit code {done.code}:\n{done.error[-1_500:]}"
    elif done.code not in environment.codes:
        problem = f"exit code {done.code}: {done.error[-500:]}"
    elif not re.fullmatch(environment.says, done.error, re.DOTALL):
        problem = f"says {done.error[:500]!r}"
    elif done.code and unclear(done.error) and not re.search(NO_STREAM, environment.shell):
        problem = unclear(done.error)
    elif environment.same and done.code == 0 and _unmeasured(command, out) != _expected(command):
        problem = "another standard output than in a common environment"
    return f"{environment.name}, bench {command}: {problem}" if problem else None


FAMILIES = [
    Family(
        "environments", "locales, terminals, closed streams, limits: their work, or a line", tried, len(PAIRS), 8, 120
    )
]
