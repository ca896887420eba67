"""A printed number is of one setting: under any other there is no verdict, and the table says what is otherwise."""

from __future__ import annotations

import json

import pytest

from benchmark.analysis.prose.verdict_sentences import setting_notes
from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summarize import summarize
from benchmark.experiment.configuration import load_experiment
from benchmark.papers import published as papers
from benchmark.papers.load import load_published
from benchmark.papers.settings import excluded_cells, pin_settings
from benchmark.system.errors import ConfigError
from tests.analysis.made import CLASSES, predicted
from tests.builders import small_experiment

VALUE = {"table": 1, "config": "small", "cell": "tf-l1-ngd", "metric": "accuracy", "value": "50.0", "unit": "percent"}
CLAIM = {"id": "c", "text": "t", "relation": "greater", "test": "sign"}
PAIR = {"config": "small", "a": "tf-l1-ngd", "b": "tf-l1-linear"}
PAPER = {"paper": "p", "title": "t", "reference": "r", "values": [VALUE], "claims": [CLAIM | {"comparisons": [PAIR]}]}
METHODS = [{"weighting": "tf", "normalization": "l1", "kernel": ["linear", "ngd"]}]


@pytest.fixture(name="experiment")
def experiment(publish):
    paper = publish(PAPER)

    def of(**changes):
        base = {"name": "small", "corpus": {"name": "synthetic", "classes": CLASSES}, "methods": METHODS, "text": {}}
        protocol = {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]}
        return small_experiment(**{**base, "protocol": protocol, "paper": paper, **changes})

    return of


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"defaults": {"classifier": {"name": "svm", "C": 3}}}, "C 3 (paper 1)"),
        ({"protocol": {"name": "k-fold", "k": 3}}, "protocol k-fold (paper leave-one-group-out)"),
    ],
)
def test_any_other_setting_is_not(experiment, changes, why):
    pin_settings(experiment())
    other = experiment(**changes)
    asides = excluded_cells(other)
    assert set(asides) == {("small", "tf-l1-ngd"), ("small", "tf-l1-linear")}
    assert all(aside.kind == "another setting" and why in aside.why for aside in asides.values())
    summary = summarize(RunPredictions(other, predicted(other), {}, {}))
    assert summary.verdicts["verdict"].tolist() == ["another setting"]
    assert why in summary.verdicts["aside"].iloc[0]
    assert summary.claims["counted"].tolist() == ["another setting"]
    assert any(why in caveat for caveat in summary.caveats)


def test_a_configuration_that_the_paper_does_not_speak_of_says_so(experiment):
    other = experiment(name="strange")
    with pytest.raises(ConfigError, match="names none of its cells"):
        pin_settings(other)
    (note,) = setting_notes(other, {})
    assert "no value and no claim for 'strange'" in note


PINNED = sorted(papers.PUBLISHED_FOLDER.glob("*.settings.json"))


@pytest.mark.parametrize("path", PINNED, ids=lambda path: path.stem)
def test_the_shipped_configurations_are_of_the_settings_that_are_kept(path):
    configs = papers.SHIPPED / "configs"
    known = json.loads(path.read_text())
    published = load_published(path.with_name(path.name.replace(".settings.json", ".yaml")))
    printed = {value.config for value in published.values if value.kind == "result"}
    assert printed <= set(known)
    for name in known:
        asides = excluded_cells(load_experiment(configs / f"{name}.yaml"))
        assert {aside.kind for aside in asides.values()} <= {"tuned"}
