"""Write what README says of results, from results/: `python docs/readme.py`, part of `make docs`.

Each region of README between `<!-- NAME -->` and `<!-- end -->` is replaced: the findings, and a row for each paper.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from pictures import gap_of

from benchmark.analysis.prose.verdict_sentences import claim_verdict_lists, counted_claims
from benchmark.evaluation.outcomes import CellScores, Outcome, outcome_scores
from benchmark.evaluation.public_test_sets import ShippedPredictions, label_codes, load_shipped
from benchmark.evaluation.sampling_model import SamplingModel
from benchmark.papers import published as papers
from benchmark.papers.load import load_published
from benchmark.system.atomic_files import write_atomically

REPOSITORY = Path(__file__).parents[1]
README = REPOSITORY / "README.md"
NEWS, WEBKB = "20 Newsgroups", "WebKB"


def shown(gap: dict[str, float]) -> str:
    """Return a difference with its interval, and whether it is significant."""
    clear = gap["p"] < 0.05 and gap["low"] * gap["high"] > 0
    text = f"{gap['value']:+.2f} [{gap['low']:+.2f}, {gap['high']:+.2f}]".replace("-", "−")
    return text + ("" if clear else " (no clear difference)")


def scores(shipped: ShippedPredictions, cell: str) -> CellScores:
    """Return the scores of a shipped column on every split."""
    several = shipped.test_set.multilabel
    truth, labels = (label_codes(shipped.frame[name], shipped.classes, multilabel=several) for name in ("label", cell))
    rows, folds = np.arange(len(shipped.frame)), shipped.frame["group"].factorize()[0]
    outcome = Outcome(cell, rows, folds, truth, labels, len(shipped.classes))
    n = np.array([rows.size for rows in outcome.rows])
    return CellScores(cell, shipped.groups, outcome_scores(outcome), n, outcome.ties(None), outcome)


def shipped_gap(name: str, a: tuple[str, str], b: tuple[str, str]) -> dict[str, float]:
    """Return the difference of two cells on a public test set: points with interval, and p of the sign test."""
    shipped = load_shipped(name)
    cells = [cell if shipped.cells.get(cell) == config else f"{config}-{cell}" for config, cell in (a, b)]
    found = [scores(shipped, cell) for cell in cells]
    sample = SamplingModel(0, groups=len(shipped.groups) > 1)
    metric = "micro-f1" if shipped.test_set.multilabel else "accuracy"
    gap, p = sample.difference(*found, metric), sample.test("sign", *found, metric).p_value
    assert p is not None  # noqa: S101 - documents of one split have a test
    return {"value": 100 * gap.value, "low": 100 * gap.low, "high": 100 * gap.high, "p": p}


def findings() -> str:
    """Return four findings, each with its numbers, intervals and a link."""

    def tuned(name: str, choice: str) -> str:
        of = f"tuned-{name}"
        return shown(
            shipped_gap(name, (of, f"aitchison-hellinger-{choice}"), (of, f"tfidf-linear-svm-{choice}")),
        )

    def root(name: str, choice: str = "cv") -> str:
        of = f"simplex-{name}"
        return shown(shipped_gap(name, (of, f"simplex-{choice}"), (of, f"unrooted-{choice}")))

    def step(claim: str, sign: int = 1) -> str:
        news, web = (shown(gap_of(claim, cells, sign)) for cells in ("20ng-tf-", "tf-"))
        return f"{news} on {NEWS}; {web} on {WEBKB}"

    bullets = (
        (
            "A method to start with is `aitchison-hellinger`.",
            (
                "Its lead over a linear SVM on TF×IDF: "
                f"{tuned('20ng', 'temporal-holdout')} on {NEWS}; {tuned('webkb', 'cv')} on {WEBKB}."
            ),
            "Which method to choose",
            "docs/methods.md",
        ),
        (
            "A square root alone changes little.",
            (
                f"With and without it, among the same weights: {root('20ng', 'temporal-holdout')} on {NEWS}; "
                f"{root('webkb')} on {WEBKB}; {root('r8')} on Reuters R8."
            ),
            "On equal inputs",
            "docs/published.md",
        ),
        (
            "NGD's lead depends on the corpus.",
            f"Against a linear kernel of equal scale: {step('ngd-above-linear-at-its-scale')}.",
            "The paper's page",
            "results/papers/zhang2005.md",
        ),
        (
            "How classes are compared matters as much.",
            f"One-vs-rest instead of one-vs-one, with NGD: {step('step-one-vs-one', -1)}.",
            "Step by step",
            "docs/ablation.md",
        ),
    )
    lines = (f"- **{head}** {text} [{link}]({target})." for head, text, link, target in bullets)
    return "Points of accuracy, with 95% intervals:\n\n" + "\n".join(lines)


def paper_rows() -> str:
    """Return a table with a row for each paper: what it claims, and how many claims hold."""
    claims = pd.read_csv(REPOSITORY / "results" / "papers" / "claims.csv", keep_default_na=False)
    lines = ["| paper | what it claims | claims that hold | by a stricter test |", "|---|---|---|---|"]
    for paper in map(load_published, sorted(papers.PUBLISHED_FOLDER.glob("*.yaml"), key=lambda path: path.stem[-4:])):
        if not paper.claims:
            continue
        verdicts = claim_verdict_lists(counted_claims(claims[claims["paper"] == paper.paper]))
        held = [f"{sum(verdict == 'holds' for verdict in each)} of {len(each)}" for each in verdicts]
        link = f"[{paper.title}](results/papers/{paper.paper}.md), {paper.paper[-4:]}"
        lines.append(f"| {link} | {paper.claimed} | {held[0]} | {held[1]} |")
    return "\n".join(lines)


REGIONS = {"findings": findings, "papers": paper_rows}


def written(text: str) -> str:
    """Return the text of README with its regions as results/ give them."""
    for name, made in REGIONS.items():
        opens, closes = f"<!-- {name} -->\n", "<!-- end -->"
        before, _, rest = text.partition(opens)
        _, _, after = rest.partition(closes)
        text = f"{before}{opens}{made()}\n{closes}{after}"
    return text


if __name__ == "__main__":
    write_atomically(README, written(README.read_text(encoding="utf-8")).encode())
