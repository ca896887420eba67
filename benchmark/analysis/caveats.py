"""Caveats: choices of a configuration that bias its scores, or that its intervals don't cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.config.model import CHOOSE_ORACLE

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


def find_caveats(experiment: Experiment) -> tuple[Caveat, ...]:
    """Return the caveats of an experiment by its first variant; other variants' names state their changes."""
    found = list(_of_variant(next(iter(experiment.variants.values()))))
    entries = [entry for variant in experiment.variants.values() for entry in variant.entries]
    elsewhere = dict.fromkeys(entry.label for entry in entries if entry.candidates[0].predictions)
    vectors = dict.fromkeys(entry.label for entry in entries if entry.candidates[0].vectors)
    if vectors:
        text = f"the vectors of {', '.join(vectors)} were made elsewhere, perhaps with sight of the tested documents"
        found.append(Caveat("vectors", text))
    if elsewhere:
        text = f"predictions of {', '.join(elsewhere)} were made elsewhere, perhaps with sight of the tested documents"
        found.append(Caveat("made elsewhere", text))
    if any("largest" in task for task in experiment.raw.get("tasks", ()) if isinstance(task, dict)):
        text = "the largest classes are ranked by their number of training and test documents together"
        found.append(Caveat("panels", text))
    if CHOOSE_ORACLE in experiment.choices:
        text = "the parameters of every cell named oracle were selected on its own test documents"
        text += ", so its scores and tests are optimistic, unlike those of cells named cv"
        found.append(Caveat("chosen on the test", text))
    for choice in dict.fromkeys(experiment.tuned_cells.values()):
        cells = [cell for cell, reason in experiment.tuned_cells.items() if reason == choice]
        which = cells[0] if len(cells) == 1 else f"{cells[0]} … {cells[-1]} ({len(cells)} cells)"
        text = f"{choice}: {which}; these values, and the claims on them, are excluded from the verdict counts"
        found.append(Caveat("tuned", text))
    return tuple(found)


def _of_variant(variant: Variant) -> Iterator[Caveat]:
    protocol = variant.protocol
    text, others = "rare words were removed by counts that include the test documents", []
    for own, label in variant.texts.items():
        least = {name: 1 for name in ("min_occurrences", "min_documents") if getattr(own.pruning, name) > 1}
        if least and not own.pruning.group and own == variant.collection.text:
            yield Caveat("pruning", text, {"text": least})
        elif least and not own.pruning.group:
            others.append(label)
    if variant.collection.lexing.ngrams and 1 not in variant.collection.lexing.ngrams:
        *rest, last = map(str, variant.collection.lexing.ngrams)
        numbers = f"{', '.join(rest)} and {last}" if rest else last
        text = f"terms are {numbers} consecutive words; a word by itself is none"
        yield Caveat("ngrams", f"{text} (`ngrams: [1, {', '.join([*rest, last])}]` counts both)")
    if others:
        yield Caveat("pruning", f"{text}, for {', '.join(dict.fromkeys(others))}")
    specs = [spec.representation for entry in variant.entries for spec in entry.candidates]
    if any(spec.learns and spec.idf == "collection" for spec in specs):
        text = "the idf counts the test documents, too"
        yield Caveat("idf", text, {"defaults": {"idf": "training"}})
    if protocol.tags.replicated:
        given = protocol.resolved
        if given.get("stratified") and not given.get("test"):
            text = "training documents are stratified by the class shares of a pool that includes the tested documents"
            yield Caveat("strata", text)
        text = "replicates share one collection: their intervals and tests don't generalize to other collections"
        yield Caveat("replicates", text)
    if protocol.tags.leaves_groups_out:
        text = "intervals ignore variation between groups; those that include it, where given, are wider"
        yield Caveat("groups", text)
