"""Coverage: the weighted share of entailed facts, with bounds and interval, and what it shows.

The figures behind what is said of a judge are in `docs/trust.md` and the data card that it names.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from factcheck.facts.model import CheckResult, Verdict, root_ids
from factcheck.reports.text import one_line
from factcheck.stats.intervals import Z_95, Interval, effective_size, wilson

_LOCAL, _BY_WORDS = "|judge:local/", "|judge:containment/"
ALIKE = (
    "This judge under-scores rewording and misses many distortions. "
    "Compare only summaries of similar style and length."
)
_MATCHES_WORDS = (
    "This judge matches words: paraphrases count as dropped, and it finds no distortion."
)
_BEHIND = (
    "Good for ranking and for spotting what changed; not for thresholds or absolute figures.",
    "That it found no distortion is no proof that there is none.",
    "Need a firm score? Rerun with --judge openai/NAME, or label facts on a page: factcheck demo",
    "Measure it on your own texts: factcheck trust YOURS.jsonl. Figures: docs/trust.md",
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
    expected: float | None = None
    """Mean over the statements of the mean probability of their decided facts, weighted, in [0, 1]:
    the share to expect, however many details a statement has; `None` unless every verdict has a
    probability."""


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
    weights = [verdict.fact.weight / heaviest for verdict in decided]
    chances = [verdict.probability for verdict in decided if verdict.probability is not None]
    sampling = wilson(value, effective_size(weights))
    is_likely = len(chances) == len(decided)
    return Share(
        value=value,
        low=min(value, _share(results, heaviest_of_all, undecided=False)),
        high=max(value, _share(results, heaviest_of_all, undecided=True)),
        interval=_widened(sampling, value, chances, weights) if is_likely else sampling,
        expected=_mean(chances, _by_statement(decided, weights)) if is_likely else None,
    )


def _by_statement(decided: Sequence[Verdict], weights: Sequence[float]) -> list[float]:
    """Share the weight of a statement among its core and details."""
    facts = [verdict.fact for verdict in decided]
    roots = root_ids(facts)
    sizes = Counter(roots[fact.id] for fact in facts)
    return [w / sizes[roots[fact.id]] for fact, w in zip(facts, weights, strict=True)]


def _mean(chances: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(w * p for w, p in zip(weights, chances, strict=True)) / math.fsum(weights)


def _widened(
    sampling: Interval, value: float, chances: Sequence[float], weights: Sequence[float]
) -> Interval:
    """Widen an interval to include the share expected from the probabilities."""
    total, expected = math.fsum(weights), _mean(chances, weights)
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


def is_embedded(signature: str) -> bool:
    """Whether scores are by the embedded judge alone."""
    return _LOCAL in f"|{signature}"  # not `first.judge` of a cascade


def trust_lines(signature: str, quality: str = "") -> tuple[str, ...]:
    """Say how far to trust scores: a line, and what is behind it; empty if nothing is known."""
    own = (one_line(quality),) if quality else ()
    figures: tuple[str, ...] = ()
    if quality.startswith("balanced accuracy"):
        own, figures = (), (f"Judge: {one_line(quality)}; 0.50 is guessing",)
    if _BY_WORDS in f"|{signature}":
        return (*own, _MATCHES_WORDS, *figures)
    if is_embedded(signature):
        return (*own, ALIKE, *_BEHIND, *figures)
    return own
