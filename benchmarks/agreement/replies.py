"""Recorded replies of eight language models, joined with the labels of people.

A model was given a summary and the facts of its source, and said of each whether the summary has
it. The answers are joined with the labels by document, summary (its letters and digits), fact and,
where the same words of two systems are labelled, system.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from factcheck.calibration import LabelledPair
from factcheck.calibration.agreement import COVERED
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Verdict

REPLIES, LABELS = "realsumm_judge_replies_dev.jsonl", "realsumm_dev.jsonl"
_BRACKET = re.compile(r"-[lr]rb-", re.IGNORECASE)


class Reply(NamedTuple):
    """What one model said of one summary."""

    document: str
    system: str
    """Which system wrote the summary."""
    text: str
    facts: tuple[str, ...]
    verdicts: tuple[int, ...]
    """How the publishers read the reply: 1 for yes, 0 for no; of other length where a fact is
    skipped."""

    @property
    def answers(self) -> Iterator[tuple[str, bool | None]]:
        """The facts with what the model says; `None` where the verdicts cannot be told apart."""
        verdicts = self.verdicts if len(self.verdicts) == len(self.facts) else ()
        for fact, verdict in zip_longest(self.facts, verdicts):
            yield fact, None if verdict is None else bool(verdict)


class Known(NamedTuple):
    """The labels of people, by document, letters of the summary, and fact."""

    pairs: dict[tuple[str, str, str], list[LabelledPair]]

    @classmethod
    def of(cls, pairs: Sequence[LabelledPair]) -> Known:
        found: dict[tuple[str, str, str], list[LabelledPair]] = defaultdict(list)
        for pair in pairs:
            found[pair.document, letters(pair.text), pair.fact].append(pair)
        return cls(found)

    def label(self, reply: Reply, fact: str) -> bool | None:
        """What people say of a fact that a model was asked about."""
        same = self.pairs.get((reply.document, letters(reply.text), fact), [])
        for pair in same:
            # labels put a kind before the name of a system: `abs_bart` is `bart`
            if pair.system.endswith(reply.system):
                return pair.label
        return same[0].label if same else None


def read_replies(data: Path) -> dict[str, list[Reply]]:
    """All replies, by model."""
    replies: dict[str, list[Reply]] = defaultdict(list)
    for line in (data / REPLIES).read_text("utf-8").splitlines():
        row = json.loads(line)
        about = (row["doc_id"], row["system"], " ".join(row["summary_sentences"]))
        for judge, said in row["judges"].items():
            replies[judge].append(Reply(*about, tuple(row["facts"]), tuple(said["verdicts"])))
    return replies


def read_labelled(data: Path) -> Iterator[LabelledPair]:
    """The labelled facts of each summary of each document."""
    for line in (data / LABELS).read_text("utf-8").splitlines():
        row = json.loads(line)
        for system, said in row["systems"].items():
            for fact, label in zip(row["facts"], said["labels"], strict=True):
                if label is not None:
                    covered = label >= COVERED
                    yield LabelledPair(row["doc_id"], system, said["summary"], fact, covered)


def join(replies: Sequence[Reply], known: Known) -> Iterator[tuple[LabelledPair, CheckResult]]:
    """The labelled pairs that a model saw, with its answers."""
    for reply in replies:
        for fact, entailed in reply.answers:
            label = known.label(reply, fact)
            if label is not None:
                seen = LabelledPair(reply.document, reply.system, reply.text, fact, label)
                yield seen, result_of(AtomicFact("f", fact), entailed)


def result_of(fact: AtomicFact, entailed: bool | None) -> CheckResult:  # noqa: FBT001
    if entailed is None:
        return CheckFailure(fact, "missing", "the recorded reply has no answer")
    return Verdict(fact, "entailed" if entailed else "neutral")


def letters(text: str) -> str:
    """What is left of a text when typesetting is ignored."""
    return re.sub(r"\W", "", _BRACKET.sub("", text)).lower()
