"""The embedded judge: offline, deterministic, from segmentation to verdicts."""
