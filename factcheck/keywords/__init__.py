"""Keyword evaluation, fast and free: cards scored by F1, responses classified by behavior.

No model is called. Keywords can occur in a false statement, so these scores detect omissions, not
errors.
"""

from factcheck.keywords.behaviors import (
    AMBIGUOUS,
    NO_MATCH,
    BehaviorCase,
    BehaviorRun,
    Guide,
    classify_behavior,
    evaluate_behaviors,
    evaluate_conflict_behavior,
    load_cases,
    load_responses,
)
from factcheck.keywords.cards import (
    CardCase,
    CardDataset,
    CardRun,
    CaseResult,
    ExpectedCard,
    evaluate_dataset,
    keyword_similarity,
    load_dataset,
    load_outputs,
    match_cards,
    score_pair,
)
from factcheck.keywords.forms import AnyOf, Folded, Not, Word
from factcheck.metrics import compare_runs

EvalCase, EvalDataset = CardCase, CardDataset
"""Other names of cases and datasets of cards."""

__all__ = [
    "AMBIGUOUS", "NO_MATCH", "AnyOf", "BehaviorCase", "BehaviorRun", "CardCase", "CardDataset",
    "CardRun", "CaseResult", "EvalCase", "EvalDataset", "ExpectedCard", "Folded", "Guide", "Not",
    "Word", "classify_behavior", "compare_runs",
    "evaluate_behaviors", "evaluate_conflict_behavior", "evaluate_dataset", "keyword_similarity",
    "load_cases", "load_dataset", "load_outputs", "load_responses", "match_cards", "score_pair",
]  # fmt: skip
