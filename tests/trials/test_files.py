"""Tables as a machine or a mistake makes them: read, or refused with a line, within some memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.trials.limits import examples
from tests.trials.processes import bench

#: Gigabytes of memory that no table may take.
PEAK = 4.0
CONFIG = """\
name: own
corpus: {{name: files, path: t.csv{more}}}
text: {{stoplist: none}}
protocol: {protocol}
methods: [mnb]
"""
COMMANDS = ("run own.yaml --out out", "validate own.yaml", "plan own.yaml --no-pilot", "init t.csv --out new.yaml")
K_FOLD = "{name: k-fold, k: 2, stratified: false}"
#: Number of rows, the row of a number, more keys of the corpus, and the protocol.
CASES = {
    "100,000 labels": (2 * 10**5, lambda i: f"alpha beta w{i % 50},l{i % 10**5}", "", K_FOLD.replace("false", "true")),
    "100,000 labels, 50 a row": (
        4_000,
        lambda i: f"alpha w{i % 50},{';'.join(f'l{(50 * i + j) % 10**5}' for j in range(50))}",
        ', labels: label, separator: ";"',
        K_FOLD,
    ),
    "100,000 groups": (
        2 * 10**5,
        lambda i: f"alpha w{i % 50},{'ab'[i % 2]},g{i % 10**5}",
        ", group: group",
        "{name: leave-one-group-out}",
    ),
}


@examples(12, shrink=False)
@given(st.sampled_from(list(CASES)), st.sampled_from(COMMANDS))
def test_a_file_is_read_or_refused(name: str, command: str) -> None:
    n_rows, row, more, protocol = CASES[name]
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        head = "text,label,group" if "groups" in name else "text,label"
        (folder / "t.csv").write_text("\n".join([head, *map(row, range(n_rows)), ""]))
        (folder / "own.yaml").write_text(CONFIG.format(more=more, protocol=protocol))
        done = bench(*command.split(), folder=folder, BENCH_CACHE=str(folder / "store"))
    done.assert_clear()
    assert done.peak <= PEAK
