"""Extraction and value pairs on a real model.

    OPENAI_BASE_URL=http://127.0.0.1:8099/v1 OPENAI_API_KEY=none \
        python -m benchmarks.llm.tasks --data DIR --judge openai/NAME extract pairs

`DIR` holds the development data (or set `FACTCHECK_DATA`). The samples are fixed: the first
sentences of the first people of FActScore, and a draw from the short answer pairs. A fact counts as
atomic if the embedded extractor finds no more than one fact in it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from factcheck import FactCoverage
from factcheck.judges.factory import build_pair_judge
from factcheck.judges.local.extractor import extract_facts
from factcheck.judges.ports import Ledger, PairVerdict, ValuePair
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session

SEED = 14
SENTENCES = 4
LONGEST_VALUE = 60


def main() -> None:
    """Run the tasks that were named, and print a line for each part of them."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("tasks", nargs="+", choices=TASKS)
    parser.add_argument("--data", type=Path, default=os.environ.get("FACTCHECK_DATA"))
    parser.add_argument("--judge", default="openai/qwen2.5-coder-1.5b", metavar="PROVIDER/MODEL")
    parser.add_argument("-n", type=int, default=3, help="sources, or batches of 8 pairs")
    arguments = parser.parse_args()
    if not arguments.data:
        parser.error("give the folder of the development data with --data or FACTCHECK_DATA")
    for task in arguments.tasks:
        started = time.perf_counter()
        TASKS[task](Path(arguments.data), arguments.judge, arguments.n)
        print(f"{task}: {time.perf_counter() - started:.0f} s", flush=True)


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def extract(data: Path, judge: str, n: int) -> None:
    """Facts per source, beside those that people list, and the share that is atomic."""
    sources: dict[str, list[Mapping[str, Any]]] = {}
    for row in _rows(data / "factscore_extract_dev.jsonl"):
        sources.setdefault(row["topic"], []).append(row)
    found, people, atomic = 0, 0, 0
    with FactCoverage(judge, cache="off", timeout_s=900) as scorer:
        for rows in list(sources.values())[:n]:
            text = " ".join(row["text"] for row in rows[:SENTENCES])
            facts = scorer.extract(text)
            found += len(facts)
            people += sum(len(row["facts"]) for row in rows[:SENTENCES])
            atomic += sum(len(extract_facts(fact.text)) <= 1 for fact in facts)
            print(f"  {len(facts)} facts of {len(text.split())} words", flush=True)
    print(f"extract: {n} sources, {found} facts (people: {people}), {atomic} atomic")


def pairs(data: Path, judge: str, n: int) -> None:
    """Short values that mean the same or not, eight to a request."""
    rows = [
        row
        for row in _rows(data / "answer_equiv_dev.jsonl")
        if max(len(row["premise"]), len(row["hypothesis"])) <= LONGEST_VALUE
    ]
    chosen = random.Random(SEED).sample(rows, 8 * n)  # noqa: S311 - repeatable
    asked = [
        ValuePair(row["premise"], row["hypothesis"], description=row["question"]) for row in chosen
    ]
    with Session(cache="off", timeout_s=900) as session:
        compared = build_pair_judge(judge, session, batch_size=8).compare(asked, Ledger())
        results = background.run(_awaited(compared))
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for row, result in zip(chosen, results, strict=True):
        if isinstance(result, PairVerdict):
            counts[bool(row["label"]), result.equivalent] += 1
    same, other = (counts[label, True] + counts[label, False] for label in (True, False))
    print(
        f"pairs: {same + other} of {len(asked)} decided; equal ones accepted "
        f"{counts[True, True]} of {same}, others refused {counts[False, False]} of {other}"
    )


async def _awaited(work: Any) -> Any:
    return await work


TASKS = {"extract": extract, "pairs": pairs}

if __name__ == "__main__":
    main()
