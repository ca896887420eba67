"""What the tests of configurations share: a small one, and how a fragment of it is checked or refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from benchmark.config.experiment import check_experiment, read_config
from benchmark.config.model import BASE_VARIANT
from benchmark.papers.load import published_papers
from benchmark.plugins.discovery import BUILTIN_REGISTRIES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment, MethodSpec

#: Files beside a configuration that it may name.
FILES = {
    "t.csv": "text,label\n" + "".join(f"a,{'xy'[n % 2]}\n" for n in range(8)),
    "a.csv": "id,predicted\n",
    "p.csv": "id,label\n",
    "v.parquet": "",
    "a.npy": "",
}
#: A configuration by its top-level keys; a fragment's keys stand instead of these.
SMALL = {
    "name": "name: small\n",
    "corpus": "corpus: {name: synthetic}\n",
    "protocol": "protocol: {name: leave-one-group-out, held_out: [cornell, texas]}\n",
    "methods": "methods: [linear, ngd]\n",
}
#: A configuration that others extend.
BASE = """\
name: base
title: The base
notes: [of the base]
corpus: {name: synthetic, classes: [student, course]}
text: {digits: token}
expect: {documents: 330}
protocol: {name: k-fold, k: 3}
methods: [linear, ngd]
compare: [[ngd, linear]]
"""


@pytest.fixture(autouse=True)
def without_corpora(no_corpus_is_touched: None) -> None:
    """A configuration is checked without its corpus."""


@pytest.fixture(scope="session")
def read() -> Callable[[Path], Experiment]:
    """Read and check a file."""
    return lambda path: check_experiment(read_config(path), BUILTIN_REGISTRIES, published_papers())


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Write the small configuration, a fragment's top-level keys standing instead of its own."""

    def write(fragment: str = "", *, without: tuple[str, ...] = ()) -> Path:
        given = re.findall(r"^(\w+):", fragment, re.MULTILINE)
        path = tmp_path / "config.yaml"
        kept = [text for key, text in SMALL.items() if key not in (*given, *without)]
        path.write_text("".join(kept) + fragment, encoding="utf-8")
        for name, text in FILES.items():
            if not (tmp_path / name).exists():
                (tmp_path / name).write_text(text)
        return path

    return write


@pytest.fixture
def checked(written: Callable[..., Path], read: Callable[[Path], Experiment]) -> Callable[[str], Experiment]:
    """The experiment of a fragment."""
    return lambda fragment="": read(written(fragment))


@pytest.fixture
def ids(checked: Callable[[str], Experiment]) -> Callable[[str], list[str]]:
    """The ids of a fragment's cells."""
    return lambda fragment="": [cell.id for cell in checked(fragment).cells]


@pytest.fixture
def specs(checked: Callable[[str], Experiment]) -> Callable[[str], dict[str, tuple[MethodSpec, ...]]]:
    """The candidates of each method of a fragment, by its label."""
    return lambda fragment: {
        entry.label: entry.candidates for entry in checked(fragment).variants[BASE_VARIANT].entries
    }
