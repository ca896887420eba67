"""A number may move by what its ties and rounding can, and no further, in either direction."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from benchmark.analysis.document_predictions import document_predictions
from benchmark.analysis.summary import HEADLINE_FOLD, VERDICT_TABLE_COLUMNS, CellInfo, Summary, summary_table
from benchmark.commands.check import (
    PINNED,
    Deviation,
    check_line,
    deviations,
    experiments_to_check,
    pin,
    pin_predictions,
    pinned_configs,
    prediction_deviations,
)
from benchmark.evaluation.cell_scores import SCORE_COLUMNS
from benchmark.evaluation.intervals import wilson
from benchmark.evaluation.public_test_sets import TEST_SETS, PublicTestSet, encode_shipped, load_shipped
from benchmark.papers.load import load_published
from benchmark.papers.published import PUBLISHED_FOLDER
from benchmark.system.errors import BenchError

CELL, OTHER = "tf-l1-ngd", "tf-l1-ned"
#: Documents, right ones and ties of each fold.
FOLDS = {"cornell": (200, 180, 4), "texas": (100, 70, 0), "wisconsin": (400, 300, 2)}
#: What the mean over the folds may move by.
SHARE = (4 / 200 + 0 / 100 + 2 / 400) / 3

#: What a verdict is told with, and pinned without.
OVER = ("100 documents", None, None, 0.0, 1.0)


def summary_of(moved=None, cells=(CELL, OTHER), verdict="equal", folds=FOLDS):
    """Two cells; `moved` adds to the number of right documents by (cell, fold)."""
    rows = []
    for cell in cells:
        shares = []
        for fold, (n, right, ties) in folds.items():
            shares.append((right + (moved or {}).get((cell, fold), 0)) / n)
            rows.append((cell, fold, "accuracy", shares[-1], 0.0, 1.0, n, ties))
            rows.append((cell, fold, "macro-f1", shares[-1] / 2, 0.0, 1.0, n, ties))
        headline = sum(shares) / len(shares) + (moved or {}).get((cell, HEADLINE_FOLD), 0.0)
        rows.append((cell, HEADLINE_FOLD, "accuracy", headline, 0.0, 1.0, 700, 6))
    ours = ("90.0", "percent", 90.0, 89.0, 91.0, *OVER)
    verdicts = [(cell, "accuracy", "result", "", *ours, verdict, "same", "") for cell in cells]
    infos = tuple(CellInfo(cell, {"kernel": cell}) for cell in cells)
    return Summary(
        "small",
        "Small",
        None,
        infos,
        summary_table(SCORE_COLUMNS, rows),
        verdicts=summary_table(VERDICT_TABLE_COLUMNS, verdicts),
    )


@pytest.fixture
def folder(tmp_path):
    pin(summary_of(), tmp_path)
    return tmp_path


def places(found):
    return {(each.cell, each.fold) for each in found}


def test_the_same_numbers_are_as_pinned(folder):
    assert deviations(summary_of(), folder) == []
    assert pinned_configs(folder) == ["small"]


def test_names_are_read_back_as_they_are(tmp_path):
    folds = dict(zip(("=1+1", "NA", "007", "-a", "'=b", "c\rd", "", "null"), [(100, 50, 1)] * 8, strict=True))
    summary = summary_of(cells=("@x", "1e3"), folds=folds)
    pin(summary, tmp_path)
    assert deviations(summary, tmp_path) == []


def test_rounding_is_allowed(folder):
    for tiny in (4e-12, -4e-12):
        assert deviations(summary_of({(CELL, "texas"): tiny * 100}), folder) == []


@pytest.mark.parametrize("sign", [1, -1], ids=["better", "worse"])
class TestBothDirections:
    def test_as_many_documents_as_were_tied(self, folder, sign):
        assert deviations(summary_of({(CELL, "cornell"): 4 * sign, (CELL, "wisconsin"): 2 * sign}), folder) == []

    def test_one_document_more(self, folder, sign):
        found = deviations(summary_of({(CELL, "cornell"): 5 * sign}), folder)
        # The mean over the folds moved by 5/600, its ties allow 5/600: that is the bound itself.
        assert places(found) == {(CELL, "cornell")}
        assert float(found[0].allowed) == pytest.approx(4 / 200, abs=1e-6)
        assert (found[0].pinned, found[0].found) == ("0.900000", f"{(180 + 5 * sign) / 200:.6f}")

    def test_any_document_where_none_was_tied(self, folder, sign):
        found = deviations(summary_of({(OTHER, "texas"): sign}), folder)
        assert places(found) == {(OTHER, "texas")}
        assert float(found[0].allowed) == pytest.approx(0, abs=1e-6)

    @pytest.mark.parametrize(("beyond", "deviates"), [(-1e-12, False), (1e-12, False), (1e-9, True)])
    def test_the_headline_by_the_mean_share_of_ties(self, folder, sign, beyond, deviates):
        found = deviations(summary_of({(CELL, HEADLINE_FOLD): sign * (SHARE + beyond)}), folder)
        assert places(found) == ({(CELL, HEADLINE_FOLD)} if deviates else set())
        assert all(float(each.allowed) == pytest.approx(SHARE, abs=1e-6) for each in found)

    def test_all_ties_at_once_leave_the_headline_in_its_bound(self, folder, sign):
        moved = {(cell, fold): sign * FOLDS[fold][2] for cell in (CELL, OTHER) for fold in FOLDS}
        assert deviations(summary_of(moved), folder) == []


def test_ties_that_are_new_allow_nothing(folder):
    folds = FOLDS | {"texas": (100, 71, 50)}
    assert (CELL, "texas") in places(deviations(summary_of(folds=folds), folder))


def test_another_number_of_documents_deviates_at_the_same_score(folder):
    folds = FOLDS | {"texas": (10, 7, 0)}
    assert places(deviations(summary_of(folds=folds), folder)) == {(CELL, "texas"), (OTHER, "texas")}


def test_missing_and_additional_cells_deviate(folder):
    missing = [each for each in deviations(summary_of(cells=[CELL]), folder) if each.fold != "accuracy"]
    assert {(each.cell, each.fold, each.found) for each in missing} == {
        (OTHER, fold, "missing") for fold in (*FOLDS, HEADLINE_FOLD)
    }
    additional = deviations(summary_of(cells=[CELL, OTHER, "new"]), folder)
    assert {(each.cell, each.fold) for each in additional if each.pinned == "missing"} == {
        ("new", fold) for fold in (*FOLDS, HEADLINE_FOLD, "accuracy")
    }
    assert len(additional) == 5


def test_verdicts_may_not_move(folder):
    found = deviations(summary_of(verdict="consistent"), folder)
    assert found == [Deviation(cell, "accuracy", "equal", "consistent") for cell in (CELL, OTHER)]


def test_a_number_judged_in_two_readings_has_two_verdicts(tmp_path):
    def readings(*verdicts):
        rows = [
            (CELL, "accuracy", "result", reading, value, "percent", 90.0, 89.0, 91.0, *OVER, verdict, "same", "")
            for reading, value, verdict in zip(("", "another"), ("90.0", "80.0"), verdicts, strict=True)
        ]
        return replace(summary_of(), verdicts=summary_table(VERDICT_TABLE_COLUMNS, rows))

    pin(readings("equal", "deviates"), tmp_path)
    assert deviations(readings("equal", "deviates"), tmp_path) == []
    found = deviations(readings("deviates", "equal"), tmp_path)
    assert [(each.pinned, each.found) for each in found] == [("equal", "deviates"), ("deviates", "equal")]
    assert [each.fold for each in found] == ["accuracy", "accuracy, another reading"]


def test_a_number_that_is_missing_in_the_pinned_file_does_not_hold(folder):
    path = folder / "small.csv"
    text = path.read_text()
    assert f"{CELL},cornell,accuracy,0.9," in text
    path.write_text(text.replace(f"{CELL},cornell,accuracy,0.9,", f"{CELL},cornell,accuracy,,"))
    assert places(deviations(summary_of(), folder)) == {(CELL, "cornell")}


def test_a_line_counts_the_verdicts_of_each_kind(folder):
    summary = summary_of()
    verdicts = pd.concat([summary.verdicts, summary.verdicts[:1].assign(verdict="deviates")])
    some, none = replace(summary, verdicts=verdicts), replace(summary, verdicts=verdicts[:0])
    assert check_line(some, [Deviation("a", "texas", "0.5", "0.7")]).startswith("small: differs from what is pinned; ")
    assert check_line(some, []) == "small: as pinned; against the paper: 1 deviates, 2 equal"
    assert check_line(none, []) == "small: as pinned; against the paper: nothing published"


def test_without_a_folder_the_numbers_of_the_package_are_meant():
    names = sorted(path.name for path in PINNED.glob("*.csv") if "-verdicts" not in path.name)
    assert pinned_configs() == [name.removesuffix(".csv") for name in names]
    with pytest.raises(
        BenchError, match=r"nothing is pinned for 'small': small\.csv is missing; `bench check --update`"
    ):
        deviations(summary_of())


def test_what_failed_or_was_never_pinned_is_refused(folder, tmp_path):
    failed = replace(summary_of(), failures={CELL: "no memory", OTHER: "no"})
    with pytest.raises(BenchError, match=rf"^small: is not pinned, since cells failed: {CELL}, {OTHER}$"):
        pin(failed, folder)
    path = tmp_path / "other.yaml"
    path.write_text("name: other\ncorpus: {name: synthetic}\nprotocol: {name: k-fold, k: 2}\nmethods: [mnb]\n")
    with pytest.raises(BenchError, match=r"^nothing is pinned for other; `bench check CONFIG --update` pins"):
        experiments_to_check([path], pinning=False)
    assert [each.name for each in experiments_to_check([path], pinning=True)] == ["other"]


def test_only_the_accuracy_is_pinned(folder):
    assert "macro-f1" not in (folder / "small.csv").read_text()


def test_pinning_twice_gives_the_same_bytes(folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    pin(summary_of(), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert set(before) == {"small.csv", "small-verdicts.csv"}


@pytest.mark.parametrize("name", ["small.csv", "small-verdicts.csv"])
def test_nothing_pinned_is_told(folder, name):
    (folder / name).unlink()
    with pytest.raises(BenchError, match=f"{name} is missing"):
        deviations(summary_of(), folder)


@pytest.mark.parametrize("text", ["", "cell,fold\na,b\n"])
@pytest.mark.parametrize("name", ["small.csv", "small-verdicts.csv"])
def test_a_damaged_file_is_told(folder, name, text):
    (folder / name).write_text(text)
    with pytest.raises(BenchError, match=f"{name}: can't be read"):
        deviations(summary_of(), folder)


def test_a_finished_run_agrees_with_itself(finished, tmp_path):
    pin(finished.summary, tmp_path)
    assert deviations(finished.summary, tmp_path) == []


def test_what_the_guide_says_of_features_is_pinned() -> None:
    text = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
    (said,) = (part for part in text.split("\n\n") if part.startswith("`configs/features.yaml`"))
    values = pd.read_csv(PINNED / "features.csv").query("fold == 'all'").set_index("cell")["value"]
    cells = ("ngd", "hellinger", "arcsine-n_components1024", "sign-projection-n_components4096-c3.1416")
    assert re.findall(r"(\d+\.\d+)%", said) == [f"{100 * values[cell]:.2f}" for cell in cells]


def test_what_the_page_beside_published_scores_says_is_in_the_files() -> None:
    text = (Path(__file__).parents[2] / "docs" / "published.md").read_text(encoding="utf-8")
    census = load_published(PUBLISHED_FOLDER / "reference-values.yaml").census
    counts = Counter(entry.metric for entry in census)
    n, macro, micro = (counts[metric] for metric in ("accuracy", "macro-f1", "micro-f1"))
    words = " ".join(text.split())
    assert f"{n} papers give an accuracy, {macro} a macro-averaged and {micro} a micro-averaged F1" in words
    ngd = next(entry for entry in census if "Negative Geodesic" in entry.method)
    above = sum(float(entry.value) > float(ngd.value) for entry in census if entry.metric == "accuracy")
    assert f"at rank {above + 1} with {ngd.value}%" in text
    scores = pd.read_csv(PINNED / "simplex-20ng.csv").query("fold == 'all'").set_index("cell")["value"]
    for method in ("simplex", "plain"):
        right = round(scores[f"{method}-temporal-holdout"] * 7531)
        low, high = wilson(right, 7531)
        assert f"{100 * right / 7531:.2f}% [{100 * low:.2f}, {100 * high:.2f}]" in text


class TestPredictions:
    """Of a run on a public test set, here the small one, every label is compared with the shipped one."""

    @pytest.fixture
    def shipped(self, finished, monkeypatch, tmp_path):
        of_small = PublicTestSet("small", "Small", ("small", "other"), "pages", "Train.")
        monkeypatch.setitem(TEST_SETS, "small", of_small)
        assert pin_predictions(finished.results, "1.0", tmp_path) == tmp_path / "small.parquet"
        return tmp_path

    def test_a_run_has_the_labels_that_it_wrote(self, finished, shipped):
        assert prediction_deviations(finished.results, shipped) == []
        found = load_shipped("small", shipped)
        assert (tuple(found.cells), found.versions) == (finished.results.experiment.ids, {"small": "1.0"})
        assert found.groups == ("cornell", "texas")
        for cell in finished.results.experiment.ids:
            expected = finished.summary.scores.query("cell == @cell and metric == 'accuracy' and fold != 'all'")
            by_split = found.scores(cell, found.frame[cell].tolist()).values  # noqa: PD011 - no frame
            assert by_split["accuracy"] == pytest.approx(expected["value"].to_numpy())

    def test_a_label_that_changed_is_named_and_a_tie_is_not(self, finished, shipped):
        found, cell = load_shipped("small", shipped), finished.results.experiment.ids[0]
        run = finished.results
        info = next(each for each in run.experiment.cells if each.id == cell)
        tied = {each.document for each in document_predictions(run, info) if each.tied}
        frame = found.frame.copy()
        rows = frame.index[~frame["id"].isin(tied)][:3]
        frame.loc[rows, cell] = ["student" if label != "student" else "course" for label in frame.loc[rows, cell]]
        (shipped / "small.parquet").write_bytes(encode_shipped(replace(found, frame=frame)))
        (deviation,) = prediction_deviations(run, shipped)
        assert (deviation.cell, deviation.fold, deviation.found) == (cell, "labels", "3 otherwise")
        assert deviation.pinned == f"{len(frame):,} documents"
        left = replace(
            found, frame=found.frame.drop(columns=cell), cells={k: v for k, v in found.cells.items() if k != cell}
        )
        (shipped / "small.parquet").write_bytes(encode_shipped(left))
        assert prediction_deviations(run, shipped) == [Deviation(cell, "labels", "missing", "predicted")]

    @pytest.mark.parametrize("lack", ["failures", "only"])
    def test_a_part_of_a_run_is_not_shipped(self, finished, shipped, lack):
        run = finished.results
        part = (
            replace(run, failures={"tf-l1-ngd": "no"})
            if lack == "failures"
            else replace(run, experiment=replace(run.experiment, only=("tf-l1-ngd",)))
        )
        with pytest.raises(BenchError, match=r"^small: its predictions aren't written, since cells are missing$"):
            pin_predictions(part, "2.0", shipped)

    def test_another_configuration_stands_beside_the_first(self, finished, shipped):
        run = finished.results
        cells = tuple(replace(cell, id=f"other-{cell.id}") for cell in run.experiment.cells)
        other = replace(run, experiment=replace(run.experiment, name="other", cells=cells))
        pin_predictions(other, "2.0", shipped)
        found = load_shipped("small", shipped)
        assert list(found.cells.values()) == ["small"] * 4 + ["other"] * 4
        assert found.versions == {"small": "1.0", "other": "2.0"}
        pin_predictions(run, "3.0", shipped)  # its own columns are replaced, in their place
        assert load_shipped("small", shipped).cells == found.cells

    def test_a_cell_that_another_configuration_has_is_named_with_its_own(self, finished, shipped):
        run = finished.results
        same = replace(run, experiment=replace(run.experiment, name="other"))
        pin_predictions(same, "2.0", shipped)
        found = load_shipped("small", shipped)
        assert list(found.cells.values()) == ["small"] * 4 + ["other"] * 4
        for cell in run.experiment.cells:
            own, others = found.column("small", cell.id), found.column("other", cell.id)
            assert (own, others) == (cell.id, f"other-{cell.id}")
            assert found.frame[own].equals(found.frame[others])
        assert prediction_deviations(same, shipped) == []

    def test_other_configurations_have_none(self, finished, tmp_path):
        assert pin_predictions(finished.results, "1.0", tmp_path) is None
        assert prediction_deviations(finished.results, tmp_path) == []
