"""Keyword evaluation, fast and free: cards scored by F1, responses classified by behavior.

No model is called. Keywords can occur in a false statement, so these scores detect omissions, not
errors.
"""

from factcheck.keywords.behavior_runs import BehaviorRun
from factcheck.keywords.behaviors import (
    AMBIGUOUS,
    NO_MATCH,
    BehaviorCase,
    Guide,
    classify_behavior,
    load_cases,
    load_responses,
)
from factcheck.keywords.card_runs import DatasetResult
from factcheck.keywords.cards import (
    CardCase,
    CardDataset,
    ExpectedCard,
    load_dataset,
    load_outputs,
)
from factcheck.keywords.comparison import KeywordComparison, compare_runs
from factcheck.keywords.evaluation import (
    aevaluate_behaviors,
    aevaluate_dataset,
    evaluate_behaviors,
    evaluate_dataset,
)
from factcheck.keywords.forms import AnyOf, Folded, Not, Regex, Word
from factcheck.keywords.matching import (
    MatchSettings,
    keyword_similarity,
    match_cards,
    score_pair,
)
from factcheck.keywords.results import CaseResult

__all__ = [
    "AMBIGUOUS", "NO_MATCH", "AnyOf", "BehaviorCase", "BehaviorRun", "CardCase", "CardDataset",
    "CaseResult", "DatasetResult", "ExpectedCard", "Folded", "Guide", "KeywordComparison",
    "MatchSettings", "Not", "Regex", "Word", "aevaluate_behaviors", "aevaluate_dataset",
    "classify_behavior", "compare_runs", "evaluate_behaviors", "evaluate_dataset",
    "keyword_similarity", "load_cases", "load_dataset", "load_outputs", "load_responses",
    "match_cards", "score_pair",
]  # fmt: skip
