"""Edges of users' code: an old name, imports that change the process, defaults that are tuples, records of files."""

from __future__ import annotations

import os
import random
import sys
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.plugins.discovery import BUILTIN_REGISTRIES, registries_with_plugins
from benchmark.plugins.import_paths import imported_class, imported_module
from benchmark.plugins.pipelines import _pipeline, add_pipelines
from benchmark.plugins.records import with_plugin_paths
from benchmark.system.errors import ConfigError
from benchmark.system.yaml_source import YamlSource

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.config.registries import Registries

LIBRARY = """\
import abc, os, random, sys
os.environ["BENCH_IMPORTED"] = "1"
random.seed(7)
sys.argv.append("more")
from sklearn.base import ClusterMixin, RegressorMixin


class Public:
    def fit(self, X, y): return self
    def predict(self, X): return X


class _Private(Public): pass
class Numbers(RegressorMixin, Public): pass
class Groups(ClusterMixin, Public): pass
class Fits:
    def fit(self, X, y): return self
class Abstract(Public, abc.ABC):
    @abc.abstractmethod
    def more(self): ...


NOTHING = 3
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A library's module, which nothing has imported yet; its name."""
    name = f"library_of_tests_{random.getrandbits(60)}"
    (tmp_path / f"{name}.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_library_changes_nothing_of_the_process_where_it_is_imported(library: str) -> None:
    before = dict(os.environ), random.getstate(), list(sys.argv)
    module = imported_module(f"{library}.Public")
    assert (dict(os.environ), random.getstate(), sys.argv) == before
    assert module.NOTHING == 3
    with pytest.raises(ConfigError, match=rf"^{library}x\.y\.Z: {library}x\.y can't be imported: No module named"):
        imported_module(f"{library}x.y.Z")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Publik", "unknown class of {library}: 'Publik'; did you mean 'Public'? (allowed: Public)"),
        ("Numbers", "{library}.Numbers predicts numbers, not classes"),
        ("Groups", "{library}.Groups predicts numbers, not classes"),
        ("Fits", "{library}.Fits has no predict: a classifier has both"),
        ("Abstract", "{library}.Abstract is no class that can be built"),
        ("NOTHING", "{library}.NOTHING is no class that can be built"),
    ],
)
def test_what_is_no_classifier_of_a_library_is_said(name: str, said: str, library: str) -> None:
    assert imported_class(f"{library}.Public").__name__ == "Public"
    with pytest.raises(ConfigError) as raised:
        imported_class(f"{library}.{name}")
    assert str(raised.value) == said.replace("{library}", library)


def test_measures_are_called_by_another_name_now(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("MEASURES = {}\nKERNELS = {}\n")
    said = rf"^{tmp_path}/mine\.py: MEASURES is now DIAGNOSTICS, and its classes define `numbers` in place of `told`$"
    with pytest.raises(ConfigError, match=said):
        registries_with_plugins([tmp_path / "mine.py"])


class Made:
    """Has parameters of each kind."""

    def __init__(self, pair: tuple[int, int] = (1, 2), names: Any = ("a",), *, depth: int = 3) -> None:
        self.pair, self.names, self.depth = pair, names, depth

    def fit(self, X: Any, y: Any) -> Any:
        return self

    def predict(self, X: Any) -> Any:
        return X


def test_lists_stand_for_tuples_in_a_pipeline_s_signature() -> None:
    built: Any = _pipeline(Made, "a.py:Made")
    found = {key: (each.default, each.annotation) for key, each in built.__signature__.parameters.items()}
    assert found == {"depth": (3, Any), "names": (["a"], list[Any]), "pair": ([1, 2], list[Any])}
    made = built(pair=[3, 4], depth=5)
    assert (made.pair, made.names, made.depth) == ((3, 4), ("a",), 5)
    assert built.__module__ == __name__


def test_each_pipeline_is_added_however_often_others_are_named(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}_of_edges.py").write_text(
            "class Make:\n    def fit(self, X, y): return self\n    def predict(self, X): return X\n"
        )
    names = [f"{name}_of_edges.py:Make" for name in "aab"]
    data = {"methods": [{"pipeline": each} for each in names]}
    found: Registries = BUILTIN_REGISTRIES.copied()
    add_pipelines(YamlSource(str(tmp_path / "mine.yaml"), data), found)
    assert list(found.pipelines.origins) == list(dict.fromkeys(names))
    for name, origin in found.pipelines.origins.items():
        assert origin.file == str(tmp_path / name.partition(":")[0])
        assert origin.place == f"{origin.file}:1"
        assert found.pipelines[name].make.__name__ == "Make"
    assert len({origin.digest for origin in found.pipelines.origins.values()}) == 2


@pytest.mark.parametrize(
    ("records", "plugins"),
    [
        ([], None),
        ([("kernels", "k", "")], None),
        ([("kernels", "k", "/x/a.py"), ("metrics", "m", ""), ("metrics", "n", "/x/a.py")], ["/x/a.py"]),
        ([("kernels", "k", "/x/b.py"), ("corpora", "c", "/x/a.py")], ["/x/b.py", "/x/a.py"]),
        ([("pipelines", "p.py:make", "/x/p.py")], None),
    ],
)
def test_files_of_a_finished_run_are_named_once_and_by_their_whole_path(
    records: list[tuple[str, str, str]], plugins: list[str] | None
) -> None:
    raw = {"name": "small", "plugins": ["old.py"], "methods": [{"pipeline": "p.py:make"}, {"pipeline": "q.py:make"}]}
    given = [dict(zip(("kind", "name", "file"), each, strict=True)) for each in records]
    found = with_plugin_paths(raw, iter(given))
    assert found.get("plugins") == plugins
    moved = "/x/p.py:make" if "p.py:make" in str(records) else "p.py:make"
    assert found["methods"] == [{"pipeline": moved}, {"pipeline": "q.py:make"}]
    assert raw["plugins"] == ["old.py"]
