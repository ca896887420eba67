"""The package's own door, for notebooks and programs: experiments as pandas frames and Altair charts.

::

    import benchmark as sb

    pages = sb.load("synthetic")
    found = sb.run(corpus=pages, protocol={"name": "k-fold", "k": 5}, methods=["ngd", "mnb"])
    found.scores, found.tests("ngd", "mnb")
    found.figure().save("figure.png")
"""

from __future__ import annotations

import tempfile
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.compiled import ensure_usable
from benchmark.corpora import registry
from benchmark.errors import ConfigError, unknown
from benchmark.experiment import runner
from benchmark.experiment.configuration import study_from_mapping
from benchmark.experiment.context import RunContext
from benchmark.experiment.folder import computed_from, read_results
from benchmark.experiment.session import checked, default_jobs
from benchmark.experiment.store import Store
from benchmark.findings.decisions import decisions
from benchmark.findings.pairs import shares
from benchmark.findings.scoring import Run
from benchmark.findings.summary import summarized
from benchmark.observer import Observer
from benchmark.parallel.cluster import Cluster
from benchmark.report.files import figures_of

if TYPE_CHECKING:
    import altair as alt

    from benchmark.report.contents import Summary

__all__ = ["Result", "load", "read", "run"]

#: Columns of a frame that have a meaning, and of these the ones that a corpus must have.
COLUMNS, NEEDED = ("text", "label", "labels", "id", "split", "group", "date"), ("text",)


@dataclass(frozen=True, eq=False)
class Result:
    """What an experiment found.

    Parameters
    ----------
    findings : Run
        Its predictions.
    summary : Summary
        All that its tables and figures show.
    """

    findings: Run
    summary: Summary

    @property
    def scores(self) -> pd.DataFrame:
        """Every metric by cell and split, with 95% intervals and ties; shares in [0, 1]."""
        return self.summary.scores

    @property
    def significance(self) -> pd.DataFrame:
        """The tests of what the configuration compares, with Holm's correction."""
        return self.summary.significance

    @property
    def differences(self) -> pd.DataFrame:
        """Paired differences of what the configuration compares, with 95% intervals."""
        return self.summary.differences

    @property
    def confusions(self) -> pd.DataFrame:
        """Documents by cell, true and predicted class."""
        return self.summary.confusions

    @property
    def costs(self) -> pd.DataFrame:
        """Seconds to train and to test, and bytes at the peak, as they were when a cell was first computed."""
        return self.summary.costs

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers has to know."""
        return self.summary.notes

    @property
    def failures(self) -> dict[str, str]:
        """Cells that have no numbers, and why."""
        return dict(self.summary.failures)

    @property
    def figures(self) -> dict[str, alt.Chart]:
        """The figures by name."""
        from benchmark.report.drawing.spec import chart_of  # noqa: PLC0415 - as in `figures_of`

        return {name: chart_of(spec) for name, spec in figures_of(self.summary).items()}

    def figure(self, name: str = "") -> alt.Chart:
        """One figure; the first unless named."""
        found = self.figures
        if name and name not in found:
            raise ConfigError(unknown("figure", name, list(found)))
        return found[name or next(iter(found))]

    def tests(self, a: str, b: str) -> pd.DataFrame:
        """Every valid test of one cell against another, with its p-value before any correction.

        Where a test can't be made, or can't reach 0.05, its p-value is missing and the note says why.
        """
        run = self._run(a, b)
        try:
            found = run.scored.tests(a, b, shares(run.study))
        except (ValueError, KeyError) as error:
            raise ConfigError(f"{a!r} and {b!r} can't be paired: {error}") from None
        columns = "test", "n", "statistic", "p_value", "favours", "note"
        return pd.DataFrame([[getattr(each, name) for name in columns] for each in found], columns=list(columns))

    def predictions(self, cell: str) -> pd.DataFrame:
        """Every decision of a cell: document, split, what is true, what was given, whether there was a tie.

        Of documents with several classes, these are tuples of names.
        """
        run = self._run(cell)
        own = next(each for each in run.study.cells if each.id == cell)
        if cell not in run.scored.chosen:
            raise ConfigError(
                f"the cell {cell!r} has no predictions: {run.failures.get(cell, 'it is computed from others')}"
            )
        several = run.predictions.tasks[own.of_task].several
        rows = [
            (
                each.document,
                each.fold,
                *(named if several else named[0] for named in (each.truth, each.given)),
                each.tied,
            )
            for each in decisions(run, own)
        ]
        return pd.DataFrame(rows, columns=["document", "split", "truth", "given", "tied"])

    def _run(self, *cells: str) -> Run:
        if not isinstance(self.findings, Run):
            raise ConfigError("this experiment is not on text")
        for cell in cells:
            if cell not in self.findings.study.ids:
                raise ConfigError(unknown("cell", cell, self.findings.study.ids))
        return self.findings

    def _repr_html_(self) -> str:
        """The scores of whole cells, as notebooks show them."""
        whole = self.scores[self.scores["fold"] == "all"]
        return str(whole.pivot_table("value", "cell", "metric", sort=False).to_html(float_format="{:.4f}".format))


def run(config: str | Path | None = None, /, *, jobs: int = 0, download: bool = True, **sections: Any) -> Result:
    """Run an experiment; what was computed before comes from the store, and nothing else is written.

    Parameters
    ----------
    config : path, optional
        A YAML file. Or, in its place, its sections as plain data:
    **sections
        ``corpus=…, protocol=…, methods=[…]``, as a configuration has them. The corpus may be a name, or a frame with
        the columns text, label (or labels), and, where there are such, id, split, group and date.
    jobs : int
        Threads; 0 takes all processors.
    download : bool
        Whether a corpus that isn't here may be downloaded.

    Raises
    ------
    ConfigError, DataError
        As the command line says them.
    """
    if (config is None) == (not sections):
        raise ConfigError("run takes a configuration's file, or its sections by name")
    ensure_usable(lambda message: warnings.warn(message, stacklevel=3))
    if config is not None:
        return _done(checked(Path(config)), jobs, download)
    given = {"name": "notebook", "protocol": {"name": "k-fold", "k": 5}, **sections}
    if isinstance(given.get("corpus"), str):
        given["corpus"] = {"name": given["corpus"]}
    if not isinstance(given.get("corpus"), pd.DataFrame):
        return _done(study_from_mapping(given, "run()"), jobs, download)
    with tempfile.TemporaryDirectory(prefix="simplexbench-") as folder:
        given["corpus"] = _written(given["corpus"], Path(folder))
        return _done(study_from_mapping(given, f"{folder}/run()"), jobs, download)


def _done(study: Any, jobs: int, download: bool) -> Result:
    observer = Observer()
    store, place = Store(warn=observer.note), getattr(study, "parallel", None)
    with nullcontext() if place is None else Cluster(place, store, jobs, observer) as elsewhere:
        found = runner.run(study, RunContext(store, observer, jobs or default_jobs(), download, elsewhere))
    return Result(found, summarized(found))


def _written(frame: pd.DataFrame, folder: Path) -> dict[str, Any]:
    """A frame as a file, and the section that names it."""
    for name in NEEDED:
        if name not in frame.columns:
            raise ConfigError(f"the frame has no column {name!r} (columns: {', '.join(map(str, frame.columns))})")
    known = [name for name in COLUMNS if name in frame.columns]
    frame[known].to_json(folder / "frame.jsonl", orient="records", lines=True, force_ascii=False, date_format="iso")
    roles = {name: name for name in known if name not in ("text", "label")}
    return {"name": "files", "path": "frame.jsonl", **roles}


def read(folder: str | Path) -> Result:
    """A finished run, from its folder."""
    found = read_results(Path(folder))
    with computed_from(Path(folder)):
        return Result(found, summarized(found))


def load(name: str, subset: str | None = None) -> pd.DataFrame:
    """A registered corpus as a frame: id, text, label (or labels) and group; bytes that aren't UTF-8 as latin-1."""
    corpus = registry.load(name, subset=subset)
    documents = corpus.documents
    frame = pd.DataFrame({"id": documents.ids, "text": [_text(text) for text in corpus]})
    if documents.topics is None:
        frame["label"] = [documents.classes[label] for label in documents.labels]
    else:
        frame["labels"] = [[documents.classes[code] for code in np.flatnonzero(row)] for row in documents.topics]
    frame["group"] = [documents.group_names[group] for group in documents.groups]
    return frame


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")
