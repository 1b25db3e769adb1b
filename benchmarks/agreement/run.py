"""How well eight recorded language models, the embedded judge and containment agree with humans.

    python -m benchmarks.agreement.run --data DIR        # or FACTCHECK_DATA=DIR; --judge NAME

The models' replies were recorded and are joined with the human labels by document, summary (its
letters and digits), fact and, where the same words of two systems are labelled, system. Each model
is measured on the facts it was asked about, so that models can only be compared by their distance
to word containment on the same facts. Nothing is sent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.replay.replies import Reply, read_replies
from factcheck.calibration import LabelledPair, agreement
from factcheck.calibration.agreement_labels import COVERED, Answer
from factcheck.calibration.agreement_metrics import Decisions, balanced_accuracy
from factcheck.calibration.agreement_run import check_pairs, measure_agreement
from factcheck.judges.local.containment import WordContainment
from factcheck.reports import render
from factcheck.scoring import FactCoverage
from factcheck.stats.resampling import bootstrap_groups

LABELS = "realsumm_dev.jsonl"
_BRACKET = re.compile(r"-[lr]rb-", re.IGNORECASE)
Joined = list[tuple[LabelledPair, Answer]]


def main() -> None:
    """Measure and print."""
    data, judges = data_and_judges(str(__doc__), "repeatable; not recorded")
    pairs = list(read_labelled(data / LABELS))
    measured = []
    for judge, replies in read_replies(data).items():
        seen, answers = map(list, zip(*join(replies, pairs), strict=True))
        measured.append(measure_agreement(judge, seen, answers))
        print(f"{judge}: {over_words(seen, answers)}")
    report = agreement(pairs, judges or ["local"])
    print(render(replace(report, judges=(*measured, *report.judges)).page(), "csv"))


def over_words(pairs: Sequence[LabelledPair], answers: Sequence[Answer]) -> str:
    """The balanced accuracy minus that of word containment on the same pairs, with its interval."""
    words = asyncio.run(check_pairs(FactCoverage(WordContainment()), pairs))
    decided = [n for n, answer in enumerate(answers) if answer.entailed is not None]
    judge, baseline = (
        Decisions.of_pairs([pairs[n] for n in decided], [some[n] for n in decided])
        for some in (answers, words)
    )

    def difference(rows: Any) -> float | None:
        ours, theirs = (balanced_accuracy(one.select(rows)) for one in (judge, baseline))
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


def read_labelled(path: Path) -> Iterator[LabelledPair]:
    """The labelled facts of each summary of each document."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        for system, said in row["systems"].items():
            for fact, label in zip(row["facts"], said["labels"], strict=True):
                if label is not None:
                    covered = label >= COVERED
                    yield LabelledPair(row["doc_id"], system, said["summary"], fact, covered)


def join(replies: Sequence[Reply], pairs: Sequence[LabelledPair]) -> Joined:
    """The labelled pairs that a model saw, with its answers; others have no label."""
    known: dict[tuple[str, str, str], list[LabelledPair]] = defaultdict(list)
    for pair in pairs:
        known[pair.document, letters(pair.text), pair.fact].append(pair)
    found: Joined = []
    for reply in replies:
        text = " ".join(reply.lines)
        aligned = len(reply.recorded) == len(reply.facts)
        for fact, verdict in zip_longest(reply.facts, reply.recorded if aligned else ()):
            same = known.get((reply.doc_id, letters(text), fact))
            if not same:
                continue
            # Labels put a kind before the name of a system: `abs_bart` is `bart`.
            label = next((p for p in same if p.system.endswith(reply.system)), same[0]).label
            entailed = None if verdict is None else bool(verdict)
            seen = LabelledPair(reply.doc_id, reply.system, text, fact, label)
            found.append((seen, Answer(entailed, why="the recorded reply has no answer")))
    return found


def letters(text: str) -> str:
    """What is left of a text when typesetting is ignored."""
    return re.sub(r"\W", "", _BRACKET.sub("", text)).lower()


if __name__ == "__main__":
    main()
