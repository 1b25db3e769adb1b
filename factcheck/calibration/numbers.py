"""Numbers in the tables of calibration: three decimals without a leading zero, as in papers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from factcheck.reports.text import DASH


def short(value: float | None, *, signed: bool = False) -> str:
    """Three decimals without a zero before the point, such as `.950`; a dash for `None`."""
    if value is None:
        return DASH
    value = 0.0 if round(value, 3) == 0 else value  # no "-.000"
    return re.sub(r"^([+-]?)0\.", r"\1.", f"{value:{'+' if signed and value else ''}.3f}")


def short_range(interval: Sequence[float] | None, *, signed: bool = False) -> str:
    """Both ends joined by a dash, or `-.012 to +.040` with signs; a dash for `None`."""
    if interval is None:
        return DASH
    joint = " to " if signed else DASH
    return joint.join(short(bound, signed=signed) for bound in interval)
