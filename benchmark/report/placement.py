"""Where predictions that were made elsewhere stand on a public test set: sentences, tables and a page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.number_text import MISSING_TEXT, is_missing, number_text, p_text, printed_decimals
from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import DISPLAY_UNITS, capitalized, metric_name
from benchmark.analysis.ranking import NOT_SHOWN
from benchmark.analysis.summary import HEADLINE_FOLD, CellInfo, Summary, summary_table
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.cell_scores import SCORE_COLUMNS
from benchmark.evaluation.significance import SIGNIFICANCE_LEVEL
from benchmark.report.html.render import render_html
from benchmark.report.html.results import result_table
from benchmark.report.html.section import PageSection
from benchmark.report.tables import metric_header

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from benchmark.evaluation.public_test_sets import PublicTestSet

#: Columns of `Placement.ranking`. Shares are fractions; differences are the placed method's score minus the cell's.
RANKING_COLUMNS = (
    *("rank", "cell", "configuration", "value", "low", "high", "macro_f1"),
    *("difference", "difference_low", "difference_high", "macro_difference", "macro_low", "macro_high"),
    *("only_placed", "only_cell", "p_value", "p_holm", "compared"),
)
#: Columns of `Placement.published`; `published` is the printed text, in percent.
PUBLISHED_SCORE_COLUMNS = ("metric", "method", "source", "year", "published", "transductive", "beside")
BETTER, WORSE = "better", "worse"
HIGHER, LOWER, ALIKE = "higher", "lower", "the same digits"
#: Column that says how the placed method compares with the cell.
IT_IS = "it is"
#: Rows of the terminal's tables: of the ranking, with its first places, and of the published scores.
RANKING_ROWS, FIRST_PLACES, PUBLISHED_ROWS = 9, 2, 5
#: Cells that a sentence names, and characters of a published method's name in the terminal.
NAMED_CELLS, LONGEST_METHOD = 4, 40
#: Columns that a narrow terminal leaves out, the least needed first.
SCREEN_DROP_ORDER = (
    *("only it", "only the cell", "interval of it", "95% interval", "in macro-F1", "difference", "macro-F1 %"),
    "p (Holm)",
)
_PERCENT, _SEEN = DISPLAY_UNITS["percent"], "test texts in training"


@dataclass(frozen=True, eq=False)
class Placement:
    """Where predictions stand among our methods and published scores on a public test set.

    Parameters
    ----------
    test_set : PublicTestSet
    name : str
        Name of the placed method.
    scores : DataFrame
        Columns cell, fold, metric, value, low, high, n and ties, as in `Result.scores`: the placed method alone.
    ranking : DataFrame
        A row for the placed method and for each cell, the best first, with the columns `RANKING_COLUMNS`. The
        configuration of the placed method is "". `only_placed` and `only_cell` count the documents that one of the two
        gets right. Where documents have one label, `p_value` is of McNemar's exact test and `p_holm` is corrected over
        all cells. `compared` says how the placed method compares: "better", "worse" or "no clear difference".
    published : DataFrame
        Published scores, the highest first, with the columns `PUBLISHED_SCORE_COLUMNS`. `beside` says how the published
        score compares, to its printed digits: "higher", "lower" or "the same digits".
    excluded : mapping of str to bool
        Whether the predictions of documents that our methods leave out are right, by id.
    """

    test_set: PublicTestSet
    name: str
    scores: pd.DataFrame
    ranking: pd.DataFrame
    published: pd.DataFrame
    excluded: Mapping[str, bool]

    @property
    def rank(self) -> int:
        """Rank of the placed method among the cells, from 1; equal scores share a rank."""
        return int(self._placed["rank"])

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the numbers show, a fact a sentence."""
        return (*self._score_sentences(), *self._rank_sentences(), *self._published_sentences())

    @property
    def notes(self) -> tuple[str, ...]:
        """What readers of the numbers need to know."""
        main, further = (metric_name(each, DIAGNOSTIC_METRICS) for each in self.test_set.metrics)
        groups = len(set(self.scores["fold"])) - 1
        notes = [f"{capitalized(main)} is the mean over the {groups} groups."] if groups > 1 else []
        if self.test_set.multilabel:
            notes.append(
                f"Differences have 95% intervals of a paired bootstrap over documents. {capitalized(main)} decides: a "
                f"difference is clear if the interval leaves out 0. The intervals aren't corrected for their number."
            )
        else:
            notes.append(
                f"p is of McNemar's exact test, two-sided, after Holm's correction over {len(self.ranking) - 1} cells. "
                f"At {SIGNIFICANCE_LEVEL:g} or more there is {NOT_SHOWN}, which doesn't show that the two are "
                "equally good."
            )
        if self.ranking["macro_low"].isna().all() and self.test_set.multilabel:
            notes.append(f"{capitalized(further)} has no interval: a class has fewer than ten tested documents.")
        notes.append("Ranks are of the scores on these documents; a rank has no interval.")
        return tuple(notes)

    @property
    def _placed(self) -> dict[str, Any]:
        row = self.ranking[self.ranking["configuration"] == ""].iloc[0]
        return {str(name): value for name, value in row.items()}

    @property
    def _cells(self) -> pd.DataFrame:
        return self.ranking[self.ranking["configuration"] != ""]

    def _score_sentences(self) -> list[str]:
        heads = self.scores[self.scores["fold"] == HEADLINE_FOLD].set_index("metric")
        parts = []
        for metric in self.test_set.metrics:
            value, low, high = (heads.loc[metric, name] for name in ("value", "low", "high"))
            interval = "" if is_missing(low) else f" {_PERCENT.interval(low, high)}"
            parts.append(f"{metric_name(metric, DIAGNOSTIC_METRICS)} {_PERCENT.text(value)}%{interval}")
        n = int(heads["n"].iloc[0])
        said = [f"{self.name}: {' and '.join(parts)}, on {n:,} {self.test_set.documents} of {self.test_set.title}."]
        for name, right in self.excluded.items():
            of_all = (float(heads["value"].iloc[0]) * n + right) / (n + 1)
            state = f"{'right' if right else 'wrong'}: {_PERCENT.text(of_all)}% of all {n + 1:,}"
            said.append(f"{name}, which our methods leave out, is predicted {state}.")
        return said

    def _rank_sentences(self) -> list[str]:
        cells, n = self._cells, len(self._cells)
        by = {word: cells["cell"][cells["compared"] == word].tolist() for word in (BETTER, WORSE, NOT_SHOWN)}
        metric = metric_name(self.test_set.metrics[0], DIAGNOSTIC_METRICS)
        rule = "the interval of the difference" if self.test_set.multilabel else "a paired test"
        alike = by[NOT_SHOWN]
        named = f": {', '.join(alike[:NAMED_CELLS])}{', …' * (len(alike) > NAMED_CELLS)}" if alike else ""
        counts = f"better than {len(by[BETTER])} of them, and worse than {len(by[WORSE])}"
        return [
            f"By {metric}, it has rank {self.rank} beside {n} methods of ours.",
            f"By {rule}, it is {counts}; there is {NOT_SHOWN} from {len(alike)}{named}.",
        ]

    def _published_sentences(self) -> list[str]:
        said = []
        for metric in self.test_set.metrics:
            rows = self.published[self.published["metric"] == metric]
            counts = {word: int((rows["beside"] == word).sum()) for word in (HIGHER, LOWER, ALIKE)}
            if len(rows):
                name = metric_name(metric, DIAGNOSTIC_METRICS)
                same = f", equal to {counts[ALIKE]} in the printed digits" if counts[ALIKE] else ""
                beside = f"below {counts[HIGHER]} and above {counts[LOWER]}{same}"
                said.append(f"Its {name} is {beside} of {len(rows)} published values.")
        return said or ["No published value on these documents is known here."]

    def _repr_html_(self) -> str:
        """Return the sentences and the ranking, which notebooks show."""
        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)
        return said + str(
            self.ranking[["rank", "cell", "value", "macro_f1", "difference", "p_holm", "compared"]].to_html()
        )


def ranking_grid_of(placement: Placement) -> Table:
    """Return the ranking as text: the scores, and how the placed method compares with each cell."""
    main, further = placement.test_set.metrics
    percent, interval = _PERCENT.text, _PERCENT.interval
    columns: dict[str, Callable[[Mapping[Any, Any]], str]] = {
        "rank": lambda row: str(row["rank"]),
        "cell": lambda row: str(row["cell"]),
        metric_header(main, DIAGNOSTIC_METRICS): lambda row: percent(row["value"]),
        "95% interval": lambda row: interval(row["low"], row["high"]),
        metric_header(further, DIAGNOSTIC_METRICS): lambda row: percent(row["macro_f1"]),
    }
    paired: dict[str, Callable[[Mapping[Any, Any]], str]] = {
        IT_IS: lambda row: str(row["compared"]),
        "p (Holm)": lambda row: p_text(row["p_holm"]),
        "difference": lambda row: percent(row["difference"], "+"),
        "interval of it": lambda row: interval(row["difference_low"], row["difference_high"], "+"),
        "in macro-F1": lambda row: percent(row["macro_difference"], "+"),
        "only it": lambda row: f"{row['only_placed']:.0f}",
        "only the cell": lambda row: f"{row['only_cell']:.0f}",
        "configuration": lambda row: str(row["configuration"]),
    }
    del paired["p (Holm)" if placement.test_set.multilabel else "in macro-F1"]
    rows = [
        (
            *(text(row) for text in columns.values()),
            *(text(row) if row["configuration"] else "" for text in paired.values()),
        )
        for row in placement.ranking.to_dict("records")
    ]
    title = f"Among our methods on {placement.test_set.title}"
    note = (
        "difference: its score minus the cell's, in points; only it: documents that it gets right and the cell doesn't."
    )
    words = {"cell", IT_IS, "configuration"}
    details = dict(zip(reversed(SCREEN_DROP_ORDER), range(1, 1 + len(SCREEN_DROP_ORDER)), strict=True))
    header = [
        Column(name, None if name in words else PLAIN, detail=details.get(name, 0)) for name in (*columns, *paired)
    ]
    return Table.of(title, header, rows, note)


def published_grid_of(placement: Placement) -> Table:
    """Return the published scores as text, the highest first, with the placed score among them."""
    heads = placement.scores[placement.scores["fold"] == HEADLINE_FOLD].set_index("metric")["value"]
    rows: list[tuple[str, ...]] = []
    for metric, group in placement.published.groupby("metric", sort=False):
        name, ours = metric_name(str(metric), DIAGNOSTIC_METRICS), 100 * float(heads[metric])
        own = (name, f"{ours:.2f}", placement.name, "", "", "")
        above = [row for row in group.to_dict("records") if row["beside"] == HIGHER]
        others = [row for row in group.to_dict("records") if row["beside"] != HIGHER]
        texts = [[_published_row(name, row, ours) for row in part] for part in (above, others)]
        rows += [*texts[0], own, *texts[1]]
    header = ("metric", Column("%", PLAIN), "method", Column("year", PLAIN), Column("difference", PLAIN), _SEEN)
    note = (
        "Published scores were not checked here, and most are the best that a paper gives, chosen after the test. "
        "difference: the placed score minus the published one, in points. test texts in training: whether the method "
        "saw the test documents, without their labels, while it was trained."
    )
    return Table.of("Among published scores", header, rows, note)


def _published_row(name: str, row: Mapping[Any, Any], ours: float) -> tuple[str, ...]:
    seen = {True: "yes", False: "no"}.get(row["transductive"], "not known")
    year = MISSING_TEXT if is_missing(row["year"]) else f"{row['year']:.0f}"
    decimals = printed_decimals(row["published"])
    method = f"{row['method']} ({row['source']})" if row["source"] else row["method"]
    return name, row["published"], method, year, number_text(ours - float(row["published"]), decimals, "+"), seen


def screen_grids(placement: Placement) -> tuple[Table, ...]:
    """Return the tables of one screen: the first places, and the rows beside the placed method."""
    ranking, published = ranking_grid_of(placement), published_grid_of(placement)
    own = next(i for i, row in enumerate(placement.ranking["configuration"]) if not row)
    short = _rows_around(ranking, own, RANKING_ROWS, FIRST_PLACES).without("configuration")
    # The longest ids leave room for a short word.
    rows = tuple(tuple(MISSING_TEXT if text == NOT_SHOWN else text for text in row) for row in short.rows)
    alike = rows != short.rows
    grids = [replace(short, rows=rows, note=f"{MISSING_TEXT}: {NOT_SHOWN}" if alike else "")]
    first = published.rows[0][0] if published.rows else ""
    of_main = replace(published, rows=tuple(row for row in published.rows if row[0] == first))
    places = [i for i, row in enumerate(of_main.rows) if row[2] == placement.name]
    if places:
        around = _rows_around(of_main, places[0], PUBLISHED_ROWS)
        texts = tuple((*row[:2], _short(row[2]), *row[3:]) for row in around.rows)
        grids.append(replace(around, rows=texts, note="").without("metric"))
    return tuple(grids)


def placement_page(placement: Placement) -> str:
    """Return the page of a placement: all scores as a table of bars in which its own row is marked, and notes."""
    ranking = placement.ranking
    names = ranking["cell"].where(ranking["configuration"] != "", f"{placement.name} (placed)").tolist()
    cells = tuple(CellInfo(name, {}) for name in names)
    metric, n = placement.test_set.metrics[0], int(placement.scores["n"].max())
    heads = [
        (name, HEADLINE_FOLD, metric, row["value"], row["low"], row["high"], n, 0)
        for name, row in zip(names, ranking.to_dict("records"), strict=True)
    ]
    drawn = Summary(placement.name, placement.test_set.title, None, cells, summary_table(SCORE_COLUMNS, heads))
    table, grid = result_table(drawn), ranking_grid_of(placement)
    published = published_grid_of(placement)
    sections = (PageSection(published.title, grid=published), PageSection("Notes", lines=placement.notes))
    return render_html(
        "placement.html.j2",
        placement.sentences,
        [each for each in sections if not each.empty],
        placement=placement,
        table=table,
        own=1 + ranking["configuration"].tolist().index(""),
        grid=grid.without("rank", "cell", table.head, "95% interval"),
        note=grid.notes,
    )


def _rows_around(grid: Table, place: int, most: int, first: int = 0) -> Table:
    """Return the first rows of a grid and those around a place, at most `most` rows."""
    start = max(0, min(place - (most - first) // 2, len(grid.rows) - (most - first)))
    shown = [i for i in range(len(grid.rows)) if i < first or start <= i < start + most - first]
    spare = [i for i in range(len(grid.rows)) if i not in shown][: max(0, most - len(shown))]
    rows = tuple(grid.rows[i] for i in sorted((*shown, *spare)))
    title = f"{grid.title} ({len(rows)} of {len(grid.rows)} rows)" if len(rows) < len(grid.rows) else grid.title
    return replace(grid, title=title, rows=rows)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_METHOD else f"{text[: LONGEST_METHOD - 1]}…"


def placement_data(placement: Placement, page: object) -> dict[str, Any]:
    """Return a placement as plain data, with the path of its page."""
    frames = ("scores", "ranking", "published")
    return {
        "name": placement.name,
        "test_set": placement.test_set.name,
        "rank": placement.rank,
        **{frame: getattr(placement, frame).to_dict("records") for frame in frames},
        "excluded": dict(placement.excluded),
        "notes": placement.notes,
        "page": str(page),
    }
