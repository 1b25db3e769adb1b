"""Outputs compared with texts that are known to be good, by the similarity of their embeddings."""

from factcheck.references.comparator import ReferenceComparator
from factcheck.references.match import ReferenceMatch
from factcheck.references.results import Aggregation, ReferenceMatchResult

__all__ = ["Aggregation", "ReferenceComparator", "ReferenceMatch", "ReferenceMatchResult"]
