"""Dates and times of values, in any notation."""

from __future__ import annotations

import pytest

from factcheck.judges.local.pairs.dates import compare_moments
from factcheck.judges.local.pairs.findings import OTHER, SAME, SIMILAR, VAGUE
from factcheck.judges.local.pairs.moments import read_moments
from factcheck.judges.local.pairs.text import tidy


def probability(one: str, other: str) -> float | None:
    finding = compare_moments(tidy(one), tidy(other), "exact")
    return None if finding is None else finding.probability


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 May 2021", "2021-05-03"), ("May 3rd, 2021", "3. Mai 2021"),
        ("Monday, 3 May 2021", "2021/05/03"), ("03/05/2021", "3 May 2021"),
        ("03/05/2021", "5 March 2021"), ("13/05/2021", "05/13/2021"),
        ("3.5.2021", "3 de mayo de 2021"), ("3.5.21", "03-MAY-21"),
        ("31/12/99", "31 December 1999"), ("May 3 '21", "20210503"),
        ("1er janvier 2020", "2020-01-01"), ("Dez. 2020", "12/2020"), ("30th April", "April 30"),
        ("2021-05-03T00:00:00", "3 May 2021"), ("2021-05-03T14:30:00", "3 May 2021, 2:30 pm"),
        ("2021-05-03T14:30:00+02:00", "2021-05-03T12:30:00Z"), ("14:30 Uhr", "2.30 pm"),
        ("14h30", "14:30:00"), ("noon", "12:00"), ("4 a.m.", "4 AM"),
        ("3-5 May 2021", "3 May 2021 to 5 May 2021"), ("8:00-17:00", "8 am to 5 pm"),
        ("1.1.2020-31.12.2020", "2020-01-01 - 2020-12-31"), ("44 BC", "44 v. Chr."),
    ],
)  # fmt: skip
def test_one_moment_has_many_notations(one: str, other: str) -> None:
    assert probability(one, other) == SAME
    assert probability(other, one) == SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 May 2021", "5 May 2021"), ("3 May 2021", "3 March 2021"),
        ("03/05/2021", "05/03/2021"), ("10.12.2020", "October 12, 2020"), ("4 am", "4 pm"),
        ("14:30", "14:35"), ("2020-01-01T12:00:00+01:00", "2020-01-01T12:00:00Z"),
        ("3-5 May 2021", "3-6 May 2021"), ("44 BC", "45 BC"),
    ],
)  # fmt: skip
def test_another_moment_is_another_one(one: str, other: str) -> None:
    assert probability(one, other) == OTHER


def test_two_dates_in_the_same_digits_are_read_in_the_same_order() -> None:
    assert probability("03/05/2021", "03-05-2021") == SAME
    assert probability("03/05/2021", "05-03-2021") == OTHER


def test_a_part_of_a_date_says_less() -> None:
    assert probability("May 2021", "3 May 2021") == VAGUE
    assert probability("2021", "3 May 2021") == VAGUE
    assert probability("3 May", "May 2021") == OTHER


def test_a_time_may_be_in_either_half_of_the_day() -> None:
    assert probability("2:30", "14:30") == SIMILAR
    assert probability("02:30", "14:30") == OTHER


@pytest.mark.parametrize("text", ["", "Paris", "5", "May I?", "13/13/2021", "3 apples", "1:2:3"])
def test_what_is_no_moment_is_not_read_as_one(text: str) -> None:
    assert read_moments(text) == ()


def test_two_lone_years_are_just_numbers() -> None:
    assert probability("2021", "2022") is None
