"""What the other tests do not ask of judges and models that answer from a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from factcheck.errors import InputError, JudgeUnavailable
from factcheck.facts import AtomicFact, FactSet, Usage, digest
from factcheck.judges.ports import Ledger, PairVerdict, ValuePair
from factcheck.testing import (
    ChatRequest,
    FactModel,
    ScriptedChecker,
    ScriptedEmbedder,
    ScriptedExtractor,
    ScriptedPairJudge,
    ScriptedRater,
    duplicate,
    leave_out,
    overwrite,
    parse_prompt,
)
from factcheck.testing.scripted import Call

MOSS = AtomicFact("a", "Moss has no roots.", weight=2.0)
OAK = ValuePair("oak", "oak tree")
Ask = Callable[[Any, Ledger], Any]
ASK: dict[Any, tuple[Ask, Call]] = {
    ScriptedChecker: (
        lambda judge, ledger: judge.check([MOSS], "On moss.", ledger),
        Call(facts=(MOSS.text,), text="On moss."),
    ),
    ScriptedExtractor: (lambda judge, ledger: judge.extract("S", ledger), Call(source="S")),
    ScriptedPairJudge: (lambda judge, ledger: judge.compare([OAK], ledger), Call(pairs=(OAK,))),
    ScriptedRater: (
        lambda judge, ledger: judge.rate("S", "good", ledger),
        Call(source="S", summary="good"),
    ),
    ScriptedEmbedder: (lambda judge, ledger: judge.embed(["S"], ledger), Call(texts=("S",))),
}


@pytest.mark.parametrize("kind", ASK)
def test_a_call_is_recorded_and_paid_for_even_if_the_script_raises_or_has_no_entry(
    kind: Any,
) -> None:
    ask, call = ASK[kind]
    ledger = Ledger()
    down = kind(lambda *_: JudgeUnavailable("down"), usage=Usage(calls=1, cost_usd=0.5))
    with pytest.raises(JudgeUnavailable, match="down"):
        asyncio.run(ask(down, ledger))
    assert (down.calls, ledger.usage) == ((call,), Usage(calls=1, cost_usd=0.5))
    with pytest.raises(InputError, match="the script of 'scripted' has no "):
        asyncio.run(ask(kind({}), ledger))


def test_scripted_facts_know_source_and_maker() -> None:
    extractor = ScriptedExtractor({"On moss.": ["Moss is green.", MOSS]})
    assert asyncio.run(extractor.extract("On moss.", Ledger())) == FactSet(
        (AtomicFact("f1", "Moss is green."), MOSS),
        source_digest=digest("On moss."),
        made_by=(("extractor", "scripted"),),
    )


def test_a_decision_has_no_probability() -> None:
    (result,) = asyncio.run(ScriptedPairJudge(lambda _: True).compare([OAK], Ledger()))
    assert result == PairVerdict(True, None, "scripted", "scripted")


def test_a_pair_is_found_under_its_mirror_image_unless_its_order_counts() -> None:
    mirrored = ScriptedPairJudge({("oak tree", "oak"): 0.5})
    (result,) = asyncio.run(mirrored.compare([OAK], Ledger()))
    assert result == PairVerdict(True, 0.5, "scripted", "scripted")
    ordered = ValuePair("oak", "oak tree", specificity="allow_more_specific")
    with pytest.raises(InputError, match=r"no result for the pair \('oak', 'oak tree'\)"):
        asyncio.run(mirrored.compare([ordered], Ledger()))


TEXT = "The mill burned down in May.\nNobody was hurt. It was rebuilt in stone."
FIRE, STONE, OWNER = "The mill burned down.", "It was rebuilt in stone.", "Ida owned the mill."
IDS = {"k1": FIRE, "k2": STONE, "k3": OWNER}


def check_prompt(text: str = TEXT, facts: Mapping[str, str] = IDS) -> str:
    lines = "".join(f"{fact_id} {fact}\n" for fact_id, fact in facts.items())
    return f"Check.\n\n<text 0af3>\n{text}\n</text 0af3>\n\n<facts 0af3>\n{lines}</facts 0af3>\n"


def asked(prompt: Any) -> ChatRequest:
    body = {"messages": [{"role": "user", "content": prompt}]}
    return ChatRequest("POST", "/v1/chat/completions", {}, body, 0, 1)


EXAMPLE = check_prompt("An example.", {"e1": "It is one."}).replace("0af3", "ffff")


@pytest.mark.parametrize(
    "prompt",
    [
        [{"type": "text", "text": part} for part in check_prompt().partition("<facts")],
        EXAMPLE + check_prompt(),
    ],
    ids=["in parts", "an example before it"],
)
def test_a_check_prompt_holds_a_text_and_its_facts_by_id(prompt: Any) -> None:
    parsed = parse_prompt(asked(prompt).body)
    assert (parsed.kind, parsed.text, parsed.facts) == ("check", TEXT, IDS)


@pytest.mark.parametrize(
    "prompt",
    [
        "Hello.",
        "<text 1a>\nopen",
        "<text 1a>\nx\n</text 2b>",
        check_prompt(facts={"id": ""}),
        check_prompt() + "<facts 1a>\na one\na two\n</facts 1a>",
        *(
            f"<pairs 1a>\n{line}\n</pairs 1a>"
            for line in ("p1: one", 'p1: ["one"]', 'p1: "ab"', "p1", 'p: ["", ""]\np: ["", ""]')
        ),
    ],
)
def test_what_is_no_prompt_of_this_package_is_an_error(prompt: str) -> None:
    with pytest.raises(InputError):
        parse_prompt(asked(prompt).body)


def test_verdicts_are_mangled_one_way_after_the_other() -> None:
    mangles = (leave_out(FIRE), duplicate(STONE), overwrite("id", 7, OWNER))
    reply = FactModel(mangles=mangles)(asked(check_prompt()))
    keys = json.loads(reply, object_pairs_hook=lambda pairs: [key for key, _ in pairs])
    assert keys == ["k2", "k2", "7"]
