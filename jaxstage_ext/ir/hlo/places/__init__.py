"""Where in the source the instructions of a module come from."""
