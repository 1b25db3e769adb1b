"""A session owns what evaluators share, and only its owner closes it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from factcheck import Budget, FactCoverage
from factcheck.errors import InputError
from factcheck.fields import SemanticComparator
from factcheck.references import ReferenceMatch
from factcheck.runtime.cache import DiskCache
from factcheck.runtime.session import Session
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
        opened = session.cache._store
    assert borrowed.n_closed == 0
    assert (opened is not None, session.cache._store) == (True, None)


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


def test_a_session_and_options_of_its_own_exclude_each_other() -> None:
    with pytest.raises(InputError, match="session= brings its own concurrency"):
        FactCoverage("local", session=Session(), concurrency=2)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="retries"):
        FactCoverage("local", retries=3)  # type: ignore[call-arg]
