"""Every command on an experiment of every shape: what a user can type for a table, they can type for the others."""

from __future__ import annotations

import csv
import json
import shutil
from functools import partial

import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.commands import check as pinned
from benchmark.evaluation.predictions import RUN_FILES
from benchmark.experiment import run as session
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.run_folder import read_run
from benchmark.experiment.store import Store
from benchmark.report import files
from tests.processes import files_of
from tests.trials.limits import mostly_slow

TEXT = {
    "table": """
protocol: {name: leave-one-group-out, held_out: [cornell, texas]}
methods: [{weighting: tf, normalization: l1, kernel: [linear, ngd]}]
compare: [[tf-l1-ngd, tf-l1-linear]]
""",
    "chosen-curves": """
tasks: [[faculty, course]]
protocol: {name: random-subsets, train_size: [12, 30], replicates: 6}
defaults: {classifier: {name: svm, scale_C: mean-self-product}}
methods: [linear, {kernel: {name: diffusion, t: [0.5, 2]}}]
choose: {by: [oracle, cross-validation], folds: 3}
metrics: [error]
compare: [[diffusion, linear]]
""",
    "several-labels": """
corpus: {name: synthetic, subset: several}
protocol: {name: random-subsets, train_size: [60, 100], replicates: 6, stratified: false, test: texas}
defaults: {weighting: tf, normalization: l2}
methods: [linear, hp-top, mnb]
metrics: [macro-f1, micro-f1]
compare: [[hp-top, linear]]
diagnostics: [document-counts]
figures: [{name: figure-1, y: [macro-f1, micro-f1]}, {name: figure-2, y: seconds, log_y: true}]
""",
    "selected-terms": """
tasks: [{title: All, largest: 4}, {title: Two, largest: 2}]
protocol: {name: leave-one-group-out, held_out: [texas]}
terms: {number: [20, 50], rank: information-gain, aggregate: sum}
defaults: {weighting: tf, normalization: none}
methods: [mnb, eef, svm]
compare: [[eef, mnb]]
""",
    "centroids": """
corpus: {name: synthetic, classes: [faculty, course]}
text: {min_occurrences: 40}
protocol: {name: random-subsets, train_size: [12, 30], replicates: 6}
defaults: {classifier: {name: divergence-bayes, smoothing: 0.001}}
methods: [{classifier: {centroid: [mean, skl]}}]
metrics: [macro-recall]
per_class: true
gain: true
compare: [[skl, mean]]
diagnostics:
  - {name: centroid-distances, centroids: [mean, skl], smoothing: [0.001, 0.1], resamples: 4}
  - centroid-flow
figures: [{name: table-1, y: average-skl, x: smoothing, panel: class, log_x: true}]
""",
    "points": """
corpus: {name: curved-points, train: 30, test: 100, resolution: 15}
protocol: fixed-split
defaults: {weighting: tf, normalization: l1}
methods: [{kernel: [{name: rbf, sigma: 2}, {name: diffusion, t: 2}]}]
compare: [[diffusion-t2, rbf-sigma2]]
variants: {regions: {protocol: {test: grid}}}
diagnostics: [coordinates, {name: covering-numbers, dimension: [2], t: [1]}]
figures:
  - {name: figure, regions: [regions]}
  - {name: covering, x: radius, y: log-covering-bound, log_x: true, panel: []}
""",
}
COMMON = {"corpus": "corpus: {name: synthetic}\n", "text": "text: {min_occurrences: 5}\n"}
SHAPES = {
    name: "".join(line for key, line in COMMON.items() if f"\n{key}:" not in text) + text for name, text in TEXT.items()
}


def invoke(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture(autouse=True)
def own_folders(finished_run, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_CACHE", str(finished_run.parent / "store"))
    monkeypatch.setattr(pinned, "PINNED", tmp_path / "pinned")


@pytest.fixture(autouse=True)
def drawn_once(own_folders, monkeypatch):
    """`bench report` finds pictures where runs do, by what they show: to draw it again gives the same bytes.

    That is seen where pictures are tested, and takes a fifth of the time of these tests.
    """

    def write_all(summary, folder, render=None, note=None, **how):
        return write(summary, folder, render or partial(session.cached_pictures, Store()), note, **how)

    write = files.write_report_files
    monkeypatch.setattr(files, "write_report_files", write_all)


@pytest.fixture(scope="module", params=sorted(SHAPES))
def shape(request):
    return request.param


@pytest.fixture(scope="module")
def finished_run(shape, tmp_path_factory):
    """Run each shape once; tests that change the folder take a copy."""
    folder = tmp_path_factory.mktemp(shape)
    (folder / "small.yaml").write_text(f"name: small\n{SHAPES[shape]}", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_CACHE", str(folder / "store"))
        result = invoke("run", folder / "small.yaml", "--out", folder / "run", "--verbose")
    assert (result.exit_code, result.exception) == (0, None), result.output
    return folder / "run"


@pytest.fixture(scope="module")
def config(finished_run):
    return finished_run.parent / "small.yaml"


def contents(folder, *, without=()):
    return {name: content for name, content in files_of(folder).items() if name not in without}


@pytest.mark.parametrize("shape", mostly_slow(sorted(SHAPES), 2), indirect=True)
def test_validate_and_plan(config, shape):
    assert invoke("validate", config).exit_code == 0
    assert invoke("plan", config).exit_code == 0
    result = invoke("plan", "--no-pilot", config)
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.split("\n\n")[0].splitlines()[1:]]
    assert rows
    assert all(row[-1] == row[-2] for row in rows), "all of it is in the store"


def test_run_leaves_tables_and_figures(finished_run):
    names = set(contents(finished_run))
    assert {"manifest.json", "table.md", "table.tex", "scores.csv"} <= names
    assert names & {"table.csv", "curves.csv"}
    assert "significance.csv" in names
    assert len([path for path in finished_run.iterdir() if path.name[0] != "."]) <= 12
    pictures = {name.removesuffix(".png") for name in names if name.endswith(".png")}
    assert pictures
    assert {f"{name}.svg" for name in pictures} <= names
    assert not [name for name in names if name.startswith(".")]


def test_report_gives_the_same_bytes(finished_run, tmp_path):
    copied = shutil.copytree(finished_run, tmp_path / "run")
    for name in set(files_of(copied)) - {"manifest.json", *RUN_FILES}:
        (copied / name).unlink()
    result = invoke("report", copied)
    assert result.exit_code == 0, result.output
    assert contents(copied) == contents(finished_run)


@pytest.mark.parametrize("shape", mostly_slow(sorted(SHAPES), 2), indirect=True)
def test_pinning_runs_it_again_to_the_same_and_guards_it(config, finished_run, tmp_path, monkeypatch):
    out = ("--out", tmp_path / "checked")
    assert invoke("check", config, *out).exit_code == 1  # nothing is pinned yet
    assert invoke("check", config, "--update", *out).exit_code == 0
    timed = "report.html"  # seconds of the store are marked
    mine, theirs = (contents(each, without=("manifest.json", timed)) for each in (finished_run, tmp_path / "checked"))
    assert mine == theirs
    path = pinned.PINNED / "small.csv"
    lines = path.read_text().splitlines()
    fields = lines[-1].split(",")
    fields[3] = str(float(fields[3]) - 0.25)
    path.write_text("\n".join([*lines[:-1], ",".join(fields)]) + "\n")
    result = invoke("check", config, *out)
    assert result.exit_code == 1
    assert "differs from what is pinned" in result.stdout


def test_compare_cells_and_runs(finished_run):
    table = (finished_run / "significance.csv").read_text().splitlines()
    a, b = table[1].split(",")[:2]
    result = invoke("compare", finished_run, a, b)
    assert result.exit_code == 0, result.output
    assert a in result.stdout
    result = invoke("compare", finished_run, finished_run)
    assert result.exit_code == 0, result.output
    assert "Settings that differ: none" in result.stdout
    assert invoke("compare", finished_run, a, "nosuch").exit_code == 2


def test_data_stats_and_export(config, shape, tmp_path):
    export = ["data", "export", config, "--out", tmp_path / "exported"]
    results = [invoke("data", "stats", config), invoke(*export)]
    if shape in TEXT:
        assert [result.exit_code for result in results] == [0, 0], [result.output for result in results]
        assert "vocabulary" in results[0].stdout
        assert (tmp_path / "exported" / "counts.svmlight").stat().st_size
    else:
        assert [(result.exit_code, result.stdout) for result in results] == [(2, "")] * 2
        assert all("reads no corpus" in result.stderr for result in results), [result.stderr for result in results]


def rows(folder, name, *columns):
    """The rows of a table by some of its columns, as text."""
    with (folder / name).open(newline="") as file:
        return {tuple(row[column] for column in columns): row for row in csv.DictReader(file)}


@pytest.mark.usefixtures("sketched")
@pytest.mark.parametrize(("first", "step"), mostly_slow([(-1, 1), (0, 2)], 1))
def test_a_part_has_the_numbers_of_the_whole_and_no_other(config, finished_run, tmp_path, first, step):
    """Of the last cell alone, and of every second one."""
    ids = load_checked(config).ids
    part = ids[first::step]
    only = [word for cell in part for word in ("--only", cell)]
    result = invoke("run", config, *only, "--out", tmp_path / "part")
    assert (result.exit_code, result.exception) == (0, None), result.output
    manifest = json.loads((tmp_path / "part" / "manifest.json").read_text())
    assert manifest["only"] == list(part)
    ours, whole = (rows(each, "scores.csv", "cell", "fold", "metric") for each in (tmp_path / "part", finished_run))
    cells = {cell for cell, _, _ in ours}
    ends = {cell for name in part if name.startswith("gain-") for cell in ids if cell != name}
    assert set(part) & {cell for cell, _, _ in whole} <= cells <= {*part, *ends}
    assert ours == {key: row for key, row in whole.items() if key[0] in cells}
    columns = "a", "b", "difference", "low", "high"
    ours, whole = (set(rows(each, "significance.csv", *columns)) for each in (tmp_path / "part", finished_run))
    assert ours == {row for row in whole if set(row[:2]) <= cells}
    before = contents(tmp_path / "part")
    assert invoke("report", tmp_path / "part").exit_code == 0
    assert contents(tmp_path / "part") == before


@pytest.mark.usefixtures("sketched")
def test_a_part_computes_no_point_that_its_cells_do_not_need(config, shape, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "store"))
    experiment = load_checked(config)
    cell = next(cell for cell in experiment.cells if cell.what == "point" and cell.choice != "oracle")
    result = invoke("run", config, "--only", cell.id, "--out", tmp_path / "part")
    assert result.exit_code == 0, result.output
    points = read_run(tmp_path / "part").predictions.settings
    assert {(place[1], place[2], place[4], place[5]) for place in points} == {
        (cell.task, cell.method, cell.size, cell.terms)
    }


def test_a_cell_that_is_not_there_is_refused_with_the_nearest(config, tmp_path):
    cell = load_checked(config).ids[0]
    result = invoke("run", config, "--only", f"{cell}x", "--out", tmp_path / "part")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"unknown cell '{cell}x'; did you mean '{cell}'? of small" in result.stderr
    assert not (tmp_path / "part").exists()
