"""What requests share: their parameters, and tables and tiles as the front end takes them."""
