"""What the store holds is listed and removed by kind, with its number, bytes and seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.cli.output import CommandOutput, _to_json
from benchmark.cli.terminal import format_bytes
from benchmark.experiment.store import KERNEL_STAGE, Store, StoreEntry, store_key
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def invoke(*arguments: str) -> tuple[int, list[str]]:
    result = CliRunner().invoke(app, ["cache", *arguments])
    return result.exit_code, result.output.splitlines()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Two results of one kernel, one of another, and two others, of different sizes."""
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "store"))
    monkeypatch.setenv("BENCH_CACHE_LIMIT_GB", "3")
    store = Store()
    kernels = (("hp-top", 1.25, 1000), ("hp-top", 1000.5, 2000), ("plsi", 3.0, 4000))
    for number, (about, seconds, n) in enumerate(kernels):
        facts = {"stage": KERNEL_STAGE, "about": about, "seconds": seconds}
        store.put(store_key(stage="x", n=number), StoreEntry({"a": np.zeros(n)}, facts))
    for number in (7, 8):
        store.put(store_key(stage="x", n=number), StoreEntry({"a": np.zeros(8000 * number)}, {"stage": "other"}))
    return store


def test_kernels_are_listed_by_name_and_all_else_is_counted(store: Store) -> None:
    sizes: dict[str, int] = {}
    for facts, n_bytes, _ in store.described():
        name = facts.get("about", "other")
        sizes[name] = sizes.get(name, 0) + n_bytes
    code, lines = invoke("list")
    assert code == 0
    assert sorted(lines[:2]) == [
        f"1 × plsi: {format_bytes(sizes['plsi'])}, 3.0 s to compute",
        f"2 × hp-top: {format_bytes(sizes['hp-top'])}, 1,001.8 s to compute",
    ]
    of_kernels = sizes["plsi"] + sizes["hp-top"]
    other = format_bytes(sizes["other"])
    assert lines[2:] == [f"3 entries of kernels, {format_bytes(of_kernels)}; 2 other entries, {other}"]
    whole = format_bytes(sum(sizes.values()))
    assert invoke("info") == (0, [str(store.folder), f"5 entries, {whole} of at most {format_bytes(3 * 10**9)}"])
    assert invoke("clear") == (
        2,
        [f"bench: {store.folder}: 5 entries, {whole} would be removed; not a terminal: add --yes to confirm"],
    )
    assert len(store.entries()) == 5
    assert invoke("clear", "--yes") == (0, [f"removed 5 entries, {whole}"])
    assert invoke("list") == (0, ["0 entries of kernels, 0 B; 0 other entries, 0 B"])


def test_json_has_plain_values_and_no_infinity(capsys: pytest.CaptureFixture[str]) -> None:
    given = {
        1: (np.int64(3), float("nan"), float("inf"), -float("inf"), 1.5, None, True, "a"),
        "b": {"c": [ConfigError]},
    }
    found = _to_json(given)
    assert found == {"1": [3, None, None, None, 1.5, None, True, "a"], "b": {"c": [str(ConfigError)]}}
    assert type(found["1"][0]) is int
    with pytest.raises(ConfigError, match=r"^--quiet and --json exclude each other"):
        CommandOutput(quiet=True, as_json=True)
    with CommandOutput(as_json=True) as answer:
        answer.give("rows", {"n": 1}, "shown", sentence="Said.")
        answer.give("rows", {"n": 2})
    assert capsys.readouterr().out == '{"rows": [{"n": 1, "sentence": "Said."}, {"n": 2}]}\n'
    with CommandOutput(quiet=True) as answer:
        answer.give("rows", {"n": 1}, "shown", sentence="Said.")
    assert capsys.readouterr().out == "Said.\n"
    with pytest.raises(ConfigError, match="broke"), CommandOutput(as_json=True):
        raise ConfigError("broke")
    assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit), CommandOutput(as_json=True):
        raise SystemExit(1)
    assert capsys.readouterr().out == "{}\n"
