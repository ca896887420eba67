"""Shipped configurations with something broken in them: each is checked, or refused in a few plain lines, at once."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from hypothesis import given, settings

from benchmark.experiment.configuration import load_checked
from benchmark.papers.published import PUBLISHED_FOLDER
from benchmark.system.errors import MAX_PROBLEMS, ConfigError
from tests.strategies import broken_yaml

CONFIGS = Path(__file__).parents[2] / "configs"


def outcome(path: Path) -> tuple[str, float]:
    """What is said of a configuration, and the seconds until then; any error but a refusal goes on."""
    start = time.process_time()
    try:
        load_checked(path)
        said = ""
    except ConfigError as error:
        said = str(error)
    return said, time.process_time() - start


def test_a_broken_configuration_is_refused_in_plain_lines_or_is_good_after_all(tmp_path: Path) -> None:
    shutil.copytree(CONFIGS, tmp_path, dirs_exist_ok=True)  # all that a mutant could extend
    path, refused = tmp_path / "mutant.yaml", []

    @settings(max_examples=150)
    @given(broken_yaml([each.read_bytes() for each in sorted(CONFIGS.glob("*.yaml"))]))
    def check(content: bytes) -> None:
        path.write_bytes(content)
        said, seconds = outcome(path)
        assert seconds < 2
        refused.append(bool(said))
        problems = said.splitlines()
        assert len(problems) <= MAX_PROBLEMS + 1
        assert all(
            line.startswith((str(path.parent), str(Path(*PUBLISHED_FOLDER.parts[-2:])), "…")) for line in problems
        ), said
        assert all(line.isprintable() for line in problems), said

    check()
    assert sum(refused) > 40
