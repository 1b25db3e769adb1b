"""What a score by the embedded judge shows, and what to do next.

All figures are those of `benchmarks/embedded/README.md`, "What a report says".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from statistics import fmean

from factcheck.facts.sources import Texts
from factcheck.reports.text import DASH, percent, plural, share

EMBEDDED = "judge:local/"
"""Entry of the embedded judge in a signature."""
_BY_WORDS = "judge:containment/"
_EXTRACTED = "extractor:local/"
_USUAL = (0.7, 1.2)
"""Scores of the middle half of 119 summaries of news, by 23 systems, as multiples of their lead
baselines."""
_LEAST_COPIED = 0.32
"""Share of copied phrases of the one among them that copies least."""
PARAPHRASE = 0.2
"""Share of copied phrases below which a summary paraphrases: 33 summaries written as paraphrases
copy at most .10, summaries written to copy at least .27."""
_WORDS = 3
_WORD = re.compile(r"\w+")
_TESTED = (
    "in tests, paraphrases that kept 59 % of the main facts scored 0.00 to 0.41 with this judge, "
    "those of long texts below their lead"
)
_NEXT = "a language model (--judge openai/NAME)"
_GATE = (
    "the embedded judge as a gate: on paraphrased summaries it noticed 88 % of dropped facts and "
    "28 % of distortions, and called 24 % of kept facts dropped; for distortions, use "
    f"{_NEXT}"
)


def copied_share(texts: Texts | None) -> float | None:
    """Return the share of a summary's three-word phrases that its source has, in [0, 1].

    `None` if a text is unknown or the summary has fewer than three words.
    """
    if texts is None or not texts.documents:
        return None
    phrases = _phrases(texts.summary.text)
    known = {phrase for document in texts.documents for phrase in _phrases(document.text)}
    return sum(phrase in known for phrase in phrases) / len(phrases) if phrases else None


def _phrases(text: str) -> list[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return list(zip(*(words[start:] for start in range(_WORDS)), strict=False))


def is_paraphrase(copied: float | None) -> bool:
    return copied is not None and copied < PARAPHRASE


def caveats(signature: str, copied: Sequence[float | None], n_distorted: int) -> tuple[str, ...]:
    """Say what scores by a judge that runs here show; empty for others, or without scores.

    Args:
        signature: Signature of the scores.
        copied: `copied_share` of each scored summary.
        n_distorted: Number of distorted facts.
    """
    if _BY_WORDS in signature and copied:
        return ("This judge compares words: paraphrases count as dropped, it finds no distortion",)
    if EMBEDDED not in signature or not copied:
        return ()
    proof = "No distorted facts is no proof: this judge misses 7 of 10 distortions"
    if n_distorted:
        which = "distorted fact" if n_distorted == 1 else plural(n_distorted, "distorted fact")
        proof = (
            f"Check the {which} first: in tests, 69 of 84 such facts were distorted or "
            "dropped, and 7 of 10 distortions were missed"
        )
    loss = ""
    if n_low := sum(map(is_paraphrase, copied)):
        what = f"{n_low:,} of {len(copied):,} summaries paraphrase"
        if len(copied) == 1:
            what = f"the summary paraphrases ({percent(copied[0] or 0.0)} copied)"
        loss = f"Low coverage is no evidence of loss: {what}, and {_TESTED}"
    decide = f"To decide: {_NEXT}, or 10 labels (factcheck calibrate agreement --review)"
    return tuple(filter(None, (proof, loss, decide)))


def usual_range(signature: str, lead: float | None, copied: float | None) -> str:
    """Say which scores are usual beside a lead baseline; empty for kinds that were not measured."""
    is_measured = EMBEDDED in signature and _EXTRACTED in signature
    if not lead or not is_measured or copied is None or copied < _LEAST_COPIED:
        return ""
    low, high = (share(min(1.0, ratio * lead), 2) for ratio in _USUAL)
    return (
        f"usual: {low} {DASH} {high} ({_USUAL[0]} to {_USUAL[1]} times the lead: the middle half "
        "of 119 news summaries that copy)"
    )


def comparison_caveats(
    signatures: Iterable[str], copied: Iterable[tuple[float | None, float | None]]
) -> tuple[str, str]:
    """Say why two summaries, or runs, cannot be ranked, and what their equality does not prove.

    Args:
        signatures: Signatures of all scores.
        copied: `copied_share` of the two summaries of each pair.

    Returns:
        Two sentences; at least one is empty, and both for other judges or unknown texts.
    """
    known = [(a, b) for a, b in copied if a is not None and b is not None]
    if not known or not all(EMBEDDED in signature for signature in signatures):
        return "", ""
    a, b = map(fmean, zip(*known, strict=True))
    if is_paraphrase(a) != is_paraphrase(b):
        unequal = (
            f"No ranking: A copies {percent(a)} of its phrases from the source and B {percent(b)}, "
            f"and {_TESTED}; of distortions in paraphrases it misses 7 of 10. To decide: {_NEXT}"
        )
        return unequal, ""
    caution = (
        "No difference is no proof: these summaries paraphrase, and this judge misses 7 of 10 "
        f"distortions. To decide: {_NEXT}"
    )
    return "", caution if is_paraphrase(a) else ""


def gate_caveat(signature: str) -> str:
    """Say what a gate by the embedded judge catches; empty for other judges."""
    return _GATE if EMBEDDED in signature else ""
