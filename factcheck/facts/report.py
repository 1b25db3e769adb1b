"""The coverage report: every fact of a source, what became of it, and the score that follows.

Only the facts and the results are stored; whatever else a report says is computed from them, so
that a number can never disagree with the list behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from factcheck.documents import Reader, parse_json, shown, to_plain
from factcheck.errors import InputError
from factcheck.facts.coverage import Share, share_entailed
from factcheck.facts.model import CheckFailure, CheckResult, FactSet, Usage, Verdict
from factcheck.facts.signature import ScoreSignature
from factcheck.facts.sources import Texts
from factcheck.reports.report import Report
from factcheck.stats.intervals import Interval

if TYPE_CHECKING:
    from factcheck.reports.page import Page

_FORMAT = 1
Direction = Literal["coverage", "both"]
"""Whether a report has the source's facts in the summary alone, or the reverse, too."""


@dataclass(frozen=True, repr=False)
class CoverageReport(Report):
    """Which facts of a source a summary keeps, drops or distorts.

    Raises:
        InputError: The results are not exactly one per fact, in fact order.
    """

    facts: FactSet
    """The facts of the source."""
    results: tuple[CheckResult, ...]
    """One verdict or failure per fact, in fact order."""
    usage: Usage
    """What this report cost."""
    signature: ScoreSignature
    """How the score was made."""
    claims: FactSet | None = None
    """The claims of the summary; only with `direction="both"`."""
    claim_results: tuple[CheckResult, ...] = ()
    """One verdict or failure per claim, in claim order, with the source as the text."""
    texts: Texts | None = None
    """What was compared; `None` if it is not known."""
    lead: float | None = None
    """Score of the first sentences of the source at the length of the summary, by the same judge
    on the same facts, in [0, 1]; `None` if it was not computed."""
    judge_quality: str = ""
    """How well the judge agrees with human labels, in a few words; empty if that is not known."""

    def __post_init__(self) -> None:
        _match(self.facts, self.results, "fact")
        _match(self.claims or FactSet(()), self.claim_results, "claim")

    @property
    def share(self) -> Share:
        """Score, bounds and interval in one value."""
        return share_entailed(self.results)

    @property
    def score(self) -> float | None:
        """Weighted share of decided facts that are entailed, in [0, 1]; `None` if none decided."""
        return self.share.value

    @property
    def low(self) -> float:
        """The score if every undecided fact were dropped, in [0, 1]."""
        return self.share.low

    @property
    def high(self) -> float:
        """The score if every undecided fact were kept, in [0, 1]."""
        return self.share.high

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the score over the decided facts, as of `Share`; `None` where it is."""
        return self.share.interval

    @property
    def kept(self) -> tuple[Verdict, ...]:
        """Verdicts on facts the summary entails, in fact order."""
        return self._labelled("entailed")

    @property
    def distorted(self) -> tuple[Verdict, ...]:
        """Verdicts on facts the summary contradicts, in fact order."""
        return self._labelled("contradicted")

    @property
    def dropped(self) -> tuple[Verdict, ...]:
        """Verdicts on facts the summary does not mention, in fact order."""
        return self._labelled("neutral")

    @property
    def undecided(self) -> tuple[CheckFailure, ...]:
        """Facts without a verdict, in fact order; outside the score, inside `low` and `high`."""
        return tuple(r for r in self.results if isinstance(r, CheckFailure))

    @property
    def counts(self) -> dict[str, int]:
        """How many facts there are, and how many in each group."""
        groups = ("facts", "kept", "distorted", "dropped", "undecided")
        return {name: len(getattr(self, name)) for name in groups}

    @property
    def by_fact(self) -> dict[tuple[str, int], CheckResult]:
        """The result of each fact, by its text; equal texts differ by their count."""
        seen: Counter[str] = Counter()
        results = {}
        for result in self.results:
            text = result.fact.text
            results[text, seen[text]] = result
            seen[text] += 1
        return results

    def named(self, source: str, summary: str) -> CoverageReport:
        """The report with names for its texts, such as those of files; see `Texts.named`."""
        return replace(self, texts=self.texts and self.texts.named(source, summary))

    @property
    def by_document(self) -> dict[str, CoverageReport]:
        """For each document of the source, the report on its facts alone; without claims or usage.

        A fact that several documents state is in the report of each. Empty for a source of one
        text.
        """
        groups: dict[str, list[CheckResult]] = {name: [] for name in self.facts.documents}
        for result in self.results:
            for name in result.fact.documents:
                groups.setdefault(name, []).append(result)
        return {name: self._of_document(name, tuple(group)) for name, group in groups.items()}

    def _of_document(self, name: str, results: tuple[CheckResult, ...]) -> CoverageReport:
        facts = replace(
            self.facts, facts=tuple(result.fact for result in results), documents=(name,)
        )
        n_undecided = sum(isinstance(result, CheckFailure) for result in results)
        counts = {"facts": str(len(results)), "undecided": str(n_undecided)}
        signature = ScoreSignature.of({**dict(self.signature.entries), **counts})
        return CoverageReport(facts, results, Usage(), signature)

    @property
    def faithfulness(self) -> float | None:
        """Share of the summary's decided claims that the source entails, in [0, 1].

        `None` without `direction="both"`, without claims, or when none was decided.
        """
        return share_entailed(self.claim_results).value

    @property
    def superfluous(self) -> tuple[Verdict, ...]:
        """Verdicts on claims of the summary that the source does not entail, in claim order."""
        return tuple(r for r in self.claim_results if isinstance(r, Verdict) and not r.supported)

    @property
    def undecided_claims(self) -> tuple[CheckFailure, ...]:
        """Claims without a verdict, in claim order."""
        return tuple(r for r in self.claim_results if isinstance(r, CheckFailure))

    def _labelled(self, label: str) -> tuple[Verdict, ...]:
        return tuple(r for r in self.results if isinstance(r, Verdict) and r.label == label)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data. The computed numbers are included for other readers."""
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
            "lead": self.lead,
            "judge_quality": self.judge_quality,
            "texts": to_plain(self.texts),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CoverageReport:
        """Inverse of `to_dict`; the numbers are computed again from the results.

        Raises:
            InputError: The data is not a report, or not of this format.
        """
        read = Reader(data, "report")
        if data.get("format") != _FORMAT:
            raise InputError(
                f"report: format {shown(data.get('format'))} is not {_FORMAT}; "
                "it was written by another version or is not a factcheck report"
            )
        facts = FactSet.from_dict(read.get("facts", dict))
        claims = read.get("claims", dict | None, None)
        lists = (read.get(key, list[dict[str, Any]]) for key in ("results", "claim_results"))
        lead = read.get("lead", float | None, None)
        if lead is not None and not 0.0 <= lead <= 1.0:
            raise InputError(f"report: 'lead': expected a number from 0 to 1, got {shown(lead)}")
        results, claim_results = (
            tuple((Verdict if "label" in item else CheckFailure).from_dict(item) for item in items)
            for items in lists
        )
        return cls(
            facts,
            results,
            read.get("usage", Usage),
            ScoreSignature.parse(read.get("signature", str)),
            FactSet.from_dict(claims) if claims is not None else None,
            claim_results,
            read.get("texts", Texts | None, None),
            lead,
            read.get("judge_quality", str, ""),
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> CoverageReport:
        """Inverse of `to_json`.

        Raises:
            InputError: Not JSON, or not a report.
        """
        return cls.from_dict(parse_json(text, "report").value)

    def page(self) -> Page:
        from factcheck.facts.marks import marked_texts
        from factcheck.facts.page import coverage_page, scale_lines, with_documents

        claims = None if self.claims is None else self.claim_results
        page = coverage_page(self.results, claims, self.counts, self.usage, self.signature)
        page = with_documents(page, {name: one.results for name, one in self.by_document.items()})
        lines = (*page.lines, *scale_lines(self.lead, self.judge_quality))
        page = page._replace(lines=lines)
        if self.texts is None:
            return page
        source_digest = self.facts.source_digest
        texts = marked_texts(self.texts, source_digest, self.results, self.claim_results)
        return page._replace(texts=texts)


def _numbers(share: Share) -> dict[str, Any]:
    return {
        "score": share.value,
        "low": share.low,
        "high": share.high,
        "interval": list(share.interval) if share.interval else None,
    }


def _match(facts: FactSet, results: Sequence[CheckResult], what: str) -> None:
    if list(facts) != [result.fact for result in results]:
        raise InputError(
            f"a report needs one result per {what}, in order: "
            f"{len(facts)} {what}s, {len(results)} results"
        )
