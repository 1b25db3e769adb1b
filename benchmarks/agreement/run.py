"""How well eight recorded language models, the embedded judge and containment agree with humans.

    python -m benchmarks.agreement.run --data DIR        # or FACTCHECK_DATA=DIR; --judge NAME

Each model is measured on the facts it was asked about, so that models can only be compared by their
distance to word containment on the same facts. Nothing is sent.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.agreement.replies import Known, join, read_labelled, read_replies
from factcheck.calibration import LabelledPair, agreement
from factcheck.calibration.agreement import (
    Decisions,
    check_pairs,
    measure_agreement,
    share_right,
)
from factcheck.facts import CheckResult
from factcheck.judges.local.containment import WordContainment
from factcheck.reports import render
from factcheck.scoring import FactCoverage
from factcheck.stats.resampling import bootstrap_groups


def main() -> None:
    """Measure and print."""
    data, judges = data_and_judges(str(__doc__), "repeatable; not recorded")
    pairs = list(read_labelled(data))
    known = Known.of(pairs)
    measured = []
    for judge, replies in read_replies(data).items():
        seen, results = map(list, zip(*join(replies, known), strict=True))
        measured.append(measure_agreement(judge, seen, results))
        print(f"{judge}: {over_words(seen, results)}")
    report = agreement(pairs, judges or ["local"])
    print(render(replace(report, judges=(*measured, *report.judges)).page(), "csv"))


def over_words(pairs: Sequence[LabelledPair], results: Sequence[CheckResult]) -> str:
    """The balanced accuracy minus that of word containment on the same pairs, with its interval."""
    words = asyncio.run(check_pairs(FactCoverage(WordContainment()), pairs))
    decided = [n for n, result in enumerate(results) if result.label]
    judge, baseline = (
        Decisions.of_pairs([pairs[n] for n in decided], [some[n] for n in decided])
        for some in (results, words)
    )

    def difference(rows: Any) -> float | None:
        ours, theirs = (share_right(one.select(rows)) for one in (judge, baseline))
        return None if ours is None or theirs is None else ours - theirs

    value = difference(np.arange(len(decided)))
    return f"over word containment {value}, 95 % {bootstrap_groups(judge.documents, difference)}"


def data_and_judges(description: str, about_judges: str) -> tuple[Path, list[str]]:
    """Parse the command line: the folder with the data, and the names of judges, if any."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("FACTCHECK_DATA"))
    parser.add_argument("--judge", action="append", metavar="NAME", help=about_judges)
    arguments = parser.parse_args()
    data = Path(arguments.data or parser.error("give --data DIR, or set FACTCHECK_DATA"))
    return data, arguments.judge or []


if __name__ == "__main__":
    main()
