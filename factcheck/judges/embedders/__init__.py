"""Embedders: the built-in lexical one, OpenAI-compatible models, and user-defined functions."""
