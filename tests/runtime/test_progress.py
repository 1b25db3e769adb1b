"""The progress line says how much is done, what is left and what it cost."""

from __future__ import annotations

import io

import pytest

from factcheck.facts import Usage
from factcheck.runtime.progress import progress


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
    said = "Scoring: 50 of 1,200 records, 20 % from the cache, 7 calls, $0.5000"
    assert (said in shown) is is_terminal
