"""The pictures of the documents, drawn from what is pinned and printed: `python docs/pictures.py` writes docs/img/."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from benchmark.environment import write_whole
from benchmark.evaluation import published as papers
from benchmark.evaluation.intervals import wilson
from benchmark.findings.papers import load_published
from benchmark.library.pinned import PINNED
from benchmark.report.charts import Chart, Line, Panel
from benchmark.report.drawing.curves import chart_figure
from benchmark.report.drawing.style import FAINT, OURS, PUBLISHED, TEXT, WIDTH, house_style, settle, svg_bytes

IMAGES = Path(__file__).with_name("img")
MEASURED = Path(__file__).parents[1] / "results" / "scale.json"
LAPTOPS = (8.0, 16.0)  # GB
#: By configuration: what is tested, and the paper's configuration that the same NGD is printed of.
ROWS = {
    "simplex-20ng": ("20 Newsgroups, by date", "20ng"),
    "simplex-webkb": ("WebKB, leave one university out", "webkb"),
    "simplex-r8": ("Reuters R8", ""),
    "simplex-r52": ("Reuters R52", ""),
    "simplex-modapte": ("ModApte-90, micro-F1", ""),
}
#: Which cell a series shows, by how its name begins; the last of a file is that of the richest choice.
SERIES = {"tf-ngd": "NGD", "tfidf-linear-svm": "TF×IDF, LIBLINEAR", "": "√p: weights, fields and pairs chosen"}
MARKS = {
    "NGD": {"marker": "o", "color": OURS, "markerfacecolor": "white"},
    "TF×IDF, LIBLINEAR": {"marker": "s", "color": FAINT},
    "√p: weights, fields and pairs chosen": {"marker": "o", "color": OURS},
    "NGD as printed": {"marker": "D", "color": PUBLISHED, "markerfacecolor": "white"},
    "highest published": {"marker": "D", "color": PUBLISHED},
}


def scores_of(config: str) -> dict[str, tuple[float, float, float]]:
    """By series: percent, and the ends of Wilson's interval where it is an accuracy on one split, else the percent."""
    table = pd.read_csv(PINNED / f"{config}.csv")
    one_split = set(table["fold"]) == {"test", "all"}
    whole = table.query("fold == 'all' and metric != 'macro-f1'")
    found = {}
    for start, name in SERIES.items():
        own = whole[whole["cell"].str.startswith(start)]
        row = own.iloc[0 if start else -1]
        value, n = float(row["value"]), int(row["n"])
        low, high = wilson(round(value * n), n) if one_split and row["metric"] == "accuracy" else (value, value)
        found[name] = (100 * value, 100 * low, 100 * high)
    return found


def printed_of(config: str, of: str) -> dict[str, tuple[float, float, float]]:
    """By series: what is printed of NGD, and the highest number of any landmark, which may have seen the test set."""
    ngd = [
        float(value.value)
        for value in load_published(papers.FOLDER / "zhang2005.yaml").values
        if value.config == of and value.cell == "tf-l1-ngd"
    ]
    others = [
        float(value.value)
        for landmark in load_published(papers.FOLDER / "landmarks.yaml").landmarks
        for value in landmark.values
        if value.config == config
    ]
    shown = {"NGD as printed": ngd, "highest published": others}
    return {name: (max(values),) * 3 for name, values in shown.items() if values}


def overview() -> Figure:
    """What was found, in one picture: a row a test set, percent of it right."""
    with house_style():
        figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
        axes = figure.subplots()
        for y, (config, (_, of)) in enumerate(ROWS.items()):
            for name, (value, low, high) in (scores_of(config) | printed_of(config, of)).items():
                axes.hlines(y, low, high, color=MARKS[name]["color"], linewidth=1.2, zorder=2)
                axes.plot([value], [y], linestyle="none", markersize=5.5, zorder=3, **MARKS[name])
        for name, mark in MARKS.items():
            axes.plot([], [], linestyle="none", markersize=5.5, label=name, **mark)
        axes.set_yticks(range(len(ROWS)), [title for title, _ in ROWS.values()])
        axes.set_ylim(len(ROWS) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_xlabel("Accuracy or micro-F1 (%); bars: 95 % interval, where there is one split")
        figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=TEXT)
        settle(figure)
    return figure


def scale() -> Figure:
    """How seconds and memory grow with documents, words, classes, cells and workers, a row each, as measured.

    Seconds are the processors', but the clock's where workers share the work; there the base has none of these.
    """
    found = json.loads(MEASURED.read_text(encoding="utf-8"))
    table, panels = pd.DataFrame(found["points"]), list[Panel]()
    for axis in found["base"]:
        others = [other for other in found["base"] if other != axis]
        own = table[(table[others] == [found["base"][other] for other in others]).all(axis=1)].sort_values(axis)
        own = own[own[axis] > 0]
        if own[axis].nunique() < 2:
            continue
        clock = axis == "workers"
        ends = (float(own[axis].min()), float(own[axis].max()))
        laptops = [Line(f"{size:.0f} GB", ends, (size, size)) for size in LAPTOPS]
        for what, unit in (("seconds", "seconds on the clock") if clock else ("cpu", "seconds"), ("memory", "GB")):
            lines = [
                Line(str(route).partition(",")[0], tuple(g[axis]), tuple(g[what]))
                for route, g in own.groupby("route", sort=False)
            ]
            panels.append(Panel(f"{unit} against {axis}", (*lines, *(laptops if what == "memory" else ()))))
    labels = ("", "Seconds of the processors; resident memory")
    return chart_figure(
        Chart("scale", "From a file to its scores", *labels, tuple(panels), log_x=True, log_y=True, round_x=True)
    )


PICTURES = {"overview": overview, "scale": scale}


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        write_whole(IMAGES / f"{name}.svg", svg_bytes(draw()))
