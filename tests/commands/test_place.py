"""Predictions from elsewhere are scored, tested and shown beside ours, and refused in a line where they don't fit."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import benchmark as sb
from benchmark.commands.check import PINNED
from benchmark.evaluation.public_test_sets import TEST_SETS, load_shipped
from benchmark.papers.load import load_published
from benchmark.papers.published import PUBLISHED_FOLDER
from benchmark.system.errors import DataError
from tests.shapes import invoke

if TYPE_CHECKING:
    from benchmark.evaluation.public_test_sets import ShippedPredictions

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def r8() -> tuple[ShippedPredictions, pd.DataFrame]:
    """Labels of a cell, a few of them replaced by chance."""
    shipped = load_shipped("r8")
    frame = shipped.frame[["id", "simplex-cv"]].rename(columns={"simplex-cv": "label"})
    rng = np.random.default_rng(0)
    rows = rng.random(len(frame)) < 0.012
    frame.loc[rows, "label"] = rng.choice(shipped.classes, rows.sum())
    return shipped, frame


@pytest.mark.parametrize("name", TEST_SETS)
def test_a_template_filled_in_with_our_labels_scores_as_we_do_and_ours_as_pinned(name: str) -> None:
    shipped, result = load_shipped(name), invoke("place", "--template", name)
    assert f"{len(shipped.frame):,} {shipped.test_set.documents}" in result.stderr
    assert shipped.test_set.training in result.stderr
    template = pd.read_csv(io.StringIO(result.stdout), dtype=str)
    column, cell = shipped.test_set.label_column, next(iter(shipped.cells))
    assert list(template.columns) == ["id", column, *(["group"] if name == "webkb" else [])]
    template[column] = template["id"].map(dict(zip(shipped.frame["id"], shipped.frame[cell], strict=True)))
    found = sb.place(template, on=name)
    scores = found.scores.query("fold == 'all'").set_index(["cell", "metric"])["value"]
    pd.testing.assert_series_equal(scores["yours"], scores[cell])
    gaps = found.differences.set_index(["a", "b"])["value"]
    assert (gaps[cell, "yours"], len(gaps)) == (0, len(shipped.cells))
    for cell, configuration in shipped.cells.items():
        pinned = pd.read_csv(PINNED / f"{configuration}.csv", index_col="cell").query("fold == 'all'")
        row = pinned.loc[cell.removeprefix(f"{configuration}-")]
        assert scores[cell, row["metric"]] == pytest.approx(row["value"], abs=1e-11), cell


def test_make_predictions_makes_all_of_them() -> None:
    text = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    (names,) = re.findall(r"^PREDICTED := (.*)$", text, re.MULTILINE)
    assert names.split() == [name for each in TEST_SETS.values() for name in each.configurations]


def test_mcnemar_and_holm_are_those_of_the_books(r8: tuple[ShippedPredictions, pd.DataFrame]) -> None:
    shipped, frame = r8
    rows = sb.place(frame, on="r8").significance.query("test == 'mcnemar'").set_index("a")
    right = (frame["label"] == shipped.frame["label"]).to_numpy()
    p_values = {}
    for cell in shipped.cells:
        other = (shipped.frame[cell] == shipped.frame["label"]).to_numpy()
        only, only_other = int((right & ~other).sum()), int((other & ~right).sum())
        p_values[cell] = binomtest(only, only + only_other).pvalue
        assert rows.loc[cell, "p_value"] == pytest.approx(p_values[cell])
    most = 0.0
    for i, cell in enumerate(sorted(p_values, key=p_values.__getitem__)):
        most = max(most, min(1.0, (len(p_values) - i) * p_values[cell]))
        assert rows.loc[cell, "p_holm"] == pytest.approx(most)


def test_ids_may_be_numbers_and_several_labels_a_list() -> None:
    shipped = load_shipped("modapte-90")
    texts = shipped.frame["simplex-cv"]
    lists = [[name for name in text.split(";") if name] for text in texts]
    numbered = pd.DataFrame({"id": shipped.frame["id"].astype(int), "labels": lists})
    as_texts = pd.DataFrame({"id": shipped.frame["id"], "labels": texts})
    pd.testing.assert_frame_equal(*(sb.place(each, on="modapte-90").scores for each in (numbered, as_texts)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.iloc[3:], "3 of 2,189 test documents have no prediction, such as"),
        (lambda f: pd.concat([f, f.iloc[:1]]), r"row 2190: has the document '\d+' twice"),
        (lambda f: f.assign(label="aqc"), "the label 'aqc' is not a class; did you mean 'acq'"),
        (lambda f: f.assign(label=None), "the label '' is not a class"),
        (lambda f: f.rename(columns={"id": "name"}), r"has no column 'id' \(columns: name, label\)"),
        (lambda f: f.rename(columns={"label": "class"}), r"has no column 'label' \(columns: id, class\)"),
    ],
)
def test_what_does_not_fit_is_refused(r8: tuple[ShippedPredictions, pd.DataFrame], change: Any, message: str) -> None:
    with pytest.raises(DataError, match=f"^the frame(: |, ){message}") as refused:
        sb.place(change(r8[1]), on="r8")
    assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("sketched", "no_corpus_is_touched")
def test_the_run_has_a_page_that_marks_the_user_s_method_and_can_be_compared(
    r8: tuple[ShippedPredictions, pd.DataFrame], tmp_path: Path
) -> None:
    r8[1].to_csv(tmp_path / "mine.csv", index=False)
    result, folder = invoke("place", tmp_path / "mine.csv", "--on", "r8"), tmp_path / "mine-on-r8"
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("mine compared with 10 methods on Reuters-21578: ")
    assert f"Next: bench compare {folder} unrooted-cv mine" in result.stdout.replace("\n", " ")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "no clear difference from mine" in page
    assert '<th scope="col" class="number wide">− mine</th>' in page
    known = load_published(PUBLISHED_FOLDER / "reference-values.yaml").reference_values
    beside = pd.read_csv(folder / "verdicts.csv")
    assert len(beside) == sum(value.config == "simplex-r8" for each in known for value in each.values)  # noqa: PD011
    assert set(beside["cell"]) == {"mine"}
    again = invoke("report", folder)
    assert again.stdout.partition("\n")[0] == result.stdout.partition("\n")[0]
    assert "Exact sign test" in invoke("compare", folder, "simplex-cv", "mine").stdout
    assert invoke("explain", folder, "mine").exit_code == 0
    (folder / "manifest.json").unlink()
    refused = invoke("place", tmp_path / "mine.csv", "--on", "r8")
    assert "holds files that no run wrote" in refused.output


def test_the_census_stands_beside_the_placed_method() -> None:
    shipped = load_shipped("20ng")
    cell = next(iter(shipped.cells))
    census = load_published(PUBLISHED_FOLDER / "reference-values.yaml").census
    found = sb.place(shipped.frame[["id", cell]].rename(columns={cell: "label"}), on="20ng", name=cell)
    verdicts = found.summary.verdicts
    assert len(verdicts) == sum(each.corpus == "20ng" for each in census)
    assert set(verdicts["cell"]) == {f"{cell}-placed"}  # kept apart from our cell of this name
    of_metric = verdicts[verdicts["metric"] == "accuracy"]
    assert of_metric["published"].astype(float).is_monotonic_decreasing
