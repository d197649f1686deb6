"""What a tab of the panel is made of."""
