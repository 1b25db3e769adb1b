"""Similarity of outputs to reference texts, by embeddings."""

from factcheck.references.match import ReferenceMatch
from factcheck.references.results import Aggregation, ReferenceMatchResult

__all__ = ["Aggregation", "ReferenceMatch", "ReferenceMatchResult"]
