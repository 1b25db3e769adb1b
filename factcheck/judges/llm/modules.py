"""The DSPy modules: `KeyFactExtraction` lists facts, `FactChecker` gives a verdict for each.

`SemanticEquivalence` says of pairs of values whether they mean the same. They are ordinary
`dspy.Module`s: they run with the language model of the surrounding `dspy.context`, can be saved,
and optimised. The judges beside them add what an input needs around them: sections, batches,
asking again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, get_args

import dspy

from factcheck.facts import AtomicFact, FactSet, short_digest
from factcheck.judges.llm.adapter import StrictJSONAdapter, response_schema
from factcheck.judges.llm.fences import random_ids, without_numbers
from factcheck.judges.llm.prompts import CHECK_FACTS, COMPARE_VALUES, EXTRACT_FACTS, load_prompt
from factcheck.judges.llm.replies import (
    FactQuestion,
    KeyFact,
    ValueVerdictItem,
    VerdictItem,
    account,
    account_pairs,
)
from factcheck.judges.llm.values import order_of, render
from factcheck.judges.ports import Specificity, ValuePair

_ROOM_PER_VERDICT = 96
_ROOM_PER_PAIR = 64
_ROOM_PER_REPLY = 64
_LEAST_ROOM_FOR_FACTS = 1024
"""Tokens a reply may take. A limit: what is not used costs nothing, but counts against quotas."""


class ExtractFacts(dspy.Signature):
    """The instructions come from the prompt file."""

    source: str = dspy.InputField()
    facts: list[KeyFact] = dspy.OutputField()


class CheckFacts(dspy.Signature):
    """The instructions come from the prompt file."""

    text: str = dspy.InputField()
    facts: list[FactQuestion] = dspy.InputField()
    verdicts: list[VerdictItem] = dspy.OutputField()


class CompareValues(dspy.Signature):
    """The instructions come from the prompt file."""

    pairs: str = dspy.InputField()
    verdicts: list[ValueVerdictItem] = dspy.OutputField()


class KeyFactExtraction(dspy.Module):
    """Lists the atomic facts of one section of text in one call.

    Call it with `source=`; the prediction's `facts` are strings, in the order of the source.

    Args:
        prompt: Name of a published prompt.
    """

    def __init__(self, prompt: str = EXTRACT_FACTS) -> None:
        super().__init__()
        self.prompt = prompt
        self.list_facts = dspy.Predict(ExtractFacts.with_instructions(load_prompt(prompt)))

    def forward(self, source: str) -> dspy.Prediction:
        """Ask the language model of the context."""
        with _our_way():
            return self.list_facts(source=source, config=_room(_room_for_facts(source)))

    async def aforward(self, source: str) -> dspy.Prediction:
        """Ask the language model of the context."""
        with _our_way():
            return await self.list_facts.acall(source=source, config=_room(_room_for_facts(source)))


class FactChecker(dspy.Module):
    """Says for each of several facts, in one call, whether a text entails it.

    Call it with `facts=` (a `FactSet`, atomic facts or strings) and `text=`; the prediction's
    `results` hold one `Verdict` or `CheckFailure` per fact, in fact order.

    Args:
        prompt: Name of a published prompt.
    """

    def __init__(self, prompt: str = CHECK_FACTS) -> None:
        super().__init__()
        self.prompt = prompt
        self.judge_facts = dspy.Predict(CheckFacts.with_instructions(load_prompt(prompt)))

    def forward(self, facts: Sequence[AtomicFact | str], text: str) -> dspy.Prediction:
        """Ask the language model of the context."""
        asked = _with_ids(facts)
        with _our_way():
            reply = self.judge_facts(**_questions(asked, text), config=_room_for(asked))
        return self._accounted(asked, reply, text)

    async def aforward(self, facts: Sequence[AtomicFact | str], text: str) -> dspy.Prediction:
        """Ask the language model of the context."""
        asked = _with_ids(facts)
        with _our_way():
            reply = await self.judge_facts.acall(**_questions(asked, text), config=_room_for(asked))
        return self._accounted(asked, reply, text)

    def _accounted(
        self, asked: Mapping[str, AtomicFact], reply: dspy.Prediction, text: str
    ) -> dspy.Prediction:
        lm = self.judge_facts.lm or dspy.settings.lm
        results = account(asked, reply.verdicts, text, judge=lm.model)
        return dspy.Prediction(results=tuple(results.values()), verdicts=reply.verdicts)


class SemanticEquivalence(dspy.Module):
    """Says of several pairs of values, in one call, whether the two mean the same.

    Call it with `pairs=` (`ValuePair`s, or tuples of a gold and an extracted value); the
    prediction's `results` hold one `PairVerdict` or `Failure` per pair, in their order.

    Args:
        prompt: Name of a published prompt.
    """

    stand_ins: ClassVar[Mapping[str, str]] = {
        "pairs": render(
            {
                f"<<{specificity}>>": ValuePair("1", "0", "path", "says", "do", specificity)
                for specificity in get_args(Specificity)
            }
        )
    }
    """Pairs of every kind, for the fingerprint of how they are shown."""

    def __init__(self, prompt: str = COMPARE_VALUES) -> None:
        super().__init__()
        self.prompt = prompt
        self.judge_pairs = dspy.Predict(CompareValues.with_instructions(load_prompt(prompt)))

    def forward(self, pairs: Sequence[ValuePair | tuple[str, str]]) -> dspy.Prediction:
        """Ask the language model of the context."""
        asked = _pairs_with_ids(pairs)
        with _our_way():
            reply = self.judge_pairs(pairs=render(asked), config=_room_for_pairs(asked))
        return self._accounted(asked, reply)

    async def aforward(self, pairs: Sequence[ValuePair | tuple[str, str]]) -> dspy.Prediction:
        """Ask the language model of the context."""
        asked = _pairs_with_ids(pairs)
        with _our_way():
            reply = await self.judge_pairs.acall(pairs=render(asked), config=_room_for_pairs(asked))
        return self._accounted(asked, reply)

    def _accounted(self, asked: Mapping[str, ValuePair], reply: dspy.Prediction) -> dspy.Prediction:
        lm = self.judge_pairs.lm or dspy.settings.lm
        results = account_pairs(asked, reply.verdicts, judge=lm.model)
        return dspy.Prediction(results=tuple(results.values()), verdicts=reply.verdicts)


@cache
def fingerprint(module: Callable[[str], dspy.Module], prompt: str) -> str:
    """Name and digest of what a module sends around its inputs, such as `check_facts/v1@1a2b3c4d`.

    The digest is taken of the request rendered with stand-ins for the inputs, so it moves with
    the prompt file, the field names, the label set and the adapter.
    """
    made: Any = module(prompt)
    adapter: Any = getattr(made, "adapter", StrictJSONAdapter())
    predict = made.predictors()[0]
    stand_ins = {name: f"<<{name}>>" for name in predict.signature.input_fields}
    stand_ins.update(getattr(module, "stand_ins", {}))
    messages = adapter.format(predict.signature, predict.demos, stand_ins)
    request = {"messages": messages, "response_format": response_schema(predict.signature)}
    return f"{prompt}@{short_digest(without_numbers(json.dumps(request, sort_keys=True)))}"


def _our_way() -> Any:
    return dspy.context(adapter=StrictJSONAdapter(), disable_history=True, trace=None)


def _with_ids(facts: Sequence[AtomicFact | str]) -> dict[str, AtomicFact]:
    asked = FactSet.of(facts).facts
    return random_ids(asked, [fact.text for fact in asked])


def _pairs_with_ids(pairs: Sequence[ValuePair | tuple[str, str]]) -> dict[str, ValuePair]:
    asked = [pair if isinstance(pair, ValuePair) else ValuePair(*pair) for pair in pairs]
    return random_ids(asked, [repr(order_of(pair)) for pair in asked])


def _questions(asked: Mapping[str, AtomicFact], text: str) -> dict[str, Any]:
    questions = [FactQuestion(id=call_id, fact=fact.text) for call_id, fact in asked.items()]
    return {"text": text, "facts": questions}


def _room_for(asked: Mapping[str, AtomicFact]) -> dict[str, int]:
    return _room(_ROOM_PER_REPLY + _ROOM_PER_VERDICT * len(asked))


def _room_for_pairs(asked: Mapping[str, ValuePair]) -> dict[str, int]:
    return _room(_ROOM_PER_REPLY + _ROOM_PER_PAIR * len(asked))


def _room_for_facts(source: str) -> int:
    """Half a token for each character: facts repeat names, so their list can outgrow the text."""
    return max(_LEAST_ROOM_FOR_FACTS, len(source) // 2)


def _room(tokens: int) -> dict[str, int]:
    return {"max_tokens": tokens}
