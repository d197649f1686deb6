"""The magics of stages with `--processes`: the part that runs in each engine, and the kernel's."""
