"""What a judge can be used for: one sentence by fixed rules from its figures, and their page.

A use is supported if the whole 95 % interval of every figure that it needs is on the right side of
its limit, excluded if a figure itself is on the wrong side, and open in between. With fewer than
`MIN_TEXTS` texts or documents, or `MIN_FACTS` labelled facts, every use is open: intervals from so
few are too narrow. docs/trust.md explains the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, NamedTuple

from factcheck.reports.page import Alert, Item, Page, Section, Table, filled
from factcheck.reports.text import DASH, one_line, percent, plural, share
from factcheck.stats.intervals import Estimate, Interval

Use = Literal["rank", "gate", "level"]
Answer = Literal["no", "open", "yes"]
USES: Mapping[Use, str] = {
    "rank": "ranking",
    "gate": "thresholds",
    "level": "absolute figures",
}
_ANSWERS: Sequence[Answer] = ("no", "open", "yes")
"""The worst first."""
_SAID = {"yes": "good for", "no": "not for", "open": "too little was measured for"}
MIN_TEXTS = 10
MIN_FACTS = 50
_MAX_RISES = 0.1


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What some measurements say about the uses of a judge."""

    DERIVED = ("text",)
    uses: Mapping[Use, Answer]
    """A use that was not measured is missing."""
    why: str
    """The figures behind it, and in brackets what they rest on."""

    @property
    def head(self) -> str:
        """What the judge is good for, in a sentence without figures."""
        if self.uses.get("rank") == "no":
            return "Do not use this judge."
        parts = []
        for answer, said in _SAID.items():
            names = [name for use, name in USES.items() if self.uses.get(use) == answer]
            if names:
                parts.append(f"{said} {_listed(names, 'and' if answer == 'yes' else 'or')}")
        text = "; ".join(parts) or "nothing here speaks against this judge"
        return f"{text[0].upper()}{text[1:]}."

    @property
    def figures(self) -> str:
        return f"{self.why[0].upper()}{self.why[1:]}."

    def __str__(self) -> str:
        return f"{self.head} {self.figures}"

    @property
    def text(self) -> str:
        return str(self)


def of_bullets(metrics: Mapping[str, Estimate], n_texts: int, limits: str) -> Conclusion:
    """Conclude from the metrics of bullet removal, on `n_texts` fully decided summaries.

    Without known facts, the bullets left stand for the facts left, and only ranking is measured.
    """
    enough = n_texts >= MIN_TEXTS
    limits += f"; at least {MIN_TEXTS} texts are needed" * (not enough)
    is_known = metrics["kendall"].value is not None
    order = metrics["kendall" if is_known else "kendall_bullets"]
    rises, found, invented = (metrics[name] for name in ("rising_steps", "found", "invented"))
    if rises.value is None:
        return Conclusion({"rank": "open"}, f"no bullet was removed and both scored ({limits})")
    ranks = _worst(_is_within(order, least=0.8), _is_within(rises, most=_MAX_RISES))
    left = "facts" if is_known else "bullets"
    why = f"rank correlation of the score with the {left} left {figure_text(order, share)}"
    if rises.value >= _MAX_RISES:
        why += f", and it rises at {figure_text(rises)} of the removals"
    if found.value is not None and invented.value is not None:
        why = f"{_kept_text(found, invented, 'present', 'absent')}; {why}"
    return Conclusion(_uses(ranks, found, invented, enough=enough), f"{why} ({limits})")


def of_agreement(metrics: Mapping[str, Estimate], n_facts: int, n_documents: int) -> Conclusion:
    """Conclude from the agreement with human labels."""
    accuracy, found = metrics["balanced_accuracy"], metrics["sensitivity"]
    specificity = metrics["specificity"]
    enough = n_documents >= MIN_TEXTS and n_facts >= MIN_FACTS
    limits = f"{plural(n_facts, 'labelled fact')} of {plural(n_documents, 'document')}"
    limits += f"; {MIN_FACTS} facts of {MIN_TEXTS} documents are needed" * (not enough)
    if accuracy.value is None or specificity.value is None:
        return Conclusion({"rank": "open"}, f"no verdicts on one of the two labels ({limits})")
    bounds = specificity.interval and Interval(*(1 - end for end in reversed(specificity.interval)))
    invented = Estimate(1 - specificity.value, bounds)
    why = (
        f"{_kept_text(found, invented, 'that people find', 'that they do not')}; balanced accuracy "
        f"{figure_text(accuracy, share)}"
    )
    uses = _uses(_is_within(accuracy, least=0.75), found, invented, enough=enough)
    return Conclusion(uses, f"{why} ({limits})")


def of_audit(faults: Sequence[str], n_trials: int, found: str, *, is_constant: bool) -> Conclusion:
    """Conclude from an audit, which can only exclude uses; `found` says what it rests on.

    Any fault excludes a gate; a judge that always answers the same is good for nothing.
    """
    if not n_trials:
        return Conclusion({"rank": "open"}, "it gave no answers")
    if not faults:
        why = f"no error is frequent, but an audit alone qualifies no judge ({found})"
        return Conclusion({}, why)
    excluded: Iterable[Use] = USES if is_constant else ("gate",)
    return Conclusion(dict.fromkeys(excluded, "no"), f"{'; '.join(faults)} ({found})")


def merged(measured: Sequence[Conclusion], faults: Conclusion) -> Conclusion:
    """Merge conclusions, in the figures of the last one: a use is as good as its worst answer."""
    every = (*measured, faults)
    uses: dict[Use, Answer] = {}
    for use in USES:
        answers = [one.uses[use] for one in every if use in one.uses]
        if answers:
            uses[use] = _worst(*answers)
    return Conclusion(uses, f"{measured[-1].why}; {faults.why}")


Metrics = Mapping[str, Estimate]
"""The metrics of one judge, by name."""


class Measurement(NamedTuple):
    """How the metrics of judges are shown."""

    name: str
    labels: Mapping[str, tuple[str, Callable[[float], str]]]
    """Label of each metric, and the form of its numbers: `percent` or `share`."""
    meaning: str
    """Explanation of the table."""


def judges_page(
    measurement: Measurement,
    counts: str,
    judges: Mapping[str, Metrics],
    conclusions: Mapping[str, Conclusion],
    *,
    more: Iterable[tuple[str, ...]] = (),
    notes: Iterable[str] = (),
    sections: Sequence[Section] = (),
) -> Page:
    """Describe the metrics of judges, and what they can be used for; the baseline for nothing.

    `counts` says what they were measured on; `more` are rows of a label and a cell for each judge.
    """
    rows = []
    for name, (label, form) in measurement.labels.items():
        found = [metrics[name] for metrics in judges.values()]
        if any(one.value is not None for one in found):
            rows.append((label, *(figure_text(one, form) for one in found)))
    table = Table(("", *judges), (*rows, *more))
    every = [(judge, *one) for judge, metrics in judges.items() for one in metrics.items()]
    return Page(
        measurement.name,
        counts=counts,
        answer=answer(conclusions),
        lines=(f"{counts}.",),
        alerts=tuple(Alert(note, "unknown") for note in notes),
        sections=filled(
            Section("Metrics", meaning=measurement.meaning, table=table),
            *sections,
            section(conclusions),
        ),
        columns=("judge", "metric", "value", "low", "high", "why"),
        rows=lambda: [_row(*one) for one in every],
    )


def _row(judge: str, metric: str, found: Estimate) -> dict[str, Any]:
    """Return the row of CSV."""
    low, high = found.interval or (None, None)
    values = {"value": found.value, "low": low, "high": high, "why": found.why}
    return {"judge": judge, "metric": metric, **values}


def section(conclusions: Mapping[str, Conclusion]) -> Section:
    """Return the last section of a report: the figures behind what it says of each judge."""
    items = tuple(Item(judge, one.figures) for judge, one in conclusions.items())
    return Section("Why", meaning="by fixed rules, 95 % intervals", items=items)


def answer(conclusions: Mapping[str, Conclusion]) -> str:
    """Say what each judge is good for."""
    if len(conclusions) == 1:
        return next(one.head for one in conclusions.values())
    return " ".join(f"{one_line(judge)}: {one.head}" for judge, one in conclusions.items())


def _uses(ranks: Answer, found: Estimate, invented: Estimate, *, enough: bool) -> dict[Use, Answer]:
    uses: dict[Use, Answer] = {"rank": ranks}
    if found.value is not None and invented.value is not None:
        few_invented = _is_within(invented, most=0.1)
        uses["gate"] = _worst(_is_within(found, least=0.5), few_invented)
        uses["level"] = _worst(_is_within(found, least=0.9), few_invented)
    return uses if enough else dict.fromkeys(uses, "open")


def _is_within(figure: Estimate, least: float = -inf, most: float = inf) -> Answer:
    """Whether a figure is in a range, with its whole interval."""
    if not least <= (figure.value or 0.0) <= most:
        return "no"
    if figure.interval and least <= figure.interval.low and figure.interval.high <= most:
        return "yes"
    return "open"


def _worst(*answers: Answer) -> Answer:
    return min(answers, key=_ANSWERS.index)


def _kept_text(found: Estimate, invented: Estimate, there: str, absent: str) -> str:
    return (
        f"it credits {figure_text(found)} of the facts {there}, and {figure_text(invented)} of "
        f"those {absent}"
    )


def figure_text(figure: Estimate, form: Callable[[float], str] = percent) -> str:
    """Format a figure, with its interval in brackets if it has one."""
    if figure.value is None:
        return DASH
    if figure.interval is None:
        return form(figure.value)
    low, high = map(form, figure.interval)
    joint = " to " if low.startswith("-") else DASH
    return f"{form(figure.value)} ({low.removesuffix(' %')}{joint}{high})"


def _listed(words: Sequence[str], last: str) -> str:
    """Join words: `a`, `a or b`, `a, b or c`."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
