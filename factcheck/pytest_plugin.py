"""pytest plugin: the fixture `assert_coverage`, with one judge, cache and budget per session."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from os import PathLike
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from factcheck.facts import AtomicFact, CoverageReport, FactSet, Source
    from factcheck.judges.ports import JudgeSpec
    from factcheck.runtime.budget import Budget
    from factcheck.scoring import FactCoverage


@pytest.fixture(scope="session")
def factcheck_judge() -> JudgeSpec | None:
    """Choose the judge of `assert_coverage`; override in `conftest.py`. `None`: the default."""
    return None


@pytest.fixture(scope="session")
def factcheck_budget() -> Budget | None:
    """Limit the spending of the whole session; override in `conftest.py`.

    With pytest-xdist, each worker gets an equal share.
    """
    return None


@pytest.fixture(scope="session")
def factcheck_scorer(
    factcheck_judge: JudgeSpec | None, factcheck_budget: Budget | None
) -> Iterator[FactCoverage]:
    """Open the scorer behind `assert_coverage`; all workers share the response cache."""
    from factcheck.scoring import FactCoverage

    n_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    with FactCoverage(factcheck_judge, budget=_divided(factcheck_budget, n_workers)) as scorer:
        yield scorer


def _divided(budget: Budget | None, n: int) -> Budget | None:
    if budget is None:
        return None
    shares = {}
    for name, cap in asdict(budget).items():
        if cap is not None:
            shares[name] = cap / n if name == "max_cost_usd" else cap // n
    return replace(budget, **shares)


@pytest.fixture(scope="session")
def assert_coverage(factcheck_scorer: FactCoverage) -> Callable[..., CoverageReport]:
    """Return a function that asserts: `assert_coverage(source, summary, min=0.8, must=[...])`."""

    def check(
        source: Source,
        summary: str,
        *,
        min: float | None = None,  # noqa: A002 - reads well at the call site
        must: Sequence[str] = (),
        max_distorted: int | None = None,
        facts: FactSet | Iterable[AtomicFact | str] | str | PathLike[str] | None = None,
    ) -> CoverageReport:
        """Score a summary and return the report if it passes.

        Args:
            source: A text or documents, as in `factcheck.score`.
            summary: The text under test.
            min: Minimum score, in [0, 1].
            must: Facts that have to be kept: ids of `facts`, or statements. Statements that are
                not among the facts are checked as well, with weight 0.
            max_distorted: Maximum number of distorted facts.
            facts: Facts to check, or their `.txt`, `.json` or `.yaml` file; `None`: extract them
                from the source.

        Raises:
            AssertionError: The gate failed; the message has the reason and the facts behind it, the
                five most important ones with their evidence.
            InputError: An argument is invalid, or there is nothing to assert.
            JudgeError: The judge could not be reached.
        """
        __tracebackhide__ = True
        from factcheck.errors import InputError
        from factcheck.facts import FactSet
        from factcheck.records import read_facts
        from factcheck.scoring.gates import NO_LIMITS, Limits, coverage_gate, failing_facts, settled

        if min is not None and not 0.0 <= min <= 1.0:
            raise InputError(f"min is {min:g}; expected 0 to 1")
        if isinstance(facts, (str, PathLike)):
            facts = read_facts(facts)
        limits = Limits(min, max_distorted)
        known = factcheck_scorer.extract(source) if facts is None else FactSet.of(facts)
        known = _with_musts(known, must)
        if limits == NO_LIMITS and not any(fact.must for fact in known):
            raise InputError("nothing is asserted; give min, must or max_distorted")
        report = factcheck_scorer.score(source, summary, facts=known)
        report = settled(factcheck_scorer, report, limits)
        failure = coverage_gate(report, limits)
        if failure is not None:
            lines = failure.message, report.page().first_line, failing_facts(failure)
            raise AssertionError("\n\n".join(filter(None, lines)))
        return report

    return check


def _with_musts(facts: FactSet, must: Sequence[str]) -> FactSet:
    """Mark facts as `must` by id or text; add the remaining statements with weight 0."""
    from factcheck.errors import InputError
    from factcheck.facts import AtomicFact, free_ids

    if isinstance(must, str):
        raise InputError("must is a list of ids or statements; put the string in a list")
    marked = [
        replace(fact, must=fact.must or not {fact.id, fact.text}.isdisjoint(must)) for fact in facts
    ]
    known = {name for fact in facts for name in (fact.id, fact.text)}
    new = [statement for statement in must if statement not in known]
    ids = free_ids([*(fact.id for fact in facts), *(None for _ in new)])[len(facts) :]
    added = (
        AtomicFact(id_, text, weight=0.0, must=True) for id_, text in zip(ids, new, strict=True)
    )
    return replace(facts, facts=(*marked, *added))
