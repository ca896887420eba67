"""Draw the figures of the documentation from pinned and published values: `python docs/pictures.py`.

`python docs/pictures.py --script` makes the script anew that draws the figures of a run's page, with the installed
version of vl-convert. Its licences, a comment at its beginning, stay: change them by hand where its parts change.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import altair as alt
import pandas as pd

from benchmark.analysis.figures import POINT_COLUMNS, Chart
from benchmark.commands.check import PINNED
from benchmark.evaluation.intervals import wilson
from benchmark.papers import published as papers
from benchmark.papers.load import load_published
from benchmark.report.drawing.altair_charts import rows_data, spec_of
from benchmark.report.drawing.curves import curve_chart
from benchmark.report.drawing.render import engine_version, render_pictures, run_vl_convert
from benchmark.report.drawing.spec import (
    MUTED,
    OURS,
    PAPER,
    PUBLISHED,
    WIDTH,
    VegaSpec,
    figure_spec,
    legend_columns,
    round_for_output,
    side_by_side,
    text_width,
)
from benchmark.system.atomic_files import write_atomically

IMAGES = Path(__file__).with_name("img")
SCRIPT = Path(__file__).parents[1] / "benchmark" / "report" / "templates" / "vega.js"
MEASURED = Path(__file__).parents[1] / "results" / "scale.json"
COMPARISONS = Path(__file__).parents[1] / "results" / "papers" / "comparisons.csv"
FLAT = 3.0  # a panel whose lines all grow by less than this factor is left out
#: By configuration: what is tested, and the paper's configuration that the same NGD is printed of.
ROWS = {
    "simplex-20ng": ("20 Newsgroups, by date", "20ng"),
    "simplex-webkb": ("WebKB, leave one university out", "webkb"),
    "simplex-r8": ("Reuters R8", ""),
    "simplex-r52": ("Reuters R52", ""),
    "simplex-modapte": ("ModApte-90, micro-F1", ""),
}
TFIDF = "TF×IDF, LIBLINEAR"
ROOTED, UNROOTED = "square roots of chosen weights", "the same weights without root"
#: The cell that a series shows, without the choice of its parameters.
SERIES = {"NGD": "tf-ngd", TFIDF: "tfidf-linear-svm-ridge0", UNROOTED: "unrooted", ROOTED: "simplex"}
#: On ModApte-90 each story gets at least one topic in all series; NGD was run without that rule, and isn't shown.
OTHER_SERIES = {
    "simplex-modapte": SERIES | {"NGD": "", TFIDF: "tfidf-linear-svm-ridge0-threshold-at-least-one"},
}
CHOICES = {"simplex-20ng": "temporal-holdout"}
PRINTED, HIGHEST = "NGD as printed", "highest of a selection of published values"
#: How papers with a language model stand in the census.
PRETRAINED = "published, pretrained, not run again"
#: Comparisons of results/papers: what a step adds, its claim, and whether the claim is the other way round.
STEPS = {
    "all of NGD's geometry": ("ngd-above-linear-at-its-scale", 1),
    "square root of the counts": ("step-square-root", 1),
    "ridge": ("step-ridge", 1),
    "curvature": ("step-curvature", 1),
    "one-vs-rest for one-vs-one": ("step-one-vs-one", -1),
}
#: Beginning of the cells on a corpus.
CORPORA = {"20 Newsgroups": "20ng-tf-", "WebKB": "tf-"}
MARKS = {
    "NGD": {"shape": "circle", "stroke": OURS, "fill": PAPER},
    TFIDF: {"shape": "square", "stroke": MUTED, "fill": MUTED},
    UNROOTED: {"shape": "square", "stroke": MUTED, "fill": PAPER},
    ROOTED: {"shape": "circle", "stroke": OURS, "fill": OURS},
    "20 Newsgroups": {"shape": "circle", "stroke": OURS, "fill": OURS},
    "WebKB": {"shape": "square", "stroke": PUBLISHED, "fill": PAPER},
    PRINTED: {"shape": "diamond", "stroke": PUBLISHED, "fill": PAPER},
    HIGHEST: {"shape": "diamond", "stroke": PUBLISHED, "fill": PUBLISHED},
}


def scores_of(config: str) -> dict[str, tuple[float, float, float]]:
    """Return percent and interval by series: Wilson's for an accuracy on one split, else the percent twice."""
    table = pd.read_csv(PINNED / f"{config}.csv")
    one_split = set(table["fold"]) == {"test", "all"}
    whole = table.query("fold == 'all' and metric != 'macro-f1'")
    found = {}
    for name, cell in OTHER_SERIES.get(config, SERIES).items():
        if not cell:
            continue
        (row,) = whole[whole["cell"] == f"{cell}-{CHOICES.get(config, 'cv')}"].to_dict("records")
        value, n = float(row["value"]), int(row["n"])
        low, high = wilson(round(value * n), n) if one_split and row["metric"] == "accuracy" else (value, value)
        found[name] = (100 * value, 100 * low, 100 * high)
    return found


def printed_of(config: str, of: str) -> dict[str, tuple[float, float, float]]:
    """Return the published value of NGD and the highest reference value, whose method may have seen the test texts."""
    ngd = [
        float(value.value)
        for value in load_published(papers.PUBLISHED_FOLDER / "zhang2005.yaml").values
        if value.config == of and value.cell == "tf-l1-ngd"
    ]
    others = [
        float(value.value)
        for reference in load_published(papers.PUBLISHED_FOLDER / "reference-values.yaml").reference_values
        for value in reference.values
        if value.config == config
    ]
    shown = {PRINTED: ngd, HIGHEST: others}
    return {name: (max(values),) * 3 for name, values in shown.items() if values}


def overview() -> VegaSpec:
    """Draw the accuracies of the main methods on each test set."""
    scores = {config: scores_of(config) for config in ROWS}
    points = [
        {"row": title, "name": name, **rounded(*numbers)}
        for config, (title, of) in ROWS.items()
        for name, numbers in (scores[config] | printed_of(config, of)).items()
    ]
    gaps = [found[ROOTED][0] - found[UNROOTED][0] for found in scores.values()]
    title = f"With equal weights, the square root changes scores by {min(gaps):+.1f} to {max(gaps):+.1f} points"
    x = alt.Scale(zero=False)
    y = alt.Y("row:N", sort=None, axis=alt.Axis(title=None, ticks=False, domain=False, grid=False))
    note = "Accuracy or micro-F1 (%). Bars: 95% interval, where there is one split."
    looks = {name: MARKS[name] for name in (*SERIES, PRINTED, HIGHEST)}
    return marks(points, x, y, looks, 240, title, note)


def gap_of(claim: str, cells: str, sign: int = 1, config: str = "anatomy") -> dict[str, float]:
    """Return the difference of a comparison of a paper's claim: points with interval, and p after Holm's correction."""
    rows = pd.read_csv(COMPARISONS)
    of_claim = (rows["claim"] == claim) & (rows["config"] == config)
    (row,) = rows[of_claim & rows["a"].str.startswith(cells)].to_dict("records")
    low, high = sorted(100 * sign * row[end] for end in ("low", "high"))
    return {"value": 100 * sign * row["value"], "low": low, "high": high, "p": row["p_holm"]}


def steps() -> VegaSpec:
    """Draw what each step from a linear kernel on words to NGD adds, and what one-vs-rest adds to that."""
    gaps = {
        (step, corpus): gap_of(claim, cells, sign)
        for step, (claim, sign) in STEPS.items()
        for corpus, cells in CORPORA.items()
    }
    points = [
        {"row": step, "name": corpus, **rounded(gap["value"], gap["low"], gap["high"])}
        for (step, corpus), gap in gaps.items()
    ]
    first, *_, last = STEPS
    added = [gaps[each]["value"] for each in ((first, "WebKB"), (first, "20 Newsgroups"), (last, "20 Newsgroups"))]
    title = "NGD's geometry adds {:.1f} points on WebKB and {:.1f} on 20 Newsgroups, where one-vs-rest adds {:.1f}"
    y = alt.Y("row:N", sort=None, axis=alt.Axis(title=None, ticks=False, domain=False, grid=False))
    note = "Points of accuracy, with 95% interval. Word counts; each step on equal inputs."
    looks = {corpus: MARKS[corpus] for corpus in CORPORA}
    return marks(points, alt.Scale(zero=True), y, looks, 190, title.format(*added), note, beside=True)


def rounded(value: float, low: float, high: float) -> VegaSpec:
    """Return a score and its interval for a specification."""
    return {"value": round_for_output(1, value), "low": round_for_output(1, low), "high": round_for_output(1, high)}


def marks(
    points: list[VegaSpec],
    x: alt.Scale,
    y: alt.Y,
    looks: dict[str, VegaSpec],
    height: int,
    title: str,
    note: str,
    *,
    beside: bool = False,
) -> VegaSpec:
    """Draw points with their intervals, each as its name looks; names of a row one below the other if `beside`."""
    data, across = alt.Chart(rows_data(points)), {"type": "quantitative", "scale": x, "title": None}
    room = WIDTH - 44 - text_width(max((str(point.get("row", "")) for point in points), key=len), 11)
    scales = {key: alt.Scale(domain=list(looks), range=[each[key] for each in looks.values()]) for key in MARKS["NGD"]}
    stroke = alt.Stroke("name:N", scale=scales["stroke"])
    fill = alt.Fill("name:N", scale=scales["fill"])
    shape = alt.Shape("name:N", scale=scales["shape"])
    rows = [y, alt.YOffset("name:N", sort=list(looks))] if beside else [y]
    bars = data.mark_rule(strokeWidth=1.4, aria=False).encode(alt.X("low", **across), alt.X2("high"), *rows, stroke)
    mark = data.mark_point(opacity=1, strokeWidth=1.2, size=40)
    drawn = alt.layer(bars, mark.encode(alt.X("value", **across), *rows, stroke, fill, shape))
    drawn = drawn.properties(width=room, height=height)
    columns = legend_columns(list(looks), WIDTH, room)
    return figure_spec(side_by_side([spec_of(drawn)], 1), WIDTH, title, [note], legend_columns=columns)


def scale() -> VegaSpec:
    """Draw measured seconds and memory against documents, classes and workers, where they grow.

    Seconds are the processors', but the clock's where workers share the work; there the base has none of these.
    """
    found = json.loads(MEASURED.read_text(encoding="utf-8"))
    table, parts = pd.DataFrame(found["points"]), list[pd.DataFrame]()
    for axis in found["base"]:
        others = [other for other in found["base"] if other != axis]
        own = table[(table[others] == [found["base"][other] for other in others]).all(axis=1)].sort_values(axis)
        own = own[own[axis] > 0]
        if own[axis].nunique() < 2:
            continue
        clock = axis == "workers"
        for what, unit in (("seconds", "seconds on the clock") if clock else ("cpu", "seconds"), ("memory", "GB")):
            points = pd.DataFrame({"x": own[axis].astype(float), "y": own[what], "panel": f"{unit} by {axis}"})
            points = points.assign(series=own["route"], low=float("nan"), high=float("nan"))
            lines = points.groupby("series", sort=False)["y"]
            if (lines.max() / lines.min()).max() > FLAT:
                parts += [line for _, line in points[list(POINT_COLUMNS)].groupby("series", sort=False)]
    most = table.loc[table["documents"].idxmax()]
    exact, linear = (found["exponents"][route] for route in ("ngd", "hellinger-linear"))
    title = f"Seconds grow as documents^{exact:.1f} with NGD's kernel and as documents^{linear:.1f} with LIBLINEAR: "
    title += f"{most['documents']:,.0f} take {most['cpu']:.0f} seconds and {most['memory']:.1f} GB"
    logarithmic = {"log_x": True, "log_y": True, "round_x": True}
    return curve_chart(Chart("scale", title, "", "", pd.concat(parts, ignore_index=True), **logarithmic))


def census() -> VegaSpec:
    """Draw the best accuracies of many papers on 20 Newsgroups by their rank, and ours where they would stand."""
    entries = load_published(papers.PUBLISHED_FOLDER / "reference-values.yaml").census
    papers_of = [entry for entry in entries if (entry.corpus, entry.metric) == ("20ng", "accuracy")]
    values = sorted((float(entry.value) for entry in papers_of), reverse=True)
    by = {True: "a paper, test texts seen in training", False: "a paper, not seen", None: "a paper, not known"}
    looks = {
        PRETRAINED: {"shape": "triangle-up", "stroke": PUBLISHED, "fill": PUBLISHED},
        by[None]: {"shape": "circle", "stroke": MUTED, "fill": PAPER},
        by[True]: {"shape": "circle", "stroke": PUBLISHED, "fill": PUBLISHED},
        by[False]: {"shape": "circle", "stroke": PUBLISHED, "fill": PAPER},
    }
    points = [
        {
            "rank": 1 + sum(own > float(entry.value) for own in values),
            "name": PRETRAINED if "BERT" in entry.method else by[entry.transductive],
        }
        | rounded(*[float(entry.value)] * 3)
        for entry in papers_of
    ]
    ours = scores_of("simplex-20ng")
    places = {name: 0.5 + sum(own > value for own in values) for name, (value, _, _) in ours.items()}
    points += [{"rank": places[name], "name": name} | rounded(*numbers) for name, numbers in ours.items()]
    x = alt.Scale(domain=[56, 92], nice=False)
    y = alt.Y("rank:Q", scale=alt.Scale(reverse=True, domain=[0, len(papers_of) + 1], nice=False), title="Rank")
    above = sum(own > ours[ROOTED][0] for own in values)
    title = f"On 20 Newsgroups, {above} of {len(papers_of)} papers give a higher accuracy than our best method"
    note = "Accuracy (%) on the test posts. Bars: 95% interval of ours."
    return marks(points, x, y, looks | {name: MARKS[name] for name in ours}, 300, title, note)


PICTURES = {"overview": overview, "steps": steps, "scale": scale, "census": census}


#: Python program that writes Vega, Vega-Lite and vega-embed as one script, in UTF-8.
BUNDLE_PROGRAM = """import sys, vl_convert
sys.stdout.buffer.write(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode())"""


def page_script(known: str) -> str:
    """Make the script of pages from vl-convert, with the licences of the script that is known."""
    made, done = run_vl_convert(BUNDLE_PROGRAM)
    if not done:
        raise SystemExit("vl-convert makes no script")
    first, licences = known.partition("*/\n")[0].split("\n", 1)
    words = [*first.split()[:-2], engine_version(), "bundles"]
    return f"{' '.join(words)}\n{licences}*/\n" + made.decode().replace("</script", r"<\/script")


if __name__ == "__main__":
    if "--script" in sys.argv:
        write_atomically(SCRIPT, page_script(SCRIPT.read_text(encoding="utf-8")).encode())
    for name, files in render_pictures({name: draw() for name, draw in PICTURES.items()}).items():
        write_atomically(IMAGES / f"{name}.svg", files["svg"])
