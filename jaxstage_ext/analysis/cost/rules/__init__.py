"""What single operations cost: FLOPs, bytes, units."""
