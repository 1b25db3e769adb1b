"""What holds for every pair judge, whoever it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factcheck.errors import Failure
from factcheck.facts import ScoreSignature
from factcheck.judges.cascade import CascadeJudge
from factcheck.judges.factory import build_pair_judge
from factcheck.judges.ports import (
    Ledger,
    PairJudge,
    PairResult,
    PairVerdict,
    Specificity,
    ValuePair,
)
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import FactModel, LocalOpenAIServer, ScriptedPairJudge, same_words
from tests.runtime.cache.stores import MemoryCache

SPECIFICITIES: tuple[Specificity, ...] = ("exact", "allow_more_specific", "allow_less_specific")
PAIRS = [
    ValuePair("12 April 2024", "2024-04-12", "date", "Day of delivery"),
    ValuePair("12 April 2024", "21 April 2024", "date", "Day of delivery"),
    ValuePair("Acme Ltd", "ACME Limited", "items[].vendor", "", "Legal forms do not matter."),
    ValuePair("Rome", "Rome, Italy", "city", specificity="allow_more_specific"),
    ValuePair("Rome, Italy", "Rome", "city", specificity="allow_less_specific"),
    ValuePair("Rome, Italy", "Rome", "city"),
    ValuePair("approved", "not approved", "state"),
    ValuePair("5 kg", "5 lb", "weight"),
    ValuePair("", "none", "note"),
    ValuePair('{"a": 1, "b": [true, null]}', '{"b": [true, null], "a": 1}', "extra"),
]

JUDGES = ("local", "llm", "llm with a cache", "cascade in a cascade")


def scripted(pair: ValuePair) -> bool | float:
    gold, extracted = ({*value.casefold().split()} for value in (pair.gold, pair.extracted))
    if same_words(pair):
        return 1.0
    return 0.5 if gold & extracted else 0.0


@pytest.fixture(scope="module")
def server() -> Iterator[LocalOpenAIServer]:
    with LocalOpenAIServer(FactModel()) as running:
        yield running


@pytest.fixture(scope="module", params=JUDGES)
def judge(request: pytest.FixtureRequest, server: LocalOpenAIServer) -> Iterator[PairJudge]:
    stack = ExitStack()

    def llm(cache: MemoryCache | str = "off") -> PairJudge:
        to_server = Settings(openai_base_url=server.base_url)
        session = stack.enter_context(Session(cache=cache, settings=to_server))
        return build_pair_judge("openai/tiny", session)

    makers: dict[str, Callable[[], PairJudge]] = {
        "local": lambda: build_pair_judge("local", Session(cache="off")),
        "llm": llm,
        "llm with a cache": lambda: llm(MemoryCache()),
        "cascade in a cascade": lambda: CascadeJudge(
            ScriptedPairJudge(scripted), CascadeJudge(ScriptedPairJudge(scripted), llm())
        ),
    }
    with stack:
        yield makers[request.param]()


def compare(judge: PairJudge, pairs: Sequence[ValuePair]) -> list[PairResult]:
    async def ask() -> Sequence[PairResult]:
        return await judge.compare(pairs, Ledger())

    results = asyncio.run(ask())
    return [replace(r, cached=False) if isinstance(r, PairVerdict) else r for r in results]


def decided(results: Sequence[PairResult]) -> list[tuple[bool, float | None] | str]:
    return [
        (r.equivalent, r.probability) if isinstance(r, PairVerdict) else r.code for r in results
    ]


def mirrored(pair: ValuePair) -> ValuePair:
    return replace(pair, gold=pair.extracted, extracted=pair.gold)


def test_it_fulfils_the_port_and_says_who_it_is(judge: PairJudge) -> None:
    assert isinstance(judge, PairJudge)
    signature = ScoreSignature.of(judge.identity)
    assert signature["judge"]
    assert ScoreSignature.parse(str(signature)) == signature
    assert judge.identity == judge.identity
    assert compare(judge, []) == []


def test_every_pair_has_a_verdict_of_its_own_in_its_place(judge: PairJudge) -> None:
    together = compare(judge, PAIRS)
    assert together == [compare(judge, [pair])[0] for pair in PAIRS]
    for result in together:
        assert isinstance(result, PairVerdict)
        assert result.judge
        assert result.probability is None or 0.0 <= result.probability <= 1.0
    assert len({r.equivalent for r in together if isinstance(r, PairVerdict)}) == 2
    assert compare(judge, [*PAIRS, *PAIRS[::-1]]) == [*together, *together[::-1]]
    exact = [replace(pair, specificity="exact") for pair in PAIRS]
    swapped = [mirrored(pair) for pair in exact]
    assert decided(compare(judge, swapped)) == decided(compare(judge, exact))


any_text = st.text(st.characters(), max_size=30) | st.sampled_from(
    [
        "", " ", "\n", "\x00", "null", "0", "-0.0", "NaN", "1e999", "\ud800", "[]", "{",
        "</pairs>", "١٢",
    ]
)  # fmt: skip
any_pair = st.builds(
    ValuePair, any_text, any_text, any_text, any_text, any_text, st.sampled_from(SPECIFICITIES)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(any_pair, max_size=6))
def test_whatever_stands_in_a_pair_it_has_one_result_which_is_always_the_same(
    judge: PairJudge, pairs: list[ValuePair]
) -> None:
    results = compare(judge, pairs)
    assert len(results) == len(pairs)
    for pair, result in zip(pairs, results, strict=True):
        assert isinstance(result, (PairVerdict, Failure))
        if isinstance(result, PairVerdict):
            assert result.probability is None or 0.0 <= result.probability <= 1.0
        assert compare(judge, [pair]) == [result]
        if pair.specificity == "exact":
            assert decided(compare(judge, [mirrored(pair)])) == decided([result])


@pytest.mark.parametrize("specificity", SPECIFICITIES)
def test_a_value_means_the_same_as_itself(specificity: Specificity, judge: PairJudge) -> None:
    values = {value for pair in PAIRS for value in (pair.gold, pair.extracted)}
    results = compare(judge, [ValuePair(v, v, specificity=specificity) for v in sorted(values)])
    assert all(isinstance(r, PairVerdict) and r.equivalent for r in results)
