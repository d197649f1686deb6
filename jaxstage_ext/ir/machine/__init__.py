"""Machine code: of CPUs, GPUs and TPUs."""
