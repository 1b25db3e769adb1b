"""The DSPy modules about whole summaries: `Summarizer` writes one, `LLMJudge` rates one.

Both can be optimised. What an optimizer rewrites is the first part of the prompt file; the part
below the blank line, which says that texts are data and how to reply, is put under whatever
instructions there are.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NamedTuple

import dspy

from factcheck.judges.llm.adapter import FramedAdapter
from factcheck.judges.llm.prompts import RATE_FAITHFULNESS, SUMMARIZE, load_prompt
from factcheck.judges.llm.replies import Bullets, Faithfulness

_ROOM_FOR_A_RATING = 192
"""Tokens a reply may take."""


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


class LLMJudge(dspy.Module):
    """Rates in one call how much of a source its summary keeps: the usual way, for comparison.

    Call it with `source_text=` and `summary=`; the prediction has `faithfulness`, a whole number
    from 1 to 5, and `reason`, a sentence. Both texts are sent whole. What is too long for the
    model is an error of the provider; it is never cut, since a number for a part would pass for
    one for the whole.

    Args:
        prompt: Name of a published prompt.
    """

    def __init__(self, prompt: str = RATE_FAITHFULNESS) -> None:
        super().__init__()
        self.prompt = prompt
        instructions, frame = _parts(prompt)
        self.adapter = FramedAdapter(frame)
        self.rate = dspy.Predict(RateFaithfulness.with_instructions(instructions))

    def forward(self, source_text: str, summary: str) -> dspy.Prediction:
        """Ask the language model of the context."""
        with _by(self.adapter):
            reply = self.rate(source_text=source_text, summary=summary, config=_a_rating())
        return _rated(reply)

    async def aforward(self, source_text: str, summary: str) -> dspy.Prediction:
        """Ask the language model of the context."""
        with _by(self.adapter):
            reply = await self.rate.acall(
                source_text=source_text, summary=summary, config=_a_rating()
            )
        return _rated(reply)


class Summarizer(dspy.Module):
    """Summarizes a source in bullet points that keep its facts, in one call.

    Call it with `source=`; the prediction has `summary`, Markdown with one line `- ...` a bullet,
    and `bullets`, the same as a list. There is always one. The source is sent whole, and how long
    the reply may be is up to the language model's settings; a reply that is cut off is an error.

    Args:
        prompt: Name of a published prompt.
    """

    def __init__(self, prompt: str = SUMMARIZE) -> None:
        super().__init__()
        self.prompt = prompt
        instructions, frame = _parts(prompt)
        self.adapter = FramedAdapter(frame)
        self.summarize = dspy.Predict(Summarize.with_instructions(instructions))

    def forward(self, source: str) -> dspy.Prediction:
        """Ask the language model of the context."""
        with _by(self.adapter):
            reply = self.summarize(source_text=source)
        return _summarized(reply)

    async def aforward(self, source: str) -> dspy.Prediction:
        """Ask the language model of the context."""
        with _by(self.adapter):
            reply = await self.summarize.acall(source_text=source)
        return _summarized(reply)


class _Parts(NamedTuple):
    instructions: str
    frame: str


def _parts(prompt: str) -> _Parts:
    """What may be optimised of a prompt, and what stays."""
    instructions, _, frame = load_prompt(prompt).rpartition("\n\n")
    return _Parts(instructions, frame)


def _by(adapter: FramedAdapter) -> AbstractContextManager[None]:
    """Our prompts and strict replies. Traces stay on: an optimizer learns from them."""
    context: AbstractContextManager[None] = dspy.context(adapter=adapter, disable_history=True)
    return context


def _a_rating() -> dict[str, int]:
    return {"max_tokens": _ROOM_FOR_A_RATING}


def _rated(reply: dspy.Prediction) -> dspy.Prediction:
    return dspy.Prediction(faithfulness=reply.faithfulness, reason=reply.reason.strip())


def _summarized(reply: dspy.Prediction) -> dspy.Prediction:
    summary = "\n".join(f"- {bullet}" for bullet in reply.bullets)
    return dspy.Prediction(summary=summary, bullets=reply.bullets)


def score_with_feedback(score: float, feedback: str) -> dspy.Prediction:
    """What a metric of `dspy.GEPA` returns; adds up and compares like the number."""
    return dspy.Prediction(score=score, feedback=feedback)
