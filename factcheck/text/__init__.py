"""Text analysis: blocks, words, languages, numbers, units, dates and syntax."""
