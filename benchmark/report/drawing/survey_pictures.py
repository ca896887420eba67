"""Pictures of a survey: scores against seconds with the front that nothing beats, and mean ranks on a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmark.measures import QUANTITIES
from benchmark.report.drawing.style import (
    AXIS_LABEL,
    FAINT,
    OURS,
    PANEL_TITLE,
    PUBLISHED,
    TEXT,
    TITLE,
    WIDTH,
    house_style,
    settle,
)
from benchmark.report.quantities import axis_label, unit_shown
from benchmark.report.surveys import frontier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from benchmark.evaluation.ranks import Ranking
    from benchmark.report.surveys import Problem, Survey

COLUMNS = 2
PANEL, LINE = 2.9, 0.17  # inches: of a panel's height, of a line of text
NAME = 7.0  # points from one name of a method to the next


def trade_off(survey: Survey, named: Sequence[str] = ()) -> Figure:
    """Draw, a panel a problem, score against seconds of training and deciding; the front and some more are named."""
    rows = -(-len(survey.problems) // COLUMNS)
    with house_style():
        figure = Figure(figsize=(WIDTH, 0.5 + PANEL * rows), layout="constrained")
        FigureCanvasAgg(figure)
        panels = list(figure.subplots(rows, min(COLUMNS, len(survey.problems)), squeeze=False).flat)
        for axes, problem in zip(panels, survey.problems, strict=False):
            _draw_trade_off(axes, survey, problem, named)
        for axes in panels[len(survey.problems) :]:
            axes.set_visible(False)
        figure.suptitle("What a better score costs", fontsize=TITLE)
        figure.supxlabel("Seconds to train and to decide on the tested documents", fontsize=AXIS_LABEL)
        settle(figure)
    return figure


def _draw_trade_off(axes: Axes, survey: Survey, problem: Problem, named: Sequence[str]) -> None:
    own = survey.whole()
    own = own[(own["problem"] == problem.name) & own["training"].notna()]
    scale = unit_shown(problem.metric, QUANTITIES).scale
    methods, scores = list(own["method"]), [scale * value for value in own["value"]]
    # A logarithmic axis has no 0: less than a millisecond is drawn as one.
    seconds = [max(r["training"] + r["deciding"] * r["n"] / 1000, 1e-3) for r in own.to_dict("records")]
    front = frontier(seconds, scores)
    axes.set_xscale("log")
    axes.plot(seconds, scores, "o", color=FAINT, markersize=3, markerfacecolor="none", zorder=2)
    axes.step([seconds[i] for i in front], [scores[i] for i in front], where="post", color=OURS, linewidth=1, zorder=1)
    axes.plot([seconds[i] for i in front], [scores[i] for i in front], "o", color=OURS, markersize=4.5, zorder=3)
    others = [i for i, method in enumerate(methods) if method in named and i not in front]
    axes.plot([seconds[i] for i in others], [scores[i] for i in others], "D", color=PUBLISHED, markersize=4, zorder=3)
    low, high = min(scores[i] for i in (*front, *others)), max(scores)
    axes.set_ylim(low - 0.08 * (high - low) - 0.5, high + 0.12 * (high - low) + 0.3)
    axes.set_xlim(min(seconds) / 40, max(seconds) * 3)
    # Up and left of the front there is nothing: its names stand there, one below the other where they would touch.
    points, above = (PANEL - 0.8) * 72 / (axes.get_ylim()[1] - axes.get_ylim()[0]), float("inf")
    for i in reversed(front):
        height = min(scores[i] * points + 2, above - NAME)
        above, shift = height, height - scores[i] * points
        _name(axes, methods[i], (seconds[i], scores[i]), (-4, shift), OURS, ha="right")
    for i in others:
        _name(axes, methods[i], (seconds[i], scores[i]), (5, -3), PUBLISHED, va="top")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.set_title(problem.name, fontsize=PANEL_TITLE)
    axes.set_ylabel(axis_label((problem.metric,), QUANTITIES), fontsize=TEXT)
    axes.spines["left"].set_visible(True)
    axes.tick_params(labelsize=TEXT)
    axes.grid(axis="y", color="#dddddd", linewidth=0.5)


def _name(axes: Axes, text: str, at: tuple[float, float], shift: tuple[float, float], colour: str, **side: Any) -> None:
    axes.annotate(text, at, xytext=shift, textcoords="offset points", size=NAME - 0.5, color=colour, **side)


def rank_line(ranking: Ranking) -> Figure:
    """Draw the mean ranks on a line, and bars over methods that are closer than the critical difference."""
    n, half = len(ranking.methods), (len(ranking.methods) + 1) // 2
    alike = ranking.alike
    depth = 0.35 + LINE * len(alike)
    height = 0.9 + depth + 1.25 * LINE * half
    with house_style():
        figure = Figure(figsize=(WIDTH, height), layout=None)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.27, 0.0, 0.46, 1.0))
        axes.set_xlim(1, n)
        axes.set_ylim(height, 0)
        axes.axis("off")
        top = 0.75
        axes.plot([1, n], [top, top], color="black", linewidth=1, clip_on=False)
        for tick in range(1, n + 1, max(1, n // 12)):
            axes.plot([tick, tick], [top - 0.06, top], color="black", linewidth=0.8, clip_on=False)
            axes.text(tick, top - 0.09, str(tick), ha="center", va="bottom", size=TEXT)
        problems = f"Mean rank over {ranking.problems} problems (1 is the best)"
        axes.text((1 + n) / 2, 0.12, problems, ha="center", va="top", size=PANEL_TITLE)
        for i, (first, last) in enumerate(alike):
            y = top + 0.16 + LINE * i
            ends = [ranking.ranks[first] - 0.15, ranking.ranks[last] + 0.15]
            axes.plot(ends, [y, y], color=PUBLISHED, linewidth=3, solid_capstyle="butt", clip_on=False)
        for i, (method, rank) in enumerate(zip(ranking.methods, ranking.ranks, strict=True)):
            left = i < half
            y = top + depth + 1.25 * LINE * (i if left else n - 1 - i)
            edge = 1 - 0.03 * n if left else n + 0.03 * n
            look: dict[str, Any] = {"color": FAINT, "linewidth": 0.7, "clip_on": False}
            axes.plot([rank, rank, edge], [top, y, y], **look)
            words: dict[str, Any] = {"ha": "right" if left else "left", "va": "center", "size": TEXT}
            axes.text(
                edge + (-0.1 if left else 0.1), y, f"{method}  {rank:.1f}" if left else f"{rank:.1f}  {method}", **words
            )
        settle(figure)
    return figure
