"""Compare the numbers of finished runs with those that `tests/net.json` has, whatever becomes of the code between.

    python -m tests.net write RUNS_FOLDER [tests/net.json]
    python -m tests.net compare RUNS_FOLDER [tests/net.json]

RUNS_FOLDER has run folders, each named as its configuration. Of each run the file has, a line a cell: the number of
predictions and the sha256 of their sorted lines of candidate, document, split and label; each metric over all splits,
and the sha256 of all that `scores.csv` says of the cell, with 12 significant digits; the sha256 of what diagnostics
estimated, with 9, since sums depend on the number of threads. Neither seconds nor texts are in it. The runs are read
by pandas alone, and nothing of the package is imported: a change of the package can't change what is compared.

`write` replaces the configurations that have a folder and leaves the others as they are. `compare` ends with 1 if a
number differs; a configuration without a folder is only named.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

NET = Path(__file__).with_name("net.json")
#: What names the predictions of a cell: columns of `predictions.parquet`, of which a run may lack some.
CELL = ["variant", "task", "cell", "size", "terms"]
#: What is compared of each prediction.
PREDICTION = ["candidate", "document", "split", "predicted"]
#: What names the estimates of a diagnostic, in `estimates.parquet`.
DIAGNOSTIC = ["variant", "diagnostic", "cell"]
#: What is compared of each score, in `scores.csv`.
SCORE = ["fold", "metric", "value", "low", "high", "n", "ties"]
#: Cells that `compare` names for each configuration.
MOST_NAMED = 20


def to_text(value: Any, digits: int = 12) -> str:
    """Return a value as text; the classes of a document that has several are sorted."""
    if isinstance(value, np.ndarray):
        return ",".join(sorted(map(str, value)))
    return "" if pd.isna(value) else f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def digest(frame: pd.DataFrame, digits: int = 12) -> str:
    """Return the sha256 of the sorted rows, each as a line of its columns in the order of their names."""
    columns = [[to_text(value, digits) for value in frame[name].tolist()] for name in sorted(frame)]
    lines = sorted("\t".join(row) for row in zip(*columns, strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def by_name(frame: pd.DataFrame, keys: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Divide the rows by those of the keys that the frame has, each part under a name made of their values."""
    keys = [key for key in keys if key in frame]
    for values, rows in frame.groupby(keys, observed=True, dropna=False):
        named = zip(keys, values, strict=True)
        yield " ".join(f"{key}={text}" for key, value in named if (text := to_text(value))), rows.drop(columns=keys)


def numbers_of(run: Path) -> dict[str, str]:
    """Return what a finished run predicted, scored and estimated, a text a cell."""
    lines = {}
    predictions = pd.read_parquet(run / "predictions.parquet")
    if predictions["predicted"].dtype == "category":  # several classes of a document are one text
        predictions["predicted"] = predictions["predicted"].map(lambda text: ",".join(sorted(text.split(";"))))
    kept = [key for key in (*CELL, *PREDICTION) if key in predictions]
    for name, rows in by_name(predictions[kept], CELL):
        lines[f"predictions {name}"] = f"{len(rows)} {digest(rows)}"
    gaps = {"value": [""], "low": [""], "high": [""]}
    scores = pd.read_csv(run / "scores.csv", keep_default_na=False, na_values=gaps)
    for cell, rows in without_seconds(scores).groupby("cell"):
        over_all = rows[rows["fold"].astype(str) == "all"].sort_values("metric")
        metrics = [
            f"{metric} {to_text(value)}" for metric, value in zip(over_all["metric"], over_all["value"], strict=True)
        ]
        lines[f"scores {cell}"] = " ".join([*metrics, digest(rows[[each for each in SCORE if each in rows]])])
    if (records := run / "records.zip").exists():
        with zipfile.ZipFile(records) as archive:
            estimates = pd.read_parquet(io.BytesIO(archive.read("estimates.parquet")))
        for name, rows in by_name(without_seconds(estimates), DIAGNOSTIC):
            lines[f"estimates {name}"] = f"{len(rows)} {digest(rows, digits=9)}"
    return lines


def without_seconds(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose metric isn't a time."""
    return frame if "metric" not in frame else frame[~frame["metric"].astype(str).str.startswith("seconds")]


def main(action: str, folder: str, net: str = str(NET)) -> int:
    """Write the numbers of a folder's runs, or print whether they are those of the file; return the exit code."""
    file = Path(net)
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    found = {path.parent.name: numbers_of(path.parent) for path in sorted(Path(folder).glob("*/predictions.parquet"))}
    if action == "write":
        text = json.dumps(known | found, indent=0, sort_keys=True, ensure_ascii=False)
        file.write_text(f"{text}\n", encoding="utf-8")
        return 0
    code = 0
    for name in sorted(known.keys() | found.keys()):
        if name not in found or name not in known:
            print(f"{name}: {'no finished run here' if name in known else 'not in the file'}")
            continue
        now, then = found[name], known[name]
        changed = [key for key in sorted(now.keys() | then.keys()) if now.get(key) != then.get(key)]
        print(f"{name}: " + (f"{len(changed)} of {len(then)} differ" if changed else f"equal ({len(then)})"))
        for key in changed[:MOST_NAMED]:
            print(f"  {'missing' if key not in now else 'new' if key not in then else 'differs'}: {key}")
        code = code or int(bool(changed))
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
