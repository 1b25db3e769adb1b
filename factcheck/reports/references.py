"""What the report of a reference match says: the score, and how alike each reference is."""

from __future__ import annotations

from collections.abc import Sequence

from factcheck.references import ReferenceMatchResult
from factcheck.reports.content import Entry, usage_in_words
from factcheck.reports.fields import many
from factcheck.reports.pages.model import Item, Page, Section, filled, name_text, shown_text

_HOW = {"max": "the largest similarity", "mean": "the mean similarity"}


def references_report(result: ReferenceMatchResult, names: Sequence[str] = ()) -> Page:
    """The report of a match.

    Args:
        result: The match; it has a score.
        names: What the references are called; none: by their number.
    """
    score = result.score or 0.0
    verdict = "passed" if result.passed else "not passed"
    sign = "≥" if result.passed else "<"
    return Page(
        "Reference match",
        _shown(score, result.threshold),
        f"{verdict} ({sign} {result.threshold:g})",
        lines=(f"{_HOW[result.aggregation]} to {many(len(result.references), 'reference')}",),
        sections=filled(Section("References", meaning="* most alike", items=_items(result, names))),
        footer=tuple(
            entry
            for entry in (
                Entry("Usage", usage_in_words(result.usage)),
                Entry("Signature", str(result.signature)),
            )
            if entry.value
        ),
    )


def _shown(score: float, threshold: float) -> str:
    """A score with three decimals, or as many as it takes to see that it is below the threshold."""
    text = f"{score:.3f}"
    return repr(score) if score < threshold <= float(text) else text


def _items(result: ReferenceMatchResult, names: Sequence[str]) -> tuple[Item, ...]:
    items = []
    for place, (text, similarity) in enumerate(
        zip(result.references, result.similarities, strict=True)
    ):
        mark = "*" if place == result.best_index else " "
        name = name_text(names[place]) if names else f"reference {place + 1}"
        items.append(Item(f"{similarity:.3f} {mark}", name, (f"“{shown_text(text)}”",)))
    return tuple(items)
