"""Where programs come from: their source, line by line."""
