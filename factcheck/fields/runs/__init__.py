"""Scores of records aggregated to runs, and their export and comparison."""
