"""Scores, what follows from them, and their laws; nothing here leaves the process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import ConfigError, Failure, InputError
from factcheck.metrics import MetricResult, evaluate
from factcheck.references import Aggregation, ReferenceMatch, ReferenceMatchMetric
from tests.embeddings import ScriptedEmbedder
from tests.strategies import prose

RESET = (
    "To reset your password, navigate to Settings.",
    "Go to Settings > Security to change your password.",
)
COMPASS: dict[str, Sequence[float] | Failure[None] | Exception] = {
    "east": (1.0, 0.0),
    "north": (0.0, 1.0),
    "north-east": (2.0, 2.0),
    "west": (-3.0, 0.0),
    "long east": (5.0, 0.0, 0.0),
    "nowhere": (0.0, 0.0),
    "not a number": (math.nan, 1.0),
    "nothing": Failure(None, "refused", "the filter declined"),
}


def results(metric: ReferenceMatch, cases: Sequence[Any]) -> list[MetricResult]:
    given = [{"actual_output": one} if isinstance(one, str) else one for one in cases]
    return [*evaluate(given, [metric])[metric.name].results.values()]


def compass(references: Sequence[str], **options: Any) -> ReferenceMatch:
    return ReferenceMatch(references, embedding_provider=ScriptedEmbedder(COMPASS), **options)


@pytest.mark.parametrize(
    ("aggregation", "score", "passed"), [("max", 0.707107, True), ("mean", 0.471405, False)]
)
def test_the_aggregation_decides_and_the_first_of_equals_is_the_best(
    aggregation: Aggregation, score: float, *, passed: bool
) -> None:
    """A score that equals the threshold passes."""
    metric = compass(["east", "west", "north"], aggregation=aggregation, threshold=0.707107)
    result = metric.match("north-east")
    assert result.details == {
        "similarities": [0.707107, 0.0, 0.707107],
        "best_index": 0,
        "best_reference": "east",
    }
    assert (result.score, result.passed) == (score, passed)


def test_the_scenarios_of_the_guide_come_out_as_it_says() -> None:
    """High is .90 and more, near to one reference; low is below .5, about something else."""
    paraphrase = "Navigate to Settings > Security to reset your password."
    unrelated = "Our company was founded in 2020 and is based in San Francisco."
    high = ReferenceMatch(RESET).match(paraphrase)
    low = ReferenceMatch(RESET, aggregation="mean").match(unrelated)
    assert high.score is not None
    assert high.score >= 0.9
    assert high.details["best_index"] == 0
    assert (low.passed, low.score is not None and low.score < 0.5) == (False, True)


@given(prose, prose, st.lists(prose, max_size=3))
def test_a_text_is_exactly_like_itself_and_as_like_another_as_that_is_like_it(
    one: str, other: str, others: list[str]
) -> None:
    result = ReferenceMatch([*others, one]).match(one)
    assert (result.score, result.details["similarities"][-1]) == (1.0, 1.0)
    assert ReferenceMatch([one]).match(other).score == ReferenceMatch([other]).match(one).score


def test_every_text_is_embedded_once() -> None:
    embedder = ScriptedEmbedder(COMPASS)
    metric = ReferenceMatch(["east", "north"], embedding_provider=embedder)
    found = results(metric, ["north", "west", "north", "east"])
    assert [call.text for call in embedder.calls] == ["north\neast\nwest"]
    assert [result.score for result in found] == [1.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("bad", "code", "says"),
    [
        ("", "input", "the output is blank"),
        ({"actual_output": 3}, "input", "the output must be a string, got int"),
        ("nothing", "refused", "the filter declined"),
        ("nowhere", "output", "all zero"),
        ("not a number", "output", "finite numbers"),
        ("long east", "output", "vectors of 2 and 3 numbers cannot be compared"),
    ],
)
def test_one_bad_case_is_an_error_and_the_others_stay(bad: Any, code: str, says: str) -> None:
    first, middle, last = results(compass(["north"]), ["north", bad, "east"])
    assert (first.score, last.score) == (1.0, 0.0)
    assert middle.error is not None
    assert middle.error.code == code
    assert says in middle.error.message
    assert (middle.score, middle.passed, middle.details) == (None, None, {})


def test_an_embedder_with_another_number_of_vectors_gives_no_score() -> None:
    class Short(ScriptedEmbedder):
        async def embed(self, texts: Any, ledger: Any) -> Any:
            return (await super().embed(texts, ledger))[1:]

    metric = ReferenceMatch(["east"], embedding_provider=Short(COMPASS))
    assert metric.match("north").reason == "the embedder returned 1 vectors for 2 texts"


@pytest.mark.parametrize("error", [ValueError("broken"), ConfigError("no model")])
def test_an_embedder_that_raises_is_an_error_of_all_its_cases(error: Exception) -> None:
    metric = ReferenceMatch(
        ["east"], embedding_provider=ScriptedEmbedder({**COMPASS, "north": error})
    )
    found = results(metric, ["north", "west", ""])
    assert all(result.error and result.score is None for result in found)
    assert str(error) in found[1].reason


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"references": []}, "references is empty"),
        ({"references": ["Paris", ""]}, "references: number 2 is blank"),
        ({"threshold": 1.01}, "threshold must be a finite number"),
        ({"aggregation": "median"}, "aggregation 'median' is not one of max, mean"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        ReferenceMatch(**{"references": ["Paris"], **options})


def test_a_model_may_be_named_beside_its_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    named = ReferenceMatchMetric(["x"], embedding_provider="openai", model_name="small")
    assert named.identity == ReferenceMatch(["x"], embedding_provider="openai/small").identity
    with pytest.raises(ConfigError):
        ReferenceMatchMetric(["x"], model_name="small")
