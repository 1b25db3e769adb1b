"""What was paid for is kept under a key of all that shapes it; what is spent keeps to its cap."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from factcheck import Budget, CheckFailure, FactCoverage, Model, RetryPolicy, Verdict
from factcheck.errors import ConfigError, InputError
from factcheck.facts import Usage
from factcheck.judges.llm.providers import PROVIDERS
from factcheck.judges.ports import PairVerdict, ValuePair
from factcheck.runtime.budget import Price
from factcheck.testing import FactModel, LocalOpenAIServer, Reply, Request
from tests.faults import bad_request, hang, rate_limited, sequence
from tests.judges.llm.conftest import MODEL, QUICK, MakePairSetup, MakeSetup, completion
from tests.runtime.cache.stores import MemoryCache

FACTS = ["The dam holds.", "The dam is 40 metres high.", "Nobody lives below it."]
TEXT = "The dam holds and is 40 metres high."
SOURCE = " ".join(FACTS)


def test_only_what_shapes_an_answer_is_part_of_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(server: LocalOpenAIServer, judge: Any = MODEL, **options: Any) -> int:
        server.clear()
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with FactCoverage(judge, cache=tmp_path, **options) as scorer:
            scorer.check(FACTS, TEXT)
        return len(server.requests)

    with LocalOpenAIServer(FactModel()) as one, LocalOpenAIServer(FactModel()) as other:
        assert [asked(one), asked(one)] == [1, 0]
        assert asked(one, "openai/other") == 1
        assert asked(one, Model(MODEL, temperature=0.7)) == 1
        assert asked(one, Model(MODEL, timeout_s=7.0)) == 0
        assert asked(other) == 1
        assert asked(one, batch_size=2) == 2
        monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
        retry, budget = RetryPolicy(stop_after_attempt=2), Budget(max_calls=99)
        assert asked(one, concurrency=3, retry=retry, budget=budget) == 0


def test_only_facts_without_a_verdict_are_asked_and_each_statement_once(llm: MakeSetup) -> None:
    setup = llm(sequence('{"f2": "1 yes"}', "{}", then=FactModel()), cache=MemoryCache())
    first = setup.scorer.check([*FACTS[:2], FACTS[1]], TEXT)
    second = setup.scorer.check(FACTS, TEXT)
    assert isinstance(first[0], CheckFailure)
    assert [result.fact.id for result in first] == ["f1", "f2", "f3"]
    assert all(isinstance(result, Verdict) for result in second)
    assert setup.asked == [FACTS[:2], FACTS[:1], [FACTS[0], FACTS[2]]]
    assert setup.scorer.ledger.usage.cache_hits == 1


def test_verdicts_are_found_in_any_order_and_company_and_a_request_adds_one_entry(
    llm: MakeSetup,
) -> None:
    cache, new = MemoryCache(), "The dam is new."
    setup = llm(FactModel(), cache=cache, batch_size=2)
    for facts in (FACTS, [new, *reversed(FACTS)], [FACTS[2], new], FACTS[1:]):
        setup.scorer.check(facts, TEXT)
    assert sorted(setup.asked) == sorted([FACTS[:1], FACTS[1:], [new]])
    (entries,) = (values for values in cache.entries.values() if "answers" in values[0])
    assert sorted(list(json.loads(entry)["answers"]) for entry in entries) == sorted(setup.asked)


def test_models_that_only_share_a_name_keep_nothing(llm: MakeSetup) -> None:
    from dspy.utils import DummyLM

    cache = MemoryCache()
    with FactCoverage(DummyLM([{"verdicts": "[]"}] * 4), cache=cache) as scorer:
        scorer.check(FACTS, TEXT)
    assert not cache.entries


def test_retries_count_against_the_budget(llm: MakeSetup) -> None:
    scorer, server = llm(lambda _: rate_limited(retry_after=0), budget=Budget(max_calls=2))
    report = scorer.score("", TEXT, facts=FACTS)
    assert len(server.requests) == 2
    assert {failure.code for failure in report.undecided} == {"budget"}


def test_a_budget_in_dollars_needs_a_known_price(llm: MakeSetup) -> None:
    with pytest.raises(ConfigError, match="price of openai/tiny is not known"):
        llm(FactModel(), budget=Budget(max_cost_usd=1.0))


def test_one_429_makes_the_others_wait_and_asks_for_less(llm: MakeSetup) -> None:
    limited = sequence(*[rate_limited(retry_after=0.05)] * 4, then=FactModel())
    scorer, server = llm(limited, batch_size=1, concurrency=8, retry=QUICK)
    facts = [f"The dam has {n} gates." for n in range(16)]
    results = scorer.check(facts, TEXT)
    assert all(isinstance(result, Verdict) for result in results)
    assert len(server.requests) == 20
    assert max(request.in_flight for request in server.requests[8:]) <= 6


def test_requests_whose_cost_is_not_known_use_up_the_budget(llm: MakeSetup) -> None:
    budget, settings = Budget(max_tokens=3000), {"timeout_s": 0.1}
    scorer, server = llm(lambda _: hang(5), settings, budget=budget, batch_size=1)
    report = scorer.score("", TEXT, facts=FACTS)
    assert "budget" in {failure.code for failure in report.undecided}
    assert len(server.requests) < 9


def test_an_empty_list_of_facts_is_not_kept(llm: MakeSetup) -> None:
    scorer, _ = llm(sequence('{"facts": []}', then=FactModel()), cache=MemoryCache())
    with pytest.raises(InputError, match="no facts found"):
        scorer.extract(SOURCE)
    assert len(scorer.extract(SOURCE)) == 3


UNREADABLE: list[Any] = [
    *(["entailed", place] for place in (0, "x", [9, 3], [0], [0.0, 4.0], [0, 10**6])),
    *(["entailed", place] for place in ([-9, -3], [None, None], [False, True], [2, 2])),
    *([label, None] for label in ("maybe", None, ["entailed"])),
    *(["entailed"], {}, None),
]


@pytest.mark.parametrize("planted", UNREADABLE, ids=range(len(UNREADABLE)))
def test_a_verdict_that_cannot_be_read_is_asked_for_again_and_only_it(
    llm: MakeSetup, planted: Any
) -> None:
    cache = MemoryCache()
    setup = llm(FactModel(), cache=cache)
    before = setup.scorer.check(FACTS, TEXT)
    ((key, (text,)),) = [(k, v) for k, v in cache.entries.items() if FACTS[0] in v[0]]
    entry = json.loads(text)
    entry["answers"][FACTS[0]] = planted
    cache.entries[key] = [json.dumps(entry)]
    after = setup.scorer.check(FACTS, TEXT)
    assert [r.label for r in after] == [r.label for r in before]
    assert setup.asked == [FACTS, FACTS[:1]]


def test_an_entry_without_end_is_asked_for_again(llm: MakeSetup) -> None:
    cache = MemoryCache()
    scorer, server = llm(FactModel(), cache=cache)
    scorer.check(FACTS, TEXT)
    cache.entries = {key: ["[" * 200_000] for key in cache.entries}
    scorer.check(FACTS, TEXT)
    assert len(server.requests) == 2


PAIR = ValuePair("Ada Byron", "Ada Lovelace", "author", "Who wrote it", "Married names count.")
OTHERS = [ValuePair(f"name {n}", f"name {n}", "author") for n in range(6)]


def test_neighbours_order_and_repetition_do_not_change_a_verdict(comparing: MakePairSetup) -> None:
    turns = cycle([True, False])  # what the model says changes each time it is asked
    setup = comparing(FactModel(equivalent=lambda _: next(turns)), cache=MemoryCache())
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
    {"gold": PAIR.extracted, "extracted": PAIR.gold, "specificity": "allow_more_specific"},
]  # fmt: skip


def test_whatever_else_is_said_about_a_pair_is_another_question(comparing: MakePairSetup) -> None:
    setup = comparing(FactModel(), cache=MemoryCache())
    for pair in (PAIR, *(replace(PAIR, **change) for change in CHANGES)):
        setup.compare(pair)
    assert setup.sizes == [1] * (1 + len(CHANGES))


def test_a_kept_verdict_that_cannot_be_read_is_asked_for_again(comparing: MakePairSetup) -> None:
    cache = MemoryCache()
    setup = comparing(FactModel(), cache=cache)
    before = setup.compare(PAIR)
    ((key, (text,)),) = cache.entries.items()
    cache.entries[key] = [text.replace("false", "0")]
    assert setup.compare(PAIR) == before
    assert setup.sizes == [1, 1]


PRICE = Price(1.0, 0.1, 8.0)
THREE = ["The dam is old.", "The dam has gates.", "The lake is deep."]


class Truth:
    """A scripted model that thinks, and adds up what it costs.

    What it thinks is counted apart and within no limit, or with the reply, or nothing is counted.
    """

    def __init__(self, thought: int = 0, *, apart: bool = False, counts: bool = True) -> None:
        self.thought, self.apart, self.counts = thought, apart, counts
        self.spent = Usage(cost_usd=0.0)

    def __call__(self, request: Request) -> Reply:
        limit = request.body.get("max_completion_tokens") or request.body.get("max_tokens")
        if limit and self.apart:
            return bad_request("max_completion_tokens and max_tokens are not supported")
        text = FactModel()(request)
        prompt = math.ceil(sum(len(message["content"]) for message in request.messages) / 4)
        reply, thought = math.ceil(len(text) / 4), self.thought
        body = completion(text)
        if limit and reply + thought > limit:
            body = completion("", finish_reason="length")
            reply, thought = 0, limit
        dollars = (prompt * PRICE.prompt + (reply + thought) * PRICE.completion) / 1e6
        self.spent += Usage(1, prompt, reply + thought, dollars)
        if self.counts:
            body["usage"] = {
                "prompt_tokens": prompt,
                "completion_tokens": reply if self.apart else reply + thought,
                "completion_tokens_details": {"reasoning_tokens": thought},
            }
        return Reply(raw_body=json.dumps(body).encode())


KINDS: dict[str, dict[str, Any]] = {
    "no thought": {},
    "thought inside": {"thought": 1_500},
    "thought outside": {"thought": 1_500, "apart": True},
    "no usage": {"thought": 1_500, "counts": False},
}


def spend(truth: Truth, budget: Budget, monkeypatch: pytest.MonkeyPatch) -> FactCoverage:
    """Score more records than the budget allows."""
    monkeypatch.setattr("factcheck.judges.llm.language_model.price_of", lambda _: PRICE)
    records = [
        {"id": str(n), "source": "", "summary": f"The dam {n} is old.", "facts": THREE}
        for n in range(250)
    ]
    with LocalOpenAIServer(truth) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setattr(
            "factcheck.judges.llm.providers.PROVIDERS",
            {"openai": PROVIDERS["openai"]._replace(url=server.base_url)},
        )
        with FactCoverage(
            Model("openai/tiny"), cache="off", budget=budget, retry=QUICK, concurrency=4
        ) as scorer:
            reports: list[Any] = list(scorer.score_many(records))
            codes = {failure.code for report in reports for failure in report.undecided}
    assert codes == {"budget"}
    return scorer


@pytest.mark.parametrize("name", KINDS)
def test_no_cap_is_exceeded_by_more_than_what_is_in_flight(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thought that no limit covers is known only once it was answered for."""
    tokens, dollars = (100_000, 0.5) if KINDS[name] else (15_000, 0.02)
    for budget in (Budget(max_tokens=tokens), Budget(max_cost_usd=dollars)):
        truth = Truth(**KINDS[name])
        booked = spend(truth, budget, monkeypatch).ledger.usage
        spent = truth.spent
        total = spent.prompt_tokens + spent.completion_tokens
        share = total / tokens if budget.max_tokens else (spent.cost_usd or 0.0) / dollars
        assert 0.05 < share <= 1.0
        assert booked.prompt_tokens + booked.completion_tokens >= total
        assert booked.cost_usd is not None
        assert spent.cost_usd is not None
        assert booked.cost_usd >= spent.cost_usd * 0.999_999
