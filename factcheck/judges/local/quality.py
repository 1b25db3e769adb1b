"""How well the embedded judges agree with human labels; measured by `benchmarks/embedded`.

The sets of `quality.json` are REALSumm (news summaries), FactCheckGPT (chatbot answers) and FM2
(adversarial claims). A balanced accuracy of 0.5 is chance.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


def quality_of(name: str, judge: str) -> str:
    """Balanced accuracy of a judge on sets with human labels, as one line.

    Args:
        name: `local` or `local-fast`.
        judge: Name and version, as in the score signature. Figures of another version say so.
    """
    card = _cards()[name]
    sets = card["balanced_accuracy"].items()
    figures = ", ".join(f"{value:.2f} on {words}" for words, value in sets)
    version = "" if card["judge"] == judge else f" of another version, {card['judge']}"
    return f"balanced accuracy{version} {figures}"


@cache
def _cards() -> Mapping[str, Any]:
    cards: Mapping[str, Any] = json.loads(
        (files("factcheck.judges.local") / "quality.json").read_text("utf-8")
    )
    return cards
