"""Reads the prompts of this package's own protocol back, as a model would."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from factcheck.errors import InputError

_FENCE = re.compile(
    r"^<(?P<tag>source|text|facts) (?P<nonce>[0-9a-fA-F]+)>\r?\n"
    r"(?P<inner>(?:.*?\r?\n)?)"
    r"^</(?P=tag) (?P=nonce)>",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """What a request asks for."""

    kind: Literal["check", "extract"]
    text: str
    """The text to check against, or to extract from."""
    facts: Mapping[str, str]
    """Statements to check by the id they have in this call, in order; empty for `extract`."""


def parse_prompt(body: Mapping[str, Any]) -> ParsedPrompt:
    """The question in the last user message of a chat request.

    Where a message holds several fences with the same tag, the last one counts; what stands
    inside another fence is text, whatever it looks like.

    Raises:
        InputError: The message is not a prompt of this package.
    """
    prompt = _last_user_message(body.get("messages", ()))
    fences = {_role(match["tag"]): _unfenced(match["inner"]) for match in _FENCE.finditer(prompt)}
    if "text" not in fences:
        raise InputError(f"no fenced text in the prompt {prompt!r}")
    if "facts" not in fences:
        return ParsedPrompt("extract", fences["text"], {})
    return ParsedPrompt("check", fences["text"], _parse_facts(fences["facts"]))


def _last_user_message(messages: Sequence[Mapping[str, Any]]) -> str:
    contents = [message.get("content") for message in messages if message.get("role") == "user"]
    if not contents:
        raise InputError("the request has no user message")
    content = contents[-1]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def _role(tag: str) -> str:
    return "facts" if tag == "facts" else "text"


def _unfenced(inner: str) -> str:
    """Without the one line break that belongs to the closing tag."""
    return inner.removesuffix("\n").removesuffix("\r")


def _parse_facts(lines: str) -> Mapping[str, str]:
    facts: dict[str, str] = {}
    for line in filter(str.strip, lines.splitlines()):
        fact_id, separator, fact = line.partition(": ")
        if not separator:
            raise InputError(f"not a line of the form 'id: fact': {line!r}")
        if fact_id in facts:
            raise InputError(f"the prompt uses the id {fact_id!r} twice")
        facts[fact_id] = fact
    return facts
