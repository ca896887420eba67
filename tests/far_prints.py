"""Run the experiments of configs/far-prints, compare them with the pinned numbers, and write what they explain.

    python -m tests.far_prints [--update] [RUNS_FOLDER]

Each configuration is run by `bench run`, from the store where that has its results, and so is 20ng itself, with which
they are compared. `results/far-prints.csv` has the numbers, a line a choice and cell; `--update` pins them. Seconds and
choices that were tried before stand in that file alone. `results/far-prints.md` is made of it, the configurations and
the published values alone. The command ends with 1 if a number differs from the pinned one by more than its ties.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtri

from benchmark import read
from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import number_text
from benchmark.experiment.configuration import load_experiment
from benchmark.papers.load import load_published
from benchmark.papers.published_verdicts import estimate_of
from benchmark.report.writers import frame_csv, markdown_table

REPOSITORY = Path(__file__).parents[1]
FOLDER = REPOSITORY / "configs" / "far-prints"
PINNED = REPOSITORY / "results" / "far-prints.csv"
PAGE = REPOSITORY / "results" / "far-prints.md"
COLUMNS = ("experiment", "choice", "cell", "metric", "value", "low", "high", "ties")
KEY = ["experiment", "choice", "cell", "metric"]
SECONDS = "processor-seconds"
CONFIGURED = "as configured"
#: The experiments of each paper, in the order of the page.
PAPERS = {
    "zhang2005": ("20ng-implied-c", "20ng-solver", "20ng-editions", "20ng-lexers", "20ng-triples"),
    "lafferty2002": ("webkb-diffusion-pages",),
    "chen2018": ("reuters-skl-ship",),
    "takamura2004": ("reuters-kept-stories",),
}
EXPERIMENTS = [name for names in PAPERS.values() for name in names]
#: Single choices and pairs that were tried before, as results/papers/zhang2005.md has them.
EARLIER = "20ng-sweep, 20ng-pairs"
_CELL = re.compile(r"(tfidf|tf)(?:-plus-one|-of-one-plus)?-(l1|l2)-(linear|ned|ngd)(?:-(.+))?$")
#: The upper ends of the published axes, and the last tick but one, by task; in percent.
AXES = {"faculty-course": (2, 18, 16), "faculty-student": (10, 30, 25)}
PANEL_CELLS = [(kernel, size) for size in ("50", "250") for kernel in ("linear", "rbf", "diffusion")]
TOPIC_COUNTS = ["in-train", "in-test", "in-either", "in-both"]
#: Published counts of stories that the configured rule doesn't give.
LOST = ["all-train", "all", "trade-test", "corn-train"]


def published(paper):
    """Return what a paper prints and claims."""
    return load_published(REPOSITORY / "results" / "published" / f"{paper}.yaml")


def values_of(paper, config):
    """Return the published values of a configuration by name (a cell, or "a vs b")."""
    values = published(paper).values  # noqa: PD011 - not an array
    return {" vs ".join(value.cells): value for value in values if value.config == config and not value.alternative}


# --- From runs to pinned numbers ---


def run_all(folder):
    """Run all configurations."""
    for name in ["20ng", *EXPERIMENTS]:
        path = "20ng" if name == "20ng" else str(FOLDER / f"{name}.yaml")
        command = [str(Path(sys.executable).with_name("bench")), "--trust", "run", path]
        subprocess.run([*command, "--out", str(folder / name), "--overwrite"], check=True, stdout=subprocess.DEVNULL)


def numbers_of(folder):
    """Return the numbers of all runs in a folder, as they are pinned."""
    rows = [row for name in ("20ng", *PAPERS["zhang2005"]) for row in _of_newsgroups(folder / name)]
    rows += _of_cells(folder / "webkb-diffusion-pages", "error")
    rows += _of_cells(folder / "reuters-skl-ship", "average-skl")
    rows += _of_cells(folder / "reuters-kept-stories", "stories", "topics")
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _scores(folder):
    gaps = {"value": [""], "low": [""], "high": [""]}
    return pd.read_csv(folder / "scores.csv", keep_default_na=False, na_values=gaps)


def _choice_and_name(cell):
    """Return the choice that a cell is under, and its name without it."""
    if cell.variant == "base":
        return CONFIGURED, cell.id
    return cell.variant, cell.id.removeprefix(f"{cell.variant}-")


def _of_newsgroups(folder):
    """Yield the accuracies and Z of each choice: a variant, or a parameter of the classifier."""
    run, chosen, scores = read(folder).findings, {}, _scores(folder)
    headlines = scores[(scores["fold"] == "all") & (scores["metric"] == "accuracy")].set_index("cell")
    for cell in run.experiment.cells:
        what, words = _choice_and_name(cell)
        weighting, normalization, kernel, parameter = _CELL.match(words).groups()
        if parameter and parameter.startswith("epsilon"):
            what = f"tolerance {parameter.removeprefix('epsilon')}"
        elif parameter and what == CONFIGURED:
            what = f"C = {parameter.removeprefix('c')}"
        chosen.setdefault(what, {})[f"{weighting}-{normalization}-{kernel}"] = cell.id
    for what, cells in chosen.items():
        for cell, of in cells.items():
            row = headlines.loc[of]
            yield folder.name, what, cell, "accuracy", row["value"], row["low"], row["high"], row["ties"] / row["n"]
        for pair, value in values_of("zhang2005", "20ng").items():
            if value.pair and set(value.pair) <= cells.keys():
                z = estimate_of("sign-z", [cells[each] for each in value.pair], run.scored)
                yield folder.name, what, pair, "sign-z", z.value, z.low, z.high, 0.0


def _of_cells(folder, *metrics):
    """Yield numbers with their intervals; those of errors are two standard deviations of the replicates."""
    scores = _scores(folder).set_index("fold")
    for cell in load_experiment(FOLDER / f"{folder.name}.yaml").cells:
        for metric in metrics:
            own = scores[(scores["cell"] == cell.id) & (scores["metric"] == metric)]
            if len(own):
                value, low, high = own.loc["all", ["value", "low", "high"]]
                if metric == "error":
                    bar = 2 * own["value"].drop("all").std()
                    low, high = value - bar, value + bar
                yield folder.name, *_choice_and_name(cell), metric, value, low, high, 0.0


def differences(pinned, found):
    """Yield a line for each number that differs from the pinned one by more than ties can change."""
    pinned = pinned[~pinned["metric"].eq(SECONDS) & ~pinned["experiment"].eq(EARLIER)]
    both = pinned.merge(found, "outer", on=KEY, suffixes=("", "_now"))
    allowed = both["ties"].fillna(0) + 1e-9 * (1 + both["value"].abs())
    for row in both[~((both["value"] - both["value_now"]).abs() <= allowed)].to_dict("records"):
        yield f"{', '.join(row[each] for each in KEY)}: pinned {row['value']}, found {row['value_now']}"


# --- From pinned numbers to the page ---


def page(pinned):
    """Return the page as Markdown."""
    base = pinned[(pinned["experiment"] == "20ng") & (pinned["choice"] == CONFIGURED)]
    seconds = pinned[pinned["metric"] == SECONDS].set_index("experiment")["value"]
    parts, listed = list[str](), list[dict]()
    for paper, experiments in PAPERS.items():
        section, config = SECTIONS[paper]
        parts.append(f"## {published(paper).title} (`{paper}`)\n")
        for name in experiments:
            experiment, of = load_experiment(FOLDER / f"{name}.yaml"), pinned[pinned["experiment"] == name]
            of = of[of["choice"] != ""].sort_values("choice", key=lambda each: each != CONFIGURED, kind="stable")
            explained, texts = section(of, values_of(paper, config), base, pinned)
            notes = "\n".join(f"- {note}" for note in experiment.notes)
            parts += [f"### {experiment.title} (`configs/far-prints/{name}.yaml`)\n", f"{notes}\n", *texts]
            n = of.loc[of["choice"] != CONFIGURED, "choice"].nunique()
            row = {"paper": paper, "experiment": name, "choices": n, "processor seconds": f"{seconds[name]:.0f}"}
            listed.append(row | {"explains": explained})
    number, minutes = sum(row["choices"] for row in listed), seconds[EXPERIMENTS].sum() / 60
    head = f"""# Published values that ours are far from: what was tried

[All papers](REPRODUCTION.md)

{number} choices were listed, each with what it would show, and committed before it was run. Each experiment
states its rule. **What explains a published value here is tuned to it**: it shows the value under these settings, as a
sensitivity analysis does, and reproduces nothing. What doesn't is listed as tried. No verdict depends on this page.

{_table(listed, "paper", "experiment", "explains")}
The seconds were measured once, on two cores that others used, too: {minutes:.0f} minutes of processor time in all.
"""
    return "\n".join([head, *parts, "*Generated by `make far-prints`, never edited.*\n"])


def _table(rows, *texts):
    """Return rows as a table of Markdown; columns but those of `texts` are of numbers."""
    frame = pd.DataFrame(rows).astype(object)
    header = [name if name in texts else Column(name, PLAIN) for name in frame]
    return markdown_table(Table.of("", header, [*frame.itertuples(index=False, name=None)])) + "\n"


def _beside(of, values):
    """Return the rows of published values with these, whether ours explains them, and ours as text.

    It does if the published value lies in the interval of ours, or is ours as rounded in print.
    """
    of = of[of["cell"].isin(list(values))]
    beside = []
    for row in of.itertuples():
        value = values[row.cell]
        digits, percent = len(value.value.partition(".")[2]), value.unit == "percent"
        printed = float(value.value) / (100 if percent else 1)
        rounded = digits + (2 if percent else 0)
        inside = row.low <= printed <= row.high or round(row.value, rounded) == round(printed, rounded)
        text = number_text(row.value * (100 if percent else 1), digits)
        beside.append((printed, inside, f"{text} ✓" if inside else text))
    return of.assign(**dict(zip(("printed", "inside", "text"), zip(*beside, strict=True), strict=True)))


def _wide(of, values, keys, rms):
    """Return a row for each choice: how many published values it explains, the rms, and ours beside each value."""
    texts = of.pivot_table("text", keys, "cell", "first").reindex(columns=list(values)).fillna("–")
    texts.columns = [f"{cell.removeprefix('table-skl-')} ({value.value})" for cell, value in values.items()]
    inside = of.groupby(keys, sort=False)["inside"].agg(lambda each: f"{each.sum()} of {len(each)}").to_frame()
    return inside.assign(rms=rms.map(number_text)).fillna("–").join(texts).reset_index()


def _whole(holds):
    """Return the choices that a rule holds for, of a series by choice, or "none"."""
    return ", ".join(holds.index[holds.astype(bool)]) or "none"


def _ranked(of, values, base):
    """Return the rows beside the published values, and the rms of each choice that has all of them.

    The rms is of the differences from print, each by the distance to the end of our configured interval.
    """
    of, ends = _beside(of, values), base.set_index("cell").loc[list(values)]
    gap, half = of["printed"] - of["value"], {end: (ends[end] - ends["value"]).abs() for end in ("low", "high")}
    width = of["cell"].map(half["high"]).where(gap > 0, of["cell"].map(half["low"]))
    by_choice = ((gap / width) ** 2).groupby(of["choice"], sort=False)
    return of, by_choice.mean()[by_choice.size() == len(values)] ** 0.5


def _newsgroups(of, values, base, pinned):
    """Return the table of an experiment on 20 Newsgroups, and what else its rule asks for."""
    experiment = of["experiment"].iloc[0]
    of, rms = _ranked(pd.concat([base, of]), values, base)
    table = _wide(of, values, ["choice"], rms)
    table["order"] = table["choice"].map(rms.drop(CONFIGURED)).where(table["choice"] != CONFIGURED, -1)
    table = table.sort_values("order", kind="stable").drop(columns="order")
    words = (
        "In brackets: the published value; ✓: it lies in the 95% interval of ours. rms: of the 14 differences, in "
        "half-widths of our configured intervals.\n"
    )
    parts = [_table(table, "choice"), words]
    if experiment == "20ng-implied-c":
        parts += _implied(of[of["choice"].str.startswith("C = ") | (of["choice"] == CONFIGURED)], values)
    elif experiment == "20ng-triples":
        parts.append(_chance(pinned, rms, values, base))
    configured, others = of["choice"] == CONFIGURED, of[of["choice"] != CONFIGURED]
    deviating = of.loc[configured & ~of["inside"], "cell"]
    hits = [cell for cell in deviating if others.loc[others["cell"] == cell, "inside"].any()]
    listed = f": {', '.join(hits)}" if hits else ""
    whole = _whole(others.groupby("choice", sort=False)["inside"].sum() == len(values))
    return f"{len(hits)} of {len(deviating)} that deviate{listed}; the table: {whole}", parts


def _implied(of, values):
    """Yield the C that each published value implies, by interpolation in log C, and those with it in our interval."""
    grid = of["choice"].replace(CONFIGURED, "C = 1").str.removeprefix("C = ").astype(float)
    of, rows = of.assign(c=grid).sort_values("c", kind="stable"), []
    for cell, value in values.items():
        own = of[of["cell"] == cell]
        gaps, logs, crossings = (own["value"] - own["printed"]).to_numpy(), np.log(own["c"].to_numpy()), []
        for i in np.flatnonzero((gaps[:-1] * gaps[1:] <= 0) & (gaps[:-1] != gaps[1:])):
            at = logs[i] + gaps[i] / (gaps[i] - gaps[i + 1]) * (logs[i + 1] - logs[i])
            crossings.append(f"{math.exp(at):.2f}")
        found = ", ".join(f"{c:g}" for c in own.loc[own["inside"], "c"])
        row = {"published value": cell, "printed": value.value}
        row |= {"C that it implies": ", ".join(crossings) or "none"}
        rows.append(row | {"C of the grid that have it in our interval": found or "none"})
    yield _table(rows, "published value", "C that it implies", "C of the grid that have it in our interval")
    inside = of.groupby("c")["inside"].sum()
    common = ", ".join(f"{c:g}" for c in inside.index[inside == len(rows)])
    yield (
        f"C of the grid with all 14 in our intervals: {common or 'none'}. Most, {inside.max()} of 14, are so at "
        f"C = {inside.idxmax():g}.\n"
    )


def _chance(pinned, rms, values, base):
    """Return what the nearest triple is worth, after so many tries."""
    earlier = pinned[pinned["experiment"].eq(EARLIER) & ~pinned["choice"].str.contains("no-stoplist|no-headers")]
    tried, triples = _ranked(earlier, values, base)[1], rms.drop(CONFIGURED)
    mean, deviation, best = tried.mean(), tried.std(), triples.idxmin()
    low, middle = (mean + deviation * ndtri(1 - (1 - p) ** (1 / len(triples))) for p in (0.025, 0.5))
    verdict = "below" if triples[best] < low else "not below"
    return (
        f"The nearest triple is {best}, with an rms of {triples[best]:.2f} (as configured {rms[CONFIGURED]:.2f}; "
        f"the nearest single choice or pair {tried.idxmin()}, {tried.min():.2f}). By chance: the {len(tried)} single "
        f"choices and pairs with the stop list and with headers have a mean rms of {mean:.2f} and a standard "
        f"deviation of {deviation:.2f}, so the smallest of {len(triples)} such draws has the median {middle:.2f} and "
        f"the 2.5% quantile {low:.2f}. The nearest triple is {verdict} it.\n"
    )


def _panels(of, values, base, pinned):
    """Return the lowest and highest bar of each panel, which explain it if they end where its axis does."""
    rows = []
    for choice, own in of.groupby("choice", sort=False):
        means = 100 * own.set_index("cell")["value"]
        for task, (low_axis, high_axis, tick) in AXES.items():
            bars = 100 * own.loc[own["cell"].str.startswith(f"{task}-"), ["low", "high"]]
            low, high = bars["low"].min(), bars["high"].max()
            holds = low_axis <= low and tick < high <= high_axis
            row = {"choice": choice, "task": task, "lowest bar": f"{low:.1f}", "highest bar": f"{high:.1f}"}
            row |= {"axis": f"{low_axis} to {high_axis}", "explains": "yes" if holds else "no"}
            cells = {f"{kernel}, {size}": f"{task}-{kernel}-oracle-{size}" for kernel, size in PANEL_CELLS}
            rows.append(row | {name: f"{means[cell]:.1f}" for name, cell in cells.items()})
    panels = pd.DataFrame(rows).pivot_table("explains", "choice", "task", "first").loc[of["choice"].unique()]
    words = (
        "Errors in percent at 50 and 250 training pages, σ and t chosen on the test pages as in the paper; bars: two "
        "standard deviations.\n"
    )
    explained = "; ".join(f"{task}: {_whole(panels[task].drop(CONFIGURED) == 'yes')}" for task in AXES)
    return explained, [_table(rows, "choice", "task", "axis", "explains"), words]


def _distances(of, values, base, pinned):
    """Return the distances of each kind of centroid; those of the symmetric KL centroid explain published ones."""
    names = of["cell"].str.replace("-(mean|pooled)-", "-skl-", regex=True)
    of = _beside(of.assign(centroid=of["cell"].str.split("-").str[1], cell=names), values)
    squares = ((of["value"] - of["printed"]) ** 2).groupby([of["choice"], of["centroid"]])
    table = _wide(of, values, ["choice", "centroid"], squares.mean() ** 0.5)
    tried = of[(of["centroid"] == "skl") & (of["choice"] != CONFIGURED)]
    whole = _whole(tried.groupby("choice", sort=False)["inside"].all())
    ship = _whole(tried[tried["cell"] == "table-skl-ship"].set_index("choice")["inside"])
    words = (
        "Distances and the rms of their differences in nats; in brackets: the published value; ✓: it lies in the 95% "
        "interval of ours.\n"
    )
    return f"the table: {whole}; ship: {ship}", [_table(table, "choice", "centroid"), words]


def _stories(of, values, base, pinned):
    """Return the counts of each rule of deletion, and whether it loses one of those that not-brief gives."""
    counts = of.pivot_table("value", "choice", "cell").loc[of["choice"].unique()]
    printed = pd.Series({cell: float(value.value) for cell, value in values.items()})
    equal = counts.reindex(columns=printed.index).eq(printed)
    equal["all"] |= counts[TOPIC_COUNTS].eq(printed["all"]).any(axis=1)
    lossless = equal.drop(columns=LOST).all(axis=1)
    shown = {cell: (cell, f"{cell} ({values[cell].value})") for cell in ("all-train", "all-test", *LOST[2:])}
    shown |= {cell: ("all", f"topics {cell} ({values['all'].value})") for cell in TOPIC_COUNTS}
    rows = []
    for choice, found in counts.iterrows():
        row = {"choice": choice, "equal": f"{equal.loc[choice].sum()} of {len(values)}"}
        row["loses one"] = "no" if lossless[choice] else "yes"
        for cell, (of_print, head) in shown.items():
            row[head] = f"{found[cell]:.0f}{' ✓' if found[cell] == printed[of_print] else ''}"
        rows.append(row)
    explained = "; ".join(f"{values[cell].value} ({cell}): {_whole(equal[cell])}" for cell in LOST)
    words = "In brackets: the published count; ✓: equal. not-brief is configs/reuters-hp-top.yaml's rule.\n"
    return f"{explained}; without a loss: {_whole(lossless)}", [_table(rows, "choice", "loses one"), words]


#: By paper: what makes its part of the page, and the configuration that the published values are of.
SECTIONS = {
    "zhang2005": (_newsgroups, "20ng"),
    "lafferty2002": (_panels, ""),
    "chen2018": (_distances, "reuters-skl"),
    "takamura2004": (_stories, "reuters-hp-top"),
}


def read_pinned():
    """Return the pinned numbers; those of choices with several cells in the order of the file."""
    return pd.read_csv(
        PINNED, dtype=dict.fromkeys(KEY, str), keep_default_na=False, na_values={"low": [""], "high": [""]}
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=REPOSITORY / "results" / "runs" / "far-prints")
    parser.add_argument("--update", action="store_true", help="pin the numbers")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    run_all(asked.folder)
    found, pinned, wrong = numbers_of(asked.folder), read_pinned(), []
    if asked.update:
        rest = pinned[pinned["metric"].eq(SECONDS) | pinned["experiment"].eq(EARLIER)]
        PINNED.write_text(frame_csv(pd.concat([found, rest]), COLUMNS), encoding="utf-8")
    else:
        wrong = list(differences(pinned, found))
    PAGE.write_text(page(read_pinned()), encoding="utf-8")
    state = "differs from what is pinned" if wrong else "as pinned"
    sys.stdout.write("".join(f"{line}\n" for line in [*wrong, f"{PAGE}: {state}"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
