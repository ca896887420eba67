"""BibTeX of what a run stands on: papers, corpora, solvers, and this package."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from benchmark.config.model import method_of
from benchmark.corpora import registry
from benchmark.experiment.run_folder import read_manifest, read_run
from benchmark.papers.load import published_of_experiment
from benchmark.papers.published import PUBLISHED_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OURS = """@misc{{simplexbench,
  author = {{{{The simplexbench developers}}}},
  title = {{{{simplexbench: A reproducible benchmark of text classification}}}},
  note = {{{{version {version}{commit}}}}},
}}"""
_ENTRY = re.compile(r"^@\w+\{([^,\s]+),\n.*?^\}$", re.MULTILINE | re.DOTALL)
_KEYWORDS = re.compile(r"^ *keywords = \{(.*)\}", re.MULTILINE)


def cite_run(folder: Path) -> str:
    """Return the BibTeX of a run's papers, corpora, solvers and of this package, each once.

    Lines before the entries, which BibTeX skips, say what has no reference.

    Raises
    ------
    BenchError
        If the folder holds no finished run.
    DataError
        If its files are damaged.
    """
    experiment, manifest = read_run(folder).experiment, read_manifest(folder)
    cells = [cell for cell in experiment.cells if cell.what != "diagnostic"]
    specs = [spec for cell in cells for spec in method_of(experiment, cell).candidates]
    parts = [part.resolved for spec in specs for part in (spec.kernel, spec.classifier) if part is not None]
    components = sorted({name for part in parts for name in _names(part)})
    components += ["sklearn"] * any(name.startswith("sklearn.") for name in components)
    versions = ", ".join(f"{name} {number}" for name, number in manifest["versions"].items())
    remarks = [f"The references of the run {experiment.name}, which ran with {versions}."]
    paper, keys = published_of_experiment(experiment), list[str]()
    if paper is not None and not paper.reference_values:
        keys.append(paper.paper)
    keys += [key for key, entry in references().items() if keywords_of(entry).intersection(components)]
    for name in dict.fromkeys(variant.collection.corpus for variant in experiment.variants.values()):
        keys += [name] if name in registry.corpus_names() and registry.dataset_card(name).archives else []
    unknown = [key for key in keys if key not in references()]
    unknown += [name for name in components if "." in name and not name.startswith("sklearn.")]
    remarks += [f"{name} has a reference of its own, which isn't known here." for name in unknown]
    commit = f", commit {manifest['git']['commit']}" if manifest["git"] else ""
    ours = _OURS.format(version=manifest["versions"]["simplexbench"], commit=commit)
    # BibTeX takes @ for the beginning of an entry, even in a comment.
    head = "\n".join(f"% {remark.replace('@', ' at ')}" for remark in remarks)
    return "\n\n".join([head, *(references()[key] for key in dict.fromkeys(keys) if key in references()), ours])


@cache
def references() -> dict[str, str]:
    """Return the entries of `results/published/references.bib` by their keys, in the order of the file."""
    text = (PUBLISHED_FOLDER / "references.bib").read_text(encoding="utf-8")
    return {match[1]: match[0] for match in _ENTRY.finditer(text)}


def keywords_of(entry: str) -> set[str]:
    """Return the kernels and classifiers that an entry stands for: those that it proposes or trains."""
    return {word for words in _KEYWORDS.findall(entry) for word in words.split(", ")}


def _names(value: Any) -> Iterator[str]:
    """Yield the names in a component's parameters; `base` names the kernel that another one is made of."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("name", "base") and isinstance(inner, str):
                yield inner
            yield from _names(inner)
