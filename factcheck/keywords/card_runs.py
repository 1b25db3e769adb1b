"""Runs over a dataset of cards: scores with intervals, serialisation and the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from factcheck.errors import Failure
from factcheck.keywords.matching import MatchSettings
from factcheck.keywords.results import CaseResult, KeywordRun, Missed, Scores
from factcheck.reports.page import (
    Case,
    Item,
    Page,
    Section,
    Table,
    entries,
    filled,
    parts_of,
    warnings_section,
)
from factcheck.reports.text import (
    DASH,
    any_of,
    interval_text,
    name_text,
    plural,
    quote_text,
    share,
)
from factcheck.stats.intervals import Interval
from factcheck.stats.resampling import mean_interval

_TITLES = ("recall", "precision", "F1", "average similarity")
_COLUMNS = ("case", "status", "expected", "generated", "matched", *Scores._fields, "message")
_CASE_COLUMNS = ("case", "expected", "found", "matched", "recall", "precision", "F1", "similarity")
_EXAMPLES = 10
"""Maximum number of missed cards, and of extra ones, displayed."""
_LONGEST_CARD = 160
_MISSED = Section(
    "Missed", "bad", "expected cards without a matching generated card; cards are counted from 1"
)
_EXTRA = Section("Extra", "warn", "generated cards without a matching expected card")
_ERRORED = Section("Errored", "unknown", "cases without a score; excluded from all scores")


@dataclass(frozen=True, slots=True, repr=False)
class DatasetResult(KeywordRun):
    """Results of all cases of a dataset; scores exclude those in `failures`."""

    DERIVED = ("format", "macro", "micro", "intervals")
    format = "factcheck-keywords-cards/3"
    FIGURE = "mean F1"

    name: str
    version: str
    cases: tuple[CaseResult, ...]
    """Scored cases, in the order of the dataset."""
    failures: tuple[Failure[str], ...]
    """Errored cases; their subjects are case ids."""
    settings: MatchSettings
    digests: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    """Valid but probably unintended parts of the dataset."""

    @property
    def errors(self) -> list[tuple[str, str]]:
        return [(one.subject, one.message) for one in self.failures]

    def every_score(self) -> Iterator[tuple[str, float | None]]:
        yield from ((case.case_id, case.f1) for case in self.cases)
        yield from ((one.subject, None) for one in self.failures)

    @property
    def macro(self) -> Scores | None:
        """Mean scores of the cases, equally weighted; `None` if none was scored."""
        if not self.cases:
            return None
        recall, precision, f1, similarity = self._columns()
        average = fmean(similarity) if similarity else None
        return Scores(fmean(recall), fmean(precision), fmean(f1), average)

    @property
    def micro(self) -> Scores | None:
        """Scores over all cards of all cases; `None` if no case was scored."""
        return Scores.of(self.cases) if self.cases else None

    def _columns(self) -> list[list[float]]:
        """Scores of the cases by name, without undefined ones."""
        scores = [case.scores for case in self.cases]
        return [[one for one in of if one is not None] for of in zip(*scores, strict=True)]

    @property
    def intervals(self) -> dict[str, Interval | None]:
        """95 % intervals of the macro scores over cases; `None` for fewer than two."""
        return dict(zip(Scores._fields, map(mean_interval, self._columns()), strict=False))

    def _rows(self) -> Iterator[dict[str, Any]]:
        for case in self.cases:
            sizes = (case.n_expected, case.n_generated, len(case.matches))
            values = (case.case_id, "scored", *sizes, *case.scores, None)
            yield dict(zip(_COLUMNS, values, strict=True))
        for one in self.failures:
            row = {"case": one.subject, "status": "errored"}
            yield dict.fromkeys(_COLUMNS) | row | {"message": f"{one.code}: {one.message}"}

    def page(self, *, outputs: Mapping[str, Any] | None = None) -> Page:
        """Return the report, in which cards are counted from 1.

        Args:
            outputs: Generated cards by case id, to display them; by default, only their numbers.
        """
        scored, failures = self.cases, self.failures
        counts = plural(len(scored), "case")
        if not scored:
            counts = f"no score for {any_of(len(failures), 'case')}"
        elif len(scored) > 1:
            counts = f"mean over {plural(len(scored), 'case')} (macro)"
        missed = [(case, one) for case in scored for one in case.missed]
        extra = [(case.case_id, number) for case in scored for number in case.extra]
        head = self.headline("F1", counts, self.intervals.get("f1"))
        return head._replace(
            parts=parts_of(
                ("good", sum(len(case.matches) for case in scored), "matched"),
                ("bad", len(missed), "missed"),
                ("warn", len(extra), "extra"),
            ),
            sections=filled(
                self._totals_section(),
                _cases_section(scored),
                _MISSED.listing(
                    missed, lambda one: self._missed(*one, outputs or {}), "missed card", _EXAMPLES
                ),
                _EXTRA.listing(
                    extra, lambda one: _extra(*one, outputs or {}), "extra card", _EXAMPLES
                ),
                _ERRORED.listing(failures, _errored, "case"),
                warnings_section(self.warnings),
            ),
            footer=entries(
                ("Dataset", " ".join(map(quote_text, filter(None, (self.name, self.version))))),
                ("Matching", self._matching()),
            ),
            suite="keywords.cards",
            cases=(
                *map(_junit_case, scored),
                *(Case(f.subject, "error", "errored", f.code, (f.message,)) for f in failures),
            ),
            columns=_COLUMNS,
            rows=self._rows,
        )

    def _totals_section(self) -> Section | None:
        """Macro and micro scores; omitted for a single case, where they coincide."""
        macro, micro, n_cases = self.macro, self.micro, len(self.cases)
        if macro is None or micro is None or n_cases == 1:
            return None
        intervals = self.intervals
        rows = []
        for title, name, *scores in zip(_TITLES, Scores._fields, macro, micro, strict=True):
            one, other = (DASH if score is None else share(score) for score in scores)
            rows.append((title, one, interval_text(intervals[name]), other))
        return Section(
            "Totals",
            meaning="macro: cases are weighted equally; micro: cards are",
            table=Table(("", "macro", "95 % interval", "micro"), tuple(rows)),
            more="intervals over cases",
        )

    def _missed(self, case: CaseResult, missed: Missed, outputs: Mapping[str, Any]) -> Item:
        """Describe an expected card without a match, with the nearest generated one."""
        lacking = _fields(missed.unmet)
        text = f"expected card {missed.expected + 1}   {f'lacks {lacking}' if lacking else ''}"
        if missed.nearest is None:
            nothing = "nothing was generated"
            why = "no generated card scores above 0" if case.n_generated else nothing
            return Item(name_text(case.case_id), text.rstrip(), (why,))
        taken = [match for match in case.matches if match.generated == missed.nearest]
        why = f"below the threshold of {self.settings.threshold:g}"
        if taken and missed.score >= self.settings.threshold:
            why = f"matched with expected card {taken[0].expected + 1}"
        nearest = f"nearest: card {missed.nearest + 1}, score {share(missed.score)}, {why}"
        content = _content(outputs, case.case_id, missed.nearest)
        return Item(name_text(case.case_id), text.rstrip(), tuple(filter(None, (nearest, content))))

    def _matching(self) -> str:
        settings = self.settings
        weights = ", ".join(f"{name} {weight:g}" for name, weight in settings.weights.items())
        return (
            f"{settings.assignment}, threshold {settings.threshold:g}, "
            f"weights {weights or 'equal'}, type {settings.type_weight:g}"
        )


def _cases_section(scored: Sequence[CaseResult]) -> Section:
    rows = [
        (
            name_text(case.case_id),
            *(f"{n:,}" for n in (case.n_expected, case.n_generated, len(case.matches))),
            *(DASH if value is None else share(value) for value in case.scores),
        )
        for case in sorted(scored, key=lambda case: case.f1)
    ]
    section = Section(f"Cases {len(scored):,}", meaning="lowest F1 first")
    dispensable = ("similarity", "found", "expected")
    return section.tabled(Table(_CASE_COLUMNS, tuple(rows), dispensable=dispensable))


def _junit_case(case: CaseResult) -> Case:
    """Passed if every card has a match; otherwise skipped, because the gate uses the mean F1."""
    if not case.missed and not case.extra:
        return Case(case.case_id)
    message = f"F1 {case.f1:.3f}: {len(case.missed):,} missed, {len(case.extra):,} extra"
    details = [
        f"missed: expected card {missed.expected + 1}, nearest score {missed.score:.3f}"
        for missed in case.missed
    ]
    details += [f"extra: card {number + 1}" for number in case.extra]
    return Case(case.case_id, "skipped", message, "cards", tuple(details))


def _errored(one: Failure[str]) -> Item:
    return Item(name_text(one.subject), quote_text(f"{one.code}: {one.message}"))


def _extra(case_id: str, number: int, outputs: Mapping[str, Any]) -> Item:
    return Item(
        name_text(case_id), f"card {number + 1}   {_content(outputs, case_id, number)}".rstrip()
    )


def _content(outputs: Mapping[str, Any], case_id: str, number: int) -> str:
    """Format the fields of a generated card; empty if it is unknown or not a mapping."""
    cards = outputs.get(case_id)
    card = cards[number] if isinstance(cards, (list, tuple)) and number < len(cards) else None
    if not isinstance(card, Mapping):
        return ""
    return _fields({name: (f"“{value}”",) for name, value in card.items()})


def _fields(texts: Mapping[str, Sequence[str]]) -> str:
    parts = (f"{name}: {', '.join(lines)}" for name, lines in texts.items())
    return quote_text("; ".join(parts), _LONGEST_CARD)
