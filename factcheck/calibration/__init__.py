"""Can this judge be trusted? Measured on texts whose answer is known, and on human labels."""

from factcheck.calibration.containment import WordContainment

__all__ = ["WordContainment"]
