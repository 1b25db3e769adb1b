"""Reads recorded replies of language models.

The replies are those of `realsumm_judge_replies_dev.jsonl`: a model was given a summary as
numbered lines and a list of key facts, and was asked for a JSON list that says of each fact
whether the summary has it, and in which lines. They are read strictly; what cannot be read is
left out, and a fact without a verdict is undecided.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from factcheck.errors import InputError
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    EntailmentLabel,
    Evidence,
    Verdict,
)
from factcheck.facts.spans import fold
from factcheck.judges.llm.replies import QUOTE_NOT_FOUND
from factcheck.judges.ports import Ledger

FILE = "realsumm_judge_replies_dev.jsonl"
LABELS: Mapping[str, EntailmentLabel] = {"Yes": "entailed", "No": "neutral"}
"""The models were asked for yes or no; a no does not say whether the summary contradicts."""
LINE_KEYS = ("line number", "line_number")
_FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)


class Reply(NamedTuple):
    """One reply of one model about one summary."""

    doc_id: str
    system: str
    """Which system wrote the summary."""
    lines: tuple[str, ...]
    """The summary as the model saw it: one sentence a line, numbered from 1."""
    facts: tuple[str, ...]
    raw: str
    """The reply, untouched."""
    recorded: tuple[int, ...]
    """How the publishers of the replies read this one: 1 for yes, 0 for no."""

    @property
    def text(self) -> str:
        """The summary, one sentence a line."""
        return "\n".join(self.lines)


class Item(NamedTuple):
    """One element of a reply that says yes or no about a fact."""

    fact: str
    response: str
    lines: tuple[int, ...]


def read_replies(data: Path) -> dict[str, list[Reply]]:
    """All replies, by model.

    Raises:
        InputError: The file is not there or has another shape.
    """
    replies: dict[str, list[Reply]] = {}
    try:
        with (data / FILE).open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                about = (
                    row["doc_id"],
                    row["system"],
                    tuple(row["summary_sentences"]),
                    tuple(row["facts"]),
                )
                for judge, said in row["judges"].items():
                    reply = Reply(*about, said["raw"], tuple(said["verdicts"]))
                    replies.setdefault(judge, []).append(reply)
    except OSError as error:
        raise InputError(f"cannot read {data / FILE}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{data / FILE} has another shape than expected: {error!r}") from error
    return replies


def verdicts_of(reply: Reply, judge: str) -> tuple[Verdict, ...]:
    """The verdicts that a reply gives, in fact order; none for a fact it does not clearly name."""
    items: dict[str, list[Item]] = {}
    for item in read_items(reply.raw):
        items.setdefault(statement_key(item.fact), []).append(item)
    keys = [statement_key(fact) for fact in reply.facts]
    times = Counter(keys)
    return tuple(
        _verdict(AtomicFact(f"f{number}", fact), items[key][0], reply, judge)
        for number, (fact, key) in enumerate(zip(reply.facts, keys, strict=True), 1)
        if times[key] == 1 and len(items.get(key, ())) == 1
    )


def statement_key(statement: str) -> str:
    """Equal for statements that differ in case, white space, quotes, dashes or the full stop.

    Models copy the facts with their typesetting mended. One that mends a word as well has written
    another statement: that is not matched.
    """
    return "".join(fold(statement).text.split()).rstrip(".")


def read_items(raw: str) -> Iterator[Item]:
    """The usable elements of a reply that is one JSON list, bare or in one code fence."""
    fenced = _FENCED.fullmatch(raw.strip())
    try:
        elements = json.loads(fenced.group(1) if fenced else raw)
    except (ValueError, RecursionError):
        return
    for element in elements if isinstance(elements, list) else ():
        if (item := _item(element)) is not None:
            yield item


def _item(element: Any) -> Item | None:
    if not isinstance(element, dict):
        return None
    fact, response = element.get("key fact"), element.get("response")
    if not isinstance(fact, str) or not isinstance(response, str) or response not in LABELS:
        return None
    cited = next((element[key] for key in LINE_KEYS if key in element), None)
    numbers = cited if isinstance(cited, list) else []
    return Item(fact, response, tuple(number for number in numbers if type(number) is int))


def _verdict(fact: AtomicFact, item: Item, reply: Reply, judge: str) -> Verdict:
    label = LABELS[item.response]
    evidence = passage(reply.lines, item.lines) if label == "entailed" else None
    unfounded = label == "entailed" and evidence is None
    return Verdict(
        fact,
        label,
        evidence=evidence,
        judge=judge,
        flags=(QUOTE_NOT_FOUND,) if unfounded else (),
    )


def passage(lines: Sequence[str], cited: Sequence[int]) -> Evidence | None:
    """The first cited line, with those cited lines that follow it without a gap.

    Args:
        lines: The lines of a text, which joins them with line feeds.
        cited: Line numbers from 1. Those that do not exist are passed over.
    """
    numbers = sorted({number for number in cited if 1 <= number <= len(lines)})
    if not numbers:
        return None
    first = last = numbers[0]
    for number in numbers[1:]:
        if number == last + 1:
            last = number
    start = sum(len(line) + 1 for line in lines[: first - 1])
    quote = "\n".join(lines[first - 1 : last])
    return Evidence(quote, start, start + len(quote))


class Replied:
    """A judge that says what a model replied; a fact without a clear reply is undecided."""

    def __init__(self, judge: str, replies: Sequence[Reply]) -> None:
        self.identity = {"judge": judge}
        self._verdicts: dict[tuple[str, str], Verdict] = {}
        for reply in replies:
            for verdict in verdicts_of(reply, judge):
                self._verdicts.setdefault((reply.text, verdict.fact.text), verdict)

    async def check(
        self,
        facts: Sequence[AtomicFact],
        text: str,
        ledger: Ledger,  # noqa: ARG002 - of the port
    ) -> Sequence[CheckResult]:
        """Return the verdict on each fact."""
        return tuple(self._result(fact, text) for fact in facts)

    def _result(self, fact: AtomicFact, text: str) -> CheckResult:
        known = self._verdicts.get((text, fact.text))
        if known is None:
            return CheckFailure(fact, "missing", "the reply has no verdict on this fact")
        return replace(known, fact=fact)
