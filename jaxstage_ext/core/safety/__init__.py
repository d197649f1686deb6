"""What may be compiled in this process, and what a worker tries first."""
