"""Which values of a source text each process may have its own of: read, never run."""
