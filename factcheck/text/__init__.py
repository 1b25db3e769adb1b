"""How a text is built: its blocks, its sentences, its words."""
