"""Places of the facts and claims of a report in its texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factcheck.facts.model import CheckResult, Evidence, Verdict
from factcheck.facts.signature import digest
from factcheck.facts.sources import SourceDocument, Texts, source_key
from factcheck.reports.page import Mark, MarkedText, RawText, Tone

_FACT_TONES: dict[str, Tone] = {"entailed": "good", "contradicted": "bad", "neutral": "warn"}
_CLAIM_TONES: dict[str, Tone] = {"entailed": "plain", "contradicted": "bad", "neutral": "warn"}


def marked_texts(
    texts: Texts,
    source_digest: str | None,
    results: Sequence[CheckResult],
    claim_results: Sequence[CheckResult],
) -> tuple[MarkedText, ...]:
    """The documents of the source, then the summary, with the places of facts and claims.

    A fact is marked where the source states it and where its evidence is in the summary; a claim
    where the summary makes it and where its evidence is in the source. Places that do not fit the
    texts are left out, such as those of facts that were taken from another version.
    """
    summary_marks = [
        *_evidence(results, "f", texts.summary, (), _FACT_TONES),
        *_spans(claim_results, "c", texts.summary, (), _CLAIM_TONES),
    ]
    is_current = _is_current(source_digest, texts)
    documents = []
    for document in texts.documents:
        marks = list(_evidence(claim_results, "c", document, texts.documents, _CLAIM_TONES))
        if is_current:
            marks += _spans(results, "f", document, texts.documents, _FACT_TONES)
        documents.append(MarkedText("Source", document.id, RawText(document.text), tuple(marks)))
    summary = texts.summary
    return (
        *documents,
        MarkedText("Summary", summary.id, RawText(summary.text), tuple(summary_marks)),
    )


def _is_current(known: str | None, texts: Texts) -> bool:
    documents = texts.documents
    if known is None or not documents:
        return True
    several = digest(source_key(documents))
    return known == several or (len(documents) == 1 and known == digest(documents[0].text))


def _spans(
    results: Sequence[CheckResult],
    prefix: str,
    text: SourceDocument,
    documents: Sequence[SourceDocument],
    tones: dict[str, Tone],
) -> Iterator[Mark]:
    """Where the statements stand in the text that makes them."""
    for number, result in enumerate(results, 1):
        span = result.fact.span
        if span and span.end <= len(text.text) and _is_in(result, text, documents):
            label = result.label if isinstance(result, Verdict) else ""
            yield Mark(*span, f"{prefix}{number}", tones.get(label, "unknown"))


def _evidence(
    results: Sequence[CheckResult],
    prefix: str,
    text: SourceDocument,
    documents: Sequence[SourceDocument],
    tones: dict[str, Tone],
) -> Iterator[Mark]:
    """Where the evidence is in the text that was checked."""
    for number, result in enumerate(results, 1):
        if not isinstance(result, Verdict) or not _is_in(result, text, documents):
            continue
        if (evidence := result.evidence) and _holds(text.text, evidence):
            tone = "plain" if result.label == "neutral" else tones[result.label]
            yield Mark(evidence.start, evidence.end, f"{prefix}{number}", tone)


def _holds(text: str, evidence: Evidence) -> bool:
    return bool(evidence.quote) and text[evidence.start : evidence.end] == evidence.quote


def _is_in(result: CheckResult, text: SourceDocument, documents: Sequence[SourceDocument]) -> bool:
    """Whether a span or evidence refers to this document, the first of the fact."""
    return len(documents) <= 1 or result.fact.documents[:1] == (text.id,)
