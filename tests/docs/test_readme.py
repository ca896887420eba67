"""Numbers of README and of the pages beside it: those of the shipped predictions, the pinned scores and the survey."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest
import yaml

from benchmark.cli import app
from benchmark.commands.check import PINNED
from benchmark.config.experiment import check_experiment
from benchmark.config.extends import read_config
from benchmark.evaluation.outcomes import score_over_splits
from benchmark.evaluation.public_test_sets import load_shipped
from benchmark.evaluation.sampling_model import SamplingModel
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from tests.builders import shipped_scores

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
#: The page with the table of equal inputs, and the guide.
PAGE, GUIDE = ((REPOSITORY / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("published", "guide"))
#: Beginning of each row of the table, its test set, its configuration, and the ending of the names of its cells.
ROWS = {
    "20NG by date": ("20ng", "simplex-20ng", "-temporal-holdout"),
    "WebKB, leave one university out": ("webkb", "simplex-webkb", "-cv"),
    "Reuters R8": ("r8", "simplex-r8", "-cv"),
    "Reuters R52": ("r52", "simplex-r52", "-cv"),
    "ModApte-90, micro-F1": ("modapte-90", "simplex-modapte", "-cv"),
}
#: Configurations of the survey of steps.
SURVEYED = ("webkb", "20ng", "topics", "r52")
METHODS = ("plain", "damped", "unrooted", "simplex")
COMPARED = (("damped", "plain"), ("simplex", "unrooted"))


def pinned(name: str) -> pd.Series[float]:
    """Return the pinned scores over all splits, in percent, by cell."""
    rows = pd.read_csv(PINNED / f"{name}.csv").query("fold == 'all'")
    return rows.set_index("cell")["value"] * 100


def row(title: str) -> str:
    """Return the row of a test set: scores, and differences of equal inputs with intervals and p of the sign test."""
    name, _, ending = ROWS[title]
    shipped = load_shipped(name)
    sample = SamplingModel(0, groups=len(shipped.groups) > 1)
    main, further = ("micro-f1" if shipped.test_set.multilabel else "accuracy"), "macro-f1"
    known = [each for each in METHODS if each + ending in shipped.cells]
    found = {each: shipped_scores(shipped, each + ending) for each in known}
    parts = [title]
    for method in METHODS:
        if method not in found:
            parts.append("–")
            continue
        outcome = found[method].outcome
        assert outcome is not None
        score, macro = (100 * score_over_splits(outcome, metric) for metric in (main, further))
        parts.append(f"{score:.2f} ({macro:.2f})")
    for a, b in COMPARED:
        if not {a, b} <= found.keys():
            parts.append("–")
            continue
        gap, p = sample.difference(found[a], found[b], main), sample.test("sign", found[a], found[b], main).p_value
        p_text = "" if p is None else ", p <0.0001" if p < 0.0001 else f", p {p:.2g}"
        parts.append(f"{100 * gap.value:+.2f} [{100 * gap.low:+.2f}, {100 * gap.high:+.2f}]{p_text}")
    return f"| {' | '.join(parts)} |"


@pytest.mark.parametrize("title", ROWS)
def test_a_row_of_the_table_is_that_of_the_shipped_predictions(title: str) -> None:
    assert row(title) in PAGE.splitlines()


def test_the_table_counts_the_candidates() -> None:
    counts: dict[str, list[str]] = {method: [] for method in METHODS}
    for _, configuration, _ in ROWS.values():
        found = check_experiment(read_config(REPOSITORY / "configs" / f"{configuration}.yaml"), BUILTIN_REGISTRIES)
        (variant,) = found.variants.values()
        for entry in variant.entries:
            if entry.label in counts:
                counts[entry.label].append(str(len(entry.candidates)))
    assert " | ".join(["", *map(", ".join, counts.values()), ""]).strip() in PAGE


def test_what_the_page_says_of_each_step_is_in_the_survey() -> None:
    (said,) = (part for part in PAGE.split("\n\n") if "NGD's square root adds" in part)
    expected = []
    for a, b in (("root", "words"), ("ngd", "ridge"), ("ngd-rest", "ngd")):
        gaps = [scores[a] - scores[b] for scores in (pinned(f"geometry-{name}") for name in SURVEYED)]
        expected += [f"{min(gaps):+.2f}", f"{max(gaps):+.2f}"]
    assert re.findall(r"[+-]\d\.\d\d", said) == expected
    assert f"sets {pinned('all-methods-webkb').size} methods" in " ".join(said.split())


def test_the_generated_corpus_stands_beside_real_ones() -> None:
    scores = map(pinned, ("quickstart", "20ng", "webkb"))
    gaps = [f"{each['tf-l1-ngd'] - each['tf-l2-linear']:.1f}" for each in scores]
    assert "by {} points there, by {} on 20NG and by {} on WebKB".format(*gaps) in " ".join(GUIDE.split())


def test_simplex_and_plain_differ_in_more_than_one_thing() -> None:
    gaps = [pinned(name)[f"simplex{end}"] - pinned(name)[f"plain{end}"] for _, name, end in list(ROWS.values())[:2]]
    assert "has {:.2f} points more than `plain` on 20NG and {:.2f} on WebKB".format(*gaps) in " ".join(PAGE.split())


def test_the_readme_is_what_results_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "docs"))
    script = import_module("readme")
    sys.modules.pop("readme")
    assert script.written(README) == README, "make docs writes it"


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 110
    assert len(README.split()) <= 900
    prose = re.sub(r"```.*?```|<!--.*?-->|^\|.*$|\]\([^)]*\)", " ", README, flags=re.DOTALL | re.MULTILINE)
    for part in re.split(r"\n\n|\n- |\n#+ | · ", prose):
        for sentence in re.split(r"(?<=[.:;?!])(?:\*\*)?\s", part):
            assert len(sentence.split()) <= 25, sentence


def test_one_line_says_everywhere_what_this_is() -> None:
    def text(name: str) -> str:
        return (REPOSITORY / name).read_text(encoding="utf-8")

    line = README.splitlines()[2]
    config = yaml.load(re.sub("!!python.*", "", text("mkdocs.yml")), Loader=yaml.SafeLoader)
    assert text("docs/index.md").splitlines()[2] == line
    assert tomllib.loads(text("pyproject.toml"))["project"]["description"] == line
    assert yaml.safe_load(text("CITATION.cff"))["abstract"].strip() == line
    assert json.loads(text(".zenodo.json"))["description"] == line
    assert config["site_description"] == line
    assert line in " ".join(str(app.info.help).split())
