"""What a search of layouts found, as columns that are drawn and as forms that stand still."""
