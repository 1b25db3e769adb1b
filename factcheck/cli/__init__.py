"""The command line: parse, call, print. What a command computes is computed elsewhere."""

from factcheck.cli.app import main

__all__ = ["main"]
