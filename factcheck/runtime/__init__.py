"""The session and what it owns: cache, budget, limits, retries, the event-loop thread."""
