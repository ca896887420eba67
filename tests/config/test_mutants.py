"""Shipped configurations with something broken in them: each is checked, or refused in a few plain lines, at once."""

from __future__ import annotations

import random
import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from benchmark.errors import MOST_PROBLEMS, ConfigError
from benchmark.evaluation.published import FOLDER
from benchmark.experiment.session import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CONFIGS = Path(__file__).parents[2] / "configs"
#: As they are written in YAML.
NASTY = re.split(
    r" \| |\n",
    """\
~ | true | .nan | .inf | -.inf | 1.0e+400 | 1e400 | -1 | 0 | 0.5 | 1e-320 | 99999999999999999999 | 1:2:3:4:5:6
0x1p | 0b_ | 0o9 | 10000000 | "" | " " | "\\0" | "\\ud800" | "\\U00110000" | "\\e[31m" | "a\\nb" | "\\r"
../../x | /etc/passwd | . | .. | -rf | con | é | '{0}' | '%s' | '*' | '[' | [!a | !!bool maybe | !!timestamp x
!!int "" | !!float "" | !!binary "?" | !!set {a} | !!omap [a: 1] | !!pairs [a: 1] | !!null x | !!str [a]
!!map x | !!seq x | !!python/object:os.system x | !local x | ! | 2024-01-01 | 2024-13-45 | 2024-01-01T25:00:00Z
yes | no | << | [] | {} | [[]] | [[[]]] | {a: 1} | {1: 2} | {~: 1} | {[a]: 1} | {{}: 1} | [1, a, ~] | [a, a]
{name: svm} | {name: [svm, rbf]} | {<<: 5} | {<<: [{a: 1}]} | &x a | *x | &x [*x] | '&x {a: *x}' | "" "" | ] | }
: | - | '?' | '|' | '>' | '# ' | "'" | '"' | '%YAML 9.9' | --- | ... | '@' | '`' | svm | ngd | linear | all
base | each | oracle | cross-validation | random-subsets | k-fold | synthetic | webkb | reuters | diffusion
growth""",
)
LARGE = [
    "a" * 10_000,
    "9" * 5_000,
    "0x" + "f" * 5_000,
    "[" * 10_000,
    "*a" * 5_000,
    "[" + "1, " * 3_000 + "1]",
    "1:" * 500 + "1",
]
WORD = re.compile(r"[^\s:{},\[\]#]+")


def mutants(texts: Sequence[str], number: int, seed: int) -> Iterator[bytes]:
    """Texts of YAML, each with one to three things broken."""
    chance = random.Random(seed)  # noqa: S311 - nothing is secret
    for _ in range(number):
        text = chance.choice(texts)
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            text = chance.choice(BROKEN)(text, texts, chance)
        content = bytearray(text.encode("utf-8", "surrogatepass"))
        if content and chance.random() < 0.1:
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        yield bytes(content)


def lines(text: str, _: Sequence[str], chance: random.Random) -> str:
    """A line is cut, doubled, moved, or stands further in or out."""
    rows = text.splitlines(keepends=True) or [""]
    at = chance.randrange(len(rows))
    row = rows.pop(at)
    further = [row, row[1:], " " + row, "  " + row, "\t" + row, row[: chance.randrange(len(row) + 1)], "- " + row]
    rows[at:at] = chance.choice([[], [row, row], [chance.choice(further)]])
    if chance.random() < 0.2:
        rows.insert(chance.randrange(len(rows) + 1), row)
    return "".join(rows)


def word(text: str, _: Sequence[str], chance: random.Random) -> str:
    """A word is swapped for a nasty one, or for another word of the text."""
    words = list(WORD.finditer(text))
    if not words:
        return chance.choice(NASTY)
    at = chance.choice(words)
    large = chance.random() < 0.03
    instead = chance.choice([chance.choice(LARGE if large else NASTY), chance.choice(words)[0]])
    return text[: at.start()] + instead + text[at.end() :]


def splice(text: str, texts: Sequence[str], chance: random.Random) -> str:
    """The beginning of one text, the end of another."""
    other = chance.choice(texts)
    return text[: chance.randrange(len(text) + 1)] + other[chance.randrange(len(other) + 1) :]


def graft(text: str, texts: Sequence[str], chance: random.Random) -> str:
    """A value is swapped for a nasty one, or for a value that stands anywhere in another text."""
    data, other = tree(text), tree(chance.choice(texts))
    places = list(below(data))
    if not places:
        return text
    holder, key = chance.choice(places)
    kind = chance.randrange(4)
    if kind == 0:
        holder[key] = tree(chance.choice(NASTY))
    elif kind == 1:
        holder[key] = [holder[key], tree(chance.choice(NASTY))]
    elif kind == 2 and isinstance(holder, dict):
        holder[str(chance.choice(NASTY))] = holder.pop(key)
    elif given := list(below(other)):
        inner, name = chance.choice(given)
        holder[key] = inner[name]
    return yaml.safe_dump(data, sort_keys=False, default_flow_style=chance.choice([None, True, False]))


def tree(text: str) -> Any:
    """What a text says, or the text itself."""
    try:
        data = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe one
        repr(data), list(below(data))  # nothing that holds itself
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError):
        return text
    return data


def below(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every mapping or list with each of its keys."""
    for key, value in list(
        data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    ):
        yield data, key
        yield from below(value)


BROKEN: list[Callable[[str, Sequence[str], random.Random], str]] = [lines, word, word, splice, graft, graft]


def outcome(path: Path) -> tuple[str, float]:
    """What is said of a configuration, and the seconds until then; any error but a refusal goes on."""
    start = time.process_time()
    try:
        checked(path)
        said = ""
    except ConfigError as error:
        said = str(error)
    return said, time.process_time() - start


@pytest.fixture(name="broken")
def broken_in(tmp_path: Path) -> Callable[[int, int], Iterator[tuple[Path, bytes]]]:
    """Write mutants one after the other beside all that they could extend."""

    def write(number: int, seed: int) -> Iterator[tuple[Path, bytes]]:
        shutil.copytree(CONFIGS, tmp_path, dirs_exist_ok=True)
        texts = [path.read_text(encoding="utf-8") for path in sorted(CONFIGS.glob("*.yaml"))]
        path = tmp_path / "mutant.yaml"
        for content in mutants(texts, number, seed):
            path.write_bytes(content)
            yield path, content

    return write


@pytest.mark.parametrize("seed", range(4))
def test_a_broken_configuration_is_refused_in_plain_lines_or_is_good_after_all(broken, seed):
    refused = 0
    for path, content in broken(75, seed):
        said, seconds = outcome(path)
        assert seconds < 2, content
        refused += bool(said)
        problems = said.splitlines()
        assert len(problems) <= MOST_PROBLEMS + 1, content
        assert all(line.startswith((str(path.parent), str(FOLDER), "…")) for line in problems), said
        assert all(line.isprintable() for line in problems), said
    assert refused > 20
