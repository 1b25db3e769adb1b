"""Caches of paid responses, one entry per question: in memory, on disk or in Redis."""

from factcheck.runtime.cache.disk import DiskCache
from factcheck.runtime.cache.entries import JSON, answer_key
from factcheck.runtime.cache.memory import AnswerCache, MemoryCache
from factcheck.runtime.cache.opening import CacheSpec, default_folder, open_cache

__all__ = [
    "JSON",
    "AnswerCache",
    "CacheSpec",
    "DiskCache",
    "MemoryCache",
    "answer_key",
    "default_folder",
    "open_cache",
]
