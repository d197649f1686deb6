"""The neighbourhood of an instruction."""
