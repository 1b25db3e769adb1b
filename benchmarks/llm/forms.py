"""Reply forms on a real model: what each decides, how well, and what it costs.

    OPENAI_BASE_URL=http://127.0.0.1:8099/v1 OPENAI_API_KEY=none \
        python -m benchmarks.llm.forms --data DIR --judge openai/NAME --facts 150 line quote

`DIR` holds `realsumm_dev.jsonl` (or set `FACTCHECK_DATA`). The sample is the same for every form
and every run: one summary of each document in turn, by a fixed seed, until it has that many facts
with a human label. A larger sample begins with a smaller one. One request for a summary, and one
more for what came back without a verdict.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from rich.console import Console
from rich.table import Table

from factcheck.facts import FactSet, Verdict
from factcheck.judges.llm.judges import LLMChecker
from factcheck.judges.llm.language_model import connect
from factcheck.judges.ports import Ledger
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.settings import Model, VerdictForm

SEED = 14
N_RESAMPLES = 2_000


class Item(NamedTuple):
    """A summary, the facts to look for, and what people found (1: it says the fact)."""

    summary: str
    facts: tuple[str, ...]
    labels: tuple[int, ...]


class Outcome(NamedTuple):
    """What one form made of one summary."""

    form: VerdictForm
    item: int
    """Place in the sample."""
    labels: list[int]
    """What people found."""
    entailed: list[bool | None]
    """Verdict on each fact; `None` where there is none."""
    tokens: int
    """Of all replies."""
    seconds: float


def main() -> int:
    """Ask for what the file of outcomes does not have, print a row for each form, and return 0."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("forms", nargs="+", choices=get_args(VerdictForm))
    parser.add_argument("--data", type=Path, default=os.environ.get("FACTCHECK_DATA"))
    parser.add_argument("--judge", default="openai/qwen2.5-coder-1.5b", metavar="PROVIDER/MODEL")
    parser.add_argument("--facts", type=int, default=150, metavar="N", help="size of the sample")
    parser.add_argument("--minutes", type=float, default=20, help="ask nothing new after these")
    parser.add_argument("--out", type=Path, required=True, help="outcomes as JSON lines; resumed")
    arguments = parser.parse_args()
    if not arguments.data:
        parser.error("give the folder of the development data with --data or FACTCHECK_DATA")
    items = list(sample(Path(arguments.data) / "realsumm_dev.jsonl", arguments.facts))
    background.run(ask(items, arguments))
    Console(width=100).print(table(outcomes_in(arguments.out), arguments.forms))
    return 0


async def ask(items: Sequence[Item], arguments: argparse.Namespace) -> None:
    """Append an outcome for each summary and form, all forms of a summary side by side."""
    until = time.monotonic() + 60 * arguments.minutes
    session = Session(cache="off", concurrency=2, timeout_s=900)
    models = {
        form: connect(Model(arguments.judge, verdict=form), session) for form in arguments.forms
    }
    checkers = {form: LLMChecker(model, batch_size=32) for form, model in models.items()}
    known = {(outcome.form, outcome.item) for outcome in outcomes_in(arguments.out)}

    async def one(form: VerdictForm, place: int) -> None:
        outcome = await outcome_of(checkers[form], form, place, items[place])
        with arguments.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(outcome._asdict()) + "\n")

    for place in range(len(items)):
        if time.monotonic() < until:
            left = [form for form in arguments.forms if (form, place) not in known]
            await asyncio.gather(*(one(form, place) for form in left))


def outcomes_in(path: Path) -> list[Outcome]:
    """The outcomes in a file; none if there is no file yet."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [Outcome(**json.loads(line)) for line in lines]


async def outcome_of(checker: LLMChecker, form: VerdictForm, place: int, item: Item) -> Outcome:
    """What a form makes of one summary."""
    ledger = Ledger()
    started = time.perf_counter()
    results = await checker.check(FactSet.of(item.facts).facts, item.summary, ledger)
    verdicts = [result.supported if isinstance(result, Verdict) else None for result in results]
    seconds = time.perf_counter() - started
    tokens = ledger.usage.completion_tokens
    return Outcome(form, place, list(item.labels), verdicts, tokens, round(seconds, 2))


def sample(path: Path, n_facts: int) -> Iterator[Item]:
    """Summaries of different documents with at least `n_facts` labelled facts together."""
    documents = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    draw = random.Random(SEED)  # noqa: S311 - repeatable, not secret
    orders = [draw.sample(sorted(each["systems"]), len(each["systems"])) for each in documents]
    taken = 0
    for turn in range(max(map(len, orders))):
        for document, order in zip(documents, orders, strict=True):
            if taken >= n_facts:
                return
            if turn < len(order):
                item = _item(document["facts"], document["systems"][order[turn]])
                taken += len(item.facts)
                yield item


def _item(facts: Sequence[str], system: Any) -> Item:
    labelled = [
        (fact, label)
        for fact, label in zip(facts, system["labels"], strict=True)
        if label is not None
    ]
    texts, labels = zip(*labelled, strict=True)
    return Item(system["summary"], texts, labels)


def row(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Facts, decided, balanced accuracy with interval, found, refused, tokens, seconds."""
    n = sum(len(o.labels) for o in outcomes)
    decided = sum(v is not None for o in outcomes for v in o.entailed)
    found, refused = shares(outcomes)
    low, high = interval(outcomes)
    tokens, seconds = sum(o.tokens for o in outcomes) / n, sum(o.seconds for o in outcomes) / n
    return (
        str(n),
        str(decided),
        f"{(found + refused) / 2:.3f} [{low:.3f}, {high:.3f}]",
        f"{found:.2f}",
        f"{refused:.2f}",
        f"{tokens:.1f}",
        f"{seconds:.1f}",
    )


def shares(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """Of the decided facts: the share of those said that are entailed, and of others that are not.

    Not a number where a summary sample has none of a kind.
    """
    hits, totals = [0, 0], [0, 0]
    for outcome in outcomes:
        for label, entailed in zip(outcome.labels, outcome.entailed, strict=True):
            if entailed is not None:
                totals[label] += 1
                hits[label] += entailed == bool(label)
    refused, found = (
        hit / total if total else float("nan") for hit, total in zip(hits, totals, strict=True)
    )
    return found, refused


def interval(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """95 % of balanced accuracies of resampled summaries."""
    draw = random.Random(SEED)  # noqa: S311 - as above
    drawn = (shares(draw.choices(outcomes, k=len(outcomes))) for _ in range(N_RESAMPLES))
    values = sorted(sum(pair) / 2 for pair in drawn if not any(map(math.isnan, pair)))
    return values[len(values) // 40], values[-1 - len(values) // 40]


def table(outcomes: Sequence[Outcome], forms: Sequence[VerdictForm]) -> Table:
    """A row for each form."""
    columns = ("form", "facts", "decided", "balanced accuracy", "found", "refused")
    made = Table(*columns, "tokens a fact", "seconds a fact", box=None, pad_edge=False)
    for form in forms:
        if mine := [outcome for outcome in outcomes if outcome.form == form]:
            made.add_row(form, *row(mine))
    return made


if __name__ == "__main__":
    sys.exit(main())
