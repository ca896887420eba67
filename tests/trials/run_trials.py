"""Runs that are killed, that share a store and a folder, and that have no room: nothing is lost, nothing invented."""

from __future__ import annotations

import signal
import tempfile
import time
from pathlib import Path

from processes import BENCH, SHAPES, Done, Running, bench, configured, contents, differing, leftovers, undisturbed
from trial import Family, Skipped, chance, in_turn

ORDER = ["table", "chosen-curves", "several-labels", "decision-boundaries", "selected-terms", "centroids"]
EVERY = [*ORDER, *sorted(set(SHAPES) - set(ORDER))]


def _words(shape: str, folder: Path) -> tuple[str, ...]:
    return "run", str(configured(shape)), "--out", str(folder), "--jobs", "1"


def _partly(folder: Path, shape: str) -> str | None:
    """Whatever bears its final name is whole, however a run has ended."""
    found, expected = contents(folder) if folder.exists() else {}, contents(undisturbed(shape) / "run")
    wrong = sorted(name for name, content in found.items() if expected.get(name) != content)
    return f"not whole: {', '.join(wrong)}" if wrong else None


def killed(number: int) -> str | None:
    """Kill a run, at a moment of its time or at a sign of its writing; the same command again ends as undisturbed."""
    random, shape = chance("kill", number), EVERY[number % len(EVERY)]
    seconds = float((undisturbed(shape) / "seconds").read_text())
    top = Path(tempfile.mkdtemp())
    folder, store = top / "run", top / "store"
    variables = {"BENCH_CACHE": str(store)}
    for _ in range(random.choice((1, 1, 2))):
        running = Running(*BENCH, *_words(shape, folder), variables=variables)
        if random.random() < 0.5:
            time.sleep(seconds * random.uniform(0.4, 1.0))
        else:
            _wait_for_writing(running, random.choice(((folder, ".*"), (store / "parts", "*"), (folder, "[!.]*"))))
        running.process.send_signal(signal.SIGKILL)
        running.end()
        if wrong := _partly(folder, shape):
            return wrong
    done = bench(*_words(shape, folder), variables=variables)
    if done.code or "damaged" in done.error:
        return f"{shape}: not resumed, exit code {done.code}: {done.error}"
    return differing(folder, shape) or leftovers(folder, store)


def _wait_for_writing(running: Running, sign: tuple[Path, str]) -> None:
    place, pattern = sign
    while running.process.poll() is None:
        if next(place.glob(pattern), None):
            return


def writers(number: int) -> str | None:
    """Four runs at once on one store and one folder."""
    shape, top = EVERY[number % len(EVERY)], Path(tempfile.mkdtemp())
    words, variables = _words(shape, top / "run"), {"BENCH_CACHE": str(top / "store")}
    running = [Running(*BENCH, *words, variables=variables) for _ in range(4)]
    for done in [each.end() for each in running]:
        if done.code or "damaged" in done.error or "no longer kept" in done.error:
            return f"{shape}: exit code {done.code}: {done.error}"
    return differing(top / "run", shape) or leftovers(top / "run", top / "store")


#: What lies on a small disk, or on one that can't be written; "{disk}" is it.
PLACES = [
    {"out": "{disk}/run", "BENCH_CACHE": "{free}/store"},
    {"out": "{free}/run", "BENCH_CACHE": "{disk}/store"},
    {
        "out": "{disk}/run",
        "BENCH_CACHE": "{disk}/store",
        "TMPDIR": "{disk}",
        "HOME": "{disk}",
    },
    {"out": "{disk}/run", "BENCH_CACHE": "{disk}/store", "MPLCONFIGDIR": "{disk}/m", "NUMBA_CACHE_DIR": "{disk}/n"},
]
KB = (16, 100, 300, 500, 800, 1_200, 2_000, 4_000)
# A disk of its own, which no other process sees and which ends with its process; what is on it in the end is copied.
ON_DISK = """
mount -t tmpfs -o size="$SIZE" tmpfs "$DISK" || exit 99
[ "$MODE" = rw ] || mount -o remount,ro "$DISK" || exit 99
"$@"; code=$?
cp -a "$DISK/." "$FREE/copied"
exit $code
"""


def _on_disk(shape: str, places: dict[str, str], size: str, mode: str) -> tuple[Done, Path]:
    """A run with a disk of so many bytes; exit code, and the folder of its results."""
    top = Path(tempfile.mkdtemp())
    for name in ("disk", "free", "free/copied"):
        (top / name).mkdir()
    filled = {name: text.format(disk=top / "disk", free=top / "free") for name, text in places.items()}
    out = filled.pop("out")
    variables = {**filled, "SIZE": size, "MODE": mode, "DISK": str(top / "disk"), "FREE": str(top / "free")}
    words = ("unshare", "--mount", "sh", "-c", ON_DISK, "sh", *BENCH, *_words(shape, Path(out)))
    done = Running(*words, variables=variables).end()
    if done.code in (1, 99, 127) and ("unshare" in done.error or "mount" in done.error):
        raise Skipped("no disk of a few kB can be mounted here")
    return done, top / "free" / ("copied/run" if places["out"].startswith("{disk}") else "run")


def full_disk(number: int) -> str | None:
    """A disk that fills up at some moment."""
    shape, places, size = EVERY[number % len(EVERY)], PLACES[number % len(PLACES)], KB[number // 3 % len(KB)]
    done, folder = _on_disk(shape, places, f"{size}k", "rw")
    if wrong := done.unclear or _partly(folder, shape):
        return wrong
    return leftovers(folder, folder.parent / "store") or (None if done.code else differing(folder, shape))


def read_only(number: int) -> str | None:
    """Nothing can be written in some or all of the places."""
    shape, places = EVERY[number // len(PLACES) % len(EVERY)], PLACES[number % len(PLACES)]
    done, folder = _on_disk(shape, places, "1m", "ro")
    if wrong := done.unclear:
        return wrong
    if places["out"].startswith("{disk}"):
        return None if done.code == 1 else f"exit code {done.code}, and the results were not written"
    return differing(folder, shape) if done.code == 0 else f"exit code {done.code} for want of a store: {done.error}"


FAMILIES = [
    Family(
        "runs",
        "SIGKILL at a random moment, four runs at once: the bytes of an undisturbed run",
        in_turn(killed, killed, killed, writers, killed, killed, killed),
        42,
        4,
        240,
    ),
    Family(
        "disks",
        "a full or a read-only disk: an undisturbed run's bytes, or a reason and whole files",
        in_turn(full_disk, full_disk, full_disk, read_only),
        40,
        4,
        60,
    ),
]
