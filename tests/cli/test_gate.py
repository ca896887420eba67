"""No command runs code that a configuration, a run's folder or a model names unless a person trusts it."""

from __future__ import annotations

import copy
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from benchmark.plugins.trust import TRUST_VARIABLE
from benchmark.system.checks import digest_without_itself
from benchmark.system.user_classes import running_user_code_here
from tests.shapes import bench, commands, invoke

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
