"""Scores summaries by what eight language models really replied, through the public path.

The replies of each model are a judge of `FactCoverage`, and its verdicts are held against those of
people and against the publishers' own reading of the same replies. Nothing is sent and nothing is
spent.

    python -m benchmarks.replay.run --data DIR
    python -m benchmarks.replay.run --data DIR --out rows.jsonl

Exits with 1 if a verdict differs from how the publishers of the replies read it.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.replay.replies import Replied, Reply, read_replies
from factcheck import FactCoverage
from factcheck.errors import FactcheckError
from factcheck.facts import CheckFailure

LABELS_FILE = "realsumm_dev.jsonl"
KINDS = ("abs", "ext")
"""Of the systems. The labels have the kind as a prefix, the replies as a suffix or not at all."""
_BRACKET = re.compile(r"-[lr]rb-")

Labels = Mapping[str, Mapping[str, Any]]
"""The rows of the labels file, by document."""


class Row(NamedTuple):
    """What became of one fact of one summary."""

    judge: str
    doc_id: str
    system: str
    fact: int
    """Its place in the list, from 0."""
    label: str | None
    """What the replay says; `None` is undecided."""
    recorded: int | None
    """What the publishers read in the reply; `None` if theirs has no place for each fact."""
    human: int | None
    """What people say; `None` where there is no label."""
    score: float | None
    """The coverage of the whole summary."""


def main() -> int:
    """Score, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="Replay what real models replied.")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the data folder")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write rows as JSON lines")
    arguments = parser.parse_args()
    try:
        replies = read_replies(arguments.data)
        labels = read_labels(arguments.data)
        rows = [row for judge in sorted(replies) for row in replay(judge, replies[judge], labels)]
    except (FactcheckError, OSError) as error:
        print(error, file=sys.stderr)
        return getattr(error, "exit_code", 2)
    Console(width=120).print(table(rows))
    if arguments.out:
        lines = [json.dumps(row._asdict()) for row in rows]
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    differing = [row for row in rows if differs(row)]
    for row in differing:
        print(f"differs from the publishers' reading: {row}", file=sys.stderr)
    return 1 if differing else 0


def read_labels(data: Path) -> Labels:
    """The labels that people gave, by document."""
    with (data / LABELS_FILE).open(encoding="utf-8") as file:
        return {row["doc_id"]: row for row in map(json.loads, file)}


def replay(judge: str, replies: Sequence[Reply], labels: Labels) -> Iterator[Row]:
    """Score every summary by the replies of one judge."""
    with FactCoverage(Replied(judge, replies)) as scorer:
        for reply in replies:
            report = scorer.score("", reply.text, facts=reply.facts)
            aligned = len(reply.recorded) == len(reply.facts)
            humans = human_labels(reply, labels)
            for place, (fact, result) in enumerate(zip(reply.facts, report.results, strict=True)):
                yield Row(
                    judge,
                    reply.doc_id,
                    reply.system,
                    place,
                    None if isinstance(result, CheckFailure) else result.label,
                    reply.recorded[place] if aligned else None,
                    humans.get(fact),
                    report.score,
                )


def human_labels(reply: Reply, labels: Labels) -> Mapping[str, int | None]:
    """Label by fact, if the labels file has this very summary; else none."""
    document = labels.get(reply.doc_id, {"systems": {}})
    names = {f"{kind}_{reply.system}" for kind in KINDS}
    names |= {f"{k}_{reply.system[:-4]}" for k in KINDS if reply.system.endswith(f"_{k}")}
    found = [document["systems"][name] for name in names if name in document["systems"]]
    if len(found) != 1 or _letters(found[0]["summary"]) != _letters(reply.text):
        return {}
    return dict(zip(document["facts"], found[0]["labels"], strict=True))


def _letters(text: str) -> str:
    """A summary without its typesetting; the two files tokenize differently."""
    return re.sub(r"\W", "", _BRACKET.sub("", text)).lower()


def differs(row: Row) -> bool:
    """Whether the replayed verdict is another one than the publishers read."""
    return (
        row.label is not None
        and row.recorded is not None
        and ((row.label == "entailed") != (row.recorded == 1))
    )


def balanced_accuracy(rows: Sequence[Row]) -> float:
    """Mean of the shares of kept and of lost facts that are recognised; NaN without either."""
    shares = []
    for human in (0, 1):
        right = [(row.label == "entailed") == (human == 1) for row in rows if row.human == human]
        shares.append(fmean(right) if right else math.nan)
    return fmean(shares)


def table(rows: Sequence[Row]) -> Table:
    """One line a judge."""
    heads = (
        "judge|summaries|facts|decided|undecided|mean coverage|labelled|bal. acc.|same|other|n/a"
    )
    made = Table(*heads.split("|"), box=None, pad_edge=False)
    for column in made.columns[1:]:
        column.justify = "right"
    for judge in sorted({row.judge for row in rows}):
        made.add_row(judge, *_cells([row for row in rows if row.judge == judge]))
    made.add_row("all", *_cells(rows))
    return made


def _cells(rows: Sequence[Row]) -> list[str]:
    scores = {(row.judge, row.doc_id, row.system): row.score for row in rows}
    decided = [row for row in rows if row.label is not None]
    undecided = len(rows) - len(decided)
    labelled = [row for row in decided if row.human is not None]
    comparable = [row for row in decided if row.recorded is not None]
    other = sum(map(differs, comparable))
    return [
        f"{len(scores):,}",
        f"{len(rows):,}",
        f"{len(decided):,}",
        f"{undecided} ({undecided / len(rows):.1%})",
        f"{fmean(score for score in scores.values() if score is not None):.3f}",
        f"{len(labelled):,}",
        f"{balanced_accuracy(labelled):.3f}",
        f"{len(comparable) - other:,}",
        str(other),
        str(len(decided) - len(comparable)),
    ]


if __name__ == "__main__":
    sys.exit(main())
