"""References of a run: BibTeX that a reader of BibTeX reads, each once, and nothing in it that the data don't say."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from benchmark.classifiers import CLASSIFIERS
from benchmark.commands import cite
from benchmark.commands.cite import cite_run, keywords_of, references
from benchmark.corpora import registry
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.run_folder import read_manifest
from benchmark.experiment.store import Store
from benchmark.kernels import KERNELS
from benchmark.papers.load import load_published, published_papers
from benchmark.papers.published import PUBLISHED_FOLDER
from tests.builders import small_experiment

pytestmark = pytest.mark.usefixtures("sketched", "users_code_here")
#: Classifiers that train without a library's solver.
WITHOUT_SOLVER = {"ppt", "eef", "divergence-bayes", "born", "twcnb"}
REQUIRED = {
    "inproceedings": {"author", "title", "booktitle", "year"},
    "article": {"author", "title", "journal", "year"},
    "misc": set(),
}


def parse(text):
    """Kind and fields of each entry by its key. Braces are in pairs, and no @ stands outside: BibTeX reads both."""
    found = {}
    for kind, key, body in re.findall(r"^@(\w+)\{([\w:-]+),\n(.*?)^\}$", text, re.MULTILINE | re.DOTALL):
        fields = dict(re.findall(r"^ *(\w+) = \{(.*?)\},?$", body, re.MULTILINE | re.DOTALL))
        fields.pop("keywords", None)
        assert body.count("{") == body.count("}")
        assert key not in found
        assert set(fields) >= REQUIRED[kind]
        found[key] = (kind, fields)
    assert len(re.findall(r"@\w+\{", text)) == len(found)
    return found


def words(text):
    """Its words, without markup and dots of initials."""
    return set(re.findall(r"\w+", re.sub(r"\\url|[{}\\]", "", text)))


@pytest.mark.parametrize("paper", [name for name in published_papers() if name != "reference-values"])
def test_a_paper_has_what_its_file_says_and_no_more(paper):
    (_, fields) = parse(references()[paper])[paper]
    reference = words(load_published(PUBLISHED_FOLDER / f"{paper}.yaml").reference)
    assert words(" ".join(fields.values())) - {"and"} <= reference
    assert reference - words(" ".join(fields.values())) <= {"and"}


@pytest.mark.parametrize("name", [name for name in registry.corpus_names() if registry.dataset_card(name).archives])
def test_a_corpus_has_what_its_card_says_and_no_more(name):
    (_, fields) = parse(references()[name])[name]
    assert words(" ".join(fields.values())) - {"and"} <= words(registry.dataset_card(name).citation)


def test_every_classifier_has_its_solver_or_none():
    known = {word for entry in references().values() for word in keywords_of(entry)} - {"sklearn"}
    assert known <= CLASSIFIERS.keys() | KERNELS.keys()
    assert known | WITHOUT_SOLVER >= CLASSIFIERS.keys()


def test_a_run_cites_what_it_uses_and_nothing_else(finished, monkeypatch):
    found = parse(cite_run(finished.folder))
    assert list(found) == ["zhang2005", "libsvm", "simplexbench"]  # NGD and linear, on the generated corpus
    assert version("simplexbench") in found["simplexbench"][1]["note"]
    citation = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8"))
    assert found["simplexbench"][1]["author"] == "{" + citation["authors"][0]["name"] + "}"
    manifest = read_manifest(finished.folder) | {"versions": {"simplexbench": "1.0"}, "git": {"commit": "abc"}}
    monkeypatch.setattr(cite, "read_manifest", lambda _: manifest)
    assert parse(cite_run(finished.folder))["simplexbench"][1]["note"] == "{version 1.0, commit abc}"


def test_classes_by_import_path_cite_their_library_and_what_is_not_known_is_named(tmp_path, publish):
    names = ("sklearn.tree.DecisionTreeClassifier", "lightgbm.LGBMClassifier")
    methods = [{"weighting": "tf", "classifier": {"name": name}} for name in names]
    paper = publish({"paper": "own2026", "finding": "none", "title": "Own", "reference": "A. Nobody.", "values": []})
    context = RunContext(Store(tmp_path / "store", limit=10**9))
    run_and_write(small_experiment(paper=paper, methods=methods), context, folder=tmp_path / "run")
    text = cite_run(tmp_path / "run")
    assert set(parse(text)) == {"scikit-learn", "simplexbench"}
    for name in ("lightgbm.LGBMClassifier", "own2026"):
        assert f"\n% {name} has a reference of its own, which isn't known here." in text
