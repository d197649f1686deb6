"""Programs as they would be with other checkpoints or donated arguments."""
