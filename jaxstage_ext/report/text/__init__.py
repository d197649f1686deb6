"""Values as text and HTML."""
