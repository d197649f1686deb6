"""The machine code of a program, kernel by kernel."""
