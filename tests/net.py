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
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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


def digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def to_text(value: object, digits: int = 12) -> str:
    return "" if pd.isna(value) else f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def as_lines(frame: pd.DataFrame, digits: int = 12) -> list[str]:
    """Return each row as a line of its columns in the order of their names."""
    columns = [texts_of(frame[name].tolist(), digits) for name in sorted(frame)]
    return ["\t".join(row) for row in zip(*columns, strict=True)]


def texts_of(values: list[object], digits: int) -> list[str]:
    """Return each value of a column as text; the classes of a document that has several are sorted."""
    if any(isinstance(each, np.ndarray) for each in values[:1]):
        return [",".join(sorted(map(str, cast("Iterable[object]", each)))) for each in values]
    codes, distinct = pd.factorize(np.array(values, dtype=object), use_na_sentinel=False)
    return np.array([to_text(each, digits) for each in distinct], dtype=object)[codes].tolist()


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
        lines[f"predictions {name}"] = f"{len(rows)} {digest(as_lines(rows))}"
    scores = pd.read_csv(
        run / "scores.csv", keep_default_na=False, na_values={"value": [""], "low": [""], "high": [""]}
    )
    for cell, rows in without_seconds(scores).groupby("cell"):
        over_all = rows[rows["fold"].astype(str) == "all"].sort_values("metric")
        metrics = [
            f"{metric} {to_text(value)}" for metric, value in zip(over_all["metric"], over_all["value"], strict=True)
        ]
        lines[f"scores {cell}"] = " ".join([*metrics, digest(as_lines(rows[[each for each in SCORE if each in rows]]))])
    if (records := run / "records.zip").exists():
        with zipfile.ZipFile(records) as archive:
            estimates = pd.read_parquet(io.BytesIO(archive.read("estimates.parquet")))
        for name, rows in by_name(without_seconds(estimates), DIAGNOSTIC):
            lines[f"estimates {name}"] = f"{len(rows)} {digest(as_lines(rows, digits=9))}"
    return lines


def without_seconds(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose metric isn't a time."""
    return frame if "metric" not in frame else frame[~frame["metric"].astype(str).str.startswith("seconds")]


def finished_runs(folder: Path) -> dict[str, Path]:
    return {path.parent.name: path.parent for path in sorted(folder.glob("*/predictions.parquet"))}


def write(folder: Path, net: Path) -> None:
    known = json.loads(net.read_text(encoding="utf-8")) if net.exists() else {}
    known |= {name: numbers_of(run) for name, run in finished_runs(folder).items()}
    net.write_text(json.dumps(known, indent=0, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def compare(folder: Path, net: Path) -> bool:
    """Print of each configuration whether its run has the numbers of the file, and return whether all have them."""
    known, runs, same = json.loads(net.read_text(encoding="utf-8")), finished_runs(folder), True
    for name in sorted(known.keys() | runs.keys()):
        if name not in runs or name not in known:
            print(f"{name}: {'no finished run here' if name in known else 'not in the file'}")
            continue
        now, then = numbers_of(runs[name]), known[name]
        changed = [f"differs: {key}" for key in sorted(now.keys() & then.keys()) if now[key] != then[key]]
        changed += [f"missing: {key}" for key in sorted(then.keys() - now.keys())]
        changed += [f"new: {key}" for key in sorted(now.keys() - then.keys())]
        print(f"{name}: " + (f"{len(changed)} of {len(then)} differ" if changed else f"equal ({len(then)})"))
        print(*(f"  {each}\n" for each in changed[:MOST_NAMED]), sep="", end="")
        same = same and not changed
    return same


def main(action: str, folder: str, net: str = str(NET)) -> int:
    if action == "write":
        write(Path(folder), Path(net))
        return 0
    return 0 if compare(Path(folder), Path(net)) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
