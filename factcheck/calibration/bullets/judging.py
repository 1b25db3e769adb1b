"""From what a user names to what scores variants."""

from __future__ import annotations

from contextlib import AsyncExitStack

from factcheck.calibration.bullets.asking import CoverageOf, RatingOf, VariantScorer
from factcheck.calibration.containment import JUDGE as BASELINE
from factcheck.calibration.containment import WordContainment
from factcheck.calibration.naming import Judges, named
from factcheck.judges.factory import build_rater
from factcheck.runtime.budget import Budget
from factcheck.runtime.session import Session
from factcheck.scoring import FactCoverage

RATED = "(1-5)"
"""What stands behind the name of a rater in tables."""


async def coverage_scorers(
    judges: Judges, budget: Budget | None, stack: AsyncExitStack
) -> list[CoverageOf]:
    """Those that score by facts, and word containment, the baseline, at the end."""
    scorers = []
    for name, judge in named(judges):
        scorer = judge
        if not isinstance(judge, FactCoverage):
            scorer = await stack.enter_async_context(FactCoverage(judge, budget=budget))
        scorers.append(CoverageOf(name, scorer))
    return [*scorers, CoverageOf(BASELINE, FactCoverage(WordContainment()))]


def rating_scorers(
    raters: Judges, budget: Budget | None, stack: AsyncExitStack
) -> list[VariantScorer]:
    """Those that rate a variant as a whole."""
    scorers: list[VariantScorer] = []
    for name, rater in named(raters):
        session = Session(budget=budget)
        stack.push_async_callback(session.aclose)
        scorers.append(RatingOf(f"{name} {RATED}", build_rater(rater, session)))
    return scorers
