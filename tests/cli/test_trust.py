"""Code that comes with a configuration runs once a person trusts it, and again until it changes."""

import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.experiment.configuration import load_checked
from benchmark.plugins.trust import TRUST_VARIABLE, asking_before_code, trusted_digests
from benchmark.system.errors import ConfigError

pytestmark = pytest.mark.usefixtures("sketched", "users_code_here")
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


def checked(folder, trust=False):
    """Check the configuration; return whether it may be used, what is said, and whether the plug-in ran."""
    (folder / "ran").unlink(missing_ok=True)
    try:
        with asking_before_code(lambda _: trust, "bench --trust plan"):
            load_checked(folder / "mine.yaml")
    except ConfigError as error:
        return False, str(error), (folder / "ran").exists()
    return True, "", (folder / "ran").exists()


def planned(folder, *more):
    return CliRunner().invoke(app, ["plan", str(folder / "mine.yaml"), "--no-pilot", *more])


def test_a_plug_in_does_not_run_before_it_is_trusted(folder):
    done = planned(folder)
    assert done.exit_code == 2
    assert "mine.py: is code, and would be run with the Python files of its folder; if you trust it" in done.output
    assert f"add --trust once: bench --trust plan {folder / 'mine.yaml'} --no-pilot" in done.output
    assert not (folder / "ran").exists()
    assert planned(folder, "--trust").exit_code == 0
    assert (folder / "ran").exists()
    assert len(trusted_digests()) == 1


def test_trust_of_a_file_and_of_the_python_files_of_its_folder_is_remembered_until_one_changes(
    folder, tmp_path_factory
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (folder / ".#mine.py").symlink_to("nowhere")
    (folder / "linked").symlink_to(elsewhere)
    (folder / "package").mkdir()
    (folder / "venv").mkdir()
    (folder / "venv" / "pyvenv.cfg").touch()
    assert checked(folder, trust=True)[0]
    for path in (folder / "helper.py", folder / "package/inner.py", folder / "mine.abi3.so", elsewhere / "a.py"):
        for content in ("x = 1", "x = 2"):
            path.write_text(content)
            assert checked(folder)[::2] == (False, False), path
            assert checked(folder, trust=True)[0]
        path.write_text("x = 1")
        assert checked(folder)[0], "what was trusted once is so again"
    for name in (".hidden/a.py", "__pycache__/a.py", "my-data/a.py", "venv/a.py", "notes.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x = 1")
        assert checked(folder)[0], name
    (folder / "linked.py").symlink_to(elsewhere / "a.py")
    assert not checked(folder)[0]
    assert checked(folder, trust=True)[0]
    (folder / "mine.py").write_text(PLUGIN.format(2))
    assert checked(folder)[::2] == (False, False)


def test_a_module_that_is_not_installed_is_trusted_as_a_file_is(folder, monkeypatch):
    package = folder / "lib" / "package_of_trust"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "models.py").write_text(PLUGIN.format(1))
    monkeypatch.syspath_prepend(str(folder / "lib"))
    named = "methods: [{weighting: tf, classifier: package_of_trust.models.Mine}]"
    (folder / "mine.yaml").write_text(PATHS.replace(RIDGE, named))
    usable, said, _ = checked(folder)
    assert not usable
    what = "has the code of package_of_trust.models.Mine, which is of no installed package and would be run"
    assert f"mine.yaml:4: {package}: {what}; if you trust it, add --trust once: bench --trust plan" in said
    assert not (package / "ran").exists()
    assert checked(folder, trust=True)[0]
    assert checked(folder)[0]
    assert (package / "ran").exists()
    (package / "models.py").write_text(PLUGIN.format(2))
    assert not checked(folder)[0]


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("pipeline: {name: os.system, command: touch ran}", "os.system: os is a module of Python itself"),
        ("pipeline: {name: subprocess.Popen, args: touch}", "subprocess is a module of Python itself"),
        ("pipeline: {name: joblib.load, filename: a}", "joblib.load is no class"),
        ("pipeline: sklearn.pipeline.make_pipeline", "make_pipeline is no class"),
        ("classifier: 'sklearn.svm.LinearSVC '", "'sklearn.svm.LinearSVC ' is no import path"),
        ("classifier: sklearn.svm.class", "'sklearn.svm.class' is no import path"),
        ("classifier: nowhere.Class", "nowhere.Class: no package 'nowhere' is installed"),
        ("pipeline: benchmark.config.experiment.read_config", "read_config is no class"),
    ],
)
def test_an_import_path_names_a_class_with_fit_and_predict(folder, method, said):
    (folder / "mine.yaml").write_text(PATHS.replace(RIDGE, f"methods: [{{name: x, {method}}}]"))
    for command in ("plan", "run"):
        done = CliRunner().invoke(app, [command, str(folder / "mine.yaml")])
        assert done.exit_code == 2
        assert f"{folder / 'mine.yaml'}:4: " in done.output
        assert said in done.output


def test_at_a_terminal_it_is_asked_once(folder, monkeypatch):
    asked = []
    monkeypatch.setattr("benchmark.cli.program._confirms", lambda question: asked.append(question) or True)
    assert [planned(folder).exit_code for _ in range(2)] == [0, 0]
    assert len(asked) == 1
    assert asked[0].endswith("mine.py: is code, and would be run with the Python files of its folder. Do you trust it?")


def test_to_test_a_plug_in_is_to_trust_it(folder):
    tested = CliRunner().invoke(app, ["plugin", "test", str(folder / "mine.py")])
    assert "classifier mine: keeps its parameters: passed" in tested.output
    assert checked(folder)[0]


def test_a_variable_trusts_all(folder, monkeypatch):
    monkeypatch.setenv(TRUST_VARIABLE, "1")
    assert checked(folder)[::2] == (True, True)
    assert not trusted_digests()


def test_import_paths_are_trusted_in_a_configuration_of_ones_own_but_not_in_one_of_a_run(folder):
    (folder / "mine.yaml").write_text(PATHS)
    assert checked(folder)[0]
    (folder / "manifest.json").write_text("{}")
    usable, said, _ = checked(folder)
    assert not usable
    assert "came with a run and names classes by import paths" in said.replace("\n", " ")
    assert checked(folder, trust=True)[0]
    assert checked(folder)[0]


def test_a_folder_that_is_run_again_asks_too(folder):
    (folder / "mine.yaml").write_text(PATHS)
    run = ["run", str(folder / "mine.yaml"), "--out", str(folder / "run"), "--quiet"]
    first = CliRunner().invoke(app, run)
    assert first.exit_code == 0, first.output
    again = ["run", str(folder / "run"), "--out", str(folder / "again"), "--quiet"]
    refused = CliRunner().invoke(app, again)
    assert refused.exit_code == 2
    assert "add --trust once" in refused.output
    assert CliRunner().invoke(app, [*again, "--trust"]).exit_code == 0
