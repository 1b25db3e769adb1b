"""The progress line says how much is done, how fast, what is left and what it cost."""

from __future__ import annotations

import io

import pytest

from factcheck.facts import Usage
from factcheck.runtime.progress import progress, time_text


class Terminal(io.StringIO):
    """A terminal that keeps what is shown."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_line_is_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,  # noqa: FBT001
) -> None:
    screen = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "200")
    with progress("Scoring") as show:
        show(50, 50, Usage(calls=7, cost_usd=0.5, cache_hits=10), 1200)
    shown = screen.getvalue()
    assert ("Scoring: 50 of 1,200 records, " in shown) is is_terminal
    assert (" left, 20 % from the cache, 7 calls, $0.5000" in shown) is is_terminal


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "about 1 second"), (80, "about 80 seconds"), (100, "about 2 minutes")],
)
def test_durations_are_rough(seconds: float, text: str) -> None:
    assert time_text(seconds) == text
