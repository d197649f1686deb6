"""What a call is given: its arguments, the arrays that it closes over, their names."""
