"""Failures of a case as errors, where a single case was asked for."""

from __future__ import annotations

from factcheck.errors import (
    BudgetExceeded,
    ConfigError,
    FactcheckError,
    InputError,
    JudgeError,
    JudgeOutputError,
    JudgeRateLimited,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
)
from factcheck.metrics.results import MetricFailure

_BY_CODE: dict[str, type[FactcheckError]] = {
    error.code: error
    for error in (
        BudgetExceeded,
        ConfigError,
        InputError,
        JudgeOutputError,
        JudgeRateLimited,
        JudgeRefused,
        JudgeRejected,
        JudgeUnavailable,
    )
}
_NO_VECTOR = frozenset({"missing", "duplicate", "invalid"})


def as_error(failure: MetricFailure) -> FactcheckError:
    """The error a failure stands for."""
    if failure.code in _NO_VECTOR:
        return JudgeOutputError(failure.message)
    return _BY_CODE.get(failure.code, JudgeError)(failure.message)
