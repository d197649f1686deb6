"""What notebooks and pages hold of a panel."""
