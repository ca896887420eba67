"""Mistakes of a first configuration: the message says what to write instead, at the line to mend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from benchmark.analysis.caveats import find_caveats
from benchmark.system.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment

METHOD = "methods:\n  - "
MISTAKES = [
    (
        f"{METHOD}{{kernel: linear, classifier: {{c: 1}}}} # HERE\n",
        "unknown parameter of the classifier 'svm': 'c'; did",
    ),
    (f"{METHOD}{{kernel: linear, classifier: {{c: 1}}}} # HERE\n", "did you mean 'C'?"),
    ("k: 3 # HERE\n", "the key 'k' belongs under `protocol`, not beside it"),
    ("C: 3 # HERE\n", "the key 'C' belongs under `defaults`, not beside it"),
    ("stoplist: none # HERE\n", "the key 'stoplist' belongs under `text`, not beside it"),
    ("text:\n  folds: 3 # HERE\n", "unknown key 'folds'; did you mean 'fields'? (allowed: lexer, "),
    ("choose:\n  by: oracle\n  C: 3 # HERE\n", "unknown key 'C' (allowed: by, folds, grouped, grid_keys)"),
    ("number: 3 # HERE\n", "the key 'number' belongs under `terms`, not beside it"),
    ("folds: 3 # HERE\n", "the key 'folds' belongs under `choose`, not beside it"),
    ("subset: several # HERE\n", "the key 'subset' belongs under `corpus`, not beside it"),
    (
        f"{METHOD}ngd: {{classifier: svm}} # HERE\n",
        "'ngd' is a kernel: write {kernel: ngd} or {kernel: {name: ngd, …}}",
    ),
    (f"{METHOD}{{mnb: {{smoothing: 1}}}} # HERE\n", "'mnb' is a classifier: write {classifier: mnb} or"),
    (
        f"{METHOD}{{features: hellinger, kernel: ngd, classifier: mnb}} # HERE\n",
        "leave out `kernel`, or name that class",
    ),
    ("methods: [quite-another] # HERE\n", "if it is your own, list its file under `plugins`"),
    (f"{METHOD}{{classifier: forest}} # HERE\n", "if it is your own, list its file under `plugins`"),
    ("methods: # HERE\n", "methods is empty here: a method is a name, or a mapping"),
    ("text: {min_documents: 100000} # HERE\n", "min_documents is 100,000, and there are 600 documents"),
    ("metrics: [f1] # HERE\n", "'f1' is of one class; macro-f1 is its mean over the classes: take that"),
    (
        f"{METHOD}{{name: no, kernel: ngd}} # HERE\n",
        "YAML reads yes, no, on and off as true and false: put it in quotes",
    ),
]


@pytest.mark.parametrize(("fragment", "said"), MISTAKES)
def test_what_to_write_instead_is_said(refusal: Callable[[str], str], fragment: str, said: str) -> None:
    assert said in refusal(fragment)


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        ("leave-one-group-out", "the documents have no groups to leave out: name their column under `corpus`"),
        ("fixed-split", "the documents have no parts such as train and test: name their column under `corpus`"),
    ],
)
def test_a_protocol_of_groups_asks_for_their_column(
    tmp_path: Path, written: Callable[..., Path], read: Callable[[Path], Experiment], protocol: str, said: str
) -> None:
    (tmp_path / "t.csv").write_text("text,label,who\n" + "".join(f"word{n},{'ab'[n % 2]},{n % 3}\n" for n in range(9)))
    corpus = "corpus: {name: files, path: t.csv}\n"
    path = written(f"{corpus}protocol: {{name: {protocol}}}\n")
    with pytest.raises(ConfigError) as raised:
        read(path)
    assert str(raised.value).startswith(
        f"{path}:{path.read_text().splitlines().index(f'protocol: {{name: {protocol}}}') + 1}: "
    )
    assert said in str(raised.value)
    grouped = corpus.replace("t.csv", "t.csv, group: who")
    assert read(written(f"{grouped}protocol: {{name: leave-one-group-out}}\n")).ids


def test_a_column_that_the_file_lacks_is_refused_at_its_key(
    tmp_path: Path, written: Callable[..., Path], read: Callable[[Path], Experiment]
) -> None:
    (tmp_path / "t.csv").write_text("body,queue\nx,a\ny,b\n")
    path = written("corpus:\n  name: files\n  path: t.csv\n  label: queue\n  text: boddy\n")
    with pytest.raises(DataError) as raised:
        read(path)
    line = path.read_text().splitlines().index("  text: boddy") + 1
    assert str(raised.value).startswith(f"{path}:{line}: text: ")
    assert str(raised.value).endswith("has no column 'boddy'; did you mean 'body'? (columns: body, queue)")


def test_a_mistake_of_a_file_that_is_extended_names_the_file_that_extends_it(
    written: Callable[..., Path], read: Callable[[Path], Experiment]
) -> None:
    path = written("compare:\n  - [linear, ngd]\n")
    child = path.with_name("child.yaml")
    child.write_text("extends: config\nname: child\nmethods: [mnb]\n")
    with pytest.raises(ConfigError) as raised:
        read(child)
    assert str(raised.value).startswith(f"{path}:")
    assert str(raised.value).endswith("(in child.yaml, which extends this file)")


@pytest.mark.parametrize(("ngrams", "noted"), [("2", True), ("[2, 3]", True), ("1", False), ("[1, 2]", False)])
def test_pairs_without_words_are_noted(checked: Callable[[str], Experiment], ngrams: str, noted: bool) -> None:
    leaks = pd.DataFrame(columns=["leak", "cell", "metric"])
    names = [caveat.name for caveat in find_caveats(checked(f"text: {{ngrams: {ngrams}}}\n"), leaks, leaks)]
    assert ("ngrams" in names) == noted
