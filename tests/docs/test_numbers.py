"""Numbers of README, pages and pictures are those of the shipped predictions, and those that are pinned or measured."""

from __future__ import annotations

import json
import re
import sys
from decimal import ROUND_HALF_EVEN, Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from benchmark.commands.check import PINNED
from benchmark.config.experiment import check_experiment, read_config
from benchmark.evaluation.outcomes import score_over_splits
from benchmark.evaluation.public_test_sets import load_shipped
from benchmark.papers.load import load_published
from benchmark.papers.published import PUBLISHED_FOLDER
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.report.drawing.render import render_pictures

if TYPE_CHECKING:
    from types import ModuleType

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
#: The page with the table of equal inputs.
PAGE = (DOCS / "published.md").read_text(encoding="utf-8")
#: Beginning of each row of the table, its test set, its configuration, and the ending of the names of its cells.
ROWS = {
    "20NG by date": ("20ng", "simplex-20ng", "-temporal-holdout"),
    "WebKB, leave one university out": ("webkb", "simplex-webkb", "-cv"),
    "Reuters R8": ("r8", "simplex-r8", "-cv"),
    "Reuters R52": ("r52", "simplex-r52", "-cv"),
    "ModApte-90, micro-F1": ("modapte-90", "simplex-modapte", "-cv"),
}
FEATURES = "words characters fused words-concentration characters-concentration fused-concentration"
CONCENTRATION = "words-concentration characters-concentration one-machine-concentration fused-concentration"
CONTROLS = "plain-words plain-characters plain-fused chosen simplex"
#: Rows of the page on words and characters: beginning, corpus, and cells, or differences of two, of the first numbers.
CHARACTERS = [
    ("(1 + log count)", "20ng", "plain-words plain-words-pairs-subject plain-characters plain-one-machine plain-fused"),
    ("square roots of", "20ng", "words words-pairs-subject characters one-machine fused"),
    ("the same of", "20ng", CONCENTRATION),
    ("the choice, over words", "20ng", "chosen−words-pairs-subject"),
    ("the choice, over two", "20ng", "chosen−plain-fused"),
    ("two machines, over words", "20ng", "fused−words-pairs-subject"),
    ("two machines, over characters", "20ng", "fused−characters"),
    ("two machines, over the same", "20ng", "fused−one-machine"),
    ("one machine with", "20ng", "one-machine−words-pairs-subject"),
    ("characters, over words", "20ng", "characters−words"),
    ("concentration, of characters", "20ng", "characters-concentration−characters"),
    ("concentration, of two", "20ng", "fused-concentration−fused"),
    ("concentration, of words", "20ng", "words-concentration−words-pairs-subject"),
    ("square roots, of two", "20ng", "fused−plain-fused"),
    ("20 Newsgroups without", "20ng-own", FEATURES),
    ("20 Newsgroups, folds", "20ng-authors", FEATURES),
    ("WebKB", "webkb", FEATURES),
    ("Reuters R8", "r8", FEATURES),
    ("Reuters R52", "r52", FEATURES),
    ("Reuters ModApte", "modapte", FEATURES),
    ("on WebKB", "webkb", CONTROLS),
    ("on R8", "r8", CONTROLS),
    ("on R52", "r52", CONTROLS),
    ("on ModApte", "modapte", CONTROLS),
]
METHODS = ("plain", "damped", "unrooted", "simplex")
COMPARED = (("damped", "plain"), ("simplex", "unrooted"))


def script(name: str, folder: str = "docs") -> ModuleType:
    """Import a script of a folder that is no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(REPOSITORY / folder), *sys.path])
        return import_module(name)


def pinned(name: str) -> pd.Series[float]:
    """Return the pinned scores over all splits, in percent, by cell."""
    rows = pd.read_csv(PINNED / f"{name}.csv").query("fold == 'all'")
    return rows.set_index("cell")["value"] * 100


def shipped_score(name: str, column: str) -> tuple[float, ...]:
    """Return the scores of shipped labels by the two metrics of their test set, in percent."""
    shipped = load_shipped(name)
    outcome = script("readme").scores(shipped, column).outcome
    assert outcome is not None
    metrics = "micro-f1" if shipped.test_set.multilabel else "accuracy", "macro-f1"
    return tuple(100 * score_over_splits(outcome, metric) for metric in metrics)


@pytest.mark.parametrize("title", ROWS)
def test_a_row_of_the_table_and_the_overview_are_those_of_the_shipped_predictions(title: str) -> None:
    """Scores, and differences of equal inputs with intervals and p of the sign test."""
    name, config, ending = ROWS[title]
    known = [each for each in METHODS if each + ending in load_shipped(name).cells]
    scores = {each: "{:.2f} ({:.2f})".format(*shipped_score(name, each + ending)) for each in known}
    parts = [title, *(scores.get(each, "–") for each in METHODS)]
    for a, b in COMPARED:
        if not {a, b} <= scores.keys():
            parts.append("–")
            continue
        gap = script("readme").shipped_gap(name, (config, a + ending), (config, b + ending))
        p_text = "<0.0001" if gap["p"] < 0.0001 else f"{gap['p']:.2g}"
        parts.append("{value:+.2f} [{low:+.2f}, {high:+.2f}], p ".format(**gap) + p_text)
    (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| {title} |"))
    assert row == f"| {' | '.join(parts)} |"
    pictures = script("pictures")
    for series, cell in ((pictures.UNROOTED, "unrooted"), (pictures.ROOTED, "simplex")):
        assert pictures.scores_of(config)[series][0] == pytest.approx(shipped_score(name, cell + ending)[0])


def test_the_table_counts_the_candidates() -> None:
    counts: dict[str, list[str]] = {method: [] for method in METHODS}
    for _, configuration, _ in ROWS.values():
        found = check_experiment(read_config(REPOSITORY / "configs" / f"{configuration}.yaml"), BUILTIN_REGISTRIES)
        (variant,) = found.variants.values()
        for entry in variant.entries:
            if entry.label in counts:
                counts[entry.label].append(str(len(entry.candidates)))
    assert " | ".join(["", *map(", ".join, counts.values()), ""]).strip() in PAGE


def test_sentences_have_the_pinned_numbers() -> None:
    guide_parts = (DOCS / "guide.md").read_text(encoding="utf-8").split("\n\n")
    guide, page = (" ".join(text.split()) for text in ("\n\n".join(guide_parts), PAGE))
    (said,) = (part for part in guide_parts if part.startswith("`configs/features.yaml`"))
    cells = ("ngd", "hellinger", "arcsine-n_components1024", "sign-projection-n_components4096-c3.1416")
    assert re.findall(r"(\d+\.\d+)%", said) == [f"{pinned('features')[cell]:.2f}" for cell in cells]
    gaps = [f"{each['tf-l1-ngd'] - each['tf-l2-linear']:.1f}" for each in map(pinned, ("quickstart", "20ng", "webkb"))]
    assert "by {} points there, by {} on 20NG and by {} on WebKB".format(*gaps) in guide
    steps = [pinned(name)[f"simplex{end}"] - pinned(name)[f"plain{end}"] for _, name, end in list(ROWS.values())[:2]]
    assert "has {:.2f} points more than `plain` on 20NG and {:.2f} on WebKB".format(*steps) in page
    (said,) = (part for part in PAGE.split("\n\n") if "NGD's square root adds" in part)
    surveyed, expected = [pinned(f"geometry-{name}") for name in ("webkb", "20ng", "topics", "r52")], []
    for a, b in (("root", "words"), ("ngd", "ridge"), ("ngd-rest", "ngd")):
        ranged = [scores[a] - scores[b] for scores in surveyed]
        expected += [f"{min(ranged):+.2f}", f"{max(ranged):+.2f}"]
    assert re.findall(r"[+-]\d\.\d\d", said) == expected
    assert f"sets {pinned('all-methods-webkb').size} methods" in " ".join(said.split())


@pytest.mark.parametrize(("beginning", "corpus", "cells"), CHARACTERS, ids=[beginning for beginning, *_ in CHARACTERS])
def test_a_row_on_words_and_characters_has_the_pinned_numbers(beginning: str, corpus: str, cells: str) -> None:
    scores = pinned(f"characters-{corpus}").rename(lambda cell: re.sub("-(cv|temporal-holdout)$", "", cell))
    page = (DOCS / "characters.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"(?m)^\| {re.escape(beginning)}[^|]*\|(.*)$", page)
    printed = [Decimal(each.replace("−", "-")) for each in re.findall(r"[+−-]?\d+\.\d+", row)]
    for text, names in zip(printed, cells.split(), strict=False):
        a, _, b = names.partition("−")
        value = round(scores[a] - (scores[b] if b else 0), 9)
        assert text == Decimal(repr(float(value))).quantize(Decimal("0.01"), ROUND_HALF_EVEN), names
    assert len(printed) == len(cells.split()) or "−" in cells


def test_the_readme_is_what_results_give_and_short() -> None:
    assert script("readme").written(README) == README, "make docs writes it"
    assert len(README.splitlines()) <= 110
    assert len(README.split()) <= 900
    prose = re.sub(r"```.*?```|<!--.*?-->|^\|.*$|\]\([^)]*\)", " ", README, flags=re.DOTALL | re.MULTILINE)
    for part in re.split(r"\n\n|\n- |\n#+ | · ", prose):
        for sentence in re.split(r"(?<=[.:;?!])(?:\*\*)?\s", part):
            assert len(sentence.split()) <= 25, sentence


def test_the_page_of_growth_has_the_numbers_that_were_measured() -> None:
    scale = script("scale", "tests/perf")
    found, text = json.loads(scale.RESULT.read_text(encoding="utf-8")), scale.PAGE.read_text(encoding="utf-8")
    assert scale.page(text, found) == text, "tests/perf/scale.py writes it"


@pytest.mark.slow
def test_pictures_are_those_that_the_code_draws() -> None:
    pictures = script("pictures").PICTURES
    surveys = "".join((DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("methods", "ablation"))
    of_runs = set(re.findall(r"\(img/(.+?)\.svg\)", surveys))
    assert {path.stem for path in (DOCS / "img").iterdir()} == {*pictures, *of_runs, "page"}  # docs/page_picture.py
    for name, files in render_pictures({name: draw() for name, draw in pictures.items()}).items():
        assert (DOCS / "img" / f"{name}.svg").read_bytes() == files["svg"], f"make docs draws another {name}"


def test_steps_add_up_and_have_the_pinned_scores() -> None:
    """The three steps of the geometry are its whole, and each is the difference of two pinned scores."""
    pictures, scores = script("pictures"), pinned("anatomy")
    for cells in pictures.CORPORA.values():
        whole, *parts, rest = (pictures.gap_of(claim, cells, sign)["value"] for claim, sign in pictures.STEPS.values())
        assert whole == pytest.approx(sum(parts))
        assert whole == pytest.approx(scores[f"{cells}l1-ngd"] - scores[f"{cells}l2-linear-c2"])
        assert rest == pytest.approx(scores[f"{cells}l1-ngd-one-vs-rest"] - scores[f"{cells}l1-ngd"])


def test_the_highest_published_value_is_the_highest_that_is_listed() -> None:
    """A method that is not known to see the tested texts is not said to."""
    known, pictures = load_published(PUBLISHED_FOLDER / "reference-values.yaml"), script("pictures")
    seen = [each for each in known.census if each.transductive and each.metric == "accuracy" and each.corpus == "20ng"]
    (highest, *_) = pictures.printed_of("simplex-20ng", "20ng")[pictures.HIGHEST]
    assert highest >= max(float(each.value) for each in seen if "BERT" not in each.method)
    names = {each.method: each.name for each in known.reference_values}
    assert names["ECCNN"] == "ECCNN, not known whether transductive"
