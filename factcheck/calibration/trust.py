"""How far to trust a judge: bullet removal, audit and agreement as one page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from typing import Any

from factcheck.calibration import conclusions
from factcheck.calibration.agreement import AgreementReport, LabelledPair, aagreement
from factcheck.calibration.audit import AuditReport, aaudit_judge
from factcheck.calibration.bullets import BulletRemoval, abullet_removal
from factcheck.calibration.texts import Judge, Text, name_of, open_scorer, read_subjects
from factcheck.documents import to_plain
from factcheck.facts import Usage
from factcheck.facts.page import usage_text
from factcheck.reports import Report
from factcheck.reports.page import Page, entries
from factcheck.reports.text import plural
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking
from factcheck.settings import Settings

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
        if self.agreement is None:
            return texts
        return f"{texts}, {plural(self.agreement.judges[0].n_pairs, 'labelled fact')}"

    def to_dict(self) -> dict[str, Any]:
        rules = {
            rule.rule: {"tried": rule.n_tried, "broken": len(rule.errors)}
            for rule in self.audit.rules
        }
        data = {
            "judge": self.judge,
            "signature": self.signature,
            "created": datetime.now(timezone.utc).date().isoformat(),
            "texts": self.texts,
            "uses": self.conclusion.uses,
            "conclusion": str(self.conclusion),
            "cost": self.usage,
            "bullets": self.bullets.metrics(self.judge),
            "audit": {"faults": self.audit.faults, "rules": rules},
            "agreement": self.agreement and self.agreement.judges[0],
        }
        plain: dict[str, Any] = to_plain(data)
        return plain

    def page(self) -> Page:
        audit = self.audit.page()
        parts = [self.bullets.page(), audit]
        if self.agreement is not None:
            parts.append(self.agreement.page())
        return Page(
            f"Trust in {self.judge}",
            answer=self.conclusion.head,
            lines=(self.conclusion.figures,),
            footer=entries(
                ("Texts", self.texts),
                ("Signature", self.signature),
                ("Usage", usage_text(self.usage)),
            ),
            also=tuple(parts),
            suite="trust",
            columns=audit.columns,
            rows=audit.rows,
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
    agreement = None
    async with AsyncExitStack() as stack:
        scorer = await open_scorer(judge, budget, stack)
        bullets = await abullet_removal(subjects, {name: scorer}, n_random=0)
        audit = await aaudit_judge(scorer, subjects, name=name, per_rule=_PER_RULE)
        if pairs:
            agreement = await aagreement(pairs, {name: scorer})
        signature, usage = str(scorer.judge_signature), scorer.ledger.usage
    return TrustReport(name, signature, usage, bullets, audit, agreement)


trust = blocking(atrust)
