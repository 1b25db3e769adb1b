"""The DSPy modules: extract facts, check them, compare values, rate and write summaries.

They are ordinary `dspy.Module`s: they run with the language model of the surrounding
`dspy.context`, can be saved, and optimised. The judges beside them add what an input needs around
them: sections, batches, repetition. Of `LLMJudge` and `Summarizer` an optimizer rewrites the first
part of the prompt file; the part below the last blank line, which says that texts are data and how
to reply, follows whatever instructions there are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple, get_args

import dspy

from factcheck.facts import AtomicFact, FactSet, short_digest
from factcheck.judges.llm.adapter import FramedAdapter, StrictJSONAdapter, response_schema
from factcheck.judges.llm.fences import random_ids, without_numbers
from factcheck.judges.llm.prompts import (
    CHECK_FACTS,
    COMPARE_VALUES,
    EXTRACT_FACTS,
    RATE_FAITHFULNESS,
    SUMMARIZE,
    load_prompt,
)
from factcheck.judges.llm.replies import (
    Bullets,
    FactQuestion,
    Faithfulness,
    KeyFact,
    ValueVerdictItem,
    VerdictItem,
    account,
    account_pairs,
)
from factcheck.judges.llm.values import order_of, render
from factcheck.judges.ports import Specificity, ValuePair

_PER_VERDICT = 96
_PER_PAIR = 64
_PER_REPLY = 64
_PER_RATING = 192
_MIN_FOR_FACTS = 1024
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


class RateFaithfulness(dspy.Signature):
    """The instructions come from the prompt file."""

    source_text: str = dspy.InputField()
    summary: str = dspy.InputField()
    reason: str = dspy.OutputField()
    faithfulness: Faithfulness = dspy.OutputField()


class Summarize(dspy.Signature):
    """The instructions come from the prompt file."""

    source_text: str = dspy.InputField()
    bullets: Bullets = dspy.OutputField()


class _Request(NamedTuple):
    fields: Mapping[str, Any]
    max_tokens: int | None
    """Limit of the reply; `None`: that of the language model."""
    asked: Any = None
    """Facts or pairs that the reply is about."""


class _OneCall(dspy.Module):
    """Base of modules that make one request."""

    asks: ClassVar[type[dspy.Signature]]
    predictor: ClassVar[str]
    """Attribute of the predictor, under which saved programs keep it."""
    is_framed: ClassVar[bool] = False
    """Whether the last part of the prompt is kept from optimizers, which then learn from traces."""

    def __init__(self, prompt: str) -> None:
        super().__init__()
        self.prompt = prompt
        instructions, frame = load_prompt(prompt), ""
        if self.is_framed:
            instructions, _, frame = instructions.rpartition("\n\n")
        self.adapter = FramedAdapter(frame) if self.is_framed else StrictJSONAdapter()
        setattr(self, self.predictor, dspy.Predict(self.asks.with_instructions(instructions)))

    def forward(self, **inputs: Any) -> dspy.Prediction:
        request = self._request(**inputs)
        with self._context():
            reply = getattr(self, self.predictor)(**request.fields, config=_config(request))
        return self._prediction(reply, request.asked)

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        request = self._request(**inputs)
        with self._context():
            predictor = getattr(self, self.predictor)
            reply = await predictor.acall(**request.fields, config=_config(request))
        return self._prediction(reply, request.asked)

    def _context(self) -> Any:
        traced = {} if self.is_framed else {"trace": None}
        return dspy.context(adapter=self.adapter, disable_history=True, **traced)

    def _judge(self) -> str:
        name: str = (getattr(self, self.predictor).lm or dspy.settings.lm).model
        return name

    def _request(self, **inputs: Any) -> _Request:
        raise NotImplementedError

    def _prediction(self, reply: dspy.Prediction, asked: Any) -> dspy.Prediction:
        raise NotImplementedError


def _config(request: _Request) -> dict[str, int]:
    return {} if request.max_tokens is None else {"max_tokens": request.max_tokens}


class KeyFactExtraction(_OneCall):
    """Lists the atomic facts of one section of text in one request.

    Call it with `source=`; the prediction's `facts` are strings, in the order of the source.

    Args:
        prompt: Name of a published prompt.
    """

    asks = ExtractFacts
    predictor = "list_facts"

    def __init__(self, prompt: str = EXTRACT_FACTS) -> None:
        super().__init__(prompt)

    def _request(self, source: str) -> _Request:  # type: ignore[override]
        # Half a token per character: facts repeat names, so their list can outgrow the text.
        return _Request({"source": source}, max(_MIN_FOR_FACTS, len(source) // 2))

    def _prediction(self, reply: dspy.Prediction, asked: Any) -> dspy.Prediction:  # noqa: ARG002
        return reply


class FactChecker(_OneCall):
    """Checks several facts against a text in one request.

    Call it with `facts=` (a `FactSet`, atomic facts or strings) and `text=`; the prediction's
    `results` hold one `Verdict` or `CheckFailure` per fact, in fact order.

    Args:
        prompt: Name of a published prompt.
    """

    asks = CheckFacts
    predictor = "judge_facts"

    def __init__(self, prompt: str = CHECK_FACTS) -> None:
        super().__init__(prompt)

    def _request(self, facts: Sequence[AtomicFact | str], text: str) -> _Request:  # type: ignore[override]
        atomic = FactSet.of(facts).facts
        asked = random_ids(atomic, [fact.text for fact in atomic])
        questions = [FactQuestion(id=call_id, fact=fact.text) for call_id, fact in asked.items()]
        limit = _PER_REPLY + _PER_VERDICT * len(asked)
        return _Request({"text": text, "facts": questions}, limit, (asked, text))

    def _prediction(self, reply: dspy.Prediction, asked: Any) -> dspy.Prediction:
        results = account(asked[0], reply.verdicts, asked[1], judge=self._judge())
        return dspy.Prediction(results=tuple(results.values()), verdicts=reply.verdicts)


class SemanticEquivalence(_OneCall):
    """Tells for several pairs of values, in one request, whether the two mean the same.

    Call it with `pairs=` (`ValuePair`s, or tuples of a gold and an extracted value); the
    prediction's `results` hold one `PairVerdict` or `Failure` per pair, in their order.

    Args:
        prompt: Name of a published prompt.
    """

    asks = CompareValues
    predictor = "judge_pairs"
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
        super().__init__(prompt)

    def _request(self, pairs: Sequence[ValuePair | tuple[str, str]]) -> _Request:  # type: ignore[override]
        values = [pair if isinstance(pair, ValuePair) else ValuePair(*pair) for pair in pairs]
        asked = random_ids(values, [repr(order_of(pair)) for pair in values])
        return _Request({"pairs": render(asked)}, _PER_REPLY + _PER_PAIR * len(asked), asked)

    def _prediction(self, reply: dspy.Prediction, asked: Any) -> dspy.Prediction:
        results = account_pairs(asked, reply.verdicts, judge=self._judge())
        return dspy.Prediction(results=tuple(results.values()), verdicts=reply.verdicts)


class LLMJudge(_OneCall):
    """Rates in one request how much of a source its summary keeps: the usual way, as a baseline.

    Call it with `source_text=` and `summary=`; the prediction has `faithfulness`, an integer from 1
    to 5, and `reason`, a sentence. Both texts are sent whole. What is too long for the model is an
    error of the provider; it is never cut, since a number for a part would pass for one for the
    whole.

    Args:
        prompt: Name of a published prompt.
    """

    asks = RateFaithfulness
    predictor = "rate"
    is_framed = True

    def __init__(self, prompt: str = RATE_FAITHFULNESS) -> None:
        super().__init__(prompt)

    def _request(self, source_text: str, summary: str) -> _Request:  # type: ignore[override]
        return _Request({"source_text": source_text, "summary": summary}, _PER_RATING)

    def _prediction(self, reply: dspy.Prediction, asked: Any) -> dspy.Prediction:  # noqa: ARG002
        return dspy.Prediction(faithfulness=reply.faithfulness, reason=reply.reason.strip())


class Summarizer(_OneCall):
    """Summarizes a source in bullet points that keep its facts, in one request.

    Call it with `source=`; the prediction has `summary`, Markdown with one line `- ...` per bullet,
    and `bullets`, the same as a list. There is always one. The source is sent whole, and the length
    of the reply is up to the language model's settings; a reply that is cut off is an error.

    Args:
        prompt: Name of a published prompt.
    """

    asks = Summarize
    predictor = "summarize"
    is_framed = True

    def __init__(self, prompt: str = SUMMARIZE) -> None:
        super().__init__(prompt)

    def _request(self, source: str) -> _Request:  # type: ignore[override]
        return _Request({"source_text": source}, None)

    def _prediction(self, reply: dspy.Prediction, asked: Any) -> dspy.Prediction:  # noqa: ARG002
        summary = "\n".join(f"- {bullet}" for bullet in reply.bullets)
        return dspy.Prediction(summary=summary, bullets=reply.bullets)


@cache
def fingerprint(module: Callable[[str], dspy.Module], prompt: str) -> str:
    """Name and digest of what a module sends around its inputs, such as `check_facts/v1@1a2b3c4d`.

    The digest is taken of the request rendered with stand-ins for the inputs, so it moves with
    the prompt file, the field names, the label set and the adapter.
    """
    made: Any = module(prompt)
    predict = made.predictors()[0]
    stand_ins = {name: f"<<{name}>>" for name in predict.signature.input_fields}
    stand_ins.update(getattr(module, "stand_ins", {}))
    messages = made.adapter.format(predict.signature, predict.demos, stand_ins)
    request = {"messages": messages, "response_format": response_schema(predict.signature)}
    return f"{prompt}@{short_digest(without_numbers(json.dumps(request, sort_keys=True)))}"


def score_with_feedback(score: float, feedback: str) -> dspy.Prediction:
    """Return value of a metric of `dspy.GEPA`; adds up and compares like the number."""
    return dspy.Prediction(score=score, feedback=feedback)
