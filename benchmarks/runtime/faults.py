"""Scores 100 summaries while one reply in five goes wrong, and compares with the known answers.

One row for each kind of fault, and two for all of them together, the second with every other reply
going wrong. The facts are given, so every request asks for the verdicts of one summary. The places
of the faults come from a seed.

    python -m benchmarks.runtime.faults
    python -m benchmarks.runtime.faults --seed 3 --out rows.jsonl

Exits with 1 if a verdict is wrong or lost, or if more was asked than the policy allows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.runtime.workload import FACTS_PER_SOURCE, Pair, facts_of, label_of, make_pairs
from factcheck import FactCoverage, RetryPolicy
from factcheck.facts import CheckFailure, CoverageReport
from factcheck.testing import ChatRequest, FactModel, LocalOpenAIServer, Reply, parse_prompt
from tests.faults import MangledModel, dropped, garbage, hang, rate_limited, server_error, truncated

MODEL = "openai/bench"
ONE_IN_FIVE, ONE_IN_TWO = 0.2, 0.5
"""Shares of the replies that go wrong."""
TIMEOUT_S = 0.75
POLICY = RetryPolicy(
    stop_after_attempt=5, stop_after_delay=60.0, wait_multiplier=0.02, wait_max=1.0
)
_OTHER_LABEL = {"entailed": "neutral", "neutral": "contradicted", "contradicted": "entailed"}

Answer = Callable[[ChatRequest], Reply | str]


class Fault(NamedTuple):
    """One kind of trouble."""

    name: str
    answer: Answer
    asked_again: int = 0
    """Further questions that a reply of this kind may lead to, after the first."""


class Row(NamedTuple):
    """What came of 100 summaries under one kind of trouble."""

    what: str
    facts: int
    correct: int
    undecided: int
    wrong: int
    lost: int
    faults: int
    """Replies that went wrong."""
    requests: int
    allowed: int
    """Requests that the policy allows: attempts of every question, asked again or not."""
    most_for_one: int
    """Requests for the summary that took most of them."""
    allowed_for_one: int
    wall_s: float
    codes: Mapping[str, int]
    """Undecided facts by reason."""

    @property
    def missed(self) -> str:
        """What must not be, or nothing."""
        if self.wrong or self.lost or self.correct + self.undecided != self.facts:
            return f"{self.what}: {self.wrong} wrong, {self.lost} lost"
        if self.requests > self.allowed or self.most_for_one > self.allowed_for_one:
            return f"{self.what}: {self.requests} requests, {self.most_for_one} for one summary"
        return "" if self.faults else f"{self.what}: no reply went wrong"


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="Verdicts under faults of the provider.")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="chooses the places")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write rows as JSON lines")
    arguments = parser.parse_args()
    pairs = make_pairs(20, 5)
    kinds = all_faults()
    rows = [
        *(row_for(fault.name, Unreliable([fault], arguments.seed), pairs) for fault in kinds),
        row_for("all of them", Unreliable(kinds, arguments.seed), pairs),
        row_for("all, one in two", Unreliable(kinds, arguments.seed, ONE_IN_TWO), pairs),
    ]
    Console().print(table(rows))
    if arguments.out:
        lines = [json.dumps(row._asdict(), ensure_ascii=False) for row in rows]
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    missed = [row.missed for row in rows if row.missed]
    for target in missed:
        print(f"missed: {target}", file=sys.stderr)
    return 1 if missed else 0


def all_faults() -> list[Fault]:
    """Every kind of trouble, and how often a question may be asked again for it.

    What the transport mends is tried again as the same question. A reply that came but is of no
    use is asked for once more; if it was cut off, in two halves.
    """
    rules: dict[str, Any] = {"labels": label_of, "facts": facts_of}
    model = FactModel(**rules)
    return [
        Fault("429 with Retry-After", lambda _: rate_limited(0.05)),
        Fault("429 without", lambda _: rate_limited()),
        Fault("500", lambda _: server_error()),
        Fault("no answer in time", lambda _: hang(10 * TIMEOUT_S)),
        Fault("connection closed", lambda _: dropped()),
        Fault("garbage instead of JSON", lambda _: garbage()),
        Fault("prose instead of verdicts", lambda _: "All of it seems fine.", asked_again=1),
        Fault("reply cut off", lambda request: truncated(model(request)), asked_again=2),
        Fault("missing ids", MangledModel(some_missing, **rules), asked_again=1),
        Fault("duplicate ids", MangledModel(some_twice, **rules), asked_again=1),
    ]


def some_missing(drafts: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Every third verdict left out, and one under an id nobody asked for."""
    kept = [draft for place, draft in enumerate(drafts) if place % 3]
    return [*kept, {"id": "zzz", "label": "entailed", "quote": "", "reason": "invented"}]


def some_twice(drafts: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Every third fact with a second verdict that says something else, before the true one."""
    lies = [{**draft, "label": _OTHER_LABEL[draft["label"]]} for draft in drafts[::3]]
    return [*lies, *drafts]


class Unreliable:
    """Answers, but now and then as one of these faults would."""

    def __init__(self, faults: Sequence[Fault], seed: int, share: float = ONE_IN_FIVE) -> None:
        self.asked_again = max(fault.asked_again for fault in faults)
        self._faults = faults
        self._seed = seed
        self._share = share
        self._model = FactModel(label_of, facts_of)
        self.n_faults = 0

    def __call__(self, request: ChatRequest) -> Reply | str:
        """The model's answer, or what went wrong with it."""
        chance = random.Random(f"{self._seed}:{request.index}")  # noqa: S311 - nothing secret
        if chance.random() >= self._share:
            return self._model(request)
        self.n_faults += 1
        return chance.choice(self._faults).answer(request)


def row_for(what: str, unreliable: Unreliable, pairs: Sequence[Pair]) -> Row:
    """Score all pairs over an unreliable server."""
    with LocalOpenAIServer(unreliable) as server:
        os.environ.update(OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="not-needed")
        started = time.perf_counter()
        with FactCoverage(MODEL, cache="off", retry=POLICY, timeout_s=TIMEOUT_S) as scorer:
            outcomes = list(scorer.score_many(pair.record(with_facts=True) for pair in pairs))
        wall_s = time.perf_counter() - started
        per_text = Counter(parse_prompt(request.body).text for request in server.requests)
    verdicts, codes = compare(pairs, outcomes)
    allowed_for_one = POLICY.stop_after_attempt * (1 + unreliable.asked_again)
    return Row(
        what,
        facts=len(pairs) * FACTS_PER_SOURCE,
        correct=verdicts["correct"],
        undecided=verdicts["undecided"],
        wrong=verdicts["wrong"],
        lost=verdicts["lost"],
        faults=unreliable.n_faults,
        requests=sum(per_text.values()),
        allowed=allowed_for_one * len(pairs),
        most_for_one=max(per_text.values()),
        allowed_for_one=allowed_for_one,
        wall_s=wall_s,
        codes=codes,
    )


def compare(pairs: Sequence[Pair], outcomes: Sequence[object]) -> tuple[Counter[str], Counter[str]]:
    """What became of every fact, and why it was left undecided."""
    verdicts: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    for number, pair in enumerate(pairs):
        outcome = outcomes[number] if number < len(outcomes) else None
        results = outcome.results if isinstance(outcome, CoverageReport) else ()
        by_fact = {result.fact.text: result for result in results}
        for fact, label in pair.labels.items():
            result = by_fact.get(fact)
            if result is None:
                verdicts["lost"] += 1
            elif isinstance(result, CheckFailure):
                verdicts["undecided"] += 1
                codes[result.code] += 1
            else:
                verdicts["correct" if result.label == label else "wrong"] += 1
    return verdicts, codes


def table(rows: Sequence[Row]) -> Table:
    """The rows as a plain table."""
    made = Table(
        "one reply in five",
        "correct",
        "undecided",
        "wrong",
        "lost",
        "faults",
        "requests",
        "allowed",
        "most for one",
        "wall",
        box=None,
        pad_edge=False,
    )
    for column in made.columns[1:]:
        column.justify = "right"
    for row in rows:
        reasons = ", ".join(sorted(row.codes))
        made.add_row(
            row.what,
            f"{row.correct:,}",
            f"{row.undecided} ({reasons})" if reasons else "0",
            str(row.wrong),
            str(row.lost),
            str(row.faults),
            str(row.requests),
            f"{row.allowed:,}",
            f"{row.most_for_one} of {row.allowed_for_one}",
            f"{row.wall_s:.1f} s",
        )
    return made


if __name__ == "__main__":
    sys.exit(main())
