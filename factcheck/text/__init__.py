"""How a text is built and read: its blocks, sentences and words, its numbers and dates."""
