"""Facts, verdicts and coverage reports; no I/O, no clock, no environment."""

from factcheck.facts.coverage import Share, share_entailed
from factcheck.facts.model import (
    LABELS,
    AtomicFact,
    CheckFailure,
    CheckResult,
    EntailmentLabel,
    Evidence,
    FactSet,
    ScoreSignature,
    Span,
    Usage,
    Verdict,
    digest,
    free_ids,
    match_results,
    short_digest,
    strongest,
)
from factcheck.facts.report import CoverageReport
from factcheck.facts.sources import (
    Source,
    SourceDocument,
    Texts,
    as_source,
    locate,
    merge_documents,
    source_key,
    source_texts,
)

__all__ = [
    "LABELS", "AtomicFact", "CheckFailure", "CheckResult", "CoverageReport", "EntailmentLabel",
    "Evidence", "FactSet", "ScoreSignature", "Share", "Source", "SourceDocument", "Span", "Texts",
    "Usage", "Verdict", "as_source", "digest", "free_ids", "locate", "match_results",
    "merge_documents", "share_entailed", "short_digest", "source_key", "source_texts", "strongest",
]  # fmt: skip
