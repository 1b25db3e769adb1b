"""Mark facts, claims and evidence in the texts of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from factcheck.facts.model import CheckResult, Verdict
from factcheck.facts.signature import digest
from factcheck.facts.sources import SourceDocument, Texts, source_key
from factcheck.reports.page import Mark, MarkedText, RawText, Tone

_TONES: dict[str, Tone] = {"entailed": "good", "contradicted": "bad", "neutral": "warn"}
_Locate = Callable[[CheckResult, str], "tuple[int, int, Tone] | None"]


def marked_texts(
    texts: Texts,
    source_digest: str | None,
    results: Sequence[CheckResult],
    claim_results: Sequence[CheckResult],
) -> tuple[MarkedText, ...]:
    """Mark facts and claims in the source documents and the summary, in this order.

    A fact is marked at its span in the source and at its evidence in the summary; a claim at its
    span in the summary and at its evidence in the source. Spans that do not match the texts, such
    as those of facts from another version of the source, are omitted.
    """
    documents, marked = texts.documents, []
    digests = {digest(source_key(documents)), *(digest(first.text) for first in documents[:1])}
    stated = results if source_digest in {None, *digests} else ()
    for document in documents:
        id_ = document.id if len(documents) > 1 else ""
        marks = (
            *_marks("f", stated, document.text, _statement, id_),
            *_marks("c", claim_results, document.text, _evidence, id_),
        )
        marked.append(MarkedText("Source", document.id, RawText(document.text), marks))
    summary: SourceDocument = texts.summary
    marks = (
        *_marks("f", results, summary.text, _evidence),
        *_marks("c", claim_results, summary.text, _statement),
    )
    return (*marked, MarkedText("Summary", summary.id, RawText(summary.text), marks))


def _marks(
    prefix: str, results: Sequence[CheckResult], text: str, locate: _Locate, document: str = ""
) -> Iterator[Mark]:
    """Yield the marks of a text; in a `document`, only those of facts whose span refers to it."""
    for number, result in enumerate(results, 1):
        if document and result.fact.documents[:1] != (document,):
            continue
        if (found := locate(result, text)) is not None:
            start, end, tone = found
            yield Mark(start, end, f"{prefix}{number}", tone)


def _statement(result: CheckResult, text: str) -> tuple[int, int, Tone] | None:
    span = result.fact.span
    if span is None or span.end > len(text):
        return None
    return *span, _TONES[result.label] if isinstance(result, Verdict) else "unknown"


def _evidence(result: CheckResult, text: str) -> tuple[int, int, Tone] | None:
    if not isinstance(result, Verdict) or (evidence := result.evidence) is None:
        return None
    if text[evidence.start : evidence.end] != evidence.quote:
        return None
    tone = "plain" if result.label == "neutral" else _TONES[result.label]
    return evidence.start, evidence.end, tone
