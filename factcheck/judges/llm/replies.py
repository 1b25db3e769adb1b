"""Strict parsing of model replies; ambiguous ones are rejected, never guessed.

A reply must contain exactly one JSON object that answers the question, with or without text around
it. Items are parsed independently: an invalid one does not affect the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

import pydantic
from pydantic import AfterValidator, StringConstraints, TypeAdapter, WithJsonSchema

from factcheck.errors import Failure, JudgeOutputError
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    EntailmentLabel,
    Evidence,
    Span,
    Verdict,
)
from factcheck.judges.llm.fences import one_line
from factcheck.judges.ports import HIGHEST, LOWEST, PairVerdict, ValuePair

_MAX_CHARS = 1_000_000
"""Maximum length of a reply; valid ones have at most about 100,000 characters."""
_MAX_OBJECTS = 64
"""Maximum number of JSON objects in a reply with text around them."""
_REASONING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_CODE = re.compile(r"```\w*[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)
_HEADER = re.compile(r"^\[\[ ## (\w+) ## \]\]$", re.MULTILINE)
_OBJECT_START = re.compile(r'\{\s*["}]')
NO = "no"
ANSWERS: Mapping[str, EntailmentLabel] = {
    "yes": "entailed",
    "contradicted": "contradicted",
    NO: "neutral",
}
"""Labels by answer word; small models misunderstand `neutral`."""
_LINE_AND_ANSWER = re.compile(r"(?:(?:line )?(\d{1,6})[\s,:]+)?([a-z]+)", re.ASCII)
_ID = re.compile(r"[a-z]?\d{1,6}", re.ASCII)
_WORD = re.compile(r"\w")
_ENDINGS = ".!,;: "
_CONTINUED = re.compile(r"^(?:\.\.+|…) *")
_MAX_DETAIL = 10
"""Maximum number of words of a detail; more are a sentence that a small model wrote as one."""
_MARKER = re.compile(r"^[-*•–]( |$)")  # noqa: RUF001 - a dash is a marker, too

Q = TypeVar("Q")
R = TypeVar("R")


class _Fault(Enum):
    """What is wrong with an entry: its code, and what the judge gave."""

    missing = "no verdict"
    duplicate = "more than one verdict"
    invalid = "something that is not a verdict"


def find_answer(reply: str, read: Callable[[Any], R]) -> tuple[R, Any]:
    """Find the only answer in a reply; returns it parsed, and as JSON.

    Next to other text, results by id count only if none of them is a failure. `read` parses JSON,
    in which the value of a duplicate key is of no JSON type. Raises `JudgeOutputError` if there is
    no answer, or there are several different ones.
    """
    if len(reply) > _MAX_CHARS:
        raise JudgeOutputError(f"the reply is too long ({len(reply):,} characters)")
    text = reply.strip().removeprefix("\ufeff").strip()
    data = _sections(text) or _parse(text)
    if data is None:
        text = _without_reasoning(text)
        code = _CODE.fullmatch(text)
        data = _parse(code[1].strip() if code else text)
    if data is not None:
        return read(data), data
    answers: list[tuple[R, Any]] = []
    problem = "the reply is not JSON"
    for found in _objects(text):
        try:
            value = read(found)
        except JudgeOutputError as error:
            problem = str(error)
            continue
        if _is_whole(value) and all(other != value for other, _ in answers):
            answers.append((value, found))
    if len(answers) > 1:
        raise JudgeOutputError(f"the reply contains {len(answers)} different answers")
    if not answers:
        raise JudgeOutputError(problem)
    return answers[0]


def _sections(text: str) -> Any:
    """Parse the fields of a reply in the form of DSPy's own adapter; empty for any other reply."""
    parts = _HEADER.split(text) if text.startswith("[[ ##") else []
    fields = []
    for name, part in zip(parts[1::2], parts[2::2], strict=True):
        value = _parse(part.strip())
        if name != "completed":
            fields.append((name, part.strip() if value is None else value))
    return _object(fields)


def _is_whole(value: object) -> bool:
    results = value.values() if isinstance(value, Mapping) else ()
    return not any(isinstance(result, (CheckFailure, Failure)) for result in results)


def _parse(text: str) -> Any:
    """Parse a text that is JSON; `None` for any other text."""
    try:
        data, end = _decode(text, 0)
    except ValueError:
        return None
    return data if end == len(text) else None


def _decode(text: str, start: int) -> tuple[Any, int]:
    """Parse the JSON at a place, and return its end; raises `ValueError`."""
    try:
        data, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if "\\u" in text or not text.isascii():  # it may have lone surrogates
        json.dumps(data, ensure_ascii=False, default=repr).encode()
    return data, end


def _objects(text: str) -> Iterator[Any]:
    """Outermost JSON objects in prose; raises if one of them is malformed."""
    position = 0
    for _ in range(_MAX_OBJECTS):
        match = _OBJECT_START.search(text, position)
        if match is None:
            return
        try:
            found, position = _decode(text, match.start())
        except ValueError:
            raise JudgeOutputError("the reply contains invalid JSON") from None
        yield found
    raise JudgeOutputError(f"the reply contains more than {_MAX_OBJECTS} JSON objects")


def _without_reasoning(text: str) -> str:
    """Strip the reasoning from a reply; raises if it does not end."""
    tags = list(_REASONING.finditer(text))
    if tags and not tags[-1][1]:
        raise JudgeOutputError("the reply ends within the model's reasoning")
    return text[tags[-1].end() :].strip() if tags else text


def _object(pairs: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    data: dict[Any, Any] = {}
    for key, value in pairs:
        data[key] = _Fault.duplicate if key in data else value
    return data


def _reject_constant(constant: str) -> Any:
    raise JudgeOutputError(f"the reply contains {constant}, which is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_reject_constant)


def _without_marker(bullet: str) -> str:
    text = _MARKER.sub("", one_line(bullet))
    if not text:
        raise ValueError("a bullet is blank")
    return text


Fields: TypeAlias = Mapping[str, TypeAdapter[Any]]
"""Fields of a reply, with types that give their JSON schemas and validate them."""
_AsStrings = WithJsonSchema({"type": "array", "items": {"type": "string"}})
_Reason = TypeAdapter(Annotated[str, StringConstraints(strip_whitespace=True)])
_Fact = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Bullet = Annotated[str, AfterValidator(_without_marker)]
_Rating = Annotated[
    int,
    pydantic.Field(strict=True, ge=LOWEST, le=HIGHEST),
    WithJsonSchema({"type": "integer", "enum": list(range(LOWEST, HIGHEST + 1))}),
]
FACTS: Fields = {"facts": TypeAdapter(Annotated[list[_Fact], _AsStrings])}
BULLETS: Fields = {
    "bullets": TypeAdapter(Annotated[list[_Bullet], pydantic.Field(min_length=1), _AsStrings])
}
RATING: Fields = {"reason": _Reason, "faithfulness": TypeAdapter(_Rating)}
PAIR: Fields = {"reason": _Reason, "equivalent": TypeAdapter(pydantic.StrictBool)}
"""Fields of the replies to each kind of question, and of the verdict on a pair."""


def read_fields(data: Any, fields: Fields) -> dict[str, Any]:
    """Validate the values of an object; a bare list is accepted as the value of a single key.

    Raises `JudgeOutputError` if a key is missing, or its value is invalid.
    """
    if isinstance(data, list) and len(fields) == 1:
        data = dict.fromkeys(fields, data)
    if not isinstance(data, dict):
        raise JudgeOutputError(f"the reply is a JSON {type(data).__name__}, not an object")
    try:
        return {name: kind.validate_python(data[name]) for name, kind in fields.items()}
    except KeyError as error:
        raise JudgeOutputError(f"the reply has no {error.args[0]!r}") from None
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        problem = f"{first['msg']} at {where!r}" if where else first["msg"]
        raise JudgeOutputError(f"the reply does not match the schema: {problem}") from None


class Statement(NamedTuple):
    """A fact of a reply."""

    text: str
    core: str | None = None
    """Statement that it adds a detail to; `None` if it stands alone."""


def statements(entries: Iterable[str]) -> Iterator[Statement]:
    """Write out the entries of a list of facts.

    An entry that starts with `...` continues the last one that does not: `It sank.`, `... in May`
    are `It sank.` and `It sank in May.`, unless it is so long that it is a sentence. Questions, and
    entries without a letter or digit, state nothing.
    """
    core = ""
    for entry in map(one_line, entries):
        text = _CONTINUED.sub("", entry)
        if text.endswith("?") or not _WORD.search(text):
            continue
        if text == entry or not core or len(text.split()) > _MAX_DETAIL:
            core = text
            yield Statement(core)
        else:
            start = core.rstrip(_ENDINGS)
            yield Statement(f"{start} {text.rstrip(_ENDINGS)}{core[len(start) :]}", core)


def _by_id(data: Any, expected: Iterable[str]) -> dict[str, Any]:
    """Return the entries of a reply by id; also accepts a list of objects with an `id`."""
    ids = frozenset(expected)
    if isinstance(data, dict) and len(data) == 1:
        ((key, inner),) = data.items()
        data = inner if key not in ids and isinstance(inner, (dict, list)) else data
    if isinstance(data, list):
        items = [item for item in data if isinstance(item, dict)]
        data = _object([(item["id"], item) for item in items if isinstance(item.get("id"), str)])
    if not isinstance(data, dict):
        raise JudgeOutputError(f"the reply is a JSON {type(data).__name__}, not an object")
    if unknown := [key for key in data if key not in ids and _ID.fullmatch(key)]:
        raise JudgeOutputError(f"the reply has an unknown id {unknown[0]!r}")
    if data and ids.isdisjoint(data):
        raise JudgeOutputError("the reply has none of the expected ids")
    return data


def read_items(
    data: Any,
    questions: Mapping[str, Q],
    read: Callable[[Any, Q], R | None],
    failure: Callable[[Q, str, str], R],
    judge: str,
) -> dict[str, R]:
    """Parse one result per question, in order; `read` returns `None` for an invalid entry.

    A missing, duplicate or invalid entry is a failure of its question alone. Raises
    `JudgeOutputError` if the reply has unknown ids, or none.
    """
    items = _by_id(data, questions)
    results: dict[str, R] = {}
    for key, question in questions.items():
        item = items.get(key, _Fault.missing)
        result = read(item, question)
        if result is None:
            fault = item if isinstance(item, _Fault) else _Fault.invalid
            result = failure(question, fault.name, f"{judge} gave {fault.value}")
        results[key] = result
    return results


def read_verdict(
    item: Any, fact: AtomicFact, text: str, lines: Sequence[Span], judge: str
) -> Verdict | None:
    """Parse the entry of a fact, given the spans of the numbered lines; `None` if invalid."""
    item = item if isinstance(item, dict) else {"answer": item}
    answer, line = item.get("answer"), item.get("line")
    match = _LINE_AND_ANSWER.fullmatch(answer.strip().lower()) if isinstance(answer, str) else None
    label = ANSWERS.get(match[2]) if match else None
    if match is None or label is None:
        return None
    if label == "neutral":
        return Verdict(fact, label, None, None, "", judge)
    line = int(match[1]) if match[1] else line
    if type(line) is not int or not 1 <= line <= len(lines):
        return None
    start, end = lines[line - 1]
    return Verdict(fact, label, None, Evidence(text[start:end], start, end), "", judge)


def read_pair_verdict(item: Any, _pair: ValuePair, judge: str) -> PairVerdict | None:
    """Parse the entry of a pair of values; `None` if it is invalid."""
    try:
        fields = read_fields(item, PAIR)
    except JudgeOutputError:
        return None
    return PairVerdict(fields["equivalent"], None, fields["reason"], judge)
