"""Bullet removal: take bullets out of summaries one by one, and see whether the score follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from typing import Any

from factcheck.calibration.bullets.asking import CoverageOf, Done, VariantScorer, ask
from factcheck.calibration.bullets.judging import coverage_scorers, rating_scorers
from factcheck.calibration.bullets.orders import removal_orders
from factcheck.calibration.bullets.results import BulletRemoval
from factcheck.calibration.bullets.rows import VariantRow
from factcheck.calibration.bullets.splitting import split_bullets
from factcheck.calibration.bullets.subjects import Subject, bundled_subject, with_evidence
from factcheck.calibration.naming import Judges, refuse_doubles
from factcheck.calibration.texts import BundledText, load_texts
from factcheck.datasets import Record, as_record
from factcheck.errors import InputError
from factcheck.facts import FactSet
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import background
from factcheck.scoring import FactCoverage

Text = BundledText | Record | Mapping[str, Any]


def bullet_removal(
    texts: Iterable[Text] | None = None,
    judges: Judges = ("local",),
    *,
    raters: Judges = (),
    extractor: Any = None,
    budget: Budget | None = None,
    n_random: int = 4,
    seed: int = 0,
    answered: Done = lambda: None,
) -> BulletRemoval:
    """Take the bullets out of each summary one by one, and score what is left with each judge.

    They go from the end, from the start and in random orders; every variant is scored by itself.
    Word containment is always asked, too: it is the baseline.

    Args:
        texts: The bundled texts if `None`; else records (or mappings) with `source`, `summary`
            and, if there are any, `id` and `facts`. Facts that are not given are extracted.
        judges: Who scores by facts: what `FactCoverage` takes as a judge, or a `FactCoverage`
            itself; a mapping gives them names.
        raters: Who rates a variant as a whole from 1 to 5, in one call: `"PROVIDER/MODEL"`, a
            `dspy.BaseLM`, or an object with the `Rater` port; a mapping gives them names.
        extractor: Who lists facts that are not given; as in `FactCoverage`.
        budget: Caps on what each judge may spend; what it leaves unasked is missing.
        n_random: Random orders for each text, beside from the end and from the start.
        seed: Of the random orders.
        answered: Called after each answer.

    Raises:
        InputError: A text is unusable: blank, without facts, or named twice; or a judge is.
        ConfigError: A judge is not known, or a key is missing.
        JudgeError: Facts could not be extracted, or a judge turned every request down.
    """
    return background.run(
        abullet_removal(
            texts,
            judges,
            raters=raters,
            extractor=extractor,
            budget=budget,
            n_random=n_random,
            seed=seed,
            answered=answered,
        )
    )


async def abullet_removal(
    texts: Iterable[Text] | None = None,
    judges: Judges = ("local",),
    *,
    raters: Judges = (),
    extractor: Any = None,
    budget: Budget | None = None,
    n_random: int = 4,
    seed: int = 0,
    answered: Done = lambda: None,
) -> BulletRemoval:
    """Asynchronous form of `bullet_removal`."""
    async with AsyncExitStack() as stack:
        coverage = await coverage_scorers(judges, budget, stack)
        rating = rating_scorers(raters, budget, stack)
        scorers: list[VariantScorer] = [*coverage[:-1], *rating, coverage[-1]]
        refuse_doubles("judge", [scorer.name for scorer in scorers])
        lister = await stack.enter_async_context(FactCoverage(extractor=extractor, budget=budget))
        given = load_texts() if texts is None else tuple(texts)
        if not given:
            raise InputError("there are no texts to take bullets out of")
        subjects = [
            await _subject(text, number, (n_random, seed), lister, coverage[0])
            for number, text in enumerate(given, 1)
        ]
        refuse_doubles("text", [subject.name for subject in subjects])
        rows: list[VariantRow] = []
        for scorer in scorers:
            for subject in subjects:
                rows += await ask(scorer, subject, answered)
    return BulletRemoval(tuple(subjects), tuple(rows))


async def _subject(
    text: Text, number: int, draws: tuple[int, int], lister: FactCoverage, first: CoverageOf
) -> Subject:
    if isinstance(text, BundledText):
        return bundled_subject(text, removal_orders(len(text.bullets), *draws))
    record = as_record(text, number)
    facts = await lister.aextract(record.source) if record.facts is None else record.facts
    bullets = split_bullets(record.summary)
    subject = Subject(
        name=record.id,
        source=record.source,
        bullets=bullets,
        facts=FactSet.of(facts),
        orders=removal_orders(len(bullets), *draws),
        carriers_from=first.name,
    )
    return with_evidence(subject, await first.report(subject))
