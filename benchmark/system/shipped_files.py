"""Files that come with the package: configurations, dataset cards, published values, predictions, pinned numbers.

In a checkout they are the folders beside the package; in an installed package they lie in its folder `shipped`. A file
of the user's goes before one of the same name here.
"""

from __future__ import annotations

from pathlib import Path

from benchmark.system.errors import ConfigError, did_you_mean

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "shipped"
#: Folder of the checkout that the package runs from; None for a package that was installed from a wheel.
CHECKOUT = None if _INSTALLED.is_dir() else _PACKAGE.parent
#: Folder of the folders that are shipped.
SHIPPED = CHECKOUT or _INSTALLED
#: Folder of configurations.
CONFIGS_FOLDER = SHIPPED / "configs"


def lookup_folders(folder: Path) -> list[Path]:
    """Return the folders that a file is looked up in: the user's, below the current folder, before the shipped one.

    Parameters
    ----------
    folder : Path
        Folder below `SHIPPED`, such as `CONFIGS_FOLDER`; any other is the only one.
    """
    if not folder.is_relative_to(SHIPPED):
        return [folder]
    below = folder.relative_to(SHIPPED)
    return [below] if below.resolve() == folder else [below, folder]


def shipped_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files of the `lookup_folders` that match a pattern, by name; of two of one name, the user's."""
    found = {path.name: path for lookup in reversed(lookup_folders(folder)) for path in lookup.glob(pattern)}
    return [path for _, path in sorted(found.items())]


def find_shipped(folder: Path, name: str) -> Path:
    """Return the path of a file in the first of the `lookup_folders` that has it; its shipped path if none has it."""
    return next((path for lookup in lookup_folders(folder) if (path := lookup / name).exists()), folder / name)


def path_to_write(folder: Path, name: str) -> Path:
    """Return the path that a file is written to: where it is found, or else in the checkout or the user's folder."""
    return find_shipped(folder, name) if CHECKOUT is not None else lookup_folders(folder)[0] / name


def find_configuration(path: Path) -> Path:
    """Return the path of a configuration from its path or name; a path that isn't found is returned as it is.

    Parameters
    ----------
    path : Path
        A path, or the name of a file in `configs` below the current folder, or else of one that came with the package,
        or else of a file here: tickets is tickets.yaml. The path ``configs/webkb.yaml`` is the name webkb if there is
        no such file.

    Raises
    ------
    ConfigError
        There is no configuration of this name.
    """
    if path.exists():
        return path
    name = path.stem if path.parent == Path("configs") and path.suffix == ".yaml" else str(path)
    known = {config.stem: config for config in (*Path().glob("*.yaml"), *shipped_files(CONFIGS_FOLDER, "*.yaml"))}
    if name in known or path.name != str(path) or path.suffix:
        return known.get(name, path)
    raise ConfigError(
        f"{path}: there is no such file, and no configuration of this name here, in configs or in the package"
        f"{did_you_mean(name, known)}"
    )
