"""The saved form of calls, and reading it."""
