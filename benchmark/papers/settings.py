"""Flat settings of cells, compared with the settings pinned for a paper's published values.

A published value belongs to one setting: documents, text, weighting, normalization, kernel, classifier and protocol.
Under another setting, the same cell of the same configuration neither confirms nor contradicts it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmark.config.model import BASE_VARIANT, method_of
from benchmark.papers import published as papers
from benchmark.papers.load import cells_by_configuration, published_of_experiment
from benchmark.papers.published_verdicts import Exclusion
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import ConfigError
from benchmark.system.shipped_files import find_shipped, path_to_write

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.config.model import Cell, Experiment, MethodSpec, Variant

    FlatSetting = dict[str, Any]

#: Parameters of kernels and classifiers that are not compared with the paper's.
_SILENT = ("seed",)
_SHOWN = 3


def excluded_cells(experiment: Experiment) -> dict[tuple[str, str], Exclusion]:
    """Return the cells excluded from verdicts, by (configuration, cell).

    They are those tuned to the published value, and those under another setting than the paper's.
    """
    found = dict[tuple[str, str], Exclusion]()
    path = _path(experiment.paper) if experiment.paper and experiment.own_paper is None else None
    known: dict[str, FlatSetting] = {}
    if path is not None and path.exists():
        for group in json.loads(path.read_text(encoding="utf-8")).get(experiment.name, []):
            known |= dict.fromkeys(group["cells"], group["setting"])
    for cell in experiment.cells:
        differences = setting_differences(flat_setting(experiment, cell), known[cell.id]) if cell.id in known else []
        if differences:
            more = f" and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
            found[experiment.name, cell.id] = Exclusion(
                "another setting", f"not the paper's setting: {', '.join(differences[:_SHOWN])}{more}"
            )
    known_exclusions = dict(found)
    for variant in experiment.readings:  # only the configuration itself has pinned settings
        if variant != BASE_VARIANT:
            found |= {(name, f"{variant}-{cell}"): why for (name, cell), why in known_exclusions.items()}
    tuned = {(experiment.name, cell): Exclusion("tuned", choice) for cell, choice in experiment.tuned_cells.items()}
    return found | tuned


def setting_differences(setting: FlatSetting, paper: FlatSetting) -> list[str]:
    """Describe the differences from the paper's setting, "C 3 (paper 1)", for the keys that the paper's has."""
    return [
        f"{key} {setting_text(setting.get(key))} (paper {setting_text(paper[key])})"
        for key in paper
        if setting.get(key) != paper[key]
    ]


def flat_setting(experiment: Experiment, cell: Cell) -> FlatSetting:
    """Return everything that decides a cell's numbers as a flat dict of JSON values."""
    variant = experiment.variants[cell.variant]
    collection = variant.collection
    found: FlatSetting = {"corpus": collection.corpus, "subset": collection.subset, "exclude": collection.exclude}
    found |= collection.text.flat | _named("protocol", variant.protocol.resolved, "protocol ")
    if variant.terms:
        found |= {"terms ranked by": variant.terms.rank, "terms aggregate": variant.terms.aggregate}
    found["task"] = next((task for task in variant.tasks if task.name == cell.task), variant.tasks[0]).classes
    if cell.what == "diagnostic":
        for diagnostic in experiment.diagnostics:
            found |= {f"{diagnostic.name} {key}": value for key, value in diagnostic.resolved.items()}
    else:
        each = [_of_method(spec, variant) for spec in method_of(experiment, cell).candidates]
        for key, value in each[0].items():  # a list of the values where candidates differ
            alike = all(one.get(key) == value for one in each)
            found[key] = value if alike else [one.get(key) for one in each]
        if cell.choice:
            found["folds"] = None if experiment.inner is None else experiment.inner.given.get("k")
    plain: FlatSetting = json.loads(json.dumps(found))
    return plain


def _of_method(spec: MethodSpec, variant: Variant) -> FlatSetting:
    points = spec.representation.resolved
    points["weights of fields"] = points.pop("fields")  # texts have a key `fields`, too
    unused = {key for key in ("features", "weights of fields") if not points[key]}
    unused |= set() if spec.representation.learns else {"idf"}
    found = (spec.text or variant.collection.text).flat | {k: value for k, value in points.items() if k not in unused}
    for name, part in (("kernel", spec.kernel), ("classifier", spec.classifier)):
        found |= _named(name, part.resolved) if part else {}
    return {key: value for key, value in found.items() if key not in _SILENT}


def _named(name: str, resolved: FlatSetting, prefix: str = "") -> FlatSetting:
    """Return the parameters of a component; its name is called `name`."""
    return {name if key == "name" else f"{prefix}{key}": value for key, value in resolved.items()}


def pin_settings(experiment: Experiment) -> tuple[Path, int]:
    """Write the settings of the cells that the paper's file names, and return the file and the number of cells.

    Raises
    ------
    ConfigError
        If the configuration has no paper, or the paper's file names none of its cells.
    """
    published = published_of_experiment(experiment) if experiment.paper else None
    if published is None or experiment.own_paper is not None:
        problem = "has no paper of results/published, and only those have pinned settings; values of a file beside the "
        raise ConfigError(f"{experiment.name}: {problem}configuration apply to it as it stands")
    named = {cell for config, cells in cells_by_configuration(published) if config == experiment.name for cell in cells}
    groups: dict[str, list[str]] = {}
    for cell in experiment.cells:
        if cell.id in named:
            groups.setdefault(json.dumps(flat_setting(experiment, cell), ensure_ascii=False), []).append(cell.id)
    if not groups:
        raise ConfigError(f"{experiment.name}: the file of {experiment.paper} names none of its cells")
    found = _path(experiment.paper or "")
    known = json.loads(found.read_text(encoding="utf-8")) if found.exists() else {}
    path = path_to_write(papers.PUBLISHED_FOLDER, found.name)
    known[experiment.name] = [{"cells": cells, "setting": json.loads(text)} for text, cells in groups.items()]
    parts = []
    for name in sorted(known):
        lines = ",\n  ".join(json.dumps(group, ensure_ascii=False) for group in known[name])
        parts.append(f" {json.dumps(name)}: [\n  {lines}\n ]")
    write_atomically(path, ("{\n" + ",\n".join(parts) + "\n}\n").encode())
    return path, sum(map(len, groups.values()))


def _path(paper: str) -> Path:
    return find_shipped(papers.PUBLISHED_FOLDER, f"{paper}.settings.json")


def setting_text(value: Any) -> str:
    """Write a value of a configuration without Python's notation.

    Examples
    --------
    >>> setting_text(True), setting_text(None), setting_text(["cornell", "texas"]), setting_text({"C": 1.0})
    ('yes', 'none', 'cornell, texas', 'C 1')
    """
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, dict):
        return ", ".join(f"{key} {setting_text(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(setting_text, value)) or "none"
    return f"{value:.12g}" if isinstance(value, float) else str(value)
