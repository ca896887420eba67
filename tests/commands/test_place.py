"""Predictions from elsewhere are scored, tested and ranked as ours are, and refused in a line where they don't fit."""

from __future__ import annotations

import functools
import html
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from typer.testing import CliRunner

import benchmark as sb
from benchmark.cli import app
from benchmark.commands.check import PINNED
from benchmark.evaluation.public_test_sets import (
    TEST_SETS,
    ShippedPredictions,
    load_shipped,
)
from benchmark.papers.load import load_published
from benchmark.papers.published import PUBLISHED_FOLDER
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from benchmark.report.placement import Placement

REPOSITORY = Path(__file__).parents[2]

EXCLUDED = "20news-bydate-test/sci.crypt/16017"


def labels_of(shipped: ShippedPredictions, cell: str) -> pd.DataFrame:
    """What a cell predicts, as a user would bring it."""
    return shipped.frame[["id", cell]].rename(columns={cell: shipped.test_set.label_column})


def disturbed(name: str, share: float = 0.02, seed: int = 0) -> tuple[ShippedPredictions, pd.DataFrame]:
    """The best cell's labels with a share of them replaced by chance."""
    shipped = load_shipped(name)
    frame = labels_of(shipped, next(cell for cell in shipped.cells if cell.startswith("simplex")))
    rng = np.random.default_rng(seed)
    rows = rng.random(len(frame)) < share
    frame.loc[rows, shipped.test_set.label_column] = rng.choice(shipped.classes, rows.sum())
    return shipped, frame


@functools.cache
def placed(name: str) -> Placement:
    """The placement of the disturbed labels: on 20 Newsgroups in any order, by paths as in scikit-learn's `filenames`
    on either kind of system, and with the post that our methods leave out.
    """
    _, frame = disturbed(name)
    if name == "20ng":
        frame = pd.concat([frame, pd.DataFrame({"id": [EXCLUDED], "label": ["sci.crypt"]})])
        frame = frame.sample(frac=1, random_state=0)
        frame["id"] = ["C:\\data\\" + id_.replace("/", "\\") for id_ in frame["id"]]
    return sb.place(frame, on=name)


@pytest.fixture(scope="module")
def r8() -> tuple[ShippedPredictions, pd.DataFrame]:
    return disturbed("r8", share=0.012)


def invoke(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["place", *map(str, arguments)])


class TestShipped:
    @pytest.mark.parametrize("name", TEST_SETS)
    def test_every_score_is_the_pinned_one(self, name: str) -> None:
        shipped = load_shipped(name)
        metric = shipped.test_set.metrics[0]
        for configuration in shipped.test_set.configurations:
            pinned = pd.read_csv(PINNED / f"{configuration}.csv").query("fold == 'all'")
            expected = dict(zip(pinned["cell"], pinned["value"], strict=True))
            columns = {shipped.column(configuration, cell): value for cell, value in expected.items()}
            assert set(columns) == {cell for cell, of in shipped.cells.items() if of == configuration}
            for cell, value in columns.items():
                by_split = shipped.scores(cell, shipped.frame[cell].tolist()).values  # noqa: PD011 - no frame
                assert by_split[metric].mean() == pytest.approx(value, abs=1e-11), cell

    def test_make_predictions_makes_all_of_them(self) -> None:
        text = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
        (names,) = re.findall(r"^PREDICTED := (.*)$", text, re.MULTILINE)
        assert names.split() == [name for each in TEST_SETS.values() for name in each.configurations]


class TestScores:
    def test_mcnemar_and_holm_are_those_of_the_books(self, r8: tuple[ShippedPredictions, pd.DataFrame]) -> None:
        shipped, frame = r8
        rows = sb.place(frame, on="r8").ranking.query("configuration != ''").set_index("cell")
        right = (frame["label"] == shipped.frame["label"]).to_numpy()
        p_values = {}
        for cell in shipped.cells:
            other = (shipped.frame[cell] == shipped.frame["label"]).to_numpy()
            only, only_other = int((right & ~other).sum()), int((other & ~right).sum())
            assert rows.loc[cell, "differing"] == (frame["label"] != shipped.frame[cell]).sum()
            p_values[cell] = binomtest(only, only + only_other).pvalue
            assert rows.loc[cell, "p_value"] == pytest.approx(p_values[cell])
        most = 0.0
        for i, cell in enumerate(sorted(p_values, key=p_values.__getitem__)):
            most = max(most, min(1.0, (len(p_values) - i) * p_values[cell]))
            assert rows.loc[cell, "p_holm"] == pytest.approx(most)
            assert (rows.loc[cell, "compared"] == "no clear difference") == (most >= 0.05)
        assert set(rows["compared"]) == {"worse", "no clear difference"}

    def test_the_census_is_counted(self) -> None:
        found = placed("20ng")
        census = [
            float(each.value)
            for each in load_published(PUBLISHED_FOLDER / "reference-values.yaml").census
            if each.metric == "accuracy"
        ]
        ours = 100 * float(found.ranking.query("configuration == ''")["value"].iloc[0])
        rows = found.published.query("metric == 'accuracy'")
        assert (rows["beside"] == "higher").sum() == sum(value > ours for value in census)
        assert len(rows) == len(census) == 60
        assert any(f"above {sum(value < ours for value in census)} of 60 published" in each for each in found.sentences)


class TestInput:
    def test_the_ids_may_be_paths_and_the_excluded_post_is_counted_apart(self) -> None:
        (shipped, frame), found = disturbed("20ng"), placed("20ng")
        rows = found.ranking.set_index("cell")
        right = (frame["label"] == shipped.frame["label"]).sum()
        assert rows.loc["yours", "value"] == pytest.approx(right / 7531)
        for cell in shipped.cells:
            assert rows.loc[cell, "differing"] == (frame["label"] != shipped.frame[cell]).sum()
        assert (found.excluded, placed("r8").excluded) == ({EXCLUDED: True}, {})
        assert f"right: {100 * (right + 1) / 7532:.2f}% of all 7,532." in found.sentences[1]

    @pytest.mark.parametrize("name", TEST_SETS)
    def test_a_template_that_is_filled_in_with_our_labels_is_on_a_par_with_them(self, name: str) -> None:
        shipped, result = load_shipped(name), invoke("--template", name)
        template = pd.read_csv(io.StringIO(result.stdout), dtype=str)
        n = len(shipped.frame) + len(shipped.test_set.excluded)
        assert (len(template), f"{n:,} {shipped.test_set.documents}" in result.stderr) == (n, True)
        assert shipped.test_set.training in result.stderr
        column, cell = shipped.test_set.label_column, next(iter(shipped.cells))
        known = dict(zip(shipped.frame["id"], shipped.frame[cell], strict=True)) | dict(shipped.test_set.excluded)
        template[column] = [known[id_] for id_ in template["id"]]
        assert template["id"].tolist() == sorted(template["id"]), "what is left out doesn't stand apart"
        assert list(template.columns) == ["id", column, *(["group"] if name == "webkb" else [])]
        found = sb.place(template, on=name)
        rows = found.ranking.set_index("cell")
        for each in ("value", "macro_f1", "rank"):
            assert rows.loc["yours", each] == rows.loc[cell, each]
        assert rows.loc["yours", "rank"] == found.rank
        assert rows.loc[cell, ["difference", "differing", "compared"]].tolist() == [0, 0, "no clear difference"]
        if not shipped.test_set.multilabel:
            assert rows.loc[cell, ["p_value", "p_holm"]].tolist() == [1, 1]

    def test_ids_may_be_numbers_and_several_labels_a_list(self) -> None:
        _, frame = disturbed("modapte-90")
        labels = pd.Series([[x for x in text.split(";") if x] for text in frame["labels"]], index=frame.index)
        found = sb.place(frame.assign(id=frame["id"].astype(float), labels=labels), on="modapte-90")
        pd.testing.assert_frame_equal(found.ranking, placed("modapte-90").ranking)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda f: f.iloc[3:], "3 documents are missing, such as"),
            (lambda f: pd.concat([f, f.iloc[:2]]), "2 documents are given twice, such as"),
            (
                lambda f: pd.concat([f, pd.DataFrame({"id": ["x"], "label": ["acq"]})]),
                "1 document is not in the test set, such as 'x'",
            ),
            (lambda f: f.assign(label="aqc"), "2,189 documents are of a class that r8 lacks, such as 'aqc'"),
            (lambda f: f.assign(label=None), "2,189 documents are without a label, such as '"),
            (lambda f: f.iloc[:0], "has no predictions"),
            (lambda f: f.rename(columns={"id": "name"}), r"has no column 'id' \(columns: 'name, label'\)"),
            (lambda f: f.rename(columns={"label": "class"}), r"has no column 'label' \(columns: 'id, class'\)"),
        ],
    )
    def test_what_does_not_fit_is_refused(
        self, r8: tuple[ShippedPredictions, pd.DataFrame], change, message: str
    ) -> None:
        with pytest.raises(DataError, match=f"^the frame: {message}") as refused:
            sb.place(change(r8[1]), on="r8")
        assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("sketched", "no_corpus_is_touched")
class TestCommand:
    @pytest.fixture
    def file(self, r8: tuple[ShippedPredictions, pd.DataFrame], tmp_path: Path) -> Path:
        r8[1].to_csv(tmp_path / "mine.csv", index=False)
        return tmp_path / "mine.csv"

    def test_prints_a_screen_and_writes_a_page_that_marks_the_user_s_method(self, file: Path) -> None:
        result = invoke(file, "--on", "r8")
        assert result.exit_code == 0, result.output
        assert len(result.stdout.splitlines()) <= 40
        page = html.unescape((file.parent / "mine-on-r8.html").read_text(encoding="utf-8"))
        found = sb.place(pd.read_csv(file), on="r8", name="mine")
        for sentence in found.sentences:
            assert sentence in " ".join(result.stdout.split())
            assert sentence in page
        for note in found.notes:
            assert note in page
        assert page.count("<strong>★ mine</strong>") == 2
        assert page.count('<svg class="bar"') == len(found.ranking)
        assert "★ mine" in result.stdout
        assert max(map(len, result.stdout.partition("Among our")[2].splitlines())) <= 120


def test_groups_several_labels_and_what_nobody_published_are_said() -> None:
    groups, several = (placed(name) for name in ("webkb", "modapte-90"))
    assert groups.notes[0] == "The accuracy is the mean over the 4 groups."
    assert "No published value on these documents is known here." in groups.sentences
    assert "after Holm's correction over 62 methods" in groups.notes[1]
    assert several.notes[0].startswith("A difference is clear if its 95% interval, of a paired bootstrap")
