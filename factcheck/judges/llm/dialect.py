"""Dialects: the request options that a model at an endpoint accepts, learned from its refusals.

There is one dialect per endpoint and model. It starts with every option enabled; an option that the
server refuses, and no other, is dropped or rewritten from then on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from factcheck.documents import PlainData
from factcheck.facts import short_digest
from factcheck.judges.llm.engine import is_cut, likely_tokens
from factcheck.judges.llm.modules import Form, Message, Question, response_format
from factcheck.judges.llm.transports import Answer, limit_of, prompt_of

if TYPE_CHECKING:
    from factcheck.judges.llm.errors import RequestRefused
    from factcheck.settings import Model

SAMPLING = ("temperature", "top_p", "seed", "reasoning_effort")
_SHORT_NAMES = {"temperature": "temp", "reasoning_effort": "effort"}
"""Short names of settings in signatures."""
_REASONING_TOKENS = 16_384
"""Minimum token allowance for a reasoning model; a limit, not a cost."""
_LIMITS = ("max_completion_tokens", "max_tokens")
_FORMS: tuple[Form, ...] = ("schema", "json_object", "text")

_TOKEN_LIMIT = re.compile(
    r"max_(?:completion_)?tokens|completion tokens|output tokens|context (?:length|window)"
)
_EXCEEDED = re.compile(
    r"at most|maximum|less than|<=|exceed|too (?:large|many|high|big)|range|up to|greater|limit"
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d,_]{0,14}(?![\w.]*\w)")
_OVERFLOW = re.compile(
    r"context[ _](?:length|window|size)|maximum context|prompt is too long|input token count"
    r"|exceed_context|reduce the length"
)
_CONTEXTS = (
    re.compile(r"context (?:length|window|size)\D{0,40}(\d[\d,]{0,14})"),
    re.compile(r"(\d[\d,]{0,14}) (?:tokens )?maximum"),
    re.compile(r"number of tokens allowed \D{0,5}(\d[\d,]{0,14})"),
)
"""Refusals of prompts that are too long, and the size that they name."""
_INPUT = re.compile(
    r"(\d[\d,]{0,14}) (?:input tokens|in the messages|in (?:your|the) prompt|prompt tokens)"
)
_SYSTEM = re.compile(
    r"system[ _](?:role|message|instruction|prompt)|developer[ _](?:role|instruction)"
    r"|role\W{0,3}system|system\W{0,3}(?:role|is not)|messages\S*role|roles must alternate"
)
_FORM = re.compile(
    r"response[_ ]format|json[_ ]?schema|json[_ ]object|json mode|structured output|guided"
)
_SCHEMA = re.compile(r"schema|json_object|\btype\b")
_STRICT = re.compile(r"\bstrict\b|additionalproperties")
_PARAMETERS = {
    "temperature": re.compile(r"\btemperature\b"),
    "top_p": re.compile(r"\btop[_ .]p\b"),
    "seed": re.compile(r"\bseed\b"),
    "reasoning_effort": re.compile(r"\b(?:reasoning|thinking)\b|\breasoning[_ .]effort\b"),
}
"""Names of optional parameters in refusals."""


@dataclass(frozen=True, slots=True)
class Dialect(PlainData):
    """Request options that a model at an endpoint accepts."""

    form: Form = "schema"
    strict: bool = True
    """Whether schemas are sent with `strict: true` and `additionalProperties: false`."""
    limit: str = _LIMITS[0]
    """Parameter for the reply's token limit; empty if there is none."""
    system: bool = True
    """Whether there is a system role; if not, its text is prepended to the first user message."""
    refused: tuple[str, ...] = ()
    """Unsupported parameters."""
    most: int = 0
    """Maximum token limit accepted; 0 if unknown."""
    room: int = 0
    """Allowance for reasoning tokens, which count towards the limit."""
    floor: int = 0
    """Largest token limit that truncated a reply; later limits are at least this."""
    context: int = 0
    """Tokens that the model reads at most, prompt and reply together; 0 if unknown."""

    def identity(self, model: Model) -> dict[str, str]:
        """Signature entries for the settings that affect answers, as sent rather than as set."""
        entries = {"temp": "default"}
        for name in SAMPLING:
            value = getattr(model, name)
            if value is not None:
                text = f"{value:g}" if isinstance(value, float) else str(value)
                entries[_SHORT_NAMES.get(name, name)] = "default" if name in self.refused else text
        if model.extra_body:
            entries["extra"] = short_digest(repr(sorted(model.extra_body.items())))
        if self.form != "schema":
            entries["form"] = self.form
        if not self.system:
            entries["system"] = "user"
        return entries

    def tokens(self, model: Model, reply_tokens: int) -> int:
        """Token limit for a reply of `reply_tokens` tokens; 0 for no limit."""
        if model.max_tokens is not None:
            return model.max_tokens
        if not reply_tokens or not self.limit:
            return 0
        allowed = max(reply_tokens + self.room, self.floor)
        return min(allowed, self.most) if self.most else allowed

    def body(
        self, model: Model, messages: Sequence[Message], question: Question[Any]
    ) -> dict[str, Any]:
        """Build the body of a request in OpenAI's chat protocol, without the model name."""
        if not self.system:
            system = "\n\n".join(m["content"] for m in messages if m["role"] == "system")
            first, *others = (m for m in messages if m["role"] != "system")
            messages = [{**first, "content": f"{system}\n\n{first['content']}"}, *others]
        body: dict[str, Any] = {"messages": messages}
        for name in SAMPLING:
            value = getattr(model, name)
            if value is not None and name not in self.refused:
                body[name] = value
        if self.limit and (tokens := self.tokens(model, question.max_tokens)):
            body[self.limit] = tokens
        if self.form == "schema":
            schema = question.schema if self.strict else _opened(question.schema)
            body["response_format"] = response_format(schema, strict=self.strict)
        elif self.form == "json_object":
            body["response_format"] = {"type": "json_object"}
        return {**body, **model.extra_body}

    def difference(self, other: Dialect) -> str:
        """Describe what a later dialect learned: the options that have changed."""
        before, after = self.to_dict(), other.to_dict()
        return ", ".join(f"{name} {after[name]}" for name in after if after[name] != before[name])

    def next_form(self) -> Dialect | None:
        """Return this dialect with the next form, or `None` after the last."""
        place = _FORMS.index(self.form) + 1
        return replace(self, form=_FORMS[place]) if place < len(_FORMS) else None

    def without(self, refusal: RequestRefused, sent: Mapping[str, Any]) -> Dialect:
        """Return this dialect without the options that a refusal names."""
        text = refusal.about.lower()
        named = [name for name in sent if name in _PARAMETERS and _PARAMETERS[name].search(text)]
        refused = tuple(dict.fromkeys([*self.refused, *named]))
        found = _with_limit(replace(self, refused=refused), text, sent)
        if is_overflow(refusal):
            # without a size, what was sent does not fit
            too_large = likely_tokens(prompt_of(sent)) + limit_of(sent)
            sizes = [_number(match) for one in _CONTEXTS if (match := one.search(text))]
            found = replace(found, context=next(filter(None, sizes), too_large - 1))
        if self.form == "schema" and self.strict and _STRICT.search(text):
            found = replace(found, strict=False)
        elif self.form != "text" and _FORM.search(text):
            is_schema = self.form == "schema" and _SCHEMA.search(text)
            found = replace(found, form="json_object" if is_schema else "text")
        return replace(found, system=False) if _SYSTEM.search(text) else found

    def after(self, answer: Answer, sent: Mapping[str, Any], model: Model) -> Dialect:
        """Return this dialect with what an answer shows: unsent parameters and room for reasoning.

        If the server cut the prompt, it is only what it reads, because the reply is none.
        A truncated reply raises the limit unless it is given or at its maximum: by an allowance for
        reasoning if that took much of it, or else not at all, because the caller may split the
        request; it is only never lower again.
        """
        n_read, thought = answer.tokens.prompt, answer.tokens.reasoning
        if n_read is not None and is_cut(prompt_of(sent), n_read, self.context):
            return replace(self, context=n_read)
        if not (answer.unsent or thought or answer.is_truncated):
            return self
        unsent = {name for name in answer.unsent if name in sent}
        room = 2 * thought and max(_REASONING_TOKENS, 2 * thought)
        floor, limit = self.floor, limit_of(sent)
        at_most = model.max_tokens is not None or (self.most and limit >= self.most)
        if answer.is_truncated and limit and not at_most:
            floor = max(floor, limit)
            if 4 * answer.least_reasoning_tokens(limit) >= limit:
                room = max(room, _REASONING_TOKENS, 2 * limit)
        refused = tuple(dict.fromkeys([*self.refused, *sorted(unsent)]))
        return replace(self, refused=refused, room=max(self.room, room), floor=floor)


def is_overflow(refusal: RequestRefused) -> bool:
    """Whether a prompt was refused because it is too long."""
    return bool(_OVERFLOW.search(refusal.about.lower()))


def _number(match: re.Match[str]) -> int:
    return int(re.sub(r"\D", "", match[match.lastindex or 0]))


def _maximum(text: str, limit: int) -> int:
    """Parse the maximum token limit from a refusal; 0 if it names none."""
    numbers = [_number(match) for match in _NUMBER.finditer(text)]
    if context := _CONTEXTS[0].search(text):
        prompt = _INPUT.search(text)
        numbers = [_number(context) - _number(prompt)] if prompt else []
    return max((n for n in numbers if 0 < n < limit), default=0)


def _with_limit(dialect: Dialect, text: str, sent: Mapping[str, Any]) -> Dialect:
    limit = sent.get(dialect.limit) if dialect.limit else None
    if limit is None or not _TOKEN_LIMIT.search(text):
        return dialect
    if _EXCEEDED.search(text) and (most := _maximum(text, limit)):
        return replace(dialect, most=most)
    if not re.search(rf"\b{dialect.limit}\b", text):
        return dialect
    refused = (*dialect.refused, dialect.limit)
    other = next(name for name in _LIMITS if name != dialect.limit)
    return replace(dialect, limit="" if other in refused else other, refused=refused)


def _opened(schema: Any) -> Any:
    """Remove `additionalProperties` from a JSON schema."""
    if isinstance(schema, Mapping):
        return {k: _opened(v) for k, v in schema.items() if k != "additionalProperties"}
    if isinstance(schema, list):
        return [_opened(item) for item in schema]
    return schema
