"""Whatever a model replies, every pair gets one result, never that of another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factcheck import RetryPolicy
from factcheck.errors import Failure, JudgeRejected
from factcheck.judges.factory import build_pair_judge
from factcheck.judges.ports import Ledger, PairJudge, PairVerdict, ValuePair
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import ChatRequest, LocalOpenAIServer, Reply, parse_prompt

PAIRS = [
    ValuePair("1 May", "May 1st", "date"),
    ValuePair("2 May", "3 May", "date"),
    ValuePair("Rome", "Rome, Italy", "place", specificity="allow_more_specific"),
    ValuePair("none", "null"),
]
"""Each with its values in the order in which they are shown."""
READABLE = ("whole", "fenced", "by id")
"""Ways to send a reply that leave each of its items readable."""
IF_WHOLE = ("in prose", "twice")
"""Ways to send a reply that count if every item is right."""
QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

odd_values: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.just([])
    | st.just({})
    | st.sampled_from(["Yes", "supported", " neutral", "true", "entailed", "equivalent", " false"])
)
slots = st.integers(0, 5)
"""Which of the asked ids an item is for; numbers past the end stand for ids nobody asked for."""
honest_pairs = {"id": slots, "reason": st.text(max_size=5), "equivalent": st.booleans()}


@st.composite
def mangled_items(draw: st.DrawFn, honest: dict[str, st.SearchStrategy[Any]]) -> Any:
    item = draw(st.fixed_dictionaries(honest))
    key = draw(st.sampled_from(sorted(item)))
    item[key] = draw(odd_values)
    if draw(st.booleans()):
        del item[key]
    return item


def scripts(honest: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[list[tuple[Any, str]]]:
    items = st.lists(st.fixed_dictionaries(honest) | mangled_items(honest) | odd_values, max_size=9)
    replies = st.one_of(
        items.map(lambda items: {"verdicts": items}),
        items,
        odd_values.map(lambda value: {"verdicts": value}),
        st.just({"answers": []}),
    )
    ways = [*("whole",) * 3, *sent("")]
    return st.lists(st.tuples(replies, st.sampled_from(ways)), min_size=1, max_size=5)


def sent(reply: Any) -> dict[str, Reply | str]:
    text = json.dumps(reply)
    return {
        "whole": text, "by id": by_id(reply), "fenced": f"```json\n{text}\n```", "nothing": "",
        "cut off": Reply(text[: len(text) // 2], finish_reason="length"),
        "cut off unnoticed": text[: len(text) // 2], "all but its end": text[:-1],
        "in prose": f"Sure! {text} I hope this helps.", "twice": f"{text}\n{text}",
        "refused": Reply(None, refusal="No."),
        "turned down": Reply(status=422, error={"message": "no"}),
    }  # fmt: skip


def with_ids(value: Any, ids: Sequence[str]) -> Any:
    """The value, with the slots of its items replaced by the ids of this call."""
    if isinstance(value, list):
        return [with_ids(item, ids) for item in value]
    if isinstance(value, dict):
        plain = {key: with_ids(item, ids) for key, item in value.items()}
        slot = value.get("id")
        return {**plain, "id": ids[slot]} if type(slot) is int and 0 <= slot < len(ids) else plain
    return value


def by_id(reply: Any) -> str:
    """The items of a reply as an object, with doubled keys where an id comes twice."""
    items = reply.get("verdicts") if isinstance(reply, dict) else reply
    if not isinstance(items, list):
        return json.dumps(reply)
    pairs = [(item.get("id"), item) for item in items if isinstance(item, dict)]
    written = (f"{json.dumps(str(key))}: {json.dumps(item)}" for key, item in pairs)
    return f"{{{', '.join(written)}}}"


def said(reply: Any, way: str, ids: Sequence[str]) -> dict[str, bool | None]:
    """What a reply says about each id, if it says one thing in a form that can be read."""
    nothing = dict.fromkeys(ids)
    items = reply.get("verdicts") if isinstance(reply, dict) else reply
    if not isinstance(items, list) or way not in (*READABLE, *IF_WHOLE):
        return nothing
    if way in IF_WHOLE and isinstance(reply, list):
        return nothing  # a list in prose is not an answer
    items = [item for item in items if isinstance(item, dict)]
    if way == "by id" and any(str(item.get("id")).isdigit() for item in items):
        return nothing  # answers what was not asked
    found = {each: _said([item for item in items if item.get("id") == each]) for each in ids}
    return nothing if way in IF_WHOLE and None in found.values() else found


def _said(mine: Sequence[Any]) -> bool | None:
    if len(mine) != 1:
        return None
    reason, equivalent = mine[0].get("reason"), mine[0].get("equivalent")
    return equivalent if isinstance(reason, str) and isinstance(equivalent, bool) else None


class Adversary:
    """Answers with what was scripted, the last of it again and again, and knows what it said."""

    def start(self, script: Sequence[tuple[Any, str]]) -> None:
        self.script = list(script)
        self.asked = 0
        self.said: dict[ValuePair, list[bool | None]] = {pair: [] for pair in PAIRS}

    def __call__(self, request: ChatRequest) -> Reply | str:
        template, way = self.script[min(self.asked, len(self.script) - 1)]
        self.asked += 1
        prompt = parse_prompt(request.body)
        reply = with_ids(template, [*prompt.pairs])
        about = said(reply, way, list(prompt.pairs))
        for call_id, pair in prompt.pairs.items():
            self.said[pair].append(about[call_id])
        return sent(reply)[way]


@pytest.fixture(scope="module")
def adversary() -> Iterator[tuple[Adversary, PairJudge]]:
    model = Adversary()
    with LocalOpenAIServer(model) as server:
        to_server = Settings(openai_base_url=server.base_url)
        once = RetryPolicy(stop_after_attempt=1)
        with Session(cache="off", retry=once, concurrency=1, settings=to_server) as session:
            yield model, build_pair_judge("openai/adversary", session)


@QUIET
@given(scripts(honest_pairs), st.lists(st.sampled_from(PAIRS), min_size=1, max_size=8))
def test_a_pair_has_the_verdict_that_was_given_for_it_or_none(
    adversary: tuple[Adversary, PairJudge],
    script: list[tuple[Any, str]],
    pairs: list[ValuePair],
) -> None:
    model, judge = adversary
    model.start([*script, ({"verdicts": []}, "whole")])
    try:
        results = asyncio.run(judge.compare(pairs, Ledger()))
    except JudgeRejected:
        assert "turned down" in {way for _, way in script}
        assert all(answer is None for answers in model.said.values() for answer in answers)
        return

    assert len(results) == len(pairs)
    for pair, result in zip(pairs, results, strict=True):
        answers = model.said[pair]
        assert len(answers) in (1, 2, 3)
        given_for_it = [answer for answer in answers if answer is not None]
        if isinstance(result, PairVerdict):
            assert given_for_it == [result.equivalent]
        else:
            assert isinstance(result, Failure)
            assert result.code
            assert result.message
            assert given_for_it == []
