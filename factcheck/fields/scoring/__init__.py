"""Compilation of schemas, and scoring of single records."""
