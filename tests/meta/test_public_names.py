"""The public names resolve, are documented, and are few."""

from __future__ import annotations

import inspect

import pytest

import factcheck
from tests.processes import printed_by_python


def test_a_reader_finds_the_three_ways_in() -> None:
    """Scoring in Python, the calibration benchmarks and the field evaluator, from `dir` alone."""
    assert factcheck.__all__ == sorted(factcheck.__all__) == dir(factcheck)
    assert {"score", "FactCoverage", "calibration", "fields"} <= set(dir(factcheck))
    assert "SemanticComparator" in dir(factcheck.fields)
    assert "bullet_removal" in dir(factcheck.calibration)
    assert (
        len([name for name in dir(factcheck) if not inspect.ismodule(getattr(factcheck, name))])
        <= 32
    )


def test_rooms_are_reachable_without_an_import_of_their_own() -> None:
    code = "import factcheck; print(factcheck.fields.evaluate.__name__)"

    assert printed_by_python(code) == "evaluate"


def test_every_public_class_and_function_is_documented() -> None:
    values = {name: getattr(factcheck, name) for name in factcheck.__all__}
    assert values == {name: getattr(factcheck, name) for name in values}  # kept after the first use
    code = {n: v for n, v in values.items() if inspect.isroutine(v) or inspect.isclass(v)}

    assert [name for name, value in code.items() if not value.__doc__] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scoer'"):
        factcheck.scoer  # noqa: B018


def test_the_version_is_that_of_the_installed_package() -> None:
    from importlib.metadata import version

    assert factcheck.__version__ == version("summary-factcheck")
