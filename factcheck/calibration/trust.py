"""How far to trust a judge: bullet removal, audit and agreement as one page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from typing import Any

from factcheck.calibration import conclusions
from factcheck.calibration.agreement import (
    AgreementReport,
    LabelledPair,
    check_pairs,
    report_agreement,
)
from factcheck.calibration.audit import AuditReport, answers_to, audited
from factcheck.calibration.audit_trials import trials_of
from factcheck.calibration.bullets import BulletRemoval, by_coverage, score_variants
from factcheck.calibration.texts import (
    Judge,
    Text,
    name_of,
    open_scorer,
    read_subjects,
    removal_orders,
)
from factcheck.documents import to_plain
from factcheck.facts import Usage
from factcheck.judges.local.containment import BASELINE, WordContainment
from factcheck.reports import Report
from factcheck.reports.page import Page, entries
from factcheck.reports.text import plural
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking
from factcheck.scoring import FactCoverage
from factcheck.settings import LOCAL, Settings

_PER_RULE = 2
"""Facts per text that each rule of the audit is tried on."""


@dataclass(frozen=True, repr=False)
class TrustReport(Report):
    """What was measured of a judge."""

    judge: str
    """Its name."""
    signature: str
    """Of the judge alone."""
    usage: Usage
    bullets: BulletRemoval
    audit: AuditReport
    agreement: AgreementReport | None

    @cached_property
    def conclusion(self) -> conclusions.Conclusion:
        """What the judge may be used for."""
        measured = [self.bullets.conclusion(self.judge)]
        if self.agreement is not None:
            measured.append(self.agreement.judges[0].conclusion)
        return conclusions.merged(measured, self.audit.conclusion)

    @property
    def texts(self) -> str:
        """What was measured on."""
        texts = plural(len(self.bullets.subjects), "text")
        n = 0 if self.agreement is None else self.agreement.judges[0].n_pairs
        if self.agreement:
            return f"{texts}, {plural(n, 'labelled fact')}"
        return texts

    @property
    def usd_per_1000(self) -> float | None:
        """Dollars per 1,000 verdicts; `None` if the price is unknown."""
        n_verdicts = self.audit.n_answers
        n_verdicts += 0 if self.agreement is None else self.agreement.judges[0].n_pairs
        for row in self.bullets.rows:
            if row.judge == self.judge:
                n_verdicts += sum(label[0] != "?" for label in row.verdicts.values())
        usd = self.usage.cost_usd
        if usd is None:
            return None
        return 1000 * usd / max(1, n_verdicts)

    def to_dict(self) -> dict[str, Any]:
        metrics = self.bullets.metrics(self.judge)
        rules = {
            rule.rule: {"tried": rule.n_tried, "broken": len(rule.errors)}
            for rule in self.audit.rules
        }
        return {
            "judge": self.judge,
            "signature": self.signature,
            "created": datetime.now(timezone.utc).date().isoformat(),
            "texts": self.texts,
            "uses": dict(self.conclusion.uses),
            "conclusion": str(self.conclusion),
            "cost": {**self.usage.to_dict(), "usd_per_1000_verdicts": self.usd_per_1000},
            "bullets": {metric: one.as_plain() for metric, one in metrics.items()},
            "audit": {"faults": list(self.audit.faults), "rules": rules},
            "agreement": to_plain(self.agreement and self.agreement.judges[0]),
        }

    def page(self) -> Page:
        audit = self.audit.page()
        parts = [self.bullets.page(), audit]
        if self.agreement is not None:
            parts.append(self.agreement.page())
        usd, n_calls = self.usd_per_1000, self.usage.calls
        price = "unknown" if usd is None else f"${usd:.4f} for 1,000 verdicts"
        return Page(
            f"Trust in {self.judge}",
            answer=self.conclusion.head,
            lines=(self.conclusion.figures,),
            footer=entries(
                ("Texts", self.texts),
                ("Signature", self.signature),
                ("Cost", f"{plural(n_calls, 'request')}; {price}" if n_calls else ""),
            ),
            also=tuple(parts),
            suite="trust",
            cases=audit.cases,
        )


async def atrust(
    judge: Judge | None = None,
    texts: Iterable[Text] | None = None,
    pairs: Sequence[LabelledPair] = (),
    *,
    name: str | None = None,
    budget: Budget | None = None,
) -> TrustReport:
    """Measure a judge in three ways.

    Bullets are removed from the end and from the start; the audit tries each rule on two facts of a
    text, past the cache.

    Args:
        judge: Anything `FactCoverage` takes as a judge, or a new `FactCoverage`.
        texts: As in `bullet_removal`; the bundled texts if `None`.
        pairs: Labelled pairs for the agreement, which is left out without any.
        name: Name of the judge in the report; derived from the judge if `None`.
        budget: Limits for everything together; what remains unanswered is missing.

    Raises:
        InputError: A text is invalid.
        ConfigError: The judge is unknown, or a key is missing.
    """
    judge = judge or Settings.from_environment().judge
    name = name or name_of(judge)
    subjects = await read_subjects(texts)
    orders = {one.name: removal_orders(len(one.bullets), 0) for one in subjects}
    trials = [trial for one in subjects for trial in trials_of(one, _PER_RULE)]
    agreement = None
    async with AsyncExitStack() as stack:
        scorer = await open_scorer(judge, budget, stack)
        fresh = await stack.enter_async_context(scorer.uncached())
        words = by_coverage(BASELINE, FactCoverage(WordContainment(), LOCAL))
        rows = await score_variants([by_coverage(name, scorer), words], subjects, orders)
        answers = await answers_to(fresh, trials)
        if pairs:
            agreement = await report_agreement(pairs, {name: await check_pairs(scorer, pairs)})
        audit = audited(name, trials, answers, fresh.ledger.usage)
        return TrustReport(
            name,
            str(scorer.judge_signature),
            scorer.ledger.usage,
            BulletRemoval(tuple(subjects), orders, tuple(rows)),
            audit,
            agreement,
        )


trust = blocking(atrust)
