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
IF_WHOLE = ("in prose", "twice")
"""Ways to send a reply that count if every item is right."""
Items = Sequence[tuple[int, Any]]
"""Verdicts by the place of the id that they are for; past the end, an id that nobody asked for."""

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
honest = st.fixed_dictionaries({"reason": st.text(max_size=5), "equivalent": st.booleans()})


@st.composite
def mangled(draw: st.DrawFn) -> Any:
    item, key = draw(honest), draw(st.sampled_from(["reason", "equivalent"]))
    if draw(st.booleans()):
        return {**item, key: draw(odd_values)}
    return {name: value for name, value in item.items() if name != key}


def sent(reply: str) -> dict[str, Reply | str]:
    return {
        "whole": reply, "fenced": f"```json\n{reply}\n```", "nothing": "",
        "cut off": Reply(reply[: len(reply) // 2], finish_reason="length"),
        "cut off unnoticed": reply[: len(reply) // 2], "all but its end": reply[:-1],
        "in prose": f"Sure! {reply} I hope this helps.", "twice": f"{reply}\n{reply}",
        "refused": Reply(None, refusal="No."),
        "turned down": Reply(status=422, error={"message": "no"}),
    }  # fmt: skip


def said(items: Items, way: str, n_ids: int) -> list[bool | None]:
    """What a reply says about each id, if it says one thing in a form that can be read."""
    nothing: list[bool | None] = [None] * n_ids
    is_readable = way in ("whole", "fenced", *IF_WHOLE)
    if not is_readable or any(place >= n_ids for place, _ in items):
        return nothing
    found = [_said([item for place, item in items if place == n]) for n in range(n_ids)]
    return nothing if way in IF_WHOLE and None in found else found


def _said(mine: Sequence[Any]) -> bool | None:
    if len(mine) != 1 or not isinstance(mine[0], dict):
        return None
    reason, equivalent = mine[0].get("reason"), mine[0].get("equivalent")
    return equivalent if isinstance(reason, str) and isinstance(equivalent, bool) else None


class Adversary:
    """Answers with what was scripted, the last of it again and again, and knows what it said."""

    def start(self, script: Sequence[tuple[Items, str]]) -> None:
        self.script = list(script)
        self.asked = 0
        self.said: dict[ValuePair, list[bool | None]] = {pair: [] for pair in PAIRS}

    def __call__(self, request: ChatRequest) -> Reply | str:
        items, way = self.script[min(self.asked, len(self.script) - 1)]
        self.asked += 1
        pairs = parse_prompt(request.body).pairs
        ids = [*pairs, *(f"p{n}" for n in range(90, 99))]
        reply = ", ".join(f'"{ids[place]}": {json.dumps(item)}' for place, item in items)
        for pair, answer in zip(pairs.values(), said(items, way, len(pairs)), strict=True):
            self.said[pair].append(answer)
        return sent(f"{{{reply}}}")[way]


@pytest.fixture(scope="module")
def adversary() -> Iterator[tuple[Adversary, PairJudge]]:
    model = Adversary()
    with LocalOpenAIServer(model) as server:
        to_server = Settings(openai_base_url=server.base_url)
        once = RetryPolicy(stop_after_attempt=1)
        with Session(cache="off", retry=once, concurrency=1, settings=to_server) as session:
            yield model, build_pair_judge("openai/adversary", session)


replies = st.tuples(
    st.lists(st.tuples(st.integers(0, 5), honest | mangled() | odd_values), max_size=9),
    st.sampled_from([*("whole",) * 3, *sent("")]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(replies, min_size=1, max_size=5),
    st.lists(st.sampled_from(PAIRS), min_size=1, max_size=8),
)
def test_a_pair_has_the_verdict_that_was_given_for_it_or_none(
    adversary: tuple[Adversary, PairJudge], script: list[tuple[Items, str]], pairs: list[ValuePair]
) -> None:
    model, judge = adversary
    model.start([*script, ([], "whole")])
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
