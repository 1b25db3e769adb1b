"""Confidence intervals, resampling and tests; knows nothing of facts, records or judges."""
