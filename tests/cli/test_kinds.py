"""Every command on every kind of configuration: what a user can type for a table, they can type for the others."""

from __future__ import annotations

import pytest
from benchmark.config.kinds import CHECKS
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.experiment import pinned

SMALL = {
    "table": """
corpus: {name: synthetic}
text: {min_occurrences: 5}
protocol: {name: leave-one-group-out, held_out: [cornell, texas]}
cells: [{normalization: l1, kernel: [linear, ngd]}]
compare: [[tf-l1-ngd, tf-l1-linear]]
""",
    "learning-curves": """
corpus: {name: synthetic}
text: {min_occurrences: 5}
tasks: [[faculty, course]]
sizes: [12, 30]
replicates: 6
kernels: [linear, {name: diffusion, t: [0.5, 2]}]
compare: [[diffusion, linear]]
""",
    "category-curves": """
corpus: {name: synthetic}
text: {min_occurrences: 5}
test: texas
sizes: [60, 100]
replicates: 6
methods: [linear, hp-top, {name: plsi-fisher, n_classes: [2]}]
compare: [[hp-top, linear]]
""",
    "centroid-curves": """
corpus: {name: synthetic, classes: [faculty, course, student]}
text: {min_occurrences: 40}
smoothing: 0.001
sizes: [12, 30]
replicates: 6
table: {smoothing: [0.001, 0.1], resamples: 4}
flow: {graphs: [path]}
compare: [[skl, mean]]
""",
    "feature-curves": """
corpus: {name: synthetic}
text: {min_occurrences: 5}
split: {train: [misc, cornell], test: [texas]}
panels: [{title: all, classes: [student, faculty, course]}]
methods: [mnb, eef, svm]
sizes: [20, 50]
compare: [[eef, mnb]]
""",
    "decision-boundaries": """
t: 2
points: 30
test_points: 100
resolution: 15
panels: [{space: simplex, kernel: gaussian}, {space: simplex, kernel: diffusion}]
compare: [[simplex-diffusion, simplex-gaussian]]
""",
}
KINDS = sorted(SMALL)


def invoke(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture(autouse=True)
def own_folders(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_CACHE", str(cache))
    monkeypatch.setattr(pinned, "PINNED", tmp_path / "pinned")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def config(kind, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(f"kind: {kind}\nname: small\n{SMALL[kind]}", encoding="utf-8")
    return path


@pytest.fixture
def run(config, tmp_path):
    result = invoke("run", config, "--out", tmp_path / "run")
    assert (result.exit_code, result.exception) == (0, None), result.output
    return tmp_path / "run"


def test_every_kind_is_tried_here():
    assert set(SMALL) == set(CHECKS)


def test_validate_and_plan(config):
    assert invoke("validate", config).exit_code == 0
    result = invoke("plan", config)
    assert result.exit_code == 0, result.output
    assert "Bytes of inner products to build" in result.stdout


def test_run_leaves_tables_and_figures(run):
    names = {path.name for path in run.iterdir()}
    assert {"manifest.json", "table.md", "table.csv", "table.tex", "scores.csv", "significance.csv"} <= names
    assert {"figure.png", "figure.svg"} <= names or len([name for name in names if name.endswith(".png")]) > 1
    assert not [name for name in names if name.startswith(".")]


def test_report_gives_the_same_bytes(run):
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    result = invoke("report", run)
    assert result.exit_code == 0, result.output
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_a_second_run_gives_the_same_results(run, config, tmp_path):
    result = invoke("run", config, "--out", tmp_path / "again")
    assert result.exit_code == 0, result.output
    for path in run.iterdir():
        if path.name != "manifest.json":
            assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes(), path.name


def test_compare_cells_and_runs(run):
    table = (run / "differences.csv").read_text().splitlines()
    a, b = table[1].split(",")[:2]
    result = invoke("compare", run, a, b)
    assert result.exit_code == 0, result.output
    assert a in result.stdout
    result = invoke("compare", run, run)
    assert result.exit_code == 0, result.output
    assert "Where the manifests differ: nowhere" in result.stdout
    assert invoke("compare", run, a, "nosuch").exit_code == 2


def test_check_guards_what_is_pinned(config, tmp_path):
    out = ("--out", tmp_path / "checked")
    assert invoke("check", config, *out).exit_code == 1  # nothing is pinned yet
    assert invoke("check", config, "--pin", *out).exit_code == 0
    assert invoke("check", config, *out).exit_code == 0
    path = pinned.PINNED / "small.csv"
    lines = path.read_text().splitlines()
    fields = lines[-1].split(",")
    fields[3] = str(float(fields[3]) - 0.25)
    path.write_text("\n".join([*lines[:-1], ",".join(fields)]) + "\n")
    result = invoke("check", config, *out)
    assert result.exit_code == 1
    assert "differs from what is pinned" in result.stdout
