"""Mutants of all configurations and of what papers printed, through what `bench validate` calls."""

from __future__ import annotations

import functools
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from mutations import YAML_TOKENS, mutated_bytes, mutated_lines, mutated_tree
from trial import REPOSITORY, Family, chance, in_turn, unclear

from benchmark.errors import ConfigError
from benchmark.evaluation import published
from benchmark.experiment.session import checked
from benchmark.findings import papers

if TYPE_CHECKING:
    from random import Random

CONFIGS, PAPERS = REPOSITORY / "configs", REPOSITORY / "results" / "published"
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@functools.cache
def _folder() -> Path:
    """A copy of all configurations and papers, of this process's own; papers are looked for there from now on."""
    folder = Path(tempfile.mkdtemp())
    shutil.copytree(CONFIGS, folder / "configs")
    shutil.copytree(PAPERS, folder / "published")
    published.FOLDER = folder / "published"
    return folder


@functools.cache
def _texts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.yaml"))}


@functools.cache
def _tree(path: Path) -> object:
    return yaml.safe_load(path.read_bytes())


def _mutant(random: Random, folder: Path, name: str) -> bytes:
    texts = _texts(folder)
    donor = random.choice(list(texts))
    kind = random.random()
    if kind < 0.6:
        tree = mutated_tree(random, _tree(folder / name), _tree(folder / donor))
        text = yaml.dump(tree, Dumper=DUMPER, allow_unicode=random.random() < 0.5, sort_keys=False)
        return text.encode("utf-8", "surrogatepass")
    if kind < 0.8:
        return mutated_lines(random, texts[name], texts[donor], YAML_TOKENS)
    return mutated_bytes(random, texts[name], YAML_TOKENS)


def _tried(mutant: bytes, changed: Path, validated: Path) -> str | None:
    """Put the mutant in place, check a configuration that it is or that reads it, and put the original back."""
    original = changed.read_bytes()
    changed.write_bytes(mutant)
    papers._read.cache_clear()
    try:
        study = checked(validated)
    except ConfigError as error:
        return unclear(str(error))
    finally:
        changed.write_bytes(original)
    return None if study.ids else "a configuration without cells is good"


def configuration(number: int) -> str | None:
    random = chance("yaml", number)
    name = random.choice(list(_texts(CONFIGS)))
    # What another file extends is read through that one too.
    extending = [each for each, text in _texts(CONFIGS).items() if f"extends: {Path(name).stem}\n".encode() in text]
    validated = random.choice(extending) if extending and random.random() < 0.3 else name
    folder = _folder() / "configs"
    return _tried(_mutant(random, CONFIGS, name), folder / name, folder / validated)


def paper(number: int) -> str | None:
    random = chance("papers", number)
    name = random.choice(list(_texts(PAPERS)))
    own = re.compile(rb"(?m)^paper: %s\b" % Path(name).stem.encode())
    validated = random.choice([each for each, text in _texts(CONFIGS).items() if own.search(text)])
    return _tried(_mutant(random, PAPERS, name), _folder() / "published" / name, _folder() / "configs" / validated)


FAMILIES = [
    Family(
        "yaml",
        "mutants of configs/ and results/published/: good, or refused with a reason",
        in_turn(configuration, configuration, paper),
        12_000,
        750,
    )
]
