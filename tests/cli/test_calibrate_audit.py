"""`factcheck calibrate audit`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Desk, Outcome

    Run = Callable[..., Outcome]


@pytest.fixture
def own(desk: Desk) -> list[str]:
    summary = desk.put("bullets.md", "- The lake is deep.\n- The pier is old.\n")
    return ["--source", desk.source, "--summary", summary]


def test_a_judge_that_never_looks_at_the_text_is_exposed(
    run: Run, desk: Desk, own: list[str]
) -> None:
    desk.verdicts = dict.fromkeys(desk.verdicts, "entailed")
    code, out, _ = run("calibrate", "audit", *own)
    assert code == 0
    assert out.startswith("Audit of local   ")
    assert "it says yes to 100% of its questions" in out
    assert "although the text says: The pier is not old." in out


def test_json_holds_every_error(run: Run, desk: Desk, own: list[str]) -> None:
    desk.verdicts = dict.fromkeys(desk.verdicts, "entailed")
    (report,) = json.loads(run("calibrate", "audit", *own, "--format", "json").out)
    by_rule = {rule["rule"]: rule for rule in report["rules"]}
    assert by_rule["added negation"]["broken"] == len(by_rule["added negation"]["errors"]) == 4


def test_several_judges_are_audited_one_after_the_other(run: Run, own: list[str]) -> None:
    out = run("calibrate", "audit", *own, "--judge", "local", "--judge", "openai/x").out
    assert "Audit of local" in out
    assert "Audit of openai/x" in out


def test_a_judge_that_answers_nothing_ends_with_4(run: Run, desk: Desk, own: list[str]) -> None:
    desk.unplug()
    code, out, err = run("calibrate", "audit", *own)
    assert code == 4
    assert "without an answer" in out
    assert "returned no verdicts" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--source", "s.txt"], "--source and --summary belong together"),
        (["--per-rule", "0"], "per_rule"),
    ],
)
def test_what_cannot_be_run_is_refused(run: Run, options: list[str], message: str) -> None:
    code, out, err = run("calibrate", "audit", *options)
    assert (code, out) == (2, "")
    assert message in err
