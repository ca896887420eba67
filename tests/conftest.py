"""What the tests of every kind of configuration share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from benchmark.config import load_config
from benchmark.corpora import archive, registry
from benchmark.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def no_corpus_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a corpus is looked for."""

    def never(*args: object, **kwargs: object) -> None:
        pytest.fail("a configuration is checked without its corpus")

    for name in ("find", "locate", "load", "places"):
        monkeypatch.setattr(registry, name, never)
    monkeypatch.setattr(archive, "read_files", never)


@pytest.fixture
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Path]:
    """Write the module's `SMALL` configuration, a fragment's top-level keys standing instead of its own."""

    def write(fragment: str = "") -> Path:
        given = re.findall(r"^(\w+):", fragment, re.MULTILINE)
        path = tmp_path / "config.yaml"
        kept = [text for key, text in request.module.SMALL.items() if key not in given]
        path.write_text("".join(kept) + fragment, encoding="utf-8")
        return path

    return write


@pytest.fixture
def refusal_of(write: Callable[..., Path]) -> Callable[[str], str]:
    """The message for a fragment, which must begin with file and the line that ends in "# HERE"."""

    def refusal(fragment: str) -> str:
        path = write(fragment)
        with pytest.raises(ConfigError) as caught:
            load_config(path)
        here = next(i for i, line in enumerate(path.read_text().splitlines(), 1) if line.endswith("# HERE"))
        assert str(caught.value).startswith(f"{path}:{here}: "), caught.value
        return str(caught.value)

    return refusal
