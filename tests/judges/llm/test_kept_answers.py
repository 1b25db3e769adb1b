"""What was paid for is kept under a key of all that shapes it; what is spent keeps to its cap."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from factcheck import Budget, CheckFailure, FactCoverage, Model, RetryPolicy, Verdict
from factcheck.errors import ConfigError, InputError, JudgeOutputError
from factcheck.judges.ports import PairVerdict, ValuePair
from factcheck.testing import FactModel, LocalOpenAIServer
from tests.faults import rate_limited, sequence
from tests.judges.llm.conftest import MODEL, QUICK, MakePairSetup, MakeSetup
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


def test_an_empty_list_of_facts_is_not_kept(llm: MakeSetup) -> None:
    scorer, _ = llm(sequence('{"facts": []}', then=FactModel()), cache=MemoryCache())
    with pytest.raises(InputError, match="no facts found in the source by openai/tiny; write"):
        scorer.extract(SOURCE)
    assert len(scorer.extract(SOURCE)) == 3


def test_a_model_lists_no_more_facts_than_a_text_can_hold(llm: MakeSetup) -> None:
    scorer, _ = llm(FactModel(facts=lambda _: [f"Fact {n}." for n in range(500)]))
    with pytest.raises(JudgeOutputError, match="listed 500 facts of 35 characters; use another"):
        scorer.extract("The dam has 3 gates. The lake is big."[:35])


def test_facts_with_few_words_of_the_source_are_named(llm: MakeSetup) -> None:
    listed = ["The dam has 3 gates.", "... of rusty steel", "Ida owned a mill.", "It is so."]
    scorer, _ = llm(FactModel(facts=lambda _: listed))
    report = scorer.score("The dam has 3 gates. It is so, said Ida Berg.", "The dam has gates.")
    assert [fact.tags for fact in report.facts] == [(), ("foreign",), ("foreign",), ()]
    (alert,) = report.page().alerts
    assert alert.text == "few words of these facts are in the source: f2, f3; check them"


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
