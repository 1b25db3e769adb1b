"""One offline page on which people label facts, the most informative ones first."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from importlib.resources import files
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

from factcheck.calibration.agreement_labels import Answer, LabelledPair
from factcheck.calibration.agreement_run import check_pairs
from factcheck.calibration.texts import Judge, open_scorer
from factcheck.errors import JudgeError
from factcheck.reports.html import document_html
from factcheck.reports.text import visible, visible_lines
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking

_MAX_FACTS = 400
"""Facts on a page."""
_SURE = 0.9
"""Probability of a verdict that comes without one."""
_LEAST = 0.04
"""Weight of a fact that the judge is sure of; that of an undecided one is .25."""


class Drawn(NamedTuple):
    """A fact in the order of its document."""

    key: float
    weight: float
    pair: LabelledPair


async def areview_page(
    pairs: Sequence[LabelledPair], judge: Judge = "local", *, budget: Budget | None = None
) -> str:
    """Make a self-contained HTML page for labels of at most 400 facts, worked with one key a fact.

    The more a label would tell, the likelier a fact comes early: undecided ones, then those near
    one half. Documents in random order supply one fact after the other. Labels that are there are
    filled in. What the page saves is read by `read_pairs(path, labels)`.

    Raises:
        JudgeError: The judge decided nothing.
    """
    async with AsyncExitStack() as stack:
        answers = await check_pairs(await open_scorer(judge, budget, stack), pairs)
    if all(answer.entailed is None for answer in answers):
        raise JudgeError(f"the judge returned no verdicts: {answers[0].why}")
    return render(pairs, answers)


review_page = blocking(areview_page)


def draw(pairs: Sequence[LabelledPair], answers: Sequence[Answer]) -> dict[str, list[Drawn]]:
    """Return the facts of each document in the order of labelling, the same in every run.

    A fact has an exponential key with its weight as rate. Given the key that was not reached any
    more, all facts below were drawn independently, with known chances: those of `LabelledPair`.

    Source:
        Cohen and Kaplan (2007), "Summarizing data using bottom-k sketches": rank conditioning.
    """
    found: dict[str, list[Drawn]] = {}
    seen = set()
    for pair, answer in zip(pairs, answers, strict=True):
        if (pair.text, pair.fact) in seen:
            continue
        seen.add((pair.text, pair.fact))
        likely = _SURE if answer.probability is None else answer.probability
        likely = 0.5 if answer.entailed is None else likely
        weight = max(_LEAST, likely * (1 - likely))
        key = _random(pair.text, pair.fact).expovariate(weight)
        found.setdefault(pair.document, []).append(Drawn(key, weight, pair))
    order = sorted(found, key=lambda document: _random(document).random())
    return {document: sorted(found[document], key=lambda one: one.key) for document in order}


def render(pairs: Sequence[LabelledPair], answers: Sequence[Answer]) -> str:
    """Render the page, given one answer for each pair."""
    documents = draw(pairs, answers).values()
    turns = filter(None, chain.from_iterable(zip_longest(*map(_with_next, documents))))
    texts: dict[str, int] = {}
    facts: list[dict[str, Any]] = []
    for one, next_key in islice(turns, _MAX_FACTS):
        pair = one.pair
        facts.append(
            {
                "document": pair.document,
                "system": pair.system,
                "text": texts.setdefault(pair.text, len(texts)),
                "fact": pair.fact,
                "shown": visible(pair.fact),
                "weight": one.weight,
                "next": next_key,
                "label": pair.label,
            }
        )
    shown = [{"text": text, "shown": visible_lines(text)} for text in texts]
    data = json.dumps({"facts": facts, "texts": shown}).replace("<", "\\u003c")
    digest = hashlib.sha256(data.encode()).hexdigest()[:16]
    body = f'<script type="application/json" id="data">{{"id":"{digest}",{data[1:]}</script>'
    page, script = (
        (files("factcheck.calibration") / f"review.{kind}").read_text("utf-8")
        for kind in ("html", "js")
    )
    return document_html("Review of facts", f"{page}{body}\n", script)


def _with_next(facts: Sequence[Drawn]) -> list[tuple[Drawn, float | None]]:
    """Pair each fact with the key of the one after it."""
    keys = [*(one.key for one in facts[1:]), None]
    return list(zip(facts, keys, strict=True))


def _random(*seed: str) -> random.Random:
    return random.Random("\0".join(seed))  # noqa: S311 - repeatable, not secret
