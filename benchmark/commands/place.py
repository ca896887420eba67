"""Placement of predictions that were made elsewhere: a run of them and of our methods' on a public test set.

Nothing is trained, and the corpus isn't needed: the labels that our methods predict come with the package.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.scoring import RunPredictions
from benchmark.config.components import Component
from benchmark.config.methods import Untrained, uncounted_points
from benchmark.config.model import BASE_VARIANT, Cell, ComparedPair, MethodEntry, MethodFile, MethodSpec
from benchmark.corpora.user.text_files import file_digest
from benchmark.evaluation.predictions import Predictions, SettingPredictions, TaskDocuments, TestedSplit
from benchmark.evaluation.public_test_sets import label_codes, load_shipped
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.run import write_report
from benchmark.experiment.run_folder import check_folder_free, manifest_of, write_run
from benchmark.methods.method_files import predictions_of, read_predictions
from benchmark.papers.load import load_published
from benchmark.papers.published import PUBLISHED_FOLDER, REFERENCE_PAPER
from benchmark.report.writers import csv_text
from benchmark.system.errors import DataError
from benchmark.system.row_blocks import n_processors
from benchmark.system.shipped_files import find_configuration

if TYPE_CHECKING:
    from benchmark.config.model import Experiment
    from benchmark.evaluation.public_test_sets import PublicTestSet, ShippedPredictions
    from benchmark.experiment.run import RunResult
    from benchmark.papers.published import CensusEntry, ReferenceValues


def template_csv(shipped: ShippedPredictions) -> str:
    """Return the ids of a test set as CSV, with an empty column for the labels.

    If several splits test the documents, a third column has the group of each.
    """
    header = ("id", shipped.test_set.label_column, "group")[: 3 if len(shipped.groups) > 1 else 2]
    documents = sorted(zip(shipped.frame["id"], shipped.frame["group"], strict=True))
    return csv_text(header, ((name, "", group)[: len(header)] for name, group in documents))


def place_file(path: Path, on: str) -> RunResult:
    """Write the run that places the predictions of a file into a folder beside the file."""
    run = place_predictions(path, on, path.name.partition(".")[0])
    folder = path.with_name(run.experiment.name)
    check_folder_free(folder, run.experiment)
    write_run(run, manifest_of(run, jobs=1, seconds=0.0), folder)
    return write_report(run, folder)


def place_predictions(path: Path, on: str, name: str) -> RunPredictions:
    """Return the predictions of a file beside those of our methods on the same documents, as one run.

    Every other cell is compared with that of the file.

    Parameters
    ----------
    path : Path
        A table, JSON lines or Parquet with the columns id and label (or labels).
    on : str
        Name of the test set.
    name : str
        Name of the method.

    Raises
    ------
    ConfigError
        If there is no such test set.
    DataError
        If a document has no prediction, or two, or a label isn't one of the test set.
    """
    shipped, file = load_shipped(on), MethodFile(path.name, file_digest(path), path)
    frame, classes, multilabel = shipped.frame, shipped.classes, shipped.test_set.multilabel
    placed = f"{name}-placed" if name in shipped.cells else name
    experiment, cells = _experiment(shipped, placed, file, f"{name}-on-{on}"), ("label", *shipped.cells)
    codes = {cell: label_codes(frame[cell].tolist(), classes, multilabel=multilabel) for cell in cells}
    wanted = frame[["id", "group"]].rename(columns={"group": "split"})
    try:
        _, codes[placed] = predictions_of(wanted, read_predictions(file), classes, multilabel=multilabel)
    except ValueError as error:
        raise DataError(f"{path}: {error}; `bench place --template {on}` has the ids") from None
    rows = [np.flatnonzero(frame["group"] == group) for group in shipped.groups]
    untrained = np.zeros(len(classes), dtype=np.int64)
    splits = tuple(TestedSplit(*each, untrained) for each in zip(shipped.groups, rows, strict=True))
    order, sizes = np.concatenate(rows), tuple(map(len, rows))
    settings = {
        cell.setting(0, None): SettingPredictions.untrained(codes[cell.id][order], sizes) for cell in experiment.cells
    }
    documents, first = TaskDocuments(tuple(frame["id"]), classes, codes["label"]), experiment.cells[0]
    predictions = Predictions({first.of_task: documents}, {first.of_splits: splits}, settings)
    facts = {"source": on, "documents": len(frame), "classes": list(classes), "content_digest": shipped.digest}
    return RunPredictions(experiment, predictions, {}, {BASE_VARIANT: facts}, n_processors())


def _experiment(shipped: ShippedPredictions, placed: str, file: MethodFile, name: str) -> Experiment:
    """Return an experiment with the cells of a test set, and a cell of a file that they are compared with.

    Its corpus, protocol and metrics are those of the test set's first configuration.
    """
    test_set = shipped.test_set
    known = load_checked(find_configuration(Path(test_set.configurations[0])))
    (variant,), published = known.variants.values(), _published_scores(test_set, name, placed)
    points, elsewhere = uncounted_points("none"), Component.of("made elsewhere", Untrained, {})
    files = {placed: file, **{cell: MethodFile(of, shipped.digest) for cell, of in shipped.cells.items()}}
    specs = {cell: MethodSpec(points, None, elsewhere, predictions=each) for cell, each in files.items()}
    entries = tuple(MethodEntry(cell, (spec,)) for cell, spec in specs.items())
    return replace(
        known,
        name=name,
        title=f"{placed} on {test_set.title}",
        paper=REFERENCE_PAPER if published else None,
        own_paper=published,
        notes=(test_set.training,),
        compare=tuple(ComparedPair(cell, placed, "") for cell in shipped.cells),
        raw={"name": name},
        variants={variant.name: replace(variant, entries=entries)},
        cells=tuple(Cell(cell, variant.name, "", cell) for cell in specs),
        choices=("",),
        inner=None,
        tuned_cells={},
        figures=(),
    )


def _published_scores(test_set: PublicTestSet, config: str, cell: str) -> dict[str, Any] | None:
    """Return the scores that the census counted on this test set or, where it counted none, the reference values.

    They stand beside a cell of a configuration, the highest first. None is returned if none is known.
    """
    known = load_published(PUBLISHED_FOLDER / f"{REFERENCE_PAPER}.yaml")

    def score(each: CensusEntry | ReferenceValues, source: str, metric: str, value: str) -> dict[str, Any]:
        values = [{"config": config, "cell": cell, "metric": metric, "value": value}]
        return {"method": each.method, "source": source, "transductive": each.transductive, "values": values}

    counted = [each for each in known.census if each.corpus == test_set.name]
    listed = [score(each, each.source, each.metric, each.value) for each in counted] or [
        score(each, each.in_words, value.metric, value.value)
        for each in known.reference_values
        for value in each.values
        if value.config in test_set.configurations
    ]
    listed.sort(key=lambda row: [(value["metric"], -float(value["value"])) for value in row["values"]])
    about = known.model_dump(include={"paper", "title", "reference"})
    return {**about, "unit": "percent", "reference_values": listed} if listed else None
