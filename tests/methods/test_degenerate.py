"""A kernel that tells none of the tested documents apart is noted."""

from __future__ import annotations

from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from tests.builders import small_experiment

NOTE = "the kernel Diffusion(t=0.0001) tells no two test documents apart: all get the same prediction"
TINY = {"name": "diffusion", "kernel": {"name": "diffusion", "t": 1e-4}}  # 0 between the most similar documents here


def test_a_kernel_that_is_alike_for_all_test_documents_is_noted(tmp_path):
    methods = [TINY, {"name": "logistic", "classifier": {"name": "logistic", "C": 1e-12}}, "ngd"]
    protocol = {"name": "leave-one-group-out", "held_out": ["texas"]}
    for again in range(2):  # computed, and from the store
        done = run_experiment(small_experiment(protocol=protocol, methods=methods), RunContext(Store(tmp_path)))
        assert not done.failures, again
        warned = {key.method: each.warnings for key, each in done.predictions.settings.items()}
        assert warned == {"diffusion": (NOTE,), "logistic": (), "ngd": ()}
