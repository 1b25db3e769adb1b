"""Several summaries of the same facts in one request: every fact has a verdict on each, or none."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from factcheck import CoverageReport, RecordFailure, Verdict
from factcheck.errors import JudgeOutputError
from factcheck.facts import CheckResult
from factcheck.judges.llm.judges import LLMChecker
from factcheck.judges.llm.modules import TextsChecker
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
from tests.judges.llm.conftest import MakeSetup
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
