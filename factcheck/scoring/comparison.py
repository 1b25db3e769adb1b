"""Compare two reports or runs: facts won, lost and newly distorted, and possible causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from statistics import fmean

from factcheck.documents import name_of, read_text, to_plain
from factcheck.errors import InputError
from factcheck.facts import CheckFailure, CheckResult, CoverageReport, share_entailed
from factcheck.facts.coverage import PARAPHRASES, is_embedded
from factcheck.reports import Report
from factcheck.reports.comparison import Unit, comparison_page, verdict_text
from factcheck.reports.page import Alert, Badge, Item, Page, Section
from factcheck.reports.text import (
    more_of,
    name_text,
    p_text,
    percent,
    plural,
    quote_text,
    share,
    some_of,
)
from factcheck.scoring.run_report import RunReport
from factcheck.stats.comparison import SIGNIFICANT, Comparison, compare_means
from factcheck.stats.intervals import paired_share_interval, sign_test

Run = (
    str
    | PathLike[str]
    | CoverageReport
    | RunReport
    | Mapping[str, CoverageReport]
    | Iterable[CoverageReport]
)
"""Path of rows from `factcheck run --out` or of a `.json` report; a report; a run; reports by
record name; or reports in record order."""

UNDECIDED = "undecided"
_PARAPHRASE = 0.2
"""Share of copied phrases below which a summary paraphrases: 33 summaries written as paraphrases
copy at most .10, summaries written to copy at least .27."""
_GROUPS = (
    Section("Newly distorted", "bad", "contradicted in B only"),
    Section("Lost", "warn", "kept in A, dropped in B", head=10),
    Section("Undecided", "unknown", "no verdict in A or B, not distorted in B", head=5),
    Section("No longer distorted", "plain", "contradicted in A, dropped in B", head=5),
    Section("Won", "good", "kept in B only", head=5),
)


@dataclass(frozen=True, slots=True)
class FactChange:
    """A fact with different outcomes in the two runs."""

    record: str
    """Name of the record; empty if single reports are compared."""
    id: str
    """Id of the fact in the second run."""
    fact: str
    a: str
    """`kept`, `distorted`, `dropped` or `undecided`."""
    b: str
    must: bool = False
    quote: str = ""
    """Evidence of the second run; may be empty."""
    reason: str = ""
    """Reason given in the second run; may be empty."""

    @property
    def group(self) -> str:
        """Title of the section of the change."""
        if self.b == "distorted":
            return "Newly distorted"
        if UNDECIDED in (self.a, self.b):
            return "Undecided"
        if self.b == "dropped":
            return "Lost" if self.a == "kept" else "No longer distorted"
        return "Won"

    def as_unit(self) -> Unit:
        name, change = self.record or self.id, f"{self.a} → {self.b}"
        item = Item(
            name_text(name),
            quote_text(self.fact),
            (quote_text(self.reason),) if self.reason else (),
            badges=(Badge("must", "bad"),) if self.must else (),
            quote=quote_text(self.quote),
            aside=change,
        )
        quote = (self.quote,) if self.quote else ()
        return Unit(
            f"{name} {quote_text(self.fact)}", change, item, data=to_plain(self), details=quote
        )


@dataclass(frozen=True, slots=True, repr=False)
class CoverageComparison(Report):
    """Comparison of a second run with a first one over their common facts."""

    DERIVED = ("p_distorted", "worse", "no_verdict")
    coverage: Comparison
    """Mean coverage of the records over facts decided in both runs. With several sources, interval
    and p-value are by source (paired randomization); with one, by fact (McNemar's exact test),
    assuming that facts are independent."""
    n_sources: int
    n_facts: int
    """Number of facts decided in both runs."""
    n_kept: tuple[int, int]
    """Number of these that are kept in the first and in the second run."""
    n_distorted: tuple[int, int]
    """Number of common facts, decided in both runs or not, that are distorted in the first and in
    the second run."""
    changes: tuple[FactChange, ...]
    """Facts with different outcomes, in order."""
    only_a: tuple[str, ...]
    """Records with a report in the first run only."""
    only_b: tuple[str, ...]
    """Records with a report in the second run only."""
    n_only: tuple[int, int]
    """Number of facts of common records that only the first, or only the second run has."""
    causes: tuple[str, ...]
    """Differences in inputs and settings, one line each; see `is_noise`."""
    is_noise: bool
    """Whether texts, facts, judge and prompts are equal, so that changes are judge noise."""
    never_flips: bool
    """Whether the judges of both runs are deterministic."""
    names: tuple[str, str] = ("", "")
    """Paths of A and B; empty for reports that were not read from files."""
    partial: tuple[str, str] = ("", "")
    """Why a run is not complete; empty for one that is."""
    unranked: str = ""
    """Why coverage cannot rank the two sides; empty if it can."""
    caution: str = ""
    """What scores of the judge cannot show; may be empty."""

    @property
    def won(self) -> tuple[FactChange, ...]:
        """Facts kept in the second run only; decided in both."""
        return self._of("Won")

    @property
    def lost(self) -> tuple[FactChange, ...]:
        """Facts kept in the first run only, including newly distorted ones; decided in both."""
        return tuple(c for c in self.changes if c.a == "kept" and c.b != UNDECIDED)

    @property
    def newly_distorted(self) -> tuple[FactChange, ...]:
        """Facts distorted in the second run only, including those undecided in the first."""
        return self._of("Newly distorted")

    @property
    def undecided(self) -> tuple[FactChange, ...]:
        """Facts undecided in one of the runs and not newly distorted; neither won nor lost."""
        return self._of("Undecided")

    def _of(self, group: str) -> tuple[FactChange, ...]:
        return tuple(change for change in self.changes if change.group == group)

    @property
    def p_distorted(self) -> float:
        """p-value of an exact sign test on facts newly and no longer distorted, in (0, 1]."""
        return sign_test(len(self.newly_distorted), self._n_no_longer)

    @property
    def _n_no_longer(self) -> int:
        """Facts distorted in the first run and not in the second; decided in both."""
        return sum(c.a == "distorted" and c.b != UNDECIDED for c in self.changes)

    @property
    def worse(self) -> str:
        """Reasons why the second run is worse; empty if there are none.

        It is worse if coverage is significantly lower, unless it cannot be ranked, a `must` fact
        was lost, or more facts are newly than no longer distorted: significantly more, or any more
        with a deterministic judge.
        """
        (n_a, n_b), n_new = self.n_distorted, len(self.newly_distorted)
        more = n_new > self._n_no_longer and (self.never_flips or self.p_distorted < SIGNIFICANT)
        lower = not self.unranked and self.coverage.difference < 0 and self.coverage.is_significant
        reasons = (
            f"coverage {share(self.coverage.a)} → {share(self.coverage.b)}" if lower else "",
            f"distorted facts {n_a:,} → {n_b:,} ({n_new:,} newly)" if more else "",
            self._lost_musts,
        )
        return ", ".join(filter(None, reasons))

    @property
    def no_verdict(self) -> str:
        """Reason why the second run cannot be rated; empty if it can.

        Significantly more facts kept in the other run are undecided in the second one, a run is not
        complete, or coverage cannot rank them.
        """
        n_b = sum(change.a == "kept" for change in self.undecided)
        n_a = sum(change.b == "kept" for change in self.undecided)
        reasons = [f"{side}: {why}" for side, why in zip("AB", self.partial, strict=True) if why]
        if n_b > n_a and sign_test(n_a, n_b) < SIGNIFICANT:
            kept = plural(n_b, "fact")
            reasons.append(f"{kept} kept in A undecided in B, {n_a:,} kept in B undecided in A")
        return "; ".join(filter(None, (*reasons, self.unranked)))

    @property
    def _lost_musts(self) -> str:
        lost = [change.fact for change in self.lost if change.must]
        return f"{plural(len(lost), 'must fact')} lost: {some_of(lost)}" if lost else ""

    def page(self) -> Page:
        (kept_a, kept_b), (n_a, n_b) = self.n_kept, self.n_distorted
        facts = plural(self.n_facts, "fact")
        n_new = plural(len(self.newly_distorted), "fact")
        more = f"Distorted facts {n_a:,} → {n_b:,}: {n_new} newly distorted"
        new = more if self.newly_distorted else ""
        alerts = [Alert(text) for text in (new, self._lost_musts, self.no_verdict) if text]
        alerts += [Alert(self.caution, "warn")] if self.caution else []
        unit = "if facts were independent" if self.n_sources == 1 else "by source"
        groups = {one: [c.as_unit() for c in self._of(one.title)] for one in _GROUPS}
        main = replace(self.coverage, interval=None) if self.unranked else self.coverage
        page = comparison_page(
            "Coverage",
            "fact",
            main,
            groups,
            f"{unit} ({plural(self.n_sources, 'source')})",
            self._lines(),
            names=self.names,
            left_out={"Only in A": self.only_a, "Only in B": self.only_b},
        )
        return page._replace(
            counts=f"{'not comparable' if self.unranked else verdict_text(main)}; kept {kept_a:,} "
            f"→ {kept_b:,} of {facts} decided in both, distorted {n_a:,} → {n_b:,}",
            alerts=tuple(alerts),
            suite="compare",
            columns=("change", *FactChange.__slots__),
        )

    def _lines(self) -> Iterator[str]:
        if self.is_noise:
            n = sum(UNDECIDED not in (change.a, change.b) for change in self.changes)
            yield (
                "Why: texts, facts, judge and prompts are the same, so this is the judge's own "
                f"noise: {n:,} of {plural(self.n_facts, 'fact')} ({percent(n / self.n_facts)})"
            )
        elif self.causes:
            alone = "" if len(self.causes) == 1 else "; these runs cannot tell which moved a fact"
            yield f"Changed: {'; '.join(self.causes)}{alone}"
        if len(self.newly_distorted) != self._n_no_longer:
            yield f"distorted: p {p_text(self.p_distorted)} if facts were independent"
        for side, n in zip("AB", self.n_only, strict=True):
            if n:
                yield f"left out: {plural(n, 'fact')} only in {side}; score both with one --facts"


def compare(a: Run, b: Run) -> CoverageComparison:
    """Compare the coverage of a report or run with that of an earlier one.

    Facts are paired by text, records by name. Facts and records of one side only are excluded and
    counted, and so are facts that one side did not decide, unless B distorts them.

    Args:
        a: Baseline; see `Run`.
        b: Report or run to compare with it.

    Raises:
        InputError: A run is unreadable, one is a report and the other a run, or the two have no
            decided fact in common.
    """
    (first, partial_a), (second, partial_b) = read_reports(a), read_reports(b)
    if ("" in first) != ("" in second):
        raise InputError("cannot compare a single report with a run; compare two of a kind")
    pairs = {name: (first[name], second[name]) for name in first if name in second}
    changes: list[FactChange] = []
    common: list[tuple[CheckResult, CheckResult]] = []
    decided: list[tuple[CheckResult, CheckResult]] = []
    scores: list[tuple[str, float, float]] = []
    n_only = [0, 0]
    for name, (old, new) in pairs.items():
        ours, theirs = old.by_fact, new.by_fact
        n_only[0] += len(ours.keys() - theirs.keys())
        n_only[1] += len(theirs.keys() - ours.keys())
        both = [(ours[key], theirs[key]) for key in ours if key in theirs]
        changes += (_change(name, *two) for two in both if two[0].status != two[1].status)
        common += both
        known = [two for two in both if two[0].label and two[1].label]
        decided += known
        x, y = (share_entailed([two[side] for two in known]).value for side in (0, 1))
        if x is not None and y is not None:
            scores.append((old.facts.source_digest or name, x, y))
    if not scores:
        raise InputError("the two have no decided fact in common; score both with the same --facts")

    name_a, name_b = (name_of(run) if isinstance(run, (str, PathLike)) else "" for run in (a, b))
    causes, is_known = _causes([*pairs.values()], has_other_facts=any(n_only))
    is_local = any(is_embedded(str(one.signature)) for two in pairs.values() for one in two)
    unranked = _unranked([*pairs.values()]) if is_local else ""
    return CoverageComparison(
        coverage=_coverage(scores, decided),
        n_sources=len({source for source, _, _ in scores}),
        n_facts=len(decided),
        n_kept=_counts(decided, "kept"),
        n_distorted=_counts(common, "distorted"),
        changes=tuple(changes),
        only_a=tuple(name for name in first if name not in second),
        only_b=tuple(name for name in second if name not in first),
        n_only=(n_only[0], n_only[1]),
        causes=causes,
        is_noise=is_known and not causes and bool(changes),
        never_flips=all(one.signature.never_flips for two in pairs.values() for one in two),
        names=(name_a, name_b),
        partial=(partial_a, partial_b),
        unranked=unranked,
        caution=PARAPHRASES if is_local and not unranked else "",
    )


def _unranked(pairs: Sequence[tuple[CoverageReport, CoverageReport]]) -> str:
    """Say so if the summaries of one side copy and those of the other paraphrase, on average."""
    sides = [[one.texts.copied if one.texts else None for one in two] for two in pairs]
    known = [(a, b) for a, b in sides if a is not None and b is not None]
    if not known:
        return ""
    a, b = map(fmean, zip(*known, strict=True))
    if (a < _PARAPHRASE) == (b < _PARAPHRASE):
        return ""
    return (
        f"A copies {percent(a)} of its phrases from the source and B {percent(b)}: the embedded "
        "judge cannot rank a copy and a paraphrase; use a language model"
    )


def _counts(pairs: Sequence[tuple[CheckResult, CheckResult]], status: str) -> tuple[int, int]:
    return sum(a.status == status for a, _ in pairs), sum(b.status == status for _, b in pairs)


def _change(record: str, a: CheckResult, b: CheckResult) -> FactChange:
    fact, must = b.fact, a.fact.must or b.fact.must
    if isinstance(b, CheckFailure):
        return FactChange(record, fact.id, fact.text, a.status, b.status, must, reason=b.message)
    quote = b.evidence.quote if b.evidence else ""
    return FactChange(record, fact.id, fact.text, a.status, b.status, must, quote, b.reason)


def _coverage(
    scores: Sequence[tuple[str, float, float]], decided: Sequence[tuple[CheckResult, CheckResult]]
) -> Comparison:
    """Compare mean coverage; the summaries of a source form one unit of the test."""
    if len({source for source, _, _ in scores}) > 1:
        return compare_means(scores)
    a, b = fmean(a for _, a, _ in scores), fmean(b for _, _, b in scores)
    n_won = sum(y.supported and not x.supported for x, y in decided)
    n_lost = sum(x.supported and not y.supported for x, y in decided)
    interval = paired_share_interval(len(decided), n_won, n_lost)
    return Comparison(a, b, b - a, interval, sign_test(n_won, n_lost))


def _causes(
    pairs: Sequence[tuple[CoverageReport, CoverageReport]], *, has_other_facts: bool
) -> tuple[tuple[str, ...], bool]:
    """List differences in inputs and settings; also return whether all texts are known."""
    texts = [[one.texts and one.texts.summary.text for one in two] for two in pairs]
    sources = [[one.facts.source_digest for one in two] for two in pairs]
    counts = {
        "the text": sum(None not in two and two[0] != two[1] for two in texts),
        "perhaps the text": sum(None in two for two in texts),
        "the source": sum(None not in two and two[0] != two[1] for two in sources),
    }
    of = "" if len(pairs) == 1 else " of {:,} of {:,} records"
    found = [what + of.format(n, len(pairs)) for what, n in counts.items() if n]
    if has_other_facts:
        found.append("the list of facts")
    settings: dict[str, dict[tuple[str, str], None]] = {}
    for a, b in pairs:
        for name, values in a.signature.changes(b.signature).items():
            settings.setdefault(name, {})[values] = None
    for name, changes in settings.items():
        old, new = next(iter(changes))
        more = more_of(len(changes) - 1, "change")
        title = {"check": "prompt", "extract": "extraction prompt"}.get(name, name)
        found.append(f"{title} {old} → {new} {more}".rstrip())
    return tuple(map(quote_text, found)), not counts["perhaps the text"]


def read_reports(run: Run) -> tuple[dict[str, CoverageReport], str]:
    """Read the reports of a run by record name, omitting rows without a report.

    A single report has the empty name. The second value says why the run is not complete; empty
    for one that is.
    """
    if isinstance(run, CoverageReport):
        return {"": run}, ""
    if isinstance(run, (str, PathLike)):
        is_report = Path(run).suffix.lower() == ".json"
        return read_reports(read_report(run) if is_report else RunReport.read(run))
    if isinstance(run, RunReport):
        outcomes = run.outcomes.items()
        reports = {name: one for name, one in outcomes if isinstance(one, CoverageReport)}
        return reports, run.partial
    if isinstance(run, Mapping):
        return dict(run), ""
    return {str(number): report for number, report in enumerate(run, 1)}, ""


def read_report(path: str | PathLike[str]) -> CoverageReport:
    """Read a report written by `factcheck score --out FILE.json`.

    Raises:
        InputError: Unreadable, not a report, or of another version; names the file.
    """
    text = read_text(path)
    try:
        return CoverageReport.from_json(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
