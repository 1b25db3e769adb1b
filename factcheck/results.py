"""Moved to `factcheck.documents`."""

from factcheck.documents import Ids, ResultsFile, read_results

__all__ = ["Ids", "ResultsFile", "read_results"]
