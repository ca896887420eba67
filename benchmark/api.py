"""Python API for notebooks and programs: experiments as pandas frames and Altair charts.

::

    import benchmark as sb

    corpus = sb.load("synthetic")
    result = sb.run(corpus=corpus, protocol={"name": "k-fold", "k": 5}, methods=["ngd", "mnb"])
    result.scores, result.tests("ngd", "mnb")
    result.figure().save("figure.png")
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

from benchmark.analysis.comparisons import tested_metrics
from benchmark.analysis.document_predictions import document_predictions
from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summarize import summarize
from benchmark.commands.place import place_predictions
from benchmark.corpora import registry
from benchmark.experiment import runner
from benchmark.experiment.configuration import experiment_from_mapping
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import load_checked
from benchmark.experiment.run_folder import read_run, report_damage
from benchmark.experiment.store import Store
from benchmark.report.files import figure_specs
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.numba_jit import ensure_numba_cache
from benchmark.system.observer import Observer
from benchmark.system.shipped_files import find_configuration
from benchmark.system.threads import n_processors
from benchmark.workers.cluster import DaskExecutor

if TYPE_CHECKING:
    import altair as alt

    from benchmark.analysis.summary import Summary
    from benchmark.report.placement import Placement

__all__ = ["Result", "load", "place", "read", "run"]

#: Columns that a corpus may have as a frame, and those that it must have.
FRAME_COLUMNS, REQUIRED_COLUMNS = ("text", "label", "labels", "id", "split", "group", "date"), ("text",)


@dataclass(frozen=True, eq=False)
class Result:
    """Result of an experiment.

    Parameters
    ----------
    findings : Run
        Predictions of the experiment.
    summary : Summary
        Data of its tables and figures.
    """

    findings: RunPredictions
    summary: Summary

    @property
    def scores(self) -> pd.DataFrame:
        """Metrics by cell and split, with 95% intervals and ties; shares in [0, 1]."""
        return self.summary.scores

    @property
    def significance(self) -> pd.DataFrame:
        """Significance tests of the configuration's comparisons, with Holm's correction."""
        return self.summary.significance

    @property
    def differences(self) -> pd.DataFrame:
        """Paired differences of the configuration's comparisons, with 95% intervals."""
        return self.summary.differences

    @property
    def confusions(self) -> pd.DataFrame:
        """Number of documents by cell, true class and predicted class."""
        return self.summary.confusions

    @property
    def costs(self) -> pd.DataFrame:
        """Training and test seconds and peak bytes, measured when a cell was first computed."""
        return self.summary.costs

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that readers of the numbers need."""
        return self.summary.notes

    @property
    def failures(self) -> dict[str, str]:
        """Reason of the failure of each failed cell."""
        return dict(self.summary.failures)

    @property
    def figures(self) -> dict[str, alt.Chart]:
        """Figures by name."""
        from benchmark.report.drawing.spec import altair_chart  # noqa: PLC0415 - as in `figure_specs`

        return {name: altair_chart(spec) for name, spec in figure_specs(self.summary).items()}

    def figure(self, name: str = "") -> alt.Chart:
        """Return a figure.

        Parameters
        ----------
        name : str
            Name of the figure; by default, the first figure is returned.

        Returns
        -------
        altair.Chart

        Raises
        ------
        ConfigError
            If there is no figure of this name.
        """
        figures = self.figures
        if name and name not in figures:
            raise ConfigError(unknown_name("figure", name, list(figures)))
        return figures[name or next(iter(figures))]

    def tests(self, a: str, b: str) -> pd.DataFrame:
        """Return all valid significance tests of one cell against another, without correction.

        Parameters
        ----------
        a, b : str
            Ids of the cells.

        Returns
        -------
        DataFrame
            A row for each test, with the columns test, n, statistic, p_value, favours and note. The p-value is missing
            where a test isn't possible or can't reach 0.05; the note has the reason.

        Raises
        ------
        ConfigError
            If there is no cell of this id, or the cells weren't tested on the same documents.
        """
        run = self._run(a, b)
        try:
            results = run.scored.tests(a, b, tested_metrics(run.experiment))
        except (ValueError, KeyError) as error:
            raise ConfigError(f"{a!r} and {b!r} can't be paired: {error}") from None
        columns = "test", "n", "statistic", "p_value", "favours", "note"
        return pd.DataFrame([[getattr(result, name) for name in columns] for result in results], columns=list(columns))

    def predictions(self, cell: str) -> pd.DataFrame:
        """Return the predictions of a cell.

        Parameters
        ----------
        cell : str
            Id of the cell.

        Returns
        -------
        DataFrame
            A row for each test document of each split, with the columns document, split, truth, given (the predicted
            class) and tied (True for a tie). Where documents may have several classes, truth and given are tuples of
            names.

        Raises
        ------
        ConfigError
            If there is no cell of this id, or the cell has no predictions.
        """
        run = self._run(cell)
        info = next(each for each in run.experiment.cells if each.id == cell)
        if cell not in run.scored.chosen:
            raise ConfigError(
                f"the cell {cell!r} has no predictions: {run.failures.get(cell, 'it is computed from others')}"
            )
        multilabel = run.predictions.tasks[info.of_task].multilabel
        rows = [
            (
                decision.document,
                decision.fold,
                *(names if multilabel else names[0] for names in (decision.truth, decision.given)),
                decision.tied,
            )
            for decision in document_predictions(run, info)
        ]
        return pd.DataFrame(rows, columns=["document", "split", "truth", "given", "tied"])

    def _run(self, *cells: str) -> RunPredictions:
        """Return the run's predictions; ConfigError if it has none, or lacks one of the cells."""
        if not isinstance(self.findings, RunPredictions):
            raise ConfigError("this experiment has no text documents, and so no tests or predictions by document")
        for cell in cells:
            if cell not in self.findings.experiment.ids:
                raise ConfigError(unknown_name("cell", cell, self.findings.experiment.ids))
        return self.findings

    def _repr_html_(self) -> str:
        """Return the scores of the cells over all splits as an HTML table, which notebooks show."""
        whole = self.scores[self.scores["fold"] == "all"]
        return str(whole.pivot_table("value", "cell", "metric", sort=False).to_html(float_format="{:.4f}".format))


def run(config: str | Path | None = None, /, *, jobs: int = 0, download: bool = True, **sections: Any) -> Result:
    """Run an experiment and return its result.

    Results that are in the store aren't computed again. Nothing is written except to the store.

    Parameters
    ----------
    config : path, optional
        A configuration file. Pass either a file or sections.
    jobs : int
        Number of threads; 0 uses all processors.
    download : bool
        Whether to download a corpus that isn't there yet.
    **sections
        Sections of a configuration as plain data: ``corpus=…, protocol=…, methods=[…]``. The corpus may be a name, or a
        frame with the columns text, label (or labels) and, optionally, id, split, group and date.

    Returns
    -------
    Result

    Raises
    ------
    ConfigError
        If the configuration is invalid.
    DataError
        If the corpus is missing or damaged.
    """
    if (config is None) == (not sections):
        raise ConfigError("run takes either a configuration file or its sections as keyword arguments")
    ensure_numba_cache(lambda message: warnings.warn(message, stacklevel=3))
    if config is not None:
        return _done(load_checked(find_configuration(Path(config))), jobs, download)
    mapping = {"name": "notebook", "protocol": {"name": "k-fold", "k": 5}, **sections}
    if isinstance(mapping.get("corpus"), str):
        mapping["corpus"] = {"name": mapping["corpus"]}
    if not isinstance(mapping.get("corpus"), pd.DataFrame):
        return _done(experiment_from_mapping(mapping, "run()"), jobs, download)
    with tempfile.TemporaryDirectory(prefix="simplexbench-") as folder:
        mapping["corpus"] = _written(mapping["corpus"], Path(folder))
        return _done(experiment_from_mapping(mapping, f"{folder}/run()"), jobs, download)


def _done(experiment: Any, jobs: int, download: bool) -> Result:
    """Run a checked experiment and return its result."""
    observer = Observer()
    store, place = Store(warn=observer.note), getattr(experiment, "parallel", None)
    with nullcontext() if place is None else DaskExecutor(place, store, jobs, observer) as elsewhere:
        predictions = runner.run_experiment(
            experiment, RunContext(store, observer, jobs or n_processors(), download, elsewhere)
        )
    return Result(predictions, summarize(predictions))


def _written(frame: pd.DataFrame, folder: Path) -> dict[str, Any]:
    """Write a frame to a file and return the corpus section that names the file."""
    for name in REQUIRED_COLUMNS:
        if name not in frame.columns:
            raise ConfigError(f"the frame has no column {name!r} (columns: {', '.join(map(str, frame.columns))})")
    known = [name for name in FRAME_COLUMNS if name in frame.columns]
    frame[known].to_json(folder / "frame.jsonl", orient="records", lines=True, force_ascii=False, date_format="iso")
    roles = {name: name for name in known if name not in ("text", "label")}
    return {"name": "files", "path": "frame.jsonl", **roles}


def read(folder: str | Path) -> Result:
    """Read the result of a finished run.

    Parameters
    ----------
    folder : path
        The run folder.

    Returns
    -------
    Result

    Raises
    ------
    BenchError
        If the folder isn't that of a finished run.
    DataError
        If its files are damaged.
    """
    predictions = read_run(Path(folder))
    with report_damage(Path(folder)):
        return Result(predictions, summarize(predictions))


def place(frame: pd.DataFrame, /, on: str, name: str = "yours") -> Placement:
    """Compare predictions that were made elsewhere with our methods' and with published scores.

    Nothing is trained, and the corpus isn't needed: the labels that our methods predict come with the package.

    Parameters
    ----------
    frame : DataFrame
        A row for each test document, with the columns id and label; where documents may have several labels, the
        column labels has a list, or a text that separates them by semicolons. An id may be a path that ends with it,
        such as one of scikit-learn's ``filenames``. Other columns are ignored.
    on : str
        Name of the test set: "20ng", "webkb", "r8", "r52" or "modapte-90".
    name : str
        Name of the method.

    Returns
    -------
    Placement
        With the frames scores, ranking, published and documents, and the tuples sentences and notes.

    Raises
    ------
    ConfigError
        If there is no such test set.
    DataError
        If documents are missing, surplus or given twice, or a label isn't one of the test set.
    """
    return place_predictions(frame, on, name)


def load(name: str, subset: str | None = None) -> pd.DataFrame:
    """Load a registered corpus.

    Parameters
    ----------
    name : str
        Name of the corpus: "webkb", "20ng", "reuters" or "synthetic".
    subset : str, optional
        Name of a subset of the corpus; by default, all documents are loaded.

    Returns
    -------
    DataFrame
        A row for each document, with the columns id, text, label (or labels) and group. Text that isn't UTF-8 is
        decoded as Latin-1.

    Raises
    ------
    ConfigError
        If there is no corpus or subset of this name.
    DataError
        If the corpus is missing or damaged.
    """
    corpus = registry.load_corpus(name, subset=subset)
    documents = corpus.documents
    frame = pd.DataFrame({"id": documents.ids, "text": [_text(text) for text in corpus]})
    if documents.topics is None:
        frame["label"] = [documents.classes[label] for label in documents.labels]
    else:
        frame["labels"] = [[documents.classes[code] for code in np.flatnonzero(row)] for row in documents.topics]
    frame["group"] = [documents.part_names[group] for group in documents.parts]
    return frame


def _text(content: bytes) -> str:
    """Decode a document as UTF-8, or else as Latin-1."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")
