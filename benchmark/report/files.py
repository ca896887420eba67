"""Files of a summary: each is written whole or not at all, and equal summaries give equal bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from benchmark.analysis.summary import SUMMARY_TABLES
from benchmark.report.drawing.dots import dot_chart
from benchmark.report.run_tables import charts_csv, table_csv, table_latex, table_markdown
from benchmark.report.writers import frame_csv
from benchmark.system.atomic_files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.analysis.summary import Summary

FigureSpec = dict[str, Any]
#: Folder of the figures, inside a run folder.
FIGURES = "figures"
#: File of the published values beside ours, where the experiment has a paper.
VERDICTS_FILE = "verdicts.csv"
#: Columns of significance.csv: the difference of each planned pair, and each test of it.
TESTED = ("a", "b", "difference", "low", "high", *SUMMARY_TABLES["significance"][2:])
#: Maps specifications by figure name to bytes by figure name and kind. Figures that can't be drawn are left out.
Render = Callable[[Mapping[str, FigureSpec]], Mapping[str, Mapping[str, bytes]]]


def write_report_files(
    summary: Summary,
    directory: Path,
    render: Render | None = None,
    note: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write every table and figure of the summary, and return their paths.

    Everything is rendered before the first file is written. `render` may use a cache of figures. `note` is called with
    a line on figures that could not be drawn; files that an earlier run wrote for them are removed. Without the extra
    `figures`, the plain one of the scores, which the page has as bars, isn't missed.
    """
    from benchmark.report.drawing.render import IMAGE_FORMATS, engine_version, render_pictures  # noqa: PLC0415 - slow

    contents = {name: text.encode() for name, text in _texts(summary).items()}
    figures = figure_specs(summary)
    made = (render or render_pictures)(figures)
    missing = [name for name in figures if name not in made]
    for name in figures:
        contents |= {f"{FIGURES}/{name}.{kind}": content for kind, content in made.get(name, {}).items()}
    for name, content in contents.items():
        write_atomically(directory / name, content)
    for name in missing:
        for kind in IMAGE_FORMATS:
            (directory / FIGURES / f"{name}.{kind}").unlink(missing_ok=True)
    if note and (engine_version() or summary.charts or summary.regions) and missing:
        why = "failed or ran out of memory" if engine_version() else "needs pip install 'simplexbench[figures]'"
        note(f"figures are missing, since vl-convert, which draws them, {why}: {', '.join(missing)}")
    return [directory / name for name in contents]


def _texts(summary: Summary) -> dict[str, str]:
    """Return the contents of the tables, by file name: of curves their points, and verdicts only beside a paper."""
    texts = {"table.md": table_markdown(summary), "table.tex": table_latex(summary)}
    texts |= {} if summary.of_points else {"table.csv": table_csv(summary)}
    texts |= {"curves.csv": charts_csv(summary)} if summary.charts else {}
    texts["scores.csv"] = frame_csv(summary.scores, SUMMARY_TABLES["scores"])
    differences = summary.differences.rename(columns={"value": "difference"}).drop(columns="n")
    tests = differences.merge(summary.significance, on=["a", "b"], how="left")
    texts["significance.csv"] = frame_csv(tests, TESTED)
    if len(summary.verdicts):
        texts[VERDICTS_FILE] = frame_csv(summary.verdicts, SUMMARY_TABLES["verdicts"])
    return texts


def figure_specs(summary: Summary) -> dict[str, FigureSpec]:
    """Return the specification of every figure of the summary, by the stem of its files.

    A chart of few points in many panels has none.
    """
    specs = dict[str, FigureSpec]()
    if summary.charts or summary.regions:
        # Altair takes half a second to import: only what draws curves or regions should pay for it.
        from benchmark.report.drawing.curves import curve_charts  # noqa: PLC0415
        from benchmark.report.drawing.regions import region_chart  # noqa: PLC0415

        specs = curve_charts(summary.charts) | {figure.name: region_chart(figure) for figure in summary.regions}
    return specs or {"figure": dot_chart(summary)}
