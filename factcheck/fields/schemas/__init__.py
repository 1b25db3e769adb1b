"""Evaluation schemas: inference, resolution, parsing and validation."""
