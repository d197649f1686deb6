"""What a search found as it is drawn and told: columns, and sentences."""
