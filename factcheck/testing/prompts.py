"""Reads the prompts of this package's own protocol back, as a model would."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from factcheck.errors import InputError
from factcheck.judges.ports import Specificity, ValuePair

_FENCE = re.compile(
    r"^<(?P<tag>source|text|facts|pairs|source_text|summary) (?P<nonce>[0-9a-fA-F]+)>\r?\n"
    r"(?P<inner>(?:.*?\r?\n)?)"
    r"^</(?P=tag) (?P=nonce)>",
    re.DOTALL | re.MULTILINE,
)
_NOTES = ("field", "description", "instructions")
_ALLOWED: Mapping[str, Specificity] = {
    "second value may be more specific": "allow_more_specific",
    "second value may be less specific": "allow_less_specific",
}


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """What a request asks for."""

    kind: Literal["check", "extract", "compare", "rate", "summarize"]
    text: str = ""
    """The text to check against, to extract from, to summarize, or that a summary is of."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Statements to check by the id they have in this call, in order."""
    pairs: Mapping[str, ValuePair] = field(default_factory=dict)
    """Pairs to compare by the id they have in this call, in order; the value that stands first
    is the gold one."""
    summary: str = ""
    """The summary to rate."""
    instructions: str = ""
    """The system message."""


def parse_prompt(body: Mapping[str, Any]) -> ParsedPrompt:
    """The question in the last user message of a chat request.

    Where a message holds several fences with the same tag, the last one counts; what stands
    inside another fence is text, whatever it looks like.

    Raises:
        InputError: The message is not a prompt of this package.
    """
    messages = body.get("messages", ())
    parsed = _parse_question(_last_user_message(messages))
    return replace(parsed, instructions=_system_message(messages))


def _parse_question(prompt: str) -> ParsedPrompt:
    fences = {_role(match["tag"]): _unfenced(match["inner"]) for match in _FENCE.finditer(prompt)}
    if "source_text" in fences:
        if "summary" in fences:
            return ParsedPrompt("rate", fences["source_text"], summary=fences["summary"])
        return ParsedPrompt("summarize", fences["source_text"])
    if "pairs" in fences:
        return ParsedPrompt("compare", pairs=_parse_pairs(fences["pairs"]))
    if "text" not in fences:
        raise InputError(f"no fenced text or pairs in the prompt {prompt!r}")
    if "facts" not in fences:
        return ParsedPrompt("extract", fences["text"])
    return ParsedPrompt("check", fences["text"], _parse_facts(fences["facts"]))


def _last_user_message(messages: Sequence[Mapping[str, Any]]) -> str:
    contents = [message.get("content") for message in messages if message.get("role") == "user"]
    if not contents:
        raise InputError("the request has no user message")
    return _text(contents[-1])


def _system_message(messages: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(_text(m.get("content")) for m in messages if m.get("role") == "system")


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def _role(tag: str) -> str:
    return "text" if tag == "source" else tag


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


def _parse_pairs(lines: str) -> Mapping[str, ValuePair]:
    pairs: dict[str, ValuePair] = {}
    notes: dict[str, str] = {}
    specificity: Specificity = "exact"
    for line in lines.split("\n"):
        word, _, rest = line.partition(" ")
        if word in _NOTES:
            if word == "field":
                notes, specificity = {}, "exact"
            notes["path" if word == "field" else word] = _read_json(rest, line)
        elif line in _ALLOWED:
            specificity = _ALLOWED[line]
        else:
            pair_id, gold, extracted = _parse_pair(line)
            if pair_id in pairs:
                raise InputError(f"the prompt uses the id {pair_id!r} twice")
            pairs[pair_id] = ValuePair(gold, extracted, **notes, specificity=specificity)
    return pairs


def _parse_pair(line: str) -> tuple[str, str, str]:
    pair_id, _, values = line.partition(": ")
    read = _read_json(values, line)
    if not isinstance(read, list) or len(read) != 2:  # noqa: PLR2004 - a pair
        raise InputError(f"not a line of the form 'id: [value, value]': {line!r}")
    return pair_id, *read


def _read_json(text: str, line: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"not a line of a compare prompt: {line!r}") from error
