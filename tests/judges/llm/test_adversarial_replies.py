"""Whatever a model replies, every fact ends up in exactly one group."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factcheck import CheckFailure, FactCoverage, RetryPolicy
from factcheck.facts import LABELS, CheckResult
from factcheck.testing import ChatRequest, LocalOpenAIServer, Reply, parse_prompt

FACTS = ["The mill closed.", "The mill made paper.", "Ida Berg owned the mill.", "It rained."]
TEXT = "The mill, owned by Ida Berg, closed in 1987 after a flood."

odd_values: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.sampled_from(["Entailed", "supported", "entailed.", " neutral"]),
)
slots = st.integers(0, 5)
"""Which of the asked ids an item is for; numbers past the end stand for ids nobody asked for."""


def honest_items() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "id": slots,
            "label": st.sampled_from(LABELS),
            "quote": st.sampled_from(["", "The mill", "never written", TEXT]),
            "reason": st.text(max_size=5),
        }
    )


def mangled_items() -> st.SearchStrategy[Any]:
    keys = st.sampled_from(["id", "label", "quote", "reason"])

    def spoil(item: dict[str, Any], key: str, value: Any, drop: bool) -> dict[str, Any]:  # noqa: FBT001
        spoilt = {**item, key: value}
        if drop:
            del spoilt[key]
        return spoilt

    return st.builds(spoil, honest_items(), keys, odd_values, st.booleans()) | odd_values


lists_of_items = st.lists(honest_items() | mangled_items(), max_size=9)
whole_replies: st.SearchStrategy[Any] = st.one_of(
    lists_of_items.map(lambda items: {"verdicts": items}),
    lists_of_items,
    odd_values.map(lambda value: {"verdicts": value}),
    st.just({"answers": []}),
)
ways_to_send = st.sampled_from(
    ["whole", "cut off", "cut off unnoticed", "fenced", "in prose", "twice", "nothing", "refused"]
)


def sent(reply: Any, way: str, ids: list[str]) -> Reply | str:
    text = json.dumps(_with_ids(reply, ids))
    replies: dict[str, Reply | str] = {
        "whole": text, "cut off": Reply(text[: len(text) // 2], finish_reason="length"),
        "cut off unnoticed": text[: len(text) // 2], "fenced": f"```json\n{text}\n```",
        "in prose": f"Sure! {text} I hope this helps.", "twice": f"{text}\n{text}", "nothing": "",
        "refused": Reply(None, refusal="No."),
    }  # fmt: skip
    return replies[way]


def _with_ids(value: Any, ids: list[str]) -> Any:
    if isinstance(value, list):
        return [_with_ids(item, ids) for item in value]
    if isinstance(value, dict):
        slot = value.get("id")
        known = type(slot) is int and 0 <= slot < len(ids)
        item_id = {"id": ids[slot]} if known else {}  # type: ignore[index]
        return {**{key: _with_ids(v, ids) for key, v in value.items()}, **item_id}
    return value


class Adversary:
    """Answers with what was scripted last."""

    def __init__(self) -> None:
        self.script: list[tuple[Any, str]] = []
        self.asked = 0

    def __call__(self, request: ChatRequest) -> Reply | str:
        reply, way = self.script[min(self.asked, len(self.script) - 1)]
        self.asked += 1
        return sent(reply, way, list(parse_prompt(request.body).facts))


@pytest.fixture(scope="module")
def adversary() -> Iterator[tuple[Adversary, FactCoverage]]:
    model = Adversary()
    with LocalOpenAIServer(model) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        once = RetryPolicy(stop_after_attempt=1)
        with FactCoverage("openai/adversary", retry=once, cache="off") as scorer:
            yield model, scorer


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(whole_replies, ways_to_send), min_size=1, max_size=3))
def test_kept_dropped_distorted_and_undecided_are_exactly_the_facts(
    adversary: tuple[Adversary, FactCoverage], script: list[tuple[Any, str]]
) -> None:
    model, scorer = adversary
    model.script, model.asked = script, 0

    report = scorer.score("", TEXT, facts=FACTS)

    groups: list[CheckResult] = [*report.kept, *report.dropped, *report.distorted]
    groups += report.undecided
    assert sorted(item.fact.id for item in groups) == [fact.id for fact in report.facts]
    assert [result.fact for result in report.results] == list(report.facts)
    assert model.asked <= 3
    for result in report.results:
        if isinstance(result, CheckFailure):
            assert result.code
            assert result.message
        elif result.evidence is not None:
            assert TEXT[result.evidence.start : result.evidence.end] == result.evidence.quote
    assert (report.score is None) == (len(report.undecided) == len(FACTS))
