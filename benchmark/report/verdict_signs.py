"""Signs and tones of verdicts, the same on pages, in Markdown and in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.analysis.prose.sentences import sentence

if TYPE_CHECKING:
    from benchmark.analysis.summary import Summary

#: Tone by the first words of a verdict: whether it supports the published value or claim ("good"), in part ("half"),
#: or speaks against it ("bad").
VERDICT_TONES = {"holds in part": "half", "depends on the reading": "half"}
VERDICT_TONES |= dict.fromkeys(("equal", "consistent", "holds", "first is better", "second is better"), "good")
VERDICT_TONES |= dict.fromkeys(("deviates", "contradicted", "failed", "fails"), "bad")
SIGNS = {"good": "✓", "half": "◐", "bad": "✗", "open": "○"}
#: What the signs of claims mean.
CLAIM_SIGNS = {
    "good": "holds",
    "half": "holds in part, or under some readings of the paper only",
    "bad": "is contradicted, or the scores are the other way round",
    "open": "is not shown either way, or can't be tested",
}
CLAIM_SIGNS_LEGEND = "; ".join(f"{SIGNS[tone]}\N{NO-BREAK SPACE}{means}" for tone, means in CLAIM_SIGNS.items())


def verdict_tone(text: str) -> str:
    """Return the tone of a verdict, "open" for one that decides neither way.

    Examples
    --------
    >>> [verdict_tone(text) for text in ("holds", "holds in part (1 of 2)", "contradicted", "not shown")]
    ['good', 'half', 'bad', 'open']
    """
    return next((tone for word, tone in VERDICT_TONES.items() if text.startswith(word)), "open")


def verdict_sign(text: str) -> str:
    """Return the sign of a verdict."""
    return SIGNS[verdict_tone(text)]


def claim_facts(summary: Summary) -> list[dict[str, str]]:
    """Return the claims that this run decides, in full or in part: sign, word and tone, text, and how many hold.

    Claims that repeat another are left to the table of claims.
    """
    found, repeated = [], summary.claims["counted"].str.startswith("same as").astype(bool)
    for row in summary.claims[~repeated].to_dict("records"):
        word = "holds" if row["holds"] == row["of"] else "holds in part" if row["holds"] else "fails"
        facts = {"word": word, "sign": verdict_sign(word), "tone": verdict_tone(word), "text": row["text"]}
        found.append(facts | {"counts": sentence("verdicts.j2", "here", row=row)})
    return found
