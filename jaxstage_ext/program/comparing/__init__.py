"""Programs side by side."""
