"""What is under test: judges, and summaries in bullets, of which the bundled ones have known facts.

A bundled text is a source, a summary in bullets, and the bullets that carry each fact, so that what
a summary made of some of the bullets keeps is known exactly. The bullets paraphrase: at most half
of the content words of a bullet are those of any one sentence of the source.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from itertools import count, pairwise
from typing import Any, TypeAlias

from factcheck.documents.yaml_documents import parse_yaml
from factcheck.errors import InputError, JudgeError, located
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    FactSet,
    Span,
    Usage,
    source_texts,
)
from factcheck.judges.local.containment import BASELINE, WordContainment
from factcheck.judges.ports import JudgeSpec
from factcheck.records import Record, as_record
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking
from factcheck.runtime.session import Session
from factcheck.scoring import FactCoverage
from factcheck.settings import LOCAL, require_integer

_ITEM = re.compile(r"\s*(?:[-*+\u2022\u2023\u25aa\u25cf\u25e6\u2013\u2014]|\(?\d{1,3}[.)])\s+\S")
"""A list item: a dash, a dot or a number, then text."""
_HEADING = re.compile(r"#{1,6}\s.*|.*[:\uff1a]|\*\*[^*]+\*\*")
"""A line that only introduces others: a Markdown heading, bold text, or text before a colon."""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A summary as bullets that can be removed, and headings that stay."""

    pieces: tuple[str, ...]
    """Stretches of the summary, each with the white space after it."""

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(piece.strip() for piece in self.pieces if _is_bullet(piece))

    def kept(self, numbers: Collection[int]) -> str:
        """Return the summary with only these bullets, counted from 0; headings stay."""
        number = count()
        left = (p for p in self.pieces if not _is_bullet(p) or next(number) in numbers)
        return "".join(left).strip()


def split_bullets(summary: str) -> Bullets:
    """Split a summary into bullets.

    List items at any depth (dashes, dots, numbers) are bullets, with the lines that continue them;
    so are other lines that are not headings. A summary without a list is split into sentences; one
    that is no text, or blank, is an `InputError`. The pieces put together are the summary.
    """
    if not isinstance(summary, str) or not summary.strip():
        raise InputError("the summary is blank; it has no bullet to remove, so leave it out")
    summary = summary.strip()
    lines = summary.splitlines(keepends=True)
    pieces: list[str] = []
    if any(_ITEM.match(line) for line in lines):
        for line in lines:
            if pieces and _continues(pieces[-1], line):
                pieces[-1] += line
            else:
                pieces.append(line)
    else:
        from factcheck.judges.local.sentences import split_sentences

        starts = [sentence.span.start for sentence in split_sentences(summary)]
        pieces = [summary[a:b] for a, b in pairwise([0, *starts[1:], len(summary)])]
    return Bullets(tuple(pieces))


def _continues(held: str, line: str) -> bool:
    """Whether a line continues the piece before it, as in Markdown."""
    if not line.strip():
        return True
    if _ITEM.match(line) or not _is_bullet(line) or not _is_bullet(held):
        return False
    after_blank_line = not held.splitlines()[-1].strip()
    return line[0] in " \t" or not after_blank_line


def _is_bullet(text: str) -> bool:
    line = text.strip()
    return bool(_ITEM.match(text)) or "\n" in line or not _HEADING.fullmatch(line)


RemovalOrder = tuple[frozenset[int], ...]
"""The bullets that are left, from 0: all of them, then one fewer at each step, down to one."""


def removal_orders(n_bullets: int, n_random: int) -> tuple[RemovalOrder, ...]:
    """Remove from the end, the start, and in up to 1,000 random orders without duplicates."""
    require_integer("the number of random orders", n_random, 0, 1000)
    if n_bullets < 2:  # noqa: PLR2004 - the last bullet stays
        return ()
    upwards = tuple(range(n_bullets))
    draw = random.Random(f"0:{n_bullets}")  # noqa: S311 - repeatable, not secret
    drawn = (tuple(draw.sample(upwards, n_bullets))[:-1] for _ in range(n_random))
    orders = dict.fromkeys([upwards[:0:-1], upwards[:-1], *drawn])
    return tuple(map(_left, orders))


def _left(removed: Sequence[int]) -> RemovalOrder:
    """Return the bullets that are left, from 0, as these are removed one by one."""
    every = frozenset(range(len(removed) + 1))
    return tuple(every.difference(removed[:step]) for step in range(len(every)))


@dataclass(frozen=True, slots=True)
class Subject:
    """A summary under test."""

    name: str
    source: str
    bullets: Bullets
    facts: FactSet
    carriers: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """For the id of each fact, the bullets, from 0, that carry it by themselves; none for one that
    the summary drops. Empty if unknown."""
    distorted: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """For the id of each fact, the bullets that contradict it; empty if unknown."""
    language: str = "en"

    @property
    def summary(self) -> str:
        return self.bullets.kept(range(len(self.bullets)))

    def facts_left(self, kept: Collection[int]) -> float | None:
        """Return the true score: the share of all facts that these bullets carry, or `None`."""
        if not self.carriers:
            return None
        return sum(not b.isdisjoint(kept) for b in self.carriers.values()) / len(self.carriers)


@lru_cache(maxsize=1)
def load_texts() -> tuple[Subject, ...]:
    """Load all bundled texts, by name."""
    entries = files("factcheck.calibration").joinpath("data").iterdir()
    return tuple(
        parse_text(entry.name.removesuffix(".yaml"), entry.read_text(encoding="utf-8"))
        for entry in sorted(entries, key=lambda entry: entry.name)
        if entry.name.endswith(".yaml")
    )


def parse_text(name: str, text: str) -> Subject:
    data = parse_yaml(text, name).value
    facts = []
    carriers: dict[str, frozenset[int]] = {}
    distorted: dict[str, frozenset[int]] = {}
    for entry in data["facts"]:
        evidence = r"\s+".join(map(re.escape, entry["evidence"].split()))
        found = re.search(evidence, data["source"])
        span = None if found is None else Span(*found.span())
        facts.append(AtomicFact(entry["id"], entry["text"], span=span))
        for bullets, key in ((carriers, "bullets"), (distorted, "distorted")):
            bullets[entry["id"]] = frozenset(number - 1 for number in entry.get(key, ()))
    summary = split_bullets("\n".join(f"- {bullet}" for bullet in data["summary"]))
    fact_set = FactSet(tuple(facts))
    return Subject(name, data["source"], summary, fact_set, carriers, distorted, data["language"])


Text = Subject | Record | Mapping[str, Any]


async def read_subjects(texts: Iterable[Text] | None) -> list[Subject]:
    """Return the subjects of a run, with names of their own: the bundled texts for `None`.

    The embedded extractor lists missing facts, so that the judge under test does not choose them.
    """
    subjects: list[Subject] = []
    lister = FactCoverage(LOCAL, LOCAL)
    for number, text in enumerate(load_texts() if texts is None else texts, 1):
        if isinstance(text, Subject):
            subjects.append(text)
            continue
        record = as_record(text, number)
        source = "\n\n".join(source_texts(record.source))
        with located(record.where):
            bullets = split_bullets(record.summary)
            facts = await lister.aextract(record.source) if record.facts is None else record.facts
        subjects.append(Subject(record.id, source, bullets, FactSet.of(facts)))
    if not subjects:
        raise InputError("there are no texts to test a judge on")
    require_unique("text", [subject.name for subject in subjects])
    return subjects


Judge: TypeAlias = "JudgeSpec | FactCoverage"
"""Anything that `FactCoverage` takes as a judge, or a scorer, which stays open."""
Judges: TypeAlias = Sequence[Judge] | Mapping[str, Judge]
"""A list, or a mapping that gives names."""


async def open_judges(
    judges: Judges, budget: Budget | None, stack: AsyncExitStack
) -> dict[str, FactCoverage]:
    """Open the scorers of judges by name, closed by `stack`; the last is word containment."""
    if isinstance(judges, Mapping):
        named = list(judges.items())
    elif isinstance(judges, str) or not isinstance(judges, Sequence):
        raise InputError(f"judges must be a list or a mapping by name, not {judges!r}")
    else:
        named = [(name_of(judge), judge) for judge in judges]
    named.append((BASELINE, WordContainment()))
    require_unique("judge", [name for name, _ in named])
    return {name: await open_scorer(judge, budget, stack) for name, judge in named}


def name_of(judge: Any) -> str:
    """Return the name of a judge in a report."""
    if isinstance(judge, str):
        return judge
    if isinstance(judge, FactCoverage):
        return str(dict(judge.signature.entries).get("judge", "judge"))
    return str(getattr(judge, "model", type(judge).__name__))


def require_unique(noun: str, names: Iterable[str]) -> None:
    """Refuse a name that occurs twice by an `InputError`."""
    for name, n in Counter(names).items():
        if n > 1:
            raise InputError(f"two {noun}s are called {name!r}; names must be unique")


async def open_scorer(judge: Judge, budget: Budget | None, stack: AsyncExitStack) -> FactCoverage:
    """Open the scorer of a judge, closed by `stack`; a `FactCoverage` is used, and left open."""
    if isinstance(judge, FactCoverage):
        return judge
    return await stack.enter_async_context(FactCoverage(judge, LOCAL, budget=budget))


async def aprice(
    measure: Callable[..., Awaitable[object]],
    judge: Any,
    texts: Iterable[Text] | None = None,
    **options: Any,
) -> Usage:
    """Return an upper bound for what a measurement of a judge spends; nothing is sent.

    Replies that it would take from the cache cost nothing, and neither does an embedded judge.

    Args:
        measure: An asynchronous function of a judge and texts, such as `aaudit_judge` or `atrust`.
        judge: Anything that `FactCoverage` takes as a judge.
        texts: As in `bullet_removal`.
        options: Further arguments of `measure`.
    """
    from factcheck.judges.llm.engine import Meter

    meter = Meter()
    async with Session(transport=meter.around) as session:
        scorer = FactCoverage(judge, LOCAL, session=session)
        if not scorer.judge_signature.never_flips:
            await measure(scorer, await read_subjects(texts), **options)
    return meter.usage


price = blocking(aprice)


async def check_facts(
    scorer: FactCoverage, facts: Sequence[str], text: str
) -> tuple[CheckResult, ...]:
    """Return one result per fact; an error of the judge becomes a failure of every fact."""
    given = FactSet(tuple(AtomicFact(f"f{n}", fact) for n, fact in enumerate(facts, 1)))
    try:
        return await scorer.acheck(given, text)
    except JudgeError as error:
        return tuple(CheckFailure.of(fact, error) for fact in given)
