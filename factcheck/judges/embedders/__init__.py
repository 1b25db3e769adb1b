"""Embedders: the built-in lexical one, models of OpenAI and others, and functions of your own."""
