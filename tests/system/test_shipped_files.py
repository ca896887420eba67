"""Files that come with the package are found by name: a path first, then the user's folder, then the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import benchmark
from benchmark.cli import app
from benchmark.commands import check
from benchmark.experiment import manifest
from benchmark.papers import load, published
from benchmark.system import shipped_files
from benchmark.system.errors import ConfigError
from benchmark.system.shipped_files import find_configuration, find_shipped, path_to_write

REPOSITORY = Path(__file__).parents[2]
BUILD = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The files of a package, with the configurations a and b, and the user's folder, with b and c."""
    shipped, mine = tmp_path / "package", tmp_path / "mine"
    for folder, names in ((shipped / "configs", "ab"), (mine / "configs", "bc")):
        folder.mkdir(parents=True)
        for name in names:
            (folder / f"{name}.yaml").write_text(str(folder))
    monkeypatch.setattr(shipped_files, "SHIPPED", shipped)
    monkeypatch.setattr(shipped_files, "CONFIGS_FOLDER", shipped / "configs")
    monkeypatch.setattr(shipped_files, "CHECKOUT", None)
    monkeypatch.chdir(mine)
    return shipped


def test_a_path_goes_before_the_users_folder_and_that_before_the_package(package, tmp_path):
    mine = Path("configs")
    (tmp_path / "mine" / "a").write_text("a path")
    assert find_configuration(Path("a")) == Path("a")
    assert find_configuration(Path("b")) == find_configuration(mine / "b.yaml") == mine / "b.yaml"
    assert find_configuration(Path("c")) == mine / "c.yaml"
    (tmp_path / "mine" / "a").unlink()
    assert find_configuration(Path("a")) == find_configuration(mine / "a.yaml") == package / "configs" / "a.yaml"
    listed = shipped_files.shipped_files(package / "configs", "*.yaml")
    assert listed == [package / "configs" / "a.yaml", mine / "b.yaml", mine / "c.yaml"]


def test_what_is_nowhere_is_said_by_name_and_a_path_is_left_to_its_reader(package):
    with pytest.raises(ConfigError, match=r"^bb: .*no configuration of this name in configs or in the package.*'b'"):
        find_configuration(Path("bb"))
    for path in ("d.yaml", "configs/d.yaml", "elsewhere/a", "elsewhere/a.yaml"):
        assert find_configuration(Path(path)) == Path(path)


def test_an_installed_package_is_never_written_to_and_a_checkout_is(package, monkeypatch):
    assert path_to_write(package / "configs", "a.yaml") == Path("configs", "a.yaml")
    monkeypatch.setattr(shipped_files, "CHECKOUT", package)
    assert path_to_write(package / "configs", "a.yaml") == package / "configs" / "a.yaml"
    assert path_to_write(package / "configs", "b.yaml") == Path("configs", "b.yaml")


def test_a_folder_that_is_not_shipped_is_the_only_one(package, tmp_path):
    assert find_shipped(tmp_path / "other", "a.yaml") == path_to_write(tmp_path / "other", "a.yaml")
    assert find_shipped(tmp_path / "other", "a.yaml") == tmp_path / "other" / "a.yaml"


def test_a_user_extends_what_was_shipped_and_publishes_a_paper_beside_ours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("extends: quickstart\nname: mine\n")
    assert find_configuration(Path("quickstart")) == REPOSITORY / "configs" / "quickstart.yaml"
    app(["validate", "mine.yaml"], standalone_mode=False)
    folder = tmp_path / "results" / "published"
    folder.mkdir(parents=True)
    shutil.copy(published.PUBLISHED_FOLDER / "chen2018.yaml", folder / "own2024.yaml")
    assert {"own2024", "zhang2005"} <= set(load.published_papers())


def test_numbers_are_pinned_beside_the_users_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results" / "pinned"
    folder.mkdir(parents=True)
    shutil.copy(check.PINNED / "quickstart.csv", folder / "mine.csv")
    assert {"mine", "quickstart"} <= set(check.pinned_configs())


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package as the wheel has it, inside a user's own repository."""
    top = tmp_path_factory.mktemp("theirs")
    site = top / "venv" / "site-packages"
    shutil.copytree(REPOSITORY / "benchmark", site / "benchmark", ignore=shutil.ignore_patterns("__pycache__"))
    wheel = BUILD["tool"]["hatch"]["build"]["targets"]["wheel"]
    for pattern in wheel["include"]:
        if (folder := pattern.lstrip("/").split("*")[0].rstrip("/")) != "benchmark":
            first, *rest = Path(folder).parts
            shutil.copytree(
                REPOSITORY / folder,
                site.joinpath(wheel["sources"][first], *rest),
                ignore=lambda place, names: [n for n in names if not Path(place, n).is_file() or n.endswith(".tar.gz")],
            )
    facts = site / "simplexbench-7.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.4\nName: simplexbench\nVersion: 7\n")
    git = ["git", "-C", str(top), "-c", "user.name=them", "-c", "user.email=them@example.org"]
    subprocess.run(["git", "init", "--quiet", str(top)], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "theirs"], check=True)
    return site


def python(folder, site, code):
    """Run code with the installed package, in a folder, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(site), "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


COMMANDS = """
from benchmark.cli import app
from benchmark.commands.check import pinned_configs
for words in (["validate", "quickstart"], ["list"], ["data", "list"], ["place", "--template", "r8"]):
    app(words, standalone_mode=False)
    print(end="\\0")
print(*pinned_configs())
"""


def test_an_installed_package_finds_all_that_it_needs(installed, tmp_path):
    checked, listed, corpora, template, pinned = python(tmp_path, installed, COMMANDS).split("\0")
    assert "10 cells" in checked
    assert all(word in listed for word in ("20ng", "zhang2005", "tang2016"))
    assert "webkb" in corpora
    assert template.startswith("id,")
    assert "quickstart" in pinned.split()


def test_an_installed_package_downloads_to_the_users_cache(installed, tmp_path):
    code = "from benchmark.corpora import registry as r; print(r.download_folder(), *r.search_folders(), sep='\\n')"
    first, *rest = python(tmp_path, installed, code).splitlines()
    assert first == str(tmp_path / "cache" / "simplexbench" / "datasets") == rest[-1]
    assert not [place for place in rest if "site-packages" in place]


@pytest.mark.parametrize("origin", [None, {"url": "https://example.org/s.git", "vcs_info": {"commit_id": "c0ffee"}}])
def test_the_commit_of_a_surrounding_repository_is_not_recorded(installed, tmp_path, origin):
    recorded = installed / "simplexbench-7.dist-info" / "direct_url.json"
    if origin:
        recorded.write_text(json.dumps(origin))
    code = "import json; from benchmark.experiment.manifest import _code_origin as o; print(json.dumps(o()))"
    found = json.loads(python(installed, installed, code))
    assert found == {"git": {}, **({"direct_url": origin} if origin else {})}


def test_the_commit_is_recorded_from_the_own_checkout_alone(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=us", "-c", "user.email=us@example.org"]
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "ours"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    monkeypatch.setattr(manifest, "CHECKOUT", tmp_path.resolve())
    assert manifest._code_origin() == {"git": {"commit": commit, "changed": False}}
    (tmp_path / "below").mkdir()
    monkeypatch.setattr(manifest, "CHECKOUT", tmp_path.resolve() / "below")
    assert manifest._code_origin()["git"] == {}


def test_the_version_and_the_promises_stand_in_one_place():
    project = BUILD["project"]
    assert "version" in project["dynamic"]
    assert BUILD["tool"]["hatch"]["version"] == {"path": "benchmark/__init__.py"}
    assert benchmark.__version__
    assert project["scripts"]["bench"] == project["scripts"]["simplexbench"]
    assert not any("http" in json.dumps(author) for author in project["authors"])
