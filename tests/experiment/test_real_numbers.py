"""With the real corpora at hand, a part of a grid comes to the very numbers that are pinned of the whole.

That the whole does, `.ci/run` sees by `bench check`. Here tasks, methods, sizes, draws and diagnostics are left out.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.commands.check import PINNED
from benchmark.config.experiment import check_experiment
from benchmark.config.extends import read_config
from benchmark.corpora import registry
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.yaml_source import Node

if TYPE_CHECKING:
    from benchmark.experiment.store import Store

REPOSITORY = Path(__file__).parents[2]

pytestmark = pytest.mark.corpus

#: Configurations, how their grids are cut to seconds of work, and how many pinned numbers are left.
CASES: dict[str, tuple[dict[str, Any], int]] = {
    "reuters-skl-reduced": ({"diagnostics": [], "protocol": {"train_size": [50], "replicates": 3}}, 48),
    "webkb-diffusion-reduced": (
        {
            "tasks": [["faculty", "course"]],
            "methods": ["linear", {"kernel": {"name": "heat", "t": [0.0018, 0.002]}}],
            "choose": {"by": ["oracle"]},
            "protocol": {"train_size": [50], "replicates": 4},
        },
        8,
    ),
}
LEFT_OUT = ("variants", "compare", "figures", "paper", "sensitivity_of", "choose", "gain")


def pinned(name: str) -> dict[tuple[str, str, str], float]:
    with (PINNED / f"{name}.csv").open(newline="") as file:
        return {(row["cell"], row["fold"], row["metric"]): float(row["value"]) for row in csv.DictReader(file)}


@pytest.mark.parametrize("name", CASES)
def test_cells_have_the_numbers_that_are_pinned(name: str, store: Store) -> None:
    changes, n_least = CASES[name]
    raw = dict(read_config(REPOSITORY / "configs" / f"{name}.yaml").value)
    if registry.find_corpus(raw["corpus"]["name"]) is None:
        pytest.skip(f"the corpus {raw['corpus']['name']} is not on this machine")
    if "protocol" in changes:
        changes = changes | {"protocol": raw["protocol"] | changes["protocol"]}
    raw = {key: value for key, value in raw.items() if key not in LEFT_OUT} | changes
    experiment = check_experiment(Node.of_data(raw, "test.yaml"), BUILTIN_REGISTRIES)
    frame = run_experiment(experiment, RunContext(store, download=False)).scored.frame
    ours = {(row.cell, row.fold, row.metric): row.value for row in frame.itertuples()}
    guarded = {place: value for place, value in pinned(name).items() if place in ours and place[1] != "all"}
    assert len(guarded) >= n_least
    assert {place: ours[place] for place in guarded} == pytest.approx(guarded, abs=1e-11)
