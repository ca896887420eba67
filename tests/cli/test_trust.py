"""Code that comes with a configuration runs once a person trusts it, and again until it changes."""

import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.experiment.run import load_checked
from benchmark.plugins.trust import TRUST_VARIABLE, has_import_path, trusted_digests

PLUGIN = """
from pathlib import Path
from sklearn.naive_bayes import MultinomialNB

Path(__file__).with_name("ran").touch()


class Mine(MultinomialNB):
    pass


CLASSIFIERS = {{"mine": Mine}}  # {}
"""
CONFIG = """name: mine
corpus: {name: synthetic}
protocol: {name: leave-one-group-out}
plugins: [mine.py]
methods: [mine]
"""
RIDGE = "methods: [{weighting: tf, classifier: sklearn.linear_model.RidgeClassifier}]"
PATHS = CONFIG.replace("plugins: [mine.py]\nmethods: [mine]", RIDGE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv(TRUST_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "mine.py").write_text(PLUGIN.format(1))
    (tmp_path / "mine.yaml").write_text(CONFIG)
    return tmp_path


def checked(folder, *more):
    (folder / "ran").unlink(missing_ok=True)
    done = CliRunner().invoke(app, ["plan", str(folder / "mine.yaml"), "--no-pilot", "--no-download", *more])
    return done.exit_code, done.output, (folder / "ran").exists()


def test_a_plug_in_does_not_run_before_it_is_trusted(folder):
    code, said, ran = checked(folder)
    assert (code, ran) == (2, False)
    assert "mine.py: is code, and would be run; add --trust once, if you trust it" in said.replace("\n", " ")
    assert checked(folder, "--trust")[::2] == (0, True)
    assert len(trusted_digests()) == 1


def test_trust_is_remembered_until_the_file_changes(folder):
    assert checked(folder, "--trust")[0] == 0
    (folder / "mine.py").write_text(PLUGIN.format(2))
    assert checked(folder)[::2] == (2, False)
    (folder / "mine.py").write_text(PLUGIN.format(1))
    assert checked(folder)[0] == 0


def test_to_trust_one_file_is_not_to_forget_another(folder):
    assert checked(folder, "--trust")[0] == 0
    (folder / "mine.py").write_text(PLUGIN.format(2))
    assert checked(folder, "--trust")[0] == 0
    assert len(trusted_digests()) == 2
    for number in (1, 2):
        (folder / "mine.py").write_text(PLUGIN.format(number))
        assert checked(folder)[0] == 0


def test_at_a_terminal_it_is_asked_once(folder, monkeypatch):
    asked = []
    monkeypatch.setattr("benchmark.cli.confirm_code", lambda question: asked.append(question) or True)
    assert checked(folder)[0] == checked(folder)[0] == 0
    assert len(asked) == 1
    assert asked[0].endswith("mine.py: is code, and would be run. Do you trust it?")


def test_to_test_a_plug_in_is_to_trust_it(folder):
    tested = CliRunner().invoke(app, ["plugin", "test", str(folder / "mine.py")])
    assert "classifier mine: can be used: passed" in tested.output
    assert checked(folder)[0] == 0


def test_a_variable_trusts_all(folder, monkeypatch):
    monkeypatch.setenv(TRUST_VARIABLE, "1")
    assert checked(folder)[::2] == (0, True)
    assert not trusted_digests()


def test_python_asks_nothing(folder):
    assert load_checked(folder / "mine.yaml").cells


def test_import_paths_are_trusted_in_a_configuration_of_ones_own_but_not_in_one_of_a_run(folder):
    (folder / "mine.yaml").write_text(PATHS)
    assert checked(folder)[0] == 0
    (folder / "manifest.json").write_text("{}")
    code, said, _ = checked(folder)
    assert code == 2
    assert "came with a run and names classes by import paths" in said.replace("\n", " ")
    assert checked(folder, "--trust")[0] == checked(folder)[0] == 0


def test_a_rerun_asks_too(folder):
    (folder / "mine.yaml").write_text(PATHS)
    run = ["run", str(folder / "mine.yaml"), "--out", str(folder / "run"), "--quiet"]
    assert CliRunner().invoke(app, run).exit_code == 0
    again = ["rerun", str(folder / "run"), "--out", str(folder / "again"), "--quiet"]
    refused = CliRunner().invoke(app, again)
    assert refused.exit_code == 2
    assert "add --trust once" in refused.output
    assert CliRunner().invoke(app, [*again, "--trust"]).exit_code == 0


@pytest.mark.parametrize(
    ("methods", "found"),
    [
        (["mnb", {"kernel": "ngd", "dirichlet": 0.5}], False),
        ([{"predictions": "theirs.csv", "name": "a"}], False),
        (["sklearn.svm.LinearSVC"], True),
        ([{"classifier": {"name": "sklearn.svm.LinearSVC"}}], True),
        ([{"classifier": ["mnb", "sklearn.svm.LinearSVC"]}], True),
    ],
)
def test_import_paths_are_found_wherever_they_stand(methods, found):
    assert has_import_path({"name": "a", "methods": methods}) == found
    assert has_import_path({"name": "a", "variants": {"b": {"methods": methods}}}) == found
