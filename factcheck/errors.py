"""The one error tree. Foreign exceptions are translated into it once, at the edge.

One item that could not be judged is not an error but a value: `Failure`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

S = TypeVar("S")

MAX_MESSAGE_CHARS = 300
"""Longer messages lose parts, so that an error stays one readable line."""
_LONG_PATH = re.compile(r"(?:[A-Za-z]:)?[/\\][^\s'\"]{60,10000}")
_PATH_END = 48
"""Characters that a long path keeps in a long message."""


class FactcheckError(Exception):
    """Base of everything this package raises on purpose; its text has at most 300 characters."""

    code: ClassVar[str] = "error"
    """Stable name of the kind of error; the same word appears in results and in JSON output."""
    retryable: ClassVar[bool] = False
    """Whether asking again, unchanged, may help."""
    exit_code: ClassVar[int] = 1
    """Exit code of the command line."""

    def __str__(self) -> str:
        return shorten(super().__str__())


class InputError(FactcheckError, ValueError):
    """The caller's data cannot be used."""

    code = "input"
    exit_code = 2


class SchemaError(InputError):
    """An evaluation schema cannot be used."""

    code = "schema"

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        """Schema path of the place, such as `items[].name`; empty for the root."""


class ParameterError(SchemaError, TypeError):
    """The parameters of a comparator or transform cannot be used."""


class GoldValidationError(InputError):
    """A gold record does not fit its schema."""

    code = "gold"

    def __init__(self, message: str, record_id: str | int = "", path: str = "") -> None:
        super().__init__(message)
        self.record_id = record_id
        """The record, by id or position."""
        self.path = path
        """Schema path of the place."""


class ConfigError(FactcheckError):
    """Settings name something that is not there."""

    code = "config"
    exit_code = 3


class PromptError(ConfigError):
    """A prompt file is missing, or is not the one that was published."""

    code = "prompt"


class JudgeError(FactcheckError):
    """A judge could not be asked or could not answer."""

    code = "judge"
    exit_code = 4


class _Retryable(JudgeError):
    retryable = True

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds the provider asked to wait, if it said so."""


class JudgeUnavailable(_Retryable):
    """No answer came: connection, timeout or a server error."""

    code = "unavailable"


class JudgeRateLimited(_Retryable):
    """The provider asks for a pause."""

    code = "rate_limited"


class JudgeRejected(JudgeError):
    """The provider will not answer this request: key, billing, unknown model, bad request."""

    code = "rejected"


class JudgeRefused(JudgeError):
    """The model or its content filter declined to answer."""

    code = "refused"


class JudgeOutputError(JudgeError):
    """A reply came but is not what was asked for."""

    code = "output"


class JudgeTruncated(JudgeOutputError):
    """A reply came but was cut off; it is never repaired."""

    code = "truncated"


class BudgetExceeded(JudgeError):
    """The cap on spending does not allow another request; nothing was sent."""

    code = "budget"


class JudgeNotAsked(JudgeError):
    """Nothing was sent on purpose: the request was counted, or put aside."""

    code = "not_asked"


class JudgeQueued(JudgeNotAsked):
    """The request waits for a batch, or a batch came back without an answer to it."""

    code = "queued"


@dataclass(frozen=True, slots=True)
class Failure(Generic[S]):
    """Why an item has no result; takes the place of the result and never counts as one."""

    subject: S
    """The item or its id; `None` where the position of the failure says it."""
    code: str
    """Stable reason: a code of `FactcheckError`, or `missing`, `duplicate`, `invalid` for a result
    that did not come back as it should."""
    message: str
    """One sentence for a person."""

    @classmethod
    def of(cls, subject: S, error: FactcheckError) -> Failure[S]:
        """The failure that an error means for an item."""
        return cls(subject, error.code, str(error))


def shorten(text: str, limit: int = MAX_MESSAGE_CHARS) -> str:
    """`text` in `limit` characters: long paths lose their beginning, then the middle goes."""
    if len(text) > limit:
        text = _LONG_PATH.sub(lambda path: f"…{path[0][-_PATH_END:]}", text)
    if len(text) <= limit:
        return text
    tail = limit // 3
    return f"{text[: limit - tail - 1]}…{text[-tail:]}"


def describe(error: BaseException) -> str:
    """An error in one line: ours as it is, any other with its type. Never raises."""
    try:
        message = shorten(str(error).split("\n", maxsplit=1)[0])
    except Exception:  # noqa: BLE001 - a foreign exception may have a broken __str__
        message = ""
    if isinstance(error, FactcheckError):
        return message or error.code
    return f"{type(error).__name__}: {message}".removesuffix(": ")
