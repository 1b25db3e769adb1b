"""Rows of runs, without what differs from run to run by nature."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from factcheck.documents.results import read_results


def comparable(path: Path) -> list[Any]:
    """Rows without `usage` (calls, tokens, seconds) and the `cached` flags."""
    return [_without(row, {"usage", "cached"}) for row in read_results(path)]


def _without(data: Any, names: set[str]) -> Any:
    if isinstance(data, list):
        return [_without(item, names) for item in data]
    if not isinstance(data, dict):
        return data
    return {key: _without(value, names) for key, value in data.items() if key not in names}
