"""How far to trust a judge: bullet removal, audit and agreement as one page and one card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import count
from typing import Any

from factcheck.calibration import conclusions
from factcheck.calibration.agreement_labels import LabelledPair
from factcheck.calibration.agreement_run import AgreementReport, check_pairs, report_agreement
from factcheck.calibration.audit import AuditReport, answers_to, audited
from factcheck.calibration.audit_trials import Question, Trial, trials_of
from factcheck.calibration.bullets import BulletRemoval, by_coverage, score_variants
from factcheck.calibration.bullets_metrics import VariantRow
from factcheck.calibration.texts import Text, named_judges, read_subjects, removal_orders
from factcheck.facts import CheckResult, Usage
from factcheck.judges.local.containment import BASELINE, WordContainment
from factcheck.judges.ports import JudgeSpec
from factcheck.reports import Report
from factcheck.reports.page import Page, entries
from factcheck.reports.text import plural
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking
from factcheck.runtime.session import Session
from factcheck.scoring import FactCoverage
from factcheck.scoring.card import JudgeCard
from factcheck.settings import Settings

_PER_RULE = 2
"""Facts per text that each rule of the audit is tried on."""


@dataclass(frozen=True, repr=False)
class TrustReport(Report):
    """What was measured of a judge, and its card."""

    card: JudgeCard
    conclusion: conclusions.Conclusion
    bullets: BulletRemoval
    audit: AuditReport
    agreement: AgreementReport | None

    def to_dict(self) -> dict[str, Any]:
        """The card."""
        return self.card.to_dict()

    def page(self) -> Page:
        audit = self.audit.page()
        parts = [self.bullets.page(), audit]
        if self.agreement is not None:
            parts.append(self.agreement.page())
        cost = self.card.cost
        usd = cost["usd_per_1000_verdicts"]
        price = "unknown" if usd is None else f"${usd:.4f} for 1,000 verdicts"
        return Page(
            f"Trust in {self.card.judge}",
            counts=self.conclusion.head,
            lines=(f"Why: {self.conclusion.figures}",),
            footer=entries(
                ("Texts", self.card.texts),
                ("Signature", self.card.signature),
                ("Cost", f"{plural(cost['calls'], 'request')}; {price}" if cost["calls"] else ""),
            ),
            also=tuple(parts),
            suite="trust",
            cases=audit.cases,
        )


TEXT_STEPS = ("bullets", "audit")
"""What is measured of one text after the other; labels are one more step."""
Show = Callable[[int, int, Usage], object]
"""Called with the number of steps so far and of all, and the usage."""


async def aprice_trust(
    judge: JudgeSpec | None = None,
    texts: Sequence[Text] | None = None,
    pairs: Sequence[LabelledPair] = (),
) -> Usage:
    """An upper bound for what `atrust` spends, with the same arguments; nothing is sent.

    Replies in the cache cost nothing, and neither does an embedded judge.
    """
    from factcheck.judges.llm.engine import Meter

    meter = Meter()
    async with Session(transport=meter.around) as session:
        scorer = FactCoverage(judge, "local", session=session)
        if not scorer.judge_signature.never_flips:
            await _measure(scorer, "judge", texts, pairs)
    return meter.usage


async def atrust(
    judge: JudgeSpec | None = None,
    texts: Sequence[Text] | None = None,
    pairs: Sequence[LabelledPair] = (),
    *,
    name: str | None = None,
    budget: Budget | None = None,
    show: Show | None = None,
) -> TrustReport:
    """Measure a judge in three ways.

    Bullets are removed from the end and from the start; the audit tries each rule on two facts of a
    text, past the cache. Facts that the texts lack are listed by the embedded extractor, so that
    the judge under test does not choose them.

    Args:
        judge: As in `FactCoverage`.
        texts: As in `bullet_removal`; the bundled texts if `None`.
        pairs: Labelled pairs for the agreement, which is left out without any.
        name: Name of the judge in the report; derived from the judge if `None`.
        budget: Limits for everything together; what remains unanswered is missing.
        show: Called after each step.

    Raises:
        InputError: A text is invalid.
        ConfigError: The judge is unknown, or a key is missing.
    """
    if name is None:
        ((name, _),) = named_judges([judge or Settings.from_environment().judge])
    async with FactCoverage(judge, "local", budget=budget) as scorer:
        bullets, audit, agreement = await _measure(scorer, name, texts, pairs, show)
        usage, signature = scorer.ledger.usage, str(scorer.judge_signature)
    measured = [bullets.conclusion(name)]
    n_verdicts = audit.n_answers + sum(
        not label.startswith("?")
        for row in bullets.rows
        if row.judge == name
        for label in row.verdicts.values()
    )
    kind = "bundled text" if texts is None else "text"
    on = f"{plural(len(bullets.subjects), kind)}"
    if agreement is not None:
        own = agreement.judges[0]
        measured.append(own.conclusion)
        n_verdicts += own.n_pairs
        on += f", {plural(own.n_pairs, 'labelled fact')}"
    found = conclusions.merged(measured, audit.conclusion)
    usd = usage.cost_usd
    card = JudgeCard(
        judge=name,
        signature=signature,
        created=datetime.now(timezone.utc).date().isoformat(),
        texts=on,
        uses=found.to_dict()["uses"],
        conclusion=str(found),
        cost={
            **usage.to_dict(),
            "usd_per_1000_verdicts": None if usd is None else 1000 * usd / max(1, n_verdicts),
        },
        bullets={metric: one.to_dict() for metric, one in bullets.metrics(name).items()},
        audit={
            "faults": list(audit.faults),
            "rules": {
                rule.rule: {"tried": rule.n_tried, "broken": len(rule.errors)}
                for rule in audit.rules
            },
        },
        agreement=None if agreement is None else agreement.judges[0].to_dict(),
    )
    return TrustReport(card, found, bullets, audit, agreement)


async def _measure(
    scorer: FactCoverage,
    name: str,
    texts: Sequence[Text] | None,
    pairs: Sequence[LabelledPair],
    show: Show | None = None,
) -> tuple[BulletRemoval, AuditReport, AgreementReport | None]:
    subjects = await read_subjects(texts, scorer)
    orders = {one.name: removal_orders(len(one.bullets), 0) for one in subjects}
    scorers = [
        by_coverage(name, scorer),
        by_coverage(BASELINE, FactCoverage(WordContainment())),
    ]
    n_steps, steps = len(TEXT_STEPS) * len(subjects) + bool(pairs), count(1)

    def tell() -> None:
        if show is not None:
            show(next(steps), n_steps, scorer.ledger.usage)

    rows: list[VariantRow] = []
    trials: list[Trial] = []
    answers: dict[Question, Mapping[str, CheckResult]] = {}
    async with scorer.uncached() as fresh:
        for subject in subjects:
            rows += await score_variants(scorers, [subject], orders)
            tell()
            own = list(trials_of(subject, _PER_RULE))
            answers |= await answers_to(fresh, own)
            trials += own
            tell()
        audit = audited(name, trials, answers, fresh.ledger.usage)
    agreement = None
    if pairs:
        agreement = await report_agreement(pairs, {name: await check_pairs(scorer, pairs)})
        tell()
    return BulletRemoval(tuple(subjects), orders, tuple(rows)), audit, agreement


price_trust = blocking(aprice_trust)
trust = blocking(atrust)
