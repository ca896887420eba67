"""No command runs code that a configuration, a run's folder or a model names unless a person trusts it."""

from __future__ import annotations

import copy
import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.model.fitting import fit_model
from benchmark.model.persistence import write_model
from benchmark.plugins.trust import TRUST_VARIABLE
from benchmark.system.checks import digest_without_itself
from benchmark.system.user_classes import running_user_code_here

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
    **dict.fromkeys(["list", "schema", "data list", "data fetch", "cache info", "cache list"], ""),
    "cache clear": "",
    "plugin test": "",  # the command names the file itself
}
RUN_AGAIN = "{run} --out {out} --quiet"
OF_CONFIGS = [name for name, call in CALLS.items() if "{config}" in call or name == "reproduce"]
OF_RUNS = [name for name, call in CALLS.items() if "{run}" in call]
#: Commands that run a configuration's code once it is trusted.
RUN_CODE = {*OF_CONFIGS, "explain", "predict"} - {"validate"}
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


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    for name, command in group.commands.items():
        yield from commands(command, (*path, name)) if hasattr(command, "commands") else [" ".join((*path, name))]


@pytest.fixture
def received(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What came from elsewhere: a configuration, a run's folder and a model, which a function makes malicious."""
    mark, folder = tmp_path / "ran", tmp_path / "received"
    folder.mkdir()
    (folder / "evil.py").write_text(EVIL.format(mark=str(mark)))
    (folder / "evilmod.py").write_text(EVIL.format(mark=str(mark)))
    (folder / "texts.csv").write_text("text\nveti duka\n")
    (folder / "vectors.csv").write_text("id,0\na,1\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delenv(TRUST_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)

    class Received:
        def write(self, changes: dict[str, Any], *, extended: bool = False) -> None:
            """Write the configuration, by itself or by way of another file that it extends."""
            config = yaml.safe_dump(BASE | changes, sort_keys=False)
            (folder / "config.yaml").write_text("name: received\nextends: other\n" if extended else config)
            (folder / "other.yaml").write_text(config)

        def write_run(self, changes: dict[str, Any]) -> None:
            """Put the configuration into the manifest of a finished run, with its digest mended."""
            manifest = copy.deepcopy(self.manifest)
            manifest["config"] = BASE | changes
            files = {"classifiers": "mine", "pipelines": "evil.py:make"}
            where = {"file": str(folder / "evil.py"), "digest": "0"}
            manifest["plugins"] = [
                {"kind": kind, "name": name, **where} for kind, name in files.items() if "evil.py" in str(changes)
            ]
            manifest["digest"] = digest_without_itself(manifest)
            (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest))

        def make_run(self) -> None:
            self.write(PLAIN)
            experiment, context = load_checked(folder / "config.yaml"), RunContext(Store(tmp_path / "store"))
            run_and_write(experiment, context, tmp_path / "run")
            self.manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())

        def make_model(self, classifier: str) -> None:
            """Keep a model."""
            self.write(method(weighting="tf", classifier=classifier))
            context = RunContext(Store(tmp_path / "store"))
            write_model(fit_model(load_checked(folder / "config.yaml"), "x", context), tmp_path / "model")
            mark.unlink(missing_ok=True)

        def ran(self, command: str, call: str = "") -> bool:
            """Run a command; return whether code of what came from elsewhere ran."""
            out = tmp_path / "out"
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            names = {"config": folder / "config.yaml", "run": tmp_path / "run", "model": tmp_path / "model"}
            words = (call or CALLS[command]).format(folder=folder, out=out / command.replace(" ", "-"), **names).split()
            sys.modules.pop("evilmod", None)
            done = CliRunner().invoke(app, [*command.split(), *words])
            assert done.exception is None or isinstance(done.exception, SystemExit), (command, done.output)
            self.output, self.exit_code = done.output, done.exit_code
            found = mark.exists()
            mark.unlink(missing_ok=True)
            return found

        components = (
            {"name": "os.system", "command": f"touch {mark}"},
            {"name": "subprocess.Popen", "args": ["touch", str(mark)]},
            EVIL_CLASS,
            {"name": "evilmod.Mine "},
            {"name": "evilmod.make"},
        )

    return Received()


def test_each_command_is_known_here() -> None:
    assert sorted(commands(typer.main.get_command(app))) == sorted(CALLS), "say how the new command is called in CALLS"


@pytest.mark.slow
@pytest.mark.usefixtures("sketched")
def test_commands_that_run_trusted_code_do_so_here(received: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other tests would find nothing where a call is wrong. A process of its own would find no more."""
    received.make_run()
    received.write_run(PLACES["classifier"](EVIL_CLASS))
    monkeypatch.setenv(TRUST_VARIABLE, "1")
    received.make_model("evilmod.Mine")
    received.write(PLACES["classifier"](EVIL_CLASS))
    with running_user_code_here():
        ran = {command for command in CALLS if CALLS[command] and received.ran(command)}
        assert ran == {*RUN_CODE, "validate"}
        assert received.ran("run", RUN_AGAIN)


@pytest.mark.parametrize("place", PLACES)
def test_a_configuration_runs_no_code(received: Any, place: str) -> None:
    for component in received.components:
        received.write(PLACES[place](component), extended=component == EVIL_CLASS)
        assert not received.ran("plan"), component
    received.write(PLACES[place](EVIL_CLASS))
    refused = OF_CONFIGS if place != "name of a cell" else ["validate"]  # no class is of this name
    assert not [command for command in refused if received.ran(command)]


@pytest.mark.usefixtures("sketched")
def test_a_run_runs_no_code(received: Any) -> None:
    received.make_run()
    for place, changes in PLACES.items():
        received.write_run(changes(EVIL_CLASS))
        assert not received.ran("explain"), place
    for component in received.components:
        received.write_run(PLACES["pipeline"](component))
        assert not received.ran("explain"), component
        assert not received.ran("run", RUN_AGAIN), component
    received.write_run(PLACES["classifier"](EVIL_CLASS))
    assert not [command for command in OF_RUNS if received.ran(command)]


def test_a_model_runs_no_code(received: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv(TRUST_VARIABLE, "1")
        received.make_model("evilmod.Mine")
    assert not received.ran("predict")
    assert "has objects of evilmod.Mine, whose code would be run" in received.output
