"""Trust in code that comes with a configuration: it runs once a person agrees, until a byte of it changes."""

from __future__ import annotations

import contextlib
import hashlib
import os
from typing import TYPE_CHECKING, Any

import platformdirs

from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import BenchError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Set to 1, it trusts all code that comes with configurations.
TRUST_VARIABLE = "BENCH_TRUST"
#: What a configuration that came with a run does.
OF_A_RUN = "came with a run and names classes by import paths, whose code would be run"
#: Asks whether code may run; empty in Python, where who calls has chosen the code.
_ASKING: list[Callable[[str], bool]] = []


@contextlib.contextmanager
def asking_before_code(ask: Callable[[str], bool]) -> Iterator[None]:
    """Ask before code that isn't trusted yet is run; `ask` gets a question and returns the answer."""
    _ASKING.append(ask)
    try:
        yield
    finally:
        _ASKING.pop()


@contextlib.contextmanager
def loading_own_code() -> Iterator[None]:
    """Ask nothing, since what is loaded was written by this process a moment ago."""
    asked, _ASKING[:] = _ASKING[:], []
    try:
        yield
    finally:
        _ASKING[:] = asked


def check_trusted(code: Path, what: str) -> None:
    """Refuse to run code unless it is trusted; the digest of code that a person trusts is remembered.

    Parameters
    ----------
    code : Path
        The file whose content is trusted: a plug-in, or a configuration with import paths.
    what : str
        What the file does, such as "is code of yours or another's, and would be run".

    Raises
    ------
    ConfigError
        If it isn't trusted.
    """
    if not _ASKING or os.environ.get(TRUST_VARIABLE) == "1":
        return
    try:
        digest = hashlib.sha256(code.read_bytes()).hexdigest()
    except OSError:
        return  # whoever reads the file says what is wrong
    trusted = trusted_digests()
    if digest in trusted:
        return
    if not _ASKING[-1](f"{code}: {what}. Do you trust it?"):
        raise ConfigError(f"{code}: {what}; add --trust once, if you trust it")
    with contextlib.suppress(BenchError):  # then the next run asks again
        write_atomically(_memory(), "".join(f"{each}\n" for each in sorted(trusted | {digest})).encode())


def trusted_digests() -> set[str]:
    """Return the sha256 of every file that is trusted."""
    try:
        return set(_memory().read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError):
        return set()


def has_import_path(data: Any) -> bool:
    """Return whether a configuration's methods name a classifier or pipeline by its import path."""
    if isinstance(data, dict):
        named = [each for key in ("classifier", "pipeline") for each in _listed(data.get(key, []))]
        names = [each.get("name", "") if isinstance(each, dict) else each for each in named]
        return any(map(_is_path, names)) or any(has_import_path(each) for each in data.values())
    if isinstance(data, list):
        return any(_is_path(each) or has_import_path(each) for each in data)
    return False


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_path(name: Any) -> bool:
    return isinstance(name, str) and "." in name and all(word.isidentifier() for word in name.split("."))


def _memory() -> Path:
    return platformdirs.user_config_path("simplexbench") / "trusted"
