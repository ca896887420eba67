"""A run as an RO-Crate of the profile Process Run Crate: its files, and what made them, for archives and registries."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.analysis.summary import SUMMARY_TABLES
from benchmark.commands.rerun import RECEIPT_FILE
from benchmark.corpora import registry
from benchmark.evaluation.predictions import RUN_FILES
from benchmark.experiment.run_folder import MANIFEST_FILE, read_manifest, read_run
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.config.model import Experiment

_PACKAGE = "simplexbench"
METADATA_FILE, CONFIGURATION_FILE = "ro-crate-metadata.json", "configuration.yaml"
RO_CRATE = "https://w3id.org/ro/crate/1.1"
PROCESS_RUN = "https://w3id.org/ro/wfrun/process/0.5"
#: A crate must have a licence, and only who publishes it can give one.
LICENCE = "Whoever publishes this run states its licence. The corpora have terms of use of their own."
_TABLES = ("table.md", "table.csv", "table.tex", "table-macros.tex", "curves.csv")
_FORMATS = {
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".tex": "application/x-tex",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".npz": "application/zip",
}


def ro_crate(folder: Path, out: Path) -> dict[str, bytes]:
    """Return the files of a run's crate by name: those of the run folder, its configuration, and the metadata.

    The page is left out: it may hold texts of documents, which not everyone may pass on.

    Raises
    ------
    BenchError
        If the folder holds no finished run.
    ConfigError
        If `out` holds another run.
    DataError
        If the run is damaged.
    """
    experiment, manifest = read_run(folder).experiment, read_manifest(folder)
    there = out / MANIFEST_FILE
    if there.exists() and there.read_bytes() != (folder / MANIFEST_FILE).read_bytes():
        raise ConfigError(f"{out}: holds another run; name another folder with --out")
    files = {name: (folder / name).read_bytes() for name in _names(experiment) if (folder / name).is_file()}
    files[CONFIGURATION_FILE] = yaml.safe_dump(manifest["config"], sort_keys=False, allow_unicode=True).encode()
    graph = {"@context": f"{RO_CRATE}/context", "@graph": _graph(experiment, manifest, files)}
    # A name that isn't UTF-8 is an escape of JSON's.
    metadata = json.dumps(graph, indent=1, ensure_ascii=False) + "\n"
    return {**files, METADATA_FILE: metadata.encode(errors="backslashreplace")}


def _names(experiment: Experiment) -> list[str]:
    """Return the names of the files that a run may write and that hold no texts."""
    figures = [
        f"{name}.{kind}" for name in ("figure", *(f.name for f in experiment.figures)) for kind in ("png", "svg")
    ]
    return [MANIFEST_FILE, *RUN_FILES, *_TABLES, *(f"{name}.csv" for name in SUMMARY_TABLES), *figures, RECEIPT_FILE]


def _graph(experiment: Experiment, manifest: dict[str, Any], files: dict[str, bytes]) -> list[dict[str, Any]]:
    """Return the entities of the crate: the descriptor, the run folder, the run, the program, corpora and files."""
    versions, end = manifest["versions"], datetime.fromisoformat(manifest["finished"])
    start = end - timedelta(seconds=round(manifest["seconds"]))
    corpora, program = _corpora(experiment, manifest), _program(versions)
    results = [_reference(name) for name in files if name != CONFIGURATION_FILE]
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Run of {experiment.name}",
        "description": f"Trains and tests {len(experiment.ids)} cells: {' '.join(manifest['command'])}",
        "instrument": _reference(program[0]["@id"]),
        "object": [_reference(CONFIGURATION_FILE), *(_reference(each["@id"]) for each in corpora)],
        "result": results,
        "startTime": start.isoformat(),
        "endTime": end.isoformat(),
        "actionStatus": "http://schema.org/CompletedActionStatus",
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": experiment.title,
        "description": f"Results of the experiment {experiment.name}, computed by {_PACKAGE} {versions[_PACKAGE]}",
        "datePublished": end.isoformat(),
        "license": LICENCE,
        "conformsTo": _reference(PROCESS_RUN),
        "hasPart": [_reference(name) for name in files],
        "mentions": _reference("#run"),
    }
    descriptor = {"@id": METADATA_FILE, "@type": "CreativeWork", "about": _reference("./")}
    profile = {"@id": PROCESS_RUN, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    of_files = [_file(name, content) for name, content in files.items()]
    return [descriptor | {"conformsTo": _reference(RO_CRATE)}, root, profile, run, *program, *corpora, *of_files]


def _reference(name: str) -> dict[str, str]:
    return {"@id": name}


def _program(versions: dict[str, str]) -> list[dict[str, Any]]:
    """Return the entities of this package and of the libraries that its results depend on, in the run's versions."""
    libraries = []
    for name, number in versions.items():
        if name != _PACKAGE:
            address = f"https://pypi.org/project/{name}/{number}/" if name != "python" else "https://www.python.org/"
            libraries.append(_software(name, number) | {"@id": address, "url": address})
    needs = [_reference(each["@id"]) for each in libraries]
    return [_software(_PACKAGE, versions[_PACKAGE]) | {"softwareRequirements": needs}, *libraries]


def _software(name: str, number: str) -> dict[str, Any]:
    return {"@id": f"#{name}", "@type": "SoftwareApplication", "name": name, "softwareVersion": number}


def _corpora(experiment: Experiment, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return an entity for each corpus that the run read, with its digest; a known corpus has what its card says."""
    found = {}
    for name, variant in experiment.variants.items():
        corpus, facts = variant.collection.corpus, manifest["variants"][name]
        digest = facts.get("content_digest", "")
        # One corpus may be read twice in one run, of different files.
        key = f"#corpus-{corpus}-{digest[:12]}"
        entity: dict[str, Any] = {"@id": key, "@type": "CreativeWork", "name": corpus}
        entity |= {"identifier": f"sha256:{digest}"} if digest else {}
        if corpus in registry.corpus_names():
            card = registry.dataset_card(corpus)
            entity |= {"name": card.title, "description": f"Terms of use: {' '.join(card.licence.split())}"}
            entity |= {"url": card.addresses[0]} if card.addresses else {}
        found[key] = entity
    return list(found.values())


def _file(name: str, content: bytes) -> dict[str, Any]:
    """Return the entity of a file."""
    suffix = name[name.rindex(".") :]
    return {
        "@id": name,
        "@type": "File",
        "name": name,
        "encodingFormat": _FORMATS[suffix],
        "contentSize": str(len(content)),
    }
