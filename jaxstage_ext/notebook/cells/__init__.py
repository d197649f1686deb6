"""Cells: their calls, and running them."""
