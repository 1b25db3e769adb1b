"""Places of the facts and claims of a report in its texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from factcheck.facts.model import CheckResult, Verdict
from factcheck.facts.signature import digest
from factcheck.facts.sources import SourceDocument, Texts, source_key
from factcheck.reports.page import Mark, MarkedText, RawText, Tone

_TONES: dict[str, Tone] = {"entailed": "good", "contradicted": "bad", "neutral": "warn"}
_Place = Callable[[CheckResult, str], "tuple[int, int, Tone] | None"]


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
    documents, marked = texts.documents, []
    digests = {digest(source_key(documents)), *(digest(one.text) for one in documents[:1])}
    stated = results if source_digest in {None, *digests} else ()
    for one in documents:
        of_one = one.id if len(documents) > 1 else ""
        marks = (
            *_marks("f", stated, one.text, _statement, of_one),
            *_marks("c", claim_results, one.text, _evidence, of_one),
        )
        marked.append(MarkedText("Source", one.id, RawText(one.text), marks))
    summary: SourceDocument = texts.summary
    marks = (
        *_marks("f", results, summary.text, _evidence),
        *_marks("c", claim_results, summary.text, _statement),
    )
    return (*marked, MarkedText("Summary", summary.id, RawText(summary.text), marks))


def _marks(
    prefix: str, results: Sequence[CheckResult], text: str, place: _Place, document: str = ""
) -> Iterator[Mark]:
    """The places in a text; of one of several documents, those of facts that it states first."""
    for number, result in enumerate(results, 1):
        if document and result.fact.documents[:1] != (document,):
            continue
        if (found := place(result, text)) is not None:
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
