"""What a compiled layout exchanges, beside what was estimated."""
