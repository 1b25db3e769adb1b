"""Texts written for this project, with summaries of which is known what each bullet carries."""

from factcheck.calibration.texts.bundled import BundledText, TextFact, load_texts

__all__ = ["BundledText", "TextFact", "load_texts"]
