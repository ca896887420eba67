"""Python API for notebooks and programs: experiments as pandas frames and Altair charts.

::

    import benchmark as sb

    corpus = sb.load("synthetic")
    result = sb.run(corpus=corpus, protocol={"name": "k-fold", "k": 5}, methods=["ngd", "mnb"])
    result  # a table and a figure
    result.scores, result.tests("ngd", "mnb")
    result.figure().save("figure.png")
"""

from __future__ import annotations

import base64
import tempfile
import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import yaml

from benchmark.analysis.agreement import paired_tests
from benchmark.analysis.document_predictions import document_predictions
from benchmark.analysis.summarize import summarize
from benchmark.commands.compare import known_cell
from benchmark.commands.init import configuration_text, sample_file
from benchmark.commands.place import place_predictions
from benchmark.commands.run import local_context, resolve_run
from benchmark.corpora import registry
from benchmark.corpora.user.frames import FRAME_OPTIONS, FRAME_ROLES, frame_columns, name_frame_in_errors, write_frame
from benchmark.experiment import runner
from benchmark.experiment.configuration import experiment_from_mapping, load_checked
from benchmark.experiment.run_folder import read_run
from benchmark.model.fitting import fit_model
from benchmark.model.persistence import check_model_folder_free, write_model
from benchmark.report.files import figure_specs
from benchmark.report.tables import cell_table
from benchmark.system.errors import MAX_NAMES, ConfigError, unknown_name
from benchmark.system.observer import LineObserver
from benchmark.system.shipped_files import find_configuration
from benchmark.text.fields import document_string

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment
    from benchmark.model.text_model import TextClassifier
    from benchmark.report.drawing.altair_charts import FigureChart

__all__ = ["Result", "fit", "load", "place", "read", "run"]

#: Sections of an experiment on a corpus of this package that doesn't name them.
_UNLESS_NAMED: dict[str, Any] = {"name": "notebook", "protocol": {"name": "k-fold", "k": 5}}
#: Most rows of a result that a notebook or a terminal shows.
MAX_SHOWN_CELLS = 20


@dataclass(frozen=True, eq=False)
class Result:
    """Result of an experiment.

    Parameters
    ----------
    findings : RunPredictions
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
    def figures(self) -> dict[str, FigureChart]:
        """Figures by name."""
        from benchmark.report.drawing.altair_charts import altair_chart  # noqa: PLC0415 - as in `figure_specs`

        return {name: altair_chart(spec) for name, spec in figure_specs(self.summary).items()}

    def figure(self, name: str = "") -> FigureChart:
        """Return a figure.

        Parameters
        ----------
        name : str
            Name of the figure; by default, the first figure is returned.

        Returns
        -------
        altair.ConcatChart
            A notebook shows it as a picture.

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
        run = self.findings
        for name in (a, b):
            known_cell(run, name)
        return pd.DataFrame(paired_tests(run, a, b), columns=["test", "n", "statistic", "p_value", "favours", "note"])

    def predictions(self, cell: str) -> pd.DataFrame:
        """Return the predictions of a cell.

        Parameters
        ----------
        cell : str
            Id of the cell.

        Returns
        -------
        DataFrame
            A row for each test document of each split, with the columns document, split, truth, predicted (classes)
            and tied (True for a tie). Where documents may have several classes, truth and predicted are tuples of
            names.

        Raises
        ------
        ConfigError
            If there is no cell of this id, or the cell has no predictions.
        """
        run = self.findings
        info = known_cell(run, cell, predicted=True)
        frame = pd.DataFrame(list(document_predictions(run, info))).drop(columns=["split", "row"])
        frame = frame.rename(columns={"fold": "split"})[["document", "split", "truth", "predicted", "tied"]]
        if not run.predictions.tasks[info.of_task].multilabel:
            frame = frame.assign(truth=frame["truth"].str[0], predicted=frame["predicted"].str[0])
        return frame

    def __repr__(self) -> str:
        """Return the table of the first cells, as text."""
        return f"{self.summary.title}\n{self._table.to_string(index=False, max_rows=MAX_SHOWN_CELLS)}"

    def _repr_html_(self) -> str:
        """Return the table of the first cells and the first figure as HTML, which notebooks show."""
        from benchmark.report.drawing.render import render_pictures  # noqa: PLC0415 - as in `figure_specs`

        table = self._table.to_html(index=False, max_rows=MAX_SHOWN_CELLS)
        name, spec = next(iter(figure_specs(self.summary).items()))
        drawn = render_pictures({name: spec}).get(name)
        if not drawn:
            return table
        # As an image, since ids within an SVG would be those of the other figures of the page.
        address, shown = base64.b64encode(drawn["svg"]).decode(), escape(str(spec.get("description", name)))
        return f'{table}<img alt="{shown}" src="data:image/svg+xml;base64,{address}">'

    @property
    def _table(self) -> pd.DataFrame:
        """The cells as they are printed."""
        cells = cell_table(self.summary)
        return pd.DataFrame(cells.texts, columns=list(cells.header))


def run(
    config: str | Path | None = None,
    /,
    *,
    corpus: Any = None,
    methods: Any = None,
    protocol: Any = None,
    text: Any = None,
    label: str | None = None,
    compare: Any = None,
    choose: Any = None,
    metrics: Any = None,
    jobs: int = 0,
    download: bool = True,
    progress: Callable[[str], object] | None = None,
    **sections: Any,
) -> Result:
    """Run an experiment and return its result.

    Results that are in the store aren't computed again. Nothing is written except to the store.

    Parameters
    ----------
    config : path, optional
        A configuration file. Pass either a file or sections.
    corpus : str, mapping or DataFrame
        Name of a corpus, the section ``corpus``, or documents: a frame with the columns text, label (or labels) and,
        optionally, id, split, group and date.
    methods : list, optional
        Methods, as in a configuration. For a frame, the default is what ``bench init`` proposes, with its comparison.
    protocol : str or mapping, optional
        How documents are split; by default in five folds or, for a frame, as ``bench init`` proposes.
    text : str, list of str, or mapping, optional
        Column of a frame's text, or several; or the section ``text``. For a frame, keys that the section lacks are
        those of ``bench init``: words of all scripts, no stop words, digits as one word, words in two documents.
    label : str, optional
        Column of a frame's classes. ``labels``, ``id``, ``split``, ``group`` and ``date`` name columns in the same way,
        ``drop``, ``separator`` and ``format`` are those of the corpus ``files``.
    compare, choose, metrics
        Sections of the configuration.
    jobs : int
        Number of threads; 0 uses all processors.
    download : bool
        Whether to download a corpus that isn't there yet.
    progress : callable, optional
        Called with a line of text now and then, such as ``progress=print``.
    **sections
        Other sections of a configuration, such as ``tasks``. Lists may be tuples or arrays, and numbers NumPy's.

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
    sections |= {"corpus": corpus, "methods": methods, "protocol": protocol, "text": text, "label": label}
    sections |= {"compare": compare, "choose": choose, "metrics": metrics}
    with _experiment(config, {key: each for key, each in sections.items() if each is not None}) as experiment:
        observer = LineObserver(progress, _warn)
        predictions = runner.run_experiment(experiment, local_context(observer, jobs, download=download))
        summary = summarize(predictions)
        experiment.registries.close()
        return Result(predictions, summary)


def fit(
    config: str | Path | None = None,
    /,
    *,
    cell: str = "",
    out: str | Path | None = None,
    overwrite: bool = False,
    split: str | None = None,
    probability: bool = False,
    jobs: int = 0,
    download: bool = True,
    progress: Callable[[str], object] | None = None,
    **sections: Any,
) -> TextClassifier:
    """Train the method of a cell and return it as a classifier of texts, as ``bench fit`` does.

    Parameters
    ----------
    config : path, optional
        A configuration file. Pass either a file or sections.
    cell : str
        Id of the cell; not needed if there is only one.
    out : path, optional
        Folder to save the model in, which `load_model` and ``bench predict`` read.
    overwrite : bool
        Whether to overwrite what the folder holds.
    split : str, optional
        A split, whose training documents alone are trained on; by default all documents are.
    probability : bool
        Whether to fit class probabilities, too.
    jobs, download, progress, **sections
        As for `run`.

    Returns
    -------
    TextClassifier

    Raises
    ------
    ConfigError
        If the configuration is invalid, there is no such cell or split, or its method can't be a model.
    DataError
        If the corpus is missing or damaged.
    """
    folder = None if out is None else Path(out)
    with _experiment(config, sections) as experiment:
        if not cell and len(experiment.ids) > 1:
            ids = experiment.ids[:MAX_NAMES]
            raise ConfigError(f"fit trains one cell: name it, such as cell={ids[0]!r} ({', '.join(ids)})")
        if folder is not None:
            check_model_folder_free(folder, overwrite=overwrite)
        context = local_context(LineObserver(progress, _warn), jobs, download=download)
        model = fit_model(experiment, cell or experiment.ids[0], context, split=split, probability=probability)
        if folder is not None:
            write_model(model, folder)
    return model


@contextmanager
def _experiment(config: str | Path | None, sections: Mapping[str, Any]) -> Iterator[Experiment]:
    """Yield the checked experiment of a file or of sections; a frame's file is there until the end of the block."""
    if (config is None) == (not sections):
        raise ConfigError("name either a configuration file or its sections, such as corpus=… and methods=…")
    if config is not None:
        yield load_checked(find_configuration(Path(config)))
        return
    corpus = sections.get("corpus")
    if not isinstance(corpus, pd.DataFrame):
        named = {"corpus": {"name": corpus}} if isinstance(corpus, str) else {}
        yield experiment_from_mapping(_plain({**_UNLESS_NAMED, **sections, **named}), "run()")
        return
    with tempfile.TemporaryDirectory(prefix="simplexbench-") as folder:
        path = Path(folder) / "frame.jsonl"
        with name_frame_in_errors(path):
            experiment = experiment_from_mapping(_plain(_frame_sections(corpus, dict(sections), path)), "run()")
            yield replace(experiment, raw={**experiment.raw, "corpus": {**experiment.raw["corpus"], "path": path.name}})


def _frame_sections(frame: pd.DataFrame, sections: dict[str, Any], path: Path) -> dict[str, Any]:
    """Write a frame to a file, and return the sections that name it: those given over those of ``bench init``."""
    corpus = {key: sections.pop(key) for key in (*FRAME_ROLES[1:], *FRAME_OPTIONS) if key in sections}
    if isinstance(sections.get("text"), str | list | tuple):
        corpus["text"] = sections.pop("text")
    roles = frame_columns(frame, _plain({role: corpus.pop(role) for role in FRAME_ROLES if role in corpus}))
    write_frame(frame, roles, path)
    proposal = replace(sample_file(path), roles=dict(roles), n_documents=len(frame))
    proposed = yaml.safe_load(configuration_text(proposal, path.with_suffix(".yaml")))
    if "methods" in sections:
        proposed.pop("compare", None)  # of its own methods
    if _name_of(sections.get("protocol")) not in (None, _name_of(proposed["protocol"])):
        proposed["text"].pop("vocabulary_from", None)  # a part of the protocol that it proposes
    merged = {
        key: {**proposed[key], **sections[key]}
        for key in ("text", "defaults")
        if isinstance(sections.get(key), Mapping)
    }
    return {**proposed, **sections, **merged, "corpus": {"name": "files", "path": str(path), **roles, **corpus}}


def _name_of(component: Any) -> Any:
    """Return the name of a component, which may be a mapping; None if it has none."""
    return component.get("name") if isinstance(component, Mapping) else component


def _plain(value: Any) -> Any:
    """Return plain data: lists for tuples, arrays and columns, Python's numbers for NumPy's, text for paths."""
    if isinstance(value, Mapping):
        return {_plain(key): _plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | np.generic | pd.Series | pd.Index):
        value = value.tolist()
    if isinstance(value, list | tuple | range):
        return [_plain(each) for each in value]
    if isinstance(value, pd.DataFrame):
        raise ConfigError("a frame can be the corpus only; elsewhere write it to a file (frame.to_csv), and name that")
    if isinstance(value, type) or callable(getattr(value, "fit", None)):
        kind = value if isinstance(value, type) else type(value)
        path = ".".join([part for part in kind.__module__.split(".") if part[:1] != "_"] + [kind.__name__])
        installed = f"name it {{'classifier': {{'name': '{path}'}}}}, its parameters beside the name, or "
        own = "write it to a file (in a notebook: %%writefile) and name that file: plugins=['mine.py'], its name in"
        first = installed if "." in path and not hasattr(value, "steps") else ""
        raise ConfigError(f"{kind.__name__} is an object: {first}{own} methods, or pipeline='mine.py:make'")
    return str(value) if isinstance(value, Path) else value


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


def read(folder: str | Path) -> Result:
    """Read the result of a finished run.

    Parameters
    ----------
    folder : path
        The run folder, or the name of a run in results/runs.

    Returns
    -------
    Result

    Raises
    ------
    ConfigError
        If there is no such folder.
    BenchError
        If the folder isn't that of a finished run.
    DataError
        If its files are damaged.
    """
    predictions = read_run(resolve_run(Path(folder)))
    return Result(predictions, summarize(predictions))


def place(frame: pd.DataFrame, /, on: str, name: str = "yours") -> Result:
    """Compare predictions that were made elsewhere with those of our methods and with published scores.

    Nothing is trained, and the corpus isn't needed: the labels that our methods predict come with the package.

    Parameters
    ----------
    frame : DataFrame
        A row for each test document, with the columns id and label; where documents may have several labels, the
        column labels has a list, or a text that separates them by semicolons. Other columns are ignored.
    on : str
        Name of the test set: "20ng", "webkb", "r8", "r52" or "modapte-90".
    name : str
        Name of the method.

    Returns
    -------
    Result
        Its cells are the method and those of this package, which are compared with it.

    Raises
    ------
    ConfigError
        If there is no such test set.
    DataError
        If a document has no prediction, or two, or a label isn't one of the test set.
    """
    with tempfile.TemporaryDirectory(prefix="simplexbench-") as folder:
        path = Path(folder) / "frame.jsonl"
        frame.to_json(path, orient="records", lines=True, force_ascii=False)
        with name_frame_in_errors(path):
            predictions = place_predictions(path, on, name)
    return Result(predictions, summarize(predictions))


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
    labels = pd.Series([documents.classes_of(row) for row in range(len(documents))])
    return pd.DataFrame(
        {
            "id": documents.ids,
            "text": [document_string(text, skip_header=False, skip_html=False) for text in corpus],
            **({"label": labels.str[0]} if documents.topics is None else {"labels": labels}),
            "group": [documents.part_names[group] for group in documents.parts],
        }
    )
