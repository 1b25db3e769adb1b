"""Moved to `factcheck.records`."""

from factcheck.records import LockChange, lock_text, write_lock

__all__ = ["LockChange", "lock_text", "write_lock"]
