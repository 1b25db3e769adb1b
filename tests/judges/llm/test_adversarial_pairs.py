"""Whatever a model replies, every pair gets one result, and never the verdict on another pair."""

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
READABLE = ("whole", "fenced")
"""Ways to send a reply that leave it readable."""

odd_values: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.sampled_from(["true", "yes", "equivalent", " false"]),
)
slots = st.integers(0, 5)
"""Which of the asked ids an item is for; numbers past the end stand for ids nobody asked for."""
honest_items = st.fixed_dictionaries(
    {"id": slots, "reason": st.text(max_size=5), "equivalent": st.booleans()}
)


@st.composite
def mangled_items(draw: st.DrawFn) -> Any:
    item: dict[str, Any] = dict(draw(honest_items))
    key = draw(st.sampled_from(sorted(item)))
    item[key] = draw(odd_values)
    if draw(st.booleans()):
        del item[key]
    return item


lists_of_items = st.lists(honest_items | mangled_items() | odd_values, max_size=9)
replies: st.SearchStrategy[Any] = st.one_of(
    lists_of_items.map(lambda items: {"verdicts": items}),
    lists_of_items,
    odd_values.map(lambda value: {"verdicts": value}),
    st.just({"answers": []}),
)
ways_to_send = st.sampled_from(
    [
        *READABLE,
        *("whole", "whole", "whole"),
        *("cut off", "cut off unnoticed", "in prose", "twice", "nothing", "refused", "turned down"),
    ]
)


def sent(reply: Any, way: str) -> Reply | str:
    text = json.dumps(reply)
    ways: dict[str, Reply | str] = {
        "whole": text, "fenced": f"```json\n{text}\n```",
        "cut off": Reply(text, finish_reason="length"), "cut off unnoticed": text[:-1],
        "in prose": f"Sure! {text} I hope this helps.", "twice": f"{text}\n{text}", "nothing": "",
        "refused": Reply(None, refusal="No."),
        "turned down": Reply(status=422, error={"message": "no"}),
    }  # fmt: skip
    return ways[way]


def with_ids(value: Any, ids: Sequence[str]) -> Any:
    """The value, with the slots of its items replaced by the ids of this call."""
    if isinstance(value, list):
        return [with_ids(item, ids) for item in value]
    if isinstance(value, dict):
        plain = {key: with_ids(item, ids) for key, item in value.items()}
        slot = value.get("id")
        return {**plain, "id": ids[slot]} if type(slot) is int and 0 <= slot < len(ids) else plain
    return value


def said(reply: Any, way: str, call_id: str) -> bool | None:
    """What a reply says about an id, if it says one thing in the form that was asked for."""
    items = reply.get("verdicts") if isinstance(reply, dict) and way in READABLE else None
    if not isinstance(items, list):
        return None
    mine = [item for item in items if isinstance(item, dict) and item.get("id") == call_id]
    if len(mine) != 1:
        return None
    reason, equivalent = mine[0].get("reason"), mine[0].get("equivalent")
    written = isinstance(reason, (str, int, float)) and not isinstance(reason, bool)
    return equivalent if written and isinstance(equivalent, bool) else None


class Adversary:
    """Answers with what was scripted, the last of it again and again, and knows what it said."""

    def __init__(self) -> None:
        self.start([])

    def start(self, script: Sequence[tuple[Any, str]]) -> None:
        self.script = list(script)
        self.asked = 0
        self.said: dict[ValuePair, list[bool | None]] = {pair: [] for pair in PAIRS}

    def __call__(self, request: ChatRequest) -> Reply | str:
        template, way = self.script[min(self.asked, len(self.script) - 1)]
        self.asked += 1
        pairs = parse_prompt(request.body).pairs
        reply = with_ids(template, list(pairs))
        for call_id, pair in pairs.items():
            self.said[pair].append(said(reply, way, call_id))
        return sent(reply, way)


@pytest.fixture(scope="module")
def adversary() -> Iterator[tuple[Adversary, PairJudge]]:
    model = Adversary()
    with LocalOpenAIServer(model) as server:
        to_server = Settings(openai_base_url=server.base_url)
        retry = RetryPolicy(stop_after_attempt=1)
        with Session(cache="off", retry=retry, concurrency=1, settings=to_server) as session:
            yield model, build_pair_judge("openai/adversary", session)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(replies, ways_to_send), min_size=1, max_size=5),
    st.lists(st.sampled_from(PAIRS), min_size=1, max_size=8),
)
def test_a_pair_has_the_verdict_that_was_given_for_it_or_none(
    adversary: tuple[Adversary, PairJudge], script: list[tuple[Any, str]], pairs: list[ValuePair]
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
        assert len(answers) in (1, 2)
        given_for_it = [answer for answer in answers if answer is not None]
        if isinstance(result, PairVerdict):
            assert given_for_it == [result.equivalent]
        else:
            assert isinstance(result, Failure)
            assert result.code
            assert result.message
            assert given_for_it == []
