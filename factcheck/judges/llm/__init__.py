"""Everything that knows DSPy: prompts, modules, the engine under them, and the LLM judges."""
