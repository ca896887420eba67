"""Trust in code that comes with a configuration: it runs once a person agrees, until it changes."""

from __future__ import annotations

import contextlib
import hashlib
import os
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import BenchError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: Set to 1, it trusts all code that comes with configurations.
TRUST_VARIABLE = "BENCH_TRUST"
#: Largest number of Python files and folders that are trusted together.
MAX_TRUSTED_FILES = 500


#: The person who is asked whether code may run: the question's function, and the command that agrees. There is none in
#: Python, where who calls has chosen the code.
_ASKING: list[tuple[Callable[[str], bool], str]] = []


@contextlib.contextmanager
def asking_before_code(ask: Callable[[str], bool], command: str = "") -> Iterator[None]:
    """Ask before code that isn't trusted yet is run; errors name the command that trusts it.

    Parameters
    ----------
    ask : callable
        Gets a question and returns the answer.
    command : str
    """
    _ASKING.append((ask, command))
    try:
        yield
    finally:
        _ASKING.pop()


def check_trusted(code: Path, what: str, *, with_folder: bool = False) -> None:
    """Refuse to run code unless it is trusted; the digest of code that a person trusts is remembered.

    Parameters
    ----------
    code : Path
        The file or package whose code would run, or the file that names it.
    what : str
        What would be run, such as "is code, and would be run".
    with_folder : bool
        Whether the code is trusted together with the Python files of its folder, which it may import.

    Raises
    ------
    ConfigError
        If it isn't trusted.
    """
    if not _ASKING or os.environ.get(TRUST_VARIABLE) == "1":
        return
    digest = code_digest_of_folder(code, with_folder=with_folder)
    trusted, (ask, command) = trusted_digests(), _ASKING[-1]
    if digest in trusted:
        return
    if not ask(f"{code}: {what}. Do you trust it?"):
        how = f": {command}" if command else ""
        raise ConfigError(f"{code}: {what}; if you trust it, add --trust once{how}")
    with contextlib.suppress(BenchError):  # then it is asked again
        write_atomically(_memory(), "".join(f"{each}\n" for each in sorted(trusted | {digest})).encode())


def trusted_digests() -> set[str]:
    """Return the sha256 of all code that is trusted."""
    try:
        return set(_memory().read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError):
        return set()


def code_digest_of_folder(code: Path, reads: Iterable[str] = (), *, with_folder: bool = True) -> str:
    """Return the sha256 of a file, of the Python files of its folder, which it may import, and of others that it reads.

    Each counts by its name below the folder and its content.
    """
    digest = hashlib.sha256(f"{code.name}\n".encode("utf-8", "surrogateescape"))
    for file in [*(importable_files(code) if with_folder else [code]), *(code.parent / name for name in reads)]:
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"{os.path.relpath(file, code.parent)}\0{content}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def importable_files(code: Path) -> list[Path]:
    """Return the Python files of a folder and of the packages in it; links are followed.

    Raises
    ------
    ConfigError
        If there are too many.
    """
    found: list[Path] = []
    n_folders = 0
    for at, folders, files in os.walk(code.parent, followlinks=True):
        # Modules can't be imported by the name of another folder, nor those of an environment.
        folders[:] = [
            name
            for name in folders
            if name.isidentifier() and name != "__pycache__" and not Path(at, name, "pyvenv.cfg").exists()
        ]
        found += [Path(at, name) for name in files if name.endswith(tuple(all_suffixes()))]
        n_folders += len(folders)
        if len(found) + n_folders > MAX_TRUSTED_FILES:
            beside = f"beside it are more than {MAX_TRUSTED_FILES} Python files and folders, which it may import"
            raise ConfigError(f"{code}: {beside}; move it to a folder of its own, so that you can trust them together")
    return sorted(each for each in found if each.is_file())


def _memory() -> Path:
    return platformdirs.user_config_path("simplexbench") / "trusted"
