"""The audit of a judge: errors that are proven without labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from itertools import chain
from typing import Any

from factcheck.calibration.audit_report import Answers, AuditReport
from factcheck.calibration.audit_trials import AuditText, Question, Trial, trials_of
from factcheck.calibration.bullets_summary import split_bullets
from factcheck.calibration.judges import blocking, check_texts, named_judges
from factcheck.calibration.texts import BundledText, load_texts
from factcheck.errors import InputError
from factcheck.facts import CheckResult, FactSet
from factcheck.judges.ports import ExtractorSpec, JudgeSpec
from factcheck.records import Record, as_record
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import together
from factcheck.scoring import FactCoverage

PER_RULE = 8
Text = AuditText | BundledText | Record | Mapping[str, Any]


async def aaudit_judge(
    judge: JudgeSpec | Mapping[str, JudgeSpec] = "local",
    texts: Iterable[Text] | None = None,
    *,
    extractor: ExtractorSpec | None = None,
    budget: Budget | None = None,
    per_rule: int = PER_RULE,
    seed: int = 0,
    answered: Callable[[], None] = lambda: None,
) -> AuditReport:
    """Look for answers of a judge that are certainly wrong, without labels.

    The judge is asked about variants of summaries and of facts whose effect on the verdict is known
    (see `RULES`). Each broken rule is a proven error: at least one of the answers is wrong. A rule
    that is kept proves nothing about single answers. The cache is not used.

    Args:
        judge: Anything `FactCoverage` takes as a judge, or a mapping of one name to it.
        texts: Records (or mappings) with `source`, `summary` and optionally `id` and `facts`, which
            are extracted where they are missing. The bundled texts if `None`.
        extractor: Extracts missing facts; as in `FactCoverage`.
        budget: Limits; questions beyond it are undecided.
        per_rule: Facts of each text that get questions of their own, for each rule that needs them,
            1 to 100. About 20 questions concern all facts of a text, and at most six times
            `per_rule` concern one.
        seed: Random seed.
        answered: Called after each question.

    Raises:
        InputError: A text or an argument is invalid.
        ConfigError: The judge is unknown, or a key is missing.
        JudgeError: Facts could not be extracted.
    """
    if isinstance(per_rule, bool) or not 1 <= per_rule <= 100:  # noqa: PLR2004 - as documented
        raise InputError(f"per_rule must be 1 to 100, not {per_rule!r}")
    ((name, spec),) = named_judges(judge if isinstance(judge, Mapping) else [judge])
    given = list(load_texts() if texts is None else texts)
    if not given:
        raise InputError("there are no texts to audit the judge on")
    async with AsyncExitStack() as stack:
        lister = await stack.enter_async_context(FactCoverage(extractor=extractor, cache="off"))
        audited = [await _text(text, number, lister) for number, text in enumerate(given, 1)]
        trials = list(chain.from_iterable(trials_of(text, per_rule, seed) for text in audited))
        scorer = await stack.enter_async_context(FactCoverage(spec, cache="off", budget=budget))
        answers = await _answers(scorer, trials, answered)
        usage = scorer.ledger.usage
    return AuditReport.of(name, len(audited), trials, answers, usage)


audit_judge = blocking(aaudit_judge)


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


async def _answers(
    scorer: FactCoverage, trials: Iterable[Trial], answered: Callable[[], None]
) -> Answers:
    """The judge's answer to every question of the trials, each asked once.

    Questions about one text are asked in sequence: asked at once, a fact that several of them share
    would be checked only once.
    """
    needed = (one for trial in trials for one in (trial.first, trial.second) if one is not None)
    rounds: list[list[Question]] = []
    n_asked: Counter[str] = Counter()
    for question in dict.fromkeys(needed):
        if n_asked[question.text] == len(rounds):
            rounds.append([])
        rounds[n_asked[question.text]].append(question)
        n_asked[question.text] += 1

    async def one(question: Question) -> Mapping[str, CheckResult]:
        results = await check_texts(scorer, question.facts, question.text)
        answered()
        return {result.fact.text: result for result in results}

    answers: dict[Question, Mapping[str, CheckResult]] = {}
    for questions in rounds:
        answers |= zip(questions, await together(map(one, questions)), strict=True)
    return answers
