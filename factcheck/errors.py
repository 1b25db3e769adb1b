"""Exception hierarchy; exceptions of other packages are translated into it where they arise.

An item that could not be judged is a value, `Failure`, rather than an exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

S = TypeVar("S")

MAX_MESSAGE_CHARS = 300
"""Maximum length of a message; longer ones are shortened to one readable line."""


class FactcheckError(Exception):
    """Base class of all errors of this package; messages have at most 300 characters."""

    code: ClassVar[str] = "error"
    """Stable error code, as used in results and JSON output."""
    retryable: ClassVar[bool] = False
    """Whether the same request may succeed if it is repeated."""
    exit_code: ClassVar[int] = 1
    """Exit code of the `factcheck` command."""

    def __str__(self) -> str:
        return shorten_middle(super().__str__())


class InputError(FactcheckError, ValueError):
    """Invalid input data or arguments."""

    code = "input"
    exit_code = 2


class SchemaError(InputError):
    """Invalid evaluation schema."""

    code = "schema"

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        """Location in the schema, such as `items[].name`; empty for the root."""


class ParameterError(SchemaError, TypeError):
    """Invalid parameters of a comparator or transform."""


class GoldValidationError(InputError):
    """A gold record does not match its schema."""

    code = "gold"

    def __init__(self, message: str, record_id: str | int = "", path: str = "") -> None:
        super().__init__(message)
        self.record_id = record_id
        """Id or position of the record."""
        self.path = path
        """Location in the schema."""


class ConfigError(FactcheckError):
    """Invalid settings: an unknown judge, a missing key, a package that is not installed."""

    code = "config"
    exit_code = 3

    @classmethod
    def lacking(cls, what: str, extra: str) -> ConfigError:
        """Say how to install an extra; the distribution is not on the package index yet."""
        here = f"pip install '.[{extra}]' in a checkout"
        return cls(f"{what}; install it: {here}, or 'summary-factcheck[{extra}] @ git+ADDRESS'")


class JudgeError(FactcheckError):
    """A judge could not be reached or gave no valid answer."""

    code = "judge"
    exit_code = 4


class _Retryable(JudgeError):
    retryable = True

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds to wait, as requested by the provider; `None` if unspecified."""


class JudgeUnavailable(_Retryable):
    """No reply: connection error, timeout or server error."""

    code = "unavailable"


class JudgeRateLimited(_Retryable):
    """The provider's rate limit was exceeded."""

    code = "rate_limited"


class JudgeRejected(JudgeError):
    """The provider rejected the request: key, billing, unknown model or bad request."""

    code = "rejected"


class ContextExceeded(JudgeError):
    """The model does not read the whole prompt, so what it says about it is no answer."""

    code = "context"


class JudgeRefused(JudgeError):
    """The model or its content filter declined to answer."""

    code = "refused"


class JudgeOutputError(JudgeError):
    """The reply does not have the requested form."""

    code = "output"


class JudgeTruncated(JudgeOutputError):
    """The reply was cut off; truncated replies are never repaired."""

    code = "truncated"


class BudgetExceeded(JudgeError):
    """The budget does not allow another request; nothing was sent."""

    code = "budget"


class DeadlineExceeded(JudgeError):
    """The caller's deadline passed before there was a result."""

    code = "deadline"


class JudgeNotAsked(JudgeError):
    """The request was deliberately not sent: it was only counted, or queued."""

    code = "not_asked"


class JudgeQueued(JudgeNotAsked):
    """The request is queued for a batch, or a finished batch has no reply to it."""

    code = "queued"


@dataclass(frozen=True, slots=True)
class Failure(Generic[S]):
    """Reason why an item has no result; replaces the result and never counts as one."""

    subject: S
    """The item or its id; `None` where the position identifies it."""
    code: str
    """Stable reason: a code of `FactcheckError`, `raised` for another exception, or `missing`,
    `duplicate` or `invalid` for a result that a judge failed to return properly."""
    message: str
    """One human-readable sentence."""

    @classmethod
    def of(cls, subject: S, error: BaseException) -> Failure[S]:
        """Make the failure of an item from an error; the code of a foreign one is `raised`."""
        if isinstance(error, FactcheckError):
            return cls(subject, error.code, str(error))
        return cls(subject, "raised", describe(error))


@contextmanager
def located(place: str, kind: type[FactcheckError] = InputError) -> Iterator[None]:
    """Prefix an `InputError` of a `with` block with its place, such as `case 3`.

    Another `kind` stands for it, and gets the place, too.
    """
    try:
        yield
    except (InputError, kind) as error:
        raise kind(f"{place}: {error}") from error


def shorten_middle(text: str, limit: int = MAX_MESSAGE_CHARS) -> str:
    """Shorten a text to `limit` characters by removing its middle."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def describe(error: BaseException) -> str:
    """Describe an error in one line, foreign ones with their type; never raises."""
    try:
        message = shorten_middle(str(error).split("\n", maxsplit=1)[0])
    except Exception:  # noqa: BLE001 - a foreign exception may have a broken __str__
        message = ""
    if isinstance(error, FactcheckError):
        return message or error.code
    return f"{type(error).__name__}: {message}".removesuffix(": ")
