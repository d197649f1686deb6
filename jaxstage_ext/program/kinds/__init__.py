"""The kinds of programs, and what is peculiar to each."""
