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
    from factcheck import calibration as calibration
    from factcheck import errors as errors
    from factcheck import facts as facts
    from factcheck import fields as fields
    from factcheck import keywords as keywords
    from factcheck import metrics as metrics
    from factcheck import references as references
    from factcheck import testing as testing
    from factcheck.errors import FactcheckError as FactcheckError
    from factcheck.facts import AtomicFact as AtomicFact
    from factcheck.facts import CheckFailure as CheckFailure
    from factcheck.facts import CoverageReport as CoverageReport
    from factcheck.facts import Evidence as Evidence
    from factcheck.facts import FactSet as FactSet
    from factcheck.facts import SourceDocument as SourceDocument
    from factcheck.facts import Verdict as Verdict
    from factcheck.judges.llm.modules import FactChecker as FactChecker
    from factcheck.judges.llm.modules import KeyFactExtraction as KeyFactExtraction
    from factcheck.judges.llm.modules import LLMJudge as LLMJudge
    from factcheck.judges.llm.modules import SemanticEquivalence as SemanticEquivalence
    from factcheck.judges.llm.modules import Summarizer as Summarizer
    from factcheck.judges.ports import Cascade as Cascade
    from factcheck.records import Record as Record
    from factcheck.records import read_facts as read_facts
    from factcheck.records import read_records as read_records
    from factcheck.runtime.budget import Budget as Budget
    from factcheck.runtime.deadline import deadline as deadline
    from factcheck.runtime.retry import RetryPolicy as RetryPolicy
    from factcheck.runtime.session import Session as Session
    from factcheck.scoring import FactCoverage as FactCoverage
    from factcheck.scoring import RecordFailure as RecordFailure
    from factcheck.scoring import acheck as acheck
    from factcheck.scoring import aextract as aextract
    from factcheck.scoring import ascore as ascore
    from factcheck.scoring import check as check
    from factcheck.scoring import compare as compare
    from factcheck.scoring import extract as extract
    from factcheck.scoring import score as score
    from factcheck.settings import Model as Model

_HOMES = {
    "": "calibration errors facts fields keywords metrics references testing",
    "errors": "FactcheckError",
    "facts": "AtomicFact CheckFailure CoverageReport Evidence FactSet SourceDocument Verdict",
    "judges.llm.modules": "FactChecker KeyFactExtraction LLMJudge SemanticEquivalence Summarizer",
    "judges.ports": "Cascade",
    "records": "Record read_facts read_records",
    "runtime.budget": "Budget",
    "runtime.deadline": "deadline",
    "runtime.retry": "RetryPolicy",
    "runtime.session": "Session",
    "settings": "Model",
    "scoring": "FactCoverage RecordFailure acheck aextract ascore check compare extract score",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = [*sorted(_HOME_OF)]  # noqa: PLE0604 - names, from the table


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package stays cheap."""
    if name == "__version__":
        from importlib.metadata import version

        return version("summary-factcheck")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not (home := _HOME_OF[name]):
        return importlib.import_module(f"{__name__}.{name}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
