"""Hypothesis strategies for files with something broken in them: bytes, lines, and values of YAML or JSON."""

from __future__ import annotations

import copy
import functools
import re
from typing import TYPE_CHECKING, Any

import yaml
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Draw = Callable[[st.SearchStrategy[Any]], Any]

#: What a hand, a program or an enemy may put where something else is expected.
ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 0.0, -0.0, 0.5, 1e-320, 1e308, float("inf"), float("-inf"), float("nan"), 2**31,
    2**63, 2**64, -(2**63) - 1, 10**9, 10**30, 10**400, "", " ", "0", "1", "yes", "no", "null", "nan", "all", "base",
    "\0", "\t", "\n", "\x1b[31m", "\ufeff", "\u2028", "\u202e", "é" * 50, "\U0001f600", "x" * 5_000, "../x",
    "/etc/passwd", "a/b", ".", "..", "~", "{", "}", "{}", "{x}", "{0}", "{x.__class__}", "{x!r:>999999999}", "%s",
    "%(x)s", "$x", "*", "[a-z]", "[", "=1+1", "|", "-", "<b>", "&amp;", "\\", "'", '"', "a b", "CON", "2024-01-01",
    "1:30", "0x10", "1_000", [], {}, [[]], [{}], {"": ""}, {"name": None}, {"name": []}, {"name": ""}, {None: 1},
    {1: 2}, {True: 1}, {1.5: 1}, ["a", "a"], [1, 1], [None], [1, "a", None], list(range(300)), list(range(5_000)),
    [f"x{n}" for n in range(3_000)], [[[[[[[[1]]]]]]]], {"a": {"b": {"c": {"d": {}}}}}, b"bytes", b"\xff\xfe",
    {"a", "b"},
]  # fmt: skip
#: Lists of aliases, which are written in a few lines and read as a thousand million.
LAUGHS: list[Any] = functools.reduce(lambda inner, _: [inner] * 9, range(9), ["ha"])
YAML_TOKENS = [
    b"&a ", b"*a", b"<<: *a", b"<<: ", b"!!python/object/apply:os.getcwd []", b"!!omap [a: 1]", b"!!int ", b"!x ",
    b"!!float x", b"? ", b"- ", b": ", b", ", b"{", b"}", b"[", b"]", b'"', b"'", b"|\n", b">-\n", b"#", b"%YAML 9.9\n",
    b"---\n", b"...\n", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\x85", b"\r", b"\r\n", b"\\",
    b"\\ud800", b"~", b"=", b"12:61:61", b"0b2", b"1" * 5000, b"9" * 5000, b"[" * 300, b"{a: " * 300, b"- " * 300,
    b"\n  ", b"\n", b"a" * 10_000, b"0x" + b"f" * 5_000, b"[" * 10_000, b"*a" * 5_000, b"[" + b"1, " * 3_000 + b"1]",
    b"1:" * 500 + b"1",
    *re.split(rb" \| |\n", r"""~ | true | .nan | .inf | -.inf | 1.0e+400 | 1e400 | 1e999 | -1 | 0 | 0.5 | 1e-320
99999999999999999999 | 1:2:3:4:5:6 | 0x1p | 0b_ | 0o9 | 10000000 | "" | " " | "\0" | "\ud800" | "\U00110000"
"\e[31m" | "a\nb" | "\r" | ../../x | /etc/passwd | . | .. | -rf | con | é | '{0}' | '%s' | '*' | '[' | [!a
!!bool maybe | !!timestamp x | !!int "" | !!float "" | !!binary x | !!binary "?" | !!set {a} | !!pairs [a: 1]
!!null x | !!str [a] | !!map x | !!seq x | !!python/object:os.system x | !local x | ! | 2024-01-01 | 2024-13-45
2024-01-01T25:00:00Z | yes | no | << | [] | {} | [[]] | [[[]]] | {a: 1} | {1: 2} | {~: 1} | {[a]: 1} | {{}: 1}
[1, a, ~] | [a, a] | {name: svm} | {name: [svm, rbf]} | {<<: 5} | {<<: [{a: 1}]} | &x a | *x | &x [*x]
'&x {a: *x}' | "" "" | : | - | '?' | '|' | '>' | '# ' | "'" | '"' | '%YAML 9.9' | --- | ... | '@' | '`'
svm | ngd | linear | all | base | each | oracle | cross-validation | random-subsets
k-fold | synthetic | webkb | reuters | diffusion | growth""".encode()),
]  # fmt: skip
#: Bytes that one change is of, mostly.
LENGTHS = (1, 1, 2, 8, 40, 200, 1 << 20)
CHANGES = ("cut", "flip", "noise", "repeat", "move", "token", "run", "around", "splice")
LINE_CHANGES = ("drop", "double", "move", "indent", "outdent", "cut short", "another's", "word")
VALUE_CHANGES = ("odd", "odd", "drop", "list", "mapping", "inner", "donor", "donor", "own", "number", "text", "repeat")


def one(draw: Draw, items: Sequence[Any]) -> Any:
    """Draw one of the items; `sampled_from` would hash each, however large."""
    return items[draw(st.integers(0, len(items) - 1))]


@st.composite
def damaged(draw: Draw, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Draw one of the seeds after one to four changes: bits, cuts, doublings, moves, tokens, pieces of other seeds."""
    content = one(draw, seeds)
    for _ in range(one(draw, (1, 1, 1, 2, 3, 4))):
        start, length = draw(st.integers(0, len(content))), one(draw, LENGTHS)
        before, piece, after = content[:start], content[start : start + length], content[start + length :]
        change = one(draw, CHANGES)
        if change == "move":
            to = draw(st.integers(0, len(after)))
            content = before + after[:to] + piece + after[to:]
        elif change == "splice":
            other = one(draw, seeds)
            there = draw(st.integers(0, len(other)))
            content = before + other[there : there + length] + after
        else:
            content = before + _changed(draw, change, piece, tokens) + after
    return content


def _changed(draw: Draw, change: str, piece: bytes, tokens: Sequence[bytes]) -> bytes:
    """Return what stands instead of a piece: nothing unless the change says otherwise."""
    instead = b""
    match change:
        case "flip":
            instead = bytes(byte ^ 1 << draw(st.integers(0, 7)) for byte in piece[:1]) + piece[1:]
        case "noise":
            n = min(12, max(1, len(piece)))
            instead = draw(st.binary(min_size=n, max_size=n))
        case "repeat":
            instead = piece * one(draw, (2, 2, 3, 20))
        case "token":
            instead = one(draw, tokens) + piece
        case "run":
            instead = one(draw, tokens) * one(draw, (1, 2, 3, 50))
        case "around":
            instead = one(draw, tokens) + piece + one(draw, tokens)
    return instead


@st.composite
def damaged_lines(draw: Draw, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Draw one of the seeds after one to three of its lines were dropped, doubled, moved, indented, cut or replaced."""
    lines, others = one(draw, seeds).split(b"\n"), one(draw, seeds).split(b"\n")
    for _ in range(one(draw, (1, 1, 2, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines.pop(at)
        changed = []
        match one(draw, LINE_CHANGES):
            case "double":
                changed = [line, line]
            case "move":
                lines.insert(draw(st.integers(0, len(lines))), line)
            case "indent":
                changed = [one(draw, (b" ", b"  ", b"    ", b"\t", b"- ")) + line]
            case "outdent":
                changed = [line[one(draw, (1, 2)) :]]
            case "cut short":
                changed = [line[: draw(st.integers(0, len(line)))]]
            case "another's":
                changed = [one(draw, others), line]
            case "word":
                words = line.split(b" ")
                words[draw(st.integers(0, len(words) - 1))] = one(draw, [*tokens, *words])
                changed = [b" ".join(words)]
        lines[at:at] = changed
        lines = lines or [b""]
    return b"\n".join(lines)


@st.composite
def damaged_trees(draw: Draw, tree: Any, donor: Any, odd: Sequence[Any] = ODD) -> Any:
    """Draw a copy of plain data after one to three of its values or keys changed; `donor` lends values and keys."""
    root = {"": copy.deepcopy(tree)}
    for _ in range(one(draw, (1, 1, 1, 2, 3))):
        if not (places := _places(root)):
            break
        holder, key = one(draw, places)
        if isinstance(holder, dict) and draw(st.integers(0, 3)) == 1:
            lent = [each for where, each in _places(donor) if isinstance(where, dict)] or ["name"]
            key_ = one(
                draw, [f"{key}s", str(key)[:-1], str(key).upper(), one(draw, lent), one(draw, lent), _word(draw)]
            )
            holder[key_] = holder[key] if draw(st.booleans()) else holder.pop(key)
        else:
            _change_value(draw, holder, key, {"own": places, "donor": _places(donor) or places}, odd)
    return root.get("")


def _change_value(draw: Draw, holder: Any, key: Any, lent: dict[str, list[Any]], odd: Sequence[Any]) -> None:
    match one(draw, VALUE_CHANGES), holder[key]:
        case "drop", _:
            del holder[key]
        case "list", value:
            holder[key] = [copy.deepcopy(value) for _ in range(one(draw, (1, 2, 40)))]
        case "mapping", value:
            holder[key] = {one(draw, ("name", "x", "cells")): value}
        case "inner", dict() | list() as value if value:
            holder[key] = one(draw, list(value.values()) if isinstance(value, dict) else value)
        case ("donor" | "own") as whose, _:
            where, other = one(draw, lent[whose])
            holder[key] = copy.deepcopy(where[other])
        case "number", int() | float() as value if not isinstance(value, bool):
            others = (-value, value + 1, value * 1_000, value * 10**9, str(value), value / 3, float(value), 1 - value)
            holder[key] = one(draw, others)
        case "text", str() as value:
            at = draw(st.integers(0, len(value)))
            holder[key] = value[:at] + str(_word(draw))[:200] + value[at + draw(st.integers(0, 2)) :]
        case "repeat", list() as value:
            holder[key] = value * one(draw, (0, 2, 30))
        case _:
            holder[key] = copy.deepcopy(one(draw, odd))


def _word(draw: Draw) -> Any:
    return one(draw, [each for each in ODD if not isinstance(each, (list, dict, set))])


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Find every value of a tree: what holds it, and under which key or number."""
    found: list[tuple[Any, Any]] = []
    waiting, seen = [tree], set()
    while waiting:
        holder = waiting.pop()
        if id(holder) in seen:  # an alias
            continue
        seen.add(id(holder))
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        found += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys]
    return found


@functools.cache
def _parsed(text: bytes) -> Any:
    return yaml.safe_load(text)


@st.composite
def broken_yaml(draw: Draw, texts: Sequence[bytes]) -> bytes:
    """Draw one of the texts, each good YAML, with one to four things broken in its bytes, lines, keys or values."""
    kind = draw(st.integers(0, 4))
    if kind < 2:
        return draw((damaged, damaged_lines)[kind](texts, YAML_TOKENS))
    tree = draw(damaged_trees(_parsed(one(draw, texts)), _parsed(one(draw, texts)), [*ODD, LAUGHS]))
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    how = {"allow_unicode": draw(st.booleans()), "default_flow_style": one(draw, (False, None, True))}
    return yaml.dump(tree, Dumper=dumper, sort_keys=False, **how).encode("utf-8", "surrogatepass")
