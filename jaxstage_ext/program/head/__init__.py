"""What heads every view of a program."""
