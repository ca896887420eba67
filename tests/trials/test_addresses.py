"""A store behind an address whose requests fail: a run's bytes, one line at most, and no long wait."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from tests.builders import small_experiment
from tests.trials.limits import assert_clear, chance, numbers, trial
from tests.workers.conftest import bucket, proxied  # noqa: F401 - fixtures
from tests.workers.proxy import FAILURES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Seconds that failing requests may add to a run: each answer may take 2, and one such failure ends the asking.
LONGEST = 20


@pytest.mark.usefixtures("sketched")
@pytest.mark.parametrize("number", numbers(60, 1))
@trial(120)
def test_requests_that_fail_change_nothing(
    number: int,
    bucket: str,  # noqa: F811
    proxied: Callable[..., str],  # noqa: F811
    tmp_path: Path,
) -> None:
    random, folder, experiment = chance("addresses", number), f"trial-{number}", small_experiment()
    warm, how, method = random.random() < 0.5, random.choice(FAILURES), random.choice(("", "GET", "PUT", "HEAD"))
    near = run_and_write(experiment, RunContext(Store(tmp_path / "store")), folder=tmp_path / "near")
    if warm:
        run_and_write(experiment, RunContext(Store(f"{bucket}/{folder}")), folder=tmp_path / "first")
    notes, started = list[str](), time.monotonic()
    address = proxied(random.randint(1, 12), how, folder, method=method, once=random.random() < 0.5)
    far = run_and_write(experiment, RunContext(Store(address, warn=notes.append)), folder=tmp_path / "far")
    assert time.monotonic() - started < near.seconds + LONGEST
    for name in ("predictions.parquet", "scores.csv"):
        assert (tmp_path / "far" / name).read_bytes() == (tmp_path / "near" / name).read_bytes()
    assert not far.results.failures
    assert len(notes) <= 1
    for note in notes:
        assert_clear(note)
        assert "done without it" in note or "no longer kept" in note
