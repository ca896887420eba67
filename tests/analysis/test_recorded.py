"""Numbers that a run records beside its predictions: those of plug-ins and of diagnostics alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmark.analysis.recorded import record_numbers
from benchmark.config.model import BASE_VARIANT, ComparedPair
from benchmark.evaluation.sampling_model import sampling_of

if TYPE_CHECKING:
    from tests.analysis.conftest import Made


def test_metrics_of_this_package_are_not_recorded(drawn: Made) -> None:
    experiment, _, scored = drawn
    found = record_numbers(experiment, scored, (), ("a note",))
    assert found.estimates == {}
    assert (found.chosen, found.diagnostics, found.notes) == (scored.chosen, (), ("a note",))


def test_a_pair_that_cannot_be_paired_leaves_the_others(drawn: Made) -> None:
    """The error, as the score of a plug-in."""
    experiment, _, scored = drawn
    values = {name: {**each.values, "mine": each.values["error"]} for name, each in scored.cells.items()}
    small, large = ([name for name in scored.cells if name.endswith(f"-{size}")] for size in (50, 100))
    others = dict.fromkeys(large, sampling_of(experiment.variants[BASE_VARIANT].protocol.tags, 5))
    cells = {name: replace(each, values=values[name]) for name, each in scored.cells.items()}
    own = replace(scored, cells=cells, samples={**scored.samples, **others})
    pairs = ((small[0], large[0]), (small[0], "gone"), (small[1], small[0]), (large[0], large[1]))
    compare = tuple(ComparedPair(a, b, "") for a, b in pairs)
    mine = replace(experiment, scorers={"mine": experiment.scorers["error"]}, compare=compare)
    found = record_numbers(mine, own, (), ()).estimates
    assert found.keys() == own.cells.keys()
    for name, scores in own.cells.items():
        of_cell = {key: estimate for key, estimate in found[name].items() if not key[2]}
        assert of_cell.keys() == {("mine", fold, "") for fold in ("all", *scores.folds)}
        assert of_cell["mine", "all", ""] == own.estimate(name, "error")
        assert [of_cell["mine", fold, ""].value for fold in scores.folds] == list(scores.values["error"])
    recorded = {(a, key[2]): each for a, numbers in found.items() for key, each in numbers.items() if key[2]}
    assert recorded == {(a, b): own.difference(a, b, "error") for a, b in pairs[2:]}
