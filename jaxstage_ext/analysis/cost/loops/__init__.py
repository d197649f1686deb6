"""How often the computations of a module run."""
