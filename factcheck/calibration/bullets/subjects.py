"""What bullets are taken out of: a summary, its facts, and which bullets carry them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from factcheck.calibration.bullets.orders import RemovalOrder
from factcheck.calibration.bullets.splitting import Bullets, split_bullets
from factcheck.calibration.texts import BundledText
from factcheck.errors import InputError
from factcheck.facts import CoverageReport, FactSet
from factcheck.facts.reading import Reader
from factcheck.facts.spans import fold_text

Carriers = Mapping[str, frozenset[int]]
"""For the id of each fact, the bullets that carry it by themselves."""


TRUTH = "truth"


@dataclass(frozen=True, slots=True)
class Subject:
    """One summary under removal."""

    name: str
    source: str
    bullets: Bullets
    facts: FactSet
    orders: tuple[RemovalOrder, ...]
    carriers: Carriers | None = None
    """Which bullets carry each fact; `None` where it is not known."""
    carriers_from: str = TRUTH
    """Who says so: `"truth"`, or the judge that showed its evidence for the whole summary."""

    def variants(self) -> tuple[frozenset[int], ...]:
        """Every set of bullets that an order leaves, once; the whole summary first."""
        whole = frozenset(range(len(self.bullets)))
        left = (kept for order in self.orders for kept in order.kept())
        return tuple(dict.fromkeys([whole, *left]))

    def expected(self, kept: Collection[int]) -> float | None:
        """The true score of the summary with these bullets; `None` where it is not known."""
        return self.facts_left(kept) if self.carriers_from == TRUTH else None

    def facts_left(self, kept: Collection[int]) -> float | None:
        """Share of all facts that these bullets carry; `None` where it is not known."""
        if self.carriers is None:
            return None
        return sum(not b.isdisjoint(kept) for b in self.carriers.values()) / len(self.carriers)

    def characters(self, kept: Collection[int]) -> float:
        """Share of the characters of all bullets that these have, in (0, 1]."""
        lengths = [len(text) for text in self.bullets.texts]
        return sum(lengths[bullet] for bullet in kept) / sum(lengths)

    def repeated(self) -> tuple[tuple[int, int], ...]:
        """Bullets that say, word for word, what an earlier one says; both counted from 0."""
        first: dict[str, int] = {}
        folded = (fold_text(text.lstrip("-*+ ")) for text in self.bullets.texts)
        places = [(first.setdefault(text, place), place) for place, text in enumerate(folded)]
        return tuple(pair for pair in places if pair[0] != pair[1])

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "text": self.name,
            "source": self.source,
            "summary": "".join(piece.text for piece in self.bullets.pieces),
            "facts": self.facts.to_dict(),
            "orders": {order.name: list(order.removed) for order in self.orders},
            "carriers": None
            if self.carriers is None
            else {fact: sorted(bullets) for fact, bullets in self.carriers.items()},
            "carriers_from": self.carriers_from,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Subject:
        """Inverse of `to_dict`; raises `InputError` for data of another shape."""
        read = Reader(data, "text of a bullet removal")
        carriers = read.mapping("carriers")
        bullets = split_bullets(read.text("summary"))
        facts = FactSet.from_dict(read.mapping_required("facts"))
        if carriers is not None and carriers.keys() != {fact.id for fact in facts}:
            raise InputError("text of a bullet removal: 'carriers' are not those of its facts")
        return cls(
            name=read.text("text"),
            source=read.text("source"),
            bullets=bullets,
            facts=facts,
            orders=_orders(read.mapping_required("orders"), len(bullets)),
            carriers=None
            if carriers is None
            else {fact: frozenset(bullets) for fact, bullets in carriers.items()},
            carriers_from=read.text("carriers_from", TRUTH),
        )


def _orders(data: Mapping[str, Any], n_bullets: int) -> tuple[RemovalOrder, ...]:
    """The orders, each with every bullet but one.

    Raises:
        InputError: An order has another shape.
    """
    for name, removed in data.items():
        known = isinstance(removed, list) and all(type(bullet) is int for bullet in removed)
        if not known or len(set(removed) & set(range(n_bullets))) != n_bullets - 1:
            raise InputError(f"text of a bullet removal: {name!r} is no order of its bullets")
    return tuple(RemovalOrder(name, tuple(removed)) for name, removed in data.items())


def with_evidence(subject: Subject, report: CoverageReport | None) -> Subject:
    """The subject with the bullets in which its judge found the facts of the whole summary.

    A bullet that repeats another carries what that one carries. Where the judge shows no evidence,
    nothing is known.
    """
    if report is None or not any(verdict.evidence for verdict in report.kept):
        return subject
    twins: dict[int, set[int]] = {}
    for first, second in subject.repeated():
        twins.setdefault(first, {first}).add(second)
    none: frozenset[int] = frozenset()
    found = dict.fromkeys((fact.id for fact in report.facts), none)
    for verdict in report.kept:
        place = subject.bullets.bullet_at(verdict.evidence.start) if verdict.evidence else None
        if place is not None:
            found[verdict.fact.id] = frozenset(twins.get(place, {place}))
    return replace(subject, carriers=found)


def bundled_subject(text: BundledText, orders: tuple[RemovalOrder, ...]) -> Subject:
    """A bundled text, whose bullets are known to carry what they carry."""
    return Subject(
        name=text.name,
        source=text.source,
        bullets=split_bullets(text.summary),
        facts=FactSet(tuple(fact.fact for fact in text.facts)),
        orders=orders,
        carriers={fact.fact.id: fact.bullets for fact in text.facts},
    )
