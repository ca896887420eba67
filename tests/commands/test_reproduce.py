"""The page of all papers: every published number is judged on it, or counted as not measured."""

from __future__ import annotations

import pandas as pd
import pytest
import yaml

from benchmark.commands.reproduce import paper_configs, write_reproduction
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.papers import published
from tests.builders import small_experiment

pytestmark = pytest.mark.usefixtures("sketched")
PAIR = ["tf-l1-ngd", "tf-l1-linear"]
PRINTED = {"tf-l1-linear": "71.23", "tf-l1-ngd": "12.34", "tfidf-l1-linear": "1.01", "tfidf-l1-ngd": "93"}
COMPARISON = {"config": "small", "a": PAIR[0], "b": PAIR[1]}
CLAIM = {"text": "NGD is the better one.", "relation": "greater", "alpha": 0.05}
PAPER = {
    "paper": "nobody1999",
    "title": "Nothing in particular",
    "reference": "A. Nobody. 1999.",
    "unit": "percent",
    "values": [
        {"table": 1, "config": "small", "cell": cell, "metric": "accuracy", "value": value}
        for cell, value in PRINTED.items()
    ]
    + [
        {"table": 2, "config": "small", "pair": PAIR, "metric": "sign-z", "value": "1.2345"},
        {"table": 2, "config": "small", "cell": "tf-l1-ngd", "metric": "accuracy", "value": "90", "alternative": True},
        {"table": 3, "config": "unwritten", "cell": "tf-l1-ngd", "metric": "accuracy", "value": "77.7"},
    ],
    "claims": [
        {"id": "better", "comparisons": [COMPARISON], **CLAIM},
        {"id": "everywhere", "comparisons": [COMPARISON, COMPARISON | {"config": "unwritten"}], **CLAIM},
    ],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("store"), limit=10**9)


@pytest.fixture(scope="module")
def sweep(store, tmp_path_factory):
    """What was tried, run once."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("published")
        (folder / "nobody1999.yaml").write_text(yaml.safe_dump(PAPER))
        patch.setattr(published, "PUBLISHED_FOLDER", folder)
        experiment = small_experiment(
            name="sweep",
            sensitivity_of="small",
            variants={"training": {"text": {"digits": "token"}}},
            title="What was tried",
        )
        return run_and_write(experiment, RunContext(store), folder=tmp_path_factory.mktemp("sweep"))


@pytest.fixture
def page(publish, sweep, store, tmp_path):
    """Run an experiment and give the text of its paper's page and the line that sums all up."""

    def make(**changes):
        experiment = small_experiment(paper=publish(PAPER), **changes)
        done = run_and_write(experiment, RunContext(store), folder=tmp_path / "run")
        line = write_reproduction([done, sweep], tmp_path / "new" / "PAGE.md")
        whole = (tmp_path / "new" / "PAGE.md").read_text()
        assert f"**{line.split(': ', 1)[1]}**" in whole
        return (tmp_path / "new" / "papers" / "nobody1999.md").read_text(), line

    return make


def rows_with(text, *words):
    return [line for line in text.splitlines() if line.startswith("|") and all(word in line for word in words)]


def test_every_published_number_is_beside_ours_or_counted_with_claims_and_what_was_tried(page):
    text, line = page()
    assert page() == (text, line)
    for cell, printed in PRINTED.items():
        assert rows_with(text, cell, printed), f"{cell} is missing"
    assert rows_with(text, *PAIR, "1.2345")
    assert rows_with(text, "tf-l1-ngd", "another reading"), "it is judged, and not one of the six"
    assert "0.777" not in text
    assert "of 5 published results, 0 of 1 published Z" in line
    assert "1 of 1 claims are reproduced; 1 published value is not measured; 1 claim is not tested" in line
    assert rows_with(text, "better")
    assert "1 of 2 missing" in text, "a claim is judged over all experiments"
    assert "Sensitivity analysis" in text
    (configured,), (changed,) = rows_with(text, "as configured", "of 5"), rows_with(text, "training", "of 5")
    assert configured.count("|") == changed.count("|"), "the Z of the pair, too"


def test_a_claim_is_judged_under_each_equal_reading_and_holds_if_it_holds_under_all(page):
    """Under the second reading both machines give every document the same class."""
    readings = {"base": "unit sum", "still": "C near 0"}
    changed = {"variants": {"still": {"defaults": {"classifier": {"C": 1e-9}}}}, "readings": readings}
    text, line = page(**changed)
    rows = rows_with(text, "better")
    assert [words for words in readings.values() if any(words in row for row in rows)] == list(readings.values())
    assert any("holds (1 of 1)" in row for row in rows_with(text, "unit sum"))
    assert not any("holds (1 of 1)" in row for row in rows_with(text, "C near 0"))
    assert "0 of 1 claims are reproduced" in line


def test_the_records_have_the_numbers_of_the_run(page, tmp_path):
    page()
    made, scores = tmp_path / "new", pd.read_csv(tmp_path / "run" / "scores.csv")
    ours = 100 * scores.query("fold == 'all' and metric == 'accuracy'").set_index("cell")["value"]
    gap = ours[PAIR[0]] - ours[PAIR[1]]
    values, claims, compared = (
        pd.read_csv(made / "papers" / f"{name}.csv", keep_default_na=False, dtype={"published": str})
        for name in ("values", "claims", "comparisons")
    )
    shares = values[(values["metric"] == "accuracy") & (values["reading"] == "")].set_index("cell")
    assert dict(shares["published"]) == PRINTED
    assert dict(shares["value"]) == pytest.approx({cell: ours[cell] for cell in PRINTED})
    inside = (shares["low"].astype(float) <= shares["published"].astype(float)) & (
        shares["published"].astype(float) <= shares["high"].astype(float)
    )
    decided = shares["verdict"].map({"equal": True, "consistent": True, "deviates": False})
    assert dict(decided) == dict(inside)
    assert set(compared["claim"]) == {"better", "everywhere"}
    assert [100 * float(value) for value in compared["value"]] == pytest.approx([gap, gap])
    published = float(PRINTED[PAIR[0]]) - float(PRINTED[PAIR[1]])
    assert [100 * float(value) for value in compared["published"]] == pytest.approx([published] * 2)
    signs = {"holds": "✓", "holds in part": "◐", "contradicted": "✗", "not tested": "○", "no test": "○"}
    board = (made / "PAGE.md").read_text(encoding="utf-8").partition("## Scoreboard")[2]
    for row in claims.to_dict("records"):
        both = "".join(signs[row[name].partition(" (")[0]] for name in ("verdict", "strict_verdict"))
        assert f'[{both}](papers/nobody1999.md#claims "{row["claim"]}")' in board


def test_configurations_are_those_of_a_paper_and_those_that_explain_one(tmp_path, publish):
    paper = {"paper": publish(PAPER)}
    changes = {"b-paper": paper, "a-explains": {"sensitivity_of": "b-paper"}, "small": {}, "unwritten": {}}
    for name, more in changes.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(small_experiment(name=name, **more).raw))
    assert [each.name for each in paper_configs(tmp_path)] == ["a-explains", "b-paper"]
