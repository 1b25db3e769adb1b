"""The audit: a judge held against itself, where the right direction is certain without labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

from factcheck.calibration.audit.asking import answers_to
from factcheck.calibration.audit.diagnosis import faults_of
from factcheck.calibration.audit.report import AuditReport, rule_results
from factcheck.calibration.audit.trials import AuditText, trials_of
from factcheck.calibration.bullets.splitting import split_bullets
from factcheck.calibration.naming import named
from factcheck.calibration.texts import BundledText, load_texts
from factcheck.datasets import Record, as_record
from factcheck.errors import InputError
from factcheck.facts import FactSet, Verdict
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import background
from factcheck.scoring import FactCoverage

PER_RULE = 8
Text = AuditText | BundledText | Record | Mapping[str, Any]


def audit_judge(
    judge: Any = "local",
    texts: Iterable[Text] | None = None,
    *,
    extractor: Any = None,
    budget: Budget | None = None,
    per_rule: int = PER_RULE,
    seed: int = 0,
    answered: Callable[[], None] = lambda: None,
) -> AuditReport:
    """Look for answers of a judge that are certainly wrong; no labels are needed.

    The judge is asked about variants of summaries and of facts for which the right direction is
    known (see `RULES`). Each broken rule is a proven error: at least one of the answers is wrong.
    That a rule is kept proves nothing about single answers. Answers are not taken from the cache.

    Args:
        judge: Who checks: what `FactCoverage` takes as a judge, or a mapping of one name to it.
        texts: The bundled texts if `None`; else records (or mappings) with `source`, `summary` and,
            if there are any, `id` and `facts`. Facts that are not given are extracted from the
            source.
        extractor: Who extracts them; as in `FactCoverage`.
        budget: Caps on what may be spent; what it leaves unasked is undecided.
        per_rule: Facts of each text that have questions of their own, for each rule that needs
            them, from 1 to 100. About 20 questions are about all facts of a text, and at most six
            times `per_rule` about one.
        seed: Of what is chosen at random.
        answered: Called after each question.

    Raises:
        InputError: A text cannot be used, or an argument.
        ConfigError: The judge is not known, or a key is missing.
        JudgeError: Facts could not be extracted.
    """
    return background.run(
        aaudit_judge(
            judge,
            texts,
            extractor=extractor,
            budget=budget,
            per_rule=per_rule,
            seed=seed,
            answered=answered,
        )
    )


async def aaudit_judge(
    judge: Any = "local",
    texts: Iterable[Text] | None = None,
    *,
    extractor: Any = None,
    budget: Budget | None = None,
    per_rule: int = PER_RULE,
    seed: int = 0,
    answered: Callable[[], None] = lambda: None,
) -> AuditReport:
    """Asynchronous form of `audit_judge`."""
    if isinstance(per_rule, bool) or not 1 <= per_rule <= 100:  # noqa: PLR2004 - as documented
        raise InputError(f"per_rule is a number from 1 to 100, not {per_rule!r}")
    ((name, spec),) = named(judge if isinstance(judge, Mapping) else [judge])
    given = list(load_texts() if texts is None else texts)
    if not given:
        raise InputError("there are no texts to audit the judge on")
    async with FactCoverage(extractor=extractor, cache="off") as lister:
        audited = [await _text(text, number, lister) for number, text in enumerate(given, 1)]
    trials = list(chain.from_iterable(trials_of(text, per_rule, seed) for text in audited))
    async with FactCoverage(spec, cache="off", budget=budget) as scorer:
        answers = await answers_to(scorer, trials, answered)
        usage = scorer.ledger.usage
    results = [result for replies in answers.values() for result in replies.values()]
    decided = [result for result in results if isinstance(result, Verdict)]
    failures = [result for result in results if not isinstance(result, Verdict)]
    share = sum(result.supported for result in decided) / len(decided) if decided else None
    rules = rule_results(trials, answers)
    return AuditReport(
        judge=name,
        n_texts=len(audited),
        n_questions=len(answers),
        n_answers=len(decided),
        share_entailed=share,
        rules=rules,
        faults=faults_of(rules, share),
        usage=usage,
        failure=failures[0].message if failures else "",
    )


async def _text(text: Text, number: int, lister: FactCoverage) -> AuditText:
    if isinstance(text, AuditText):
        return text
    if isinstance(text, BundledText):
        facts = tuple(fact.fact.text for fact in text.facts)
        return AuditText(text.name, text.bullets, facts, text.language)
    record = as_record(text, number)
    facts_given = await lister.aextract(record.source) if record.facts is None else record.facts
    facts = tuple(dict.fromkeys(fact.text for fact in FactSet.of(facts_given)))
    return AuditText(record.id, split_bullets(record.summary).texts, facts)
