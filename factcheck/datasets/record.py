"""Moved to `factcheck.documents`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from factcheck.documents import Place
from factcheck.errors import InputError

__all__ = ["Entry", "Place"]


class Entry(NamedTuple):
    """What a reader found for one record: its data, or what is wrong with it."""

    place: Place
    data: Mapping[str, Any] | InputError
