"""How much of a language model a cascade saves, and what it costs in agreement.

    python -m benchmarks.cascade.run --data DIR        # or FACTCHECK_DATA=DIR

The first judge is the embedded one, as it is, or those of `--judge`; the second is what eight
language models really said, so nothing is sent. For several target agreements: the share of the
facts that go on to the model, the agreement with it, and the balanced accuracy against human labels
of the cascade and of the model alone. Every fact is decided by thresholds that were fitted on other
documents; intervals are 95 %, by document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.agreement.replies import Known, Reply, read_labelled, read_replies
from benchmarks.agreement.run import data_and_judges
from benchmarks.cascade.fit import JudgedFact, fit_thresholds, sent_held_out, share_text
from factcheck import FactCoverage, Verdict
from factcheck.judges.ports import HIGH, LOW

TARGETS = (0.90, 0.92, 0.94, 0.96, 0.98)
HEAD = (
    f"{'second judge':<24} target      low   high  sent                 agreement            "
    "human: cascade second  first"
)


class Row(NamedTuple):
    """A fact with the verdicts of both judges, and the human label if there is one."""

    judged: JudgedFact
    human: bool | None


def main() -> None:
    """Measure and print."""
    data, judges = data_and_judges(str(__doc__), "the first judge; repeatable")
    known = Known.of(list(read_labelled(data)))
    for first in judges or ["local"]:
        print(f"{first} first\n{HEAD}")
        with FactCoverage(first) as scorer:
            for judge, replies in sorted(read_replies(data).items()):
                rows = list(_rows(scorer, replies, known))
                for target in (*TARGETS, None):
                    print(_line(judge, rows, target), flush=True)


def _rows(scorer: FactCoverage, replies: Sequence[Reply], known: Known) -> Iterator[Row]:
    """The facts that both judges decided."""
    for reply in replies:
        results = scorer.check(reply.facts, reply.text)
        for own, (fact, second) in zip(results, reply.answers, strict=True):
            if isinstance(own, Verdict) and second is not None:
                judged = JudgedFact(reply.document, own.supported, own.probability, second)
                yield Row(judged, known.label(reply, fact))


def _line(judge: str, rows: Sequence[Row], target: float | None) -> str:
    """One line of the table; without a target, that of the default thresholds."""
    facts = [row.judged for row in rows]
    name = "default"
    low, high = LOW, HIGH
    if target is None:
        sent = [low < (fact.probability or 0.0) < high for fact in facts]
    else:
        name = f"{target:.2f}"
        low, high = fit_thresholds(facts, target)
        sent = sent_held_out(facts, target)
    cascade = [f.second if on else bool(f.first) for f, on in zip(facts, sent, strict=True)]
    agrees = [own == fact.second for own, fact in zip(cascade, facts, strict=True)]
    accuracies = (
        _balanced(rows, cascade),
        _balanced(rows, [fact.second for fact in facts]),
        _balanced(rows, [bool(fact.first) for fact in facts]),
    )
    return (
        f"{judge:<24} {name:>7}  {low:6.4f} {high:6.4f}  {share_text(facts, sent)}  "
        f"{share_text(facts, agrees)}  {'':8}" + " ".join(f"{one:6.3f}" for one in accuracies)
    )


def _balanced(rows: Sequence[Row], decisions: Sequence[bool]) -> float:
    """Mean of sensitivity and specificity against the human labels."""
    rates = []
    for label in (True, False):
        own = [d for row, d in zip(rows, decisions, strict=True) if row.human is label]
        rates.append(sum(one is label for one in own) / len(own))
    return sum(rates) / len(rates)


if __name__ == "__main__":
    main()
