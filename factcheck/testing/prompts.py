"""Reads the prompts of this package back, as a model would."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from factcheck.errors import InputError
from factcheck.judges.ports import Specificity, ValuePair

T = TypeVar("T")
Kind = Literal["check", "extract", "compare", "rate", "summarize"]
_FENCE = re.compile(
    r"^<(?P<tag>source|text|facts|pairs|source_text|summary) (?P<nonce>[0-9a-fA-F]+)>\r?\n"
    r"(?P<inner>(?:.*?\r?\n)?)"
    r"^</(?P=tag) (?P=nonce)>",
    re.DOTALL | re.MULTILINE,
)
_KINDS: tuple[tuple[set[str], Kind], ...] = (
    ({"source_text", "summary"}, "rate"),
    ({"source_text"}, "summarize"),
    ({"pairs"}, "compare"),
    ({"text", "facts"}, "check"),
    ({"text"}, "extract"),
    ({"source"}, "extract"),
)
"""Which fences a prompt has; the first row that fits counts."""
_NOTES = ("field", "description", "instructions")
_ALLOWED: Mapping[str, Specificity] = {
    "second value may be more specific": "allow_more_specific",
    "second value may be less specific": "allow_less_specific",
}


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """The question in a request."""

    kind: Kind
    text: str = ""
    """The text to check against, to extract from or to summarize, or the source of a summary."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Statements to check by their id in this call, in order."""
    pairs: Mapping[str, ValuePair] = field(default_factory=dict)
    """Pairs to compare by their id in this call, in order; the first value is the gold one."""
    summary: str = ""
    """The summary to rate."""
    instructions: str = ""
    """The system message."""


def parse_prompt(body: Mapping[str, Any]) -> ParsedPrompt:
    """The question in the last user message of a chat request.

    Of several fences with the same tag the last one counts; what stands inside another fence is
    text, whatever it looks like.

    Raises:
        InputError: The message is not a prompt of this package.
    """
    by_role: dict[str, list[str]] = {"user": [], "system": []}
    for message in body.get("messages", ()):
        by_role.setdefault(message.get("role"), []).append(_content(message.get("content")))
    if not by_role["user"]:
        raise InputError("the request has no user message")
    prompt = by_role["user"][-1]
    fences = {
        match["tag"]: match["inner"].removesuffix("\n").removesuffix("\r")
        for match in _FENCE.finditer(prompt)
    }
    kind = next((kind for tags, kind in _KINDS if tags <= fences.keys()), None)
    if kind is None:
        raise InputError(f"no fenced text or pairs in the prompt {prompt!r}")
    return ParsedPrompt(
        kind,
        next((fences[tag] for tag in ("source_text", "text", "source") if tag in fences), ""),
        _parse_facts(fences["facts"]) if kind == "check" else {},
        _parse_pairs(fences["pairs"]) if kind == "compare" else {},
        fences.get("summary", ""),
        "\n".join(by_role["system"]),
    )


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def _parse_facts(lines: str) -> Mapping[str, str]:
    facts: dict[str, str] = {}
    for line in filter(str.strip, lines.splitlines()):
        fact_id, separator, fact = line.partition(": ")
        if not separator:
            raise InputError(f"not a line of the form 'id: fact': {line!r}")
        _add(facts, fact_id, fact)
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
            pair_id, _, values = line.partition(": ")
            read = _read_json(values, line)
            if not isinstance(read, list) or len(read) != 2:  # noqa: PLR2004 - a pair
                raise InputError(f"not a line of the form 'id: [value, value]': {line!r}")
            gold, extracted = read
            _add(pairs, pair_id, ValuePair(gold, extracted, **notes, specificity=specificity))
    return pairs


def _read_json(text: str, line: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"not a line of a compare prompt: {line!r}") from error


def _add(found: dict[str, T], key: str, value: T) -> None:
    if key in found:
        raise InputError(f"the prompt uses the id {key!r} twice")
    found[key] = value
