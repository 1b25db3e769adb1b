"""From a schema to the results of one record."""
