"""Charts that stand alone."""
