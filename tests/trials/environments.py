"""Environments in which every command must do its work, or say in a line why it can't: what a user's machine may be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Each command's words; "{run}" is a copy of a finished quickstart's folder, "{out}" a folder that isn't there yet.
COMMANDS = {
    "help": ("--help",),
    "list": ("list",),
    "data list": ("data", "list"),
    "cache info": ("cache", "info"),
    "validate": ("validate", "configs/quickstart.yaml"),
    "plan": ("plan", "configs/quickstart.yaml"),
    "run": ("run", "configs/quickstart.yaml", "--out", "{out}"),
    "report": ("report", "{run}"),
    "compare": ("compare", "{run}", "tf-l1-ngd", "tf-l2-linear"),
    "check": ("check", "configs/quickstart.yaml", "--out", "{out}"),
}
ALL = tuple(COMMANDS)
LIGHT = ("help", "list", "data list", "cache info", "validate")
STORING = ("plan", "run", "check")
WORKING = (*STORING, "report", "compare")


@dataclass(frozen=True)
class Environment:
    """One environment, and what must hold in it. Everywhere: no traceback, and on standard error one message at most.

    Parameters
    ----------
    name : str
    variables : mapping of str to (str or None)
        Changes of the environment; None takes a variable away. "{tmp}" is an empty folder of the trial's own.
    shell : str
        What `sh -c` does with the command, which is "$@"; "{tmp}" as above. The working folder is the checkout.
    commands : tuple of str
        Names of `COMMANDS` that are worth trying in it.
    codes : tuple of int
        The exit codes that are right.
    says : str
        A pattern for all of standard error (`re.fullmatch`, a dot is any character).
    same : bool
        Whether standard output is, but for measured seconds and bytes, what it is in a common environment.
    """

    name: str
    variables: Mapping[str, str | None] = field(default_factory=dict)
    shell: str = '"$@"'
    commands: tuple[str, ...] = ALL
    codes: tuple[int, ...] = (0,)
    says: str = ""
    same: bool = True

    def __str__(self) -> str:
        return self.name


ONE = "bench: [^\n]*\n"
MEMORY = r"(these figures are missing[^\n]*\n)?(bench: not enough memory[^\n]*\n|.*OpenBLAS.*)?"
FULL = r"bench: can't write to standard output: no space left on device\n"
UNCACHED = r"(compiled code can't be stored [^\n]*NUMBA_CACHE_DIR[^\n]*\n)?"
NOT_KEPT = r"(results are no longer kept: [^\n]*\n)?"
GOMP = r"(\s*libgomp: Invalid value for environment variable [^\n]*\s*)?"
LAYER = r"([^\n]* failed: [^\n]*threading layer[^\n]*\n)+"
SERIAL = r"([^\n]*UserWarning: .*warnings\.warn\([^\n]*\n)?"  # joblib and numba without semaphores
PLAIN = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
TERMINAL = 'script -qec "$*" /dev/null'
#: But for the folder of the corpora: without it their list is another.
UNSET = (
    'env -i PYTHONPATH="$PYTHONPATH" BENCH_CACHE="$BENCH_CACHE" '
    '${BENCH_DATASETS:+"BENCH_DATASETS=$BENCH_DATASETS"} "$@"'
)
DELETED = 'mkdir "{tmp}/x"; cd "{tmp}/x"; rmdir "{tmp}/x"; "$@"'
WORDS = tuple(name for name in ALL if name != "help")  # help is as wide as it is told to be


def limited(name: str, value: int, **expected: Any) -> Environment:
    """One with a limit of the shell's, in which nothing has been computed yet."""
    shell = f'ulimit -{name} {value}; "$@"'
    return Environment(f"ulimit -{name} {value}", {"BENCH_CACHE": "{tmp}"}, shell, codes=(0, 1), same=False, **expected)


def empty(name: str, variables: dict[str, str], codes: tuple[int, ...], says: str) -> Environment:
    """One in which nothing has been computed yet."""
    return Environment(name, {**variables, "BENCH_CACHE": "{tmp}"}, '"$@"', ("run",), codes, says, same=False)


ENVIRONMENTS = [
    Environment("as it is"),
    # What letters the terminal knows.
    *(Environment(f"in {name}", {"PYTHONIOENCODING": name}, same=False) for name in ("ascii", "latin-1", "cp1252")),
    Environment("the C locale", {**PLAIN, "LC_ALL": "C"}, same=False),
    Environment("Turkish", {"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"}),
    # What the terminal is.
    *(Environment(f"{n} columns", {"COLUMNS": n}, commands=WORDS) for n in ("0", "1", "20", "80", "nonsense")),
    *(Environment(f"help in {n} columns", {"COLUMNS": n}, commands=("help",), same=False) for n in ("0", "1", "20")),
    Environment("forced colour", {"FORCE_COLOR": "1"}, says=".*", same=False),
    Environment("a terminal of one column", {"COLUMNS": "1", "TERM": "xterm"}, TERMINAL, same=False),
    Environment("a dumb terminal", {"TERM": "dumb"}, TERMINAL, same=False),
    Environment("no colour", {"NO_COLOR": "1"}, TERMINAL, same=False),
    # Where output goes.
    Environment("no stdin", {}, '"$@" <&-'),
    Environment("no stdout", {}, '"$@" >&-', same=False),
    Environment("no stderr", {}, '"$@" 2>&-'),
    Environment("nothing open", {}, '"$@" <&- >&- 2>&-', same=False),
    Environment("a reader that leaves", {}, '"$@" | head -1', same=False),
    Environment("a reader that has left", {}, '"$@" | true', same=False),
    Environment("a full stdout", {}, '"$@" >/dev/full', codes=(1,), says=FULL, same=False),
    Environment("a full stderr", {}, '"$@" 2>/dev/full'),
    # What the shell sets.
    Environment("nothing is set", {}, UNSET),
    Environment("no home", {"HOME": None, "XDG_CACHE_HOME": None}),
    Environment("a home that isn't there", {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}),
    Environment("an odd time zone", {"TZ": "Mars/Olympus"}),
    Environment("random hashes", {"PYTHONHASHSEED": "4242"}),
    Environment("a TMPDIR that isn't there", {"TMPDIR": "/nonexistent"}),
    Environment("a deleted folder", {}, DELETED, LIGHT[:-1]),
    # Python's own.
    Environment("warnings are errors", {"PYTHONWARNINGS": "error"}),
    Environment("no docstrings", {"PYTHONOPTIMIZE": "2"}, codes=(0, 1), says=f"({ONE})?", same=False),  # what draws
    Environment("safe path", {"PYTHONSAFEPATH": "1"}),
    Environment("development mode", {"PYTHONDEVMODE": "1"}),
    # The libraries' own.
    *(Environment(f"OMP_NUM_THREADS={n}", {"OMP_NUM_THREADS": n}, says=GOMP) for n in ("0", "-3", "nonsense")),
    *(Environment(f"OPENBLAS_NUM_THREADS={n}", {"OPENBLAS_NUM_THREADS": n}) for n in ("0", "-3", "nonsense")),
    empty("an odd threading layer", {"NUMBA_THREADING_LAYER": "x"}, (1,), LAYER),
    Environment("NUMBA_CACHE_DIR is a file", {"NUMBA_CACHE_DIR": "/dev/null/x"}, says=UNCACHED),
    # Where results are kept.
    Environment("BENCH_CACHE is a file", {"BENCH_CACHE": "/dev/null"}, says=NOT_KEPT, same=False),
    Environment("BENCH_CACHE can't be made", {"BENCH_CACHE": "/proc/nowhere"}, says=NOT_KEPT, same=False),
    Environment("BENCH_CACHE has odd letters", {"BENCH_CACHE": "{tmp}/a b/Zürich ☃"}, same=False),
    Environment("BENCH_CACHE is relative", {"BENCH_CACHE": "~x"}, 'cd "{tmp}"; "$@"', ("cache info",), same=False),
    Environment("a limit that is no number", {"BENCH_CACHE_LIMIT_GB": "x"}, '"$@"', STORING, (1,), ONE, same=False),
    Environment(
        "a budget that is none",
        {"BENCH_MEMORY_GB": "x", "BENCH_CACHE": "{tmp}"},
        '"$@"',
        ("run",),
        (1,),
        ONE,
        same=False,
    ),
    # Limits.
    *(limited("v", kb, says=MEMORY) for kb in (60_000, 150_000, 300_000, 600_000, 800_000, 1_000_000, 1_500_000)),
    *(limited("n", files, says=f"({ONE})?") for files in (6, 10, 20)),
    *(limited("f", blocks, says=f"{SERIAL}{NOT_KEPT}({ONE})?") for blocks in (0, 8, 200)),
    Environment("ulimit -s 256", {}, 'ulimit -s 256; "$@"'),
]
