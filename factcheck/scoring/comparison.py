"""Compare two reports or two runs: which facts were won, lost and newly distorted, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from factcheck.documents import read_text
from factcheck.documents.results import read_results
from factcheck.errors import InputError
from factcheck.facts import CheckResult, CoverageReport, ScoreSignature, Verdict, share_entailed
from factcheck.reports.page import Alert, Badge, Case, Item, Page, Tone, filled, listed
from factcheck.reports.report import Report
from factcheck.reports.text import (
    interval_text,
    more_of,
    name_text,
    p_text,
    percent,
    plural,
    quote_text,
    share,
    signed,
)
from factcheck.stats.comparison import SIGNIFICANT, Comparison, compare_means
from factcheck.stats.intervals import paired_share_interval, sign_test

Run = str | PathLike[str] | CoverageReport | Mapping[str, CoverageReport] | Iterable[CoverageReport]
"""A file of rows that `factcheck run --out` wrote, or a `.json` file of one report; a report;
reports by the name of their record; or a list of reports in the order of the records."""

STATUS = {"entailed": "kept", "contradicted": "distorted", "neutral": "dropped"}
"""What became of a fact, by the label of its verdict; without a verdict it is `undecided`."""
UNDECIDED = "undecided"
_COUNTS = {"facts", "undecided"}
"""Entries of a signature that count, and do not say how a score was made."""
_MAX_SHOWN = 20
_MAX_NAMES = 3


class FactChange(NamedTuple):
    """A fact that did not come out the same in both runs."""

    record: str
    """Name of the record; empty where single reports are compared."""
    id: str
    """In the second run."""
    fact: str
    a: str
    """`kept`, `distorted`, `dropped` or `undecided`."""
    b: str
    must: bool = False
    quote: str = ""
    """The passage that the verdict of the second run rests on; may be empty."""
    reason: str = ""
    """Of the verdict of the second run; may be empty."""


@dataclass(frozen=True, slots=True, repr=False)
class CoverageComparison(Report):
    """The second run compared with the first, over the facts of both."""

    coverage: Comparison
    """Mean coverage of the records, over facts that both runs decided. With several sources,
    interval and p-value are by source (paired randomization); else by fact (McNemar's exact test),
    as if the facts of a text were independent."""
    n_sources: int
    n_facts: int
    """Facts that both runs decided."""
    n_kept: tuple[int, int]
    """Of these, the facts kept in the first and in the second run."""
    n_distorted: tuple[int, int]
    """Of these, the facts distorted in the first and in the second run."""
    changes: tuple[FactChange, ...]
    """Facts whose outcome differs, in order."""
    only_a: tuple[str, ...] = ()
    """Records that only the first run has a report for."""
    only_b: tuple[str, ...] = ()
    n_only: tuple[int, int] = (0, 0)
    """Facts of records in both runs that only the first, or only the second run has."""
    causes: tuple[str, ...] = ()
    """What differs between the runs besides the outcome, one line each; see `is_noise`."""
    is_noise: bool = False
    """Whether texts, facts, judge and prompts are the same, so that only the judge itself can have
    moved a fact."""
    never_flips: bool = False
    """Whether the judge of both runs always answers the same question alike."""

    @property
    def won(self) -> tuple[FactChange, ...]:
        """Facts that only the second run keeps; decided in both."""
        return tuple(c for c in self.changes if c.b == "kept" and c.a != UNDECIDED)

    @property
    def lost(self) -> tuple[FactChange, ...]:
        """Facts that only the first run keeps, newly distorted ones too; decided in both."""
        return tuple(c for c in self.changes if c.a == "kept" and c.b != UNDECIDED)

    @property
    def newly_distorted(self) -> tuple[FactChange, ...]:
        """Facts that only the second run distorts; decided in both."""
        return tuple(c for c in self.changes if c.b == "distorted" and c.a != UNDECIDED)

    @property
    def undecided(self) -> tuple[FactChange, ...]:
        """Facts that one of the runs did not decide: neither won nor lost."""
        return tuple(c for c in self.changes if UNDECIDED in (c.a, c.b))

    @property
    def p_distorted(self) -> float:
        """p-value of the exact sign test of facts newly and no longer distorted, in (0, 1]."""
        n_new = len(self.newly_distorted)
        return sign_test(n_new, n_new - self.n_distorted[1] + self.n_distorted[0])

    @property
    def worse(self) -> str:
        """In which way the second run is worse; empty if nothing says so.

        It is if coverage is significantly lower, if a `must` fact was lost, or if more facts are
        distorted: significantly more, or any at all where the judge never flips.
        """
        n_a, n_b = self.n_distorted
        more = n_b > n_a and (self.never_flips or self.p_distorted < SIGNIFICANT)
        lower = self.coverage.difference < 0 and self.coverage.is_significant
        reasons = (
            f"coverage {_range(self.coverage)}" if lower else "",
            f"distorted facts {n_a:,} → {n_b:,}" if more else "",
            self._lost_musts(),
        )
        return ", ".join(reason for reason in reasons if reason)

    @property
    def unsettled(self) -> str:
        """Why it is unknown whether the second run is worse; empty if it is known.

        Of the facts that one run keeps, significantly more have no verdict in the second run.
        """
        n_b = sum(change.a == "kept" for change in self.undecided)
        n_a = sum(change.b == "kept" for change in self.undecided)
        if n_b <= n_a or sign_test(n_a, n_b) >= SIGNIFICANT:
            return ""
        return f"no verdict in B on {plural(n_b, 'fact')} that A keeps, and in A on {n_a:,} of B"

    def _lost_musts(self) -> str:
        lost = [change.fact for change in self.lost if change.must]
        return f"{plural(len(lost), 'must fact')} lost: {_some(lost)}" if lost else ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "coverage": self.coverage.to_dict(),
            "sources": self.n_sources,
            "facts": self.n_facts,
            "kept": list(self.n_kept),
            "distorted": list(self.n_distorted),
            "p_distorted": self.p_distorted,
            "worse": self.worse,
            "unsettled": self.unsettled,
            "causes": list(self.causes),
            "noise": self.is_noise,
            "changes": [change._asdict() for change in self.changes],
            "only_a": list(self.only_a),
            "only_b": list(self.only_b),
            "facts_only": list(self.n_only),
        }

    def page(self) -> Page:
        groups = self._groups()
        n_a, n_b = self.n_distorted
        verdict = "equal"
        if self.coverage.difference:
            verdict = "higher" if self.coverage.difference > 0 else "lower"
            is_clear = self.coverage.is_significant
            verdict += ", unlikely to be chance" if is_clear else ", but that may be chance"
        new = plural(len(self.newly_distorted), "fact") if self.newly_distorted else ""
        said = new and f"Distorted facts {n_a:,} → {n_b:,}: {new} newly distorted"
        alerts = (said, self._lost_musts(), self.unsettled)
        return Page(
            "Coverage",
            _range(self.coverage),
            f"{verdict}; kept {self.n_kept[0]:,} → {self.n_kept[1]:,}, "
            f"distorted {n_a:,} → {n_b:,} of {plural(self.n_facts, 'fact')}",
            lines=tuple(self._lines()),
            alerts=tuple(Alert(alert) for alert in alerts if alert),
            sections=filled(*(listed(*group, _item, "fact", _MAX_SHOWN) for group in groups)),
            suite="compare",
            cases=tuple(_case(title, change) for title, _, _, group in groups for change in group),
            columns=("change", *FactChange._fields),
            rows=lambda: [
                {"change": title.lower(), **change._asdict()}
                for title, _, _, group in groups
                for change in group
            ],
        )

    def _groups(self) -> tuple[tuple[str, Tone, str, tuple[FactChange, ...]], ...]:
        """Title, tone, meaning and facts; every change is in one of them."""
        dropped = tuple(c for c in self.lost if c.b == "dropped")
        gone = tuple(c for c in self.changes if (c.a, c.b) == ("distorted", "dropped"))
        return (
            ("Newly distorted", "bad", "contradicted in B only", self.newly_distorted),
            ("Lost", "warn", "kept in A, dropped in B", dropped),
            ("Undecided", "unknown", "no verdict in A or B: neither won nor lost", self.undecided),
            ("No longer distorted", "plain", "contradicted in A, dropped in B", gone),
            ("Won", "good", "kept in B only", self.won),
        )

    def _lines(self) -> Iterator[str]:
        if self.is_noise:
            n = len(self.changes) - len(self.undecided)
            yield (
                "Why: texts, facts, judge and prompts are the same, so this is the judge's own "
                f"noise: {n:,} of {plural(self.n_facts, 'fact')} ({percent(n / self.n_facts)})"
            )
        elif self.causes:
            alone = "" if len(self.causes) == 1 else "; these runs cannot tell which moved a fact"
            yield f"Why: {'; '.join(self.causes)}{alone}"
        found = self.coverage
        if found.difference:
            unit = "if facts were independent" if self.n_sources == 1 else "by source"
            interval = interval_text(found.interval)
            yield (
                f"difference {signed(found.difference)}, 95 % interval {interval}, "
                f"p {p_text(found.p_value or 0.0)} {unit} ({plural(self.n_sources, 'source')})"
            )
        if self.n_distorted[0] != self.n_distorted[1]:
            yield f"distorted: p {p_text(self.p_distorted)} if facts were independent"
        for side, names in (("A", self.only_a), ("B", self.only_b)):
            if names:
                yield f"left out: {plural(len(names), 'record')} only in {side} ({_some(names)})"
        for side, n in zip("AB", self.n_only, strict=True):
            if n:
                yield f"left out: {plural(n, 'fact')} only in {side}; score both with one --facts"


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(quote_text, names[:_MAX_NAMES])) + ", …" * (len(names) > _MAX_NAMES)


def _range(found: Comparison) -> str:
    return f"{share(found.a)} → {share(found.b)}"


def _item(change: FactChange) -> Item:
    return Item(
        name_text(change.record or change.id),
        quote_text(change.fact),
        (quote_text(change.reason),) if change.reason else (),
        badges=(Badge("must", "bad"),) if change.must else (),
        quote=quote_text(change.quote),
        aside=f"{change.a} → {change.b}",
    )


def _case(title: str, change: FactChange) -> Case:
    name = f"{change.record or change.id} {quote_text(change.fact)}"
    moved = f"{change.a} → {change.b}"
    if title in {"Newly distorted", "Lost"}:
        return Case(name, "failed", moved, change.b, tuple(filter(None, (change.quote,))))
    return Case(name, "skipped", moved, UNDECIDED) if title == "Undecided" else Case(name)


class _Pair(NamedTuple):
    """A record in both runs."""

    name: str
    a: CoverageReport
    b: CoverageReport
    decided: tuple[tuple[Verdict, Verdict], ...]
    """Verdicts on the facts that both runs have decided."""
    scores: tuple[float, float] | None
    """Coverage over these; `None` where they weigh nothing."""


def compare(a: Run, b: Run) -> CoverageComparison:
    """Compare the coverage of a report or run with that of an earlier one.

    Facts are paired by their text, records by their name. What only one side has is left out and
    counted, and so is a fact that one side did not decide.

    Args:
        a: The baseline; see `Run`.
        b: The report or run in question.

    Raises:
        InputError: A run cannot be read, one is a report and the other a run, or the two share no
            fact that both decided.
    """
    first, second = read_reports(a), read_reports(b)
    if ("" in first) != ("" in second):
        raise InputError("one is a single report and the other a run; compare two of a kind")
    changes: list[FactChange] = []
    n_only = [0, 0]
    pairs = []
    for name in (name for name in first if name in second):
        ours, theirs = results_by_fact(first[name]), results_by_fact(second[name])
        n_only[0] += len(ours.keys() - theirs.keys())
        n_only[1] += len(theirs.keys() - ours.keys())
        both = [(ours[key], theirs[key]) for key in ours if key in theirs]
        changes += (_change(name, *two) for two in both if _status(two[0]) != _status(two[1]))
        decided = tuple(
            (x, y) for x, y in both if isinstance(x, Verdict) and isinstance(y, Verdict)
        )
        scores = [share_entailed([two[side] for two in decided]).value for side in (0, 1)]
        known = None if None in scores else (scores[0] or 0.0, scores[1] or 0.0)
        pairs.append(_Pair(name, first[name], second[name], decided, known))
    scored = [pair for pair in pairs if pair.scores is not None]
    if not scored:
        raise InputError(
            "the two share no fact that both decided; score both with the same --facts, so that "
            "they are about the same facts"
        )
    every = [two for pair in pairs for two in pair.decided]
    n_kept, n_distorted = (
        tuple(sum(two[side].label == label for two in every) for side in (0, 1))
        for label in ("entailed", "contradicted")
    )
    sources = {pair.a.facts.source_digest or pair.name for pair in scored}
    causes, is_known = _causes(pairs, n_only)
    return CoverageComparison(
        _compared(scored, every, len(sources)),
        len(sources),
        len(every),
        (n_kept[0], n_kept[1]),
        (n_distorted[0], n_distorted[1]),
        tuple(changes),
        tuple(name for name in first if name not in second),
        tuple(name for name in second if name not in first),
        (n_only[0], n_only[1]),
        causes,
        is_known and not causes and bool(changes),
        all(never_flips(one.signature) for pair in pairs for one in (pair.a, pair.b)),
    )


def _change(record: str, a: CheckResult, b: CheckResult) -> FactChange:
    must = a.fact.must or b.fact.must
    quote = b.evidence.quote if isinstance(b, Verdict) and b.evidence else ""
    reason = b.reason if isinstance(b, Verdict) else b.message
    return FactChange(record, b.fact.id, b.fact.text, _status(a), _status(b), must, quote, reason)


def _status(result: CheckResult) -> str:
    return STATUS[result.label] if isinstance(result, Verdict) else UNDECIDED


def _compared(
    pairs: Sequence[_Pair], every: Sequence[tuple[Verdict, Verdict]], n_sources: int
) -> Comparison:
    """Mean coverage of both sides; summaries of one source are one unit of the test."""
    a, b = (fmean(pair.scores[side] for pair in pairs if pair.scores) for side in (0, 1))
    if n_sources == 1:
        n_won = sum(y.supported and not x.supported for x, y in every)
        n_lost = sum(x.supported and not y.supported for x, y in every)
        interval = paired_share_interval(len(every), n_won, n_lost)
        return Comparison(a, b, b - a, interval, sign_test(n_won, n_lost))
    return compare_means(
        (pair.a.facts.source_digest or pair.name, *pair.scores) for pair in pairs if pair.scores
    )


def _causes(pairs: Sequence[_Pair], n_only: Sequence[int]) -> tuple[tuple[str, ...], bool]:
    """What differs besides the outcome, and whether nothing else can differ unseen."""
    texts = [[one.texts and one.texts.summary.text for one in pair[1:3]] for pair in pairs]
    sources = [[one.facts.source_digest for one in pair[1:3]] for pair in pairs]
    counts = {
        "the text": sum(None not in two and two[0] != two[1] for two in texts),
        "perhaps the text": sum(None in two for two in texts),
        "the source": sum(None not in two and two[0] != two[1] for two in sources),
    }
    of = "" if len(pairs) == 1 else " of {:,} of {:,} records"
    found = [what + of.format(n, len(pairs)) for what, n in counts.items() if n]
    if any(n_only):
        found.append("the list of facts")
    moved: dict[str, dict[tuple[str, str], None]] = {}
    for pair in pairs:
        old, new = (made_how(one.signature) for one in (pair.a, pair.b))
        for name in {**old, **new}:
            values = old.get(name, "default"), new.get(name, "default")
            if values[0] != values[1]:
                moved.setdefault(name, {})[values] = None
    for name, changes in moved.items():
        old_value, new_value = next(iter(changes))
        more = more_of(len(changes) - 1, "change")
        title = {"check": "prompt", "extract": "extraction prompt"}.get(name, name)
        found.append(f"{title} {old_value} → {new_value}{' ' if more else ''}{more}")
    return tuple(map(quote_text, found)), not counts["perhaps the text"]


def made_how(signature: ScoreSignature) -> dict[str, str]:
    """The entries of a signature that say how a score was made, without counts."""
    return {name: value for name, value in signature.entries if name not in _COUNTS}


def never_flips(signature: ScoreSignature) -> bool:
    """Whether the judge always answers the same question alike: the embedded ones do."""
    return dict(signature.entries).get("judge", "").startswith(("local", "containment"))


def results_by_fact(report: CoverageReport) -> dict[tuple[str, int], CheckResult]:
    """The result of each fact, by its text; equal texts differ by their count."""
    seen: Counter[str] = Counter()
    results = {}
    for result in report.results:
        text = result.fact.text
        results[text, seen[text]] = result
        seen[text] += 1
    return results


def read_reports(run: Run) -> dict[str, CoverageReport]:
    """The reports of a run by the name of their record; rows without a report are left out.

    The name of a single report is empty.
    """
    if isinstance(run, CoverageReport):
        return {"": run}
    if isinstance(run, (str, PathLike)):
        if Path(run).suffix.lower() == ".json":
            return {"": read_report(run)}
        rows = (row for row in read_results(run) if "error" not in row)
        return {str(row["id"]): CoverageReport.from_dict(row) for row in rows}
    if isinstance(run, Mapping):
        return dict(run)
    return {str(number): report for number, report in enumerate(run, 1)}


def read_report(path: str | PathLike[str]) -> CoverageReport:
    """The report that `factcheck score --out FILE.json` wrote.

    Raises:
        InputError: Not readable, not a report, or one of another version; names the file.
    """
    text = read_text(path)
    try:
        return CoverageReport.from_json(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
