"""Comparators, and transforms applied before comparison."""
