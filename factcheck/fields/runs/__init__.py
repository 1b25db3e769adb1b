"""From the results of records to the figures of a run."""
