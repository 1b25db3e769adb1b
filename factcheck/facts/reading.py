"""Moved to `factcheck.documents`."""

from factcheck.documents import Reader

__all__ = ["Reader"]
