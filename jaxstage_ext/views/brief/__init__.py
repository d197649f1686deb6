"""Short forms for language models: what is so, what to change, and the exact expressions that give more."""
