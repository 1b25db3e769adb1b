"""What is asked of a language model and what comes back: between the judges and the wire.

A judge writes a `Prompt`. The engine sends it in the form that the server takes, has the reply
read, and gives the value on: `value = await model.ask(prompt)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from factcheck.facts import Usage

T = TypeVar("T")

Form = Literal["schema", "json_object", "text"]
"""How a structured reply is asked for: a JSON schema, any JSON object, or words alone."""
Message: TypeAlias = Mapping[str, str]
"""`role` (`system`, `user` or `assistant`) and `content`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply: not cut off, not declined, not empty."""

    text: str
    """The content as it came, with whatever stands around the JSON; parts of a list are joined."""
    form: Form
    """The form in which it was asked for. A server may take a schema and ignore it."""
    usage: Usage
    logprobs: Sequence[Any] | None = None
    """`choices[0].logprobs.content`, where it was asked for and came."""


@dataclass(frozen=True, slots=True)
class Prompt(Generic[T]):
    """One request and the reader of its reply.

    The engine turns to another form only while no reply in the present one was ever read; after
    that, a reply that cannot be read is the judge's to ask again.
    """

    messages: Callable[[Form], Sequence[Message]]
    """The messages for a form. Those for `json_object` and `text` say how to reply in words."""
    schema: Mapping[str, Any]
    """JSON schema of the reply, an object with `additionalProperties: false` and everything
    required; goes along where the form is `schema`."""
    read: Callable[[Reply], T]
    """The value of a reply; raises `JudgeOutputError` for one that is not what was asked for."""
    max_tokens: int = 0
    """Tokens that the reply may take; 0 is no limit. Room to think comes on top."""
