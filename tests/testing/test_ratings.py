"""Scripted ratings and summaries: the rater, and the model that answers both prompts."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from factcheck import JudgeUnavailable, Ledger, Rater, Rating, RatingFailure, Usage
from factcheck.errors import InputError
from factcheck.judges.ports import RatingResult
from factcheck.testing import (
    ChatRequest,
    FactModel,
    RateCall,
    ScriptedRater,
    all_sentences,
    leave_out,
    overwrite,
    parse_prompt,
    rate_by_words,
    without_key,
)

SOURCE = "It rained in Oslo. The bus was late."
SUMMARY = "- It rained in Oslo."


def asked(*fences: tuple[str, str], system: str = "S") -> ChatRequest:
    """A request with these texts in fences."""
    user = "\n".join(f"<{tag} 0af3>\n{text}\n</{tag} 0af3>" for tag, text in fences)
    body = {
        "model": "m",
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
    }
    return ChatRequest(
        method="POST", path="/v1/chat/completions", headers={}, body=body, index=0, in_flight=1
    )


RATE = asked(("source_text", SOURCE), ("summary", SUMMARY))
SUMMARIZE = asked(("source_text", SOURCE), system="Be brief.")


def reply(model: FactModel, request: ChatRequest) -> Any:
    """What the model sends."""
    return json.loads(model(request))


def rated(rater: Rater, summary: str = SUMMARY) -> RatingResult:
    """One rating."""
    return asyncio.run(rater.rate(SOURCE, summary, Ledger()))


def test_parse_rate_prompt() -> None:
    """A rate prompt holds a source and its summary."""
    prompt = parse_prompt(RATE.body)
    assert (prompt.kind, prompt.text, prompt.summary) == ("rate", SOURCE, SUMMARY)
    assert (prompt.facts, prompt.pairs) == ({}, {})


def test_parse_summarize_prompt() -> None:
    """A summarize prompt holds a source and, as every prompt, the instructions that came first."""
    prompt = parse_prompt(SUMMARIZE.body)
    assert (prompt.kind, prompt.text, prompt.summary) == ("summarize", SOURCE, "")
    assert prompt.instructions == "Be brief."


def test_default_rating() -> None:
    """By default a summary is rated by how many words of the source it has."""
    assert reply(FactModel(), RATE) == {"reason": "scripted", "faithfulness": 3}
    assert rate_by_words(SOURCE, "") == rate_by_words("", "") == 1
    assert rate_by_words(SOURCE, SOURCE) == 5


@pytest.mark.parametrize("value", [5, 0, 6, 4.5, "four", None])
def test_scripted_rating(value: Any) -> None:
    """Whatever the script gives is sent, right or wrong."""
    assert reply(FactModel(rate=lambda *_: value), RATE)["faithfulness"] == value


def test_rating_of_source_and_summary() -> None:
    """The script is told both texts."""
    model = FactModel(rate=lambda *texts: 4 if texts == (SOURCE, SUMMARY) else 1)
    assert reply(model, RATE)["faithfulness"] == 4


def test_mangled_rating() -> None:
    """A rating is mangled like one verdict."""
    spoilt = FactModel(mangles=[overwrite("faithfulness", 9), without_key("reason")])
    assert reply(spoilt, RATE) == {"faithfulness": 9}
    assert reply(FactModel(mangles=[leave_out()]), RATE) == {}


def test_default_summary() -> None:
    """By default every sentence is a bullet."""
    assert reply(FactModel(), SUMMARIZE) == {"bullets": list(all_sentences(SOURCE, ""))}
    assert all_sentences(SOURCE, "") == ("It rained in Oslo.", "The bus was late.")


def test_scripted_summary() -> None:
    """The script is told the source and the instructions."""
    model = FactModel(summarize=lambda source, instructions: [instructions, source[:3]])
    assert reply(model, SUMMARIZE) == {"bullets": ["Be brief.", "It "]}


def test_scripted_ratings() -> None:
    """A script gives numbers, ratings and failures, by summary or by both texts."""
    failure = RatingFailure("refused", "no")
    mine = Rating(2, "mine", "other")
    by_summary = ScriptedRater({"a": 4, "b": mine, "c": failure}, name="me")
    assert [rated(by_summary, text) for text in "abc"] == [
        Rating(4, "scripted", "me"),
        mine,
        failure,
    ]
    by_both = ScriptedRater(lambda source, summary: 5 if summary in f"- {source}" else 1)
    assert rated(by_both) == Rating(5, "scripted", "scripted")
    assert isinstance(by_both, Rater)
    assert by_summary.identity == {"judge": "me"}


def test_summary_without_a_script() -> None:
    """A summary missing from the script is an error that names it."""
    with pytest.raises(InputError, match=r"no rating for '- It rained in Oslo\.'"):
        rated(ScriptedRater({}))


def test_scripted_exception_of_a_rater() -> None:
    """An exception in the script is raised."""
    with pytest.raises(JudgeUnavailable, match="down"):
        rated(ScriptedRater({SUMMARY: JudgeUnavailable("down")}))


def test_rate_calls() -> None:
    """Calls are recorded, and what they cost is booked, even where they fail."""
    ledger = Ledger()
    rater = ScriptedRater({SUMMARY: 3}, usage=Usage(calls=1))
    asyncio.run(rater.rate(SOURCE, SUMMARY, ledger))
    with pytest.raises(InputError):
        asyncio.run(rater.rate(SOURCE, "another", ledger))
    assert rater.calls == (RateCall(SOURCE, SUMMARY), RateCall(SOURCE, "another"))
    assert ledger.usage.calls == 2
