"""A forked child makes its own connections and limits."""

from __future__ import annotations

import os
import sys
from itertools import count

import pytest

from factcheck import FactCoverage
from factcheck.runtime.loop import PerProcess
from factcheck.testing import FactModel, LocalOpenAIServer

TEXT = "The barn burned. The cow lived."


def test_a_value_is_made_once_and_can_be_taken_away() -> None:
    numbers = count(1)
    value = PerProcess(lambda: next(numbers))
    assert [value(), value()] == [1, 1]
    assert value.take() == 1
    assert value.take() is None
    assert value() == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_after_a_call_can_ask_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalOpenAIServer(FactModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with FactCoverage("openai/tiny", cache="off") as scorer:
            assert scorer.score(TEXT, TEXT).score == 1.0
            child = os.fork()
            if child == 0:
                decided = scorer.score(TEXT, "The barn burned.").score
                os._exit(0 if decided == 0.5 else 1)
            _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
