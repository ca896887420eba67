"""The published numbers that a configuration is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.evaluation import published

if TYPE_CHECKING:
    from benchmark.config.model import Study
    from benchmark.evaluation.published import Published


def published_for(study: Study) -> Published | None:
    """The numbers and claims of the study's paper; of one that explains another, those of that one's paper."""
    if study.paper:
        return published.load_published(published.FOLDER / f"{study.paper}.yaml")
    for path in sorted(published.FOLDER.glob("*.yaml")) if study.explains else ():
        found = published.load_published(path)
        configs = {v.config for v in found.values} | {c.config for claim in found.claims for c in claim.comparisons}
        if study.explains in configs:
            return found
    return None
