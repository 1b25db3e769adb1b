"""Data, training, export and measurement for an embedded judge that reads."""
