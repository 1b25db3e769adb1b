"""The public names are those that are listed, and each can be had."""

from __future__ import annotations

import inspect

import pytest

import factcheck
from factcheck import _HOME_OF


def test_the_list_of_names_is_sorted_and_complete() -> None:
    assert factcheck.__all__ == sorted(factcheck.__all__)
    assert set(factcheck.__all__) == set(_HOME_OF)


@pytest.mark.parametrize("name", factcheck.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(factcheck, name) is getattr(factcheck, name)
    assert name in dir(factcheck)


@pytest.mark.parametrize("name", factcheck.__all__)
def test_every_public_class_and_function_is_documented(name: str) -> None:
    value = getattr(factcheck, name)

    assert value.__doc__ or (not inspect.isroutine(value) and not inspect.isclass(value))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scoer'"):
        factcheck.scoer  # noqa: B018


def test_the_version_is_that_of_the_installed_package() -> None:
    from importlib.metadata import version

    assert factcheck.__version__ == version("factcheck")
