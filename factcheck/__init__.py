"""Find out what a summary lost: atomic facts, one verdict each, and a coverage score.

Three ways in:

- `factcheck.score(source, summary)` reports which facts the summary keeps, distorts or drops.
  `FactCoverage` has the same methods, reuses connections and scores streams of records;
  `factcheck.compare(a, b)` says which facts two reports or runs won, lost and newly distorted.
- `factcheck.calibration` measures a judge: `bullet_removal` (does the score fall with the
  information?), `audit_judge` (no labels needed) and `agreement` (with human labels).
- `factcheck.fields` evaluates extracted JSON field by field; its `SemanticComparator` compares
  values by meaning, there or in another field evaluator.

Also: `factcheck.keywords`, `factcheck.references`, and `factcheck.metrics` to run them together.
The default judge is embedded: no key, no model, no network. Functions with an `a` in front are the
asynchronous forms.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factcheck import calibration, errors, facts, fields, keywords, metrics, references, testing
    from factcheck.errors import FactcheckError
    from factcheck.facts import (
        AtomicFact,
        CheckFailure,
        CoverageReport,
        Evidence,
        FactSet,
        SourceDocument,
        Verdict,
    )
    from factcheck.judges.llm.modules import (
        FactChecker,
        KeyFactExtraction,
        LLMJudge,
        SemanticEquivalence,
        Summarizer,
    )
    from factcheck.judges.ports import Cascade
    from factcheck.records import Record
    from factcheck.records.facts import load_lock
    from factcheck.records.reading import read_records
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
        compare,
        extract,
        score,
    )
    from factcheck.settings import Model

__all__ = [
    "AtomicFact",
    "Budget",
    "Cascade",
    "CheckFailure",
    "CoverageReport",
    "Evidence",
    "FactChecker",
    "FactCoverage",
    "FactSet",
    "FactcheckError",
    "KeyFactExtraction",
    "LLMJudge",
    "Model",
    "Record",
    "RecordFailure",
    "RetryPolicy",
    "SemanticEquivalence",
    "Session",
    "SourceDocument",
    "Summarizer",
    "Verdict",
    "acheck",
    "aextract",
    "ascore",
    "calibration",
    "check",
    "compare",
    "errors",
    "extract",
    "facts",
    "fields",
    "keywords",
    "load_lock",
    "metrics",
    "read_records",
    "references",
    "score",
    "testing",
]

_HOMES = {
    "errors": "FactcheckError",
    "facts": "AtomicFact CheckFailure CoverageReport Evidence FactSet SourceDocument Verdict",
    "judges.llm.modules": "FactChecker KeyFactExtraction LLMJudge SemanticEquivalence Summarizer",
    "judges.ports": "Cascade",
    "records": "Record",
    "records.facts": "load_lock",
    "records.reading": "read_records",
    "runtime.budget": "Budget",
    "runtime.retry": "RetryPolicy",
    "runtime.session": "Session",
    "settings": "Model",
    "scoring": "FactCoverage RecordFailure acheck aextract ascore check compare extract score",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package stays cheap."""
    if name == "__version__":
        from importlib.metadata import version

        return version("factcheck")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _HOME_OF:
        return importlib.import_module(f"{__name__}.{name}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
