"""Confidence intervals, resampling and significance tests, independent of the other packages."""
