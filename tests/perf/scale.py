"""`make perf-scale`: how seconds and memory grow, to results/scale.json and the page docs/scale.md.

    python tests/perf/scale.py [LARGEST]

Corpora of LARGEST documents at most are drawn by Zipf's law, some words of each document by its class. Every route runs
from the file to its scores, in a process of its own. What results/scale.json has is not measured again: remove it, or
lines of it, for that. Exponents are of the processor time, which a busy machine disturbs less than wall-clock time.
LIBSVM's `svm-train` is measured where it is on the PATH, and scikit-learn-intelex where it is installed.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from measure import BENCH, taken_by

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
RESULT, PAGE = ROOT / "results" / "scale.json", ROOT / "docs" / "scale.md"
#: The largest that is measured unless another is named.
DEFAULT = 300_000
#: Routes that compare all pairs of documents end here, where they take minutes; SVC holds a matrix of 2 GB there.
MOST_EXACT = {"ngd": 100_000, "SVC": 20_000, "svm-train": 10_000, "intelex": 30_000}
AXES: dict[str, tuple[int, ...]] = {
    "documents": (1_000, 3_000, 10_000, 20_000, 30_000, 100_000, 300_000, 1_000_000),
    "classes": (2, 20, 200),
    "workers": (1, 2, 4),
}
#: No workers: a run at home, on all cores.
BASE = {"documents": 10_000, "classes": 20, "workers": 0}
HELLINGER = "{weighting: %s, features: hellinger, classifier: {name: linear-svm, ridge: 0.5708, C: 2}}"
NGD = "{weighting: %s, normalization: l1, kernel: ngd, classifier: {C: 2}}"
#: What workers share: cells of one weighting go together, as they share its points.
WEIGHTINGS = "[tf, tfidf, binary, bm25, log-entropy, tf-rf, tf-icf, tf-idf-icsdf]"
#: A configuration's method, or one of another tool.
ROUTES = {"hellinger-linear": HELLINGER, "ngd": NGD, "LinearSVC": "", "SVC": "", "svm-train": "", "intelex": ""}
#: Whether tools that need not be here are.
INSTALLED = {"svm-train": bool(shutil.which("svm-train")), "intelex": bool(find_spec("sklearnex"))}
#: Between these the page has what is measured.
OPENS, CLOSES = "<!-- measured: make perf-scale -->", "<!-- end of what is measured -->"
#: From so many documents on the exponents are fitted: below, what a run takes to start is most of it.
FITTED_FROM = 10_000
#: Of these a word is made: 2 letters for the 40 most frequent, 8 for most.
SYLLABLES = [consonant + vowel for consonant in "bdklmnrt" for vowel in "aeiou"]
#: Words to draw from, and words of a document.
N_WORDS, LENGTH = 500_000, 100
#: Documents drawn by one generator: a smaller corpus is the beginning of a larger one.
BLOCK = 10_000
#: Between these lies the share of a document's words that are its class's: nine in ten can be told.
SHARES = (0.04, 0.2)
#: Of so many documents, one is tested.
TESTED = 5


# --- A corpus ---


def write_corpus(path: Path, n_documents: int, n_classes: int) -> None:
    """Write a table with the columns text, label and split (train, test).

    Of ranks r from 0, p(r) ∝ ln(1 + 1 / (r + 1)), nearly Zipf's 1 / (r + 1.5); drawn as the whole part of
    (N_WORDS + 1)^u - 1, u uniform. A share of a document's words, drawn for the document, is its class's: there a rank
    stands for another word in each class.
    """
    words = np.array([word_of(rank) for rank in range(N_WORDS)], dtype=object)
    classes = np.array([f"class-{number:0{len(str(n_classes - 1))}}" for number in range(n_classes)])
    own = np.random.default_rng([0, 0]).permuted(np.tile(np.arange(N_WORDS, dtype=np.int32), (n_classes, 1)), axis=1)
    with path.open("w", encoding="ascii", newline="") as file:
        for start in range(0, n_documents, BLOCK):
            random, n = np.random.default_rng([0, 1, start]), min(BLOCK, n_documents - start)
            labels, share = random.integers(n_classes, size=BLOCK), random.uniform(*SHARES, (BLOCK, 1))
            drawn = (np.exp(random.random((BLOCK, LENGTH)) * np.log(N_WORDS + 1)) - 1).astype(np.int32)
            ranks = np.where(random.random(drawn.shape) < share, own[labels[:, np.newaxis], drawn], drawn)
            parts = np.where((np.arange(start, start + n) + 1) % TESTED, "train", "test")
            columns = {
                "text": [" ".join(row) for row in words[ranks[:n]]],
                "label": classes[labels[:n]],
                "split": parts,
            }
            pd.DataFrame(columns).to_csv(file, index=False, header=start == 0)


def word_of(rank: int) -> str:
    """A word of each rank: its number in syllables, the least first."""
    word = SYLLABLES[rank % len(SYLLABLES)]
    while rank := rank // len(SYLLABLES):
        rank -= 1
        word += SYLLABLES[rank % len(SYLLABLES)]
    return word


# --- A route ---


def others(route: str, table: Path) -> None:
    """Another tool on the points of TfidfVectorizer: LinearSVC, or LIBSVM's machine of their inner products."""
    if route == "intelex":
        from sklearnex import patch_sklearn

        patch_sklearn()
    from sklearn.datasets import dump_svmlight_file
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import SVC, LinearSVC

    found = pd.read_csv(table, keep_default_na=False)
    train = (found["split"] == "train").to_numpy()
    vectors = TfidfVectorizer()
    X, Z = vectors.fit_transform(found["text"][train]), vectors.transform(found["text"][~train])
    y = found["label"][train].to_numpy()
    if route == "LinearSVC":
        LinearSVC(C=2).fit(X, y).predict(Z)
    elif route == "SVC":
        SVC(C=2, kernel="precomputed").fit((X @ X.T).toarray(), y).predict((Z @ X.T).toarray())
    elif route == "intelex":
        SVC(C=2, kernel="linear").fit(X, y).predict(Z)
    else:
        codes, files = pd.factorize(found["label"])[0], {name: str(table.with_name(name)) for name in ("train", "test")}
        dump_svmlight_file(X, codes[train], files["train"])
        dump_svmlight_file(Z, codes[~train], files["test"])
        model = str(table.with_name("model"))
        subprocess.run(["svm-train", "-q", "-t", "0", "-c", "2", files["train"], model], check=True)
        subprocess.run(["svm-predict", "-q", files["test"], model, str(table.with_name("out"))], check=True)


def on_workers(n: int, arguments: list[str]) -> None:
    """Run a command of `bench` on n workers of this machine, which share its cores."""
    from distributed import LocalCluster

    from benchmark.cli import main as bench

    with LocalCluster(n_workers=n, threads_per_worker=1, memory_limit=0, dashboard_address=":0") as cluster:
        threads = max(1, len(os.sched_getaffinity(0)) // n)
        sys.argv = ["bench", *arguments, "--dask", cluster.scheduler_address, "--jobs", str(threads)]
        bench()


# --- All of them ---


def points(largest: int) -> Iterator[tuple[str, dict[str, int]]]:
    """What is measured: a route, and how much of everything, the least first; along an axis all else stays."""
    for axis, values in AXES.items():
        for value in values:
            for route, own in ROUTES.items():
                at = BASE | {axis: value}
                fits = at["documents"] <= min(largest, MOST_EXACT.get(route, largest))
                if fits and INSTALLED.get(route, True) and (own or axis != "workers"):
                    yield route, at


def measured(route: str, at: dict[str, int]) -> dict[str, Any]:
    """Run a route on a corpus made for it, with workers if there are any; return what it takes, of four digits."""
    with tempfile.TemporaryDirectory() as name:
        folder, workers = Path(name), at["workers"]
        table, config = folder / "zipf.csv", folder / "scale.yaml"
        write_corpus(table, at["documents"], at["classes"])
        command: list[str | Path] = [sys.executable, __file__, "--route", route, table]
        if method := ROUTES[route]:
            config.write_text(
                f"name: scale\ncorpus: {{name: files, path: {table}, split: split}}\n"
                "text: {stoplist: none, min_occurrences: 2}\nprotocol: fixed-split\n"
                f"methods: [{method % (WEIGHTINGS if workers else 'tf')}]\n"
            )
            bench = [sys.executable, __file__, "--workers", str(workers)] if workers else [BENCH]
            command = [*bench, "run", config, "--out", folder / "run"]
        numbers = taken_by(command, folder)
        return {
            "route": route,
            **at,
            "bytes": table.stat().st_size,
            **{k: float(f"{n:.4g}") for k, n in numbers.items()},
        }


def machine() -> dict[str, Any]:
    """What they are measured on."""
    info = Path("/proc/cpuinfo").read_text()
    name = next((line.partition(":")[2].strip() for line in info.splitlines() if "model name" in line), "")
    return {"processor": name or platform.machine(), "cores": len(os.sched_getaffinity(0))}


def along(found: dict[str, Any], axis: str) -> pd.DataFrame:
    """Return the points along an axis, in the order of routes and of sizes; workers are one or more."""
    points = pd.DataFrame(found["points"]).astype({"route": pd.CategoricalDtype(list(ROUTES), ordered=True)})
    others = [other for other in AXES if other != axis]
    points = points[(points[others] == [found["base"][other] for other in others]).all(axis=1) & (points[axis] > 0)]
    return points.sort_values(["route", axis])


def exponents(found: dict[str, Any]) -> dict[str, float]:
    """Return the exponent b of each route's seconds as a documents^b, by least squares of the logarithms."""
    points = along(found, "documents").query(f"documents >= {FITTED_FROM}")
    lines = {route: np.log(line[["documents", "cpu"]]) for route, line in points.groupby("route", observed=True)}
    return {route: float(np.polyfit(*line.to_numpy().T, 1)[0]) for route, line in lines.items() if len(line) > 1}


# --- The page ---


def page(text: str, found: dict[str, Any]) -> str:
    """Return the page with these numbers in place of others."""
    of, powers = found["machine"], exponents(found)
    growth = by_route(found, "documents")
    growth.loc["exponent of the seconds"] = [f"{powers[route]:.2f}" if route in powers else "–" for route in growth]
    about = f"Measured on {of['cores']} cores of {of['processor']}. "
    about += "Seconds are processor time over all threads, with wall-clock time in brackets."
    parts = [
        about,
        _table("documents", growth),
        _table("classes", by_route(found, "classes")),
        _table("documents that fit", limits(found)),
        _table("workers: wall-clock seconds (processor seconds)", by_route(found, "workers", "seconds", "cpu")),
    ]
    before, _, rest = text.partition(OPENS)
    measured = "\n\n".join([OPENS, *parts, CLOSES])
    return f"{before}{measured}{rest.partition(CLOSES)[2]}"


def by_route(found: dict[str, Any], axis: str, first: str = "cpu", second: str = "seconds") -> pd.DataFrame:
    """Return seconds and memory as text, by the values of an axis and by route."""
    points = along(found, axis)
    rows = zip(points[first], points[second], points["memory"], strict=True)
    points["text"] = [f"{_number(s)} s ({_number(other)}), {gb:.2f} GB" for s, other, gb in rows]
    table = points.pivot_table("text", axis, "route", "first", observed=True).fillna("–")
    table.columns = table.columns.astype(str)
    return table.rename(index="{:,}".format)


def limits(found: dict[str, Any]) -> pd.DataFrame:
    """Return where memory reaches that of a laptop, by the line through the two largest sizes."""
    rows = {}
    for route, line in along(found, "documents").groupby("route", observed=True):
        by, (less, more) = 2 if route in ("ngd", "SVC") else 1, line[["documents", "memory"]].to_numpy()[-2:]
        each = (more[1] - less[1]) / (more[0] ** by - less[0] ** by)
        ends = {limit: (more[0] ** by + (limit - more[1]) / each) ** (1 / by) for limit in (8, 16)}
        if route not in INSTALLED:
            rows[route] = {f"{limit} GB": _number(float(f"{end:.2g}")) for limit, end in ends.items()}
    return pd.DataFrame(rows).T


def _table(corner: str, table: pd.DataFrame) -> str:
    ruled = ("---", *("---:" for _ in table))
    return "\n".join("| " + " | ".join(row) + " |" for row in ((corner, *table), ruled, *table.itertuples()))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    """Measure what is not known yet, and write the page."""
    if sys.argv[1:2] == ["--workers"]:
        on_workers(int(sys.argv[2]), sys.argv[3:])
        return
    if sys.argv[1:2] == ["--route"]:
        others(sys.argv[2], Path(sys.argv[3]))
        return
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {"base": BASE, "machine": machine(), "points": []}
    known = {(each["route"], *(each[axis] for axis in BASE)) for each in found["points"]}
    for route, at in points(largest):
        if (route, *at.values()) not in known:
            known.add((route, *at.values()))
            found["points"].append(measured(route, at))
            print(found["points"][-1], flush=True)
            RESULT.write_text(json.dumps(found, indent=1) + "\n")
    found["exponents"] = exponents(found)
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    PAGE.write_text(page(PAGE.read_text(), found))


if __name__ == "__main__":
    main()
