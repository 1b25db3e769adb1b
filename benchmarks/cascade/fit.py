"""Fit the thresholds of a cascade: how much agreement with the second judge costs how much of it.

    python -m benchmarks.cascade.fit FIRST SECOND --target .95

FIRST and SECOND are rows of `factcheck run --out` by the two judges, on the same records and facts:
use the same --extractor, or records with facts. What goes on to the second judge agrees by
definition, what the first judge keeps may not. For a target agreement, the thresholds are those
that send the fewest facts on. Shares are of documents that the thresholds were not fitted on.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from factcheck import CoverageReport, Verdict
from factcheck.facts import digest
from factcheck.scoring.comparison import reports_of
from factcheck.scoring.run_report import RunReport
from factcheck.stats.intervals import share_interval

_MAX_FOLDS = 10
_ROUNDING = 1e-9
"""Shares that do not come out exactly in binary must not miss a target."""


class JudgedFact(NamedTuple):
    """A fact and a text on which both judges gave their verdict."""

    document: str
    """Facts of one document are not independent."""
    first: bool | None
    """Whether the first judge says entailed; `None`: it has no verdict, so the fact goes on."""
    probability: float | None
    """Of the first judge, in [0, 1]; without one its verdict stands."""
    second: bool
    """Whether the second judge says entailed."""


class Thresholds(NamedTuple):
    """The first judge keeps what is not strictly between them."""

    low: float
    high: float


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--target", type=float, default=0.95)
    options = parser.parse_args()
    runs = [reports_of(RunReport.read(path))[0] for path in (options.first, options.second)]
    facts = list(judged_facts(*runs))
    if len({fact.document for fact in facts}) < 2:
        sys.exit("two documents with facts that both judges decided are needed")
    sent = sent_held_out(facts, options.target)
    agrees = [on or fact.first == fact.second for fact, on in zip(facts, sent, strict=True)]
    low, high = fit_thresholds(facts, options.target)
    print(f"low={low:g}, high={high:g}, from {len(facts):,} facts")
    print(f"sent       {share_text(facts, sent)}")
    print(f"agreement  {share_text(facts, agrees)}, target {options.target:g}")


def judged_facts(
    first: Mapping[str, CoverageReport], second: Mapping[str, CoverageReport]
) -> Iterator[JudgedFact]:
    """Pair the results of two runs by record and text of the fact."""
    for name in first.keys() & second.keys():
        source = first[name].facts
        document = source.source_digest or digest("\n".join(fact.text for fact in source))
        ours = first[name].by_fact
        for key, result in second[name].by_fact.items():
            own = ours.get(key)
            if own is None or not isinstance(result, Verdict):
                continue
            if isinstance(own, Verdict):
                yield JudgedFact(document, own.supported, own.probability, result.supported)
            else:
                yield JudgedFact(document, None, None, result.supported)


def share_text(facts: Sequence[JudgedFact], hits: Sequence[bool]) -> str:
    """Format the share of hits with its 95 % interval by document."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for fact, hit in zip(facts, hits, strict=True):
        counts[fact.document][0] += 1
        counts[fact.document][1] += hit
    low, high = share_interval([(n, n_hits) for n, n_hits in counts.values()]) or (0.0, 1.0)
    return f"{sum(hits) / len(hits):.3f} ({low:.3f}-{high:.3f})"


def sent_held_out(facts: Sequence[JudgedFact], target: float) -> list[bool]:
    """Return which facts go on, each by thresholds that were fitted on other documents.

    The documents are split at random into up to ten folds.
    """
    documents = sorted({fact.document for fact in facts})
    random.Random(0).shuffle(documents)  # noqa: S311 - repeatable, not secret
    n_folds = min(_MAX_FOLDS, len(documents))
    fold = {document: place % n_folds for place, document in enumerate(documents)}
    fits = [
        fit_thresholds([fact for fact in facts if fold[fact.document] != number], target)
        for number in range(n_folds)
    ]
    sent = []
    for fact in facts:
        low, high = fits[fold[fact.document]]
        is_between = fact.probability is not None and low < fact.probability < high
        sent.append(fact.first is None or is_between)
    return sent


def fit_thresholds(facts: Sequence[JudgedFact], target: float) -> Thresholds:
    """Return the thresholds that send the fewest facts on and agree in `target` of them.

    Where nothing reaches the target, all go on but those of probability 0 and 1.
    """
    n_wrong_allowed = math.floor((1.0 - target) * len(facts) + _ROUNDING)
    at: dict[float, list[int]] = defaultdict(lambda: [0, 0, 0])
    for fact in facts:
        is_wrong = fact.first != fact.second
        if fact.first is not None and fact.probability is None:
            n_wrong_allowed -= is_wrong
        elif fact.first is not None and fact.probability is not None:
            counts = at[fact.probability]
            at[fact.probability] = [counts[0] + 1, counts[1] + is_wrong, counts[2] + fact.first]
    values = sorted(at)
    n = len(values)
    # of the i lowest values: facts, wrong ones, entailed ones; above: of those from the j-th on
    below = np.cumsum([[0, 0, 0], *(at[value] for value in values)], axis=0)
    above = below[-1] - below
    first, last = int(0.0 in at), n - int(1.0 in at)
    lowest = np.searchsorted(below[:, 1], below[:, 1] + above[0, 1] - n_wrong_allowed)
    ways = []
    for i in range(first, n + 1):
        j = max(i, min(int(lowest[i]), last))
        n_kept, n_wrong, _ = below[i] + above[j]
        if n_wrong <= n_wrong_allowed:
            # of equals, the one that keeps few entailed facts for their low probability
            ways.append((n_kept, -n_wrong, -below[i, 2], i, j))
    *_, i, j = max(ways, default=(first, max(first, last)))
    return Thresholds(_between(values, i), _between(values, j))


def _between(values: Sequence[float], place: int) -> float:
    """Return the middle of the values before and at a place; 0 or 1 at the ends."""
    if place in {0, len(values)}:
        return float(place > 0)
    return (values[place - 1] + values[place]) / 2


if __name__ == "__main__":
    main()
