"""Running and profiling programs: how, how fast, and what a run shows."""
