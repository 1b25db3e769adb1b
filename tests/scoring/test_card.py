"""Reports cite the card of their judge, and of no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factcheck import FactCoverage
from factcheck.errors import InputError
from factcheck.facts import ScoreSignature
from factcheck.scoring.card import JudgeCard

FAST = str(FactCoverage("local-fast").judge_signature)


def card(**changed: Any) -> dict[str, Any]:
    return {
        "judge": "local-fast",
        "signature": FAST,
        "created": "2026-11-22",
        "texts": "12 bundled texts",
        "uses": {"rank": "yes"},
        "conclusion": "Use this judge to rank summaries.",
        "cost": {},
        "bullets": {},
        "audit": {},
        "format": 1,
        **changed,
    }


def put(folder: Path, data: Any) -> Path:
    path = folder / "card.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_a_report_cites_the_card_instead_of_the_figures_of_others(tmp_path: Path) -> None:
    path = put(tmp_path, card())
    report = FactCoverage("local-fast", card=path).score("A bridge fell.", "A bridge fell.")

    assert report.judge_quality == (
        "Use this judge to rank summaries. Measured on 2026-11-22; 12 bundled texts."
    )
    assert "judge: Use this judge to rank summaries." in str(report)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (card(signature=FAST.replace("containment/3", "containment/2")), "containment/2@0.65, not"),
        (card(signature=FAST.replace("version:", "version:9.")), "version 9."),
        (card(signature="judge:openai/gpt-x|version:0.1.0"), "another judge or version"),
        (card(signature="nonsense"), "score signature"),
        (card(format=2), "format 2 is not 1"),
        ({"score": 1.0}, "not a judge's card"),
        ([], "not a judge's card"),
        (card(uses=3), "'uses'"),
    ],
)
def test_another_card_is_refused_before_anything_is_asked(
    tmp_path: Path, data: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        FactCoverage("local-fast", card=put(tmp_path, data))


def test_what_a_model_has_yet_to_show_is_no_other_judge_but_is_said() -> None:
    measured = JudgeCard.from_dict(card(signature="judge:openai/x|temp:0|form:text|version:1"))
    now = ScoreSignature.parse("judge:openai/x|temp:0|version:1")

    measured.require(now)
    assert "with form text, not default;" in measured.quality(now)
    with pytest.raises(InputError, match=r"temp 0, not 0\.5"):
        measured.require(ScoreSignature.parse("judge:openai/x|temp:0.5|version:1"))
