"""Settings from environment variables, model settings, and validation of numeric options.

No other module reads the environment.
"""

from __future__ import annotations

import json
import math
import os
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, get_args

from factcheck.errors import ConfigError, InputError, located

LOCAL = "local"
"""Name of the embedded judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings from environment variables."""

    judge: str = LOCAL
    """`FACTCHECK_JUDGE`: default judge."""
    extractor: str | None = None
    """`FACTCHECK_EXTRACTOR`: default extractor; `None`: same as the judge."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """The environment, for keys and URLs of providers."""
    cache: str | None = field(default=None, repr=False)
    """`FACTCHECK_CACHE`: `off`, or the URL of a Redis server; `None`: cache on disk."""
    cache_dir: str | None = None
    """`FACTCHECK_CACHE_DIR`: cache folder; `None`: the platform's user cache folder."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings, treating empty variables as unset."""
        return cls(
            judge=environment.get("FACTCHECK_JUDGE") or LOCAL,
            extractor=environment.get("FACTCHECK_EXTRACTOR") or None,
            cache=environment.get("FACTCHECK_CACHE") or None,
            cache_dir=environment.get("FACTCHECK_CACHE_DIR") or None,
            variables=environment,
        )

    def variable(self, name: str) -> str | None:
        """Return the value of an environment variable; `None` if it is empty or unset."""
        return self.variables.get(name) or None


_MAX_TEMPERATURE = 2.0
_RESERVED = frozenset(
    {
        *("model", "messages", "temperature", "top_p", "seed", "reasoning_effort", "stream", "n"),
        *("max_tokens", "max_completion_tokens", "response_format", "tools", "tool_choice"),
        *("functions", "function_call", "logprobs", "top_logprobs"),
    }
)
"""Request parameters refused in `extra_body`: they have a dedicated setting, or break judging."""


FACTS_PER_CALL = 32
"""Default number of facts in one request: for 20 to 64 facts, 10 to 18 % cheaper than 16, with half
the requests."""


@dataclass(frozen=True, slots=True)
class Model:
    """A language model with its settings; accepted wherever `"PROVIDER/MODEL"` is.

    Raises:
        ConfigError: A setting is out of range or contradicts another.

    Example:
        >>> Model("openai/gpt-5-nano", temperature=None, reasoning_effort="low").name
        'openai/gpt-5-nano'
    """

    name: str
    """`"PROVIDER/MODEL"`."""
    _: KW_ONLY
    temperature: float | None = 0.0
    """In [0, 2]; `None` omits it, so that the server's default applies."""
    top_p: float | None = None
    """In (0, 1]."""
    seed: int | None = None
    reasoning_effort: str | None = None
    """Level of the provider: `"none"`, `"minimal"`, `"low"`, `"medium"`, `"high"`; `"default"`
    leaves it to the provider. `None`: the least, for models that are known to think by default."""
    max_tokens: int | None = None
    """Maximum number of tokens per reply, including reasoning; `None`: estimated and adapted."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Additional JSON parameters of each request, such as `{"top_k": 1}`."""
    program: str | None = None
    """Program of DSPy to ask with, as saved by `FactChecker`, `KeyFactExtraction` or
    `SemanticEquivalence`: what it was not saved by asks as it does without."""
    timeout_s: float = 120.0
    """Timeout of one request in seconds, greater than 0."""
    base_url: str | None = None
    """URL of the server; `None`: from the environment, or the provider's default."""
    api_key: str | None = field(default=None, repr=False)
    """API key; `None`: from the environment."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ConfigError(f"a model name has the form 'PROVIDER/MODEL', got {self.name!r}")
        with located(self.name, ConfigError):
            if self.temperature is not None:
                require_number("temperature", self.temperature, 0, high=_MAX_TEMPERATURE)
            if self.top_p is not None:
                require_number("top_p", self.top_p, above=0, high=1)
            if self.seed is not None:
                require_integer("seed", self.seed, -(2**63), 2**63 - 1)
            if self.max_tokens is not None:
                require_integer("max_tokens", self.max_tokens, 1)
            require_number("timeout_s", self.timeout_s, above=0)
            self._check_texts()
            self._check_extra_body()

    def _check_texts(self) -> None:
        for name in ("reasoning_effort", "program", "base_url", "api_key"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and value.strip()):
                shown = "the value given" if name == "api_key" else repr(value)
                raise InputError(f"{name} must be a non-blank string, not {shown}")

    def _check_extra_body(self) -> None:
        if not isinstance(self.extra_body, Mapping):
            raise InputError(f"extra_body must be a mapping, not {self.extra_body!r}")
        if reserved := sorted(_RESERVED & self.extra_body.keys()):
            raise InputError(
                f"extra_body must not contain {', '.join(reserved)}; "
                "use the setting of that name, if there is one"
            )
        try:
            json.dumps(dict(self.extra_body), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"extra_body is not JSON ({error})") from error


def require_text(value: object, what: str) -> str:
    """Return a string, called `what` in errors, with its accents composed (NFC)."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string, not {type(value).__name__}")
    return unicodedata.normalize("NFC", value)


def require_list(what: str, value: Any) -> list[Any]:
    """Return the elements of an iterable, called `what` in errors; a pydantic model is none."""
    is_one = isinstance(value, (str, bytes, Mapping)) or hasattr(type(value), "model_fields")
    if is_one or not isinstance(value, Iterable):
        raise InputError(f"{what} must be a list, not {type(value).__name__}")
    return list(value)


def require_choice(name: str, value: object, choices: Any) -> None:
    """Raise `InputError` for a value that is not one of a `Literal` type."""
    if value not in get_args(choices):
        raise InputError(f"{name} {value!r} is not one of {', '.join(get_args(choices))}")


def require_integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return `value` if it is an integer from `low` to `high`; booleans are rejected."""
    if type(value) is int and low <= value and (high is None or value <= high):
        return value
    expected = f"of at least {low}" if high is None else f"from {low} to {high}"
    raise InputError(f"{name} must be an integer {expected}, not {value!r}")


def require_number(
    name: str,
    value: object,
    low: float | None = None,
    *,
    above: float | None = None,
    high: float | None = None,
) -> float:
    """Return `value` if it is finite, >= `low`, > `above` and <= `high`; booleans are rejected."""
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    if (
        abs(number) <= sys.float_info.max
        and (low is None or number >= low)
        and (above is None or number > above)
        and (high is None or number <= high)
    ):
        return number
    expected = f"of at least {low:g}" if low is not None else f"above {above or 0:g}"
    if high is not None:
        expected += f" and at most {high:g}"
    raise InputError(f"{name} must be a finite number {expected}, not {value!r}")
