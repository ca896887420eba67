"""Changes at random: of bytes, of lines, of the values and keys of YAML."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

LAUGHS: list[Any] = ["ha"]
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
for _ in range(9):  # lists of aliases, which are written in a few lines and read as a thousand million
    LAUGHS = [LAUGHS] * 9
ODD.append(LAUGHS)
YAML_TOKENS = [
    b"&a ", b"*a", b"<<: *a", b"<<: ", b"!!python/object/apply:os.getcwd []", b"!!binary x", b"!!set {a}",
    b"!!omap [a: 1]", b"!!int ", b"!!float x", b"!!timestamp x", b"!x ", b"? ", b"- ", b": ", b", ", b"{", b"}", b"[",
    b"]", b'"', b"'", b"|\n", b">-\n", b"#", b"%YAML 9.9\n", b"---\n", b"...\n", b"\t", b"\0", b"\xff",
    b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\x85", b"\r", b"\r\n", b"\\", b"\\ud800", b"~", b"=", b"1e999", b".inf",
    b".nan", b"0o9", b"0b2", b"2024-13-45", b"12:61:61", b"1" * 5000, b"[" * 300, b"{a: " * 300, b"- " * 300, b"\n  ",
    b"\n",
]  # fmt: skip


def mutated_bytes(random: Random, content: bytes, tokens: Sequence[bytes]) -> bytes:
    """The content after one to four changes: bits, cuts, doublings, moves, tokens, runs of them."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        start, stop = sorted((random.randint(0, len(content)), random.randint(0, len(content))))
        if random.random() < 0.8:
            stop = min(stop, start + random.choice((1, 2, 8, 40, 200)))
        before, piece, after = content[:start], content[start:stop], content[stop:]
        token, rest = random.choice(tokens), before + after
        at = random.randint(0, len(rest))
        changed = [
            before + _flipped(random, piece) + after,
            before + bytes([random.randrange(256)]) + after,
            rest,
            before + piece * random.choice((2, 2, 3, 20)) + after,
            rest[:at] + piece + rest[at:],
            before + token + after,
            before + token * random.choice((2, 3, 50)) + after,
            before + token + piece + random.choice(tokens) + after,
            random.choice((before, rest)),
        ]
        content = random.choice(changed)
    return content


def _flipped(random: Random, piece: bytes) -> bytes:
    return bytes([piece[0] ^ (1 << random.randrange(8))]) + piece[1:] if piece else b""


def mutated_lines(random: Random, content: bytes, donor: bytes, tokens: Sequence[bytes]) -> bytes:
    """The content after one to three of its lines were dropped, doubled, moved, indented, cut short or replaced."""
    lines, others = content.split(b"\n"), donor.split(b"\n")
    for _ in range(random.choice((1, 1, 2, 3))):
        at, other = random.randrange(len(lines)), random.randrange(len(lines))
        kind = random.randrange(8)
        if kind == 0 and len(lines) > 1:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[at])
        elif kind == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 3:
            lines[at] = b" " * random.choice((1, 2, 4)) + lines[at]
        elif kind == 4:
            lines[at] = lines[at].removeprefix(b" " * random.choice((1, 2)))
        elif kind == 5:
            lines[at] = lines[at][: random.randint(0, len(lines[at]))]
        elif kind == 6:
            lines.insert(at, random.choice(others))
        else:
            words = lines[at].split(b" ")
            words[random.randrange(len(words))] = random.choice(tokens)
            lines[at] = b" ".join(words)
    return b"\n".join(lines)


def mutated_tree(random: Random, tree: Any, donor: Any) -> Any:
    """A copy of plain data after one to three of its values or keys were changed; `donor` lends values and keys."""
    tree = copy.deepcopy(tree)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        found = _places(tree)
        if not found:
            return random.choice(ODD)
        holder, key = random.choice(found)
        if isinstance(holder, dict) and random.random() < 0.25:
            _change_key(random, holder, key, donor)
        else:
            _change_value(random, holder, key, found, donor)
    return tree


def _change_key(random: Random, holder: dict[Any, Any], key: Any, donor: Any) -> None:
    keys = [each for where, each in _places(donor) if isinstance(where, dict)] or ["name"]
    new = random.choice(
        [f"{key}s", str(key)[:-1], str(key).upper(), random.choice(keys), random.choice(keys), _hashable(random)]
    )
    value = holder[key] if random.random() < 0.3 else holder.pop(key)
    holder[new] = value


def _change_value(random: Random, holder: Any, key: Any, found: list[tuple[Any, Any]], donor: Any) -> None:
    value = holder[key]
    kind = random.randrange(11)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = [copy.deepcopy(value) for _ in range(random.choice((1, 2, 40)))]
    elif kind == 2:
        holder[key] = {random.choice(("name", "x", "cells")): value}
    elif kind == 3 and isinstance(value, (list, dict)) and value:
        holder[key] = random.choice(list(value.values()) if isinstance(value, dict) else value)
    elif kind in (4, 5):
        where, other = random.choice(_places(donor) or found)
        holder[key] = copy.deepcopy(where[other])
    elif kind == 6:
        where, other = random.choice(found)
        holder[key] = copy.deepcopy(where[other])
    elif kind == 7 and isinstance(value, (int, float)) and not isinstance(value, bool):
        holder[key] = random.choice(
            (-value, value + 1, value * 1_000, value * 10**9, str(value), value / 3, float(value), 1 - value)
        )
    elif kind == 8 and isinstance(value, str):
        at = random.randint(0, len(value))
        holder[key] = value[:at] + str(_hashable(random))[:200] + value[at + random.randrange(3) :]
    elif kind == 9 and isinstance(value, list):
        holder[key] = value * random.choice((0, 2, 30))
    else:
        holder[key] = copy.deepcopy(random.choice(ODD))


def _hashable(random: Random) -> Any:
    return random.choice([each for each in ODD if not isinstance(each, (list, dict, set))])


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every value of a tree: what holds it, and under which key or number."""
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
