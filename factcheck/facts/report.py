"""Coverage report: every fact of a source, its outcome, and the resulting score.

Only facts and results are stored. All numbers are computed from them, so that a score can never
disagree with the list behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from factcheck.documents import Reader, from_plain, parse_json, shown, to_plain
from factcheck.errors import InputError, JudgeError
from factcheck.facts.coverage import Share, share_entailed, trust_lines
from factcheck.facts.model import (
    COUNTS,
    CheckFailure,
    CheckResult,
    FactSet,
    ScoreSignature,
    Usage,
    Verdict,
    digest,
)
from factcheck.facts.sources import Texts, source_key
from factcheck.reports import Report
from factcheck.stats.intervals import Interval

if TYPE_CHECKING:
    from factcheck.reports.page import Page

_FORMAT = 1
Direction = Literal["coverage", "both"]
"""`"both"` also checks the claims of the summary against the source."""


@dataclass(frozen=True, repr=False)
class CoverageReport(Report):
    """Facts of a source that a summary keeps, distorts or drops.

    Raises:
        InputError: The results are not exactly one per fact, in fact order.
    """

    facts: FactSet
    """Facts of the source."""
    results: tuple[CheckResult, ...]
    """One verdict or failure per fact, in fact order."""
    usage: Usage
    """Usage of this report alone."""
    signature: ScoreSignature
    """Judge, prompts and versions behind the score."""
    claims: FactSet | None = None
    """Claims of the summary; only with `direction="both"`."""
    claim_results: tuple[CheckResult, ...] = ()
    """One verdict or failure per claim against the source, in claim order."""
    texts: Texts | None = None
    """Source and summary; `None` if unknown."""
    judge_quality: str = ""
    """Agreement of the judge with human labels, in a few words; empty if unknown."""

    def __post_init__(self) -> None:
        _match(self.facts, self.results, "fact")
        _match(self.claims or FactSet(()), self.claim_results, "claim")

    @property
    def share(self) -> Share:
        """Score, bounds and interval."""
        return share_entailed(self.results)

    @property
    def score(self) -> float | None:
        """Weighted share of decided facts that are entailed, in [0, 1]; `None` if all undecided."""
        return self.share.value

    @property
    def low(self) -> float:
        """Score if all undecided facts were dropped, in [0, 1]."""
        return self.share.low

    @property
    def high(self) -> float:
        """Score if all undecided facts were kept, in [0, 1]."""
        return self.share.high

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the score; see `Share.interval`."""
        return self.share.interval

    @property
    def expected(self) -> float | None:
        """Share of the statements that is expected to be kept, in [0, 1]; see `Share.expected`.

        It ranks summaries better than the score does, which counts an unsure verdict as a sure one
        and a statement with ten details ten times.
        """
        return self.share.expected

    @property
    def kept(self) -> tuple[Verdict, ...]:
        """Verdicts on facts the summary entails, in fact order."""
        return self._with_status("kept")

    @property
    def distorted(self) -> tuple[Verdict, ...]:
        """Verdicts on facts the summary contradicts, in fact order."""
        return self._with_status("distorted")

    @property
    def dropped(self) -> tuple[Verdict, ...]:
        """Verdicts on facts the summary does not mention, in fact order."""
        return self._with_status("dropped")

    @property
    def undecided(self) -> tuple[CheckFailure, ...]:
        """Facts without a verdict, in fact order; excluded from the score, not from its bounds."""
        return self._with_status("undecided")

    def _with_status(self, status: str) -> tuple[Any, ...]:
        return tuple(result for result in self.results if result.status == status)

    @property
    def counts(self) -> dict[str, int]:
        """Number of facts, in total and by outcome."""
        return {name: len(getattr(self, name)) for name in COUNTS}

    @property
    def by_fact(self) -> dict[tuple[str, int], CheckResult]:
        """Result of each fact by text and, for equal texts, 0-based occurrence."""
        seen: Counter[str] = Counter()
        results = {}
        for result in self.results:
            text = result.fact.text
            results[text, seen[text]] = result
            seen[text] += 1
        return results

    def named(self, source: str, summary: str) -> CoverageReport:
        """Return the report with names for its texts, such as file names; see `Texts.named`."""
        return replace(self, texts=self.texts and self.texts.named(source, summary))

    @property
    def by_document(self) -> dict[str, CoverageReport]:
        """Report on the facts of each source document, without claims or usage.

        A fact stated by several documents is in the report of each. Empty for a single-text source.
        """
        groups: dict[str, list[CheckResult]] = {name: [] for name in self.facts.documents}
        for result in self.results:
            for name in result.fact.documents:
                groups.setdefault(name, []).append(result)
        reports = {}
        for name, results in groups.items():
            facts = tuple(result.fact for result in results)
            n_undecided = sum(not result.label for result in results)
            counts = {"facts": str(len(results)), "undecided": str(n_undecided)}
            reports[name] = CoverageReport(
                replace(self.facts, facts=facts, documents=(name,)),
                tuple(results),
                Usage(),
                ScoreSignature.of({**dict(self.signature.entries), **counts}),
            )
        return reports

    @property
    def faithfulness(self) -> float | None:
        """Share of the summary's decided claims that the source entails, in [0, 1].

        `None` without `direction="both"`, without claims, or if all are undecided.
        """
        return share_entailed(self.claim_results).value

    @property
    def source_digest(self) -> str | None:
        """Digest of the source, also of one with given facts; `None` if it is unknown."""
        documents = self.texts.documents if self.texts else ()
        if self.facts.source_digest is not None or not documents:
            return self.facts.source_digest
        return digest(documents[0].text if len(documents) == 1 else source_key(documents))

    @property
    def superfluous(self) -> tuple[Verdict, ...]:
        """Verdicts on claims of the summary that the source does not entail, in claim order."""
        return tuple(r for r in self.claim_results if isinstance(r, Verdict) and not r.supported)

    @property
    def undecided_claims(self) -> tuple[CheckFailure, ...]:
        """Claims without a verdict, in claim order."""
        return tuple(r for r in self.claim_results if isinstance(r, CheckFailure))

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON-ready data, including the computed numbers."""
        return {
            "format": _FORMAT,
            **_numbers(self.share),
            "counts": self.counts,
            "faithfulness": self.faithfulness,
            "documents": {
                name: {**_numbers(part.share), "counts": part.counts}
                for name, part in self.by_document.items()
            },
            "signature": str(self.signature),
            "usage": self.usage.to_dict(),
            "facts": self.facts.to_dict(),
            "results": to_plain(self.results),
            "claims": self.claims.to_dict() if self.claims is not None else None,
            "claim_results": to_plain(self.claim_results),
            "judge_quality": self.judge_quality,
            "texts": to_plain(self.texts),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CoverageReport:
        """Inverse of `to_dict`; all numbers are recomputed from the results.

        Raises:
            InputError: Not a report, or another format version.
        """
        read = Reader(data, "report")
        if data.get("format") != _FORMAT:
            raise InputError(
                f"report: format {shown(data.get('format'))} is not {_FORMAT}; "
                "it was written by another version or is not a factcheck report"
            )
        claims = read.get("claims", dict | None, None)
        parsed = {
            "facts": FactSet.from_dict(read.get("facts", dict)),
            "claims": None if claims is None else FactSet.from_dict(claims),
            "signature": ScoreSignature.parse(read.get("signature", str)),
        }
        return from_plain(cls, {**data, **parsed}, "report")

    @classmethod
    def from_json(cls, text: str | bytes) -> CoverageReport:
        """Inverse of `to_json`.

        Raises:
            InputError: Not JSON, or not a report.
        """
        return cls.from_dict(parse_json(text, "report").value)

    def page(self, n_key: int = 0) -> Page:
        """Describe the report.

        Args:
            n_key: Number of the heaviest facts to list first, kept or not.
        """
        from factcheck.facts.page import coverage_page, unread_warning
        from factcheck.reports.page import Alert

        page = coverage_page(
            self.results,
            None if self.claims is None else self.claim_results,
            {name: (one.share, one.counts) for name, one in self.by_document.items()},
            self.usage,
            self.signature,
            trust_lines(str(self.signature), self.judge_quality),
            n_key,
        )
        if self.texts is None:
            return page
        if not self.texts.summary.text.strip():
            page = page._replace(answer="The summary is empty, so nothing is kept.", trust=())
        unread = [unread_warning(self.facts, one.text) for one in self.texts.documents]
        alerts = (Alert(text, "warn") for text in filter(None, unread))
        texts = self.texts.marked(self.facts.source_digest, self.results, self.claim_results)
        return page._replace(texts=texts, alerts=(*page.alerts, *alerts))


def no_score(report: CoverageReport) -> JudgeError:
    """Say why a report has no score."""
    failures = report.undecided
    if not failures:
        return JudgeError("no score: every fact of this source has weight 0")
    n_undecided = len(failures)
    return JudgeError(f"no score: {n_undecided} undecided, the first: {failures[0].message}")


def _numbers(share: Share) -> dict[str, Any]:
    return {
        "score": share.value,
        "low": share.low,
        "high": share.high,
        "interval": list(share.interval) if share.interval else None,
        "expected": share.expected,
    }


def _match(facts: FactSet, results: Sequence[CheckResult], what: str) -> None:
    if list(facts) != [result.fact for result in results]:
        raise InputError(
            f"a report needs one result per {what}, in order: "
            f"{len(facts)} {what}s, {len(results)} results"
        )
