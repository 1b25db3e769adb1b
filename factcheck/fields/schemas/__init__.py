"""Evaluation schemas: made, resolved, checked and read into nodes."""
