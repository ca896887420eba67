"""Caveats: choices of a configuration that bias its scores, or that its intervals don't cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.config.model import ORACLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.config.model import Experiment, Variant


@dataclass(frozen=True)
class Caveat:
    """Limitation that a reader has to know before relying on the scores.

    Parameters
    ----------
    name : str
    text : str
    honest : dict or None
        Settings of a variant that differs only in this choice; None where no variant can.
    """

    name: str
    text: str
    honest: dict[str, Any] | None = None


def caveats_of(study: Experiment) -> tuple[Caveat, ...]:
    """Return the caveats of an experiment by its first variant; other variants' names state their changes."""
    found = list(_of_variant(next(iter(study.variants.values()))))
    if any("largest" in task for task in study.raw.get("tasks", ()) if isinstance(task, dict)):
        found.append(Caveat("panels", "the largest classes are ranked by training and test documents together"))
    if ORACLE in study.choices:
        text = "the parameters of every cell named oracle were chosen on the very documents that it is tested on"
        found.append(
            Caveat("chosen on the test", f"{text}: its numbers and tests are optimistic; compare those named cv")
        )
    for choice in dict.fromkeys(study.fitted_cells.values()):
        cells = [cell for cell, own in study.fitted_cells.items() if own == choice]
        which = cells[0] if len(cells) == 1 else f"{cells[0]} … {cells[-1]} ({len(cells)} cells)"
        found.append(Caveat("fitted", f"{choice}: {which}; these numbers, and the claims on them, are not counted"))
    return tuple(found)


def _of_variant(variant: Variant) -> Iterator[Caveat]:
    protocol = variant.protocol
    text, others = "words are pruned by how often they occur in all documents, those that are tested included", []
    for own, label in variant.texts.items():
        least = {name: 1 for name in ("min_occurrences", "min_documents") if getattr(own.pruning, name) > 1}
        if least and not own.pruning.group and own == variant.collection.text:
            yield Caveat("pruning", text, {"text": least})
        elif least and not own.pruning.group:
            others.append(label)
    if others:
        yield Caveat("pruning", f"{text}, in the text of {', '.join(dict.fromkeys(others))}")
    specs = [spec.representation for entry in variant.entries for spec in entry.candidates]
    if any(spec.learns and spec.idf == "collection" for spec in specs):
        text = "the idf is counted over the whole collection, tested documents included"
        yield Caveat("idf", text, {"defaults": {"idf": "training"}})
    if protocol.tags.draws:
        given = protocol.resolved
        if given.get("stratified") and not given.get("test"):
            text = "training documents are drawn in the classes' shares of a pool that holds the tested ones, too"
            yield Caveat("strata", text)
        text = "draws share one collection: their intervals and tests say nothing of another one"
        yield Caveat("draws", text)
    if protocol.tags.leaves_groups_out:
        text = "intervals over documents hold the groups fixed; those over groups, where they stand, are wider"
        yield Caveat("groups", text)
