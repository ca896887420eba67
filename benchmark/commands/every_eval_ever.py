"""The scores of a run in the JSON of Every Eval Ever, a shared database of evaluations: one file a cell."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.number_text import is_missing
from benchmark.analysis.formatting.units import metric_name
from benchmark.corpora import registry
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.intervals import CONFIDENCE_LEVEL
from benchmark.evaluation.metrics import more_is_better, unit_of
from benchmark.evaluation.sampling_model import sampling_of
from benchmark.experiment.run_folder import read_manifest, read_run, report_damage
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Cell

#: Version of the JSON Schema that the files follow.
SCHEMA_VERSION = "0.3.0"
_DEVELOPER = "simplexbench"


def every_eval_ever(folder: Path) -> dict[str, bytes]:
    """Return a JSON document for each cell of a method, by its path below `data/`.

    It has the metrics that are shares, over all splits, each with its 95% interval. Gains and numbers of diagnostics
    are left out: they are no scores of a model.

    Raises
    ------
    BenchError
        If the folder holds no finished run.
    ConfigError
        If no cell has such a score.
    DataError
        If the run is damaged.
    """
    run, manifest = read_run(folder), read_manifest(folder)
    with report_damage(folder):
        results = _results(run, manifest)
    if not results:
        raise ConfigError(f"{folder}: has no cell of a method with a score, which Every Eval Ever could hold")
    found = {}
    for cell in run.experiment.cells:
        if cell.id in results:
            document = _document(run, manifest, cell, results[cell.id])
            content = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
            # File names are random UUIDs there. Here the run and the cell decide, so that an export is repeatable.
            digest = hashlib.sha256(f"{manifest['digest']} {cell.id}".encode()).digest()
            name = f"{uuid.UUID(bytes=digest[:16], version=4)}.json"
            found["/".join(["data", _slug(run.experiment.name), _DEVELOPER, _slug(cell.id), name])] = content.encode()
    return found


def _slug(text: str) -> str:
    """Return a text as the name of a folder."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text)


def _results(run: RunPredictions, manifest: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the evaluation results by cell."""
    experiment, found = run.experiment, dict[str, list[dict[str, Any]]]()
    cells = {cell.id: cell for cell in experiment.cells if cell.what == "point"}
    frame = run.scored.frame
    for row in frame[frame["fold"] == ALL_SPLITS].to_dict("records"):
        cell, metric = cells.get(str(row["cell"])), str(row["metric"])
        if cell is None or unit_of(metric, experiment.quantities) != "percent" or is_missing(row["value"]):
            continue
        details: dict[str, Any] = {"score": float(row["value"])}
        details |= {} if is_missing(row["ties"]) else {"details": {"ties": f"{row['ties']:.0f}"}}
        if not is_missing(row["low"]):
            bars = sampling_of(experiment.variants[cell.variant].protocol.tags, experiment.seed).bars
            ends = {"lower": float(row["low"]), "upper": float(row["high"])}
            interval = {**ends, "confidence_level": CONFIDENCE_LEVEL, "method": bars}
            details["uncertainty"] = {"confidence_interval": interval, "num_samples": int(row["n"])}
        result = {
            "evaluation_result_id": f"{cell.id}/{metric}",
            "evaluation_name": experiment.name,
            "source_data": _source(cell, run, manifest),
            "metric_config": {
                "metric_id": metric,
                "metric_name": metric_name(metric, experiment.quantities),
                "metric_unit": "proportion",
                "lower_is_better": not more_is_better(metric, experiment.scorers, experiment.quantities),
                "score_type": "continuous",
                "min_score": 0,
                "max_score": 1,
            },
            "score_details": details,
        }
        found.setdefault(cell.id, []).append(result)
    return found


def _source(cell: Cell, run: RunPredictions, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the documents that a cell was tested on: an address for a corpus that has one."""
    collection, facts = run.experiment.variants[cell.variant].collection, manifest["variants"][cell.variant]
    known = {"content_digest": facts.get("content_digest"), "documents_digest": facts.get("documents_digest")}
    known |= {"subset": collection.subset, "classes": ", ".join(run.predictions.tasks[cell.of_task].classes)}
    details = {"additional_details": {name: value for name, value in known.items() if value}}
    card = registry.dataset_card(collection.corpus) if collection.corpus in registry.corpus_names() else None
    if card is None or not card.addresses:
        return {"dataset_name": collection.corpus, "source_type": "other", **details}
    return {"dataset_name": card.title, "source_type": "url", "url": list(card.addresses), **details}


def _document(
    run: RunPredictions, manifest: dict[str, Any], cell: Cell, results: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the document of a cell. Who ran it for whom is not known, and is called so."""
    finished = datetime.fromisoformat(manifest["finished"])
    seconds, model = str(int(finished.timestamp())), f"{_DEVELOPER}/{_slug(cell.id)}"
    versions = {name: str(number) for name, number in manifest["versions"].items()}
    method = json.dumps(manifest["methods"][cell.variant][cell.method], ensure_ascii=False)
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{run.experiment.name}/{model}/{seconds}",
        "evaluation_timestamp": finished.isoformat(),
        "retrieved_timestamp": seconds,
        "source_metadata": {
            "source_name": f"simplexbench, {run.experiment.title}",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "simplexbench",
            "version": versions.pop("simplexbench"),
            "additional_details": versions,
        },
        "model_info": {
            "name": cell.id,
            "id": model,
            "additional_details": {
                "deployment_type": "self_deployed",
                "model_availability": "unknown",
                "method": method,
                **{name: str(value) for name, value in _axes(cell).items()},
            },
        },
        "evaluation_results": results,
    }


def _axes(cell: Cell) -> dict[str, Any]:
    """Return where a cell stands in its experiment, as far as the experiment has these axes."""
    names = {"task": cell.task, "class": cell.of_class, "choice": cell.choice, "variant": cell.variant}
    return {name: value for name, value in (names | {"size": cell.size, "terms": cell.terms}).items() if value}
