"""Whether an evaluation of fields lets a build pass.

A value without a verdict does not help to pass. One that could not be compared (`error`) counts as
wrong: mostly that is an extractor that wrote something that is not even of the right kind. One that
nobody judged (`batch_error`) is not held against the extractor, but the run passes only if it would
with all of those wrong, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from factcheck.cli import gate
from factcheck.fields import RunResult
from factcheck.fields.runs.undecided import Undecided, UndecidedField
from factcheck.reports import fields as content
from factcheck.reports.fields_examples import unscored

_ROUNDING = 1e-9
_JUDGED = frozenset({"match", "mismatch"})


def failure(
    run: RunResult, undecided: Undecided, threshold: float | None
) -> gate.GateFailure | None:
    """Why a run did not end well, or `None`."""
    f1, strict = undecided.decided_f1(run), undecided.strict_f1(run)
    if f1 is None or strict is None:
        return gate.GateFailure(gate.NOTHING_DECIDED, f"{content.NOTHING}: {_why(undecided)}")
    if threshold is None:
        return None
    if _is_below(f1, threshold):
        what = f"mean F1 {_shown(f1, threshold)} is under {threshold:g}"
        return gate.GateFailure(gate.GATE_FAILED, f"gate failed: {what}")
    if _is_below(strict, threshold):
        what = f"mean F1 {content.share(f1)} is {_shown(strict, threshold)}, under {threshold:g}"
        why = f"with the values that could not be compared taken for wrong ({_first(undecided)})"
        return gate.GateFailure(gate.GATE_FAILED, f"gate failed: {what}, {why}")
    return _without_verdict(run, undecided, threshold, f1)


def _without_verdict(
    run: RunResult, undecided: Undecided, threshold: float, f1: float
) -> gate.GateFailure | None:
    """Whether what nobody judged could change that the gate passes."""
    if (path := _never_judged(run)) is not None:
        return gate.GateFailure(
            gate.NOTHING_DECIDED,
            f"no verdict on {content.shown_path(path)}, so the gate cannot pass; run it again",
        )
    low, _ = undecided.bounds(run)
    if not _is_below(low, threshold):
        return None
    what = f"mean F1 {content.share(f1)} could be {_shown(low, threshold)}, under {threshold:g}"
    why = f"if the values without a verdict are wrong ({_first(undecided, 'batch_error')})"
    return gate.GateFailure(
        gate.NOTHING_DECIDED, f"the gate cannot pass: {what}, {why}; run it again"
    )


def _is_below(f1: float, threshold: float) -> bool:
    return f1 < threshold - _ROUNDING


def _shown(f1: float, threshold: float) -> str:
    """With as many decimals as it takes to see that it is below `threshold`."""
    shown = f"{f1:.4f}"
    return repr(f1) if float(shown) >= threshold else shown


def _never_judged(run: RunResult) -> str | None:
    """A field on which not one verdict could be had, if there is one."""
    for path, field in run.by_field.items():
        if field.counts.get("batch_error") and not field.counts.keys() & _JUDGED:
            return path
    return None


def _why(undecided: Undecided) -> str:
    return _first(undecided) if undecided.fields else "every field is skipped or absent"


def _first(undecided: Undecided, *statuses: str) -> str:
    """The field with most values without a verdict; those that could not be compared first."""
    order = statuses or ("error", "batch_error", "pending")
    found = min(undecided.fields, key=lambda field: _place(field, order))
    told = unscored(found)
    return f"{content.shown_path(told.field)}: {told.words} {told.reason}".rstrip()


def _place(field: UndecidedField, order: Sequence[str]) -> int:
    return order.index(field.status) if field.status in order else len(order)
