"""Registries of a configuration whose code isn't run: classes of files and packages are known by their names alone."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.plugins.import_paths import imported_class, module_place
from benchmark.plugins.pipelines import imported_pipeline, pipelines_of_files
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.registries import PACKAGE
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmark.config.model import Experiment
    from benchmark.config.registries import Registries
    from benchmark.system.registries import Registry
    from benchmark.system.yaml_source import Location, YamlSource

#: The package whose classes are imported all the same: its own code is trusted as a dependency.
_TRUSTED = "sklearn"
#: Kinds of components whose parameters alone a configuration is checked for.
_OUTLINED = ("kernels", "classifiers", "weightings", "features", "thresholds")


class UncheckedComponent:
    """Stands for a class whose code isn't run; takes any parameters."""

    tags: ClassVar[Tags] = Tags()
    #: What a weighting learns from isn't known.
    learns: ClassVar[str] = ""

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters


class UncheckedPipeline(UncheckedComponent):
    """Stands for what makes a pipeline."""

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False, reads_texts=True)


# Classes of this package have the parameters of their signatures alone; those of others may hand on any.
for _cls in (UncheckedComponent, UncheckedPipeline):
    _cls.__module__ = "unchecked"


def outlined_registries(source: YamlSource) -> Registries:
    """Return the components that a configuration can name, those of users' code without running it.

    Raises
    ------
    ConfigError
        At a plug-in's file that can't be read or isn't Python, and at a function that its file doesn't define.
    """
    found = BUILTIN_REGISTRIES.copied()
    found.classifiers.find, found.pipelines.find = _classifier, _pipeline
    given = source.data.get("plugins") if isinstance(source.data, dict) else None
    for index, name in enumerate(given if isinstance(given, list) else []):
        place: Location = ("plugins", index)
        if isinstance(name, str):
            try:
                _add_names(_parsed(source.folder(place) / Path(name).expanduser()), name, found)
            except ConfigError as error:
                raise source.error(place, str(error)) from None
    for place, name in pipelines_of_files(source.data):
        file, _, function = name.rpartition(":")
        try:
            defined = _defined(_parsed(source.folder(place) / Path(file).expanduser()))
        except ConfigError as error:
            raise source.error(place, str(error)) from None
        if function not in defined:
            raise source.error(place, f"{file}: {unknown_name('function or class:', function, sorted(defined))}")
        found.pipelines[name] = UncheckedPipeline
    return found


def unchecked_names(experiment: Experiment) -> list[str]:
    """Return the components of an experiment that stand for code which wasn't run, in order."""
    specs = (spec for variant in experiment.variants.values() for entry in variant.entries for spec in entry.candidates)
    parts = (part for spec in specs for part in spec.components)
    return list(dict.fromkeys(part.name for part in parts if issubclass(part.cls, UncheckedComponent)))


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise ConfigError(f"{path}: can't be read as Python: {error}") from None


def _add_names(tree: ast.Module, file: str, found: Registries) -> None:
    """Add stand-ins of the components that the top level of a plug-in's file names in literal mappings."""
    kinds = {kind.upper(): kind for kind, _ in found.each()}
    for target, value in _assigned(tree):
        if target not in kinds or not isinstance(value, ast.Dict):
            continue
        registry: Registry = getattr(found, kinds[target])
        for key in value.keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                if kinds[target] in _OUTLINED:
                    registry[key.value] = UncheckedComponent
                else:
                    what = f"{key.value!r} is of {file}, whose code isn't run here"
                    registry.broken[key.value] = f"{what}: `bench plan` checks such a configuration"


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                yield target.id, node.value


def _defined(tree: ast.Module) -> set[str]:
    """Return the names that the top level of a file defines or imports."""
    named = {target for target, _ in _assigned(tree)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            named.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            named |= {alias.asname or alias.name for alias in node.names}
    return named


def _classifier(path: str) -> type[Any]:
    return _of_path(path, UncheckedComponent, imported_class)


def _pipeline(path: str) -> type[Any]:
    return _of_path(path, UncheckedPipeline, imported_pipeline)


def _of_path(path: str, stand_in: type[Any], find: Callable[[str], type[Any]]) -> type[Any]:
    """Return the class of an import path of scikit-learn or of this package, and what stands for that of another."""
    module_place(path)
    return find(path) if path.partition(".")[0] in (_TRUSTED, PACKAGE) else stand_in
