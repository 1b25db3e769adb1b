"""Keywords that tell good output from bad, fast and free: cards with F1, behaviours with labels.

Nothing here asks a model. A keyword that occurs is not yet understood: these scores find what
was left out, not what was got wrong.
"""

from factcheck.keywords.behaviors import classify_behavior, classify_behaviors
from factcheck.keywords.cards import ExpectedCard
from factcheck.keywords.comparator import KeywordComparator
from factcheck.keywords.comparison import CaseChange, Difference, KeywordComparison, compare_runs
from factcheck.keywords.datasets import load_dataset, load_outputs
from factcheck.keywords.evaluation import CardEvaluator, evaluate_dataset
from factcheck.keywords.forms import AnyOf, Folded, Keyword, Not, Regex, Word
from factcheck.keywords.guides import AMBIGUOUS, NO_MATCH, Behavior, Guide
from factcheck.keywords.lint import LintFinding, lint_guides
from factcheck.keywords.matching import CardMatcher, match_cards
from factcheck.keywords.metrics import Scores
from factcheck.keywords.model import EvalCase, EvalDataset
from factcheck.keywords.results import CaseFailure, CaseResult, DatasetResult, Match, Missed
from factcheck.keywords.settings import MatchSettings
from factcheck.keywords.similarity import Weights, keyword_similarity, score_pair
from factcheck.keywords.suite_files import load_cases, load_responses
from factcheck.keywords.suite_model import BehaviorCase
from factcheck.keywords.suite_results import BehaviorCaseResult, BehaviorRun, Outcome
from factcheck.keywords.suites import aevaluate_behaviors, evaluate_behaviors

__all__ = [
    "AMBIGUOUS",
    "NO_MATCH",
    "AnyOf",
    "Behavior",
    "BehaviorCase",
    "BehaviorCaseResult",
    "BehaviorRun",
    "CardEvaluator",
    "CardMatcher",
    "CaseChange",
    "CaseFailure",
    "CaseResult",
    "DatasetResult",
    "Difference",
    "EvalCase",
    "EvalDataset",
    "ExpectedCard",
    "Folded",
    "Guide",
    "Keyword",
    "KeywordComparator",
    "KeywordComparison",
    "LintFinding",
    "Match",
    "MatchSettings",
    "Missed",
    "Not",
    "Outcome",
    "Regex",
    "Scores",
    "Weights",
    "Word",
    "aevaluate_behaviors",
    "classify_behavior",
    "classify_behaviors",
    "compare_runs",
    "evaluate_behaviors",
    "evaluate_dataset",
    "keyword_similarity",
    "lint_guides",
    "load_cases",
    "load_dataset",
    "load_outputs",
    "load_responses",
    "match_cards",
    "score_pair",
]
