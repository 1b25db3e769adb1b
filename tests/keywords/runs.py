"""Small results to compare, save and sum up."""

from __future__ import annotations

from collections.abc import Mapping

from factcheck.errors import Failure
from factcheck.keywords import (
    BehaviorRun,
    CaseResult,
    DatasetResult,
    MatchSettings,
    evaluate_behaviors,
)
from factcheck.keywords.results import Match, Missed

GUIDE = {"strict_keywords": ["no", "refuse"], "service_keywords": ["yes", "gladly"]}


def case(case_id: str, n_matched: int, n_expected: int, n_generated: int) -> CaseResult:
    """A case whose first cards are pairs, each with a score of 0.5."""
    return CaseResult(
        case_id,
        n_expected,
        n_generated,
        tuple(Match(k, k, 0.5, {"text": 0.5}, None, {"text": ("x",)}) for k in range(n_matched)),
        tuple(Missed(k, None, 0.0) for k in range(n_matched, n_expected)),
        tuple(range(n_matched, n_generated)),
    )


def card_run(
    *cases: CaseResult | Failure[str],
    settings: MatchSettings | None = None,
    digests: Mapping[str, str] | None = None,
) -> DatasetResult:
    """A run of these cases."""
    scored = tuple(one for one in cases if isinstance(one, CaseResult))
    failures = tuple(one for one in cases if isinstance(one, Failure))
    ids = (one.subject if isinstance(one, Failure) else one.case_id for one in cases)
    found = dict.fromkeys(ids, "same") | dict(digests or {})
    settings = settings or MatchSettings()
    return DatasetResult("name", "1.0", scored, failures, settings, found, ("careful",))


def behavior_run(passing: Mapping[str, bool | None]) -> BehaviorRun:
    """A run in which the cases pass, fail or, for `None`, are errored."""
    cases = [{"id": name, "instruction": "May I?", "evaluation_guide": GUIDE} for name in passing]
    strict = {True: "no", False: "yes", None: None}
    return evaluate_behaviors(
        cases,
        {
            "strict": [strict[status] for status in passing.values()],
            "service": ["yes"] * len(passing),
        },
    )
