"""Mutants of all configurations and of what papers printed: `bench validate` finds them good, or says a reason."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.experiment.configuration import load_checked
from benchmark.papers import load as papers
from benchmark.papers import published
from benchmark.system.errors import ConfigError
from tests.strategies import broken_yaml, one
from tests.trials.limits import assert_clear, examples
from tests.trials.processes import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIGS, PAPERS = (
    {path.name: path.read_bytes() for path in sorted((REPOSITORY / folder).glob("*.yaml"))}
    for folder in ("configs", "results/published")
)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Copy all configurations and papers; papers are looked for there."""
    folder = tmp_path_factory.mktemp("copies")
    shutil.copytree(REPOSITORY / "configs", folder / "configs")
    shutil.copytree(REPOSITORY / "results" / "published", folder / "published")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "PUBLISHED_FOLDER", folder / "published")
        yield folder


def check(mutant: bytes, changed: Path, validated: Path) -> None:
    """Put a mutant in place, check a configuration that it is or that reads it, and put the original back."""
    original = changed.read_bytes()
    changed.write_bytes(mutant)
    papers._read.cache_clear()
    try:
        assert load_checked(validated).ids, "a configuration without cells is good"
    except ConfigError as error:
        assert_clear(str(error))
    finally:
        changed.write_bytes(original)


@st.composite
def changed_and_validated(draw: Any) -> tuple[str, str]:
    """Draw a configuration, and itself or one that extends it."""
    name = one(draw, list(CONFIGS))
    extending = [each for each, text in CONFIGS.items() if f"extends: {Path(name).stem}\n".encode() in text]
    return name, one(draw, [name, name, *extending])


@examples(2_500)
@given(broken_yaml([*CONFIGS.values()]), changed_and_validated())
def test_a_configuration_is_good_or_refused_with_a_reason(copies: Path, mutant: bytes, names: tuple[str, str]) -> None:
    changed, validated = (copies / "configs" / name for name in names)
    check(mutant, changed, validated)


@st.composite
def papers_and_readers(draw: Any) -> tuple[str, str]:
    """Draw a paper, and a configuration that is compared with it."""
    name = one(draw, list(PAPERS))
    own = re.compile(rb"(?m)^paper: %s\b" % Path(name).stem.encode())
    return name, one(draw, [each for each, text in CONFIGS.items() if own.search(text)])


@examples(1_500)
@given(broken_yaml([*PAPERS.values()]), papers_and_readers())
def test_a_paper_is_good_or_refused_with_a_reason(copies: Path, mutant: bytes, names: tuple[str, str]) -> None:
    check(mutant, copies / "published" / names[0], copies / "configs" / names[1])
