"""What did this summary lose? Atomic facts, one verdict each, and a score with its reasons."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factcheck.errors import (
        BudgetExceeded,
        ConfigError,
        FactcheckError,
        Failure,
        InputError,
        JudgeError,
        JudgeOutputError,
        JudgeRateLimited,
        JudgeRefused,
        JudgeRejected,
        JudgeTruncated,
        JudgeUnavailable,
        PromptError,
    )
    from factcheck.facts import (
        AtomicFact,
        CheckFailure,
        CheckResult,
        CoverageReport,
        EntailmentLabel,
        Evidence,
        FactSet,
        RunSummary,
        ScoreSignature,
        Usage,
        Verdict,
    )
    from factcheck.judges.llm.modules import FactChecker, KeyFactExtraction, SemanticEquivalence
    from factcheck.judges.llm.modules_summaries import LLMJudge, Summarizer
    from factcheck.judges.ports import (
        Checker,
        Extractor,
        Ledger,
        PairJudge,
        PairVerdict,
        Rater,
        Rating,
        ValuePair,
    )
    from factcheck.records import Record, read_records
    from factcheck.runtime.budget import Budget
    from factcheck.runtime.retry import RetryPolicy
    from factcheck.runtime.session import Session
    from factcheck.scoring import (
        FactCoverage,
        RecordFailure,
        acheck,
        aextract,
        ascore,
        check,
        extract,
        score,
    )

_HOMES = {
    "factcheck.errors": (
        "BudgetExceeded",
        "ConfigError",
        "FactcheckError",
        "Failure",
        "InputError",
        "JudgeError",
        "JudgeOutputError",
        "JudgeRateLimited",
        "JudgeRefused",
        "JudgeRejected",
        "JudgeTruncated",
        "JudgeUnavailable",
        "PromptError",
    ),
    "factcheck.records": ("Record", "read_records"),
    "factcheck.facts": (
        "AtomicFact",
        "CheckFailure",
        "CheckResult",
        "CoverageReport",
        "EntailmentLabel",
        "Evidence",
        "FactSet",
        "RunSummary",
        "ScoreSignature",
        "Usage",
        "Verdict",
    ),
    "factcheck.judges.llm.modules": (
        "FactChecker",
        "KeyFactExtraction",
        "SemanticEquivalence",
    ),
    "factcheck.judges.llm.modules_summaries": ("LLMJudge", "Summarizer"),
    "factcheck.judges.ports": (
        "Checker",
        "Extractor",
        "Ledger",
        "PairJudge",
        "PairVerdict",
        "Rater",
        "Rating",
        "ValuePair",
    ),
    "factcheck.runtime.budget": ("Budget",),
    "factcheck.runtime.retry": ("RetryPolicy",),
    "factcheck.runtime.session": ("Session",),
    "factcheck.scoring": (
        "FactCoverage",
        "RecordFailure",
        "acheck",
        "aextract",
        "ascore",
        "check",
        "extract",
        "score",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AtomicFact",
    "Budget",
    "BudgetExceeded",
    "CheckFailure",
    "CheckResult",
    "Checker",
    "ConfigError",
    "CoverageReport",
    "EntailmentLabel",
    "Evidence",
    "Extractor",
    "FactChecker",
    "FactCoverage",
    "FactSet",
    "FactcheckError",
    "Failure",
    "InputError",
    "JudgeError",
    "JudgeOutputError",
    "JudgeRateLimited",
    "JudgeRefused",
    "JudgeRejected",
    "JudgeTruncated",
    "JudgeUnavailable",
    "KeyFactExtraction",
    "LLMJudge",
    "Ledger",
    "PairJudge",
    "PairVerdict",
    "PromptError",
    "Rater",
    "Rating",
    "Record",
    "RecordFailure",
    "RetryPolicy",
    "RunSummary",
    "ScoreSignature",
    "SemanticEquivalence",
    "Session",
    "Summarizer",
    "Usage",
    "ValuePair",
    "Verdict",
    "acheck",
    "aextract",
    "ascore",
    "check",
    "extract",
    "read_records",
    "score",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package stays cheap."""
    if name == "__version__":
        from importlib.metadata import version

        return version("factcheck")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
