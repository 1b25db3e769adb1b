"""Summaries from which bullets are removed: how they split, in which order, and what is lost.

The pieces of a summary put together are the summary, character by character.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from factcheck.calibration.texts import BundledText
from factcheck.documents import Reader
from factcheck.errors import InputError
from factcheck.facts import CoverageReport, FactSet
from factcheck.facts.spans import fold_text

TRUTH = "truth"
"""Stands for a judge where the true scores are known."""
MAX_RANDOM_ORDERS = 1000
_WHAT = "text of a bullet removal"
_ITEM = re.compile(r"\s*(?:[-*+\u2022\u2023\u25aa\u25cf\u25e6\u2013\u2014]|\(?\d{1,3}[.)])\s+\S")
"""A list item: a dash, a dot or a number, then text."""
_HEADING = re.compile(r"#{1,6}\s.*|.*[:\uff1a]|\*\*[^*]+\*\*")
"""A line that only introduces others: a Markdown heading, bold text, or text before a colon."""
_INDENTED = re.compile(r"[ \t]+\S")


class Piece(NamedTuple):
    """A stretch of a summary, with the white space after it."""

    text: str
    is_bullet: bool


@dataclass(frozen=True, slots=True)
class Bullets:
    """A summary as bullets that can be removed, and headings that stay."""

    pieces: tuple[Piece, ...]

    def __len__(self) -> int:
        return sum(piece.is_bullet for piece in self.pieces)

    @property
    def texts(self) -> tuple[str, ...]:
        """The bullets, stripped of white space."""
        return tuple(piece.text.strip() for piece in self.pieces if piece.is_bullet)

    def kept(self, numbers: Collection[int]) -> str:
        """The summary with only these bullets, counted from 0; headings stay."""
        number = -1
        left = []
        for piece in self.pieces:
            number += piece.is_bullet
            if not piece.is_bullet or number in numbers:
                left.append(piece.text)
        return "".join(left).strip()

    def bullet_at(self, offset: int) -> int | None:
        """The bullet at a character offset of the whole summary; `None` for a heading."""
        number, end = -1, 0
        for piece in self.pieces:
            number += piece.is_bullet
            end += len(piece.text)
            if offset < end:
                return number if piece.is_bullet else None
        return None


def split_bullets(summary: str) -> Bullets:
    """Split a summary into bullets.

    List items at any depth (dashes, dots, numbers) are bullets, with the lines that continue them;
    so are other lines that are not headings. A summary without a list is split into sentences.

    Raises:
        InputError: It is not a string, or blank.
    """
    if not isinstance(summary, str) or not summary.strip():
        raise InputError("the summary is blank; there is no bullet to remove")
    summary = summary.strip()
    lines = summary.splitlines(keepends=True)
    is_list = any(_ITEM.match(line) for line in lines)
    return Bullets(tuple(_items(lines) if is_list else _sentences(summary)))


def _items(lines: Sequence[str]) -> Iterator[Piece]:
    held = ""
    for line in lines:
        if held and not _continues(held, line):
            yield _piece(held)
            held = ""
        held += line
    yield _piece(held)


def _continues(held: str, line: str) -> bool:
    """Whether a line continues the piece before it, as in Markdown."""
    if not line.strip():
        return True
    if _ITEM.match(line) or _is_heading(line) or not _piece(held).is_bullet:
        return False
    after_blank_line = not held.splitlines()[-1].strip()
    return bool(_INDENTED.match(line)) or not after_blank_line


def _sentences(summary: str) -> Iterator[Piece]:
    """The sentences; each ends where the next begins."""
    from factcheck.judges.local.sentences import split_sentences

    starts = [sentence.span.start for sentence in split_sentences(summary)]
    for start, end in pairwise([0, *starts[1:], len(summary)]):
        yield _piece(summary[start:end])


def _piece(text: str) -> Piece:
    return Piece(text, bool(_ITEM.match(text)) or not _is_heading(text))


def _is_heading(text: str) -> bool:
    line = text.strip()
    return "\n" not in line and bool(_HEADING.fullmatch(line))


class RemovalOrder(NamedTuple):
    """One way to remove the bullets of a summary, one by one, until one is left."""

    name: str
    """`"end"`, `"start"`, or `"random-1"`, `"random-2"`, ..."""
    removed: tuple[int, ...]
    """Bullets, from 0, in the order of removal; the one that is missing stays."""

    def kept(self) -> Iterator[frozenset[int]]:
        """The bullets left before the first step and after each one: from all of them to one."""
        left = frozenset(range(len(self.removed) + 1))
        yield left
        for bullet in self.removed:
            left -= {bullet}
            yield left


def removal_orders(n_bullets: int, n_random: int, seed: int) -> tuple[RemovalOrder, ...]:
    """Removal from the end, from the start, and in random orders; none of fewer than two bullets.

    Args:
        n_bullets: Number of bullets of the summary.
        n_random: Number of random orders, 0 to 1,000; duplicates are dropped.
        seed: Random seed.

    Raises:
        InputError: `n_random` is out of range.
    """
    if isinstance(n_random, bool) or not 0 <= n_random <= MAX_RANDOM_ORDERS:
        raise InputError(f"the number of random orders must be 0 to 1,000, not {n_random!r}")
    if n_bullets < 2:  # noqa: PLR2004 - the last bullet stays
        return ()
    upwards = tuple(range(n_bullets))
    known = dict.fromkeys([upwards[:0:-1], upwards[:-1]])
    orders = dict(zip(("end", "start"), known, strict=False))
    draw = random.Random(f"{seed}:{n_bullets}")  # noqa: S311 - repeatable, not secret
    for number in range(1, n_random + 1):
        order = tuple(draw.sample(upwards, n_bullets))[:-1]
        if order not in known:
            known[order] = None
            orders[f"random-{number}"] = order
    return tuple(RemovalOrder(name, removed) for name, removed in orders.items())


@dataclass(frozen=True, slots=True)
class Subject:
    """One summary from which bullets are removed."""

    name: str
    source: str
    bullets: Bullets
    facts: FactSet
    orders: tuple[RemovalOrder, ...]
    carriers: Mapping[str, frozenset[int]] | None = None
    """For the id of each fact, the bullets that carry it by themselves; `None` if unknown."""
    carriers_from: str = TRUTH
    """Where `carriers` come from: `"truth"`, or the judge that quoted evidence for them."""

    @classmethod
    def bundled(cls, text: BundledText, orders: tuple[RemovalOrder, ...]) -> Subject:
        """A bundled text, whose carriers are known."""
        return cls(
            name=text.name,
            source=text.source,
            bullets=split_bullets(text.summary),
            facts=FactSet(tuple(fact.fact for fact in text.facts)),
            orders=orders,
            carriers={fact.fact.id: fact.bullets for fact in text.facts},
        )

    def with_evidence(self, report: CoverageReport) -> Subject:
        """The subject with the bullets in which a judge found the facts of the whole summary.

        A bullet that repeats another carries what that one carries. Without evidence the carriers
        stay unknown.
        """
        if not any(verdict.evidence for verdict in report.kept):
            return self
        twins: dict[int, set[int]] = {}
        for first, second in self.repeated():
            twins.setdefault(first, {first}).add(second)
        found: dict[str, frozenset[int]] = {fact.id: frozenset() for fact in report.facts}
        for verdict in report.kept:
            place = self.bullets.bullet_at(verdict.evidence.start) if verdict.evidence else None
            if place is not None:
                found[verdict.fact.id] = frozenset(twins.get(place, {place}))
        return replace(self, carriers=found)

    @property
    def has_truth(self) -> bool:
        """Whether the true scores are known."""
        return self.carriers_from == TRUTH

    @property
    def whole(self) -> frozenset[int]:
        """All bullets."""
        return frozenset(range(len(self.bullets)))

    def variants(self) -> tuple[frozenset[int], ...]:
        """Every set of bullets that an order leaves, once; the whole summary first."""
        left = (kept for order in self.orders for kept in order.kept())
        return tuple(dict.fromkeys([self.whole, *left]))

    def facts_left(self, kept: Collection[int]) -> float | None:
        """Share of all facts that these bullets carry; `None` if unknown."""
        if self.carriers is None:
            return None
        return sum(not b.isdisjoint(kept) for b in self.carriers.values()) / len(self.carriers)

    def characters(self, kept: Collection[int]) -> float:
        """Share of the characters of all bullets that these have, in (0, 1]."""
        lengths = [len(text) for text in self.bullets.texts]
        return sum(lengths[bullet] for bullet in kept) / sum(lengths)

    def repeated(self) -> tuple[tuple[int, int], ...]:
        """Bullets that repeat an earlier one word for word, as (earlier, later) from 0."""
        first: dict[str, int] = {}
        folded = (fold_text(text.lstrip("-*+ ")) for text in self.bullets.texts)
        places = [(first.setdefault(text, place), place) for place, text in enumerate(folded)]
        return tuple(pair for pair in places if pair[0] != pair[1])

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        carriers = self.carriers
        return {
            "text": self.name,
            "source": self.source,
            "summary": "".join(piece.text for piece in self.bullets.pieces),
            "facts": self.facts.to_dict(),
            "orders": {order.name: list(order.removed) for order in self.orders},
            "carriers": carriers and {fact: sorted(held) for fact, held in carriers.items()},
            "carriers_from": self.carriers_from,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Subject:
        """Inverse of `to_dict`; raises `InputError` for data of another shape."""
        read = Reader(data, _WHAT)
        carriers = read.get("carriers", dict | None, None)
        bullets = split_bullets(read.text("summary"))
        facts = FactSet.from_dict(read.mapping_required("facts"))
        if carriers is not None and carriers.keys() != {fact.id for fact in facts}:
            raise InputError(f"{_WHAT}: 'carriers' do not match its facts")
        return cls(
            name=read.text("text"),
            source=read.text("source"),
            bullets=bullets,
            facts=facts,
            orders=_orders(read.mapping_required("orders"), len(bullets)),
            carriers=carriers and {fact: frozenset(held) for fact, held in carriers.items()},
            carriers_from=read.text("carriers_from", TRUTH),
        )


def _orders(data: Mapping[str, Any], n_bullets: int) -> tuple[RemovalOrder, ...]:
    """The orders, each with every bullet but one."""
    for name, removed in data.items():
        known = isinstance(removed, list) and all(type(bullet) is int for bullet in removed)
        if not known or len(set(removed) & set(range(n_bullets))) != n_bullets - 1:
            raise InputError(f"{_WHAT}: {name!r} is not an order of its bullets")
    return tuple(RemovalOrder(name, tuple(removed)) for name, removed in data.items())
