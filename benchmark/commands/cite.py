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
from benchmark.report.escapes import latex_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmark.config.model import Experiment

AUTHOR = "The simplexbench developers"
#: Solvers by the classifiers that call them; classifiers without an entry call none.
SOLVERS = {
    "svm": ("libsvm",),
    "linear-svm": ("liblinear", "scikit-learn"),
    "nb-svm": ("liblinear", "scikit-learn"),
    "streamed-svm": ("scikit-learn",),
    "logistic": ("scikit-learn",),
    "mnb": ("scikit-learn",),
    "complement-nb": ("scikit-learn",),
}
#: The paper of this package that proposes a kernel or classifier.
METHOD_PAPERS = {
    "ngd": "zhang2005",
    "diffusion": "lafferty2002",
    "heat": "lafferty2002",
    "hyperbolic": "lafferty2002",
    "hp-top": "takamura2004",
    "eef": "tang2016",
    "divergence-bayes": "chen2018",
}
_ENTRY = re.compile(r"^@\w+\{([^,\s]+),\n.*?^\}$", re.MULTILINE | re.DOTALL)


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
    components = set(_components(experiment))
    entries, remarks = _papers(experiment, components)
    of_corpora, of_documents = _corpora(experiment)
    entries |= of_corpora
    solvers = (solver for name in sorted(components) for solver in _solvers(name))
    entries |= {solver: references()[solver] for solver in solvers}
    entries["simplexbench"] = _package(manifest)
    remarks += [*of_documents, *library_remarks(components)]
    versions = ", ".join(f"{name} {number}" for name, number in manifest["versions"].items())
    remarks = [f"The references of the run {experiment.name}, which ran with {versions}.", *remarks]
    # BibTeX takes @ for the beginning of an entry, even in a comment.
    head = "\n".join(f"% {remark.replace('@', ' at ')}" for remark in remarks)
    return "\n\n".join([head, *entries.values()])


@cache
def references() -> dict[str, str]:
    """Return the entries of `results/published/references.bib` by their keys, in the order of the file."""
    text = (PUBLISHED_FOLDER / "references.bib").read_text(encoding="utf-8")
    return {match[1]: match[0] for match in _ENTRY.finditer(text)}


def _components(experiment: Experiment) -> Iterator[str]:
    """Yield the names of the kernels and classifiers of the run's cells, those inside other kernels among them."""
    for cell in experiment.cells:
        if cell.what != "diagnostic":
            for spec in method_of(experiment, cell).candidates:
                for part in (spec.kernel, spec.classifier):
                    yield from () if part is None else _names(part.resolved)


def _names(value: Any) -> Iterator[str]:
    """Yield the names in a component's parameters; `base` names the kernel that another one is made of."""
    if isinstance(value, dict):
        for key, own in value.items():
            if key in ("name", "base") and isinstance(own, str):
                yield own
            yield from _names(own)


def library_remarks(components: set[str]) -> list[str]:
    """Return a remark on each class that is named by the import path of a library without an entry here."""
    paths = sorted(name for name in components if "." in name and not _solvers(name))
    return [f"The classifier {path} is of another library, which has a reference of its own." for path in paths]


def _solvers(classifier: str) -> tuple[str, ...]:
    return ("scikit-learn",) if classifier.startswith("sklearn.") else SOLVERS.get(classifier, ())


def _papers(experiment: Experiment, components: set[str]) -> tuple[dict[str, str], list[str]]:
    """Return the entries of the papers that the run is compared with, or whose methods it uses; and remarks."""
    found, remarks = dict[str, str](), list[str]()
    paper = published_of_experiment(experiment)
    if paper is not None and paper.reference_values:
        remarks.append(f"Each reference value has a source of its own: results/published/{paper.paper}.yaml.")
    elif paper is not None:
        found[paper.paper] = references().get(paper.paper) or _misc(paper.paper, paper.title, note=paper.reference)
    keys = sorted({METHOD_PAPERS[name] for name in components & METHOD_PAPERS.keys()})
    return found | {key: references()[key] for key in keys}, remarks


def _corpora(experiment: Experiment) -> tuple[dict[str, str], list[str]]:
    """Return the entries of the package's corpora, and a remark on each corpus that has no reference."""
    found, remarks = dict[str, str](), list[str]()
    for name in dict.fromkeys(variant.collection.corpus for variant in experiment.variants.values()):
        card = registry.dataset_card(name) if name in registry.corpus_names() else None
        if card is None:
            remarks.append(f"The documents of the corpus {name} come from its user, and have no reference here.")
        elif not card.archives:
            remarks.append(f"The corpus {name} is generated by simplexbench.")
        else:
            found[name] = references().get(name) or _misc(name, card.title, note=card.citation)
    return found, remarks


def _package(manifest: dict[str, Any]) -> str:
    """Return the entry of this package, in the version that made the run."""
    note, git = f"version {manifest['versions']['simplexbench']}", manifest.get("git", {})
    installed = manifest.get("direct_url", {}).get("vcs_info", {}).get("commit_id")
    git = git or ({"commit": installed, "changed": False} if installed else {})
    if "commit" in git:
        note += f", commit {git['commit']}{' with changes' * bool(git['changed'])}"
    title = "simplexbench: A reproducible benchmark of text classification"
    return _misc("simplexbench", title, author=AUTHOR, note=note)


def _misc(key: str, title: str, **fields: str) -> str:
    """Return an entry of texts that are no LaTeX, each in braces, so that no word of it is split or lowered."""
    texts = {"title": title, **fields}
    lines = [f"  {name} = {{{{{_bibtex_text(text)}}}}}" for name, text in texts.items()]
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"


def _bibtex_text(text: str) -> str:
    r"""Escape LaTeX's special characters. A brace gets a name, because BibTeX counts those after a backslash, too."""
    return latex_text(text).replace(r"\{", r"\textbraceleft{}").replace(r"\}", r"\textbraceright{}")
