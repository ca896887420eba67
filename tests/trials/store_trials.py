"""Damage to what the store keeps: it is told, mended, and changes no score."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from processes import BOUNDARIES, SHAPES, configured, differing, leftovers, undisturbed
from trial import Family, chance

from benchmark.experiment.session import checked, perform
from benchmark.experiment.store import Store

if TYPE_CHECKING:
    from random import Random

KEEPING = sorted(set(SHAPES) - {BOUNDARIES})


def _damage(random: Random, path: Path, content: bytearray, other: bytes) -> None:
    at = random.randrange(len(content))
    kind = random.choice(("bit", "bit", "bit", "byte", "run", "cut", "longer", "empty", "another", "link", "folder"))
    if kind == "bit":
        content[at] ^= 1 << random.randrange(8)
    elif kind == "byte":
        content[at] = (content[at] + random.randrange(1, 256)) % 256
    elif kind == "run":
        content[at : at + 64] = bytes(len(content[at : at + 64]))
    elif kind == "cut":
        del content[at:]
    elif kind == "longer":
        content += content[:at]
    elif kind == "empty":
        content.clear()
    elif kind == "another":
        content = bytearray(other)
    path.unlink()
    if kind == "link":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(content)


def flipped(number: int) -> str | None:
    """Damage one entry, a few, or all."""
    random, shape = chance("store", number), KEEPING[number % len(KEEPING)]
    top = Path(tempfile.mkdtemp())
    shutil.copytree(undisturbed(shape) / "store", top / "store")
    entries = {path: path.read_bytes() for path in sorted((top / "store").glob("??/*"))}
    for path in random.sample(list(entries), random.choice((1, 1, 1, 3, len(entries)))):
        _damage(random, path, bytearray(entries[path]), random.choice(list(entries.values())))
    told: list[str] = []
    perform(checked(configured(shape)), Store(top / "store", warn=told.append), folder=top / "run")
    found = differing(top / "run", shape) or leftovers(top / "run", top / "store")
    shutil.rmtree(top)
    return found


FAMILIES = [Family("store", "stored entries flipped, cut, swapped: an undisturbed run's scores", flipped, 120, 6, 60)]
