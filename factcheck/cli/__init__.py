"""Command line: parse, call, print."""

from factcheck.cli.app import main

__all__ = ["main"]
