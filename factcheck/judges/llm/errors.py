"""Translation of errors from servers, openai and DSPy into our own, with secrets redacted."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http import HTTPStatus

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

_BILLING = frozenset(
    {
        *("insufficient_quota", "credit_balance_exhausted", "billing_hard_limit_reached"),
        *("insufficient_balance", "insufficient_credits"),
    }
)
_FILTERED = frozenset({"content_filter", "content_policy_violation"})
_RETRYABLE = (408, 409)
_BAD_REQUEST = (400, 422)
_ADVICE = {
    401: "; check {key}",
    403: "; check {key}",
    404: "; check the model's name and {address}",
}

UNREADABLE = (ValueError, RecursionError)
"""Exceptions raised for a body that is not JSON."""


class NoAccess(JudgeRejected):
    """The key, account or model is rejected, and retrying will not help."""


class RequestRefused(JudgeRejected):
    """The server rejects the format of the request; another dialect may work."""

    def __init__(self, message: str, *, about: str) -> None:
        super().__init__(message)
        self.about = about
        """The parameter that the server names, and its message."""


_PASSWORD = re.compile(r"(?<=://)[^/\s@]*:[^/\s@]*@")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|xai|rk|AIza)[-_]?[\w-]{16,}")
_SECRET_NAME = re.compile(r"(?:_KEY|_TOKEN|_SECRET|PASSWORD)$")
_SHORTEST_SECRET = 8
_secrets: set[str] = set()


def hide(secret: str | None) -> None:
    """Redact a key in all messages from now on."""
    if secret is not None and len(secret) >= _SHORTEST_SECRET:
        _secrets.add(secret)


def redacted(text: object) -> str:
    """Format a message of a server or library on one line, with secrets redacted."""
    line = " ".join(str(text).split())
    secrets = {
        value
        for name, value in os.environ.items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET
    }
    for secret in sorted(secrets | _secrets, key=len, reverse=True):
        line = line.replace(secret, "***")
    return _KEY_LIKE.sub("***", _PASSWORD.sub("***@", line))


def from_status(
    status: int,
    message: str,
    *,
    kinds: Sequence[str | None] = (),
    about: str = "",
    retry_after_s: float | None = None,
    key: str = "OPENAI_API_KEY",
    address: str = "OPENAI_BASE_URL",
) -> FactcheckError:
    """Translate an HTTP status of 400 or more, with a message whose secrets are redacted.

    `kinds` are code and type of the error in the body, `about` is the parameter that the server
    names, and its message. `key` and `address` are the environment variables to check.
    """
    if status == HTTPStatus.PAYMENT_REQUIRED or _BILLING.intersection(kinds):
        return NoAccess(f"{message}; the account has no credit left")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return JudgeRateLimited(message, retry_after_s=retry_after_s)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _RETRYABLE:
        return JudgeUnavailable(message, retry_after_s=retry_after_s)
    if _FILTERED.intersection(kinds):
        return JudgeRefused(f"{message}; the provider's content filter declined")
    if status in _BAD_REQUEST:
        return RequestRefused(message, about=about or message)
    advised = message + _ADVICE.get(status, "").format(key=key, address=address)
    return NoAccess(advised) if status in {401, 404} else JudgeRejected(advised)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Parse `retry-after-ms`, or `Retry-After` in seconds or as a date, into seconds to wait."""
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            seconds = float(headers[name]) / per_second
            if 0.0 <= seconds < math.inf:
                return seconds
    with suppress(KeyError, OverflowError, TypeError, ValueError):
        return max(0.0, parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    return None


_NO_PACKAGE = re.compile("No module named|import failed")


def from_dspy(error: BaseException, model: str) -> FactcheckError:
    """Translate an exception of DSPy or of a user-defined model."""
    from dspy.utils import exceptions as theirs

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, FactcheckError):
            return cause
        cause = cause.__cause__
    if "LLM Provider NOT provided" in str(error):
        return ConfigError(
            f"{model!r}: the provider {model.partition('/')[0]!r} is not known; "
            "use a name that LiteLLM knows, such as 'openai' or 'anthropic'"
        )
    if isinstance(error, ImportError) or _NO_PACKAGE.search(str(error)):
        return ConfigError(
            f"{model!r} needs a package that is not installed ({redacted(error)[:100]}); install "
            "the extra 'bedrock' or 'vertex' of factcheck, or the package itself"
        )
    message = f"{model}: {redacted(error)}"
    outcomes: Mapping[type[BaseException], type[FactcheckError] | int] = {
        theirs.LMConfigurationError: ConfigError,
        theirs.LMCollectionLimitError: JudgeTruncated,
        theirs.LMStreamAssemblyError: JudgeTruncated,
        theirs.AdapterParseError: JudgeOutputError,
        theirs.LMInvalidRequestError: getattr(error, "status", None) or HTTPStatus.BAD_REQUEST,
        theirs.LMUnsupportedFeatureError: HTTPStatus.BAD_REQUEST,
        theirs.LMAuthError: HTTPStatus.UNAUTHORIZED,
        theirs.LMBillingError: HTTPStatus.PAYMENT_REQUIRED,
        theirs.LMRateLimitError: HTTPStatus.TOO_MANY_REQUESTS,
    }
    found = (ours for kind, ours in outcomes.items() if isinstance(error, kind))
    outcome = next(found, HTTPStatus.INTERNAL_SERVER_ERROR)
    if isinstance(outcome, type):
        return outcome(message)
    if not isinstance(error, theirs.LMError) or isinstance(error, theirs.LMUnexpectedError):
        return JudgeError(f"{model}: {type(error).__name__}: {redacted(error)}")
    return from_status(
        outcome,
        message,
        kinds=(error.code, error.provider_code),
        about=f"{' '.join(getattr(error, 'features', ()))} {redacted(error)}",
        retry_after_s=error.retry_after,
        key="the key",
        address="the address",
    )
