"""Facts refuse what would turn into a wrong number later."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet, ScoreSignature, Usage, Verdict, digest

FACT = AtomicFact("f1", "A is B.")


@pytest.mark.parametrize("facts", ["A is B.", b"x", {"a": 1}, 7, None, ["ok", 7], ["ok", " "]])
def test_anything_but_a_sequence_of_statements_is_refused(facts: object) -> None:
    with pytest.raises(InputError):
        FactSet.of(facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: FactSet((FACT, FACT)), "two facts have the id 'f1'"),
        *(
            (partial(AtomicFact, "f1", "A is B.", weight=weight), "weight")
            for weight in (-1.0, math.nan, math.inf)
        ),
        *((partial(Verdict, FACT, "neutral", p), "probability") for p in (-0.1, 1.1, math.nan)),
        (lambda: Verdict(FACT, "supported"), "supported"),  # type: ignore[arg-type]
    ],
)
def test_what_would_be_a_wrong_number_is_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    assert (Usage(cost_usd=0.5) + Usage(cost_usd=0.25)).cost_usd == 0.75
    assert (Usage(cost_usd=0.5) + Usage(cost_usd=None)).cost_usd is None


@given(st.text())
def test_any_text_has_a_digest_also_with_a_lone_surrogate(text: str) -> None:
    assert len(digest(text)) == 64
    assert digest(f"{text}\ud800") != digest(f"{text}\ud801")


@given(st.dictionaries(st.text(), st.text(), max_size=5))
def test_a_signature_parses_back_whatever_it_holds(entries: dict[str, str]) -> None:
    signature = ScoreSignature.of(entries)
    assert ScoreSignature.parse(str(signature)) == signature


@pytest.mark.parametrize("line", ["judge", "a:1|a:2", "a:%ff"])
def test_a_line_that_is_no_signature_is_refused(line: str) -> None:
    with pytest.raises(InputError):
        ScoreSignature.parse(line)
