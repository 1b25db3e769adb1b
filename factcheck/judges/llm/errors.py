"""Translates errors of openai and DSPy into ours, once."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from factcheck.errors import (
    ConfigError,
    FactcheckError,
    JudgeError,
    JudgeOutputError,
    JudgeRateLimited,
    JudgeRefused,
    JudgeRejected,
    JudgeTruncated,
    JudgeUnavailable,
)
from factcheck.judges.llm.fences import one_line

if TYPE_CHECKING:
    import openai

_BILLING = ("insufficient_quota", "credit_balance_exhausted", "billing_hard_limit_reached")
_FILTERED = ("content_filter", "content_policy_violation")
_WORTH_A_RETRY = (408, 409)
_ADVICE = {
    401: "; check OPENAI_API_KEY",
    403: "; check OPENAI_API_KEY",
    404: "; check the model's name and OPENAI_BASE_URL",
}
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500

UNREADABLE = (json.JSONDecodeError, UnicodeDecodeError, RecursionError)
"""Errors of the client for a body that is not JSON."""


def from_openai(error: Exception, model: str) -> FactcheckError:
    import openai

    if isinstance(error, UNREADABLE):
        return JudgeUnavailable(f"{model}: the server's answer is not JSON")
    if isinstance(error, openai.APITimeoutError):
        return JudgeUnavailable(f"{model}: no answer in time")
    if isinstance(error, openai.APIConnectionError):
        return JudgeUnavailable(
            f"{model}: cannot reach {_host(error)} ({one_line(str(error.__cause__ or error))}); "
            "check the network and OPENAI_BASE_URL"
        )
    if isinstance(error, openai.APIStatusError):
        return _from_status(error, model)
    if isinstance(error, openai.OpenAIError):
        return JudgeUnavailable(f"{model}: {one_line(str(error))}")
    return JudgeError(f"{model}: {type(error).__name__}: {one_line(str(error))}")


def _from_status(error: openai.APIStatusError, model: str) -> FactcheckError:
    return from_status(
        error.status_code,
        f"{model}: {one_line(str(error))}",
        kinds=(error.code, error.type),
        retry_after_s=retry_after_s(error.response.headers),
    )


def from_status(
    status: int,
    said: str,
    *,
    kinds: Sequence[str | None] = (),
    retry_after_s: float | None = None,
) -> FactcheckError:
    """Our error for an HTTP status of 400 or more."""
    if status == _TOO_MANY_REQUESTS:
        if any(kind in _BILLING for kind in kinds):
            return JudgeRejected(f"{said}; the account has no credit left")
        return JudgeRateLimited(said, retry_after_s=retry_after_s)
    if status >= _SERVER_ERROR or status in _WORTH_A_RETRY:
        return JudgeUnavailable(said)
    if any(kind in _FILTERED for kind in kinds):
        return JudgeRefused(f"{said}; the provider's content filter declined")
    return JudgeRejected(said + _ADVICE.get(status, ""))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds a server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value or "").timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value else -1.0
    except ValueError:
        return None
    return number if 0.0 <= number < math.inf else None


def from_dspy(error: Exception, model: str) -> FactcheckError:
    import dspy
    from dspy.utils import exceptions as theirs

    ours = _cause(error)
    if ours is not None:
        return ours
    if isinstance(error, dspy.AdapterParseError):
        reason = str(error).split("\n", 1)[0]
        return JudgeOutputError(f"{model}: {one_line(reason)}")
    if "LLM Provider NOT provided" in str(error):
        return ConfigError(
            f"{model!r}: the provider {model.partition('/')[0]!r} is not known; "
            "use a name that LiteLLM knows, such as 'openai' or 'anthropic'"
        )
    if isinstance(error, theirs.LMRateLimitError):
        return JudgeRateLimited(f"{model}: {one_line(str(error))}", retry_after_s=error.retry_after)
    for their_class, our_class in dspy_classes():
        if isinstance(error, their_class):
            return our_class(f"{model}: {one_line(str(error))}")
    return JudgeError(f"{model}: {type(error).__name__}: {one_line(str(error))}")


def dspy_classes() -> tuple[tuple[type[Exception], type[FactcheckError]], ...]:
    """DSPy's classes of errors and ours, the more special ones first."""
    from dspy.utils import exceptions as theirs

    return (
        (theirs.LMRateLimitError, JudgeRateLimited),
        (theirs.LMTimeoutError, JudgeUnavailable),
        (theirs.LMServerError, JudgeUnavailable),
        (theirs.LMTransportError, JudgeUnavailable),
        (theirs.LMLockTimeoutError, JudgeUnavailable),
        (theirs.LMInvalidRequestError, JudgeRejected),
        (theirs.LMAuthError, JudgeRejected),
        (theirs.LMBillingError, JudgeRejected),
        (theirs.LMProviderError, JudgeUnavailable),
        (theirs.LMConfigurationError, ConfigError),
        (theirs.LMUnsupportedFeatureError, ConfigError),
        (theirs.LMCollectionLimitError, JudgeTruncated),
        (theirs.LMStreamAssemblyError, JudgeTruncated),
        (theirs.LMUnexpectedError, JudgeError),
    )


def _cause(error: BaseException | None) -> FactcheckError | None:
    while error is not None and not isinstance(error, FactcheckError):
        error = error.__cause__
    return error


def _host(error: openai.APIConnectionError) -> str:
    url: Any = error.request.url
    return str(url.host)
