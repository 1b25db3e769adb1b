"""Who turns texts into vectors: the embedded embedder, OpenAI's and other models, your own."""
