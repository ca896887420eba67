"""The experiments on values that are far from print: good, as few as promised, and told as their numbers are pinned."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from benchmark.experiment.configuration import load_experiment
from benchmark.plugins.loader import load_plugin
from tests import far_prints

pytestmark = pytest.mark.usefixtures("users_code_here")
MOST_CHOICES = 60
FILES = sorted(far_prints.FOLDER.glob("*.yaml"), key=lambda path: path.stem)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_configuration_is_good_and_named_as_its_file(path):
    experiment = load_experiment(path)
    assert experiment.name == path.stem
    assert any("Rule:" in note for note in experiment.notes)


def test_bench_reproduce_runs_none_of_them_and_the_page_has_all():
    names = [path.stem for path in FILES]
    assert sorted(far_prints.EXPERIMENTS) == names
    assert not {path.stem for path in far_prints.FOLDER.parent.glob("*.yaml")} & set(names)


def test_the_page_is_what_the_pinned_numbers_give():
    assert far_prints.PAGE.read_text(encoding="utf-8") == far_prints.page(far_prints.read_pinned())


@pytest.mark.parametrize("paper", far_prints.PAPERS)
def test_every_choice_has_numbers_and_a_paper_has_few(paper):
    pinned, choices = far_prints.read_pinned(), 0
    for name in far_prints.PAPERS[paper]:
        of = set(pinned.loc[pinned["experiment"] == name, "choice"]) - {"", far_prints.CONFIGURED}
        variants = set(load_experiment(far_prints.FOLDER / f"{name}.yaml").variants) - {"base", "tolerance"}
        assert variants <= of
        choices += len(of)
    assert 0 < choices <= MOST_CHOICES


def test_a_moved_number_is_named_and_one_within_its_ties_is_not():
    pinned = far_prints.read_pinned()
    found = pinned[~pinned["metric"].eq(far_prints.SECONDS) & ~pinned["experiment"].eq(far_prints.EARLIER)].copy()
    assert list(far_prints.differences(pinned, found)) == []
    tied = found.index[found["ties"] > 0][0]
    found.loc[tied, "value"] += found.loc[tied, "ties"] / 2
    assert list(far_prints.differences(pinned, found)) == []
    found.loc[tied, "value"] += found.loc[tied, "ties"]
    (line,) = far_prints.differences(pinned, found)
    assert found.loc[tied, "choice"] in line


def test_values_of_six_digits_are_those_that_c_prints():
    module = load_plugin(far_prints.FOLDER / "rounded_kernels.py").module
    values = np.concatenate([[0.0, 1.0, -np.pi], np.random.default_rng(1).standard_cauchy(2000) * 1e-3])
    printed = np.array([float(f"{value:.6g}") for value in values])
    np.testing.assert_allclose(module.to_text(values), printed, rtol=2 * sys.float_info.epsilon)
