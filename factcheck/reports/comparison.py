"""What changed from run A, the baseline, to run B: facts, fields or cases by kind of change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from factcheck.reports import Report
from factcheck.reports.page import Alert, Item, Page, Section, Table, filled
from factcheck.reports.pictures import dots_svg
from factcheck.reports.text import (
    DASH,
    name_text,
    one_line,
    p_text,
    plural,
    quote_text,
    share,
    signed,
)
from factcheck.stats.intervals import Interval
from factcheck.stats.resampling import FEW_UNITS, NEGLIGIBLE, SIGNIFICANT, Comparison

_COLUMNS = ("change", "record", "id", "name", "a", "b", "difference", "low", "high", "p")
_HEADER = ("A", "B", "B - A", "95 % interval", "p")
_MAX_ITEMS = 20
_HEAD = 5
_CLEAR = f"p, adjusted for the number of fields, is below {SIGNIFICANT}"
_GROUPS: Mapping[str, tuple[Section, ...]] = {
    "fact": (
        Section("Newly distorted", "bad", "contradicted in B only"),
        Section("Lost", "warn", "kept in A, dropped in B", head=10),
        Section("Undecided", "unknown", "no verdict in A or B, not distorted in B", head=_HEAD),
        Section("No longer distorted", "plain", "contradicted in A, dropped in B", head=_HEAD),
        Section("Won", "good", "kept in B only", head=_HEAD),
    ),
    "field": (
        Section("Won", "good", _CLEAR),
        Section("Lost", "bad", _CLEAR),
        Section("Unchanged", "plain", "no significant difference, by p adjusted for their number"),
        Section("Undecided", "unknown", "values without a verdict differ"),
    ),
    "case": (
        Section("Lost", "bad", "lower in B, largest change first"),
        Section("Won", "good", "higher in B, largest change first"),
        Section("Unchanged"),
    ),
}
"""Kinds of changes, by what changed."""


@dataclass(frozen=True, slots=True)
class Change:
    """A fact, field or case in both runs."""

    group: str
    """`Won`, `Lost`, `Newly distorted`, `No longer distorted`, `Undecided` or `Unchanged`."""
    name: str
    """Text of the fact, path of the field, or id of the case."""
    a: str | float
    """Outcome of a fact (`kept`, `distorted`, `dropped` or `undecided`), or score."""
    b: str | float
    test: Comparison | None = None
    """Of scores, with interval and p-value if they were tested."""
    record: str = ""
    """Name of the record of a fact; empty if single reports are compared."""
    id: str = ""
    """Id of a fact in run B."""
    must: bool = False
    quote: str = ""
    """Evidence in run B."""
    reason: str = ""
    """Reason given in run B, or why a field is undecided."""

    @classmethod
    def of_scores(
        cls, group: str, name: str, test: Comparison, a: str = "", b: str = "", reason: str = ""
    ) -> Change:
        """Make the change of a score; `a` and `b` are shown in place of scores."""
        return cls(group, name, a or test.a, b or test.b, test, reason=reason)

    @property
    def text(self) -> str:
        """The change in one line."""
        a, b = _score(self.a), _score(self.b)
        if self.test is None:
            return f"{a} → {b}"
        p_value = "" if self.test.p is None else f", p {p_text(self.test.p)}"
        return f"{a} → {b} ({signed(self.test.difference)}){p_value}"

    def item(self) -> Item:
        """Describe a fact, or a field that is undecided."""
        if self.test is not None:
            return Item(one_line(self.name), quote_text(self.reason))
        return Item(
            name_text(self.record or self.id),
            quote_text(self.name),
            (quote_text(self.reason),) if self.reason else (),
            badges=("must",) if self.must else (),
            quote=quote_text(self.quote),
            aside=self.text,
        )

    def cells(self, test: Comparison) -> tuple[str, ...]:
        """Return the table row of a score."""
        a, b = _score(self.a), _score(self.b)
        p_value = DASH if test.p is None else p_text(test.p)
        interval = DASH if test.interval is None else interval_words(test.interval)
        return (one_line(self.name), a, b, signed(test.difference), interval, p_value)

    def row(self) -> dict[str, Any]:
        """Return the row of CSV."""
        low, high = (self.test.interval if self.test else None) or (None, None)
        difference = None if self.test is None else self.test.difference
        p_value = None if self.test is None else self.test.p
        values = (self.group, self.record, self.id, self.name, self.a, self.b)
        return dict(zip(_COLUMNS, (*values, difference, low, high, p_value), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunComparison(Report):
    """Changes from run A, the baseline, to run B, over what both have."""

    noun: str
    """What is compared: `fact`, `field` or `case`."""
    metric: str
    """Name of the main score."""
    main: Comparison
    """The main score: mean coverage, mean F1 or pass rate."""
    basis: str
    """What its p-value rests on, such as `by source (3 sources)`."""
    changes: tuple[Change, ...]
    scores: Mapping[str, Comparison] = field(default_factory=dict)
    """Further scores, by name; their p-values are not adjusted."""
    counts: Mapping[str, Any] = field(default_factory=dict)
    """Numbers behind the comparison, those of A first; see the function that made it."""
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of what was not compared, by the reason, such as `Only in A`."""
    answer: str = ""
    """What a colleague would say; if empty, whether the main score is better in B."""
    trust: tuple[str, ...] = ()
    """See `Page.trust`."""
    differences: tuple[float, ...] = ()
    """Differences B - A of the units behind the main score; drawn if there are two or more."""
    alerts: tuple[Alert, ...] = ()
    lines: tuple[str, ...] = ()
    """Causes of changes, and remarks."""
    worse: str = ""
    """Why B is worse; empty if it is not."""
    no_verdict: str = ""
    """Why it is unknown whether B is worse; empty if it is known."""
    names: tuple[str, str] = ("", "")
    """Display names of the runs; may be empty."""

    def changes_in(self, group: str) -> tuple[Change, ...]:
        """Return the changes of one kind."""
        return tuple(change for change in self.changes if change.group == group)

    @property
    def won(self) -> tuple[Change, ...]:
        """What is better in B: facts kept in B only, or scores that are higher."""
        return self.changes_in("Won")

    @property
    def lost(self) -> tuple[Change, ...]:
        """What is worse in B: facts dropped in B only, or scores that are lower."""
        return self.changes_in("Lost")

    @property
    def newly_distorted(self) -> tuple[Change, ...]:
        """Facts distorted in B only, including those undecided in A."""
        return self.changes_in("Newly distorted")

    @property
    def missing(self) -> tuple[str, ...]:
        """Results of A that B lacks."""
        return tuple(name for why, names in self.left_out.items() for name in names if "A" in why)

    def named(self, a: str, b: str) -> RunComparison:
        """Return the comparison with display names of the runs."""
        return replace(self, names=(a, b))

    def _dots(self) -> Section | None:
        if len(self.differences) < 2:  # noqa: PLR2004 - one dot is its own mean
            return None
        picture = dots_svg(self.differences, self.main)
        return Section(
            "Differences B - A", meaning="a dot each; below, their mean", picture=picture
        )

    def page(self) -> Page:
        groups = {section: self.changes_in(section.title) for section in _GROUPS[self.noun]}
        numbers = [f"{len(some):,} {one.title.lower()}" for one, some in groups.items() if some]
        head = []
        if any(self.names):
            head.append(f"A is {quote_text(self.names[0])}, B is {quote_text(self.names[1])}")
        if self.main.p is not None:
            interval = f"no interval below {FEW_UNITS}"
            if self.main.interval:
                interval = f"95 % interval of the difference {interval_words(self.main.interval)}"
            head.append(f"{interval}, p {p_text(self.main.p)} {self.basis}")
        total = f"{self.noun}s: {', '.join(numbers) or 'no change'}"
        overall = [Change.of_scores("", name, one) for name, one in self.scores.items()]
        return Page(
            self.metric,
            Change.of_scores("", "", replace(self.main, p_value=None, p_adjusted=None)).text,
            lines=(*head, *self.lines, total),
            answer=self.answer or answer_text(self.metric, self.main),
            trust=self.trust,
            sections=filled(
                self._dots(),
                _table(Section("Overall"), "score", overall),
                *(_section(self.noun, *entry) for entry in groups.items()),
                *(_left_out(self.noun, *entry) for entry in self.left_out.items()),
            ),
            alerts=self.alerts,
            suite=f"compare.{self.noun}s",
            columns=_COLUMNS,
            rows=lambda: [change.row() for some in groups.values() for change in some],
        )


def answer_text(metric: str, main: Comparison) -> str:
    """Say whether B is better, or that this may be chance or is unknown."""
    scores = f"{metric} {share(main.a)} → {share(main.b)}"
    if main.p_value is None:
        return f"No verdict: {scores}."
    if abs(main.difference) <= NEGLIGIBLE:
        return f"A and B are equal: {metric} {share(main.a)}."
    if not main.is_significant:
        return f"No clear difference: {scores} may be chance."
    return f"B is {'better' if main.difference > 0 else 'worse'}: {scores}."


def interval_words(interval: Interval) -> str:
    """Format the interval of a difference: `-0.010 to +0.032`."""
    return " to ".join(map(signed, interval))


def _section(noun: str, section: Section, changes: Sequence[Change]) -> Section:
    if section.tone == "unknown" or any(change.test is None for change in changes):
        return section.listing(changes, Change.item, noun, _MAX_ITEMS)
    differing = [change for change in changes if change.test and change.test.difference]
    table, n_equal = _table(section, noun, differing), len(changes) - len(differing)
    equal = f"{plural(n_equal, noun)} with equal scores" if n_equal else ""
    more = ", ".join(filter(None, (table.more, equal)))
    return table._replace(title=f"{section.title} {len(changes):,}", more=more)


def _table(section: Section, noun: str, changes: Iterable[Change]) -> Section:
    """Add a table of scores to a section, without empty columns at the end."""
    rows = [change.cells(change.test) for change in changes if change.test]
    width = len(_HEADER) + 1
    while width > 1 and all(row[width - 1] == DASH for row in rows):
        width -= 1
    columns, cells = (noun, *_HEADER)[:width], tuple(row[:width] for row in rows)
    return section.tabled(Table(columns, cells))


def _score(value: str | float) -> str:
    return value if isinstance(value, str) else share(value)


def _left_out(noun: str, why: str, names: Sequence[str]) -> Section:
    section = Section(why, "unknown", "left out", head=_HEAD)
    return section.listing(names, lambda name: Item(name_text(name)), noun, _MAX_ITEMS)
