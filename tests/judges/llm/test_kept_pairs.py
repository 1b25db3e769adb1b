"""A verdict on a pair is kept under a key of all that was said about the pair, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from factcheck.errors import Failure
from factcheck.judges.ports import PairVerdict, ValuePair
from factcheck.runtime.cache import MemoryCache
from factcheck.testing import (
    ChatRequest,
    FactModel,
    LocalOpenAIServer,
    leave_out,
    parse_prompt,
    sequence,
)
from tests.judges.llm.conftest import MakePairSetup

PAIR = ValuePair("Ada Byron", "Ada Lovelace", "author", "Who wrote it", "Married names count.")
OTHERS = [ValuePair(f"name {n}", f"name {n}", "author") for n in range(6)]


class Fickle:
    """Says something else about every pair each time it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, request: ChatRequest) -> str:
        verdicts = []
        for place, call_id in enumerate(parse_prompt(request.body).pairs):
            self.asked += 1
            equivalent = (place + self.asked) % 2 == 0
            verdicts.append({"id": call_id, "reason": f"{self.asked}", "equivalent": equivalent})
        return json.dumps({"verdicts": verdicts})


def test_a_second_run_sends_nothing_and_says_the_same(comparing: MakePairSetup) -> None:
    setup = comparing(Fickle(), cache=MemoryCache())
    before = setup.compare(PAIR, *OTHERS)
    again = setup.compare(PAIR, *OTHERS)
    assert len(setup.server.requests) == 1
    assert all(isinstance(r, PairVerdict) and not r.cached for r in before)
    assert again == tuple(replace(r, cached=True) for r in before if isinstance(r, PairVerdict))
    assert setup.ledger.usage.cache_hits == 7


def test_neighbours_order_and_repetition_do_not_change_a_verdict(comparing: MakePairSetup) -> None:
    setup = comparing(Fickle(), cache=MemoryCache())
    (first,) = setup.compare(PAIR)
    mirrored = replace(PAIR, gold=PAIR.extracted, extracted=PAIR.gold)

    later = [
        setup.compare(*OTHERS, PAIR)[-1],
        setup.compare(PAIR, PAIR, *OTHERS[:2])[1],
        setup.compare(*OTHERS[3:], mirrored, OTHERS[0])[3],
    ]

    assert isinstance(first, PairVerdict)
    assert later == [replace(first, cached=True)] * 3
    assert setup.sizes == [1, 6]


CHANGES: list[dict[str, Any]] = [
    {"gold": "Ada King"}, {"extracted": "ada lovelace"}, {"path": "authors[]"},
    {"description": "Who wrote the book"}, {"instructions": ""},
    {"specificity": "allow_more_specific"}, {"specificity": "allow_less_specific"},
    {"path": "", "description": "authorWho wrote it"},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_whatever_else_is_said_about_a_pair_is_another_question(
    change: dict[str, Any], comparing: MakePairSetup
) -> None:
    setup = comparing(FactModel(), cache=MemoryCache())
    for pair in (PAIR, replace(PAIR, **change)):
        setup.compare(pair)
    assert setup.sizes == [1, 1]


def test_more_specific_the_other_way_round_is_another_question(comparing: MakePairSetup) -> None:
    setup = comparing(FactModel(), cache=MemoryCache())
    pair = replace(PAIR, specificity="allow_more_specific")
    setup.compare(pair)
    setup.compare(replace(pair, gold=pair.extracted, extracted=pair.gold))
    assert setup.sizes == [1, 1]


@pytest.mark.parametrize("options", [{"judge": "openai/other"}, {"batch_size": 8}])
def test_another_model_or_batch_size_is_never_served_it(
    options: dict[str, Any], comparing: MakePairSetup
) -> None:
    cache = MemoryCache()
    with LocalOpenAIServer(FactModel()) as server:
        for each in ({}, options, {}, options):
            comparing(server, cache=cache, **each).compare(PAIR)
        assert len(server.requests) == 2


def test_another_endpoint_is_never_served_it(comparing: MakePairSetup) -> None:
    cache = MemoryCache()
    setups = [comparing(FactModel(), cache=cache) for _ in range(2)]
    for setup in setups:
        setup.compare(PAIR)
    assert [setup.sizes for setup in setups] == [[1], [1]]


def test_another_prompt_is_never_served_it(
    comparing: MakePairSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = MemoryCache()
    with LocalOpenAIServer(FactModel()) as server:
        comparing(server, cache=cache).compare(PAIR)
        monkeypatch.setattr(
            "factcheck.judges.llm.pairs.fingerprint", lambda *_: "compare_values/v2@00000000"
        )
        comparing(server, cache=cache).compare(PAIR)
        assert len(server.requests) == 2


def test_a_pair_without_a_verdict_is_not_kept(comparing: MakePairSetup) -> None:
    broken = FactModel(mangles=[leave_out(PAIR.gold)])
    setup = comparing(sequence(broken, broken, then=FactModel()), cache=MemoryCache())
    first = setup.compare(PAIR, *OTHERS)
    second = setup.compare(PAIR, *OTHERS)
    assert isinstance(first[0], Failure)
    assert isinstance(second[0], PairVerdict)
    assert [r.cached for r in second if isinstance(r, PairVerdict)] == [False, *[True] * 6]
    assert setup.sizes == [7, 1, 1]


def _without(key: str) -> Callable[[dict[str, Any]], Any]:
    return lambda answer: {name: value for name, value in answer.items() if name != key}


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: [], lambda _: None, lambda answer: {**answer, "equivalent": "false"},
        lambda answer: {**answer, "equivalent": 1}, _without("equivalent"), _without("reason"),
    ],
)  # fmt: skip
def test_a_kept_verdict_that_cannot_be_read_is_asked_for_again(
    damage: Callable[[Any], Any], comparing: MakePairSetup
) -> None:
    cache = MemoryCache()
    setup = comparing(FactModel(), cache=cache)
    setup.compare(PAIR)
    ((key, text),) = cache._entries.items()
    entry = json.loads(text)
    cache.set_many({key: json.dumps({**entry, "answer": damage(entry["answer"])})})
    (again,) = setup.compare(PAIR)
    assert again == PairVerdict(False, None, "scripted", "openai/tiny")
    assert setup.sizes == [1, 1]


def test_the_identity_names_model_prompt_and_endpoint(comparing: MakePairSetup) -> None:
    setup = comparing(FactModel())
    identity = setup.judge.identity
    assert identity["judge"] == "openai/tiny"
    assert identity["compare"].startswith("compare_values/v1@")
    assert identity["endpoint"] in setup.server.base_url
