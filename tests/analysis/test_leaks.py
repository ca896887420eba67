"""Tested documents that training knows stand first among the caveats, with the score without them."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

import benchmark
from benchmark.cli import app

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

pytestmark = pytest.mark.usefixtures("sketched")
CLASSES = ("printer", "password", "invoice")
CONFIG: dict[str, Any] = {
    "name": "tickets",
    "corpus": {"name": "files", "path": "tickets.csv", "id": "id", "group": "customer", "date": "day"},
    "text": {"lexer": "unicode", "stoplist": "none", "min_documents": 2},
    "protocol": {"name": "by-date", "test_share": 0.25},
    "defaults": {"idf": "training"},
    "methods": ["mnb", {"weighting": "tfidf", "classifier": "linear-svm"}],
}


def table(*, size: int = 160, copied: int = 0) -> pd.DataFrame:
    """Make tickets of which customers have one class each; the last ones repeat the words of earlier ones.

    Two thirds of those from the 120th on are of customers that have older tickets.
    """
    rng = random.Random(0)  # noqa: S311 - data of a test
    names = ["".join(rng.choices("abcdefghij", k=6)) for _ in range(400)]
    rows = []
    for n in range(size):
        customer = n % 30 if n < 120 or n % 3 else 30 + n % 7
        words = [f"own{names[customer]}"] * 3 + rng.choices(names, k=9)
        label = CLASSES[customer % 3]
        words += [label] if rng.random() < 0.3 else []
        rows.append([f"t{n}", " ".join(words), label, f"c{customer}", f"2024-{1 + n // 28:02d}-{1 + n % 28:02d}"])
    for n in range(copied):
        rows[-1 - n][1] = rows[n][1]
    return pd.DataFrame(rows, columns=["id", "text", "label", "customer", "day"])


@pytest.fixture(name="bench")
def run_in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "store"))

    def run(*words: str) -> Result:
        return CliRunner().invoke(app, [*words])

    return run


def run_of(bench: Any, tickets: pd.DataFrame, **changes: Any) -> tuple[str, str, Path]:
    """Run a configuration on a table; return the terminal's text, table.md and the run folder."""
    from pathlib import Path  # noqa: PLC0415

    tickets.to_csv("tickets.csv", index=False)
    Path("tickets.yaml").write_text(yaml.safe_dump(CONFIG | changes))
    done = bench("run", "tickets.yaml", "--overwrite")
    assert done.exit_code == 0, done.output
    folder = Path("results/runs/tickets")
    return " ".join(done.output.split()), (folder / "table.md").read_text(), folder


def first_caveats(markdown: str) -> list[str]:
    section = markdown.partition("## Read this before trusting the numbers\n\n")[2].partition("\n\n")[0]
    return section.replace("\\", "").splitlines()


def test_groups_on_both_sides_of_a_split_by_date_come_first_with_both_scores(bench: Any) -> None:
    tickets = table()
    text, markdown, folder = run_of(bench, tickets)
    old, new = tickets[:120], tickets[120:]
    known = new[new["customer"].isin(old["customer"])]["id"]
    assert 20 < len(known) < 40
    found = benchmark.read(folder).summary.leaks.set_index("cell")
    rows = pd.read_parquet(folder / "predictions.parquet")
    rows["right"] = rows["predicted"].astype(str) == rows["label"].astype(str)
    for cell, own in rows.groupby("cell", observed=True):
        assert found.loc[cell, "score"] == pytest.approx(own["right"].mean())
        assert found.loc[cell, "without"] == pytest.approx(own[~own["document"].isin(known)]["right"].mean())
    best = found["score"].idxmax()
    share, score, without = len(known) / 40, 100 * found["score"].max(), 100 * found["without"][best]
    said = f"{len(known)} of 40 tested documents ({share:.0%}) share their 'customer' with training documents: "
    said += f"the accuracy of {best} is {score:.2f}, and {without:.2f} without them"
    first, *others = first_caveats(markdown)
    assert said in first
    assert "word list" in others[-1]
    assert f"- {said}" in text
    assert "without shared groups" in text
    assert said in (folder / "report.html").read_text().replace("&#39;", "'")
    again = " ".join(bench("report", str(folder)).output.split())
    assert f"- {said}" in again
    assert "in an earlier run" not in text + again
    assert not benchmark.read(folder).summary.costs["stored"].any()
    stored, _, _ = run_of(bench, tickets)
    mark = "Seconds with * were measured in an earlier run."
    assert mark in stored
    assert re.search(r"\d\* ", stored)
    assert benchmark.read(folder).summary.costs["stored"].all()
    assert mark in " ".join(bench("report", str(folder)).output.split())


@pytest.mark.parametrize(("copied", "told"), [(0, False), (1, False), (4, True)])
def test_near_duplicates_above_one_in_a_hundred_come_first(bench: Any, copied: int, told: bool) -> None:
    corpus = {"name": "files", "path": "tickets.csv", "id": "id"}
    tickets = table(size=240, copied=copied)
    text, markdown, folder = run_of(bench, tickets, corpus=corpus, protocol={"name": "k-fold", "k": 4})
    assert benchmark.read(folder).summary.leaks.empty == (not told)
    if told:  # a ticket and its copy are tested while the other is trained on, unless both are in one fold
        found = benchmark.read(folder).summary.leaks
        assert set(found["leaking"]) <= {4, 6, 8}
        first = first_caveats(markdown)[0]
        assert first.startswith(f"- {found['leaking'][0]} of 240 tested documents (")
        assert re.search(r"in training \(such as t\d+, which is close to t\d+\): the accuracy of", first)
        assert first in text
    else:
        assert "near-duplicate in training" not in text
        assert "near-duplicate in training" not in first_caveats(markdown)[0]
