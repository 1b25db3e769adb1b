"""The public names are those that are listed, and each can be had."""

from __future__ import annotations

import inspect

import pytest

import factcheck
from factcheck import _HOME_OF


def test_the_list_of_names_is_sorted_and_complete() -> None:
    assert factcheck.__all__ == sorted(factcheck.__all__)
    assert set(factcheck.__all__) == set(_HOME_OF)


def test_every_public_name_resolves_and_is_listed() -> None:
    for name in factcheck.__all__:
        assert getattr(factcheck, name) is getattr(factcheck, name)
        assert name in dir(factcheck)


def test_every_public_class_and_function_is_documented() -> None:
    values = {name: getattr(factcheck, name) for name in factcheck.__all__}
    code = {n: v for n, v in values.items() if inspect.isroutine(v) or inspect.isclass(v)}

    assert [name for name, value in code.items() if not value.__doc__] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scoer'"):
        factcheck.scoer  # noqa: B018


def test_the_version_is_that_of_the_installed_package() -> None:
    from importlib.metadata import version

    assert factcheck.__version__ == version("factcheck")
