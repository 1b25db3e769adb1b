"""Coverage: the weighted share of entailed facts, with bounds and interval, and what it shows.

What a score by the embedded judge shows has its figures from `benchmarks/embedded/README.md`, "What
a report says".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from factcheck.facts.model import CheckResult, Verdict
from factcheck.reports.text import plural
from factcheck.stats.intervals import Z_95, Interval, effective_size, wilson

_LOCAL, _BY_WORDS = "local/", "containment/"
PARAPHRASES = (
    "Low coverage of a paraphrase is no evidence of loss: in tests, paraphrases that kept 59 % of "
    "the main facts scored 0.00 to 0.41 with this judge, those of long texts below their lead. "
    "Do not rank a paraphrase and a copy"
)


@dataclass(frozen=True, slots=True)
class Share:
    """Weighted share of entailed facts, with bounds and interval."""

    value: float | None
    """Entailed weight over decided weight, in [0, 1]; `None` if nothing was decided."""
    low: float
    """Share if no undecided fact were entailed, in [0, 1]."""
    high: float
    """Share if all undecided facts were entailed, in [0, 1]."""
    interval: Interval | None
    """95 % interval of `value`, or `None` without one. It covers the sampling of facts and, if
    every verdict has a probability, the judge's error."""


def share_entailed(results: Sequence[CheckResult]) -> Share:
    """Compute the weighted share of entailed facts.

    Args:
        results: One result per fact. A `CheckFailure` is undecided: excluded from `value`,
            included in `low` and `high`.

    Returns:
        The share; without any decided weight, `None` with bounds [0, 1].

    Source:
        FActScore's ratio (Min et al., 2023) with premise and hypothesis swapped, which makes it a
        recall; Wilson's interval on Kish's effective sample size, widened by the variance of
        independent Bernoulli trials with the judge's probabilities.
    """
    decided = [result for result in results if isinstance(result, Verdict)]
    heaviest = max((result.fact.weight for result in decided), default=0.0)
    if heaviest <= 0.0:
        return Share(None, 0.0, 1.0, None)
    value = _share(decided, heaviest, undecided=False)
    heaviest_of_all = max(result.fact.weight for result in results)
    return Share(
        value=value,
        low=min(value, _share(results, heaviest_of_all, undecided=False)),
        high=max(value, _share(results, heaviest_of_all, undecided=True)),
        interval=_interval(value, decided, heaviest),
    )


def _interval(value: float, decided: Sequence[Verdict], unit: float) -> Interval:
    """Wilson interval, widened to include the share expected from the probabilities."""
    weights = [verdict.fact.weight / unit for verdict in decided]
    sampling = wilson(value, effective_size(weights))
    chances = [verdict.probability for verdict in decided if verdict.probability is not None]
    if len(chances) < len(decided):
        return sampling
    total = math.fsum(weights)
    expected = math.fsum(w * p for w, p in zip(weights, chances, strict=True)) / total
    variance = math.fsum(w * w * p * (1 - p) for w, p in zip(weights, chances, strict=True))
    error = Z_95 * math.sqrt(variance) / total
    below = math.hypot(value - sampling.low, error)
    above = math.hypot(sampling.high - value, error)
    return Interval(max(0.0, min(value, expected) - below), min(1.0, max(value, expected) + above))


def _share(results: Sequence[CheckResult], unit: float, *, undecided: bool) -> float:
    """Divide entailed by total weight, in units of the largest to prevent overflow.

    `undecided`: whether failures count as entailed.
    """
    kept = (r.fact.weight / unit for r in results if r.supported or (undecided and not r.label))
    return math.fsum(kept) / math.fsum(result.fact.weight / unit for result in results)


def _judge(signature: str) -> str:
    return f"|{signature}".partition("|judge:")[2]  # not `first.judge` of a cascade


def is_embedded(signature: str) -> bool:
    """Whether scores are by the embedded judge alone."""
    return _judge(signature).startswith(_LOCAL)


def caveats(signature: str, n_distorted: int) -> tuple[str, ...]:
    """Say what scores by a judge that runs here show; empty for others.

    Args:
        signature: Signature of the scores.
        n_distorted: Number of distorted facts.
    """
    if _judge(signature).startswith(_BY_WORDS):
        return ("This judge compares words: paraphrases count as dropped, it finds no distortion",)
    if not is_embedded(signature):
        return ()
    proof = "No distorted facts is no proof: this judge misses 2 of 3 distortions"
    if n_distorted:
        which = "distorted fact" if n_distorted == 1 else plural(n_distorted, "distorted fact")
        proof = (
            f"Check the {which} first: in tests, 114 of 124 such facts were distorted or "
            "dropped, and 2 of 3 distortions were missed"
        )
    decide = (
        "To decide: a language model (--judge openai/NAME), or 10 labels (factcheck calibrate "
        "agreement --review)"
    )
    return proof, PARAPHRASES, decide
