"""Judges and embedders: the ports, and their implementations."""
