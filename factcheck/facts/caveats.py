"""What a score by the embedded judge shows, and what to do next.

All figures are those of `benchmarks/embedded/README.md`, "What a report says".
"""

from __future__ import annotations

from factcheck.reports.text import DASH, plural, share

EMBEDDED = "judge:local/"
"""Entry of the embedded judge in a signature."""
_BY_WORDS = "judge:containment/"
_EXTRACTED = "extractor:local/"
_USUAL = (0.7, 1.2)
"""Scores of the middle half of 119 summaries of news, by 23 systems, as multiples of their lead
baselines; they copy at least .32 of their three-word phrases."""
PARAPHRASES = (
    "Low coverage of a paraphrase is no evidence of loss: in tests, paraphrases that kept 59 % of "
    "the main facts scored 0.00 to 0.41 with this judge, those of long texts below their lead. "
    "Do not rank a paraphrase and a copy"
)


def caveats(signature: str, n_distorted: int) -> tuple[str, ...]:
    """Say what scores by a judge that runs here show; empty for others.

    Args:
        signature: Signature of the scores.
        n_distorted: Number of distorted facts.
    """
    if _BY_WORDS in signature:
        return ("This judge compares words: paraphrases count as dropped, it finds no distortion",)
    if EMBEDDED not in signature:
        return ()
    proof = "No distorted facts is no proof: this judge misses 7 of 10 distortions"
    if n_distorted:
        which = "distorted fact" if n_distorted == 1 else plural(n_distorted, "distorted fact")
        proof = (
            f"Check the {which} first: in tests, 69 of 84 such facts were distorted or "
            "dropped, and 7 of 10 distortions were missed"
        )
    decide = (
        "To decide: a language model (--judge openai/NAME), or 10 labels (factcheck calibrate "
        "agreement --review)"
    )
    return proof, PARAPHRASES, decide


def usual_range(signature: str, lead: float | None) -> str:
    """Say which scores are usual beside a lead baseline; empty for judges without a figure."""
    if not lead or EMBEDDED not in signature or _EXTRACTED not in signature:
        return ""
    low, high = (share(min(1.0, ratio * lead), 2) for ratio in _USUAL)
    return (
        f"usual for a summary that copies: {low} {DASH} {high} ({_USUAL[0]} to {_USUAL[1]} times "
        "the lead: the middle half of 119 news summaries)"
    )
