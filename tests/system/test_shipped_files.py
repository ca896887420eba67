"""Files that come with the package are found by name: a path first, then the user's folder, then the package."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from benchmark.cli import app
from benchmark.commands import check
from benchmark.experiment import run_folder
from benchmark.papers import load, published
from benchmark.system import shipped_files
from benchmark.system.errors import ConfigError
from benchmark.system.shipped_files import find_configuration, find_shipped, path_to_write

PINNED = check.PINNED / "quickstart.csv"


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
    for name in ("a.yaml", "e.yaml"):
        Path(name).write_text("here")
    assert find_configuration(Path("e")) == Path("e.yaml")
    assert find_configuration(Path("a")) == package / "configs" / "a.yaml"
    with pytest.raises(ConfigError, match=r"^bb: .*name here, in configs or in the package.*'b'"):
        find_configuration(Path("bb"))
    for path in ("d.yaml", "configs/d.yaml", "elsewhere/a", "elsewhere/a.yaml"):
        assert find_configuration(Path(path)) == Path(path)


def test_an_installed_package_is_never_written_to_and_a_checkout_is(package, tmp_path, monkeypatch):
    assert path_to_write(package / "configs", "a.yaml") == Path("configs", "a.yaml")
    monkeypatch.setattr(shipped_files, "CHECKOUT", package)
    assert path_to_write(package / "configs", "a.yaml") == package / "configs" / "a.yaml"
    assert path_to_write(package / "configs", "b.yaml") == Path("configs", "b.yaml")
    other = tmp_path / "other"
    assert find_shipped(other, "a.yaml") == path_to_write(other, "a.yaml") == other / "a.yaml"


def test_a_user_extends_what_was_shipped_and_publishes_and_pins_beside_ours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("extends: quickstart\nname: mine\n")
    app(["validate", "mine.yaml"], standalone_mode=False)
    for shipped, name in ((published.PUBLISHED_FOLDER / "chen2018.yaml", "own2024.yaml"), (PINNED, "mine.csv")):
        folder = tmp_path / "results" / shipped.parent.name
        folder.mkdir(parents=True)
        shutil.copy(shipped, folder / name)
    assert {"own2024", "zhang2005"} <= set(load.published_papers())
    assert {"mine", "quickstart"} <= set(check.pinned_configs())


def test_the_commit_is_recorded_from_the_own_checkout_alone(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=us", "-c", "user.email=us@example.org"]
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "ours"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    monkeypatch.setattr(run_folder, "CHECKOUT", tmp_path.resolve())
    assert run_folder._git() == {"commit": commit, "changed": False}
    (tmp_path / "below").mkdir()
    monkeypatch.setattr(run_folder, "CHECKOUT", tmp_path.resolve() / "below")
    assert run_folder._git() == {}
