"""How much of a language model a cascade saves, and what it costs in agreement.

    python -m benchmarks.cascade.run --data DIR        # or FACTCHECK_DATA=DIR

The first judge is the embedded one, as it is; the second is replayed from what eight language
models really replied, so nothing is sent. For several target agreements: the share of the facts
that go on to the model, the agreement with it, and the balanced accuracy against human labels of
the cascade and of the model alone. Every fact is decided by thresholds that were fitted on other
documents; intervals are 95 %, by document.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.cascade.fit import JudgedFact, fit_thresholds, sent_held_out, share_text
from benchmarks.replay.replies import Replied, Reply, read_replies
from benchmarks.replay.run import Labels, human_labels, read_labels
from factcheck import CoverageReport, FactCoverage, Verdict
from factcheck.judges.ports import HIGH, LOW

TARGETS = (0.90, 0.92, 0.94, 0.96, 0.98)


class Row(NamedTuple):
    """A fact with the verdicts of both judges, and the human label if there is one."""

    judged: JudgedFact
    human: bool | None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("FACTCHECK_DATA"))
    options = parser.parse_args()
    if options.data is None:
        parser.error("name the data directory with --data or FACTCHECK_DATA")
    replies, labels = read_replies(Path(options.data)), read_labels(Path(options.data))
    with FactCoverage("local") as scorer:
        known: dict[tuple[str, tuple[str, ...]], CoverageReport] = {}

        def embedded(reply: Reply) -> CoverageReport:
            key = reply.text, reply.facts
            if key not in known:
                known[key] = scorer.score("", reply.text, facts=reply.facts)
            return known[key]

        rows = {judge: list(_rows(judge, replies[judge], labels, embedded)) for judge in replies}
    print(
        f"{'second judge':<24} target      low   high  sent                 agreement            "
        "human: cascade second  first"
    )
    for judge in sorted(rows):
        for target in TARGETS:
            print(_line(judge, rows[judge], target), flush=True)
        print(_line(judge, rows[judge], None), flush=True)


def _rows(
    judge: str,
    replies: Sequence[Reply],
    labels: Labels,
    embedded: Callable[[Reply], CoverageReport],
) -> Iterator[Row]:
    """The facts that a model decided in its recorded replies."""
    with FactCoverage(Replied(judge, replies), "local") as scorer:
        for reply in replies:
            humans: Mapping[str, int | None] = human_labels(reply, labels)
            second = scorer.score("", reply.text, facts=reply.facts)
            for own, its in zip(embedded(reply).results, second.results, strict=True):
                if isinstance(its, Verdict) and isinstance(own, Verdict):
                    human = humans.get(its.fact.text)
                    yield Row(
                        JudgedFact(reply.doc_id, own.supported, own.probability, its.supported),
                        None if human is None else human == 1,
                    )


def _line(judge: str, rows: Sequence[Row], target: float | None) -> str:
    """One line of the table; without a target, that of the default thresholds."""
    facts = [row.judged for row in rows]
    if target is None:
        low, high = LOW, HIGH
        sent = [low < (fact.probability or 0.0) < high for fact in facts]
    else:
        low, high = fit_thresholds(facts, target)
        sent = sent_held_out(facts, target)
    cascade = [f.second if on else bool(f.first) for f, on in zip(facts, sent, strict=True)]
    agrees = [own == fact.second for own, fact in zip(cascade, facts, strict=True)]
    accuracies = (
        _balanced(rows, cascade),
        _balanced(rows, [fact.second for fact in facts]),
        _balanced(rows, [bool(fact.first) for fact in facts]),
    )
    name = "default" if target is None else f"{target:.2f}"
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
