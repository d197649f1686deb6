"""The questions that are asked of a program, one file each."""
