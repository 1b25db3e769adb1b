"""Record and replay: cassettes of what judges answered, and judges that answer from them."""
