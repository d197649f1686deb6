"""A table row by row, for programs that read it: chosen, in order, bounded, and with names that survive an edit."""
