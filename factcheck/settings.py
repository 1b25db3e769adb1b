"""Settings from the environment, which is read here only, and checks of numeric options."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, get_args

from factcheck.errors import ConfigError, InputError

LOCAL = "local"
"""Name of the embedded judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings from environment variables."""

    judge: str = LOCAL
    """`FACTCHECK_JUDGE`: default judge."""
    extractor: str | None = None
    """`FACTCHECK_EXTRACTOR`: default extractor; `None`: the judge."""
    openai_api_key: str | None = field(default=None, repr=False)
    """`OPENAI_API_KEY`."""
    openai_base_url: str | None = None
    """`OPENAI_BASE_URL`: any OpenAI-compatible server."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """The environment: keys and addresses of the other providers."""
    cache: str | None = field(default=None, repr=False)
    """`FACTCHECK_CACHE`: `off`, or the URL of a Redis server; `None`: a folder on disk."""
    cache_dir: str | None = None
    """`FACTCHECK_CACHE_DIR`: cache folder; `None`: the user's cache folder of the platform."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings; empty variables count as unset."""
        return cls(
            judge=environment.get("FACTCHECK_JUDGE") or LOCAL,
            extractor=environment.get("FACTCHECK_EXTRACTOR") or None,
            openai_api_key=environment.get("OPENAI_API_KEY") or None,
            openai_base_url=environment.get("OPENAI_BASE_URL") or None,
            cache=environment.get("FACTCHECK_CACHE") or None,
            cache_dir=environment.get("FACTCHECK_CACHE_DIR") or None,
            variables=environment,
        )

    def variable(self, name: str) -> str | None:
        """The value of an environment variable; `None` where it is empty or not set."""
        if name == "OPENAI_API_KEY":
            return self.openai_api_key
        if name == "OPENAI_BASE_URL":
            return self.openai_base_url
        return self.variables.get(name) or None


_HOTTEST = 2.0
_OURS = frozenset(
    {
        *("model", "messages", "temperature", "top_p", "seed", "reasoning_effort", "stream", "n"),
        *("max_tokens", "max_completion_tokens", "response_format", "tools", "tool_choice"),
        *("functions", "function_call", "logprobs", "top_logprobs"),
    }
)
"""Parameters of a request that have a setting of their own, or that are not for a judge."""


VerdictForm = Literal["label", "line", "quote", "reason"]
"""What a model writes about a fact before its answer: nothing, the number of the line that decides,
the passage copied from the text, or the line and a reason."""
COMPACT: tuple[VerdictForm, ...] = ("label", "line")
"""The forms that fit several summaries into one entry of a reply."""
_MOST_SUMMARIES = 8
_MOST_REPEATS = 9


@dataclass(frozen=True, slots=True)
class Model:
    """A language model and how it is asked; goes wherever `"PROVIDER/MODEL"` does.

    Raises:
        ConfigError: A setting has a value that none can have, or contradicts another.

    Example:
        >>> Model("openai/gpt-5-nano", temperature=None, reasoning_effort="low").name
        'openai/gpt-5-nano'
    """

    name: str
    """`"PROVIDER/MODEL"`."""
    _: KW_ONLY
    temperature: float | None = 0.0
    """From 0 to 2; `None` sends none, which leaves it to the server."""
    top_p: float | None = None
    """More than 0, at most 1."""
    seed: int | None = None
    reasoning_effort: str | None = None
    """As the provider calls it: `"none"`, `"minimal"`, `"low"`, `"medium"`, `"high"`."""
    max_tokens: int | None = None
    """Most tokens of a reply, thought included; `None`: as many as the question needs, learned."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Further parameters of each request, as JSON, such as `{"top_k": 1}`."""
    verdict: VerdictForm = "line"
    """What it writes about a fact before its answer: `"label"` is the cheapest and gives no
    evidence, `"line"` costs a little more; small models may need to copy a `"quote"`, at three
    times the tokens; with `"reason"` verdicts are explained."""
    summaries_per_call: int = 1
    """Most summaries of the same facts in one request, 1 to 8; more than 1 needs the verdicts
    `"line"` or `"label"`, and costs 60 % less with 4. A request that does not give a verdict on all
    of them is repeated summary by summary."""
    repeats: int = 1
    """How often each fact is checked, 1 to 9, each time in another order: the label of more than
    half of the verdicts counts, with the flag `flipped` if one differs; without such a label the
    fact is undecided."""
    probabilities: bool = False
    """Whether log-probabilities are asked for, from which a verdict gets its probability. Needs
    the verdict `"label"`, which stands by itself; a server that sends none gives none."""
    base_url: str | None = None
    """Address of the server; `None`: as the environment says, or the provider's own."""
    api_key: str | None = field(default=None, repr=False)
    """Key; `None`: that of the environment."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ConfigError(f"a model is named 'PROVIDER/MODEL', not {self.name!r}")
        try:
            if self.temperature is not None:
                require_number("temperature", self.temperature, 0, high=_HOTTEST)
            if self.top_p is not None:
                require_number("top_p", self.top_p, above=0, high=1)
            if self.seed is not None:
                require_integer("seed", self.seed, -(2**63), 2**63 - 1)
            if self.max_tokens is not None:
                require_integer("max_tokens", self.max_tokens, 1)
            require_integer("summaries_per_call", self.summaries_per_call, 1, _MOST_SUMMARIES)
            require_integer("repeats", self.repeats, 1, _MOST_REPEATS)
            self._check_texts()
            self._check_extra_body()
        except InputError as error:
            raise ConfigError(f"{self.name}: {error}") from error

    def _check_texts(self) -> None:
        if self.verdict not in get_args(VerdictForm):
            forms = ", ".join(get_args(VerdictForm))
            raise InputError(f"verdict must be one of {forms}, not {self.verdict!r}")
        if self.summaries_per_call > 1 and self.verdict not in COMPACT:
            allowed = " or ".join(map(repr, COMPACT))
            raise InputError(
                f"summaries_per_call={self.summaries_per_call} needs verdict {allowed}, "
                f"not {self.verdict!r}"
            )
        if type(self.probabilities) is not bool:
            raise InputError(f"probabilities must be true or false, not {self.probabilities!r}")
        if self.probabilities and (self.verdict != "label" or self.summaries_per_call > 1):
            raise InputError("probabilities need verdict 'label' and summaries_per_call=1")
        for name in ("reasoning_effort", "base_url", "api_key"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and value.strip()):
                shown = "the value given" if name == "api_key" else repr(value)
                raise InputError(f"{name} must be a text that is not blank, not {shown}")

    def _check_extra_body(self) -> None:
        if not isinstance(self.extra_body, Mapping):
            raise InputError(f"extra_body must be a mapping, not {self.extra_body!r}")
        if taken := sorted(_OURS & self.extra_body.keys()):
            raise InputError(
                f"extra_body sets {', '.join(taken)}; give that as a setting of its own, or not"
            )
        try:
            json.dumps(dict(self.extra_body), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"extra_body is not JSON ({error})") from error


def require_integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """`value` if it is an integer from `low` to `high`; a bool is not one.

    Raises:
        InputError: It is not; the message names the option.
    """
    if type(value) is int and low <= value and (high is None or value <= high):
        return value
    wanted = f"of at least {low}" if high is None else f"from {low} to {high}"
    raise InputError(f"{name} must be an integer {wanted}, not {value!r}")


def require_number(
    name: str,
    value: object,
    low: float | None = None,
    *,
    above: float | None = None,
    high: float | None = None,
) -> float:
    """`value` if it is a finite number at least `low`, more than `above`, at most `high`.

    A bool is not one.

    Raises:
        InputError: It is not; the message names the option.
    """
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    if (
        abs(number) <= sys.float_info.max
        and (low is None or number >= low)
        and (above is None or number > above)
        and (high is None or number <= high)
    ):
        return number
    wanted = f"of at least {low:g}" if low is not None else f"above {above or 0:g}"
    if high is not None:
        wanted += f" and at most {high:g}"
    raise InputError(f"{name} must be a finite number {wanted}, not {value!r}")
