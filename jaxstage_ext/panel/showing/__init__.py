"""Showing programs in a notebook, a terminal or a file."""
