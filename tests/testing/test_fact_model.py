"""What the other tests do not ask of the model that answers this package's own prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from factcheck.errors import InputError
from factcheck.testing import ChatRequest, FactModel, duplicate, leave_out, overwrite, parse_prompt

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
