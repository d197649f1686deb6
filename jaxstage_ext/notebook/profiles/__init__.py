"""`%%profile`."""
