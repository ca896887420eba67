"""No command runs code that a configuration, a run's folder or a model names before a person trusts it."""

from __future__ import annotations

import copy
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from benchmark.plugins.trust import TRUST_VARIABLE, trusted_digests
from benchmark.system.checks import digest_without_itself
from benchmark.system.user_classes import running_user_code_here
from tests.shapes import bench, commands, invoke, refused

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("sketched")
#: How each command is called with what came from elsewhere; "" for those that read nothing of it.
CALLS = {
    "run": "{config} --out {out} --quiet",
    "validate": "{config}",
    "plan": "{config} --no-pilot",
    "check": "{config}",
    "fit": "{config} --cell x --out {out}",
    "survey": "methods {config} --page {out}/page.md",
    "reproduce": "--configs {folder}",
    "published pin-settings": "{config}",
    "data export": "{config} --out {out}",
    "data pin": "{config}",
    "report": "{run}",
    "explain": "{run} x",
    "compare": "{run} mnb x",
    "cite": "{run}",
    "predict": "{model} {folder}/texts.csv",
    "init": "{folder}",
    "place": "{folder}/texts.csv",
    "data verify": "{run}",
    # Of these, only `plugin test` has to do with code, of a file that it names itself.
    **dict.fromkeys(["list", "schema", "data list", "data fetch", "cache info", "cache list", "cache clear"], ""),
    "plugin test": "",
}
RUN_AGAIN = "{run} --out {out} --quiet"
OF_CONFIGS = [name for name, call in CALLS.items() if "{config}" in call or name == "reproduce"]
OF_RUNS = [name for name, call in CALLS.items() if "{run}" in call]
EVIL = """
from pathlib import Path
Path({mark!r}).touch()
from sklearn.naive_bayes import MultinomialNB

class Mine(MultinomialNB):
    pass

def make():
    Path({mark!r}).touch()

CLASSIFIERS = {{"mine": Mine}}
"""
EVIL_CLASS = {"name": "evilmod.Mine"}
BASE: dict[str, Any] = {
    "name": "received",
    "corpus": {"name": "synthetic"},
    "text": {"stoplist": "none", "min_occurrences": 50},
    "protocol": {"name": "leave-one-group-out", "held_out": ["cornell"]},
}
PLAIN = {"methods": ["mnb", {"name": "x", "weighting": "tf", "classifier": "linear-svm"}]}


def method(**entry: Any) -> dict[str, Any]:
    return {"methods": ["mnb", {"name": "x", **entry}]}


#: Sections of a configuration for a component, by the place where its name stands.
PLACES: dict[str, Any] = {
    "method": lambda c: {"methods": ["mnb", c["name"]]},
    "classifier": lambda c: method(weighting="tf", classifier=c),
    "one of several classifiers": lambda c: method(weighting="tf", classifier=["mnb", c]),
    "default classifier": lambda c: {"defaults": {"classifier": c}, **method(weighting="tf")},
    "name of a cell": lambda c: {"methods": ["mnb", {**PLAIN["methods"][1], "name": c["name"].strip()}]},
    "key of a method": lambda c: {"methods": ["mnb", {**PLAIN["methods"][1], c["name"]: 1}]},
    "kernel": lambda c: method(weighting="tf", kernel=c),
    "weighting": lambda c: method(weighting=c, classifier="linear-svm"),
    "features": lambda c: method(features=c, classifier="linear-svm"),
    "threshold": lambda c: method(threshold=c, classifier="linear-svm"),
    "pipeline": lambda c: method(pipeline=c),
    "classifier of vectors": lambda c: method(vectors="vectors.csv", classifier=c),
    "variant": lambda c: {**PLAIN, "variants": {"v": method(weighting="tf", classifier=c)}},
    "protocol": lambda c: {**PLAIN, "protocol": c},
    "metric": lambda c: {**PLAIN, "metrics": ["accuracy", c["name"]]},
    "diagnostic": lambda c: {**PLAIN, "diagnostics": [c]},
    "corpus": lambda c: {**PLAIN, "corpus": c},
    "file of a plug-in": lambda _: {**method(weighting="tf", classifier="mine"), "plugins": ["evil.py"]},
    "file of a pipeline": lambda _: method(pipeline="evil.py:make"),
}


class Received:
    """What came from elsewhere: a configuration, a run's folder and a model, which may name code that leaves a mark."""

    def __init__(self, home: Path) -> None:
        self.home, self.folder, self.mark, self.manifest = home, home / "received", home / "ran", dict[str, Any]()
        self.folder.mkdir()
        for name in ("evil.py", "evilmod.py"):
            (self.folder / name).write_text(EVIL.format(mark=str(self.mark)))
        (self.folder / "texts.csv").write_text("text\nveti duka\n")
        (self.folder / "vectors.csv").write_text("id,0\na,1\n")
        shell = {"name": "os.system", "command": f"touch {self.mark}"}
        self.components = [shell, EVIL_CLASS, {"name": "evilmod.Mine "}, {"name": "evilmod.make"}]

    def write(self, changes: dict[str, Any], *, extended: bool = False) -> Path:
        """Write the configuration, by itself or by way of another file that it extends."""
        config = yaml.safe_dump(BASE | changes, sort_keys=False)
        (self.folder / "config.yaml").write_text("name: received\nextends: other\n" if extended else config)
        (self.folder / "other.yaml").write_text(config)
        return self.folder / "config.yaml"

    def write_run(self, changes: dict[str, Any]) -> None:
        """Put the configuration into the manifest of a finished run, with its digest mended."""
        file = self.home / "run" / "manifest.json"
        if not file.exists():
            bench("run", self.write(PLAIN), "--out", self.home / "run")
            self.manifest = json.loads(file.read_text())
        manifest = copy.deepcopy(self.manifest) | {"config": BASE | changes}
        where = {"file": str(self.folder / "evil.py"), "digest": "0"}
        kinds = {"classifiers": "mine", "pipelines": "evil.py:make"} if "evil.py" in str(changes) else {}
        manifest["plugins"] = [{"kind": kind, "name": name, **where} for kind, name in kinds.items()]
        manifest["digest"] = digest_without_itself(manifest)
        file.write_text(json.dumps(manifest))

    def fit_model(self) -> None:
        config = self.write(PLACES["classifier"](EVIL_CLASS))
        bench("fit", config, "--cell", "x", "--out", self.home / "model")
        self.mark.unlink()

    def allowed(self, *more: str) -> bool:
        """Return whether the configuration may be used."""
        return invoke("validate", self.folder / "config.yaml", *more).exit_code == 0

    def ran(self, command: str, call: str = "") -> bool:
        """Run a command; return whether code of what came from elsewhere ran."""
        home = self.home
        names = {"config": self.folder / "config.yaml", "run": home / "run", "model": home / "model"}
        out = home / "out" / command.replace(" ", "-")
        out.parent.mkdir(exist_ok=True)
        words = (call or CALLS[command]).format(folder=self.folder, out=out, **names).split()
        sys.modules.pop("evilmod", None)
        self.output = invoke(*command.split(), *words).output
        found = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return found


@pytest.fixture
def received(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Received:
    monkeypatch.delenv(TRUST_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "received"))
    return Received(tmp_path)


def test_each_command_is_known_here() -> None:
    known = [" ".join(path) for path, command in commands() if not hasattr(command, "commands")]
    assert sorted(known) == sorted(CALLS), "say how the new command is called in CALLS"


@pytest.mark.slow
def test_commands_that_run_trusted_code_do_so_here(received: Received, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other tests would find nothing where a call is wrong. A process of its own would find no more."""
    received.write_run(PLACES["classifier"](EVIL_CLASS))
    monkeypatch.setenv(TRUST_VARIABLE, "1")
    with running_user_code_here():
        received.fit_model()
        ran = {command for command in CALLS if CALLS[command] and received.ran(command)}
        assert ran == {*OF_CONFIGS, "explain", "predict"}
        assert received.ran("run", RUN_AGAIN)


@pytest.mark.parametrize("place", PLACES)
def test_a_configuration_runs_no_code(received: Received, place: str) -> None:
    for component in received.components:
        received.write(PLACES[place](component), extended=component == EVIL_CLASS)
        assert not received.ran("plan"), component
    received.write(PLACES[place](EVIL_CLASS))
    refused = OF_CONFIGS if place != "name of a cell" else ["validate"]  # no class is of this name
    assert not [command for command in refused if received.ran(command)]


def test_a_run_runs_no_code(received: Received) -> None:
    for place, changes in PLACES.items():
        received.write_run(changes(EVIL_CLASS))
        assert not received.ran("explain"), place
    for component in received.components:
        received.write_run(PLACES["pipeline"](component))
        assert not received.ran("explain"), component
        assert not received.ran("run", RUN_AGAIN), component
    received.write_run(PLACES["classifier"](EVIL_CLASS))
    assert not [command for command in OF_RUNS if received.ran(command)]


def test_a_model_runs_no_code(received: Received, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, running_user_code_here():
        patch.setenv(TRUST_VARIABLE, "1")
        received.fit_model()
    assert not received.ran("predict")
    assert "has objects of evilmod.Mine, whose code would be run" in received.output


class TestTrust:
    """Code runs once a person trusts it, and again until it changes."""

    @pytest.fixture
    def folder(self, received: Received) -> Path:
        received.write(PLACES["file of a plug-in"](EVIL_CLASS))
        return received.folder

    def test_is_given_once(self, received: Received, folder: Path) -> None:
        said = f"{folder / 'evil.py'}: is code, and would be run with the Python files of its folder; if you trust it"
        command = f"bench --trust plan {folder / 'config.yaml'} --no-pilot"
        refused(*command.replace("bench --trust ", "").split(), said=(said, f"add --trust once: {command}"))
        assert received.ran("plan", f"{CALLS['plan']} --trust")
        assert len(trusted_digests()) == 1

    def test_of_a_file_and_of_the_python_files_of_its_folder_is_remembered_until_one_changes(
        self, received: Received, folder: Path, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        (folder / ".#evil.py").symlink_to("nowhere")
        (folder / "linked").symlink_to(elsewhere)
        (folder / "package").mkdir()
        (folder / "venv").mkdir()
        (folder / "venv" / "pyvenv.cfg").touch()
        assert received.allowed("--trust")
        for path in (folder / "helper.py", folder / "package/inner.py", folder / "mine.abi3.so", elsewhere / "a.py"):
            for content in ("x = 1", "x = 2"):
                path.write_text(content)
                assert not received.allowed(), path
                assert received.allowed("--trust")
            path.write_text("x = 1")
            assert received.allowed(), "what was trusted once is so again"
        for name in (".hidden/a.py", "__pycache__/a.py", "my-data/a.py", "venv/a.py", "notes.txt"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("x = 1")
            assert received.allowed(), name
        (folder / "linked.py").symlink_to(elsewhere / "a.py")
        assert not received.allowed()

    def test_of_a_module_that_is_not_installed_is_as_of_a_file(self, received: Received, folder: Path) -> None:
        config, module = received.write(PLACES["classifier"](EVIL_CLASS)), folder / "evilmod.py"
        what = "has the code of evilmod.Mine, which is of no installed package and would be run"
        refused("validate", config, said=f"{module}: {what}; if you trust it, add --trust once")
        assert received.allowed("--trust")
        assert received.allowed()
        module.write_text(module.read_text() + "#")
        assert not received.allowed()

    @pytest.mark.parametrize(
        ("entry", "said"),
        [
            ({"pipeline": {"name": "os.system", "command": "touch ran"}}, "os.system: no package 'os' is installed"),
            ({"pipeline": {"name": "joblib.load", "filename": "a"}}, "unknown class of joblib: 'load'"),
            ({"classifier": "sklearn.svm.LinearSVC "}, "did you mean 'LinearSVC'?"),
            (
                {"pipeline": "benchmark.config.experiment.read_config"},
                "unknown class of benchmark.config.experiment: 'read_config'",
            ),
        ],
    )
    def test_is_asked_of_import_paths_of_classes_alone(self, received: Received, entry: Any, said: str) -> None:
        config = received.write(method(**entry))
        refused("plan", config, said=(f"{config}:", said))

    def test_is_asked_at_a_terminal(self, received: Received, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[str] = []
        monkeypatch.setattr("benchmark.cli.program._confirms", lambda question: asked.append(question) or True)
        assert [received.allowed(), received.allowed()] == [True, True]
        said = "is code, and would be run with the Python files of its folder. Do you trust it?"
        assert asked == [f"{folder / 'evil.py'}: {said}"]

    def test_is_in_testing_a_plug_in_and_in_a_variable(
        self, received: Received, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patch:
            patch.setenv(TRUST_VARIABLE, "1")
            assert received.allowed()
        assert not received.allowed()
        assert "classifier mine: keeps its parameters: passed" in bench("plugin", "test", folder / "evil.py").stdout
        assert received.allowed()

    def test_is_in_import_paths_of_ones_own_configuration_but_not_of_a_run(self, received: Received) -> None:
        config = received.write(method(weighting="tf", classifier="sklearn.linear_model.RidgeClassifier"))
        assert received.allowed()
        (received.folder / "manifest.json").write_text("{}")
        said = " ".join(refused("validate", config).split())
        assert "came with a run and names classes by import paths" in said
        assert received.allowed("--trust")
        assert received.allowed()
