"""A session owns what evaluators share; what is spent is said."""

from __future__ import annotations

import io
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factcheck import Budget, FactCoverage
from factcheck.errors import InputError
from factcheck.facts import Usage
from factcheck.fields import SemanticComparator
from factcheck.references import ReferenceMatch
from factcheck.runtime.budget import Price, Tokens, price_of
from factcheck.runtime.cache import DiskCache
from factcheck.runtime.session import Session
from factcheck.scoring.many import show_progress
from factcheck.testing import FactModel, LocalOpenAIServer
from tests.runtime.cache.stores import MemoryCache

FACTS = ["The lake is deep."]


class Counted(MemoryCache):
    """Counts how often it is closed."""

    n_closed = 0

    def close(self) -> None:
        self.n_closed += 1


class Line:
    """A connection that counts how often it is closed."""

    n_closed = 0

    async def aclose(self) -> None:
        self.n_closed += 1


def evaluators(**options: Any) -> list[Any]:
    return [
        FactCoverage("local", **options),
        SemanticComparator("local", **options),
        ReferenceMatch(["It rained."], **options),
    ]


@pytest.mark.parametrize("place", range(3))
def test_an_evaluator_closes_only_a_session_of_its_own(place: int) -> None:
    with Session(cache="off") as shared:
        line = shared.connection("chat", "a", Line)
        with evaluators(session=shared)[place]:
            pass
        assert line.n_closed == 0
    with evaluators(cache="off")[place] as evaluator:
        own = evaluator.session.connection("chat", "a", Line)
    assert (line.n_closed, own.n_closed) == (1, 1)


def test_a_cache_that_was_handed_in_stays_open(tmp_path: Path) -> None:
    borrowed = Counted()
    with ExitStack() as stack:
        stack.enter_context(Session(cache=borrowed))
        for evaluator in evaluators(cache=borrowed):
            stack.enter_context(evaluator)
    with Session(cache=tmp_path) as session:
        assert isinstance(session.cache, DiskCache)
        session.cache.add_many({"0" * 64: "{}"})
        assert session.cache.is_open
    assert borrowed.n_closed == 0
    assert not session.cache.is_open


def test_a_spec_names_one_connection() -> None:
    session = Session(cache="off")
    model = object()
    assert session.connection("chat", "a", Line) is session.connection("chat", "a", Line)
    assert session.connection("chat", model, Line) is session.connection("chat", model, Line)
    assert len({id(session.connection(*key, Line)) for key in KEYS}) == len(KEYS)


KEYS = [("chat", "a"), ("chat", "b"), ("embeddings", "a"), ("chat", object())]


def test_evaluators_of_a_session_share_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalOpenAIServer(FactModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with Session(cache="off", budget=Budget(max_calls=1)) as session:
            one, other = (FactCoverage("openai/tiny", session=session) for _ in "12")
            kept = one.score("", "The lake is deep.", facts=FACTS).kept
            undecided = other.score("", "The lake is dry.", facts=FACTS).undecided
    assert len(kept) == 1
    assert [failure.code for failure in undecided] == ["budget"]
    assert server.n_connections == 1


def test_options_that_are_unknown_or_that_a_session_brings_are_refused() -> None:
    with pytest.raises(InputError, match="session= brings its own concurrency"):
        FactCoverage("local", session=Session(), concurrency=2)
    with pytest.raises(TypeError, match="retries"):
        FactCoverage("local", retries=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("name", "cap"),
    [
        *(("max_calls", cap) for cap in (-1, 1.5, True)),
        *(("max_cost_usd", cap) for cap in (-1, float("nan"), "1")),
    ],
)
def test_a_cap_that_is_no_amount_is_refused(name: str, cap: Any) -> None:
    with pytest.raises(InputError, match=name):
        Budget(**{name: cap})
    assert Budget(max_cost_usd=np.float64(0.5)).max_cost_usd == 0.5


def test_cached_tokens_have_a_price_and_an_unknown_one_is_not_zero() -> None:
    assert Price(1.0, 0.1, 10.0).cost_usd(Tokens(1_000_000, 100_000, 400_000)) == pytest.approx(
        1.64
    )
    assert price_of("openai/gpt-5-nano") is not None
    assert price_of("openai/my-own-model") is None
    assert price_of("local") is None


@pytest.mark.parametrize(
    ("is_terminal", "cost_usd", "cost"),
    [(True, 0.5, "$0.5000"), (True, None, "cost unknown"), (False, 0.5, "$0.5000")],
)
def test_a_line_is_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool, cost_usd: float | None, cost: str
) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: is_terminal)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "200")
    with show_progress(1200) as show:
        show(50, Usage(calls=7, cost_usd=cost_usd, cache_hits=10))
    shown = screen.getvalue()
    said = "Scoring: 50 of 1,200 records, 7 calls, 0 prompt + 0 completion tokens, "
    assert (f"{said}{cost}, 10 answers from the cache" in shown) is is_terminal
