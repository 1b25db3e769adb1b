"""How an answer is obtained: the event-loop thread, retries."""
