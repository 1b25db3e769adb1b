"""Several summaries in one request, checks in another order, probabilities from tokens."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import dspy
import pytest

from factcheck import CheckFailure, CoverageReport, FactCoverage, RecordFailure, Verdict
from factcheck.errors import JudgeOutputError
from factcheck.facts import CheckResult
from factcheck.judges.llm.judges import LLMChecker
from factcheck.judges.llm.modules import TextsChecker
from factcheck.judges.llm.transports import read_completion
from factcheck.testing import (
    ChatAnswer,
    ChatRequest,
    FactModel,
    LocalOpenAIServer,
    Reply,
    ScriptedExtractor,
    bad_request,
    leave_out,
    overwrite,
    parse_prompt,
    refused,
    truncated,
)
from tests.judges.llm.conftest import MakeSetup, completion
from tests.runtime.cache.stores import MemoryCache

FACTS = ("The mill closed in 1987.", "Ida Berg owned the mill.", "It rained.")
TEXTS = (
    "The mill closed in 1987. Nobody knows why.",
    "It rained. Ida Berg owned the mill.",
    "A fox slept.",
    "It rained. The mill closed in 1987.",
)
TRUTH = [[True, False, False], [False, True, True], [False] * 3, [True, False, True]]


def together(n: int = 4, verdict: str = "line") -> dict[str, Any]:
    return {"verdict": verdict, "summaries_per_call": n}


def kept(results: Sequence[CheckResult]) -> list[bool | None]:
    return [result.supported if isinstance(result, Verdict) else None for result in results]


def all_kept(reports: Sequence[CoverageReport]) -> list[list[bool | None]]:
    return [kept(report.results) for report in reports]


def sizes(server: LocalOpenAIServer) -> list[tuple[int, int]]:
    """Texts and facts of each request."""
    prompts = [parse_prompt(request.body) for request in server.requests]
    return [(len(prompt.texts), len(prompt.facts)) for prompt in prompts]


@pytest.mark.parametrize("verdict", ["line", "label"])
def test_together_they_have_the_verdicts_that_each_has_alone(llm: MakeSetup, verdict: str) -> None:
    for n, requests in [(1, 4), (2, 2), (3, 2), (4, 1), (8, 1)]:
        scorer, server = llm(FactModel(), together(n, verdict))
        reports = scorer.score_summaries("", TEXTS, facts=FACTS)
        assert all_kept(reports) == TRUTH
        counted = (sum(r.usage.calls for r in reports), scorer.ledger.usage.calls)
        assert (len(server.requests), *counted) == (requests,) * 3
        quote = getattr(reports[1].results[1], "evidence", None)
        assert (quote and quote.quote) == (FACTS[1] if verdict == "line" else None)


def test_blank_and_equal_texts_and_many_facts_keep_their_places(llm: MakeSetup) -> None:
    texts = [TEXTS[0], " ", TEXTS[1], TEXTS[0]]
    scorer, server = llm(FactModel(), together(), batch_size=2)
    reports = scorer.score_summaries("", texts, facts=FACTS)
    assert all_kept(reports) == [TRUTH[0], [False] * 3, *TRUTH[1::-1]]
    assert sorted(sizes(server)) == [(2, 1), (2, 2)]


FAULTS: dict[str, ChatAnswer] = {
    "a mark is missing": FactModel(mangles=[leave_out(FACTS[1])]),
    "no line": FactModel(mangles=[overwrite("line", 9, FACTS[1])]),
    "refused": lambda _: refused(),
    "cut off": lambda request: truncated(str(FactModel()(request))),
    "too long for the model": lambda _: bad_request(),
    "prose": lambda _: "All of them, I think.",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_fails_together_is_asked_again_text_by_text(llm: MakeSetup, fault: str) -> None:
    bad = FAULTS[fault]

    def answer(request: ChatRequest) -> Reply | str:
        return (bad if len(parse_prompt(request.body).texts) > 1 else FactModel())(request)

    scorer, server = llm(answer, together())
    assert all_kept(scorer.score_summaries("", TEXTS, facts=FACTS)) == TRUTH
    assert [texts for texts, _ in sizes(server)][-5:] == [4, 1, 1, 1, 1]


def test_what_fails_alone_too_is_undecided(llm: MakeSetup) -> None:
    scorer, _ = llm(FactModel(mangles=[leave_out(FACTS[1])]), together())
    alone = scorer.score_summaries("", TEXTS[:2], facts=FACTS)
    assert all_kept(alone) == [[True, None, False], [False, None, True]]


WRONG: dict[str, list[Any]] = {
    "line": [
        *("1", "1 0 2", "1  2 0 0", "", "one 0", "1-2 0", "+1 0", "1.0 0", "00 0", "-0 0", "3 0"),
        *("0 2", "yes no", "y n", "1 yes 0", None, 1, [1, 0], {"1": 1}, "\u00b9 0"),
    ],
    "label": [
        *("y", "yyy", "", "yes no", "y1", "10", "1 0", "contradicted", "ye", "yx", "y\u0441"),
        *(None, ["y", "n"], True),
    ],
}
FINE = {"line": ["1 0", " 1  0 ", "1, 0", "1\n0"], "label": ["yn", "YN", "y n", "y,n", "Y, N"]}


def read(form: Any, item: Any, more: str = "") -> list[CheckResult]:
    question = TextsChecker(form).question(FACTS[:1], TEXTS[:3:2])
    return list(question.find(f'{{"1": {json.dumps(item)}{more}}}', "m").values())


@pytest.mark.parametrize("form", FINE)
def test_one_mark_for_each_text_is_a_verdict_on_each_and_no_other_is_guessed_at(form: Any) -> None:
    assert [kept(read(form, item)) for item in FINE[form]] == [[True, False]] * len(FINE[form])
    assert [kept(read(form, item)) for item in WRONG[form]] == [[None, None]] * len(WRONG[form])
    pattern = TextsChecker(form).question(FACTS, TEXTS[:2]).schema["$defs"]["v"]["pattern"]
    assert re.match(pattern, FINE[form][0])
    assert not any(re.match(pattern, item) for item in WRONG[form][:3])


@pytest.mark.parametrize("more", [', "1": "1 0"', ', "2": "1 0"', ', "9": "0 0"'])
def test_doubled_and_unknown_entries_count_for_nothing(more: str) -> None:
    try:
        assert kept(read("line", "1 0", more)) == [None, None]
    except JudgeOutputError as error:
        assert "unknown id" in str(error)


def test_only_texts_that_are_not_known_are_asked(llm: MakeSetup) -> None:
    scorer, server = llm(FactModel(), together(), cache=MemoryCache())
    for texts in (TEXTS[:2], TEXTS, TEXTS):
        found = scorer.score_summaries("", texts, facts=FACTS)
        assert all_kept(found) == TRUTH[: len(texts)]
    assert sizes(server) == [(2, 3), (2, 3)]


def test_neighbours_of_one_source_are_scored_together_and_fail_alone(llm: MakeSetup) -> None:
    records: list[Any] = [
        *({"id": t, "source": "S", "summary": t, "facts": FACTS} for t in TEXTS),
        {"id": "bad", "source": "S"},
        {"id": "b", "source": "Other.", "summary": "It rained a lot.", "facts": FACTS},
        {"id": "c", "source": "Other.", "summary": "It is dry.", "facts": FACTS[:1]},
    ]
    scorer, server = llm(FactModel(), together(3))
    outcomes = list(scorer.score_many(records))
    assert sorted(sizes(server)) == [(1, 1), (1, 3), (1, 3), (3, 3)]
    failed = outcomes.pop(4)
    assert isinstance(failed, RecordFailure)
    assert all(isinstance(outcome, CoverageReport) for outcome in outcomes)


def test_an_error_in_a_group_is_that_of_its_own_record(llm: MakeSetup) -> None:
    def facts_of(text: str) -> Any:
        return JudgeOutputError("no list") if "fox" in text else ["It rained."]

    records = [{"source": "It rained.", "summary": text, "facts": FACTS} for text in TEXTS]
    scorer, _ = llm(FactModel(), together(), extractor=ScriptedExtractor(facts_of))
    outcomes = list(scorer.score_many(records, direction="both"))
    assert [getattr(outcome, "code", None) for outcome in outcomes] == [None, None, "output", None]


def test_a_long_text_is_read_in_sections_and_by_itself(
    llm: MakeSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LLMChecker, "section", 200)
    texts = [*TEXTS[:2], "A fox slept. " * 30 + TEXTS[0]]
    scorer, server = llm(FactModel(), together())
    assert all_kept(scorer.score_summaries("", texts, facts=FACTS)) == [*TRUTH[:2], TRUTH[0]]
    assert [texts for texts, _ in sizes(server)].count(2) == 1
    assert {texts for texts, _ in sizes(server)} == {1, 2}


FOUR = ("The mill closed.", "It rained.", "A fox slept.", "Ida left.")
CLOSED = "The mill closed. Ida left."
OF_FOUR = [True, False, False, True]


@pytest.mark.parametrize("summaries", [1, 2])
def test_each_check_asks_in_another_order_and_what_they_agree_on_counts(
    llm: MakeSetup, summaries: int
) -> None:
    settings = {"repeats": 3, "summaries_per_call": summaries}
    setup = llm(FactModel(), settings, cache=MemoryCache())
    texts = [CLOSED, "It rained."][:summaries]
    reports, _ = (setup.scorer.score_summaries("", texts, facts=FOUR) for _ in range(2))
    orders = set(map(tuple, setup.asked))
    assert [verdict.supported for verdict in reports[0].results] == OF_FOUR
    assert not any(verdict.flags for verdict in reports[0].results)  # type: ignore[union-attr]
    assert FOUR in orders
    assert len(orders) == len(setup.asked) == 3
    assert "repeats:3" in str(reports[0].signature)


def said_in_turn(labels: Mapping[str, Sequence[str]]) -> FactModel:
    left = {fact: list(of_fact) for fact, of_fact in labels.items()}
    return FactModel(lambda fact, _: left[fact].pop())  # type: ignore[arg-type,return-value]


def test_a_flip_is_reported_and_three_labels_decide_nothing(llm: MakeSetup) -> None:
    labels = {
        FOUR[0]: ["entailed", "entailed", "neutral"],
        FOUR[1]: ["entailed", "neutral", "contradicted"],
        FOUR[2]: ["neutral"] * 3,
    }
    scorer, _ = llm(said_in_turn(labels), {"repeats": 3})
    first, second, third = scorer.check(FOUR[:3], CLOSED)
    assert isinstance(first, Verdict)
    assert (first.label, first.flags) == ("entailed", ("flipped",))
    assert isinstance(second, CheckFailure)
    assert second.code == "flipped"
    assert second.message.startswith("3 checks disagree: 1 ")
    assert isinstance(third, Verdict)
    assert (third.label, third.flags) == ("neutral", ())


LIKELIHOODS = {"verdict": "label", "probabilities": True}
Tokens = Sequence[tuple[str, Mapping[str, float]]]


def with_tokens(tokens: Tokens) -> Reply:
    content = [
        {
            "token": token,
            "logprob": -0.1,
            "top_logprobs": [{"token": t, "logprob": math.log(p)} for t, p in others.items()],
        }
        for token, others in tokens
    ]
    text = "".join(token for token, _ in tokens)
    return Reply(raw_body=json.dumps(completion(text, logprobs={"content": content})).encode())


LIKELY = {"yes": 0.6, "no": 0.2, "contr": 0.1, "{": 0.1}
TOKENS: dict[str, tuple[Tokens, float | None]] = {
    "label by itself": ([('{"f1":"', {}), ("yes", LIKELY), ('"}', {})], 2 / 3),
    "with its quote": (
        [('{"f1":', {}), (' "yes', {' "yes': 0.3, ' "no': 0.6, '"no': 0.1}), ('"}', {})],
        1 / 3,
    ),
    "with what follows": ([('{"f1":"', {}), ('yes"}', {'yes"}': 0.5, 'no"}': 0.5})], 0.5),
    "in pieces": ([('{"f1":"', {}), ("y", {"y": 0.8, "N": 0.2}), ("es", {}), ('"}', {})], 0.8),
    "not among labels": ([('{"f1":"', {}), ("yes", {"yes": 0.1, "{": 0.9}), ('"}', {})], None),
    "twice": ([('Not {"f1": "', {}), ("no", LIKELY), ('"} {"f1":"yes"}', LIKELY)], None),
    "no alternatives": ([('{"f1":"', {}), ("yes", {}), ('"}', {})], None),
}


@pytest.mark.parametrize(("tokens", "probability"), TOKENS.values(), ids=TOKENS)
def test_a_label_has_the_probability_of_its_first_token(
    llm: MakeSetup, tokens: Tokens, probability: float | None
) -> None:
    scorer, server = llm(lambda _: with_tokens(tokens), LIKELIHOODS, cache=MemoryCache())
    results = [scorer.check(FOUR[:1], CLOSED)[0] for _ in range(2)]
    assert server.requests[0].body["logprobs"] is True
    for result in results:  # the second one is cached
        if isinstance(result, Verdict):
            assert result.probability == pytest.approx(probability)
    assert isinstance(results[0], Verdict) != (tokens is TOKENS["twice"][0])


def of_token(*alternatives: Any) -> dict[str, Any]:
    return {"content": [{"token": "a", "top_logprobs": alternatives}]}


@pytest.mark.parametrize(
    "logprobs",
    [
        *(None, 1, {}, {"content": [{}]}, of_token(1)),
        *(of_token({"token": "a", "logprob": odd}) for odd in (math.nan, 0.5, "0", None, True)),
    ],
)
def test_log_probabilities_that_are_none_are_left_out(logprobs: Any) -> None:
    assert read_completion(completion("a", logprobs=logprobs)).tokens == ()


def test_a_server_without_log_probabilities_is_asked_without(llm: MakeSetup) -> None:
    def answer(request: ChatRequest) -> Reply | str:
        if "logprobs" in request.body:
            message = "logprobs are not supported with this model"
            return Reply(status=400, error={"message": message, "param": "top_logprobs"})
        return FactModel()(request)

    scorer, server = llm(answer, LIKELIHOODS)
    results = scorer.check(FOUR, CLOSED)
    assert "logprobs:default" in str(scorer.signature)
    assert [getattr(result, "supported", None) for result in results] == OF_FOUR
    assert len(server.requests) == 2


def test_a_dspy_model_with_log_probabilities_is_a_judge_without_them() -> None:
    with LocalOpenAIServer(FactModel()) as server:
        lm = dspy.LM("hosted_vllm/m", api_base=server.base_url, logprobs=True, top_logprobs=3)
        with FactCoverage(lm, cache="off") as scorer:
            assert scorer.score("", CLOSED, facts=FOUR).score == 0.5
    assert "logprobs" not in server.requests[0].body
