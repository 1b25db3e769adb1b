"""Bullet removal: an honest score falls as bullets are removed from a summary one by one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from factcheck.calibration.bullets_metrics import VariantRow
from factcheck.calibration.bullets_report import BulletRemoval
from factcheck.calibration.judges import (
    Judge,
    Named,
    named_judges,
    open_scorer,
    require_unique,
)
from factcheck.calibration.texts import (
    BundledText,
    Subject,
    load_texts,
    removal_orders,
    split_bullets,
)
from factcheck.errors import Failure, InputError, JudgeError
from factcheck.facts import FactSet, source_texts
from factcheck.judges.factory import build_rater
from factcheck.judges.local.containment import BASELINE, WordContainment
from factcheck.judges.ports import HIGHEST, LOWEST, ExtractorSpec, Ledger, Rater, RaterSpec
from factcheck.records import Record, as_record
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking, together
from factcheck.runtime.session import Session
from factcheck.scoring import FactCoverage

Text = BundledText | Record | Mapping[str, Any]
RATED = "(1-5)"
"""Follows the name of a rater in tables."""


Scorer = Callable[[Subject, Sequence[frozenset[int]]], Coroutine[Any, Any, list[VariantRow]]]
"""Scores the summary of a subject with each of these sets of bullets."""


def _by_coverage(name: str, scorer: FactCoverage) -> Scorer:
    """Scores variants by the facts they keep, as many at once as the judge reads."""

    async def some_rows(subject: Subject, variants: Sequence[frozenset[int]]) -> list[VariantRow]:
        texts = [subject.bullets.kept(kept) for kept in variants]
        try:
            reports = await scorer.ascore_summaries("", texts, facts=subject.facts)
        except JudgeError as error:
            return [
                VariantRow(subject.name, name, kept, None, note=str(error)) for kept in variants
            ]
        return [
            VariantRow.of(subject.name, name, kept, report)
            for kept, report in zip(variants, reports, strict=True)
        ]

    async def rows(subject: Subject, variants: Sequence[frozenset[int]]) -> list[VariantRow]:
        size = scorer.summaries_per_call
        starts = range(0, len(variants), size)
        found = await together(some_rows(subject, variants[n : n + size]) for n in starts)
        return [row for some in found for row in some]

    return rows


def _by_rating(name: str, rater: Rater) -> Scorer:
    """Scores variants by one rating each from 1 to 5, rescaled to [0, 1]; without verdicts."""

    async def row(subject: Subject, kept: frozenset[int]) -> VariantRow:
        ledger = Ledger()
        rating = await rater.rate(subject.source, subject.bullets.kept(kept), ledger)
        place = (subject.name, name, kept)
        if isinstance(rating, Failure):
            return VariantRow(*place, None, note=rating.message, usage=ledger.usage)
        score = (rating.value - LOWEST) / (HIGHEST - LOWEST)
        note = f"rated {rating.value} of {HIGHEST}"
        return VariantRow(*place, score, score, score, note=note, usage=ledger.usage)

    async def rows(subject: Subject, variants: Sequence[frozenset[int]]) -> list[VariantRow]:
        return await together(row(subject, kept) for kept in variants)

    return rows


async def abullet_removal(
    texts: Iterable[Text] | None = None,
    judges: Named[Judge] = ("local",),
    *,
    raters: Named[RaterSpec] = (),
    extractor: ExtractorSpec | None = None,
    budget: Budget | None = None,
    n_random: int = 4,
    seed: int = 0,
) -> BulletRemoval:
    """Remove the bullets of each summary one by one, and score what is left with each judge.

    Bullets are removed from the end, from the start and in random orders; every variant is scored
    by itself, unless the judge has `summaries_per_call`. Word containment is always included as the
    baseline.

    Args:
        texts: Records (or mappings) with `source`, `summary` and optionally `id` and `facts`, which
            are extracted where they are missing. The bundled texts if `None`.
        judges: Judges that check facts: anything `FactCoverage` takes as a judge, or a
            `FactCoverage` itself; a mapping gives them names.
        raters: Judges that rate a variant as a whole from 1 to 5, in one call: `"PROVIDER/MODEL"`,
            a `dspy.BaseLM`, or an object with the `Rater` port; a mapping gives them names.
        extractor: Extracts missing facts; as in `FactCoverage`.
        budget: Limits for each judge; what remains unanswered is missing.
        n_random: Random orders for each text, 0 to 1,000.
        seed: Random seed of the orders.

    Raises:
        InputError: A text is blank, without facts, or a duplicate name; or a judge is invalid.
        ConfigError: A judge is unknown, or a key is missing.
        JudgeError: Facts could not be extracted, or a judge rejected every request.
    """
    async with AsyncExitStack() as stack:
        coverage = [
            (name, await open_scorer(judge, budget, stack)) for name, judge in named_judges(judges)
        ]
        coverage.append((BASELINE, FactCoverage(WordContainment())))
        scorers = [(name, _by_coverage(name, scorer)) for name, scorer in coverage]
        for name, rater in named_judges(raters):
            session = await stack.enter_async_context(Session(budget=budget))
            rated = f"{name} {RATED}"
            scorers.insert(-1, (rated, _by_rating(rated, build_rater(rater, session))))
        require_unique("judge", [name for name, _ in scorers])
        given = load_texts() if texts is None else tuple(texts)
        if not given:
            raise InputError("there are no texts to remove bullets from")
        lister = await stack.enter_async_context(FactCoverage(extractor=extractor, budget=budget))
        subjects = [
            await _subject(text, number, (n_random, seed), lister)
            for number, text in enumerate(given, 1)
        ]
        require_unique("text", [subject.name for subject in subjects])
        rows: list[VariantRow] = []
        for _, score in scorers:
            for subject in subjects:
                rows += await score(subject, subject.variants())
    return BulletRemoval(tuple(subjects), tuple(rows))


bullet_removal = blocking(abullet_removal)


async def _subject(
    text: Text, number: int, draws: tuple[int, int], lister: FactCoverage
) -> Subject:
    if isinstance(text, BundledText):
        return Subject.bundled(text, removal_orders(len(text.bullets), *draws))
    record = as_record(text, number)
    bullets = split_bullets(record.summary)
    facts = await lister.aextract(record.source) if record.facts is None else record.facts
    source = "\n\n".join(source_texts(record.source))
    orders = removal_orders(len(bullets), *draws)
    return Subject(record.id, source, bullets, FactSet.of(facts), orders)
