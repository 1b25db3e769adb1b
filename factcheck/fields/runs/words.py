"""What a run and a comparison come to, in a few lines of words: what `str` gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factcheck.fields.runs.comparison import Difference, RunComparison
from factcheck.fields.runs.results import RunResult

_OUTSIDE = ("batch_error", "error", "pending", "skipped")
_MOST_NAMES = 10


def run_in_words(run: RunResult) -> str:
    """Mean and micro scores, what was counted, and what stands outside."""
    return "\n".join(_run_lines(run))


def _run_lines(run: RunResult) -> Iterator[str]:
    n = _many(run.total_records, "record")
    outside = {
        status: sum(field.counts.get(status, 0) for field in run.by_field.values())
        for status in _OUTSIDE
    }
    if run.total_fields:
        means = (run.mean_f1, run.mean_precision, run.mean_recall)
        yield f"{_scores(*means)}, as means over {n}"
        yield f"{_scores(run.micro.f1, run.micro.precision, run.micro.recall)}, over all fields"
        yield (
            f"{_many(run.total_fields, 'field')}, {run.total_omissions:,} of them missing and "
            f"{run.total_hallucinations:,} invented"
        )
    else:
        yield f"Nothing was scored in {n}"
    if told := [f"{count:,} {status}" for status, count in outside.items() if count]:
        yield f"Outside the score: {', '.join(told)}"


def _scores(f1: float, precision: float, recall: float) -> str:
    return f"F1 {f1:.3f}, precision {precision:.3f}, recall {recall:.3f}"


def comparison_in_words(comparison: RunComparison) -> str:
    """The difference of the means, and the fields that were won and lost."""
    return "\n".join(_comparison_lines(comparison))


def _comparison_lines(comparison: RunComparison) -> Iterator[str]:
    yield _difference(comparison.overall["mean_f1"], comparison.n_records)
    for verdict in ("won", "lost"):
        if names := getattr(comparison, verdict):
            yield f"{verdict.capitalize()}: {_names(names)}"
    yield f"Without a clear difference: {_many(len(comparison.unchanged), 'field')}"
    if comparison.not_compared:
        yield f"Without a score in one of the runs: {_names(list(comparison.not_compared))}"
    if comparison.same_schema is False:
        yield "The runs were scored by different schemas"


def _difference(f1: Difference, n_records: int) -> str:
    low, high = f1.interval
    return (
        f"F1 {f1.a:.3f} -> {f1.b:.3f} ({f1.difference:+.3f}, 95 % interval {low:+.3f} to "
        f"{high:+.3f}, p {f1.p_value:.3f}), as means over {_many(n_records, 'record')}"
    )


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(name or "(the record)" for name in names[:_MOST_NAMES])
    return f"{shown} and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else shown
